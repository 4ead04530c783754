//! The map of a drive, rebuilt from the records of its pages.
//!
//! Of each logical page the version of the highest number is taken whose record is whole, unless a
//! trim has a higher one. A copy has the number of its source, so that it never beats a write that
//! came later; of a page and its copies the one that was programmed last is taken, and the block
//! that a collection had not erased yet stays a block without that page.
//!
//! A page whose program was cut holds nothing, and is not programmed again before an erase. A block
//! with erased pages below written ones is full, since its erase was cut; but in a superblock
//! programs of several units were.
//!
//! Damage is never taken for a cut: a page whose record is whole had whole data. Where its data
//! does not agree with its checksum, reading it is an error, and an older version does not come
//! back.

use crate::kept::Held;
use crate::layout::{Bad, Wear};
use crate::record::{Content, Found, Record};
use crate::store::Store;
use crate::tables::InSlot;
use flashgc::drive::{Drive, OpenBlock, PlaneBlocks, Role};
use flashgc::ids::{BlockId, PlaneId, Ppn};
use flashgc::plan::Plan;
use std::collections::BTreeSet;
use std::fmt;
use std::io;

/// Whether a version of a logical page is newer than another one.
pub type IsNewer = fn(&Record, &Record) -> bool;

/// By the numbers of the writes, and among copies by the time of the program.
pub fn by_sequence(one: &Record, other: &Record) -> bool {
    (one.sequence, one.at_ns, one.by_copy) > (other.sequence, other.at_ns, other.by_copy)
}

/// A page of the write buffer that was saved, and is newer than flash.
pub struct Saved {
    /// Its place in the store.
    pub slot: u32,
    /// The logical page.
    pub lpn: u32,
    /// None where it could not be read when it was written.
    pub data: Option<Vec<u8>>,
}

/// The findings of the recovery of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Whether the drive was stopped, and not cut off.
    pub was_stopped: bool,
    /// Logical pages that have data of clients.
    pub with_data: u64,
    /// Physical pages whose program was cut.
    pub torn: u64,
    /// Pages of the write buffer that were saved.
    pub saved: u64,
    /// Whether the drive takes no further write.
    pub is_read_only: bool,
    /// Damage: entries that were repaired, and pages that cannot be read.
    pub damage: Vec<String>,
}

/// The most damaged parts of a store that are named.
const NAMED: usize = 4;

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Recovery { was_stopped, with_data, torn, saved, is_read_only, .. } = self;
        f.write_str(if was_stopped { "stopped before" } else { "cut off before" })?;
        match with_data {
            1 => f.write_str("; 1 page has data")?,
            _ => write!(f, "; {with_data} pages have data")?,
        }
        if saved > 0 {
            write!(f, ", {saved} of them from the write buffer")?;
        }
        if torn > 0 {
            let programs = if torn == 1 { "program was" } else { "programs were" };
            write!(f, "; {torn} {programs} cut")?;
        }
        if is_read_only {
            f.write_str("; the drive is read-only")?;
        }
        for damage in self.damage.iter().take(NAMED) {
            write!(f, "; {damage}")?;
        }
        match self.damage.len().saturating_sub(NAMED) {
            0 => Ok(()),
            1 => f.write_str("; 1 other part of the file is damaged"),
            more => write!(f, "; {more} other parts of the file are damaged"),
        }
    }
}

/// A drive that was rebuilt.
pub struct Recovered {
    /// Its state for the engine.
    pub state: Drive,
    /// The highest number of a write.
    pub sequence: u64,
    /// The physical pages with data that can be read.
    pub data: Vec<u32>,
    /// The physical pages with data that cannot be read.
    pub unreadable: Vec<u32>,
    /// The data of each physical page.
    pub held: Vec<Held>,
    /// Pages to be written again.
    pub saved: Vec<Saved>,
    /// The findings, for the user.
    pub found: Recovery,
}

/// The state of a block, from the records of its pages.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The first page from which on nothing is written, of the even and of the odd pages.
    ends: [u32; 2],
    /// Number of written pages, even and odd.
    written: [u32; 2],
    last_ns: u64,
    /// Whether a collection programmed its last page.
    by_copy: bool,
}

struct Scan {
    /// Retired blocks, and the pages of a block.
    retired: BTreeSet<u32>,
    pages_per_block: u32,
    is_newer: IsNewer,
    trims: Vec<u64>,
    /// The version of each logical page that is the newest so far.
    newest: Vec<Option<(u32, Record)>>,
}

impl Scan {
    fn is_retired(&self, page: u32) -> bool {
        self.retired.contains(&(page / self.pages_per_block))
    }

    fn is_possible(&self, record: &Record) -> bool {
        let is_trimmed =
            |lpn: usize| self.trims.get(lpn).is_none_or(|&trim| trim > record.sequence);
        record.content != Content::Padding && !is_trimmed(record.lpn as usize)
    }

    fn offer(&mut self, page: u32, record: Record) {
        if !self.is_possible(&record) {
            return;
        }
        let newest = &mut self.newest[record.lpn as usize];
        if newest.as_ref().is_none_or(|(_, newest)| (self.is_newer)(&record, newest)) {
            *newest = Some((page, record));
        }
    }

    /// Logical pages that have data of clients, with those that were saved.
    fn with_data(&self, saved: &[Saved]) -> u64 {
        let has_data = |newest: &Option<(u32, Record)>| {
            newest.as_ref().is_some_and(|(_, record)| record.content == Content::Data)
        };
        let in_flash = self.newest.iter().filter(|newest| has_data(newest)).count();
        let only_saved = |saved: &&Saved| !has_data(&self.newest[saved.lpn as usize]);
        (in_flash + saved.iter().filter(only_saved).count()) as u64
    }

    /// The pages whose data does not match their records, among the newest versions.
    fn damaged(&self, store: &Store, page_bytes: usize) -> io::Result<Vec<(u32, u32)>> {
        let mut data = vec![0; page_bytes];
        let with_data = self.newest.iter().flatten();
        let with_data = with_data.filter(|(_, record)| record.content == Content::Data);
        let mut checked: Vec<(u32, Held)> =
            with_data.map(|(page, record)| (*page, record.held(*page))).collect();
        // In the order of the file.
        checked.sort_unstable_by_key(|(_, held)| held.place);
        let mut damaged = Vec::new();
        for (page, Held { place, check }) in checked {
            store.raw_data(place, &mut data)?;
            if store.compare((page, place), &data, check).is_err() {
                damaged.push((page, place));
            }
        }
        Ok(damaged)
    }
}

/// Rebuilds the drive in a store.
pub fn recover(
    store: &mut Store,
    plan: &Plan,
    is_newer: IsNewer,
    age_ns: u64,
) -> io::Result<Recovered> {
    let geometry = &plan.geometry;
    let state = store.read_state()?;
    let wear = store.wear()?;
    let is_retired = |&block: &u32| wear[block as usize].1 == Some(Bad::Retired);
    let mut scan = Scan {
        retired: (0..geometry.blocks).filter(is_retired).collect(),
        pages_per_block: geometry.shape.pages_per_block,
        is_newer,
        trims: store.trims()?,
        newest: vec![None; geometry.exported_pages as usize],
    };
    let (was_stopped, is_read_only) = (state.is_stopped, state.is_read_only);
    let mut found = Recovery { was_stopped, is_read_only, ..Recovery::default() };
    let mut held = vec![Held::NOTHING; geometry.pages as usize];
    let mut blocks = vec![Seen::default(); geometry.blocks as usize];
    let (mut data, mut unreadable) = (Vec::new(), Vec::new());
    let (mut sequence, mut age_ns) = (scan.trims.iter().copied().max().unwrap_or(0), age_ns);
    store.records(|page, read| {
        let (block, at) = geometry.block_and_page(Ppn(page));
        if read == Found::Erased || scan.is_retired(page) {
            return;
        }
        let block = &mut blocks[block.index()];
        let lane = at as usize % 2;
        block.ends[lane] = at + 2;
        block.written[lane] += 1;
        let Found::Record(record) = read else {
            found.torn += 1;
            return;
        };
        if record.at_ns >= block.last_ns {
            (block.last_ns, block.by_copy) = (record.at_ns, record.by_copy);
        }
        match record.content {
            Content::Data => data.push(page),
            Content::Unreadable => unreadable.push(page),
            Content::Zeros | Content::Padding => {}
        }
        held[page as usize] = record.held(page);
        sequence = sequence.max(record.sequence);
        age_ns = age_ns.max(record.at_ns);
        scan.offer(page, record);
    })?;
    let mended = store.mend();
    let mended = mended.into_iter().map(|what| format!("{what} was damaged, and has been mended"));
    found.damage.extend(mended);
    if !found.was_stopped {
        for page in scan.damaged(store, geometry.shape.page_bytes as usize)? {
            found.damage.push(store.damage(page));
            unreadable.push(page.0);
        }
    }
    let (saved, mut lost) = newer_saved(store, &scan, &mut sequence)?;
    found.damage.append(&mut lost);
    found.saved = saved.len() as u64;
    found.with_data = scan.with_data(&saved);
    let map = scan.newest.iter().map(|newest| newest.map_or(u32::MAX, |(page, _)| page)).collect();
    let mut state = state_of(plan, map, &blocks, wear, age_ns);
    state.is_read_only = found.is_read_only;
    Ok(Recovered { state, sequence, data, unreadable, held, saved, found })
}

/// The saved pages of the write buffer that flash does not have, and which of them are damaged.
fn newer_saved(
    store: &mut Store,
    scan: &Scan,
    sequence: &mut u64,
) -> io::Result<(Vec<Saved>, Vec<String>)> {
    let mut saved = store.saved()?;
    saved.sort_by_key(|InSlot { record, .. }| (record.lpn, record.sequence));
    let (mut newer, mut lost): (Vec<Saved>, Vec<String>) = Default::default();
    for InSlot { slot, record, data } in saved {
        *sequence = (*sequence).max(record.sequence);
        let in_flash = |(_, flash): &(u32, Record)| flash.sequence >= record.sequence;
        if !scan.is_possible(&record)
            || scan.newest[record.lpn as usize].as_ref().is_some_and(in_flash)
        {
            continue;
        }
        if data.is_none() {
            let (lpn, place) = (record.lpn, store.slot_text(slot));
            lost.push(format!(
                "logical page {lpn} in the write buffer is damaged and cannot be read: {place}"
            ));
        }
        newer.retain(|other| other.lpn != record.lpn);
        let data = data.filter(|_| record.content == Content::Data);
        newer.push(Saved { slot, lpn: record.lpn, data });
    }
    Ok((newer, lost))
}

/// The state of a drive with this map.
fn state_of(plan: &Plan, map: Vec<u32>, blocks: &[Seen], wear: Vec<Wear>, age_ns: u64) -> Drive {
    let geometry = &plan.geometry;
    let (erases, bad): (Vec<u32>, Vec<Option<Bad>>) = wear.into_iter().unzip();
    let (mut order, mut planes, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut failing = Vec::new();
    for plane in (0..geometry.planes).map(PlaneId) {
        let (mut sealed, mut opened, mut erased) = (Vec::new(), Vec::new(), Vec::new());
        let mut retired = Vec::new();
        for block in geometry.blocks_of(plane).map(BlockId) {
            let seen = &blocks[block.index()];
            match bad[block.index()] {
                Some(Bad::Retired) => {
                    retired.push(block.0);
                    continue;
                }
                Some(Bad::Failing) => {
                    failing.push(block.0);
                    sealed.push((seen.last_ns, block.0));
                    continue;
                }
                None => {}
            }
            match open_block(plan, block, seen) {
                _ if seen.written == [0, 0] => erased.push((erases[block.index()], block.0)),
                Some(open) => opened.push((seen.last_ns, open)),
                None => sealed.push((seen.last_ns, block.0)),
            }
        }
        sealed.sort_unstable();
        erased.sort_unstable();
        opened.sort_by_key(|&(at_ns, open)| (at_ns, open.block.0));
        planes.push(PlaneBlocks {
            sealed: sealed.len() as u32,
            open: opened.len() as u32,
            retired: retired.len() as u32,
            triggered: true,
        });
        order.extend(sealed.iter().map(|&(_, block)| block));
        order.extend(opened.iter().map(|(_, open)| open.block.0));
        order.extend(erased.iter().map(|&(_, block)| block));
        order.extend(retired);
        open.extend(opened.iter().map(|&(_, open)| open));
    }
    let sealed_at_ns = blocks.iter().map(|block| block.last_ns).collect();
    Drive {
        map,
        order,
        planes,
        open,
        sealed_at_ns,
        erases,
        age_ns,
        failing,
        is_read_only: false,
        kept: None,
    }
}

/// A block that can be written on, where this is one.
fn open_block(plan: &Plan, block: BlockId, seen: &Seen) -> Option<OpenBlock> {
    let (geometry, shape) = (&plan.geometry, &plan.geometry.shape);
    let role = if seen.by_copy { Role::Gc } else { Role::Host };
    let data_pages = geometry.data_pages_of(block);
    let next = [seen.ends[0], seen.ends[1].max(1)];
    // Each kind of pages is written from the first one on.
    let is_whole = [next[0] / 2, next[1] / 2] == seen.written;
    let open = if plan.frontier_rules().parity {
        OpenBlock { block, role, next }
    } else {
        let end = next[0].max(next[1]) - 1;
        // The programs of several units do not end in the order of their pages.
        let is_whole = end == seen.written[0] + seen.written[1] || geometry.has_superblocks();
        let program = if shape.pads() { shape.program_slots } else { 1 };
        let next = end.next_multiple_of(program);
        return (is_whole && next > 0 && next < data_pages)
            .then(|| OpenBlock::written(block, role, next));
    };
    (is_whole && open.is_sound(data_pages)).then_some(open)
}
