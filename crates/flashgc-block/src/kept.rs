//! The pages of a drive in a store, in step with what the engine does.
//!
//! Programs wait to be saved together, until an answer stands on one of them. So do copies of
//! collections, until their source is about to be erased: the data of a copy is read where it was
//! before.
//!
//! Once a write has failed the file stays as it is. Whatever waits then, and all that is programmed
//! from then on, waits for ever, so that the drive can be read.

use crate::layout::Bad;
use crate::record::{Content, Found, Record, checksum};
use crate::store::{Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Bytes that are written at once.
const MOST: usize = 1 << 20;
/// As many programs wait to be saved at most.
const WAITING: usize = 1024;
/// Erased blocks keep this much of the file's space, for the next programs: to give space back and
/// to take it again costs more than the writes.
const SPARE: usize = 64 << 20;

/// A page that is not saved yet.
#[derive(Clone)]
enum Waits {
    /// Its record and its data, which is empty where it has none.
    Program(Record, Box<[u8]>),
    Copy(Moved),
}

/// A copy that is not saved yet.
#[derive(Clone, Copy)]
struct Moved {
    /// The page that has its data and its record in the file.
    root: u32,
    /// The checksum of the data.
    check: u32,
    at_ns: u64,
    /// What it is; none is what the root says.
    content: Option<Content>,
}

impl Waits {
    fn has_data(&self) -> bool {
        match self {
            Waits::Program(_, data) => !data.is_empty(),
            Waits::Copy(moved) => moved.content == Some(Content::Data),
        }
    }
}

/// A store, and what is not in it yet.
pub struct Kept {
    pub store: Store,
    page_bytes: usize,
    pages_per_block: u32,
    /// Erases of each block.
    pub wear: Vec<u32>,
    /// The checksum of each page with data.
    checks: Vec<u32>,
    waiting: BTreeMap<u32, Waits>,
    /// How many of them are programs.
    programs: usize,
    /// Erased blocks that keep space of the file.
    spare: BTreeSet<u32>,
    /// Pages that are read to be copied.
    sources: Vec<u8>,
}

impl Kept {
    /// A store whose blocks were erased so often, and whose pages have data of these checksums.
    pub fn new(
        store: Store,
        pages_per_block: u32,
        page_bytes: u32,
        wear: Vec<u32>,
        checks: Vec<u32>,
    ) -> Self {
        Kept {
            store,
            page_bytes: page_bytes as usize,
            pages_per_block,
            wear,
            checks,
            waiting: BTreeMap::new(),
            programs: 0,
            spare: BTreeSet::new(),
            sources: Vec::new(),
        }
    }

    /// Why nothing can be written any more.
    pub fn failure(&self) -> Option<&StoreError> {
        self.store.failure()
    }

    /// Reads a part of a page that has data.
    pub fn read(&mut self, page: u32, from: usize, into: &mut [u8]) -> io::Result<()> {
        match self.waiting.get(&page) {
            Some(Waits::Program(_, data)) => {
                into.copy_from_slice(&data[from..from + into.len()]);
                Ok(())
            }
            Some(&Waits::Copy(Moved { root, check, .. })) => {
                self.store.data(root, from, into, check)
            }
            None => self.store.data(page, from, into, self.checks[page as usize]),
        }
    }

    /// Programs a page, with data or without. Returns copies whose data was found to be damaged.
    pub fn program(&mut self, page: u32, data: &[u8], record: Record) -> Vec<u32> {
        let check = if data.is_empty() { 0 } else { checksum(data) };
        self.waiting.insert(page, Waits::Program(Record { check, ..record }, data.into()));
        self.programs += 1;
        if self.programs < WAITING { Vec::new() } else { self.settle() }
    }

    /// An answer stands on what was programmed. Copies are saved as well, so that no block has a
    /// page that is not programmed below one that is. Returns copies whose data is damaged.
    pub fn save(&mut self) -> Vec<u32> {
        if self.programs == 0 { Vec::new() } else { self.settle() }
    }

    /// A page is a copy of another one from now on.
    pub fn copy(&mut self, from: u32, to: u32, at_ns: u64, content: Option<Content>) {
        let source = match self.waiting.get(&from) {
            Some(program @ Waits::Program(..)) => {
                // Its record follows when it is saved, and never does where nothing can be saved.
                let mut copy = program.clone();
                if let Waits::Program(record, _) = &mut copy {
                    (record.by_copy, record.at_ns) = (true, at_ns);
                    record.content = content.unwrap_or(record.content);
                }
                self.waiting.insert(to, copy);
                return;
            }
            Some(&Waits::Copy(moved)) => moved,
            None => Moved { root: from, check: self.checks[from as usize], at_ns, content },
        };
        let content = content.or(source.content);
        self.waiting.insert(to, Waits::Copy(Moved { at_ns, content, ..source }));
    }

    /// Saves every program and every copy. Returns the copies whose data is damaged.
    pub fn settle(&mut self) -> Vec<u32> {
        let mut damaged = Vec::new();
        if self.waiting.is_empty() || self.failure().is_some() {
            return damaged;
        }
        let waiting: Vec<(u32, Waits)> = std::mem::take(&mut self.waiting).into_iter().collect();
        let most = (MOST / self.page_bytes).max(1);
        let follows = |one: &(u32, Waits), other: &(u32, Waits)| {
            other.0 == one.0 + 1 && one.1.has_data() == other.1.has_data()
        };
        let mut saved = 0;
        for run in waiting.chunk_by(follows).flat_map(|run| run.chunks(most)) {
            if !self.save_run(run, &mut damaged) {
                break;
            }
            saved += run.len();
        }
        self.waiting = waiting.into_iter().skip(saved).collect();
        self.programs = 0;
        damaged
    }

    /// Saves pages that follow each other. Returns whether they are in the file.
    fn save_run(&mut self, run: &[(u32, Waits)], damaged: &mut Vec<u32>) -> bool {
        let page_bytes = if run[0].1.has_data() { self.page_bytes } else { 0 };
        let mut data = vec![0; run.len() * page_bytes];
        let mut records = vec![Record::empty(0, Content::Padding, 0, 0); run.len()];
        let mut copies = Vec::new();
        for (place, (_, waits)) in run.iter().enumerate() {
            match waits {
                Waits::Program(record, page) => {
                    records[place] = *record;
                    data[place * page_bytes..][..page_bytes].copy_from_slice(page);
                }
                Waits::Copy(moved) => copies.push((place, *moved)),
            }
        }
        copies.sort_unstable_by_key(|(_, moved)| moved.root);
        let mut rest = &copies[..];
        while !rest.is_empty() {
            let first = rest[0].1.root;
            // What lies between two sources is read as well: that is cheaper than to ask twice.
            let is_near = |at: &usize| rest[*at].1.root - first < 4 * *at as u32 + 4;
            let count = (1..rest.len()).take_while(is_near).last().map_or(1, |last| last + 1);
            let (part, others) = rest.split_at(count);
            for (place, record, is_damaged) in match self.sources(part, page_bytes, &mut data) {
                Some(found) => found,
                None => return false,
            } {
                records[place] = record;
                if is_damaged {
                    damaged.push(run[place].0);
                }
            }
            rest = others;
        }
        if !self.store.program_all(run[0].0, &data, &records) {
            return false;
        }
        for ((page, _), record) in run.iter().zip(&records) {
            self.checks[*page as usize] = record.check;
            self.spare.remove(&(page / self.pages_per_block));
        }
        true
    }

    /// Reads the sources of copies, which are near each other: data into its place, and the records
    /// of the copies with whether their data is damaged. None where a record is not known: what
    /// stands on it cannot be saved.
    fn sources(
        &mut self,
        copies: &[(usize, Moved)],
        page_bytes: usize,
        data: &mut [u8],
    ) -> Option<Vec<(usize, Record, bool)>> {
        let (first, last) = (copies[0].1.root, copies[copies.len() - 1].1.root);
        let pages = last - first + 1;
        self.sources.resize(pages as usize * page_bytes, 0);
        let is_read = page_bytes == 0 || self.store.raw_data(first, &mut self.sources).is_ok();
        let records = self.store.records_from(first, pages).unwrap_or_default();
        let mut found = Vec::with_capacity(copies.len());
        for &(place, moved) in copies {
            let at = (moved.root - first) as usize;
            let Some(&Found::Record(source)) = records.get(at) else {
                let why = format!("the record of page {} is damaged", moved.root);
                self.store.fail(libc::EIO, &why);
                return None;
            };
            let page = &self.sources[at * page_bytes..][..page_bytes];
            data[place * page_bytes..][..page_bytes].copy_from_slice(page);
            let is_damaged = page_bytes > 0 && !(is_read && checksum(page) == moved.check);
            let content = moved.content.unwrap_or(source.content);
            let content = if is_damaged { Content::Unreadable } else { content };
            let check = if page_bytes > 0 { moved.check } else { 0 };
            let record = Record { content, by_copy: true, at_ns: moved.at_ns, check, ..source };
            found.push((place, record, is_damaged));
        }
        Some(found)
    }

    /// The pages of a block have no data from now on.
    pub fn erase(&mut self, first: u32, had_data: bool) {
        let block = first / self.pages_per_block;
        let pages = first..first + self.pages_per_block;
        self.waiting.retain(|page, _| !pages.contains(page));
        self.store.erase(first, self.pages_per_block);
        if had_data && self.failure().is_none() {
            self.spare.insert(block);
            let block_bytes = self.pages_per_block as usize * self.page_bytes;
            if self.spare.len() > (SPARE / block_bytes).max(1) {
                self.give_back();
            }
        }
    }

    /// One of the spare blocks gives its space back.
    fn give_back(&mut self) -> bool {
        let Some(block) = self.spare.pop_last() else { return false };
        self.store.give_back(block * self.pages_per_block, self.pages_per_block);
        true
    }

    /// A block is bad, or was erased once more.
    pub fn note_wear(&mut self, block: u32, bad: Option<Bad>) {
        self.store.note_wear(block, (self.wear[block as usize], bad));
    }

    /// The drive is stopped: its copies are saved, and erased blocks are holes.
    pub fn stop(&mut self) -> Vec<u32> {
        let damaged = self.settle();
        while self.give_back() {}
        damaged
    }
}
