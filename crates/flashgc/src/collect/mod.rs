//! Collections: one for each unit at most, and the pages that are on their way to other
//! units.
//!
//! A collection is a machine whose state is its [`Job`]. [`Collecting`] advances it: it gives the
//! next command of a unit, and is notified when that has ended. It starts no command itself.
//!
//! Where a collection cannot be interrupted and its copies need no bus, the list of its pages is
//! fixed when it begins: their new pages are taken and bound at once, and the collection may run as
//! one event. Otherwise each copy checks at its own start whether its page is still valid, and
//! binds when its program starts.
//!
//! Copies go in steps (paper parallel-gc, Algorithms 2 to 4): the valid pages of a list are
//! collected, and each step takes the next of them, as many as the scheme moves at once. All of a
//! step are read together and programmed together.

mod blocking;
mod claim;
mod close;
mod cross_unit;
mod ends;
mod job;
mod kinds;
mod machine;
mod moves;
mod partial;
mod parts;
mod reads;
mod slots;
mod split;
mod steps;
mod timetable;
mod unseen;

pub use close::{erase, is_kept_out, may_open};
pub use ends::Ended;
pub use job::{Job, Stage};
pub use partial::{At, Partial};
pub use timetable::{Progress, Work};

use crate::context::Context;
use crate::flash::Prices;
use crate::gc::CrossUnit;
use crate::host::Waiting;
use crate::ids::{PlaneId, UnitId};
use crate::owner::Owner;
use crate::plan::Plan;
use crate::stats::Counters;
use crate::store::Store;
use kinds::Machine;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};
use timetable::Timetable;

/// The collections of all units.
#[derive(Clone)]
pub struct Jobs {
    jobs: Vec<Job>,
    machine: Machine,
    /// Units whose copies run unseen.
    unseen: Vec<UnitId>,
    /// The times of each of their copies, where any have run so.
    copy_times: Timetable,
    /// Pages from collections of other units that wait to be programmed in each unit.
    cross_unit: Vec<VecDeque<CrossUnit>>,
    /// The page from another unit's collection that each unit programs at present.
    programming: Vec<Option<CrossUnit>>,
    /// Planes that a collection blocks, by part of the blocking's level.
    domains: Vec<Vec<PlaneId>>,
}

impl Jobs {
    /// No collection is open.
    pub fn new(plan: &Plan) -> Self {
        let units = plan.geometry.units as usize;
        Jobs {
            jobs: vec![Job::default(); units],
            machine: Machine::of(plan),
            unseen: Vec::new(),
            copy_times: Timetable::default(),
            cross_unit: vec![VecDeque::new(); units],
            programming: vec![None; units],
            domains: domains(plan),
        }
    }

    /// The collections of all units.
    pub fn iter(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter()
    }

    /// Whether pages from collections of other units wait at a unit.
    #[inline(always)]
    pub fn has_arrivals(&self, unit: UnitId) -> bool {
        !self.cross_unit[unit.index()].is_empty()
    }

    /// A page waits to be programmed at a unit.
    pub fn arrives(&mut self, unit: UnitId, copy: CrossUnit) {
        self.cross_unit[unit.index()].push_back(copy);
    }

    /// The page that has waited longest at a unit.
    pub fn next_arrival(&mut self, unit: UnitId) -> Option<CrossUnit> {
        self.cross_unit[unit.index()].pop_front()
    }

    /// A unit programs a page of another unit's collection.
    pub fn programs(&mut self, unit: UnitId, copy: CrossUnit) {
        self.programming[unit.index()] = Some(copy);
    }

    /// The page of another unit's collection that a unit programs.
    #[inline]
    pub fn programming(&self, unit: UnitId) -> Option<CrossUnit> {
        self.programming[unit.index()]
    }

    /// It is programmed.
    pub fn programmed(&mut self, unit: UnitId) -> Option<CrossUnit> {
        self.programming[unit.index()].take()
    }

    /// An array worked for a collection, of this unit or of the one whose page it programs.
    #[inline(always)]
    pub fn worked(&mut self, unit: UnitId, owner: Owner, ns: u64, counters: &mut Counters) {
        if let Owner::Background(_) = owner {
            counters.background_busy_ns += ns;
            return;
        }
        counters.gc_busy_ns += ns;
        let job = self.works_for(unit, owner);
        self[job].record.busy_ns += ns;
    }

    /// The unit for whose collection an operation of this owner works.
    #[inline(always)]
    pub(super) fn works_for(&self, unit: UnitId, owner: Owner) -> UnitId {
        match owner {
            Owner::CrossUnit => self.programming(unit).map_or(unit, |cross_unit| cross_unit.job),
            _ => unit,
        }
    }

    /// The planes that a collection in this part blocks.
    pub fn domain(&self, part: u32) -> &[PlaneId] {
        &self.domains[part as usize]
    }
}

/// The collections, with what they may use.
pub struct Collecting<'a, W> {
    /// The collections.
    pub jobs: &'a mut Jobs,
    /// The pages that they move.
    pub store: &'a mut Store,
    /// The queues that they close to the host.
    pub waiting: &'a mut Waiting,
    /// What the operations of collections cost.
    pub prices: &'a Prices,
    /// What those of the host cost.
    pub host_prices: &'a Prices,
    /// Whether a write waits for space anywhere.
    pub is_starving: bool,
    /// What every room may use.
    pub cx: Context<'a, W>,
}

impl Index<UnitId> for Jobs {
    type Output = Job;

    #[inline(always)]
    fn index(&self, unit: UnitId) -> &Job {
        &self.jobs[unit.index()]
    }
}

impl IndexMut<UnitId> for Jobs {
    #[inline(always)]
    fn index_mut(&mut self, unit: UnitId) -> &mut Job {
        &mut self.jobs[unit.index()]
    }
}

/// The planes that a collection blocks, for each part of the blocking's level.
fn domains(plan: &Plan) -> Vec<Vec<PlaneId>> {
    let level = plan.gc.blocking.level;
    let mut domains: Vec<Vec<PlaneId>> = Vec::new();
    for plane in (0..plan.geometry.planes).map(PlaneId) {
        let part = plan.geometry.part_of(plane, level) as usize;
        domains.resize(domains.len().max(part + 1), Vec::new());
        domains[part].push(plane);
    }
    domains
}
