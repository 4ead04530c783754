//! One clone of a job: its next request, and the time of it.

use super::files::Files;
use super::rates::Pacer;
use super::{Extent, JobPlan, Passes, Span, Tally};
use crate::hints::JobHints;
use crate::replay::Replay;
use crate::{HostOp, HostRequest, Source, SourceError};
use flashgc_model::rng::Random;

/// Requests that a clone whose end is an instant alone may issue at one instant, and those for each
/// request in flight. Where one in ten thousand takes time, that many fill its depth long before;
/// with more of them none takes time, and the instant at which it ends never comes.
const AT_ONCE: u64 = 1_000_000;
/// See [`AT_ONCE`].
const AT_ONCE_OF_DEPTH: u64 = 10_000;

/// The stages of a clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It has not begun.
    Ahead,
    /// It issues requests.
    Runs,
    /// It has issued its last request.
    Drains,
    /// Its last request is done.
    Ended,
}

/// The request that a clone issues next.
#[derive(Clone, Copy)]
struct Pending {
    op: HostOp,
    offset: u64,
    bytes: u64,
    /// Of a request of a trace: its time from the start of the job in ns, and its marks.
    at_ns: u64,
    high: bool,
    fua: bool,
    hint: u8,
}

/// One clone of a job.
pub struct Clone {
    /// The number of its job.
    pub job: usize,
    /// Its stage.
    pub stage: Stage,
    /// Whether it is in the order of clones that may issue.
    pub is_ready: bool,
    /// Whether it waits for all clones before it.
    pub begins_group: bool,
    /// Its counts.
    pub tally: Tally,
    plan: JobPlan,
    page_bytes: u64,
    amount_bytes: u64,
    span_bytes: u64,
    files: Files,
    /// The trace that it replays in place of requests that it draws.
    replay: Option<Box<Replay>>,
    first_byte: u64,
    op: Random,
    /// The stream with which passes begin, where they are the same.
    first_op: Random,
    fua: Random,
    hints: JobHints,
    pacer: Pacer,
    pending: Option<Pending>,
    /// Writes drawn since the last flush; in passes up to the next write, as fio counts them.
    unflushed: u32,
    /// Whether the last request drawn is a flush.
    has_flushed: bool,
    /// Loops that have not ended.
    loops_left: u32,
    /// Bytes of all requests drawn, also of those that do not count.
    all_bytes: u64,
    /// Whether a write of the same bytes follows each trim.
    follows: bool,
    /// The bytes that a write follows on, after their trim.
    trimmed: Option<(u64, u64)>,
    /// Requests and bytes drawn that count for the end of the job.
    drawn: u64,
    drawn_bytes: u64,
    /// The bytes of all requests before the present pass.
    before_pass_bytes: u64,
    in_flight: u32,
    /// Requests issued since the last pause.
    unpaused: u32,
    pause_ends_ns: u64,
    ends_ns: Option<u64>,
    /// The instant at which it last issued requests, and their number.
    at_once: (u64, u64),
}

impl Clone {
    /// The clone with this number among all.
    pub fn new(plan: &JobPlan, span: &Span, number: usize, page_bytes: u64, seed: u64) -> Self {
        let stream = |what: &str| Random::named(seed, &format!("job-{number}-{what}"));
        Clone {
            job: span.job,
            stage: Stage::Ahead,
            is_ready: false,
            begins_group: plan.after_others && span.clone == 0,
            tally: Tally::new(span.job, plan),
            plan: plan.clone(),
            page_bytes,
            amount_bytes: span.amount_bytes,
            span_bytes: span.bytes * u64::from(plan.files.count),
            files: Files::new(plan, span, stream, stream("turns")),
            replay: None,
            first_byte: span.first_byte,
            op: stream("op"),
            first_op: stream("op"),
            fua: stream("fua"),
            hints: JobHints::new(&plan.hints, stream("hint")),
            pacer: Pacer::new(plan, stream("arrival")),
            pending: None,
            unflushed: 0,
            has_flushed: false,
            loops_left: plan.loops,
            all_bytes: 0,
            follows: plan.trim_then_write && !plan.trims_in_order(),
            trimmed: None,
            drawn: 0,
            drawn_bytes: 0,
            before_pass_bytes: 0,
            in_flight: 0,
            unpaused: 0,
            pause_ends_ns: 0,
            ends_ns: None,
            at_once: (0, 0),
        }
    }

    /// It replays this trace.
    pub fn replay(&mut self, replay: Replay) {
        self.replay = Some(Box::new(replay));
    }

    /// Lines of the trace that were skipped.
    pub fn bad_rows(&self) -> u64 {
        self.replay.as_ref().map_or(0, |replay| replay.bad_rows())
    }

    /// Time from the start of its group.
    pub fn start_ns(&self) -> u64 {
        self.plan.start_ns
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The time from its start to the start of its counts, in ns, where it has a ramp.
    pub fn ramp_ns(&self) -> Option<u64> {
        (self.plan.ramp_ns > 0).then_some(self.plan.ramp_ns)
    }

    /// The end of its runtime, in ns.
    pub fn ends_ns(&self) -> Option<u64> {
        self.ends_ns
    }

    /// Whether its runtime is over by now.
    pub fn is_due_to_end(&self, now_ns: u64) -> bool {
        self.ends_ns.is_some_and(|ends_ns| now_ns >= ends_ns)
    }

    /// The earliest time of its next request, in ns; `None` until one of its requests is done, or
    /// after its last request.
    pub fn next_ns(&mut self, now_ns: u64) -> Option<u64> {
        let pending = self.pending.filter(|_| self.stage == Stage::Runs)?;
        if self.replay.is_some() {
            let due_ns = self.tally.begun_ns.saturating_add(pending.at_ns);
            return Some(due_ns.max(now_ns));
        }
        if self.in_flight >= self.plan.depth {
            return None;
        }
        if self.plan.think.think_ns > 0 && self.unpaused >= self.plan.think.think_after {
            if self.in_flight > 0 {
                return None;
            }
            self.unpaused = 0;
            self.pause_ends_ns = now_ns.saturating_add(self.plan.think.think_ns);
            if self.plan.think.think_restarts_rate {
                self.pacer.restart(self.pause_ends_ns);
            }
        }
        let due_ns = self.pacer.due_ns(pending.op).max(now_ns).max(self.pause_ends_ns);
        Some(due_ns.min(self.ends_ns.unwrap_or(u64::MAX)))
    }

    /// Its turn has come: it begins, ends, or issues a request.
    pub fn issue(&mut self, now_ns: u64) -> Result<Option<HostRequest>, SourceError> {
        if self.stage == Stage::Ahead {
            self.begin(now_ns)?;
            return Ok(None);
        }
        let Some(pending) = self.pending.take() else { return Ok(None) };
        if self.is_due_to_end(now_ns) {
            self.stage = Stage::Drains;
            return Ok(None);
        }
        let Pending { op, offset, bytes, high, fua, hint, .. } = pending;
        self.pacer.issued(op, bytes);
        self.in_flight += 1;
        self.unpaused = self.unpaused.saturating_add(1);
        self.tally.issued(self.in_flight);
        let before = if self.at_once.0 == now_ns { self.at_once.1 } else { 0 };
        self.at_once = (now_ns, before + 1);
        self.draw(now_ns)?;
        if op == HostOp::Flush {
            return Ok(Some(HostRequest::flush(now_ns)));
        }
        let request = HostRequest::from_bytes(now_ns, op, offset, bytes, self.page_bytes);
        Ok(Some(HostRequest { high, fua, hint, ..request }))
    }

    /// The error where none of its requests takes time and its runtime alone would end it.
    pub fn never_ends(&self) -> Option<String> {
        let (at_ns, requests) = self.at_once;
        let is_counted = !self.plan.time_based || self.plan.requests.is_some();
        let most = AT_ONCE + AT_ONCE_OF_DEPTH * u64::from(self.plan.depth);
        let ends_ns = self.ends_ns.filter(|_| !is_counted && requests > most)?;
        Some(format!(
            "error: job \"{}\" issued {most} requests at {at_ns} ns and none of them took \
             time, so its end at {ends_ns} ns never comes\n  = help: give each command a time, as \
             in `device.firmware.command = \"5 us\"`, or end the job by its `amount` or its \
             `requests`",
            self.plan.name
        ))
    }

    fn begin(&mut self, now_ns: u64) -> Result<(), SourceError> {
        self.stage = Stage::Runs;
        self.tally.begun_ns = now_ns;
        // A runtime that is over before the ramp ends the job; else it begins with the counts.
        let ramp_ns = self.plan.ramp_ns;
        let lasts_ns = self.plan.runtime_ns.map(|runtime_ns| {
            if runtime_ns < ramp_ns { runtime_ns } else { runtime_ns.saturating_add(ramp_ns) }
        });
        self.ends_ns = lasts_ns.map(|lasts_ns| now_ns.saturating_add(lasts_ns));
        self.pacer.begin(now_ns);
        self.draw(now_ns)
    }

    /// Its last request is done.
    pub fn end(&mut self, now_ns: u64) {
        self.stage = Stage::Ended;
        self.tally.ended_ns = now_ns;
    }

    /// One of its requests is done.
    pub fn done(&mut self, op: HostOp, bytes: u64, latency_ns: u64) {
        self.in_flight -= 1;
        self.tally.done(op, bytes, latency_ns);
    }

    /// Its counts begin, including requests that end the ramp.
    pub fn end_ramp(&mut self, now_ns: u64) {
        self.tally.begin(now_ns);
        let is_drawn = self.pending.is_some_and(|pending| pending.op != HostOp::Flush);
        self.drawn = u64::from(is_drawn);
    }

    /// Draws the next request, or finds that there is none.
    fn draw(&mut self, now_ns: u64) -> Result<(), SourceError> {
        if let Some(replay) = &mut self.replay {
            let Some(next) = replay.next()? else {
                self.stage = Stage::Drains;
                return Ok(());
            };
            let HostRequest { op, at_ns, high, hint, offset_bytes, bytes, .. } = next;
            let offset = self.first_byte + offset_bytes;
            self.pending = Some(Pending { op, offset, bytes, at_ns, high, fua: false, hint });
            return Ok(());
        }
        if self.flushes() {
            return Ok(());
        }
        if let Some((offset, bytes)) = self.trimmed.take() {
            self.pend(HostOp::Write, offset, bytes);
            return Ok(());
        }
        while !self.is_over() {
            let op = self.draw_op(now_ns);
            if let Some((offset, bytes)) = self.files.next(op) {
                self.drawn += 1;
                // Where trims and writes alternate, the writes count.
                let counts = !self.plan.trims_in_order() || op == HostOp::Write;
                self.drawn_bytes += if counts { bytes } else { 0 };
                self.trimmed = self.follows.then_some((offset, bytes));
                self.pend(op, offset, bytes);
                return Ok(());
            }
            if self.files.are_over() && !self.begin_pass() {
                break;
            }
            if self.flushes() {
                return Ok(());
            }
        }
        self.stage = Stage::Drains;
        Ok(())
    }

    /// Draws a flush if one is due. In passes it is due until the next write: again after each
    /// read, and where a pass begins, as in fio.
    fn flushes(&mut self) -> bool {
        let has_more = self.plan.passes.is_none() || !self.is_over();
        let is_due = self.plan.flush_after.is_some_and(|writes| self.unflushed >= writes);
        if !has_more || !is_due || self.has_flushed {
            return false;
        }
        self.files.flushes();
        self.pend(HostOp::Flush, 0, 0);
        true
    }

    /// Whether the amount was transferred or the requests were made, in all loops.
    fn is_over(&self) -> bool {
        let loops = u64::from(self.plan.loops);
        let amount_bytes = self.amount_bytes.saturating_mul(loops);
        // Each request is a trim and a write where these alternate.
        let factor = loops * if self.plan.trims_in_order() { 2 } else { 1 };
        let requests = self.plan.requests.map(|requests| requests.saturating_mul(factor));
        // A pass of sprandom has an end of its own.
        let counts_bytes = !self.plan.time_based && self.plan.sprandom.is_none();
        let has_moved_all = counts_bytes && self.drawn_bytes >= amount_bytes;
        has_moved_all || requests.is_some_and(|most| self.drawn >= most)
    }

    /// Another pass begins, unless the amount is one pass, or less than the largest request is
    /// left.
    fn begin_pass(&mut self) -> bool {
        if self.plan.sprandom.is_some() {
            return false;
        }
        // Where the first of passes that are the same has no request, none has.
        let was_empty =
            std::mem::replace(&mut self.before_pass_bytes, self.all_bytes) == self.all_bytes;
        if was_empty && self.plan.passes == Some(Passes::Same) {
            return false;
        }
        self.loops_left = self.loops_left.saturating_sub(1);
        let left_bytes = self.amount_bytes.saturating_sub(self.all_bytes);
        let is_short = left_bytes < self.plan.sizes_range().0.max(1);
        // As in fio, the rest of an amount in bytes is transferred, unlike the rest of a share.
        let is_share = matches!(self.plan.amount, Extent::Share(_));
        let had_one =
            self.amount_bytes == self.span_bytes || is_share && self.amount_bytes < self.span_bytes;
        let is_last = self.loops_left == 0 && (is_short || had_one);
        if is_last && !self.plan.time_based {
            return false;
        }
        self.files.begin_pass();
        self.has_flushed = false;
        if self.plan.passes == Some(Passes::Same) {
            self.op = self.first_op.clone();
        }
        true
    }

    fn pend(&mut self, op: HostOp, offset: u64, bytes: u64) {
        self.has_flushed = op == HostOp::Flush;
        if let Some(writes) = self.plan.flush_after {
            let resets = match self.plan.passes {
                None => op == HostOp::Flush,
                Some(_) => op == HostOp::Write && self.unflushed >= writes,
            };
            self.unflushed = if resets { 0 } else { self.unflushed };
            self.unflushed += u32::from(op == HostOp::Write);
        }
        self.all_bytes += bytes;
        let share = self.plan.fua_share;
        let fua = op == HostOp::Write && share > 0.0 && self.fua.unit() < share;
        let hint = if op == HostOp::Write { self.hints.draw() } else { 0 };
        self.pending = Some(Pending { op, offset, bytes, at_ns: 0, high: false, fua, hint });
    }

    /// The kind of the next request.
    fn draw_op(&mut self, now_ns: u64) -> HostOp {
        if self.plan.trims_in_order() && self.files.write_is_due() {
            return HostOp::Write;
        }
        let drawn = self.draw_share();
        if !self.plan.overtake || self.pacer.due_ns(drawn) <= now_ns {
            return drawn;
        }
        let others = [HostOp::Read, HostOp::Write, HostOp::Trim].into_iter();
        let kinds = others.filter(|&op| op != drawn && self.plan.share_of(op) > 0.0);
        let first = kinds.min_by_key(|&op| self.pacer.due_ns(op));
        first.filter(|&op| self.pacer.due_ns(op) < self.pacer.due_ns(drawn)).unwrap_or(drawn)
    }

    fn draw_share(&mut self) -> HostOp {
        let (read, trim) = (self.plan.read_share, self.plan.trim_share);
        if read >= 1.0 {
            return HostOp::Read;
        }
        if trim >= 1.0 {
            return HostOp::Trim;
        }
        if read + trim == 0.0 {
            return HostOp::Write;
        }
        match self.op.unit() {
            drawn if drawn < read => HostOp::Read,
            drawn if drawn < read + trim => HostOp::Trim,
            _ => HostOp::Write,
        }
    }
}
