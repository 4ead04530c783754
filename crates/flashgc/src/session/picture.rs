//! A picture of the drive at an instant: its blocks, and what each unit does and has to do.

use crate::collect::{Job, Stage};
use crate::flash::Kind;
use crate::ftl::blocks::BlockState;
use crate::ftl::open::Role;
use crate::host::Op;
use crate::ids::{BlockId, PlaneId, UnitId};
use crate::measure::Seen;
use crate::owner::Owner;
use serde::Serialize;

const OPEN_FOR_COPIES: u8 = 5;

/// The drive at an instant.
#[derive(Clone, Debug, Serialize)]
pub struct Picture {
    /// The instant, in ns.
    pub now_ns: u64,
    /// The blocks of each plane after those of the one before.
    pub blocks: Vec<BlockPicture>,
    /// The units.
    pub units: Vec<UnitPicture>,
    /// What the measured part has done until then.
    pub done: DonePicture,
}

/// Counts of the measured part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DonePicture {
    /// Requests that are done.
    pub requests: u64,
    /// Pages programmed for the host.
    pub programs: u64,
    /// Pages copied by collections.
    pub copies: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// A block, as `[state, valid pages, written pages]`.
///
/// The states are 0 erased, 1 open for the host, 2 full, 3 in a collection, 4 bad, and 5 open for
/// copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlockPicture(pub u8, pub u32, pub u32);

/// What a unit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Nothing.
    Idle,
    /// It reads for the host.
    Read,
    /// It programs for the host.
    Write,
    /// It copies for a collection, of its own or of another unit.
    Copy,
    /// It erases for a collection.
    Erase,
    /// It suspends an operation of a collection or resumes it, or the collection polls the queue.
    Switch,
    /// It works in the background.
    Background,
}

/// The part of a unit that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Its bus has a command or data, or it waits for the bus.
    Bus,
    /// Its array works.
    Array,
    /// Neither.
    Rest,
}

/// A unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnitPicture {
    /// Its planes, by number.
    pub planes: Vec<u32>,
    /// Its bus.
    pub bus: u32,
    /// What it does.
    pub work: Work,
    /// Where.
    pub place: Place,
    /// Since when, in ns.
    pub since_ns: u64,
    /// The arrival of the request that it serves, in ns, where it serves one.
    pub serves_ns: Option<u64>,
    /// The page operations that wait for it, the oldest first.
    pub queue: Vec<Waits>,
    /// Its open collection.
    pub collection: Option<CollectionPicture>,
}

/// A page operation that waits, as `[is a read, arrival of its request in ns]`; a flush of the
/// write buffer has no arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Waits(pub bool, pub Option<u64>);

/// A collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CollectionPicture {
    /// The plane that it collects.
    pub plane: u32,
    /// The blocks that it erases, by number in the drive.
    pub victims: Vec<u32>,
    /// Copies that have ended.
    pub moved: u32,
    /// Copies that are left.
    pub left: u64,
    /// Its copies have ended, and it erases.
    pub erases: bool,
    /// One of its operations has begun, and the unit has other work meanwhile.
    pub is_suspended: bool,
    /// Since when, in ns.
    pub since_ns: u64,
}

impl Picture {
    /// The picture of these rooms.
    pub fn of(seen: &Seen<'_>) -> Picture {
        let (geometry, counters) = (&seen.plan.geometry, seen.counters);
        Picture {
            done: DonePicture {
                requests: seen.host.requests_done(),
                programs: counters.array_programs,
                copies: counters.gc_moved + counters.background_moved,
                erases: counters.erases,
            },
            now_ns: seen.now_ns,
            blocks: blocks(seen),
            units: (0..geometry.units).map(|unit| unit_picture(seen, UnitId(unit))).collect(),
        }
    }
}

fn blocks(seen: &Seen<'_>) -> Vec<BlockPicture> {
    let (geometry, ftl) = (&seen.plan.geometry, &seen.store.ftl);
    let mut all: Vec<BlockPicture> = (0..geometry.blocks)
        .map(|block| {
            let (block, blocks) = (BlockId(block), &ftl.blocks);
            let state = blocks.state(block);
            // An open block that no frontier has any more has handed out all its pages.
            let is_empty = matches!(state, BlockState::Free | BlockState::Retired);
            let written = if is_empty { 0 } else { geometry.data_pages_of(block) };
            BlockPicture(state as u8, blocks.valid(block), written)
        })
        .collect();
    for plane in (0..geometry.planes).map(PlaneId) {
        for open in ftl.frontiers.open_blocks(geometry, plane) {
            let block = &mut all[open.block.index()];
            block.2 = open.end();
            if open.role == Role::Gc {
                block.0 = OPEN_FOR_COPIES;
            }
        }
    }
    all
}

fn unit_picture(seen: &Seen<'_>, unit: UnitId) -> UnitPicture {
    let (geometry, job) = (&seen.plan.geometry, &seen.jobs[unit]);
    let owner = seen.flash.owner(unit);
    let waiting = &seen.host.waiting;
    let mut queue: Vec<&Op> = waiting.waiting_at(unit).collect();
    queue.sort_by_key(|op| op.sequence);
    let serves = match owner {
        Some(Owner::Host(op) | Owner::Answer(op)) => waiting.get(op),
        _ => None,
    };
    let waits = |op: &&Op| Waits(op.kind.is_read(), seen.host.arrived_ns(op));
    UnitPicture {
        planes: geometry.planes_of(unit).iter().map(|plane| plane.0).collect(),
        bus: geometry.bus_of(unit).0,
        work: work(owner, job, serves),
        place: place(seen, unit),
        since_ns: if owner.is_some() { seen.flash.since_ns(unit) } else { seen.now_ns },
        serves_ns: serves.and_then(|op| seen.host.arrived_ns(op)),
        queue: queue.iter().map(waits).collect(),
        collection: collection(owner, job),
    }
}

fn work(owner: Option<Owner>, job: &Job, serves: Option<&Op>) -> Work {
    match owner {
        None => Work::Idle,
        Some(Owner::Host(_)) if serves.is_some_and(|op| !op.kind.is_read()) => Work::Write,
        Some(Owner::Host(_) | Owner::Answer(_) | Owner::Planes) => Work::Read,
        Some(Owner::Collection) if job.stage() == Stage::Erasing => Work::Erase,
        Some(Owner::Collection | Owner::CrossUnit) => Work::Copy,
        Some(Owner::Suspending | Owner::Polling | Owner::Yielding) => Work::Switch,
        Some(Owner::Background(_)) => Work::Background,
    }
}

fn place(seen: &Seen<'_>, unit: UnitId) -> Place {
    match seen.flash.phase(unit).map(|phase| phase.kind) {
        Some(kind) if kind.is_on_bus() => Place::Bus,
        None | Some(Kind::Rest) => Place::Rest,
        Some(_) => Place::Array,
    }
}

fn collection(owner: Option<Owner>, job: &Job) -> Option<CollectionPicture> {
    let plane = job.plane().filter(|_| job.is_open())?;
    let has_begun = matches!(job.stage(), Stage::Reading | Stage::Programming | Stage::Erasing);
    let works = matches!(owner, Some(Owner::Collection | Owner::Suspending | Owner::Polling));
    Some(CollectionPicture {
        plane: plane.0,
        victims: job.victims().iter().map(|victim| victim.block.0).collect(),
        moved: job.moved(),
        left: job.copies_left(),
        erases: job.stage() == Stage::Erasing,
        is_suspended: has_begun && !works,
        since_ns: job.selected_ns(),
    })
}
