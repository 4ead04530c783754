//! What an operation reads and programs, and the one place where its price is put together; of an
//! operation of the host also where it waits, and the pages that it takes ([`Binding`]).
//!
//! The nominal phases of an operation are those of its number of pages. What the pages themselves
//! add enters here: the array time of their layer, the retries of a read, the passes of a program,
//! the summaries of the blocks that it fills, and failed programs that had its data before.

mod binding;
mod flushed;
mod placing;
mod shared;

use crate::context::Context;
use crate::device::Geometry;
use crate::flash::{Op, Phases, Prices};
use crate::ftl::Ftl;
use crate::host::Host;
use crate::ids::Ppn;
use crate::plan::Plan;
use crate::store::Store;
pub use shared::Given;

/// The operations of the host in an array operation apart from its owner: a multi-plane group, the
/// reads of one flash page, the writes merged into a copy's program; and the additions of writes to
/// its price, those of the owner included.
#[derive(Clone, Debug, Default)]
pub struct Riders {
    /// Operations of the host, in the order in which they joined.
    pub ops: Vec<u32>,
    /// Blocks whose last page the writes took.
    pub fills: u32,
    /// Pages of writes that were bound at the register, from where they are programmed later. Only
    /// where pages matter for the price.
    pub pages: Vec<Ppn>,
    /// A page of each write, where reads suspend programs: the array reads none of them meanwhile.
    pub programs: Vec<Ppn>,
}

impl Riders {
    /// The operations that the array operation serves: `owner`, and then these.
    pub fn served(&self, owner: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        std::iter::once(owner).chain(self.ops.iter().copied())
    }
}

/// The operations of the host, with what they may use. Where pages hold several slots, planes share
/// their blocks or pages have classes, one program joins pages of many writes. That is decided
/// here, so that who starts an operation need not know. Nothing is started here.
pub struct Binding<'a, W> {
    /// The operations, and the write buffer.
    pub host: &'a mut Host,
    /// The pages.
    pub store: &'a mut Store,
    /// What operations of the host cost.
    pub prices: &'a Prices,
    /// What every room may use.
    pub cx: Context<'a, W>,
}

impl<W> Binding<'_, W> {
    /// The same in memory of its own, for a rare call: the frequent ones keep theirs in registers.
    #[inline(always)]
    fn apart(&mut self) -> Binding<'_, W> {
        let cx = Context {
            plan: self.cx.plan,
            now_ns: self.cx.now_ns,
            events: self.cx.events,
            counters: self.cx.counters,
            watch: self.cx.watch,
        };
        Binding { host: self.host, store: self.store, prices: self.prices, cx }
    }
}

/// A write that has started.
#[derive(Clone, Copy)]
pub struct Bound {
    /// Blocks whose last page it took.
    pub fills: u32,
    /// Pages that count for collections which the host pays for.
    pub pays: u32,
    /// The next step of the write.
    pub then: Then,
}

/// The next step of a write that has its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Its program begins.
    Begins,
    /// Its program begins, and flushes of other pages may be due.
    BeginsWithFlushes,
    /// The operation is done: the controller keeps its pages with those that are still to come.
    Kept,
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
        if self.fills == 0 && !prices.programs_depend_on_pages() {
            return;
        }
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

    /// The phases of an operation that programs as many pages as are in registers, after the
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

/// The prices of operations of the host, and of those of collections and background tasks.
pub fn prices(plan: &Plan) -> [Prices; 2] {
    let shape = &plan.geometry.shape;
    let pages = shape.multi_plane.max(plan.copies_at_once());
    [&plan.timing, &plan.collection_timing()].map(|timing| Prices::new(timing, shape, pages))
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
