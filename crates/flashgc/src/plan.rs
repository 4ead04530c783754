//! The plan: a configuration that was checked and worked out. Only a plan reaches the simulation.

use crate::device::{Geometry, Timing};
use crate::ftl::frontier::FrontierRules;
use crate::gc::GcPlan;

/// How writes find their plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// Logical page modulo planes, fixed at acceptance.
    Striped,
    /// The least busy plane when the write is queued, then the one with most erased pages.
    Dynamic,
}

/// A class of work at a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// Garbage collection.
    Gc,
    /// The host's queue of this number.
    Queue(u8),
}

/// The order in which a unit serves what waits.
#[derive(Clone, Debug)]
pub struct Service {
    /// Classes in order of service.
    pub order: Vec<Served>,
    /// The queue of reads.
    pub read_queue: u8,
    /// The queue of writes.
    pub write_queue: u8,
}

impl Service {
    /// Collection first, then requests first come first served.
    pub fn gc_then_host() -> Self {
        Service { order: vec![Served::Gc, Served::Queue(0)], read_queue: 0, write_queue: 0 }
    }

    /// Whether reads and writes are served apart, so that one may overtake the other.
    pub fn splits_host(&self) -> bool {
        self.read_queue != self.write_queue
    }
}

/// When requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At their own times, whatever the drive does.
    Open,
    /// So many requests outstanding, the next when one is done.
    Closed(u32),
}

/// What the simulation runs on.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed of every random stream.
    pub seed: u64,
    /// Planes, units and buses.
    pub geometry: Geometry,
    /// Times of the operations.
    pub timing: Timing,
    /// How writes find their plane.
    pub allocation: Allocation,
    /// What a unit serves first.
    pub service: Service,
    /// The scheme.
    pub gc: GcPlan,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// Whether operations on one logical page must be kept in order by a table: they could pass
    /// each other in the queues.
    pub ordered: bool,
    /// Whether a job that nothing can interrupt or observe runs as one event.
    pub coalesce: bool,
}

impl Plan {
    /// The rules of the frontiers.
    pub fn frontier_rules(&self) -> FrontierRules {
        FrontierRules {
            separate_gc: self.gc.separate_gc,
            parity: self.parity(),
            reserve_blocks: self.gc.reserve_blocks,
        }
    }

    /// Whether copies keep the parity of their page.
    pub fn parity(&self) -> bool {
        self.gc.copy.parity()
    }

    /// Whether nothing can interrupt a job, so that its pages are fixed when it begins.
    ///
    /// The copies must need no bus, and the hold must cover the unit that works.
    pub fn fixes_jobs(&self) -> bool {
        self.gc.copy.stays_in_plane()
            && self.timing.command_ns == 0
            && self.gc.hold.covers_unit(self.geometry.shape.unit)
    }
}
