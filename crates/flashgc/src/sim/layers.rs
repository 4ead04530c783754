//! Layers of different speed: the array time of operations, by the pages that they touch.
//!
//! Rows of phases have the nominal times. Where layers differ, the array phases of a row that is
//! about to begin get those of its pages: planes and registers work together, so that the slowest
//! page determines how long they take.

use super::Sim;
use super::host::OpKind;
use crate::device::{LayerTimes, Phases};
use crate::gc::Copy;
use crate::ids::{Ppn, UnitId};
use crate::verify::Watch;

/// The slowest of some pages, in ns.
fn slowest(times: impl Iterator<Item = u64>) -> u64 {
    times.max().unwrap_or(0)
}

/// Array time of copies that move together, in ns.
fn step_ns(layers: &LayerTimes, copies: &[Copy]) -> u64 {
    slowest(copies.iter().map(|copy| layers.read_ns(copy.from)))
        + slowest(copies.iter().map(|copy| layers.program_ns(copy.to)))
}

impl<W: Watch> Sim<W> {
    /// The page of an operation of the host that has begun.
    fn page_of(&self, op: u32) -> Ppn {
        self.ftl.map.ppn_of(self.slabs.ops[op as usize].lpn)
    }

    /// Times an operation of the host and those that share it. Writes are bound already.
    #[cold]
    pub(super) fn time_host(&self, unit: UnitId, op: u32, phases: &mut Phases) {
        let Some(layers) = &self.recipes.layers else { return };
        let group = self.units[unit.index()].group.iter().copied();
        let pages = std::iter::once(op).chain(group).map(|op| self.page_of(op));
        let ns = match self.slabs.ops[op as usize].kind {
            OpKind::Write => slowest(pages.map(|ppn| layers.program_ns(ppn))),
            _ => slowest(pages.map(|ppn| layers.read_ns(ppn))),
        };
        phases.set_array(0, ns);
    }

    /// Where the pages of the step under way come from, and where they go.
    fn copies_of_step(&self, unit: UnitId) -> impl Iterator<Item = Copy> + '_ {
        let job = &self.gc.jobs[unit.index()];
        job.step.iter().map(|&at| job.copies[at])
    }

    /// Times a step of copies that is about to begin: its read, and where the new pages are known
    /// its program.
    #[cold]
    pub(super) fn time_step(&self, unit: UnitId, phases: &mut Phases) {
        let Some(layers) = &self.recipes.layers else { return };
        let reads = self.copies_of_step(unit).map(|copy| layers.read_ns(copy.from));
        phases.set_array(0, slowest(reads));
        if self.gc.jobs[unit.index()].fixed {
            let programs = self.copies_of_step(unit).map(|copy| layers.program_ns(copy.to));
            phases.set_array(1, slowest(programs));
        }
    }

    /// Times the program of the step under way, whose new pages were taken just now.
    #[cold]
    pub(super) fn time_copy_program(&mut self, unit: UnitId) {
        let Some(layers) = &self.recipes.layers else { return };
        let ns = slowest(self.copies_of_step(unit).map(|copy| layers.program_ns(copy.to)));
        self.units[unit.index()].phases.set_array(1, ns);
    }

    /// The read half of the step under way.
    pub(super) fn step_read(&self, unit: UnitId) -> Phases {
        let copies = self.gc.jobs[unit.index()].step.len();
        let mut phases = self.recipes.copy_read[copies - 1];
        if let Some(layers) = &self.recipes.layers {
            let reads = self.copies_of_step(unit).map(|copy| layers.read_ns(copy.from));
            phases.set_array(0, slowest(reads));
        }
        phases
    }

    /// A write of the host was bound at the register. Its page is noted now: a page from the write
    /// buffer may be trimmed before it is programmed.
    #[inline]
    pub(super) fn note_host_page(&mut self, unit: UnitId, op: u32) {
        if let Some(layers) = &self.recipes.layers {
            let ns = layers.program_ns(self.page_of(op));
            let entry = &mut self.preempting.units[unit.index()];
            entry.host_ns = entry.host_ns.max(ns);
        }
    }

    /// Times the program half of the step under way, with the writes that were merged into it.
    #[cold]
    pub(super) fn time_register(&mut self, unit: UnitId, phases: &mut Phases) {
        let Some(layers) = &self.recipes.layers else { return };
        let ns = slowest(self.copies_of_step(unit).map(|copy| layers.program_ns(copy.to)));
        let merged_ns = std::mem::take(&mut self.preempting.units[unit.index()].host_ns);
        phases.set_array(0, ns.max(merged_ns));
    }

    /// Array time of all copies of a collection whose pages are fixed, in ns.
    #[cold]
    pub(super) fn copies_of_layers_ns(&self, unit: UnitId) -> u64 {
        let Some(layers) = &self.recipes.layers else { return 0 };
        let job = &self.gc.jobs[unit.index()];
        let mut first = 0;
        let mut sum_ns = 0;
        for end in job.step_ends(self.plan.gc.copy.at_once()) {
            sum_ns += step_ns(layers, &job.copies[first..end]);
            first = end;
        }
        sum_ns
    }

    /// How many copies a collection whose pages are fixed has made by now.
    pub(super) fn copies_made(&self, unit: UnitId) -> usize {
        let job = &self.gc.jobs[unit.index()];
        let mut left_ns = self.now_ns - job.selected_ns;
        let mut made = 0;
        for end in job.step_ends(self.plan.gc.copy.at_once()) {
            let ns = match &self.recipes.layers {
                None => self.recipes.copy_ns(),
                Some(layers) => step_ns(layers, &job.copies[made..end]),
            };
            if left_ns < ns {
                break;
            }
            left_ns -= ns;
            made = end;
        }
        made
    }
}
