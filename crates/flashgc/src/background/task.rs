//! The interface of a task, and its view of the rooms.

use crate::collect::{At, Jobs};
use crate::context::Context;
use crate::flash::{Command, Prices};
use crate::ftl::{Fact, Lost};
use crate::host::Host;
use crate::ids::{BlockId, PlaneId, Ppn, UnitId};
use crate::owner::Owner;
use crate::store::Store;
use crate::verify::Watch;

/// What an idle unit does for a task.
pub enum Work {
    /// It collects this block of a plane.
    Collect(PlaneId, BlockId),
    /// It runs this command, whose owner is the task.
    Run(Command<Owner>),
}

/// A copy whose program begins.
pub struct Bound {
    /// Its page.
    pub page: Ppn,
    /// Blocks that it fills: one at most.
    pub fills: u32,
}

/// Work under way, as far as it has been done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undone {
    /// Pages that are being moved.
    pub open: u64,
    /// Those of them whose program ends at this very moment.
    pub moved: u64,
    /// Those of these that were for nothing.
    pub wasted: u64,
    /// Array time, in ns.
    pub array_ns: u64,
}

/// The rooms as a task sees them.
pub struct Rest<'a, W> {
    /// The host, to which a page may be given that is flushed.
    pub host: &'a mut Host,
    /// The pages.
    pub store: &'a mut Store,
    /// The collections.
    pub jobs: &'a Jobs,
    /// What operations cost.
    pub prices: &'a Prices,
    /// What every room may use.
    pub cx: Context<'a, W>,
}

/// The units that run a command of a task.
pub fn works_of<'a>(task: u8, at: &'a At<'_>) -> impl Iterator<Item = UnitId> + 'a {
    at.units().filter(move |&unit| at.flash.owner(unit) == Some(Owner::Background(task)))
}

/// The array time of a unit's command so far, in ns.
pub fn array_ns(unit: UnitId, at: &At<'_>) -> u64 {
    at.flash.collects_since_ns(unit).map_or(0, |ns| at.now_ns - ns)
}

/// A task that can be copied with its drive.
pub trait Copied<W: Watch> {
    /// The same task in the same state.
    fn copied(&self) -> Box<dyn Task<W>>;
}

impl<W: Watch, T: Task<W> + Clone + 'static> Copied<W> for T {
    fn copied(&self) -> Box<dyn Task<W>> {
        Box::new(self.clone())
    }
}

impl<W: Watch> Clone for Box<dyn Task<W>> {
    fn clone(&self) -> Self {
        (**self).copied()
    }
}

/// A kind of background work. The number of a task is its place among the tasks of the drive.
pub trait Task<W: Watch>: Send + Copied<W> {
    /// The name of its operations, for the watcher.
    fn name(&self) -> &'static str {
        unreachable!("this task runs no command")
    }

    /// A request is here.
    fn host_came(&mut self, _cx: &mut Context<'_, W>) {}

    /// No request is outstanding, and nothing is left to start. The task may name units that it has
    /// work for ([`Store::gc`]). Returns whether an operation waits to be placed.
    fn host_rests(&mut self, _at: &mut Rest<'_, W>) -> bool {
        false
    }

    /// The timer that the task set has ended.
    fn timer_ended(&mut self, _at: &mut Rest<'_, W>) {}

    /// The array reads a flash page for the host, here by one of its slots.
    fn page_read(&mut self, _page: Ppn, _at: &mut Rest<'_, W>) {}

    /// The work of an idle unit, or of one whose work goes before the host ([`Gc::set_work`]). It
    /// begins at once.
    ///
    /// [`Gc::set_work`]: crate::gc::Gc::set_work
    fn next(&mut self, _unit: UnitId, _at: &mut Rest<'_, W>) -> Option<Work> {
        None
    }

    /// The program of the unit's copy begins: it binds.
    fn bind(&mut self, _unit: UnitId, _at: &mut Rest<'_, W>) -> Bound {
        unreachable!("this task copies no page")
    }

    /// The unit's command for this task has ended.
    fn ended(&mut self, _unit: UnitId, _at: &mut Rest<'_, W>) {}

    /// A unit's collection has ended, this long after its block was chosen.
    fn collection_ended(&mut self, _unit: UnitId, _elapsed_ns: u64, _cx: &mut Context<'_, W>) {}

    /// A page moved, or a collection claimed a block.
    fn pass_facts(&mut self, _fact: Fact) {}

    /// A page was lost.
    fn page_lost(&mut self, _lost: Lost, _cx: &mut Context<'_, W>) {}

    /// The work under way: the array time of its commands.
    fn undone(&self, task: u8, at: &At<'_>) -> Undone {
        let array_ns = works_of(task, at).map(|unit| array_ns(unit, at)).sum();
        Undone { array_ns, ..Undone::default() }
    }
}
