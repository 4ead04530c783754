//! Background work: what the drive does while the host waits for nothing.
//!
//! A task is one file in this folder and one line in [`tasks`]. It is told when the host rests and
//! when a request comes, and is asked what an idle unit should do. It starts nothing itself, and
//! changes pages through the store alone.

mod flush;
mod idle;
mod pre_migration;

use crate::collect::{At, Jobs};
use crate::context::Context;
use crate::flash::{Command, Prices};
use crate::ftl::{Fact, Lost};
use crate::host::Host;
use crate::ids::{BlockId, PlaneId, Ppn, UnitId};
use crate::owner::Owner;
use crate::plan::Plan;
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

/// A kind of background work. The number of a task is its place among the tasks of the drive.
pub trait Task<W: Watch>: Send {
    /// A request is here.
    fn host_came(&mut self, _cx: &mut Context<'_, W>) {}

    /// No request is outstanding, and nothing is left to start. The task may name units that it has
    /// work for ([`Store::gc`]). Returns whether an operation waits to be placed.
    fn host_rests(&mut self, _at: &mut Rest<'_, W>) -> bool {
        false
    }

    /// The timer that the task set has ended.
    fn timer_ended(&mut self, _at: &mut Rest<'_, W>) {}

    /// The work of an idle unit.
    fn next(&mut self, _unit: UnitId, _at: &mut Rest<'_, W>) -> Option<Work> {
        None
    }

    /// The program of the unit's copy begins: it binds.
    fn bind(&mut self, _unit: UnitId, _at: &mut Rest<'_, W>) -> Bound {
        unreachable!("this task copies no page")
    }

    /// The unit's command for this task has ended.
    fn ended(&mut self, _unit: UnitId, _at: &mut Rest<'_, W>) {}

    /// A unit begins the collection of a block that this task chose.
    fn collects(&mut self, _unit: UnitId) {}

    /// A unit's collection has ended, this long after its block was chosen.
    fn collection_ended(&mut self, _unit: UnitId, _elapsed_ns: u64, _cx: &mut Context<'_, W>) {}

    /// A page moved, or a collection claimed a block.
    fn hear(&mut self, _fact: Fact) {}

    /// A page was lost.
    fn hear_lost(&mut self, _lost: Lost, _cx: &mut Context<'_, W>) {}

    /// The work under way.
    fn undone(&self, _task: u8, _at: &At<'_>) -> Undone {
        Undone::default()
    }
}

/// The tasks of a drive, in the order in which they are asked.
fn tasks<W: Watch>(plan: &Plan) -> Vec<Box<dyn Task<W>>> {
    let mut tasks: Vec<Box<dyn Task<W>>> = Vec::new();
    if plan.write_buffer.is_some() {
        tasks.push(Box::new(flush::Flush));
    }
    if let Some(rules) = &plan.gc.idle {
        tasks.push(Box::new(idle::IdleCollection::new(rules.clone(), plan.geometry.units)));
    }
    if let Some(rules) = plan.gc.pre_migration {
        let task = tasks.len() as u8;
        tasks.push(Box::new(pre_migration::PreMigrating::new(task, rules, &plan.geometry)));
    }
    tasks
}

/// The background work of a drive.
pub struct Background<W> {
    tasks: Vec<Box<dyn Task<W>>>,
}

impl<W: Watch> Background<W> {
    /// The background work of a plan.
    pub fn new(plan: &Plan) -> Self {
        Background { tasks: tasks(plan) }
    }

    /// Whether there is any.
    #[inline(always)]
    pub fn is_some(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// A request is here.
    #[inline(never)]
    pub fn host_came(&mut self, cx: &mut Context<'_, W>) {
        self.tasks.iter_mut().for_each(|task| task.host_came(cx));
    }

    /// Nothing is left to start, and the host may rest. Returns whether an operation waits to be
    /// placed; the tasks behind the one that has it are not asked.
    pub fn host_rests(&mut self, at: &mut Rest<'_, W>) -> bool {
        self.tasks.iter_mut().any(|task| task.host_rests(at))
    }

    /// The timer has ended.
    pub fn timer_ended(&mut self, at: &mut Rest<'_, W>) {
        self.tasks.iter_mut().for_each(|task| task.timer_ended(at));
    }

    /// The work of an idle unit.
    pub fn next(&mut self, unit: UnitId, at: &mut Rest<'_, W>) -> Option<Work> {
        for task in &mut self.tasks {
            let work = task.next(unit, at);
            if let Some(Work::Collect(..)) = work {
                task.collects(unit);
            }
            if work.is_some() {
                return work;
            }
        }
        None
    }

    /// The program of a unit's copy begins.
    pub fn bind(&mut self, task: u8, unit: UnitId, at: &mut Rest<'_, W>) -> Bound {
        self.tasks[usize::from(task)].bind(unit, at)
    }

    /// A unit's command for a task has ended.
    pub fn ended(&mut self, task: u8, unit: UnitId, at: &mut Rest<'_, W>) {
        self.tasks[usize::from(task)].ended(unit, at);
    }

    /// A unit's collection has ended.
    #[inline(always)]
    pub fn collection_ended(&mut self, unit: UnitId, elapsed_ns: u64, cx: &mut Context<'_, W>) {
        self.tasks.iter_mut().for_each(|task| task.collection_ended(unit, elapsed_ns, cx));
    }

    /// A page moved, or a collection claimed a block.
    pub fn hear(&mut self, fact: Fact) {
        self.tasks.iter_mut().for_each(|task| task.hear(fact));
    }

    /// A page was lost.
    pub fn hear_lost(&mut self, lost: Lost, cx: &mut Context<'_, W>) {
        self.tasks.iter_mut().for_each(|task| task.hear_lost(lost, cx));
    }

    /// The work under way, of all tasks.
    pub fn undone(&self, at: &At<'_>) -> Undone {
        let mut sum = Undone::default();
        for (number, task) in (0..).zip(&self.tasks) {
            let Undone { open, moved, wasted, array_ns } = task.undone(number, at);
            sum.open += open;
            sum.moved += moved;
            sum.wasted += wasted;
            sum.array_ns += array_ns;
        }
        sum
    }
}
