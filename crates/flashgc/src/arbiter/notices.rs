//! The record of the preemptive arbiter for each unit: operations that were queued, began, were
//! suspended and have ended. Only the notifications in this file write it.

use super::preemptive::Preemptive;
use crate::collect::{Jobs, Progress};
use crate::flash::Suspended;
use crate::gc::Gc;
use crate::host::{OpKind, Waiting};
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::stats::Counters;

/// The state of preemption for each unit.
#[derive(Clone, Default)]
pub(super) struct Entry {
    /// The collection's operation that is suspended.
    pub(super) suspended: Option<Suspended>,
    /// How often the operation under way was suspended.
    pub(super) suspends: u32,
    /// Whether the queue was polled since the collection's last operation.
    pub(super) polled: bool,
    /// Whether the last operation was part of a collection.
    gc_was_last: bool,
    /// When the host's last operation here ended, in ns.
    host_end_ns: u64,
    /// When a request was last refused, in ns.
    pub(super) refused_ns: u64,
    /// When an operation of a collection last ended here, in ns.
    job_end_ns: u64,
    /// Since when the host's operation that began last had waited for the collection alone, in ns.
    preempted_since_ns: u64,
    /// The same of the host's operation under way, or the merged write, if a collection delayed it.
    waits_since_ns: Option<u64>,
    /// The last write that was counted for finding no page, by its order of acceptance.
    pub(super) exhausted: Option<u64>,
    /// Reads that stand aside until a block is open again, in the order in which they would have
    /// been served.
    pub(super) aside: Vec<u32>,
}

/// Whether a collection of the unit is open, or a plane of it needs one.
#[inline]
pub(super) fn needs_collection(unit: UnitId, jobs: &Jobs, gc: &Gc) -> bool {
    jobs[unit].is_open() || gc.unit_is_triggered(unit)
}

impl Entry {
    /// A collection has delayed an operation of the host since this time.
    #[inline]
    fn was_delayed(&mut self, since_ns: u64) {
        self.waits_since_ns = Some(self.waits_since_ns.map_or(since_ns, |ns| ns.min(since_ns)));
    }
}

impl Preemptive {
    /// An operation was queued.
    #[inline]
    pub(super) fn queued(&mut self, op: u32, now_ns: u64) {
        let at = op as usize;
        if self.queued_ns.len() <= at {
            self.queued_ns.resize(at + 1, 0);
        }
        self.queued_ns[at] = now_ns;
    }

    /// An operation of the host begins: records how long it waited for the collection alone.
    pub(super) fn host_begins(
        &mut self,
        unit: UnitId,
        op: u32,
        has_job: bool,
        now_ns: u64,
        counters: &mut Counters,
    ) {
        let entry = &mut self.units[unit.index()];
        let since_ns = self.queued_ns[op as usize];
        let since_ns = since_ns.max(entry.host_end_ns).max(entry.refused_ns);
        if let Some(slices) = &self.slices {
            let stall_ns = now_ns.saturating_sub(since_ns.max(slices.below_until_ns(unit)));
            counters.stall_max_ns = counters.stall_max_ns.max(stall_ns);
        }
        let wait_ns = now_ns.saturating_sub(since_ns);
        counters.gc_wait_max_ns = counters.gc_wait_max_ns.max(wait_ns);
        entry.preempted_since_ns = since_ns;
        if entry.job_end_ns > since_ns {
            entry.was_delayed(since_ns);
        }
        if std::mem::take(&mut entry.gc_was_last) && has_job {
            counters.preempted += 1;
        }
    }

    /// The write that was loaded in parallel with a program of the collection had to wait for it.
    pub(super) fn loaded_write_waited(&mut self, unit: UnitId) {
        let entry = &mut self.units[unit.index()];
        entry.was_delayed(entry.preempted_since_ns);
    }

    /// An operation has ended: records the delay that it had, or that it caused.
    #[inline(never)]
    pub(super) fn ended(
        &mut self,
        (unit, owner): (UnitId, Owner),
        [spent_ns, now_ns]: [u64; 2],
        (waiting, jobs, gc): (&Waiting, &Jobs, &Gc),
        counters: &mut Counters,
    ) {
        match owner {
            Owner::Host(op) | Owner::Answer(op) => {
                let is_write = waiting.op(op).kind == OpKind::Write;
                self.host_ended(unit, is_write, needs_collection(unit, jobs, gc));
                self.host_left(unit, now_ns, counters);
            }
            Owner::Background(_) => {}
            // A read that waited for a suspension did not wait for a collection.
            Owner::Yielding => self.units[unit.index()].host_end_ns = now_ns,
            _ => {
                counters.gc_blocking_ns += spent_ns;
                if self.collection_ended(unit, owner == Owner::Collection, now_ns) {
                    counters.below_floor_ns += spent_ns;
                }
            }
        }
    }

    /// An operation of the host has ended, before its requests are answered.
    fn host_ended(&mut self, unit: UnitId, is_write: bool, is_needed: bool) {
        self.units[unit.index()].gc_was_last = false;
        if let Some(slices) = &mut self.slices {
            slices.gap_begins(unit, is_write, is_needed);
        }
    }

    /// An operation of the host has left its unit: if a collection delayed it, records for how
    /// long, without the requests before it.
    pub(super) fn host_left(&mut self, unit: UnitId, now_ns: u64, counters: &mut Counters) {
        let entry = &mut self.units[unit.index()];
        entry.host_end_ns = now_ns;
        if let Some(since_ns) = entry.waits_since_ns.take() {
            counters.gc_response_max_ns = counters.gc_response_max_ns.max(now_ns - since_ns);
        }
    }

    /// An operation for a collection has ended, one of the unit's own or of another one. Returns
    /// whether it was in a time slice below the floor.
    fn collection_ended(&mut self, unit: UnitId, is_own: bool, now_ns: u64) -> bool {
        let entry = &mut self.units[unit.index()];
        (entry.gc_was_last, entry.job_end_ns) = (true, now_ns);
        if !is_own {
            return false;
        }
        (entry.suspends, entry.polled) = (0, false);
        self.slices.as_mut().is_some_and(|slices| slices.worked(unit, now_ns))
    }

    /// The collection's operation was suspended. Returns how long that takes, in ns.
    pub(super) fn suspended(&mut self, unit: UnitId, rest: Suspended) -> u64 {
        let entry = &mut self.units[unit.index()];
        entry.suspended = Some(rest);
        entry.suspends += 1;
        self.switches_ns[0]
    }

    /// A program of the host was suspended: since when a collection has delayed it, in ns, if one
    /// has. The reads in between have delays of their own.
    pub(super) fn put_delay_aside(&mut self, unit: UnitId) -> Option<u64> {
        self.units[unit.index()].waits_since_ns.take()
    }

    /// The program continues with its delay.
    pub(super) fn has_delay_again(&mut self, unit: UnitId, waits_since_ns: Option<u64>) {
        self.units[unit.index()].waits_since_ns = waits_since_ns;
    }

    /// The suspended operation continues, if there is one: how long that takes, in ns, and the rest
    /// of it.
    pub(super) fn resumed(&mut self, unit: UnitId) -> Option<(u64, Suspended)> {
        let resume_ns = self.switches_ns[1];
        self.units[unit.index()].suspended.take().map(|rest| (resume_ns, rest))
    }

    /// The suspended read does not continue, since the host has rewritten its pages.
    pub(super) fn gave_up_read(&mut self, unit: UnitId) {
        self.units[unit.index()].suspends = 0;
    }

    /// The collector polls the queue. Returns how long that takes, in ns.
    pub(super) fn polls(&mut self, unit: UnitId) -> u64 {
        self.units[unit.index()].polled = true;
        self.rules.poll_ns
    }

    /// Takes the reads out that stood aside and may go now, the last first.
    pub(super) fn take_aside(&mut self, unit: UnitId, stays: impl Fn(u32) -> bool) -> Vec<u32> {
        let aside = &mut self.units[unit.index()].aside;
        let mut gone: Vec<u32> = aside.extract_if(.., |op| !stays(*op)).collect();
        gone.reverse();
        gone
    }

    /// Copies that ran unseen are this far, and the last of their operations is under way.
    pub(super) fn caught_up(&mut self, unit: UnitId, progress: Progress, counters: &mut Counters) {
        counters.gc_blocking_ns += progress.before.array_ns;
        let entry = &mut self.units[unit.index()];
        if progress.has_ended() {
            (entry.gc_was_last, entry.job_end_ns) = (true, progress.since_ns);
        }
        if progress.is_needed {
            entry.refused_ns = entry.refused_ns.max(progress.since_ns);
        }
    }

    /// A read of the host has begun in one plane: what has delayed it is that of this plane.
    pub(super) fn reads_in_plane(&mut self, unit: UnitId, reader: UnitId) {
        let since_ns = self.units[unit.index()].waits_since_ns.take();
        self.units[reader.index()].waits_since_ns = since_ns;
    }

    /// A read of one plane has ended: if a collection delayed it, records for how long.
    pub(super) fn left_plane(
        &mut self,
        [unit, reader]: [UnitId; 2],
        is_needed: bool,
        now_ns: u64,
        counters: &mut Counters,
    ) {
        self.host_ended(unit, false, is_needed);
        self.units[unit.index()].host_end_ns = now_ns;
        self.host_left(reader, now_ns, counters);
    }
}
