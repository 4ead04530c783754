//! Background work: what the drive does while the host waits for nothing, or before the host.
//!
//! A task is one file in this folder and one row in [`tasks`]. It is notified when the host rests
//! and when a request comes, and names the work of an idle unit. It starts nothing itself, and
//! changes pages through the store alone. If it is a choice of the slot, its settings are a field
//! in `gc/background.rs`, and the choice is a row in
//! `crates/flashgc-setup/src/slots/background.rs`.

mod flush;
mod idle;
mod pre_migration;
mod read_reclaim;
mod task;

use crate::collect::At;
use crate::context::Context;
use crate::ftl::{Fact, Lost};
use crate::ids::{Ppn, UnitId};
use crate::plan::Plan;
use crate::verify::Watch;
pub use task::{Bound, Rest, Task, Undone, Work};

/// Makes a task of this number, if the plan has it.
type Row<W> = fn(&Plan, u8) -> Option<Box<dyn Task<W>>>;

/// The tasks of a drive, in the order in which they are asked.
fn tasks<W: Watch>(plan: &Plan) -> Vec<Box<dyn Task<W>>> {
    let rows: &[Row<W>] = &[
        |plan, _| Some(Box::new(flush::Flush::new(plan)?)),
        |plan, _| Some(Box::new(idle::IdleCollection::new(plan)?)),
        |plan, _| Some(Box::new(read_reclaim::Reclaiming::new(plan)?)),
        |plan, task| Some(Box::new(pre_migration::PreMigrating::new(plan, task)?)),
    ];
    let mut tasks = Vec::new();
    for row in rows {
        tasks.extend(row(plan, tasks.len() as u8));
    }
    tasks
}

/// The background work of a drive.
pub struct Background<W> {
    tasks: Vec<Box<dyn Task<W>>>,
    counts_reads: bool,
}

impl<W: Watch> Clone for Background<W> {
    fn clone(&self) -> Self {
        Background { tasks: self.tasks.clone(), ..*self }
    }
}

impl<W: Watch> Background<W> {
    /// The background work of a plan.
    pub fn new(plan: &Plan) -> Self {
        let counts_reads = plan.gc.background.read_reclaim.is_some();
        Background { tasks: tasks(plan), counts_reads }
    }

    /// Whether there is any.
    #[inline(always)]
    pub fn is_some(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// The name of a task's operations.
    pub fn name_of(&self, task: u8) -> &'static str {
        self.tasks[usize::from(task)].name()
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
    #[inline]
    pub fn next(&mut self, unit: UnitId, at: &mut Rest<'_, W>) -> Option<Work> {
        self.tasks.iter_mut().find_map(|task| task.next(unit, at))
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

    /// Whether a task follows the pages that the array reads for the host.
    #[inline(always)]
    pub fn counts_reads(&self) -> bool {
        self.counts_reads
    }

    /// The array reads flash pages for the host: one slot of each is enough.
    pub fn page_read(&mut self, page: Ppn, at: &mut Rest<'_, W>) {
        self.tasks.iter_mut().for_each(|task| task.page_read(page, at));
    }

    /// A page moved, or a collection claimed a block.
    #[inline]
    pub fn pass_facts(&mut self, fact: Fact) {
        self.tasks.iter_mut().for_each(|task| task.pass_facts(fact));
    }

    /// A page was lost.
    #[inline]
    pub fn page_lost(&mut self, lost: Lost, cx: &mut Context<'_, W>) {
        self.tasks.iter_mut().for_each(|task| task.page_lost(lost, cx));
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
