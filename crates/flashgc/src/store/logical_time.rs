//! Requests in logical time: one after the other, each with everything that follows from it.
//!
//! The measured part of a run without a clock. Its writes and collections are those of untimed
//! writing; what the host reads and trims comes on top.

use super::untimed::{Untimed, UntimedError};
use crate::gc::{JobRow, Victim};
use crate::ids::{Lpn, PlaneId};
use crate::verify::{Happened, Watch};
use crate::workload::{HostOp, HostRequest};

impl<W: Watch> Untimed<'_, W> {
    /// Serves a request, and runs each collection that it makes due to its end.
    #[inline(always)]
    pub fn serve(&mut self, request: &HostRequest) -> Result<(), UntimedError> {
        let &HostRequest { op, hint, first, pages, bytes, head_partial, tail_partial, .. } =
            request;
        for at in 0..pages {
            let lpn = Lpn(first.0 + at);
            let is_partial = (at == 0 && head_partial) || (at + 1 == pages && tail_partial);
            match op {
                HostOp::Write => self.serve_write(lpn, hint, is_partial)?,
                HostOp::Read => self.serve_read(lpn),
                HostOp::Trim => self.serve_trim(lpn, is_partial),
                HostOp::Flush => unreachable!("a flush has no pages"),
            }
        }
        if op != HostOp::Flush {
            self.cx.counters.requests[op as usize] += 1;
        }
        if matches!(op, HostOp::Read | HostOp::Write) {
            self.cx.counters.bytes[op as usize] += bytes;
        }
        Ok(())
    }

    /// Measuring begins: planes are collected that could free nothing before, or are due by the
    /// books of the trigger.
    pub fn collect_due(&mut self) {
        self.store.forget_news();
        for plane in (0..self.cx.plan.geometry.planes).map(PlaneId) {
            self.collect_in_batches(plane);
        }
        self.collect_units_called();
    }

    #[inline(always)]
    fn serve_write(&mut self, lpn: Lpn, hint: u8, is_partial: bool) -> Result<(), UntimedError> {
        if is_partial && self.reads_flash(lpn) {
            self.cx.counters.rest_read += 1;
        }
        let plane = self.cx.plan.geometry.striped_plane(lpn);
        if !self.store.ftl.host_has_room(plane) {
            self.collect_for_room(plane);
        }
        let (plane, filled) = self.place_in(plane, lpn, hint)?;
        let counters = &mut *self.cx.counters;
        counters.host_written += 1;
        counters.array_programs += 1;
        if filled {
            self.cx.count_summaries(1);
        }
        if self.store.gc.triggered[plane.index()] {
            self.collect_in_batches(plane);
        }
        self.collect_units_called();
        Ok(())
    }

    fn serve_read(&mut self, lpn: Lpn) {
        self.cx.counters.host_read += 1;
        if !self.reads_flash(lpn) {
            self.cx.counters.unwritten_read += 1;
            self.cx.notify(Happened::ReadNothing { lpn });
        }
    }

    /// Reads a page that holds data. Returns whether it does.
    fn reads_flash(&mut self, lpn: Lpn) -> bool {
        let ppn = self.store.ftl.map.ppn_of(lpn);
        if ppn.is_some() {
            self.cx.counters.array_reads += 1;
            self.cx.notify(Happened::Read { ppn, lpn });
        }
        ppn.is_some()
    }

    /// A page that is trimmed only in part stays.
    fn serve_trim(&mut self, lpn: Lpn, is_partial: bool) {
        self.cx.counters.host_trimmed += 1;
        if !is_partial {
            self.store.trim(lpn, &mut self.cx);
            self.collect_units_called();
        }
    }

    /// Collects in the planes that a page of another plane made due, or that have a victim now.
    #[inline(always)]
    fn collect_units_called(&mut self) {
        while let Some(unit) = self.store.next_called() {
            for &plane in self.cx.plan.geometry.planes_of(unit) {
                self.collect_in_batches(plane);
            }
        }
    }

    /// Collects until the host has a page in this plane, or no page can be freed. Where writes go
    /// before collection, the write that waits is served between two batches.
    #[cold]
    fn collect_for_room(&mut self, plane: PlaneId) {
        let is_served_between = self.cx.plan.service.writes_before_gc();
        let mut has_collected = true;
        while has_collected && !self.store.ftl.host_has_room(plane) {
            self.store.gc.request_space(plane, &self.cx.plan.geometry);
            has_collected = match is_served_between {
                true => self.collect_one_batch(plane),
                false => self.collect_in_batches(plane),
            };
        }
    }

    /// Collects until the plane has enough, batch by batch, or no page can be freed. Returns
    /// whether anything was collected.
    fn collect_in_batches(&mut self, plane: PlaneId) -> bool {
        let mut has_collected = false;
        while self.collect_one_batch(plane) {
            has_collected = true;
        }
        has_collected
    }

    /// One batch, each collection of which is reported. Returns whether anything was collected.
    fn collect_one_batch(&mut self, plane: PlaneId) -> bool {
        self.collect_batch(plane, |untimed, free_pages_before| {
            if W::OPERATIONS {
                untimed.notify_collected(plane, free_pages_before);
            }
        })
    }

    /// Reports a collection that has just ended. It took no time.
    fn notify_collected(&mut self, plane: PlaneId, free_pages_before: u32) {
        let geometry = &self.cx.plan.geometry;
        let victims = &self.store.victims;
        let valid = |victims: &mut dyn Iterator<Item = &Victim>| victims.map(|v| v.valid).sum();
        let valid_in_all: u32 = valid(&mut victims.iter());
        let row = JobRow {
            unit: geometry.unit_of(plane).0,
            plane: plane.0,
            victim: victims[0].block.0 - geometry.blocks_of(plane).start,
            blocks: victims.iter().filter(|victim| victim.is_erased()).count() as u32,
            selected_ns: self.cx.now_ns,
            end_ns: self.cx.now_ns,
            valid: valid_in_all,
            neighbour_valid: valid(&mut victims.iter().filter(|victim| !victim.is_erased())),
            moved: valid_in_all,
            steps: valid_in_all,
            wasted: 0,
            free_pages_before,
            free_pages_after: self.store.ftl.frontiers.free_pages(plane),
        };
        self.cx.notify(Happened::JobClosed(row));
    }
}
