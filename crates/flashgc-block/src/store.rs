//! The file of a drive that survives its server; its parts are in [`layout`](crate::layout).
//!
//! A page is programmed in two writes, its data and then its record, and an erase clears the
//! records. A copy is a record that names the place of the data, which no other data takes as long
//! as a record names it. So whatever ends the server, each page is as it was programmed, or erased;
//! a record that is whole has data that is whole, or the file is damaged.
//!
//! The first write that fails is the last one: from then on the file stays as it is, and the drive
//! takes no further write. What every answer so far stands on is in it.

use crate::head::{COPIES, head_bytes};
use crate::layout::{CONTINUED, Layout, Sizes, VERSION, Wear};
use crate::medium::{Medium, read_all, write_all};
use crate::places::NONE;
use crate::record::{Found, Record, checksum};
use crate::sealed::{Kind, seal};
use std::collections::BTreeMap;
use std::fmt;
use std::io;

/// The file grows by this number of places for saved pages.
const SLOTS: u32 = 16;
/// The marks at the end of the head, in stores before version 3.
pub(crate) const STOPPED: &[u8; 8] = b"stopped.";
pub(crate) const READ_ONLY: &[u8; 8] = b"readonly";

/// The failure of a read or write of data, with the number of the error for clients.
#[derive(Clone, Debug)]
pub struct StoreError {
    /// The number of the error.
    pub errno: i32,
    /// The message.
    pub text: String,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for StoreError {}

impl From<StoreError> for io::Error {
    fn from(error: StoreError) -> Self {
        io::Error::other(error)
    }
}

/// The number of an error for clients.
pub fn errno_of(error: &io::Error) -> i32 {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<StoreError>());
    inner.map(|inner| inner.errno).or(error.raw_os_error()).unwrap_or(libc::EIO)
}

/// The text of an error, without its number.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(words, _)| words.to_string())
}

/// The state of the drive in the head, next to the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Whether the drive was stopped, and not cut off.
    pub is_stopped: bool,
    /// Whether the drive takes no further write.
    pub is_read_only: bool,
    /// Places for saved pages.
    pub(crate) slots: u32,
}

/// A file, and where its parts are.
pub struct Store {
    pub(crate) disk: Box<dyn Medium>,
    name: String,
    pub(crate) layout: Layout,
    pub(crate) state: State,
    failure: Option<StoreError>,
    /// Entries of which one copy was damaged: kind, position and content.
    pub(crate) mended: Vec<(String, u64, Vec<u8>)>,
    /// Pages whose program was cut.
    pub(crate) cut: Vec<u32>,
    /// For entries that are written.
    pub(crate) entry: Vec<u8>,
    /// For pages that are read in part.
    pub(crate) page: Vec<u8>,
}

impl Store {
    /// The store of a drive that resumes, of this version.
    pub fn resumed(disk: Box<dyn Medium>, name: &str, sizes: Sizes, version: u32) -> Self {
        Store {
            disk,
            name: name.to_string(),
            layout: Layout::new(version, sizes),
            state: State::default(),
            failure: None,
            mended: Vec::new(),
            cut: Vec::new(),
            entry: Vec::new(),
            page: vec![0; sizes.page_bytes as usize],
        }
    }

    /// Makes an empty file a store; [`begin`](Self::begin) completes it.
    pub fn new(disk: Box<dyn Medium>, name: &str, sizes: Sizes) -> io::Result<Self> {
        let store = Store::resumed(disk, name, sizes, VERSION);
        store.disk.set_bytes(store.layout.saved_at)?;
        Ok(store)
    }

    /// The head is there: the store is complete.
    pub fn begin(&mut self, head: &str, is_read_only: bool) -> io::Result<()> {
        let bytes = head_bytes(head)?;
        self.set_state(State { is_read_only, ..self.state });
        for at in COPIES.into_iter().rev() {
            self.put(at, &bytes);
        }
        self.failure.clone().map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// The failure of the store, after which nothing is written.
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// From now on the file stays as it is.
    pub fn fail(&mut self, errno: i32, why: &str) {
        let help = match errno {
            libc::ENOSPC | libc::EDQUOT | libc::EFBIG => "make space on its filesystem",
            _ => "mend the disk, or copy the file to another one,",
        };
        let name = &self.name;
        let text = format!(
            "the drive is read-only, since its store cannot be written: {why}: {name}; {help} \
             and start the server again"
        );
        self.failure.get_or_insert(StoreError { errno, text });
    }

    /// Writes bytes. Returns whether they are in the file.
    pub(crate) fn put(&mut self, at: u64, bytes: &[u8]) -> bool {
        if self.failure.is_some() {
            return false;
        }
        if let Err(error) = write_all(&*self.disk, bytes, at) {
            let why = words(&error);
            self.fail(error.raw_os_error().unwrap_or(libc::EIO), &why);
        }
        self.failure.is_none()
    }

    /// Writes what `entry` holds.
    pub(crate) fn put_entry(&mut self, at: u64) -> bool {
        let entry = std::mem::take(&mut self.entry);
        let is_written = self.put(at, &entry);
        self.entry = entry;
        self.entry.clear();
        is_written
    }

    pub(crate) fn get(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        read_all(&*self.disk, into, at).map_err(|error| {
            let (name, end) = (&self.name, at + into.len() as u64);
            let text = match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    format!("the store has been cut: {name} ends before byte {end}")
                }
                _ => {
                    let why = words(&error);
                    format!("the store cannot be read: {why}: {name}, bytes {at} to {end}")
                }
            };
            StoreError { errno: libc::EIO, text }.into()
        })
    }

    fn set_state(&mut self, state: State) {
        let (at, bytes) = self.layout.state();
        if self.layout.is_sealed() {
            let flags = u32::from(state.is_stopped) | u32::from(state.is_read_only) << 1;
            let words = [flags.to_le_bytes(), state.slots.to_le_bytes()].concat();
            seal(Kind::State, 0, &[&words[..], &[0; 20]].concat(), &mut self.entry);
            self.put_entry(at);
        } else {
            let mark = |is_set: bool, mark: &[u8; 8]| if is_set { *mark } else { [0; 8] };
            let [read_only, stopped] =
                [mark(state.is_read_only, READ_ONLY), mark(state.is_stopped, STOPPED)];
            self.put(at + bytes - 16, &[read_only, stopped].concat());
        }
        self.state = state;
    }

    /// The drive resumes. From now on the place of a page may have any number.
    pub fn goes_on(&mut self) {
        if !self.layout.is_sealed() {
            // A version of flashgc without such places must not open it.
            self.put(8, &CONTINUED.to_le_bytes());
            self.layout.version = CONTINUED;
        }
        self.note_stopped(false);
    }

    /// Marks the drive as stopped, or as running.
    pub fn note_stopped(&mut self, is_stopped: bool) {
        self.set_state(State { is_stopped, ..self.state });
    }

    /// Notes that the drive takes no further write.
    pub fn note_read_only(&mut self) {
        self.set_state(State { is_read_only: true, ..self.state });
    }

    /// One copy of the head was damaged.
    pub fn mend_head(&mut self, at: u64, bytes: Vec<u8>) {
        self.mended.push(("the head".into(), at, bytes));
    }

    /// The record of a page.
    pub fn record(&self, page: u32) -> io::Result<Found> {
        let entry = self.entry_of(page)?;
        Ok(self.layout.record_of(Kind::Record, page, &entry).0)
    }

    /// The records of pages that follow each other.
    pub fn records_from(&self, first: u32, pages: u32) -> io::Result<Vec<Found>> {
        let bytes = self.layout.records.entry_bytes;
        let mut entries = vec![0; pages as usize * bytes];
        self.get(self.layout.records.entry_at(first), &mut entries)?;
        let each = (first..).zip(entries.chunks(bytes));
        Ok(each.map(|(page, entry)| self.layout.record_of(Kind::Record, page, entry).0).collect())
    }

    /// Whether entries lie there twice.
    pub fn has_copies(&self) -> bool {
        self.layout.is_sealed()
    }

    /// The bytes of the record of a page.
    pub fn entry_of(&self, page: u32) -> io::Result<Vec<u8>> {
        let mut entry = vec![0; self.layout.records.entry_bytes];
        self.get(self.layout.records.entry_at(page), &mut entry)?;
        Ok(entry)
    }

    /// A part of the data of a page at a place, which has this checksum. Damage is an error.
    pub fn data(
        &mut self,
        page: (u32, u32),
        from: usize,
        into: &mut [u8],
        check: u32,
    ) -> io::Result<()> {
        if into.len() == self.page.len() {
            self.raw_data(page.1, into)?;
            return self.compare(page, into, check);
        }
        let mut whole = std::mem::take(&mut self.page);
        let read = self.raw_data(page.1, &mut whole);
        let read = read.and_then(|()| self.compare(page, &whole, check));
        into.copy_from_slice(&whole[from..from + into.len()]);
        self.page = whole;
        read
    }

    /// The data at a place, whatever it is.
    pub fn raw_data(&self, place: u32, into: &mut [u8]) -> io::Result<()> {
        self.get(self.layout.page_at(place), into)
    }

    /// An error where this is not the data of a page at a place.
    pub fn compare(&self, page: (u32, u32), data: &[u8], check: u32) -> io::Result<()> {
        if checksum(data) == check { Ok(()) } else { Err(self.damaged_page(page)) }
    }

    /// The error of a page at a place that is damaged.
    pub fn damaged_page(&self, page: (u32, u32)) -> io::Error {
        StoreError { errno: libc::EIO, text: self.damage(page) }.into()
    }

    /// The message of a page at a place that is damaged.
    pub fn damage(&self, (page, place): (u32, u32)) -> String {
        let name = &self.name;
        let layout = &self.layout;
        let [at, end] = match place {
            // Its data was lost before.
            NONE => [page, page + 1].map(|page| layout.records.entry_at(page)),
            _ => [place, place + 1].map(|place| layout.page_at(place)),
        };
        format!("physical page {page} is damaged and cannot be read: {name}, bytes {at} to {end}")
    }

    /// Programs pages that follow each other; their data is in its places. Returns whether they
    /// are in the file.
    pub fn program_all(&mut self, records: &[(u32, Record)]) -> bool {
        for &(page, record) in records {
            self.layout.push_record(Kind::Record, page, Some(record), &mut self.entry);
        }
        self.put_entry(self.layout.records.entry_at(records[0].0))
    }

    /// Erases pages that follow each other: their records are cleared.
    pub fn erase(&mut self, first: u32, pages: u32) {
        self.entry.resize(pages as usize * self.layout.records.entry_bytes, 0);
        self.put_entry(self.layout.records.entry_at(first));
    }

    /// Returns the space of free places to the filesystem.
    pub fn give_back(&mut self, first: u32, places: u32) {
        if self.failure.is_none() {
            let [at, end] = [first, first + places].map(|place| self.layout.page_at(place));
            self.disk.give_back(at, end - at);
        }
    }

    /// Notes the number of erases of a block, and whether it is bad.
    pub fn note_wear(&mut self, block: u32, wear: Wear) {
        self.layout.push_wear(block, wear, &mut self.entry);
        self.put_entry(self.layout.wear.entry_at(block));
    }

    /// The pages of these numbers are trimmed, each by the trim of its number.
    pub fn trim(&mut self, trims: &BTreeMap<u32, u64>) {
        let mut entries = trims.iter().peekable();
        while let Some((&first, &sequence)) = entries.next() {
            self.layout.push_trim(first, sequence, &mut self.entry);
            let mut next = first + 1;
            while let Some((_, &sequence)) = entries.next_if(|&(&lpn, _)| lpn == next) {
                self.layout.push_trim(next, sequence, &mut self.entry);
                next += 1;
            }
            self.put_entry(self.layout.trims.entry_at(first));
        }
    }

    /// Keeps a page of the write buffer in this place. Returns whether it is in the file.
    pub fn save(&mut self, slot: u32, data: Option<&[u8]>, record: Record) -> bool {
        if slot >= self.state.slots {
            self.grow(slot + SLOTS);
        }
        let zeros = vec![0; if data.is_some() { 0 } else { self.page.len() }];
        let data = data.unwrap_or(&zeros);
        let record = Some(Record { check: checksum(data), ..record });
        if self.layout.is_sealed() {
            // The record ends the write: whatever cuts it, there is none without its data.
            self.entry.extend_from_slice(data);
            self.layout.push_record(Kind::Saved, slot, record, &mut self.entry);
        } else {
            self.layout.push_record(Kind::Saved, slot, record, &mut self.entry);
            self.entry.extend_from_slice(data);
        }
        self.put_entry(self.layout.slot_at(slot))
    }

    /// Makes room for this number of saved pages, and records the number.
    fn grow(&mut self, slots: u32) {
        if self.failure.is_none() && self.layout.is_sealed() {
            if let Err(error) = self.disk.set_bytes(self.layout.slot_at(slots)) {
                return self.fail(error.raw_os_error().unwrap_or(libc::EIO), &words(&error));
            }
            self.set_state(State { slots, ..self.state });
        }
    }

    pub(crate) fn slot_record_at(&self, slot: u32) -> u64 {
        let behind = if self.layout.is_sealed() { self.page.len() as u64 } else { 0 };
        self.layout.slot_at(slot) + behind
    }

    /// A place of the write buffer is free.
    pub fn forget(&mut self, slot: u32) {
        self.entry.resize(self.layout.records.entry_bytes, 0);
        self.put_entry(self.slot_record_at(slot));
    }

    /// The place of a saved page, for messages.
    pub fn slot_text(&self, slot: u32) -> String {
        let [at, end] = [slot, slot + 1].map(|slot| self.layout.slot_at(slot));
        format!("{}, bytes {at} to {end}", self.name)
    }

    /// Makes all written data survive a failure of this machine. A failure is one of the store.
    pub fn sync(&mut self) {
        if self.failure.is_none()
            && let Err(error) = self.disk.sync()
        {
            let why = words(&error);
            self.fail(error.raw_os_error().unwrap_or(libc::EIO), &why);
        }
    }

    /// Writes the rest of a record that a loss of power cut, and of its data.
    pub fn tear(&self, page: u32, entry: &[u8], data: Option<(u32, &[u8])>) -> io::Result<()> {
        if let Some((place, data)) = data {
            write_all(&*self.disk, data, self.layout.page_at(place))?;
        }
        write_all(&*self.disk, entry, self.layout.records.entry_at(page))
    }
}
