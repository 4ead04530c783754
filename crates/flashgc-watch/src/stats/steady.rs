//! Balance: whether the measured part of a run is representative of the long run.
//!
//! The verdict is meant to be safe: of runs that say "yes", at least 95 % lie within 5 % in write
//! amplification of a run ten times as long (`make steady-check` compares both). So each of these
//! must be true:
//!
//! - *pages*: about as many were freed as written, else the run lived on space that was free
//!   before. The effect of the difference on write amplification has a bound of its own;
//! - *noise*: the confidence interval of write amplification, from batch means, is narrow;
//! - *drift*: both halves of the run agree;
//! - *queue*: an open loop keeps up, as write amplification depends on the length of the queue;
//! - *length*: the drive was programmed often enough since it was filled, mostly in the measured
//!   part. A short run may do if overwriting before it, by the same scheme and the same workload,
//!   was long and had the same write amplification;
//! - *reads alone*: collections move pages and free none, which is all that can be said of a run
//!   without writes of the host;
//! - *spare blocks*: a drive that has lost them has no long run.

use super::batches::Batches;
use super::intervals::{GROUPS, half_width};
use serde::Serialize;

/// Pages freed and pages written may differ by this share.
const PAGES_WITHIN: f64 = 0.1;
/// Their difference may change write amplification by this share.
const EDGE_WITHIN: f64 = 0.02;
/// Half the confidence interval is at most this share.
const NOISE_WITHIN: f64 = 0.03;
/// The halves differ by at most this share.
const HALVES_WITHIN: f64 = 0.02;
/// The least number of times that the pages of the drive are programmed in the measured part.
const TURNOVERS: f64 = 2.0;
/// The least number of times since it was filled.
const TURNOVERS_IN_ALL: f64 = 4.0;
/// The least number of times before a measured part that is shorter.
const TURNOVERS_BEFORE: f64 = 3.0;
/// A shorter measured part is at most this share of the overwriting before it.
const SHORT_PART: f64 = 0.3;
/// The last quarters of the overwriting before, and the measured part, differ by at most this
/// share.
const BEFORE_WITHIN: f64 = 0.03;
/// The least number of collections of a run without writes of the host.
const COLLECTIONS: u64 = 32;
/// The largest factor of a longer run that is still a useful estimate.
const TIMES_MAX: f64 = 1e6;

const SATURATED: &str = "requests arrived faster than they were served, so the queue grows and a \
                         longer run does not help; lower the arrival rate";
const READ_ONLY: &str = "the drive became read-only since too many of its blocks are bad, so \
                         there is no long run to represent";

/// The evidence for the verdict.
pub struct Evidence<'a> {
    /// Write amplification over the course of the measured part.
    pub batches: &'a Batches,
    /// Pages programmed for the host.
    pub written_pages: u64,
    /// Pages freed: erased less moved.
    pub reclaimed_pages: u64,
    /// Pages that collection moved.
    pub moved_pages: u64,
    /// Erased pages at the start of the measured part, and at its end.
    pub free_pages: [u64; 2],
    /// Pages of the drive.
    pub physical_pages: u64,
    /// Collections, the open ones included.
    pub collections: u64,
    /// The overwriting before, where it was done by the same scheme with the same workload.
    pub before: Before<'a>,
    /// Requests done.
    pub requests: u64,
    /// Requests until the first collection, where there was none and there would be one.
    pub requests_to_first: Option<u64>,
    /// Whether requests arrived faster than they were served: the queue grows for ever.
    pub saturated: bool,
    /// Parts of the workload that differ; each must be long.
    pub phases: u64,
    /// Whether a longer run is possible: a trace ends.
    pub can_go_on: bool,
    /// Blocks that are lost, where operations fail.
    pub losses: Option<Losses>,
    /// Confidence of the interval.
    pub confidence: f64,
}

/// Blocks that are lost since operations on them fail.
#[derive(Clone, Copy)]
pub struct Losses {
    /// Blocks that the measured part lost.
    pub lost: u64,
    /// Blocks that the drive can still lose.
    pub left: u64,
    /// Whether no write is possible any more.
    pub is_read_only: bool,
}

/// Overwriting before the measured part.
#[derive(Clone, Copy, Default)]
pub struct Before<'a> {
    /// Write amplification of its quarters.
    pub quarters: &'a [f64],
    /// Pages programmed in it.
    pub programmed_pages: u64,
}

/// The finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Balance {
    /// Whether the run is representative of the long run.
    pub verdict: Verdict,
    /// The reasons against it, for the user.
    pub reasons: Vec<String>,
    /// About how many more requests are needed.
    pub more_requests: Option<u64>,
    /// Pages programmed for the host.
    pub written_pages: u64,
    /// Pages freed: erased less moved.
    pub reclaimed_pages: u64,
    /// Erased pages at the start.
    pub free_pages_begin: u64,
    /// Erased pages at the end.
    pub free_pages_end: u64,
    /// Write amplification of both halves.
    pub write_amplification_halves: Option<[f64; 2]>,
    /// The interval of write amplification.
    pub write_amplification_interval: Option<[f64; 2]>,
    /// Pages programmed in the measured part, in parts of the drive's.
    pub turnovers: f64,
    /// Pages programmed by overwriting before it, in parts of the drive's, where these count.
    pub turnovers_before: f64,
}

/// Whether a run is representative of the long run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// It does.
    #[serde(rename = "yes")]
    Yes,
    /// It does not, or that is unknown.
    #[serde(rename = "no")]
    No,
    /// Nothing was collected, and a longer run is not possible or would not collect either.
    #[serde(rename = "no GC")]
    NoGc,
}

/// Reasons against a verdict of "yes", and how many times as long the run would have to be.
#[derive(Default)]
struct Against {
    reasons: Vec<String>,
    times: f64,
}

impl Against {
    fn add(&mut self, times: f64, reason: String) {
        self.times = self.times.max(times);
        self.reasons.push(reason);
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn differ(a: f64, b: f64) -> f64 {
    (a - b).abs() / b
}

/// Judges a run.
pub fn judge(evidence: &Evidence<'_>) -> Balance {
    let (amplification, halves, half_interval) = amplification(evidence);
    let programmed = evidence.written_pages + evidence.moved_pages;
    let turned = |pages: u64| pages as f64 / evidence.physical_pages.max(1) as f64;
    let mut found = Balance {
        verdict: Verdict::Yes,
        reasons: Vec::new(),
        more_requests: None,
        written_pages: evidence.written_pages,
        reclaimed_pages: evidence.reclaimed_pages,
        free_pages_begin: evidence.free_pages[0],
        free_pages_end: evidence.free_pages[1],
        write_amplification_halves: halves,
        write_amplification_interval: amplification
            .zip(half_interval)
            .map(|(mean, half)| [mean - half, mean + half]),
        turnovers: turned(programmed),
        turnovers_before: turned(evidence.before.programmed_pages),
    };
    let is_read_only = evidence.losses.is_some_and(|losses| losses.is_read_only);
    if evidence.collections + evidence.moved_pages == 0 {
        found.verdict = Verdict::NoGc;
        if evidence.can_go_on && !is_read_only && evidence.requests_to_first.is_some() {
            found.verdict = Verdict::No;
            found.reasons.push("no block has been collected yet".into());
            found.more_requests = evidence.requests_to_first;
        }
        return found;
    }
    let mut against = Against::default();
    match amplification {
        Some(amplification) => {
            check_pages(evidence, amplification, &mut against);
            check_noise(amplification, half_interval, &mut against);
            check_halves(amplification, halves, &mut against);
            check_length(evidence, amplification, &found, &mut against);
        }
        None => check_moves(evidence, &mut against),
    }
    if is_read_only {
        found.verdict = Verdict::No;
        found.reasons = vec![READ_ONLY.into()];
    } else if evidence.saturated {
        // The longer the queue, the more writes of one page follow each other.
        found.verdict = Verdict::No;
        found.reasons = vec![SATURATED.into()];
    } else if !against.reasons.is_empty() {
        found.verdict = Verdict::No;
        found.reasons = against.reasons;
        let more = more_requests(evidence.requests, against.times);
        let ends_before = evidence.losses.and_then(|losses| losses.end_before(evidence, more));
        // Without a write no number of requests is enough.
        let is_in_reach = ends_before.is_none() && amplification.is_some();
        found.more_requests = is_in_reach.then_some(more);
        found.reasons.extend(ends_before);
    }
    found
}

impl Losses {
    /// The reason why this number of further requests is not possible, where at this rate the drive
    /// is read-only before their end.
    fn end_before(&self, evidence: &Evidence<'_>, more: u64) -> Option<String> {
        let Losses { lost, left, .. } = *self;
        let losses_of_more = more as f64 * lost as f64 / evidence.requests.max(1) as f64;
        (lost > 0 && losses_of_more >= left as f64).then(|| {
            format!(
                "bad blocks: {lost} in the run, and {left} more at most; at this rate the drive is \
                 read-only before it reaches steady state, so a longer run does not help"
            )
        })
    }
}

/// Write amplification, its values in both halves, and half the width of its interval.
fn amplification(evidence: &Evidence<'_>) -> (Option<f64>, Option<[f64; 2]>, Option<f64>) {
    let batches = evidence.batches;
    let all = batches.parts(1).first().copied();
    let halves = match batches.parts(2)[..] {
        [first, second] => Some([first, second]),
        _ => None,
    };
    let has_parts = batches.ends().len() as u64 >= GROUPS;
    let groups = if has_parts { batches.parts(GROUPS) } else { Vec::new() };
    (all, halves, half_width(&groups, evidence.confidence))
}

fn check_pages(evidence: &Evidence<'_>, amplification: f64, against: &mut Against) {
    let (written, won) = (evidence.written_pages as f64, evidence.reclaimed_pages as f64);
    let missing = (won / written - 1.0).abs();
    // In steady state each page written must be freed, at the number of copies that freeing one
    // took here.
    let copies = (amplification - 1.0).max(0.0);
    let edge = if won > 0.0 { copies * differ(written, won) / amplification } else { 1.0 };
    if missing > PAGES_WITHIN || edge > EDGE_WITHIN {
        let times = (missing / PAGES_WITHIN).max(edge / EDGE_WITHIN);
        let [begin, end] = evidence.free_pages;
        against.add(
            times,
            format!(
                "collection reclaimed {} page{} for {} written, and free pages went from {begin} \
                 to {end}",
                evidence.reclaimed_pages,
                if evidence.reclaimed_pages == 1 { "" } else { "s" },
                evidence.written_pages
            ),
        );
    }
}

/// Where the host writes nothing, a collection takes as many pages as it frees, once no page of the
/// blocks is invalid.
fn check_moves(evidence: &Evidence<'_>, against: &mut Against) {
    let (moved, won) = (evidence.moved_pages, evidence.reclaimed_pages);
    if evidence.collections < COLLECTIONS {
        let why = format!(
            "the host wrote nothing, and {} collection{} {} too few to judge by ({COLLECTIONS} are \
             required)",
            evidence.collections,
            if evidence.collections == 1 { "" } else { "s" },
            if evidence.collections == 1 { "is" } else { "are" },
        );
        against.add(TIMES_MAX, why);
    } else if won as f64 > PAGES_WITHIN * moved as f64 {
        let why = format!(
            "the host wrote nothing, and collections reclaimed {won} page{} and moved {moved}: \
             blocks still have fewer and fewer invalid pages",
            if won == 1 { "" } else { "s" },
        );
        against.add(TIMES_MAX, why);
    }
}

fn check_noise(amplification: f64, half_interval: Option<f64>, against: &mut Against) {
    let Some(half) = half_interval else {
        against.add(
            2.0,
            "the run is too short for a confidence interval of write amplification".into(),
        );
        return;
    };
    let share = half / amplification;
    if share > NOISE_WITHIN {
        let times = (share / NOISE_WITHIN) * (share / NOISE_WITHIN);
        // Rounded up: a share that is too large never reads as the one that is required.
        let (share, most) = (percent((share * 1000.0).ceil() / 1000.0), percent(NOISE_WITHIN));
        let why = format!("write amplification is known to +/- {share}; +/- {most} is required");
        against.add(times, why);
    }
}

fn check_halves(amplification: f64, halves: Option<[f64; 2]>, against: &mut Against) {
    let Some([first, second]) = halves else { return };
    let share = (second - first).abs() / amplification;
    if share > HALVES_WITHIN {
        let why = format!(
            "write amplification went from {first:.2} in the first half to {second:.2} in the \
             second"
        );
        against.add(share / HALVES_WITHIN, why);
    }
}

fn check_length(
    evidence: &Evidence<'_>,
    amplification: f64,
    found: &Balance,
    against: &mut Against,
) {
    let phases = evidence.phases.max(1) as f64;
    let (turned, before) = (found.turnovers, found.turnovers_before);
    let needed = (TURNOVERS * phases).max(TURNOVERS_IN_ALL - before);
    let goes_on = match evidence.before.quarters[..] {
        [_, _, third, fourth] => {
            before >= TURNOVERS_BEFORE
                && phases <= 1.0
                && turned <= SHORT_PART * before
                && differ(fourth, amplification) <= BEFORE_WITHIN
                && differ(third, fourth) <= BEFORE_WITHIN
        }
        _ => false,
    };
    if turned < needed && !goes_on {
        let why = format!(
            "pages were programmed for {turned:.2} drive writes, but {needed:.1} are needed"
        );
        against.add(needed / turned.max(1e-9), why);
    }
}

/// The number of further requests for a run of `times` times the length, to two digits.
fn more_requests(requests: u64, times: f64) -> u64 {
    let times = times.clamp(1.1, TIMES_MAX);
    rounded((requests as f64 * (times - 1.0)) as u64)
}

/// Up to two digits.
pub fn rounded(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    number.div_ceil(unit).max(1) * unit
}
