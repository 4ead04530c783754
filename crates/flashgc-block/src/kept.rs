//! The pages of a drive in a store, in step with what the engine does.
//!
//! Programs are saved together, before the first answer that stands on one of them. Copies of
//! collections are saved together, when their source is about to be erased or their block
//! takes another program: until then the data of a copy is read where it was before.
//!
//! Once a write has failed the file stays as it is. Pages that are programmed from then on stay in
//! memory, and copies go on to be read where they were before, so that the drive can be read.

use crate::layout::Bad;
use crate::record::{Content, Found, Record, checksum};
use crate::store::{Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;

/// Bytes that are copied at once.
const MOST: usize = 1 << 20;
/// As many pages wait to be saved at most.
const WAITING: usize = 1024;
/// Erased blocks keep this much of the file's space, for the next programs: to give space back and
/// to take it again costs more than the writes.
const SPARE: usize = 64 << 20;

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

/// A store, and what is not in it yet.
pub struct Kept {
    pub store: Store,
    page_bytes: usize,
    pages_per_block: u32,
    /// Erases of each block.
    pub wear: Vec<u32>,
    /// The checksum of each page with data.
    checks: Vec<u32>,
    moved: BTreeMap<u32, Moved>,
    /// Programs that are not saved yet: their records, and their data where they have any.
    waiting: BTreeMap<u32, (Record, Box<[u8]>)>,
    /// What the store could not take.
    unsaved: BTreeMap<u32, Box<[u8]>>,
    /// Erased blocks that keep space of the file.
    spare: BTreeSet<u32>,
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
            moved: BTreeMap::new(),
            waiting: BTreeMap::new(),
            unsaved: BTreeMap::new(),
            spare: BTreeSet::new(),
        }
    }

    /// Why nothing can be written any more.
    pub fn failure(&self) -> Option<&StoreError> {
        self.store.failure()
    }

    fn block_of(&self, page: u32) -> Range<u32> {
        let first = page / self.pages_per_block * self.pages_per_block;
        first..first + self.pages_per_block
    }

    /// Reads a part of a page that has data.
    pub fn read(&mut self, page: u32, from: usize, into: &mut [u8]) -> io::Result<()> {
        let waiting = self.waiting.get(&page).map(|(_, data)| data);
        if let Some(data) = waiting.or(self.unsaved.get(&page)) {
            into.copy_from_slice(&data[from..from + into.len()]);
            return Ok(());
        }
        let own = (page, self.checks[page as usize]);
        let (root, check) = self.moved.get(&page).map_or(own, |moved| (moved.root, moved.check));
        self.store.data(root, from, into, check)
    }

    /// A block is about to take a program: copies that were programmed there before are saved.
    fn opens(&mut self, page: u32) -> Vec<u32> {
        self.spare.remove(&(page / self.pages_per_block));
        let has_copies = self.moved.range(self.block_of(page)).next().is_some();
        if has_copies { self.settle() } else { Vec::new() }
    }

    /// Programs a page, with data or without. Returns copies whose data was found to be damaged.
    pub fn program(&mut self, page: u32, data: &[u8], record: Record) -> Vec<u32> {
        let damaged = self.opens(page);
        let check = if data.is_empty() { 0 } else { checksum(data) };
        self.waiting.insert(page, (Record { check, ..record }, data.into()));
        if self.waiting.len() >= WAITING || self.failure().is_some() {
            self.save();
        }
        damaged
    }

    /// Saves every program. What the store cannot take stays in memory.
    pub fn save(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting).into_iter().peekable();
        let mut data = Vec::new();
        let mut records = Vec::new();
        while let Some((first, (record, page))) = waiting.next() {
            data.clear();
            records.clear();
            data.extend_from_slice(&page);
            records.push(record);
            let mut next = first + 1;
            let follows = |next: u32, (other, (_, data)): &(u32, (Record, Box<[u8]>))| {
                *other == next && data.is_empty() == page.is_empty()
            };
            while let Some((_, (record, page))) = waiting.next_if(|it| follows(next, it)) {
                data.extend_from_slice(&page);
                records.push(record);
                next += 1;
            }
            let is_saved = self.store.program_all(first, &data, &records);
            for (at, record) in records.iter().enumerate() {
                let page = first + at as u32;
                if is_saved {
                    self.checks[page as usize] = record.check;
                } else if !data.is_empty() {
                    let data = &data[at * self.page_bytes..(at + 1) * self.page_bytes];
                    self.unsaved.insert(page, data.into());
                }
            }
        }
    }

    /// A page is a copy of another one from now on.
    pub fn copy(&mut self, from: u32, to: u32, at_ns: u64, content: Option<Content>) {
        if self.waiting.contains_key(&from) {
            self.save();
        }
        if let Some(data) = self.unsaved.get(&from) {
            self.unsaved.insert(to, data.clone());
            return;
        }
        let own = Moved { root: from, check: self.checks[from as usize], at_ns, content };
        let moved = self.moved.get(&from).map_or(own, |source| Moved {
            at_ns,
            content: content.or(source.content),
            ..*source
        });
        self.moved.insert(to, moved);
    }

    /// Saves every program and every copy. Returns the copies whose data is damaged.
    pub fn settle(&mut self) -> Vec<u32> {
        let mut damaged = Vec::new();
        self.save();
        if self.failure().is_some() {
            return damaged;
        }
        let moved: Vec<(u32, Moved)> = self.moved.iter().map(|(&to, &moved)| (to, moved)).collect();
        let most = (MOST / self.page_bytes).max(1);
        let follows = |one: &(u32, Moved), other: &(u32, Moved)| {
            other.0 == one.0 + 1 && has_data(&one.1) == has_data(&other.1)
        };
        for run in moved.chunk_by(follows).flat_map(|run| run.chunks(most)) {
            if !self.settle_run(run, &mut damaged) {
                return damaged;
            }
            for (to, _) in run {
                self.moved.remove(to);
                self.spare.remove(&(to / self.pages_per_block));
            }
        }
        damaged
    }

    /// Saves copies that lie side by side. Returns whether they are in the file.
    fn settle_run(&mut self, run: &[(u32, Moved)], damaged: &mut Vec<u32>) -> bool {
        let with_data = has_data(&run[0].1);
        let mut data = vec![0; if with_data { run.len() * self.page_bytes } else { 0 }];
        let mut records = Vec::with_capacity(run.len());
        let mut at = 0;
        for part in run.chunk_by(|one, other| other.1.root == one.1.root + 1) {
            let (first, pages) = (part[0].1.root, part.len());
            let into = at * self.page_bytes..(at + pages) * self.page_bytes;
            let mut is_read = true;
            if with_data {
                is_read = self.store.raw_data(first, &mut data[into]).is_ok();
            }
            let sources = self.store.records_from(first, pages as u32).unwrap_or_default();
            for (place, &(to, moved)) in (at..).zip(part) {
                let Some(&Found::Record(source)) = sources.get(place - at) else {
                    let why = format!("the record of page {} is damaged", moved.root);
                    self.store.fail(libc::EIO, &why);
                    return false;
                };
                let is_whole = || {
                    let data = &data[place * self.page_bytes..(place + 1) * self.page_bytes];
                    is_read && checksum(data) == moved.check
                };
                let mut content = moved.content.unwrap_or(source.content);
                if with_data && !is_whole() {
                    content = Content::Unreadable;
                    damaged.push(to);
                }
                let (at_ns, check) = (moved.at_ns, if with_data { moved.check } else { 0 });
                self.checks[to as usize] = check;
                records.push(Record { content, by_copy: true, at_ns, check, ..source });
            }
            at += pages;
        }
        self.store.program_all(run[0].0, &data, &records)
    }

    /// The pages of a block have no data from now on.
    pub fn erase(&mut self, first: u32, had_data: bool) {
        let block = first / self.pages_per_block;
        let pages = self.block_of(first);
        self.moved.retain(|page, _| !pages.contains(page));
        self.waiting.retain(|page, _| !pages.contains(page));
        self.unsaved.retain(|page, _| !pages.contains(page));
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

fn has_data(moved: &Moved) -> bool {
    moved.content == Some(Content::Data)
}
