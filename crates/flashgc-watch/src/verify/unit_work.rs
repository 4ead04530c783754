//! The recent work of a unit.

use super::blame::BusWait;
use flashgc_model::device::Geometry;
use flashgc_model::ids::{BlockId, PlaneId, UnitId};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Operations of a unit that are kept: a request may wait for millions of them.
const KEPT: usize = 8192;
/// The oldest and the latest operations that stay when others are left out.
const OLDEST: usize = 2048;
const LATEST: usize = 4096;

/// An operation of a unit, or operations in a row that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The unit.
    pub unit: UnitId,
    /// The plane, where it reads by itself.
    pub plane: Option<u32>,
    /// From when, in ns.
    pub from_ns: u64,
    /// Until when, in ns.
    pub to_ns: u64,
    /// Its name.
    pub operation: &'static str,
    /// Its counts, where it stands for operations that are left out.
    pub left_out: Option<LeftOut>,
    /// Pages that it copies.
    pub pages: u32,
    /// For collection or background work, not for the host; of operations that are left out, most
    /// of the time.
    pub gc: bool,
    /// The collection of the unit that it belongs to, by its number.
    pub collection: Option<u64>,
    /// For how long it waited for the bus: for transfers of the host, and of collections, in ns.
    pub waited_ns: BusWait,
}

/// Operations in a row that are not kept one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Their number.
    pub operations: u64,
    /// Their time for collections and background work, in ns.
    pub gc_ns: u64,
}

impl Work {
    /// This operation and the next ones as one that stands for them.
    fn joined(self, next: Work) -> Work {
        let (ours, others) = (self.counts(), next.counts());
        let left_out = LeftOut {
            operations: ours.operations + others.operations,
            gc_ns: ours.gc_ns + others.gc_ns,
        };
        let (from_ns, to_ns) = (self.from_ns.min(next.from_ns), self.to_ns.max(next.to_ns));
        Work {
            unit: self.unit,
            plane: None,
            from_ns,
            to_ns,
            operation: "left_out",
            left_out: Some(left_out),
            pages: self.pages.saturating_add(next.pages),
            gc: left_out.gc_ns > (to_ns - from_ns) / 2,
            collection: None,
            waited_ns: std::array::from_fn(|at| self.waited_ns[at] + next.waited_ns[at]),
        }
    }

    fn counts(&self) -> LeftOut {
        let gc_ns = if self.gc { self.to_ns - self.from_ns } else { 0 };
        self.left_out.unwrap_or(LeftOut { operations: 1, gc_ns })
    }

    pub(super) fn to_json(self) -> Value {
        let mut work = json!({
            "unit": self.unit.0,
            "from_ns": self.from_ns,
            "to_ns": self.to_ns,
            "operation": self.operation,
            "pages": self.pages,
            "gc": self.gc,
            "collection": self.collection,
            "bus_wait_ns": self.waited_ns[0],
            "gc_bus_wait_ns": self.waited_ns[1],
        });
        if let Some(plane) = self.plane {
            work["plane"] = json!(plane);
        }
        if let Some(left_out) = self.left_out {
            work["operations"] = json!(left_out.operations);
            work["gc_ns"] = json!(left_out.gc_ns);
        }
        work
    }
}

/// A collection of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    /// Its number among the collections of its unit, from 0.
    pub number: u64,
    /// The unit that works for it.
    pub unit: UnitId,
    /// The plane that it collects.
    pub plane: PlaneId,
    /// Its blocks, counted in their plane, with the valid pages of each when it was chosen; the
    /// victim is first.
    pub blocks: Vec<(u32, u32)>,
    /// The time of its victim's choice, in ns.
    pub selected_ns: u64,
    /// The end of its erase, in ns; `None` until then.
    pub end_ns: Option<u64>,
}

impl Collection {
    pub(super) fn to_json(&self) -> Value {
        let blocks = self.blocks.iter();
        let blocks = blocks.map(|&(block, valid)| json!({ "block": block, "valid": valid }));
        json!({
            "number": self.number,
            "unit": self.unit.0,
            "plane": self.plane.0,
            "blocks": blocks.collect::<Value>(),
            "selected_ns": self.selected_ns,
            "end_ns": self.end_ns,
        })
    }
}

/// The recent work of a unit, and its collections.
pub(super) struct UnitWork {
    unit: UnitId,
    work: VecDeque<Work>,
    collections: VecDeque<Collection>,
    /// Collections so far.
    count: u64,
    waited_ns: BusWait,
}

impl UnitWork {
    pub(super) fn new(unit: UnitId) -> Self {
        UnitWork {
            unit,
            work: VecDeque::new(),
            collections: VecDeque::new(),
            count: 0,
            waited_ns: BusWait::default(),
        }
    }

    /// A collection took a block of the unit; the first block begins it.
    pub(super) fn claimed(&mut self, geometry: &Geometry, block: BlockId, valid: u32, now_ns: u64) {
        let plane = geometry.plane_of_block(block);
        let block = block.0 - geometry.blocks_of(plane).start;
        if let Some(open) = self.collections.back_mut().filter(|last| last.end_ns.is_none()) {
            open.blocks.push((block, valid));
            return;
        }
        let (number, unit) = (self.count, self.unit);
        self.count += 1;
        self.collections.push_back(Collection {
            number,
            unit,
            plane,
            blocks: vec![(block, valid)],
            selected_ns: now_ns,
            end_ns: None,
        });
    }

    /// The collection that has not ended.
    pub(super) fn open(&self) -> Option<&Collection> {
        self.collections.back().filter(|last| last.end_ns.is_none())
    }

    /// The unit's collection has ended, and is returned.
    pub(super) fn closed(&mut self, now_ns: u64) -> Option<&Collection> {
        let last = self.collections.back_mut()?;
        last.end_ns = Some(now_ns);
        Some(last)
    }

    /// The next reported operation waited for the bus for this time.
    pub(super) fn waited(&mut self, waited_ns: BusWait) {
        self.waited_ns = waited_ns;
    }

    /// An operation has ended, and is returned. Work and collections that ended before `oldest_ns`
    /// are dropped.
    pub(super) fn worked(
        &mut self,
        operation: &'static str,
        copies: u32,
        (from_ns, to_ns): (u64, u64),
        (plane, gc): (Option<u32>, bool),
        oldest_ns: u64,
    ) -> Work {
        let waited_ns = std::mem::take(&mut self.waited_ns);
        while self.work.front().is_some_and(|work| work.to_ns <= oldest_ns) {
            self.work.pop_front();
        }
        let is_past =
            |collection: &Collection| collection.end_ns.is_some_and(|end_ns| end_ns <= oldest_ns);
        while self.collections.front().is_some_and(is_past) {
            self.collections.pop_front();
        }
        let copies_pages = matches!(operation, "copy" | "copy-read" | "copy-program" | "read-out");
        let is_of_own =
            copies_pages || matches!(operation, "collection" | "erase" | "suspend" | "poll");
        let open = self.open();
        let work = Work {
            unit: self.unit,
            plane,
            from_ns,
            to_ns,
            operation,
            left_out: None,
            pages: if copies_pages { copies } else { 0 },
            gc,
            collection: open.filter(|_| gc && is_of_own).map(|open| open.number),
            waited_ns,
        };
        self.work.push_back(work);
        if self.work.len() > KEPT {
            self.leave_out();
        }
        work
    }

    /// One operation stands for those between the oldest and the latest, whose collections go.
    fn leave_out(&mut self) {
        // Those left out before come nearer to the oldest, as work is dropped.
        let near = OLDEST / 2..OLDEST;
        let oldest = near.clone().find(|&at| self.work[at].left_out.is_some()).unwrap_or(near.end);
        let latest = self.work.len() - LATEST;
        let Some(left_out) = self.work.drain(oldest..latest).reduce(Work::joined) else { return };
        self.work.insert(oldest, left_out);
        let span = left_out.from_ns..=left_out.to_ns;
        self.collections.retain(|collection| {
            let is_within = |ns: u64| span.contains(&ns);
            !is_within(collection.selected_ns) || !collection.end_ns.is_some_and(is_within)
        });
    }

    /// Adds the work that overlaps a time, and its collections, which may be there already.
    pub(super) fn add_work(
        &self,
        (from_ns, to_ns): (u64, u64),
        work: &mut Vec<Work>,
        collections: &mut Vec<Collection>,
    ) {
        let begins = self.work.partition_point(|work| work.to_ns <= from_ns);
        // In order of their ends: reads of several planes overlap.
        for reported in self.work.range(begins..).filter(|work| work.from_ns < to_ns) {
            work.push(*reported);
        }
        let overlaps = |collection: &&Collection| {
            collection.selected_ns < to_ns
                && collection.end_ns.is_none_or(|end_ns| end_ns > from_ns)
        };
        collections.extend(self.collections.iter().filter(overlaps).cloned());
    }
}
