//! The physical pages of a drive, and the data in them: in memory, or in a store that outlives its
//! server ([`kept`](crate::kept)).
//!
//! A page that was not programmed since its block was erased has no data and reads as zeros. So do
//! the pages of preconditioning, which have none.

use crate::kept::Kept;
use crate::layout::Bad;
use crate::record::{Content, Record};
use crate::store::{Store, StoreError};
use flashgc::device::Geometry;
use flashgc::ids::{BlockId, Ppn};
use std::collections::BTreeMap;
use std::io;

/// The reasons why a page cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It has more errors than the model corrects.
    Errors,
    /// Its data, or that which was copied there, was damaged in the store.
    Damage,
}

/// The data of every physical page.
pub struct Pages {
    page_bytes: usize,
    pages_per_block: usize,
    /// A bit for each page: it has data.
    programmed: Vec<u64>,
    place: Place,
    /// Pages whose data could not be read when it was moved there.
    unreadable: BTreeMap<u32, Loss>,
}

enum Place {
    /// A buffer for each block that has data, and those that are free.
    Memory {
        blocks: Vec<Option<Box<[u8]>>>,
        free: Vec<Box<[u8]>>,
    },
    Store(Box<Kept>),
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
            unreadable: BTreeMap::new(),
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

    /// The failure of the store, after which it takes no data.
    pub fn failure(&self) -> Option<&StoreError> {
        match &self.place {
            Place::Memory { .. } => None,
            Place::Store(kept) => kept.failure(),
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
    pub fn read(&mut self, page: Ppn, from: usize, into: &mut [u8]) -> io::Result<()> {
        assert!(from + into.len() <= self.page_bytes, "a read ends in its page");
        if !self.has_data(page) {
            into.fill(0);
            return Ok(());
        }
        match (self.unreadable.get(&page.0), &self.place) {
            (Some(Loss::Damage), Place::Store(kept)) => {
                return Err(kept.damaged(page.0));
            }
            (Some(_), _) => return Err(unreadable()),
            (None, _) => {}
        }
        let (block, place) = self.place_of(page);
        match &mut self.place {
            Place::Memory { blocks, .. } => {
                let data = blocks[block].as_ref().expect("a block with data has a buffer");
                into.copy_from_slice(&data[place][from..from + into.len()]);
                Ok(())
            }
            Place::Store(kept) => kept.read(page.0, from, into),
        }
    }

    /// Programs a page. What the store cannot take stays in memory.
    pub fn program(&mut self, page: Ppn, data: &[u8], record: Record) {
        assert_eq!(data.len(), self.page_bytes, "a page is programmed as a whole");
        assert!(!self.has_data(page), "page {} is programmed without an erase", page.0);
        self.has_data_now(page);
        let (block, place) = self.place_of(page);
        match &mut self.place {
            Place::Memory { blocks, free } => {
                let bytes = self.pages_per_block * self.page_bytes;
                let new = || free.pop().unwrap_or_else(|| vec![0; bytes].into_boxed_slice());
                blocks[block].get_or_insert_with(new)[place].copy_from_slice(data);
            }
            Place::Store(kept) => kept.program(page.0, data, record),
        }
    }

    /// Programs a page without data: it only has a record.
    pub fn program_empty(&mut self, page: Ppn, record: Record) {
        if record.content == Content::Unreadable {
            self.is_unreadable(page, Loss::Damage);
        }
        if let Place::Store(kept) = &mut self.place {
            kept.program(page.0, &[], record);
        }
    }

    /// A copy moves a page, at this time of the age clock.
    pub fn copy(&mut self, from: Ppn, to: Ppn, at_ns: u64) {
        let has_data = self.has_data(from);
        assert!(!self.has_data(to), "page {} is programmed without an erase", to.0);
        if has_data {
            self.has_data_now(to);
        }
        let loss = self.unreadable.get(&from.0).copied().filter(|_| has_data);
        let is_unreadable = loss.is_some();
        if let Some(loss) = loss {
            self.unreadable.insert(to.0, loss);
        }
        let (block, place) = self.place_of(from);
        let (into_block, into) = self.place_of(to);
        match &mut self.place {
            Place::Memory { blocks, free } => {
                if !has_data || is_unreadable {
                    return;
                }
                let bytes = self.pages_per_block * self.page_bytes;
                let data = blocks[block].as_ref().expect("a block with data has a buffer");
                let data: Box<[u8]> = data[place].into();
                let new = || free.pop().unwrap_or_else(|| vec![0; bytes].into_boxed_slice());
                blocks[into_block].get_or_insert_with(new)[into].copy_from_slice(&data);
            }
            Place::Store(kept) => {
                let content = match loss {
                    _ if !has_data => None,
                    None => Some(Content::Data),
                    // It is damaged where it lies, and stays there.
                    Some(Loss::Damage) if kept.has_place(from.0) => Some(Content::Data),
                    Some(_) => Some(Content::Unreadable),
                };
                kept.copy(from.0, to.0, at_ns, content);
            }
        }
    }

    /// Programs are in the store from now on.
    pub fn save(&mut self) {
        if let Place::Store(kept) = &mut self.place {
            kept.save();
        }
    }

    /// Programs and copies are in the store from now on.
    pub fn settle(&mut self) {
        if let Place::Store(kept) = &mut self.place {
            kept.settle();
        }
    }

    /// The drive is stopped: its store has everything.
    pub fn stop(&mut self) {
        if let Place::Store(kept) = &mut self.place {
            kept.stop();
        }
    }

    /// A page has data that was programmed before.
    pub fn has_data_now(&mut self, page: Ppn) {
        self.programmed[page.index() / 64] |= 1 << (page.index() % 64);
    }

    /// Reading a page is an error from now on.
    pub fn is_unreadable(&mut self, page: Ppn, why: Loss) {
        self.has_data_now(page);
        self.unreadable.insert(page.0, why);
    }

    /// Sets the number of earlier erases of each block.
    pub fn set_wear(&mut self, wear: Vec<u32>) {
        if let Place::Store(kept) = &mut self.place {
            kept.wear = wear;
        }
    }

    /// Erases a block: its pages have no data from now on.
    pub fn erase(&mut self, block: BlockId, geometry: &Geometry) {
        self.clear(block, geometry);
        if let Place::Store(kept) = &mut self.place {
            let wear = &mut kept.wear[block.index()];
            *wear = wear.saturating_add(1);
            kept.note_wear(block.0, None);
        }
    }

    /// The pages of a block have no data from now on.
    fn clear(&mut self, block: BlockId, geometry: &Geometry) {
        let (first, pages) = (geometry.first_page(block), self.pages_per_block);
        for page in (first.0..).take(pages).map(Ppn) {
            if self.has_data(page) {
                self.programmed[page.index() / 64] &= !(1 << (page.index() % 64));
                self.unreadable.remove(&page.0);
            }
        }
        match &mut self.place {
            Place::Memory { blocks, free } => free.extend(blocks[block.index()].take()),
            Place::Store(kept) => kept.erase(first.0),
        }
    }

    /// A block is bad. A retired one gives its space back: its data is elsewhere.
    pub fn is_bad(&mut self, block: BlockId, bad: Bad, geometry: &Geometry) {
        if let Place::Store(kept) = &mut self.place {
            kept.note_wear(block.0, Some(bad));
        }
        if bad == Bad::Retired {
            self.clear(block, geometry);
        }
    }
}

/// The error of a page that has more errors than the model corrects.
pub fn unreadable() -> io::Error {
    let text = "a page that was read has more errors than can be corrected".to_string();
    StoreError { errno: libc::EIO, text }.into()
}
