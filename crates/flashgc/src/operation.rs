//! What an operation reads and programs, and the one place where its price is put together.
//!
//! The nominal phases of an operation are those of its number of pages. What the pages themselves
//! add enters here: the array time of their layer, the retries of a read, the passes of a program,
//! the summaries of the blocks that it fills, and failed programs that had its data before.

use crate::device::Geometry;
use crate::flash::{Op, Phases, Prices};
use crate::ftl::Ftl;
use crate::ids::Ppn;

/// What of the host an array operation carries beside the operation that owns it: a multi-plane
/// group, the reads of one flash page, the writes merged into a copy's program; and what the writes
/// add to its price, the owner's included.
#[derive(Clone, Debug, Default)]
pub struct Riders {
    /// Operations of the host, in the order in which they joined.
    pub ops: Vec<u32>,
    /// Blocks whose last page the writes took.
    pub fills: u32,
    /// Pages of writes that were bound at the register, from where they are programmed later. Only
    /// where pages matter for the price.
    pub pages: Vec<Ppn>,
}

impl Riders {
    /// The operations that the array operation serves: `owner`, and then these.
    pub fn served(&self, owner: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        std::iter::once(owner).chain(self.ops.iter().copied())
    }
}

/// Pages that are programmed together.
pub struct Program<I> {
    /// The pages.
    pub pages: I,
    /// Blocks whose last page is among them, and for whose summaries they pay.
    pub fills: u32,
}

impl<I: Iterator<Item = Ppn> + Clone> Program<I> {
    /// The pages of an operation with nominal phases are known.
    #[inline(always)]
    pub fn price(self, prices: &Prices, ftl: &Ftl, phases: &mut Phases) {
        let again_ns = failed_ns(self.pages.clone(), prices, ftl);
        prices.add_pages(phases, self.pages, self.fills);
        phases.program_again(again_ns);
    }

    /// The phases of an operation that programs them, of this many pages.
    #[inline(always)]
    pub fn phases(self, (op, count): (Op, usize), prices: &Prices, ftl: &Ftl) -> Phases {
        self.priced(prices.nominal(op, count), prices, ftl)
    }

    /// The phases of a program of all pages that are programmed together, these among them.
    pub fn joined(self, prices: &Prices, ftl: &Ftl) -> Phases {
        self.priced(prices.joined_program(), prices, ftl)
    }

    /// The phases of an operation that programs as many pages as stand in registers, after the
    /// merged ones of them have come in.
    pub fn merging(
        self,
        (op, count): (Op, usize),
        merged: usize,
        prices: &Prices,
        ftl: &Ftl,
    ) -> Phases {
        self.priced(prices.merging(op, count, merged), prices, ftl)
    }

    #[inline(always)]
    fn priced(self, mut nominal: Phases, prices: &Prices, ftl: &Ftl) -> Phases {
        self.price(prices, ftl, &mut nominal);
        nominal
    }
}

/// The phases of a program whose page comes in now, and is [priced](Program::price) as its array
/// time begins.
pub fn loading(prices: &Prices) -> Phases {
    prices.nominal(Op::Program, 1)
}

/// The phases of an operation that reads these pages, each as often again as its errors need.
#[inline(always)]
pub fn reading(
    (op, count): (Op, usize),
    pages: impl Iterator<Item = Ppn>,
    prices: &Prices,
    (ftl, geometry): (&Ftl, &Geometry),
) -> Phases {
    prices.reading(op, count, pages, |page| ftl.retries(geometry, page))
}

/// The time of failed programs before these pages, in ns.
#[inline(always)]
pub fn failed_ns(pages: impl Iterator<Item = Ppn>, prices: &Prices, ftl: &Ftl) -> u64 {
    ftl.failed_ns(pages, |page| prices.program_ns(page))
}
