//! The file of a drive that survives its server.
//!
//! ```text
//! head    what the drive is, in JSON; whether it is read-only; whether it was stopped
//! wear    erases of each block, and whether it is bad
//! records the out-of-band record of each physical page
//! trims   the number of the last trim of each logical page
//! data    the physical pages; erased blocks are holes
//! saved   pages of a write buffer that survives a loss of power, each with its record
//! ```
//!
//! A page is programmed in two writes, its data and then its record, and an erase clears the
//! records first. So whatever ends the server, each page is as it was programmed, or erased. What
//! the file cannot take stays in memory, and is written again before the next write of a client.

use crate::record::{Found, RECORD_BYTES, Record, checksum};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const MAGIC: &[u8; 8] = b"FGCSTORE";
/// Version 1 had no mark of a read-only drive, and zeros in its place.
const VERSION: u32 = 2;
const VERSION_AT: u64 = 8;
/// Bytes of the head. Its last eight say whether the drive was stopped, and those before whether it
/// is read-only.
const HEAD_BYTES: u64 = 64 << 10;
const STOPPED_AT: u64 = HEAD_BYTES - 8;
const READ_ONLY_AT: u64 = HEAD_BYTES - 16;
const READ_ONLY: [u8; 8] = *b"readonly";
/// Parts begin at multiples of this.
const ALIGNED: u64 = 64 << 10;
const WEAR_BYTES: u64 = 8;
/// The mark of a retired block beside its wear, and that of a block with a failed program.
const RETIRED: u64 = 1 << 63;
const FAILING: u64 = 1 << 62;
const TRIM_BYTES: u64 = 8;
/// Bytes that are read or written at once where a table is walked.
const CHUNK: usize = 1 << 20;

/// A block that is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// A program of it has failed.
    Failing,
    /// It is retired: what its pages say counts no more.
    Retired,
}

/// The wear of a block as it is kept.
fn wear_entry(erases: u32, bad: Option<Bad>) -> u64 {
    let mark = match bad {
        None => 0,
        Some(Bad::Failing) => FAILING,
        Some(Bad::Retired) => RETIRED,
    };
    u64::from(erases) | mark
}

/// The sizes that the places of a file follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub blocks: u32,
    pub pages: u32,
    pub page_bytes: u32,
    pub logical_pages: u32,
}

/// A file, and where its parts are.
pub struct Store {
    file: File,
    sizes: Sizes,
    records_at: u64,
    trims_at: u64,
    data_at: u64,
    saved_at: u64,
    /// What the file could not take, by its place.
    pending: BTreeMap<u64, Box<[u8]>>,
}

impl Store {
    fn of(file: File, sizes: Sizes) -> Self {
        let part = |from: u64, count: u32, bytes: u64| {
            (from + u64::from(count) * bytes).next_multiple_of(ALIGNED)
        };
        let records_at = part(HEAD_BYTES, sizes.blocks, WEAR_BYTES);
        let trims_at = part(records_at, sizes.pages, RECORD_BYTES as u64);
        let data_at = part(trims_at, sizes.logical_pages, TRIM_BYTES);
        let saved_at = part(data_at, sizes.pages, sizes.page_bytes.into());
        let pending = BTreeMap::new();
        Store { file, sizes, records_at, trims_at, data_at, saved_at, pending }
    }

    /// Makes an empty file a store; [`begin`](Self::begin) completes it.
    pub fn new(file: File, sizes: Sizes) -> io::Result<Self> {
        let store = Store::of(file, sizes);
        store.file.set_len(store.saved_at)?;
        Ok(store)
    }

    /// What the file says that its drive is: nothing where it is empty.
    pub fn head(file: &File) -> io::Result<Option<String>> {
        if file.metadata()?.len() == 0 {
            return Ok(None);
        }
        let wrong = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidData, why));
        let mut head = [0; 20];
        if file.read_exact_at(&mut head, 0).is_err() || &head[..8] != MAGIC {
            return wrong("it is not the store of a drive, or was not made to its end");
        }
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| head[at + byte]));
        let version = word(VERSION_AT as usize);
        if !(1..=VERSION).contains(&version) {
            return wrong(&format!(
                "it is a store of version {version}, and this flashgc reads versions 1 to {VERSION}"
            ));
        }
        let mut text = vec![0; (word(12) as usize).min(HEAD_BYTES as usize)];
        file.read_exact_at(&mut text, 20)?;
        if checksum(&text) != word(16) {
            return wrong("its head is damaged");
        }
        String::from_utf8(text).map(Some).or_else(|_| wrong("its head is damaged"))
    }

    /// The store of a drive that goes on.
    pub fn resumed(file: File, sizes: Sizes) -> Self {
        Store::of(file, sizes)
    }

    /// The head is there: the store is complete.
    pub fn begin(&self, head: &str) -> io::Result<()> {
        let bytes = head.as_bytes();
        let mut all = Vec::with_capacity(bytes.len() + 20);
        all.extend_from_slice(MAGIC);
        all.extend_from_slice(&VERSION.to_le_bytes());
        all.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        all.extend_from_slice(&checksum(bytes).to_le_bytes());
        all.extend_from_slice(bytes);
        if all.len() as u64 > READ_ONLY_AT {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its head is too long"));
        }
        self.file.write_all_at(&all, 0)
    }

    /// Whether the drive was stopped, and not cut off.
    pub fn was_stopped(&self) -> io::Result<bool> {
        let mut mark = [0; 8];
        self.file.read_exact_at(&mut mark, STOPPED_AT)?;
        Ok(mark == *b"stopped.")
    }

    /// Notes that the drive is stopped, or goes on.
    pub fn note_stopped(&self, is_stopped: bool) -> io::Result<()> {
        let mark = if is_stopped { *b"stopped." } else { [0; 8] };
        self.file.write_all_at(&mark, STOPPED_AT)
    }

    /// Whether the drive takes no further write.
    pub fn is_read_only(&self) -> io::Result<bool> {
        let mut mark = [0; 8];
        self.file.read_exact_at(&mut mark, READ_ONLY_AT)?;
        Ok(mark == READ_ONLY)
    }

    /// Notes that the drive takes no further write. A flashgc that knows no such drives must not
    /// open it.
    pub fn note_read_only(&mut self) {
        // Where the file cannot take it, it is kept and tried again.
        let _ = self.put(VERSION_AT, &VERSION.to_le_bytes());
        let _ = self.put(READ_ONLY_AT, &READ_ONLY);
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all_at(bytes, at);
        if written.is_err() {
            self.pending.insert(at, bytes.into());
        } else if !self.pending.is_empty() {
            self.pending.remove(&at);
        }
        written
    }

    fn get(&self, at: u64, from: usize, into: &mut [u8]) -> io::Result<()> {
        if let Some(kept) = self.pending.get(&at) {
            into.copy_from_slice(&kept[from..from + into.len()]);
            return Ok(());
        }
        self.file.read_exact_at(into, at + from as u64)
    }

    /// Whether the file could not take something. Tries it again.
    pub fn is_short(&mut self) -> io::Result<()> {
        while let Some((&at, bytes)) = self.pending.first_key_value() {
            self.file.write_all_at(bytes, at)?;
            self.pending.pop_first();
        }
        Ok(())
    }

    fn record_at(&self, page: u32) -> u64 {
        self.records_at + u64::from(page) * RECORD_BYTES as u64
    }

    fn page_at(&self, page: u32) -> u64 {
        self.data_at + u64::from(page) * u64::from(self.sizes.page_bytes)
    }

    /// The record of a page.
    pub fn record(&self, page: u32) -> io::Result<Found> {
        self.record_bytes(page).map(|bytes| Record::find(&bytes))
    }

    /// The bytes of the record of a page.
    pub fn record_bytes(&self, page: u32) -> io::Result<[u8; RECORD_BYTES]> {
        let mut bytes = [0; RECORD_BYTES];
        self.get(self.record_at(page), 0, &mut bytes)?;
        Ok(bytes)
    }

    /// A part of the data of a page.
    pub fn data(&self, page: u32, from: usize, into: &mut [u8]) -> io::Result<()> {
        self.get(self.page_at(page), from, into)
    }

    /// Programs a page.
    pub fn program(&mut self, page: u32, data: &[u8], record: Record) -> io::Result<()> {
        let written = match data {
            [] => Ok(()),
            data => self.put(self.page_at(page), data),
        };
        written.and(self.put(self.record_at(page), &record.to_bytes()))
    }

    /// Erases pages that follow each other: their records are cleared, and their space goes back.
    pub fn erase(&mut self, first: u32, pages: u32, had_data: bool) {
        let zeros = vec![0; pages as usize * RECORD_BYTES];
        let is_cleared = self.file.write_all_at(&zeros, self.record_at(first)).is_ok();
        if !is_cleared || !self.pending.is_empty() {
            for page in first..first + pages {
                self.pending.remove(&self.page_at(page));
                self.pending.remove(&self.record_at(page));
                if !is_cleared {
                    self.pending.insert(self.record_at(page), [0; RECORD_BYTES].into());
                }
            }
        }
        if had_data {
            let bytes = u64::from(pages) * u64::from(self.sizes.page_bytes);
            punch_hole(&self.file, self.page_at(first), bytes);
        }
    }

    /// How often a block was erased, and whether it is bad.
    pub fn note_wear(&mut self, block: u32, erases: u32, bad: Option<Bad>) {
        let at = HEAD_BYTES + u64::from(block) * WEAR_BYTES;
        // Where the file cannot take it, it is kept and tried again.
        let _ = self.put(at, &wear_entry(erases, bad).to_le_bytes());
    }

    /// The pages of these numbers are trimmed, each by the trim of its number.
    pub fn trim(&mut self, trims: &BTreeMap<u32, u64>) {
        let mut entries = trims.iter().peekable();
        while let Some((&first, &sequence)) = entries.next() {
            let mut bytes = sequence.to_le_bytes().to_vec();
            let mut next = first + 1;
            while let Some((_, sequence)) = entries.next_if(|&(&lpn, _)| lpn == next) {
                bytes.extend_from_slice(&sequence.to_le_bytes());
                next += 1;
            }
            let at = self.trims_at + u64::from(first) * TRIM_BYTES;
            let is_written = self.file.write_all_at(&bytes, at).is_ok();
            if is_written && self.pending.is_empty() {
                continue;
            }
            for (at, entry) in (at..).step_by(TRIM_BYTES as usize).zip(bytes.chunks(8)) {
                self.pending.remove(&at);
                if !is_written {
                    self.pending.insert(at, entry.into());
                }
            }
        }
    }

    fn walk(
        &self,
        at: u64,
        entries: u32,
        bytes: usize,
        mut see: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK];
        let (mut at, mut left) = (at, entries as usize * bytes);
        while left > 0 {
            let part = &mut chunk[..left.min(CHUNK)];
            self.file.read_exact_at(part, at)?;
            part.chunks_exact(bytes).for_each(&mut see);
            (at, left) = (at + part.len() as u64, left - part.len());
        }
        Ok(())
    }

    /// Erases of each block, and whether it is bad.
    pub fn wear(&self) -> io::Result<Vec<(u32, Option<Bad>)>> {
        let mut wear = Vec::with_capacity(self.sizes.blocks as usize);
        let see = |bytes: &[u8]| {
            let entry = number(bytes);
            let bad = match entry & (RETIRED | FAILING) {
                0 => None,
                FAILING => Some(Bad::Failing),
                _ => Some(Bad::Retired),
            };
            let erases = entry & !(RETIRED | FAILING);
            wear.push((erases.try_into().unwrap_or(0), bad));
        };
        self.walk(HEAD_BYTES, self.sizes.blocks, WEAR_BYTES as usize, see)?;
        Ok(wear)
    }

    /// The number of the last trim of each logical page; 0 where there was none.
    pub fn trims(&self) -> io::Result<Vec<u64>> {
        let mut trims = Vec::with_capacity(self.sizes.logical_pages as usize);
        let see = |bytes: &[u8]| trims.push(number(bytes));
        self.walk(self.trims_at, self.sizes.logical_pages, TRIM_BYTES as usize, see)?;
        Ok(trims)
    }

    /// The records of all pages, in order.
    pub fn records(&self, mut see: impl FnMut(u32, Found)) -> io::Result<()> {
        let mut page = 0;
        self.walk(self.records_at, self.sizes.pages, RECORD_BYTES, |bytes| {
            see(page, Record::find(bytes));
            page += 1;
        })
    }

    /// The records and the wear of a drive that was made without this file.
    pub fn fill(
        &self,
        wear: impl Iterator<Item = (u32, Option<Bad>)>,
        records: impl Iterator<Item = Option<Record>>,
    ) -> io::Result<()> {
        let wear = wear.map(|(erases, bad)| wear_entry(erases, bad).to_le_bytes());
        self.fill_table(HEAD_BYTES, wear)?;
        let bytes = |record: Option<Record>| record.map_or([0; RECORD_BYTES], Record::to_bytes);
        self.fill_table(self.records_at, records.map(bytes))
    }

    fn fill_table<const N: usize>(
        &self,
        mut at: u64,
        entries: impl Iterator<Item = [u8; N]>,
    ) -> io::Result<()> {
        let mut chunk = Vec::with_capacity(CHUNK);
        for entry in entries {
            chunk.extend_from_slice(&entry);
            if chunk.len() + N > CHUNK {
                self.file.write_all_at(&chunk, at)?;
                at += chunk.len() as u64;
                chunk.clear();
            }
        }
        self.file.write_all_at(&chunk, at)
    }

    fn saved_slot(&self, slot: u32) -> u64 {
        self.saved_at + u64::from(slot) * (u64::from(self.sizes.page_bytes) + RECORD_BYTES as u64)
    }

    /// Keeps a page of the write buffer in this place.
    pub fn save(&mut self, slot: u32, data: Option<&[u8]>, record: Record) -> io::Result<()> {
        let mut bytes = vec![0; RECORD_BYTES + self.sizes.page_bytes as usize];
        if let Some(data) = data {
            bytes[RECORD_BYTES..].copy_from_slice(data);
        }
        let check = checksum(&bytes[RECORD_BYTES..]);
        bytes[..RECORD_BYTES].copy_from_slice(&Record { check, ..record }.to_bytes());
        self.put(self.saved_slot(slot), &bytes)
    }

    /// A place of the write buffer is free.
    pub fn forget(&mut self, slot: u32) {
        let bytes = vec![0; RECORD_BYTES + self.sizes.page_bytes as usize];
        let _ = self.put(self.saved_slot(slot), &bytes);
    }

    /// The saved pages of the write buffer, each with its place.
    pub fn saved(&self) -> io::Result<Vec<(u32, Record, Vec<u8>)>> {
        let length = self.file.metadata()?.len();
        let mut bytes = vec![0; RECORD_BYTES + self.sizes.page_bytes as usize];
        let mut found = Vec::new();
        for slot in (0..).take_while(|&slot| self.saved_slot(slot + 1) <= length) {
            self.file.read_exact_at(&mut bytes, self.saved_slot(slot))?;
            let (record, data) = bytes.split_at(RECORD_BYTES);
            if let Found::Record(record) = Record::find(record)
                && record.check == checksum(data)
            {
                found.push((slot, record, data.to_vec()));
            }
        }
        Ok(found)
    }

    /// What is written is in the file, whatever happens to this machine.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// A page is not what its record says: from now on it has none that is whole.
    pub fn note_torn(&self, page: u32) -> io::Result<()> {
        self.file.write_all_at(&[0xFF; RECORD_BYTES], self.record_at(page))
    }

    /// What a program leaves behind that a loss of power cut: these bytes of the page and of its
    /// record.
    pub fn tear(&self, page: u32, data: &[u8], record: [u8; RECORD_BYTES]) -> io::Result<()> {
        self.file.write_all_at(data, self.page_at(page))?;
        self.file.write_all_at(&record, self.record_at(page))
    }
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

/// Gives the space of a part of a file back, where the filesystem can.
fn punch_hole(file: &File, offset: u64, bytes: u64) {
    use std::os::fd::AsRawFd;
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let (Ok(offset), Ok(bytes)) = (i64::try_from(offset), i64::try_from(bytes)) else { return };
    // SAFETY: the descriptor is open while `file` is borrowed, and no memory is passed.
    unsafe { libc::fallocate(file.as_raw_fd(), mode, offset, bytes) };
}
