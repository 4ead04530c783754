//! The physical pages of a drive, and the data in them: in memory, or in a sparse file.
//!
//! A page that was not programmed since its block was erased has no data and reads as zeros. So do
//! the pages of preconditioning, which have none. What the file cannot take stays in memory, so
//! that no page of another client is lost if its disk is full.

use flashgc::device::Geometry;
use flashgc::ids::{BlockId, Ppn};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Where the data of physical pages is kept.
pub enum Backing {
    /// In memory, as much as is written.
    Memory,
    /// In a file without content. It becomes as long as the drive, and has holes.
    File(File),
}

/// The data of every physical page.
pub struct Pages {
    page_bytes: usize,
    pages_per_block: usize,
    /// A bit for each page: it has data.
    programmed: Vec<u64>,
    place: Place,
    /// Pages that the file could not take.
    kept: BTreeMap<u32, Box<[u8]>>,
    /// Pages whose data could not be read when it was moved there.
    unreadable: BTreeSet<u32>,
}

enum Place {
    /// A buffer for each block that has data, and those that are free.
    Memory {
        blocks: Vec<Option<Box<[u8]>>>,
        free: Vec<Box<[u8]>>,
    },
    File(File),
}

impl Pages {
    /// The pages of an empty drive.
    pub fn new(geometry: &Geometry, backing: Backing) -> io::Result<Self> {
        let page_bytes = geometry.shape.page_bytes as usize;
        let place = match backing {
            Backing::Memory => {
                let blocks = (0..geometry.blocks).map(|_| None).collect();
                Place::Memory { blocks, free: Vec::new() }
            }
            Backing::File(file) => {
                file.set_len(u64::from(geometry.pages) * page_bytes as u64)?;
                Place::File(file)
            }
        };
        Ok(Pages {
            page_bytes,
            pages_per_block: geometry.shape.pages_per_block as usize,
            programmed: vec![0; (geometry.pages as usize).div_ceil(64)],
            place,
            kept: BTreeMap::new(),
            unreadable: BTreeSet::new(),
        })
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
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

    fn offset_of(&self, page: Ppn) -> u64 {
        u64::from(page.0) * self.page_bytes as u64
    }

    /// Reads a part of a page, from this byte on.
    pub fn read(&self, page: Ppn, from: usize, into: &mut [u8]) -> io::Result<()> {
        assert!(from + into.len() <= self.page_bytes, "a read ends in its page");
        if !self.has_data(page) {
            into.fill(0);
            return Ok(());
        }
        if self.unreadable.contains(&page.0) {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        if let Some(kept) = self.kept.get(&page.0) {
            into.copy_from_slice(&kept[from..from + into.len()]);
            return Ok(());
        }
        match &self.place {
            Place::Memory { blocks, .. } => {
                let (block, place) = self.place_of(page);
                let data = blocks[block].as_ref().expect("a block with data has a buffer");
                into.copy_from_slice(&data[place][from..from + into.len()]);
                Ok(())
            }
            Place::File(file) => file.read_exact_at(into, self.offset_of(page) + from as u64),
        }
    }

    /// Programs a page. Where the file cannot take it, it stays in memory, and the error says why.
    pub fn program(&mut self, page: Ppn, data: &[u8]) -> io::Result<()> {
        assert_eq!(data.len(), self.page_bytes, "a page is programmed as a whole");
        assert!(!self.has_data(page), "page {} is programmed without an erase", page.0);
        self.has_data_now(page);
        let (block, place) = self.place_of(page);
        let offset = self.offset_of(page);
        match &mut self.place {
            Place::Memory { blocks, free } => {
                let bytes = self.pages_per_block * self.page_bytes;
                let new = || free.pop().unwrap_or_else(|| vec![0; bytes].into_boxed_slice());
                blocks[block].get_or_insert_with(new)[place].copy_from_slice(data);
                Ok(())
            }
            Place::File(file) => {
                let written = file.write_all_at(data, offset);
                if written.is_err() {
                    self.kept.insert(page.0, data.into());
                }
                written
            }
        }
    }

    /// Programs a page whose data could not be read: reading it is an error from now on.
    pub fn program_unreadable(&mut self, page: Ppn) {
        self.has_data_now(page);
        self.unreadable.insert(page.0);
    }

    fn has_data_now(&mut self, page: Ppn) {
        self.programmed[page.index() / 64] |= 1 << (page.index() % 64);
    }

    /// Whether the file could not take pages that have to be kept in memory. Tries it again.
    pub fn is_short(&mut self) -> io::Result<()> {
        let Place::File(file) = &self.place else { return Ok(()) };
        while let Some((&page, data)) = self.kept.first_key_value() {
            file.write_all_at(data, u64::from(page) * self.page_bytes as u64)?;
            self.kept.pop_first();
        }
        Ok(())
    }

    /// Erases a block: its pages have no data from now on.
    pub fn erase(&mut self, block: BlockId, geometry: &Geometry) {
        let (first, pages) = (geometry.first_page(block), self.pages_per_block);
        let mut had_data = false;
        for page in (first.0..).take(pages).map(Ppn) {
            if self.has_data(page) {
                had_data = true;
                self.programmed[page.index() / 64] &= !(1 << (page.index() % 64));
                self.kept.remove(&page.0);
                self.unreadable.remove(&page.0);
            }
        }
        let offset = self.offset_of(first);
        match &mut self.place {
            Place::Memory { blocks, free } => free.extend(blocks[block.index()].take()),
            // Only to give the space back: an erased page reads as zeros in any case.
            Place::File(file) if had_data => {
                punch_hole(file, offset, (pages * self.page_bytes) as u64);
            }
            Place::File(_) => {}
        }
    }

    /// Asks that the file survives a loss of power of this machine.
    pub fn sync(&self) -> io::Result<()> {
        match &self.place {
            Place::Memory { .. } => Ok(()),
            Place::File(file) => file.sync_data(),
        }
    }
}

/// Gives the space of a part of a file back, where the filesystem can.
fn punch_hole(file: &File, offset: u64, bytes: u64) {
    use std::os::fd::AsRawFd;
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let (Ok(offset), Ok(bytes)) = (i64::try_from(offset), i64::try_from(bytes)) else { return };
    // SAFETY: the descriptor is open while `file` is borrowed, and no memory is passed.
    unsafe { libc::fallocate(file.as_raw_fd(), mode, offset, bytes) };
}
