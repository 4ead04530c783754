//! The physical pages of a drive, and the data in them: in memory, or in a store that outlives its
//! server.
//!
//! A page that was not programmed since its block was erased has no data and reads as zeros. So do
//! the pages of preconditioning, which have none. What the store cannot take stays in memory, so
//! that no page of another client is lost if its disk is full.

use crate::record::{Content, Found, Record};
use crate::store::{Bad, Store};
use flashgc::device::Geometry;
use flashgc::ids::{BlockId, Ppn};
use std::collections::BTreeSet;
use std::io;

/// The data of every physical page.
pub struct Pages {
    page_bytes: usize,
    pages_per_block: usize,
    /// A bit for each page: it has data.
    programmed: Vec<u64>,
    place: Place,
    /// Pages whose data could not be read when it was moved there.
    unreadable: BTreeSet<u32>,
}

enum Place {
    /// A buffer for each block that has data, and those that are free.
    Memory {
        blocks: Vec<Option<Box<[u8]>>>,
        free: Vec<Box<[u8]>>,
    },
    Store(Box<Kept>),
}

/// A store, and the wear of the blocks in it.
pub struct Kept {
    /// The store.
    pub store: Store,
    /// Erases of each block.
    pub wear: Vec<u32>,
}

impl Pages {
    /// The pages of an empty drive, in memory or in a store.
    pub fn new(geometry: &Geometry, kept: Option<Kept>) -> Self {
        let place = match kept {
            None => {
                let blocks = (0..geometry.blocks).map(|_| None).collect();
                Place::Memory { blocks, free: Vec::new() }
            }
            Some(kept) => Place::Store(Box::new(kept)),
        };
        Pages {
            page_bytes: geometry.shape.page_bytes as usize,
            pages_per_block: geometry.shape.pages_per_block as usize,
            programmed: vec![0; (geometry.pages as usize).div_ceil(64)],
            place,
            unreadable: BTreeSet::new(),
        }
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// The store, where there is one.
    pub fn store(&mut self) -> Option<&mut Store> {
        match &mut self.place {
            Place::Memory { .. } => None,
            Place::Store(kept) => Some(&mut kept.store),
        }
    }

    /// Whether pages have records.
    pub fn has_records(&self) -> bool {
        matches!(self.place, Place::Store(_))
    }

    /// The record of a page that was programmed, where records are kept.
    pub fn record(&self, page: Ppn) -> Option<Record> {
        let Place::Store(kept) = &self.place else { return None };
        match kept.store.record(page.0) {
            Ok(Found::Record(record)) => Some(record),
            _ => None,
        }
    }

    /// Whether a page has data.
    pub fn has_data(&self, page: Ppn) -> bool {
        self.programmed[page.index() / 64] >> (page.index() % 64) & 1 == 1
    }

    /// The block of a page, and the place of its bytes there.
    fn place_of(&self, page: Ppn) -> (usize, std::ops::Range<usize>) {
        let from = page.index() % self.pages_per_block * self.page_bytes;
        (page.index() / self.pages_per_block, from..from + self.page_bytes)
    }

    /// Reads a part of a page, from this byte on.
    pub fn read(&self, page: Ppn, from: usize, into: &mut [u8]) -> io::Result<()> {
        assert!(from + into.len() <= self.page_bytes, "a read ends in its page");
        if !self.has_data(page) {
            into.fill(0);
            return Ok(());
        }
        if self.unreadable.contains(&page.0) {
            return Err(unreadable());
        }
        match &self.place {
            Place::Memory { blocks, .. } => {
                let (block, place) = self.place_of(page);
                let data = blocks[block].as_ref().expect("a block with data has a buffer");
                into.copy_from_slice(&data[place][from..from + into.len()]);
                Ok(())
            }
            Place::Store(kept) => kept.store.data(page.0, from, into),
        }
    }

    /// Programs a page. Where the store cannot take it, it stays in memory, and the error says why.
    pub fn program(&mut self, page: Ppn, data: &[u8], record: Record) -> io::Result<()> {
        assert_eq!(data.len(), self.page_bytes, "a page is programmed as a whole");
        assert!(!self.has_data(page), "page {} is programmed without an erase", page.0);
        self.has_data_now(page);
        let (block, place) = self.place_of(page);
        match &mut self.place {
            Place::Memory { blocks, free } => {
                let bytes = self.pages_per_block * self.page_bytes;
                let new = || free.pop().unwrap_or_else(|| vec![0; bytes].into_boxed_slice());
                blocks[block].get_or_insert_with(new)[place].copy_from_slice(data);
                Ok(())
            }
            Place::Store(kept) => {
                let check = crate::record::checksum(data);
                kept.store.program(page.0, data, Record { check, ..record })
            }
        }
    }

    /// Programs a page without data: it only has a record.
    pub fn program_empty(&mut self, page: Ppn, record: Record) {
        if record.content == Content::Unreadable {
            self.is_unreadable(page);
        }
        if let Place::Store(kept) = &mut self.place {
            // What the file cannot take stays in memory: nothing is lost.
            let _ = kept.store.program(page.0, &[], record);
        }
    }

    /// A page has data that was programmed before.
    pub fn has_data_now(&mut self, page: Ppn) {
        self.programmed[page.index() / 64] |= 1 << (page.index() % 64);
    }

    /// Reading a page is an error from now on.
    pub fn is_unreadable(&mut self, page: Ppn) {
        self.has_data_now(page);
        self.unreadable.insert(page.0);
    }

    /// How often each block was erased before.
    pub fn set_wear(&mut self, wear: Vec<u32>) {
        if let Place::Store(kept) = &mut self.place {
            kept.wear = wear;
        }
    }

    /// Whether the store could not take something, which is kept in memory. Tries it again.
    pub fn is_short(&mut self) -> io::Result<()> {
        self.store().map_or(Ok(()), Store::is_short)
    }

    /// Erases a block: its pages have no data from now on.
    pub fn erase(&mut self, block: BlockId, geometry: &Geometry) {
        self.clear(block, geometry);
        if let Place::Store(kept) = &mut self.place {
            let wear = &mut kept.wear[block.index()];
            *wear = wear.saturating_add(1);
            kept.store.note_wear(block.0, *wear, None);
        }
    }

    /// The pages of a block have no data from now on.
    fn clear(&mut self, block: BlockId, geometry: &Geometry) {
        let (first, pages) = (geometry.first_page(block), self.pages_per_block);
        let mut had_data = false;
        for page in (first.0..).take(pages).map(Ppn) {
            if self.has_data(page) {
                had_data = true;
                self.programmed[page.index() / 64] &= !(1 << (page.index() % 64));
                self.unreadable.remove(&page.0);
            }
        }
        match &mut self.place {
            Place::Memory { blocks, free } => free.extend(blocks[block.index()].take()),
            Place::Store(kept) => kept.store.erase(first.0, pages as u32, had_data),
        }
    }

    /// A block is bad. A retired one gives its space back: its data is elsewhere.
    pub fn is_bad(&mut self, block: BlockId, bad: Bad, geometry: &Geometry) {
        if let Place::Store(kept) = &mut self.place {
            kept.store.note_wear(block.0, kept.wear[block.index()], Some(bad));
        }
        if bad == Bad::Retired {
            self.clear(block, geometry);
        }
    }
}

/// The error of a page that cannot be read.
pub fn unreadable() -> io::Error {
    io::Error::from_raw_os_error(libc::EIO)
}
