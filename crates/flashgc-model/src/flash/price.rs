//! The price of a command: its named phases, whatever planes, registers and pages it touches.
//!
//! This is the only place where the time of an operation is defined. Planes and
//! registers work together, so that the slowest page determines how long the array takes.

use super::phases::{Kind, Phases};
use crate::device::{PageTimes, Passes, Shape, Timing};
use crate::ids::{Divisor, Ppn};

/// The operations on pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// Reads pages and sends them out: one in each plane, or one in each register.
    Read,
    /// Takes pages in and programs them.
    Program,
    /// Moves pages inside their plane.
    Copyback,
    /// The first half of a copyback: pages are read into the registers.
    ReadRegisters,
    /// The second half of a copyback: the registers are programmed.
    ProgramRegisters,
    /// Sends a page out over the bus, takes it in again, and programs it.
    CopyOverBus,
    /// Erases an extent.
    Erase,
}

impl Op {
    const ALL: [Op; 7] = [
        Op::Read,
        Op::Program,
        Op::Copyback,
        Op::ReadRegisters,
        Op::ProgramRegisters,
        Op::CopyOverBus,
        Op::Erase,
    ];

    /// Whether the controller gets the pages that are read, and corrects their errors.
    pub fn corrects(self) -> bool {
        matches!(self, Op::Read | Op::CopyOverBus)
    }
}

/// The prices of a device.
#[derive(Clone)]
pub struct Prices {
    timing: Timing,
    /// Whether copies pay for the summaries of the blocks that they fill.
    copies_pay: bool,
    /// The array time of each page, where pages differ.
    times: Option<PageTimes>,
    /// The passes of a program where there are two, the programs of a block, and the planes that
    /// share it.
    passes: Option<(Passes, u32, u32)>,
    /// Whether the pages of an operation matter for its price.
    needs_pages: bool,
    /// Whether the pages of a program matter for its price.
    programs_depend_on_pages: bool,
    /// Whether the pages of one of the host's operations matter for its price.
    depends_on_pages: bool,
    /// Mapped pages that a flash page holds: its slots.
    slots: Divisor,
    /// Mapped pages that one array read can serve: slots of a flash page in each plane in step.
    read_slots: Divisor,
    /// Mapped pages that are programmed together.
    program_slots: Divisor,
    /// The nominal phases of every operation, by number of pages less one.
    nominal: Vec<[Phases; Op::ALL.len()]>,
}

/// The array time of the slowest of some pages, in ns.
fn slowest(times: impl Iterator<Item = u64>) -> u64 {
    times.max().unwrap_or(0)
}

impl Prices {
    /// The prices of a device whose operations touch at most `pages` pages at once.
    pub fn new(timing: &Timing, shape: &Shape, pages: u32) -> Self {
        let times = PageTimes::new(timing, shape);
        let needs_pages = times.is_some() || timing.programs_fail;
        let programs_depend_on_pages = needs_pages || timing.passes.is_some();
        let depends_on_pages =
            programs_depend_on_pages || timing.retry.is_some() || shape.program_slots > 1;
        let row = |pages| Op::ALL.map(|op| nominal(timing, op, pages, shape));
        Prices {
            timing: *timing,
            slots: Divisor::new(shape.slots),
            read_slots: Divisor::new(shape.read_slots()),
            program_slots: Divisor::new(shape.program_slots),
            copies_pay: timing.times_summaries_of_copies(),
            times,
            needs_pages,
            programs_depend_on_pages,
            depends_on_pages,
            passes: timing
                .passes
                .map(|it| (it, shape.pages_per_block / shape.program_slots, shape.lanes)),
            nominal: (1..=u64::from(pages.max(1))).map(row).collect(),
        }
    }

    /// The phases of an operation whose pages take the nominal time.
    #[inline(always)]
    pub fn nominal(&self, op: Op, pages: usize) -> Phases {
        self.nominal[pages - 1][op as usize]
    }

    /// Whether the pages of an operation matter for its price.
    #[inline(always)]
    pub fn needs_pages(&self) -> bool {
        self.needs_pages
    }

    /// Whether the pages of a program matter for its price.
    #[inline(always)]
    pub fn programs_depend_on_pages(&self) -> bool {
        self.programs_depend_on_pages
    }

    /// Whether the pages of one of the host's operations matter for its price.
    #[inline(always)]
    pub fn depends_on_pages(&self) -> bool {
        self.depends_on_pages
    }

    /// Whether two mapped pages lie in one flash page.
    #[inline(always)]
    pub fn shares_flash_page(&self, one: Ppn, other: Ppn) -> bool {
        self.slots.divide(one.0) == self.slots.divide(other.0)
    }

    /// Whether one array read serves two mapped pages: they lie in one flash page, or in flash
    /// pages with the same number in planes in step.
    #[inline(always)]
    pub fn shares_read(&self, one: Ppn, other: Ppn) -> bool {
        self.read_slots.divide(one.0) == self.read_slots.divide(other.0)
    }

    /// Whether two mapped pages are programmed together.
    pub fn shares_program(&self, one: Ppn, other: Ppn) -> bool {
        self.program_slots.divide(one.0) == self.program_slots.divide(other.0)
    }

    /// The phases of a program of all mapped pages that are programmed together.
    #[inline(always)]
    pub fn joined_program(&self) -> Phases {
        self.nominal(Op::Program, self.program_slots.value() as usize)
    }

    /// The phases of an operation that reads these pages, each with the number of retries by
    /// `retries`. The pages are only used where they differ.
    #[inline(always)]
    pub fn reading(
        &self,
        op: Op,
        count: usize,
        pages: impl Iterator<Item = Ppn>,
        retries: impl Fn(Ppn) -> u8,
    ) -> Phases {
        if self.program_slots.value() > 1 {
            return self.reading_slots(op, pages, retries);
        }
        let mut phases = self.nominal(op, count);
        if self.times.is_some() || self.timing.retry.is_some() {
            self.read_pages(&mut phases, op, pages, retries);
        }
        phases
    }

    /// Pages that are read together and differ: the array time is that of the slowest one.
    fn read_pages(
        &self,
        phases: &mut Phases,
        op: Op,
        pages: impl Iterator<Item = Ppn>,
        retries: impl Fn(Ppn) -> u8,
    ) {
        let (mut array_ns, mut transfers) = (0, 0);
        for page in pages {
            let (ns, out) = self.read_and_again(op, page, &retries);
            array_ns = array_ns.max(ns);
            transfers += out;
        }
        phases.set(Kind::Read, array_ns);
        phases.lengthen(Kind::DataOut, transfers * self.timing.transfer_ns);
    }

    /// Array time of a flash page with its retries, in ns, and the transfers that these add.
    fn read_and_again(&self, op: Op, page: Ppn, retries: &impl Fn(Ppn) -> u8) -> (u64, u64) {
        let read_ns = self.read_ns(page);
        match self.timing.retry {
            Some(times) if op.corrects() => {
                let (again_ns, transfers) = times.added(retries(page), read_ns);
                (read_ns + again_ns, transfers)
            }
            _ => (read_ns, 0),
        }
    }

    /// The phases that read slots, in order of number: each of their flash pages is read once,
    /// flash pages of planes in step together and others in sequence, and only these slots leave
    /// the register. With no slots, the reads take no time and the later phases remain.
    fn reading_slots(
        &self,
        op: Op,
        slots: impl Iterator<Item = Ppn>,
        retries: impl Fn(Ppn) -> u8,
    ) -> Phases {
        let (mut pages, mut count, mut array_ns, mut last) = (0, 0, 0, None);
        // The array time of flash pages that are read together, and the repeated transfers of
        // slots.
        let (mut together_ns, mut transfers, mut again) = (0, 0, 0);
        for slot in slots {
            count += 1;
            if last.is_none_or(|last| !self.shares_read(last, slot)) {
                array_ns += std::mem::take(&mut together_ns);
            }
            if last.is_none_or(|last| !self.shares_flash_page(last, slot)) {
                pages += 1;
                let page_ns;
                (page_ns, transfers) = self.read_and_again(op, slot, &retries);
                together_ns = together_ns.max(page_ns);
            }
            again += transfers;
            last = Some(slot);
        }
        let read = Phases::new()
            .then(Kind::Command, self.timing.command_ns * pages)
            .then(Kind::Read, array_ns + together_ns);
        let out_ns = out_ns(&self.timing, count + again, self.slots.value().into());
        let programmed = u64::from(self.slots.divide(self.program_slots.value()));
        let in_ns = (self.timing.command_ns + self.timing.transfer_ns) * programmed;
        match op {
            Op::Read => read.then(Kind::DataOut, out_ns),
            Op::ReadRegisters => read,
            Op::Copyback => read
                .then(Kind::Command, self.timing.command_ns * programmed)
                .then(Kind::Program, self.timing.program_ns),
            _ => passes(&self.timing, read.then(Kind::DataOut, out_ns), in_ns),
        }
    }

    /// The pages that a priced operation programs are known now, and how many blocks they fill.
    #[inline(always)]
    pub fn add_pages(
        &self,
        phases: &mut Phases,
        mut pages: impl Iterator<Item = Ppn>,
        filled: u32,
    ) {
        if let Some((passes, programs, lanes)) = self.passes {
            let program = pages.next().map_or(0, |it| self.program_slots.divide(it.0) % programs);
            phases.set_passes(passes.fine_after(program / lanes, programs / lanes) as u8);
        } else if let Some(times) = &self.times {
            phases.set(Kind::Program, slowest(pages.map(|page| times.program_ns(page))));
        }
        if filled > 0 {
            self.add_summaries(phases, filled);
        }
    }

    /// Adds the summaries of the blocks that a program has filled: commands and transfers in, and
    /// one array time for each page. Their planes program together.
    #[cold]
    fn add_summaries(&self, phases: &mut Phases, blocks: u32) {
        let Some(summary) = self.timing.summary else { return };
        let pages = u64::from(summary.pages);
        let bus_ns = (self.timing.command_ns + summary.transfer_ns) * pages * u64::from(blocks);
        phases.add(Kind::DataIn, bus_ns);
        phases.add(Kind::Program, summary.array_ns);
    }

    /// Array time of the summaries of a block, in ns.
    pub fn summary_array_ns(&self) -> u64 {
        self.timing.summary.map_or(0, |summary| summary.array_ns)
    }

    /// The blocks that copies fill and for whose summaries they pay.
    #[inline(always)]
    pub fn filled_by_copies(&self, filled: impl FnOnce() -> u32) -> u32 {
        if self.copies_pay { filled() } else { 0 }
    }

    /// A program of the registers, preceded by the transfer of this number of pages that replace
    /// pages in the registers.
    #[inline]
    pub fn merging(&self, op: Op, pages: usize, merged: usize) -> Phases {
        if merged == 0 {
            return self.nominal(op, pages);
        }
        let mut phases = Phases::new().then(Kind::DataIn, self.timing.transfer_ns * merged as u64);
        phases.append(&self.nominal(op, pages), 0);
        phases
    }

    /// A page in a register is sent out.
    pub fn answer(&self) -> Phases {
        let out_ns = out_ns(&self.timing, 1, self.slots.value().into());
        Phases::new().then(Kind::DataOut, self.timing.command_ns + out_ns)
    }

    /// Array time of a read or a program of this page, in ns.
    #[inline]
    pub fn read_ns(&self, page: Ppn) -> u64 {
        self.times.as_ref().map_or(self.timing.read_ns, |times| times.read_ns(page))
    }

    /// See [`Prices::read_ns`].
    #[inline]
    pub fn program_ns(&self, page: Ppn) -> u64 {
        self.times.as_ref().map_or(self.timing.program_ns, |times| times.program_ns(page))
    }

    /// Array time of a program of the slowest page, in ns.
    pub fn slowest_program_ns(&self) -> u64 {
        let times = self.times.as_ref();
        times.map_or(self.timing.program_ns, PageTimes::slowest_program_ns)
    }

    /// Array time of copies that move together, in ns.
    pub fn copies_ns(&self, pages: impl Iterator<Item = (Ppn, Ppn)> + Clone) -> u64 {
        let Some(times) = &self.times else {
            return self.timing.read_ns + self.timing.program_ns;
        };
        slowest(pages.clone().map(|(from, _)| times.read_ns(from)))
            + slowest(pages.map(|(_, to)| times.program_ns(to)))
    }
}

/// Data comes in and is programmed: twice, where a program has two passes.
fn passes(timing: &Timing, before: Phases, in_ns: u64) -> Phases {
    let Some(passes) = timing.passes else {
        return before.then(Kind::DataIn, in_ns).then(Kind::Program, timing.program_ns);
    };
    before
        .then(Kind::DataIn, in_ns)
        .then(Kind::Program, passes.coarse_ns)
        .then(Kind::DataIn, in_ns)
        .then(Kind::Program, passes.fine_ns)
}

/// Bus time of this number of slots that leave a register, in ns.
fn out_ns(timing: &Timing, count: u64, slots: u64) -> u64 {
    (timing.transfer_ns * count).div_ceil(slots)
}

/// The phases of an operation on `count` mapped pages. Slots share flash pages; elsewhere each is
/// a flash page of its own.
fn nominal(timing: &Timing, op: Op, count: u64, shape: &Shape) -> Phases {
    let (slots, planes) = (u64::from(shape.slots), u64::from(shape.planes_in_step));
    let &Timing { read_ns, program_ns, erase_ns, transfer_ns, command_ns, .. } = timing;
    let pages = count.div_ceil(slots);
    let none = Phases::new();
    match op {
        Op::Read => none
            .then(Kind::Command, command_ns * pages)
            .then(Kind::Read, read_ns)
            .then(Kind::DataOut, out_ns(timing, count, slots)),
        Op::Program => passes(timing, none, (command_ns + transfer_ns) * pages),
        Op::Copyback => none
            .then(Kind::Command, command_ns * pages)
            .then(Kind::Read, read_ns)
            .then(Kind::Command, command_ns * pages)
            .then(Kind::Program, program_ns),
        Op::ReadRegisters => none.then(Kind::Command, command_ns * pages).then(Kind::Read, read_ns),
        Op::ProgramRegisters => {
            none.then(Kind::Command, command_ns * pages).then(Kind::Program, program_ns)
        }
        Op::CopyOverBus => none
            .then(Kind::Command, command_ns)
            .then(Kind::Read, read_ns)
            .then(Kind::DataOut, transfer_ns)
            .then(Kind::DataIn, command_ns + transfer_ns)
            .then(Kind::Program, program_ns),
        Op::Erase => none.then(Kind::Command, command_ns * planes).then(Kind::Erase, erase_ns),
    }
}
