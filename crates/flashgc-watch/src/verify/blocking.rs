//! The checker's own account of blocking: which part of the drive is blocked for the host during a
//! collection.
//!
//! Blocking begins when the first victim of a collection is claimed, and ends when the collection
//! has ended. Where less is blocked in the erase, an operation that began elsewhere in the part is
//! remembered until the erase has ended and reports when it began. A collection that begins counts
//! as an operation of the host where one at a time may work in the part.

use crate::verify::{Cause, Happened, What};
use flashgc_model::device::{Geometry, Level};
use flashgc_model::gc::BlockingChoice;
use flashgc_model::ids::PlaneId;

/// A collection that has claimed a victim.
struct Held {
    plane: PlaneId,
    /// Starts of others in the part that is blocked only while pages move, in ns, and who began.
    began_ns: Vec<(u64, &'static str)>,
}

/// The blocking by the collections under way.
pub(super) struct Blocking {
    level: Level,
    erasing: Level,
    one_collection: bool,
    is_measuring: bool,
    open: Vec<Held>,
}

impl Blocking {
    /// No collection is under way.
    pub(super) fn new(blocking: BlockingChoice) -> Self {
        let erasing = blocking.erasing.unwrap_or(blocking.level);
        let BlockingChoice { level, one_collection, .. } = blocking;
        Blocking { level, erasing, one_collection, is_measuring: false, open: Vec::new() }
    }

    /// Takes an event of the run. Events that take no time, before measuring, block nothing.
    pub(super) fn observe(&mut self, now_ns: u64, happened: Happened, at: &Geometry) {
        match happened {
            Happened::MeasuringStarts => self.is_measuring = true,
            _ if !self.is_measuring => {}
            Happened::Claimed { block, .. } => {
                let plane = at.plane_of_block(block);
                if !self.open.iter().any(|held| held.plane == plane) {
                    if self.one_collection {
                        self.began(now_ns, "a collection", plane, at);
                    }
                    self.open.push(Held { plane, began_ns: Vec::new() });
                }
            }
            Happened::Read { ppn, .. } => self.began(now_ns, "the host", at.plane_of(ppn), at),
            Happened::Programmed { ppn, cause: Cause::Host { .. } | Cause::Flush, .. } => {
                self.began(now_ns, "the host", at.plane_of(ppn), at);
            }
            Happened::Busy { what: What::Operation("erase", _), unit, from_ns, .. } => {
                for held in self.open.iter_mut().filter(|held| at.unit_of(held.plane) == unit) {
                    let early = held.began_ns.drain(..).find(|&(began_ns, _)| began_ns < from_ns);
                    if let Some((_, who)) = early {
                        panic!("{who} got in while a collection in plane {} copied", held.plane.0);
                    }
                }
            }
            Happened::JobClosed(row) => {
                self.open.retain(|held| held.plane.0 != row.plane);
            }
            _ => {}
        }
    }

    /// An operation of the host, or a collection, begins in a plane.
    fn began(&mut self, now_ns: u64, who: &'static str, plane: PlaneId, at: &Geometry) {
        for held in &mut self.open {
            let shares = |level: Level| at.part_of(plane, level) == at.part_of(held.plane, level);
            if !shares(self.level) {
                continue;
            }
            assert!(
                !shares(self.erasing),
                "at {now_ns} ns {who} began in plane {}, which a collection in plane {} holds",
                plane.0,
                held.plane.0
            );
            held.began_ns.push((now_ns, who));
        }
    }
}
