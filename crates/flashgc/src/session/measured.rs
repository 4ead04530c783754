//! The measured part: the source of its requests, the evidence of its verdict, and the explanation
//! of a run in which nothing was moved.

use super::Session;
use super::engine::{Engine, engine};
use super::error::RunError;
use super::job_run::JobRun;
use super::sources::RunSource;
use crate::config::{OverwriteWith, TracePlan, WorkloadPlan};
use crate::gc::ReadReclaim;
use crate::measure::{Circumstances, JobResults, Results};
use crate::stats::steady::Verdict;
use crate::workload::HostOp;
use crate::workload::fitted::Fitted;
use crate::workload::length::Length;
use crate::workload::repeat::{End, Repeated};
use crate::workload::replay::Replay;
use crate::workload::synthetic::Synthetic;
use serde_json::{Value, json};

/// A job has reached its rate if it has this share of it.
const RATE_MET: f64 = 0.99;

impl Session {
    pub(super) fn source(&mut self) -> Result<RunSource, RunError> {
        let exported = self.setup.plan.geometry.exported_pages;
        let (seed, page_bytes) = (self.setup.plan.seed, self.page_bytes());
        match &self.setup.workload {
            WorkloadPlan::Synthetic(workload) => {
                let source = Synthetic::new(&workload.plan, exported, page_bytes, seed);
                return Ok(RunSource::Synthetic(Box::new(source)));
            }
            WorkloadPlan::Fitted(plan) => {
                return Ok(RunSource::Fitted(Box::new(Fitted::new(plan, page_bytes, seed))));
            }
            WorkloadPlan::Jobs(jobs) => {
                let run = JobRun::new(&jobs.plan, exported, page_bytes, seed);
                return self.jobs_source(run);
            }
            WorkloadPlan::Trace(_) => {}
        }
        let Some(plan) = self.trace_plan() else {
            return Err(RunError::new("error: there is no workload"));
        };
        let end = match plan.repeated {
            Some(length) => End::Written(length.units()),
            None if plan.loops > 1 => End::Rounds(u64::from(plan.loops)),
            None => return Ok(RunSource::Replay(Box::new(self.replay(&plan)?))),
        };
        let (trace, layout) = self.take_trace()?;
        let source = Repeated::new(trace, layout, page_bytes, plan.time_scale, end)?;
        Ok(RunSource::Repeated(Box::new(source)))
    }

    /// Jobs, the last of which may replay a trace.
    fn jobs_source(&mut self, mut run: JobRun) -> Result<RunSource, RunError> {
        if let Some(plan) = self.trace_plan() {
            run.replay(self.replay(&plan)?);
        }
        Ok(RunSource::Jobs(Box::new(run)))
    }

    /// The trace from its beginning.
    fn replay(&mut self, plan: &TracePlan) -> Result<Replay, RunError> {
        let Some(layout) = self.layout.take() else {
            return Err(RunError::new("error: the trace's layout is gone"));
        };
        let page_bytes = self.page_bytes();
        Ok(Replay::new(self.trace()?, layout, page_bytes, plan.time_scale)?)
    }

    /// The evidence for the verdict on the run.
    pub(super) fn circumstances(&self) -> Circumstances {
        let before = &self.preconditioning;
        let counts = self.is_same_before();
        let is_trace = matches!(self.setup.workload, WorkloadPlan::Trace(_));
        Circumstances {
            quarters_before: match counts {
                true => before.write_amplification_quarters.clone(),
                false => Vec::new(),
            },
            programmed_before: if counts { before.programmed_pages } else { 0 },
            phases: self.setup.workload.phases(),
            can_go_on: !is_trace || self.setup.workload.length().is_some(),
            until: self.setup.until,
        }
    }

    /// Whether the drive was overwritten by the run's own scheme with the run's own workload.
    fn is_same_before(&self) -> bool {
        let is_trace = matches!(self.setup.workload, WorkloadPlan::Trace(_));
        if self.setup.needs_trace() && !is_trace {
            // The trace's part of a drive with jobs was overwritten uniformly.
            return false;
        }
        match &self.given {
            None => {
                let with = self.setup.precondition.overwrite_with;
                // As on a saved drive, the choices of the scheme count and not its name.
                let own = json!(self.setup.plan.gc);
                let filler = self.setup.filler.as_ref();
                filler.is_none_or(|filler| json!(filler.gc) == own)
                    && with == OverwriteWith::Workload
            }
            Some((origin, _)) => {
                let made_from = &origin.made_from;
                made_from["precondition"]["overwrite_with"].is_null()
                    && made_from["gc"] == json!(self.setup.plan.gc)
                    && !is_trace
                    && made_from["workload"] == self.workload_facts()
            }
        }
    }

    /// The progress of a run: requests, or pages written where its length is an amount of work.
    pub(super) fn measured(&self, requests: u64, written_bytes: u64) -> (u64, Option<u64>) {
        match self.setup.workload.length() {
            Some(Length::Written { bytes, .. }) => {
                let pages = |bytes: u64| bytes.div_ceil(self.page_bytes());
                (pages(written_bytes.min(bytes)), Some(pages(bytes)))
            }
            Some(Length::Requests(count)) => (requests, Some(count)),
            None => (requests, self.requests),
        }
    }

    /// Adds a note where the bound ended a run that was to last until it is steady.
    pub(super) fn note_until(&mut self, results: &Results) {
        let Some((end, until)) = results.until.zip(self.setup.until) else { return };
        if !end.reached && !is_read_only(results) {
            let bound = match self.setup.workload.length() {
                Some(Length::Requests(count)) => counted(count, "request"),
                _ => format!("{} drive writes", until.at_most),
            };
            let balance = &results.balance;
            let helps = balance.verdict != Verdict::No || balance.more_requests.is_some();
            let advice = ": raise it (workload.at_most, or `requests` of the workload)";
            self.notes.push(format!(
                "the run reached its limit of {bound} before it was steady{}",
                if helps { advice } else { "" }
            ));
        }
    }

    /// Adds a note where bad blocks have ended the run.
    pub(super) fn note_read_only(&mut self, results: &Results) {
        let Some(bad) = results.bad_blocks.filter(|bad| bad.is_read_only) else { return };
        self.notes.push(format!(
            "the drive became read-only after {}, with {} and no spare block for the next failure; \
             {}",
            counted(results.counters.requests[HostOp::Write as usize], "write"),
            counted(u64::from(bad.retired + bad.failing), "bad block"),
            if self.is_live { "later writes were refused" } else { "the run ends there" }
        ));
    }

    /// The parts of the latencies, and the parts of each job's, where they were split.
    pub(super) fn blame(&self, results: &Results) -> (Option<Value>, Vec<Value>) {
        let Some(blame) = engine!(&self.engine, sim => sim.blame()) else {
            return (None, Vec::new());
        };
        let job = |(at, job): (usize, &JobResults)| blame.report_of_job(at, &job.latencies);
        let of_jobs = self.of_jobs.iter().enumerate().map(job).collect();
        (Some(blame.report(&results.read, &results.write)), of_jobs)
    }

    /// Adds a note for each job that did not reach its rate.
    pub(super) fn note_rates(&mut self) {
        for JobResults { tally, .. } in &self.of_jobs {
            for (op, name) in
                [(HostOp::Read, "reads"), (HostOp::Write, "writes"), (HostOp::Trim, "trims")]
            {
                let Some((requested, found)) =
                    tally.requested_iops[op as usize].zip(tally.iops(op))
                else {
                    continue;
                };
                let is_only = tally.requests.iter().filter(|&&count| count > 0).count() == 1;
                if is_only && found > 0.0 && found < RATE_MET * requested as f64 {
                    self.notes.push(format!(
                        "job \"{}\" reached {found:.0} of {requested} {name} per second: its depth \
                         of {} was not enough for this drive",
                        tally.name, tally.depth
                    ));
                }
            }
        }
    }

    /// The reason why nothing was moved in this run, and the remedy; `None` if pages were moved.
    pub(super) fn nothing_moved(&self, results: &Results) -> Option<String> {
        let counters = &results.counters;
        if counters.gc_moved + counters.background_moved > 0 {
            return None;
        }
        if is_read_only(results) {
            return Some(
                "nothing was moved: the drive became read-only before a collection moved a page, \
                 so no scheme can differ; to see copies, let fewer operations fail \
                 (device.failures)"
                    .into(),
            );
        }
        if counters.host_written == 0 {
            let why = match self.setup.plan.gc.background.read_reclaim {
                Some(ReadReclaim { limit, .. }) => format!(
                    "no collection: the workload writes nothing, and no block had its {} since its \
                     erase, so no scheme can differ; to see collection, use more reads, or lower \
                     gc.background.read-reclaim.limit",
                    counted(u64::from(limit), "read")
                ),
                None => "no collection: the workload writes nothing, so no scheme can differ; to \
                         see collection, use a workload with writes"
                    .into(),
            };
            return Some(why);
        }
        if counters.jobs + results.jobs_open > 0 {
            return Some(format!(
                "nothing was moved: none of the collected blocks ({}) held a valid page, so \
                 copying costs the same under every scheme; to see copies, {}",
                counters.victim_blocks,
                self.what_to_do()
            ));
        }
        Some(self.not_collected(results))
    }

    /// Something was written, and no collection began.
    fn not_collected(&self, results: &Results) -> String {
        let exported = u64::from(self.setup.plan.geometry.exported_pages);
        let counters = &results.counters;
        let advice = self.what_to_do();
        if matches!(self.setup.workload, WorkloadPlan::Trace(_)) {
            let share = counters.host_written as f64 / exported as f64 * 100.0;
            return format!(
                "no collection: the trace writes {share:.1} % of the drive ({} of {} pages), and \
                 about {} before collection begins, so no scheme can differ; to see collection, \
                 {advice}",
                grouped(counters.host_written),
                grouped(exported),
                match results.pages_to_first {
                    1 => "1 more page fits".into(),
                    pages => format!("{} more pages fit", grouped(pages)),
                }
            );
        }
        let Some(more) = results.balance.more_requests else {
            return "no collection: the write buffer takes every page of the drive, so none goes to \
                    flash and no scheme can differ; to see collection, make the buffer smaller \
                    than the drive (device.write_buffer.size)"
                .into();
        };
        let [begin, end] = [results.balance.free_pages_begin, results.balance.free_pages_end];
        format!(
            "no collection yet, so no scheme can differ: the drive has {} left of {} at the start, \
             about {} of them before collection begins; about {} until then; {advice}",
            counted(end, "free page"),
            grouped(begin),
            grouped(results.pages_to_first),
            counted(more, "more request")
        )
    }

    fn what_to_do(&self) -> String {
        let key = match &self.setup.workload {
            WorkloadPlan::Synthetic(_) => "raise workload.synthetic.requests",
            WorkloadPlan::Fitted(_) => "raise workload.fitted.requests",
            WorkloadPlan::Jobs(_) => "let the jobs run longer (amount or runtime of each)",
            WorkloadPlan::Trace(_) => {
                "repeat it (workload.trace.loops, or workload.until = \"steady\")"
            }
        };
        let mut ways = Vec::new();
        if self.preconditioning.overwritten_pages == 0 {
            ways.push("overwrite the drive first (precondition.overwrite = 2)");
        }
        match &self.setup.workload {
            WorkloadPlan::Trace(_) if self.setup.fitted.is_some() => {}
            WorkloadPlan::Trace(_) => {
                ways.push("size the drive to the trace (workload.trace.fit = \"90%\")");
            }
            _ => ways.push("make the drive smaller (device.blocks_per_plane)"),
        }
        if ways.is_empty() { key.into() } else { format!("{}, or {key}", ways.join(", ")) }
    }
}

/// Whether bad blocks have ended the life of the drive.
fn is_read_only(results: &Results) -> bool {
    results.bad_blocks.is_some_and(|bad| bad.is_read_only)
}

/// A number with commas, and its noun.
fn counted(number: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_have_commas() {
        let found = [0, 12, 999, 1000, 12_345, 1_234_567].map(grouped);
        assert_eq!(found, ["0", "12", "999", "1,000", "12,345", "1,234,567"]);
    }
}
