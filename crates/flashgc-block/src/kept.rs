//! The pages of a drive in a store, in step with the engine.
//!
//! Programs wait to be saved together, until the answer to a request depends on one of them. A copy
//! of a collection needs no data of its own: its record names the place of its source's data, and
//! waits to be saved until the source is about to be erased.
//!
//! Once a write has failed the file stays as it is. Whatever waits then, and all that is programmed
//! from then on, waits for ever, so that the drive can be read.

use crate::layout::Bad;
use crate::places::{NONE, Places};
use crate::record::{Content, Found, Record, checksum};
use crate::store::{Store, StoreError};
use std::collections::BTreeMap;
use std::io;

/// Bytes of data that wait to be saved at most.
const MOST: usize = 1 << 20;
/// The most programs that wait to be saved.
const WAITING: usize = 1024;
/// Records that are so near each other are read at once.
const NEAR: u32 = 64;

/// The data of a page: where it lies, and its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub place: u32,
    pub check: u32,
}

impl Held {
    /// No data.
    pub const NOTHING: Held = Held { place: NONE, check: 0 };
}

/// A record that is not saved yet.
#[derive(Clone, Copy)]
enum Waits {
    Program(Record),
    Copy(Moved),
}

/// A copy that is not saved yet.
#[derive(Clone, Copy)]
struct Moved {
    /// The page that has its record in the file.
    root: u32,
    at_ns: u64,
    /// Its content, where it differs from the content of the root.
    content: Option<Content>,
}

/// A store, and the data and records that are not in it yet.
pub struct Kept {
    pub store: Store,
    page_bytes: usize,
    pages_per_block: u32,
    /// Erases of each block.
    pub wear: Vec<u32>,
    held: Vec<Held>,
    places: Places,
    waiting: BTreeMap<u32, Waits>,
    /// Number of programs that wait.
    programs: usize,
    /// Data that is not saved, and its places, in their order.
    data: Vec<u8>,
    unsaved: Vec<u32>,
}

impl Kept {
    /// A store whose blocks have this wear, and whose pages have this data.
    pub fn new(
        store: Store,
        pages_per_block: u32,
        page_bytes: u32,
        wear: Vec<u32>,
        held: Vec<Held>,
    ) -> Self {
        let page_bytes = page_bytes as usize;
        let taken = held.iter().map(|held| held.place).filter(|&place| place != NONE);
        Kept {
            store,
            page_bytes,
            pages_per_block,
            wear,
            places: Places::new(held.len() as u32, page_bytes, taken),
            held,
            waiting: BTreeMap::new(),
            programs: 0,
            data: Vec::new(),
            unsaved: Vec::new(),
        }
    }

    /// The failure of the store, after which nothing is written.
    pub fn failure(&self) -> Option<&StoreError> {
        self.store.failure()
    }

    /// Reads a part of a page that has data.
    pub fn read(&mut self, page: u32, from: usize, into: &mut [u8]) -> io::Result<()> {
        let Held { place, check } = self.held[page as usize];
        if let Some(at) = self.unsaved.iter().rposition(|&unsaved| unsaved == place) {
            into.copy_from_slice(&self.data[at * self.page_bytes + from..][..into.len()]);
            return Ok(());
        }
        self.store.data((page, place), from, into, check)
    }

    /// Whether a page has a place for data, which may be damaged.
    pub fn has_place(&self, page: u32) -> bool {
        self.held[page as usize].place != NONE
    }

    /// The error of a page that is damaged.
    pub fn damaged(&self, page: u32) -> io::Error {
        self.store.damaged_page((page, self.held[page as usize].place))
    }

    /// Programs a page, with data or without.
    pub fn program(&mut self, page: u32, data: &[u8], mut record: Record) {
        if !data.is_empty() {
            let held = Held { place: self.places.take(), check: checksum(data) };
            self.data.extend_from_slice(data);
            self.unsaved.push(held.place);
            self.held[page as usize] = held;
            record = record.of_data(page, held);
        }
        self.waiting.insert(page, Waits::Program(record));
        self.programs += 1;
        if self.programs >= WAITING || self.data.len() >= MOST {
            self.settle();
        }
    }

    /// The answer to a request depends on the programs so far. Copies are saved as well, so that no
    /// block has a page that is not programmed below one that is.
    pub fn save(&mut self) {
        if self.programs > 0 {
            self.settle();
        }
    }

    /// A page is a copy of another one from now on.
    pub fn copy(&mut self, from: u32, to: u32, at_ns: u64, content: Option<Content>) {
        let held = self.held[from as usize];
        if content == Some(Content::Data) {
            self.places.share(held.place);
            self.held[to as usize] = held;
        }
        let waits = match self.waiting.get(&from) {
            Some(&Waits::Program(record)) => {
                let content = content.unwrap_or(record.content);
                Waits::Program(self.record_of(to, Record { content, at_ns, ..record }))
            }
            Some(&Waits::Copy(Moved { root, content: before, .. })) => {
                Waits::Copy(Moved { root, at_ns, content: content.or(before) })
            }
            None => Waits::Copy(Moved { root: from, at_ns, content }),
        };
        self.waiting.insert(to, waits);
    }

    /// The record of a copy.
    fn record_of(&self, page: u32, record: Record) -> Record {
        let record = Record { by_copy: true, ..record };
        match record.content {
            Content::Data => record.of_data(page, self.held[page as usize]),
            _ => Record { moved: 0, check: 0, ..record },
        }
    }

    /// Saves every program and every copy.
    pub fn settle(&mut self) {
        if self.waiting.is_empty() || self.failure().is_some() || !self.save_data() {
            return;
        }
        let Some(records) = self.records() else { return };
        for run in records.chunk_by(|one, other| other.0 == one.0 + 1) {
            if !self.store.program_all(run) {
                return;
            }
        }
        self.waiting.clear();
        self.programs = 0;
    }

    /// Saves data, before the records that name its places. Returns whether it is in the file.
    fn save_data(&mut self) -> bool {
        let mut rest = &self.data[..];
        for run in self.unsaved.chunk_by(|one, other| *other == one + 1) {
            let (data, others) = rest.split_at(run.len() * self.page_bytes);
            if !self.store.put(self.store.layout.page_at(run[0]), data) {
                return false;
            }
            rest = others;
        }
        self.data.clear();
        self.unsaved.clear();
        true
    }

    /// The records that wait, in the order of their pages. `None` if the record of a source is
    /// damaged: copies of it cannot be saved.
    fn records(&mut self) -> Option<Vec<(u32, Record)>> {
        let mut records = Vec::with_capacity(self.waiting.len());
        let mut copies = Vec::new();
        for (&page, waits) in &self.waiting {
            match waits {
                Waits::Program(record) => records.push((page, *record)),
                Waits::Copy(moved) => copies.push((page, *moved)),
            }
        }
        if copies.is_empty() {
            return Some(records);
        }
        copies.sort_unstable_by_key(|(_, moved)| moved.root);
        for near in copies.chunk_by(|one, other| other.1.root - one.1.root < NEAR) {
            let (first, last) = (near[0].1.root, near[near.len() - 1].1.root);
            let found = self.store.records_from(first, last - first + 1).unwrap_or_default();
            for &(page, Moved { root, at_ns, content }) in near {
                let Some(&Found::Record(source)) = found.get((root - first) as usize) else {
                    let why = format!("the record of page {root} is damaged");
                    self.store.fail(libc::EIO, &why);
                    return None;
                };
                let content = content.unwrap_or(source.content);
                records.push((page, self.record_of(page, Record { content, at_ns, ..source })));
            }
        }
        records.sort_unstable_by_key(|&(page, _)| page);
        Some(records)
    }

    /// The pages of a block have no data from now on.
    pub fn erase(&mut self, first: u32) {
        let pages = first..first + self.pages_per_block;
        let waiting: Vec<u32> = self.waiting.range(pages.clone()).map(|(&page, _)| page).collect();
        for page in waiting {
            self.waiting.remove(&page);
        }
        self.store.erase(first, self.pages_per_block);
        let mut holes = Vec::new();
        for page in pages {
            let held = std::mem::replace(&mut self.held[page as usize], Held::NOTHING);
            if held.place != NONE && self.places.leave(held.place) {
                holes.push(held.place);
            }
        }
        holes.sort_unstable();
        self.give_back(&holes);
    }

    /// The space of these places is given back.
    fn give_back(&mut self, places: &[u32]) {
        for run in places.chunk_by(|one, other| *other == one + 1) {
            self.store.give_back(run[0], run.len() as u32);
        }
    }

    /// A block is bad, or was erased once more.
    pub fn note_wear(&mut self, block: u32, bad: Option<Bad>) {
        self.store.note_wear(block, (self.wear[block as usize], bad));
    }

    /// The drive is stopped: its copies are saved, and free places are holes.
    pub fn stop(&mut self) {
        self.settle();
        let free: Vec<u32> = self.places.give_back().into_iter().collect();
        self.give_back(&free);
    }
}
