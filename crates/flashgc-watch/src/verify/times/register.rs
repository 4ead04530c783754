//! Pages in the register of a collection, and those that its suspended program keeps from being
//! read.

use super::touched::{Bound, HostPage};
use super::{Lane, Times};
use flashgc_model::device::Geometry;
use flashgc_model::ids::{Ppn, UnitId};

/// The pages that a program of copies and merged writes programs.
fn of_program<'a>(copies: &'a [Bound], merged: &'a [HostPage]) -> impl Iterator<Item = Ppn> + 'a {
    copies.iter().map(|copy| copy.to).chain(merged.iter().map(|page| page.ppn))
}

impl Times {
    /// The part of the device that reads a page for the host: its plane, or the whole unit.
    pub(super) fn reader(&self, ppn: Ppn, at: &Geometry) -> UnitId {
        let plane = at.plane_of(ppn);
        if at.readers == 0 {
            return at.unit_of_page(ppn);
        }
        let in_step = self.read_slots / self.slots;
        let step = ppn.0 % self.block_pages / self.slots % in_step;
        UnitId(at.units + plane.0 * in_step + step)
    }

    /// The page is in the register of a collection: a read needs no array time, a write only the
    /// program of the copy.
    pub(super) fn in_register(&mut self, parts: [UnitId; 2], ppn: Ppn) {
        let requested = |lane: &Lane| lane.host.last().is_some_and(|page| page.ppn == ppn);
        let part = parts.into_iter().find(|part| requested(&self.lanes[part.index()]));
        let part = part.expect("the page that the host asked for last");
        let lane = &mut self.lanes[part.index()];
        let page = lane.host.pop();
        let answers = page.is_some_and(|page| !page.programs) && self.answer_ns() > 0;
        let lane = &mut self.lanes[parts[0].index()];
        lane.answers = answers;
        lane.merged.extend(page.filter(|page| page.programs));
    }

    /// The register is programmed: the program may be suspended.
    pub(super) fn program_register_ns(&self, lane: &mut Lane, copies: &[Bound]) -> (u64, u64) {
        let merged = std::mem::take(&mut lane.merged);
        lane.suspended = of_program(copies, &merged).collect();
        self.register_ns(copies, &merged)
    }

    /// Pages that are programmed from the register, in ns and in phases.
    pub(super) fn register_ns(&self, copies: &[Bound], merged: &[HostPage]) -> (u64, u64) {
        let pages = of_program(copies, merged);
        let copied = copies.iter().find(|copy| copy.fills).map(|copy| copy.to);
        let written = merged.iter().find(|page| page.fills).map(|page| page.ppn);
        let summaries_ns = match written {
            None => self.summaries_of_copies_ns(copied),
            Some(ppn) => self.summaries_ns(&self.timing, Some(ppn)),
        };
        // A program that takes writes in is theirs too.
        let has_writes = merged.iter().any(|page| !page.pads);
        let by = if has_writes { &self.timing } else { &self.collection };
        (self.program_ns(by, pages) + summaries_ns, 1 + self.summary_pages())
    }

    /// Bus time of a page that leaves the register, in ns.
    fn answer_ns(&self) -> u64 {
        self.timing.command_ns + self.timing.transfer_ns.div_ceil(self.slots.into())
    }

    /// A transfer for the host has ended. The transfer of an answer to a read has the time of its
    /// data.
    pub(super) fn answered(&mut self, unit: UnitId, (from_ns, to_ns): (u64, u64)) {
        if std::mem::take(&mut self.lanes[unit.index()].answers) {
            let (ns, expected_ns) = (to_ns - from_ns, self.answer_ns());
            assert_eq!(
                ns, expected_ns,
                "at {to_ns} ns a page had left the register of unit {} after {ns} ns on the bus, \
                 and takes {expected_ns} ns",
                unit.0
            );
        }
    }

    /// Whether the program of these pages must end before the array can read a page: it is one of
    /// them, or of those that are joined with them, or its fine pass belongs to their program.
    fn keeps_out(&self, programmed: &[Ppn], page: Ppn) -> bool {
        let lag = self.timing.passes.map_or(0, |passes| passes.lag);
        let block = |page: Ppn| page.0 / self.block_pages;
        programmed.iter().any(|&last| match self.program_slots {
            1 => page == last,
            slots => {
                let behind = (last.0 / slots).checked_sub(page.0 / slots);
                block(page) == block(last)
                    && self.ends_program(last)
                    && behind.is_some_and(|behind| {
                        // Pages of other planes, which share the block, are in between.
                        behind % self.shared_by == 0 && behind / self.shared_by <= lag
                    })
            }
        })
    }

    /// The array has read for the host while a program of the collection, or of the host, was
    /// suspended.
    pub(super) fn reads_what_is_programmed(&self, now_ns: u64, read: &Lane, of: &Lane) {
        let of_host = of.yielded.programmed();
        for page in read.host.iter().filter(|page| !page.programs) {
            assert!(
                !self.keeps_out(&of.suspended, page.ppn) && !self.keeps_out(&of_host, page.ppn),
                "at {now_ns} ns the array had read page {}, whose program was suspended",
                page.ppn.0
            );
        }
    }

    /// Whether a program of the collection that has begun must end before the array can read a
    /// page.
    pub(in crate::verify) fn awaits_program(&self, unit: UnitId, page: Ppn) -> bool {
        let lane = &self.lanes[unit.index()];
        let bound = lane.bound.iter().map(|copy| copy.to);
        let begun: Vec<Ppn> = bound.chain(lane.merged.iter().map(|page| page.ppn)).collect();
        self.keeps_out(&begun, page) || self.keeps_out(&lane.suspended, page)
    }
}
