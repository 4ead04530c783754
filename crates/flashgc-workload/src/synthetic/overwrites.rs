//! The writes of a synthetic workload for ever: how a drive is preconditioned.

use super::SyntheticPlan;
use super::pattern::{Draws, Pattern};
use crate::hints::PageHints;
use crate::length::Length;
use crate::{Overwrites, SourceError};
use flashgc_model::ids::Lpn;
use flashgc_model::rng::Random;
use serde_json::{Value, json};

/// Pages for preconditioning, from the workload's own distribution of addresses and sizes.
///
/// Each of several phases has the share of the writes that it has in the workload.
pub struct SyntheticOverwrites {
    /// Each phase's writes, with the share of all writes up to here.
    phases: Vec<(f64, Pattern)>,
    /// The hints of each phase, and the phase of the request under way.
    hints: Vec<Option<PageHints>>,
    at: usize,
    phase: Random,
    draws: Draws,
    page_bytes: u64,
    one_page: bool,
    /// Pages of the request under way, and its hint.
    next: u64,
    end: u64,
    hint: u8,
}

/// The share of all writes that each phase has.
fn shares(plan: &SyntheticPlan) -> Vec<f64> {
    let writes = |share: fn(f64) -> f64| {
        let of = |phase: &super::PhasePlan| match phase.requests {
            Length::Requests(count) => count as f64 * share(phase.mix.write_share()),
            Length::Written { drive_writes, .. } => drive_writes,
        };
        plan.phases.iter().map(of).collect::<Vec<f64>>()
    };
    // A workload that never writes has the addresses of its requests overwritten.
    let mut weights = writes(|share| share);
    if weights.iter().sum::<f64>() <= 0.0 {
        weights = writes(|_| 1.0);
    }
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

impl SyntheticOverwrites {
    /// The parts of a workload that matter here: not the number of requests, which of them read, or
    /// their times.
    pub fn made_from(plan: &SyntheticPlan) -> Value {
        let of = |(phase, share): (&super::PhasePlan, f64)| {
            let (footprint, write) = (&phase.footprint, &phase.write);
            let mut phase_of = json!({ "share": share, "footprint": footprint, "write": write });
            if let Some(hints) = &phase.hints {
                phase_of["hints"] = json!(hints);
            }
            phase_of
        };
        let phases: Vec<Value> = plan.phases.iter().zip(shares(plan)).map(of).collect();
        let mut made_from = json!({ "align_bytes": plan.align_bytes, "phases": phases });
        if let Some(bytes) = plan.large_align_bytes {
            made_from["large_align_bytes"] = json!(bytes);
        }
        made_from
    }

    /// From streams of their own, which the measured part does not draw from.
    pub fn new(plan: &SyntheticPlan, exported_pages: u32, page_bytes: u64, seed: u64) -> Self {
        let (mut phases, mut sum, mut one_page) = (Vec::new(), 0.0, true);
        let mut hints = Vec::new();
        for (phase, share) in plan.phases.iter().zip(shares(plan)) {
            if share > 0.0 {
                sum += share;
                let span_bytes = phase.footprint.pages(exported_pages, page_bytes) * page_bytes;
                let pattern = Pattern::new(&phase.write, plan.aligns(), span_bytes);
                one_page &= pattern.is_one_page(&phase.write, page_bytes);
                phases.push((sum, pattern));
                hints.push(phase.page_hints(plan.aligns(), exported_pages, page_bytes));
            }
        }
        SyntheticOverwrites {
            phases,
            hints,
            at: 0,
            phase: Random::named(seed, "precondition-phase"),
            draws: Draws::new(seed, "precondition", "precondition-size"),
            page_bytes,
            one_page,
            next: 0,
            end: 0,
            hint: 0,
        }
    }
}

impl Overwrites for SyntheticOverwrites {
    #[inline(always)]
    fn next(&mut self) -> Result<Lpn, SourceError> {
        if self.next == self.end {
            let pattern = match &mut self.phases[..] {
                [(_, only)] => only,
                several => {
                    let drawn = self.phase.unit();
                    let at = several.partition_point(|(sum, _)| *sum <= drawn);
                    let last = several.len() - 1;
                    self.at = at.min(last);
                    &mut several[self.at].1
                }
            };
            if self.one_page {
                return Ok(Lpn(pattern.next_place(&mut self.draws) as u32));
            }
            let (offset, bytes) = pattern.next(&mut self.draws);
            self.next = offset / self.page_bytes;
            self.end = (offset + bytes.max(1)).div_ceil(self.page_bytes);
        }
        self.next += 1;
        Ok(Lpn((self.next - 1) as u32))
    }

    fn has_hints(&self) -> bool {
        self.hints.iter().any(Option::is_some)
    }

    fn next_hinted(&mut self) -> Result<(Lpn, u8), SourceError> {
        let is_first = self.next == self.end;
        let lpn = self.next()?;
        if is_first {
            self.hint = self.hints[self.at].as_ref().map_or(0, |hints| hints.of(lpn.0));
        }
        Ok((lpn, self.hint))
    }
}
