//! The effect of a loss of power on the operations under way.
//!
//! A program that is cut leaves nothing, or a page or a record that is not whole. An erase that is
//! cut leaves each page of its block as it was, erased, or not whole. Where the controller survives
//! the loss and programs join several mapped pages (`docs/mapping-unit.md`), it completes the
//! programs under way, and only erases are cut.
//!
//! The engine marks a page invalid as soon as the program of its successor begins, and may begin to
//! erase its block before that program has ended. A drive waits until it has ended, so here the
//! program has ended as soon as such an erase begins; [`Power::early_erases`] counts them.

use crate::places::NONE;
use crate::record::Found;
use crate::store::Store;
use flashgc::ids::{BlockId, Lpn, Ppn, UnitId};
use flashgc::plan::Plan;
use flashgc::verify::blame::{self, Held};
use flashgc::verify::{Cause, Happened};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// A program under way.
#[derive(Clone, Copy)]
struct Program {
    cause: Cause,
    lpn: Lpn,
    /// The page that it makes invalid.
    replaces: Ppn,
    at_ns: u64,
    /// The unit has ended an operation since it began.
    has_worked: bool,
}

/// The operations under way.
pub struct Power {
    plan: Plan,
    programs: BTreeMap<u32, Program>,
    map: Vec<Ppn>,
    /// Valid pages of each block.
    valid: Vec<u32>,
    claimed: BTreeSet<u32>,
    erasing: BTreeSet<u32>,
    /// Erases that began before the successor of one of their pages was programmed.
    pub early_erases: u64,
}

impl Power {
    /// Nothing is under way on a drive with this map.
    pub fn new(plan: &Plan, map: &[u32]) -> Self {
        let mut power = Power {
            plan: plan.clone(),
            programs: BTreeMap::new(),
            map: vec![Ppn::NONE; plan.geometry.exported_pages as usize],
            valid: vec![0; plan.geometry.blocks as usize],
            claimed: BTreeSet::new(),
            erasing: BTreeSet::new(),
            early_erases: 0,
        };
        for (lpn, &page) in (0..).map(Lpn).zip(map) {
            power.bind(lpn, Ppn(page));
        }
        power
    }

    /// A logical page has this one from now on. Returns the one that it leaves.
    fn bind(&mut self, lpn: Lpn, page: Ppn) -> Ppn {
        let left = std::mem::replace(&mut self.map[lpn.index()], page);
        if left.is_some() {
            self.valid[self.plan.geometry.block_of(left).index()] -= 1;
        }
        if page.is_some() {
            self.valid[self.plan.geometry.block_of(page).index()] += 1;
        }
        left
    }

    /// Takes an event of the engine.
    pub fn observe(&mut self, now_ns: u64, happened: Happened) {
        match happened {
            Happened::Programmed { ppn, lpn, cause, current } => {
                let replaces = if current { self.bind(lpn, ppn) } else { Ppn::NONE };
                let program = Program { cause, lpn, replaces, at_ns: now_ns, has_worked: false };
                self.programs.insert(ppn.0, program);
            }
            Happened::Trimmed { lpn } => drop(self.bind(lpn, Ppn::NONE)),
            Happened::Done { op, .. } => {
                self.programs.retain(|_, program| program.cause != Cause::Host { op });
            }
            Happened::Flushed { lpn } | Happened::FlushedAndKept { lpn } => {
                let is_it = |program: &Program| program.cause == Cause::Flush && program.lpn == lpn;
                self.programs.retain(|_, program| !is_it(program));
            }
            Happened::Worked { unit, .. } => self.worked(unit),
            Happened::Claimed { block, .. } => drop(self.claimed.insert(block.0)),
            Happened::Begins {
                unit,
                held: Held::ForCollection { first: blame::Cause::Erase, .. },
            } => self.erase_begins(unit),
            Happened::Erased { block } | Happened::Retired(block, _) => {
                // Collections that take no time end at once.
                let at_once = self.programs.values_mut().filter(|program| program.at_ns == now_ns);
                at_once.for_each(|program| program.has_worked = true);
                self.is_emptied(block);
                self.erasing.remove(&block.0);
                self.claimed.remove(&block.0);
            }
            _ => {}
        }
    }

    fn worked(&mut self, unit: UnitId) {
        let geometry = &self.plan.geometry;
        for (&page, program) in &mut self.programs {
            program.has_worked |= geometry.unit_of(geometry.plane_of(Ppn(page))) == unit;
        }
    }

    /// A unit erases the victims that have no valid page.
    fn erase_begins(&mut self, unit: UnitId) {
        let geometry = &self.plan.geometry;
        let has_parts = geometry.has_superblocks();
        let is_its = |&&block: &&u32| {
            let (block, plane) = (BlockId(block), geometry.plane_of_block(BlockId(block)));
            // A block of several units is erased part by part.
            let is_left = || self.programs.values().any(|it| self.comes_from(it) == Some(block));
            geometry.unit_of(plane) == unit
                && self.valid[block.index()] == 0
                && !(has_parts && is_left())
        };
        let erased: Vec<u32> = self.claimed.iter().filter(is_its).copied().collect();
        for block in erased {
            self.is_emptied(BlockId(block));
            self.erasing.insert(block);
        }
    }

    /// The block that a copy has left.
    fn comes_from(&self, program: &Program) -> Option<BlockId> {
        match program.cause {
            Cause::Copy { from } | Cause::MoveAhead { from } => {
                Some(self.plan.geometry.block_of(from))
            }
            _ => None,
        }
    }

    /// The erase of a block begins: the copies of its pages have ended, and so have the programs of
    /// their successors.
    fn is_emptied(&mut self, block: BlockId) {
        let mut ended = Vec::new();
        for (&page, program) in &self.programs {
            let is_copy = self.comes_from(program) == Some(block);
            let replaces = program.replaces.is_some()
                && self.plan.geometry.block_of(program.replaces) == block;
            if is_copy && program.has_worked || !is_copy && replaces {
                self.early_erases += u64::from(!is_copy);
                ended.push(page);
            }
        }
        self.programs.retain(|page, _| !ended.contains(page));
    }

    /// Programs and erases that would be cut now.
    pub fn under_way(&self) -> (usize, usize) {
        let programs = if self.completes() { 0 } else { self.programs.len() };
        (programs, self.erasing.len())
    }

    /// Whether the controller completes its programs.
    fn completes(&self) -> bool {
        let shape = &self.plan.geometry.shape;
        shape.program_slots > 1 && !shape.pads()
    }

    /// The power is lost now: `below` chooses the content of each cut page.
    pub(crate) fn cut(&self, store: &Store, mut below: impl FnMut(u64) -> u64) -> io::Result<()> {
        let page_bytes = self.plan.geometry.shape.page_bytes as usize;
        let mut data = vec![0; page_bytes];
        if !self.completes() {
            for &page in self.programs.keys() {
                let mut record = store.entry_of(page)?;
                if record.iter().all(|&byte| byte == 0) {
                    // It waits in memory with those before it: nothing of it is in the file.
                    continue;
                }
                // A copy has the data of its source, which is not programmed now.
                let place = match store.record(page)? {
                    Found::Record(found) if !found.by_copy => Some(found.held(page).place),
                    _ => None,
                };
                let place = place.filter(|&place| place != NONE);
                if let Some(place) = place {
                    store.raw_data(place, &mut data)?;
                }
                match below(4) {
                    0 => {}
                    1 => record.fill(0),
                    kind => {
                        // The record follows the data, and so it is not whole where that is not.
                        data[page_bytes / 2..].fill(if kind == 2 { 0 } else { 0xFF });
                        let copies = if store.has_copies() { 2 } else { 1 };
                        let copy_bytes = record.len() / copies;
                        for copy in record.chunks_mut(copy_bytes) {
                            let at = below(copy.len() as u64) as usize;
                            copy[at] ^= 1 + below(255) as u8;
                        }
                    }
                }
                store.tear(page, &record, place.map(|place| (place, &data[..])))?;
            }
        }
        for &block in &self.erasing {
            let first = self.plan.geometry.first_page(BlockId(block)).0;
            for page in first..first + self.plan.geometry.shape.pages_per_block {
                // Its data may belong to a copy as well, and an erase leaves it as it is.
                let record_bytes = store.entry_of(page)?.len();
                match below(3) {
                    0 => {}
                    1 => store.tear(page, &vec![0; record_bytes], None)?,
                    _ => store.tear(page, &vec![0xA5; record_bytes], None)?,
                }
            }
        }
        Ok(())
    }
}
