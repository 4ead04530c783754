//! The tables of a store, as they are filled when its drive is new and read when it is opened.
//!
//! An entry of which one copy is damaged is read from the other one, and written again.

use crate::layout::{Layout, Table, Wear};
use crate::record::{Content, Found, Record, checksum};
use crate::sealed::{Kind, Sealed, unseal};
use crate::store::{READ_ONLY, STOPPED, State, Store, StoreError};
use std::io;

/// Bytes that are read or written at once where a table is walked.
const CHUNK: usize = 1 << 20;
/// Bytes that are written at once where a table is filled: of a part that was written in large
/// pieces the kernel looks through a whole piece at each small write.
const PIECE: usize = 4 << 10;

/// A saved page of the write buffer.
pub struct InSlot {
    pub slot: u32,
    pub record: Record,
    /// None where it is damaged.
    pub data: Option<Vec<u8>>,
}

impl Store {
    /// Whether the drive was stopped or is read-only. An error where the file was cut.
    pub fn read_state(&mut self) -> io::Result<State> {
        let (at, bytes) = self.layout.state();
        let mut entry = vec![0; bytes as usize];
        self.get(at, &mut entry)?;
        let mut state = State::default();
        if self.layout.is_sealed() {
            let (found, is_whole) = unseal(Kind::State, 0, &entry);
            match found {
                Sealed::Whole(found) => {
                    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| found[at + i]));
                    (state.is_stopped, state.is_read_only) = (found[0] & 1 > 0, found[0] & 2 > 0);
                    state.slots = word(4);
                }
                Sealed::Empty | Sealed::Damaged => {
                    return Err(self.damaged("the state of the drive", at, bytes));
                }
            }
            self.note(is_whole, || "the state of the drive".into(), at, &entry, found);
        } else {
            let [read_only, stopped] = [16, 8].map(|before| &entry[entry.len() - before..][..8]);
            (state.is_stopped, state.is_read_only) = (stopped == STOPPED, read_only == READ_ONLY);
            let saved_bytes = self.disk.bytes()?.saturating_sub(self.layout.saved_at);
            let slot_bytes = self.layout.slot_bytes();
            // A save may have been cut off with the server, but not where it was stopped.
            let is_part = state.is_stopped && !saved_bytes.is_multiple_of(slot_bytes);
            state.slots = (saved_bytes / slot_bytes) as u32 + u32::from(is_part);
        }
        let (length, due) = (self.disk.bytes()?, self.layout.slot_at(state.slots));
        if length < due {
            let text =
                format!("the file has been cut: it has {length} bytes, and the drive needs {due}");
            return Err(StoreError { errno: libc::EIO, text }.into());
        }
        self.state = state;
        Ok(state)
    }

    /// An entry is damaged in both copies.
    fn damaged(&self, what: &str, at: u64, bytes: u64) -> io::Error {
        let end = at + bytes;
        let text = format!("{what} is damaged (bytes {at} to {end})");
        StoreError { errno: libc::EIO, text }.into()
    }

    /// An entry was read; if one copy is damaged it is to be written again.
    fn note(
        &mut self,
        is_whole: bool,
        what: impl FnOnce() -> String,
        at: u64,
        entry: &[u8],
        found: Sealed<'_>,
    ) {
        if is_whole {
            return;
        }
        let half = entry.len() / 2;
        let (one, other) = entry.split_at(half);
        let good = match found {
            Sealed::Whole(content) if content.as_ptr() == one.as_ptr() => one.to_vec(),
            Sealed::Whole(_) => other.to_vec(),
            Sealed::Empty => vec![0; half],
            Sealed::Damaged => return,
        };
        self.mended.push((what(), at, [&good[..], &good].concat()));
    }

    /// Writes entries again of which one copy was damaged. Returns their names. Pages whose program
    /// was cut become empty, so that after a stop no record belongs to a cut program.
    pub fn mend(&mut self) -> Vec<String> {
        for page in std::mem::take(&mut self.cut) {
            let nothing = Record::empty(u32::MAX, Content::Padding, 0, 0);
            self.program_all(&[(page, nothing)]);
        }
        let mended = std::mem::take(&mut self.mended);
        let described = |(what, at, bytes): (String, u64, Vec<u8>)| {
            let end = at + bytes.len() as u64;
            self.put(at, &bytes);
            format!("{what} (bytes {at} to {end})")
        };
        mended.into_iter().map(described).collect()
    }

    /// Shows each entry of a table, with its number.
    fn walk(
        &mut self,
        table: Table,
        mut observe: impl FnMut(&mut Self, u32, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let bytes = table.entry_bytes;
        let mut chunk = vec![0; CHUNK];
        let mut number = 0;
        while number < table.entries {
            let entries = (CHUNK / bytes).min((table.entries - number) as usize);
            let part = &mut chunk[..entries * bytes];
            self.get(table.entry_at(number), part)?;
            for entry in part.chunks_exact(bytes) {
                observe(self, number, entry)?;
                number += 1;
            }
        }
        Ok(())
    }

    /// Walks a table of numbers.
    fn numbers<T>(
        &mut self,
        table: Table,
        what: &str,
        read: impl Fn(&Layout, u32, &[u8]) -> (Option<T>, bool),
    ) -> io::Result<Vec<T>> {
        let mut found = Vec::with_capacity(table.entries as usize);
        self.walk(table, |store, number, entry| {
            let (read, is_whole) = read(&store.layout, number, entry);
            let (what, at) = (|| format!("{what} {number}"), table.entry_at(number));
            if !is_whole {
                let unsealed = unseal(table.kind, number, entry).0;
                store.note(is_whole, what, at, entry, unsealed);
            }
            let bytes = table.entry_bytes as u64;
            found.push(read.ok_or_else(|| store.damaged(&what(), at, bytes))?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Erases of each block, and whether it is bad.
    pub fn wear(&mut self) -> io::Result<Vec<Wear>> {
        self.numbers(self.layout.wear, "the wear of block", Layout::wear_of)
    }

    /// The number of the last trim of each logical page; 0 where there was none.
    pub fn trims(&mut self) -> io::Result<Vec<u64>> {
        self.numbers(self.layout.trims, "the trim of logical page", Layout::trim_of)
    }

    /// The records of all pages, in order.
    pub fn records(&mut self, mut observe: impl FnMut(u32, Found)) -> io::Result<()> {
        let table = self.layout.records;
        self.walk(table, |store, page, entry| {
            let (found, is_whole) = store.layout.record_of(Kind::Record, page, entry);
            let (what, at) = (|| format!("the record of page {page}"), table.entry_at(page));
            if !is_whole {
                let unsealed = unseal(Kind::Record, page, entry).0;
                store.note(is_whole, what, at, entry, unsealed);
            }
            if found == Found::Torn && store.layout.is_sealed() {
                if store.state.is_stopped {
                    return Err(store.damaged(&what(), at, entry.len() as u64));
                }
                store.cut.push(page);
            }
            observe(page, found);
            Ok(())
        })
    }

    /// The records and the wear of a drive that was made without this file.
    pub fn fill(
        &mut self,
        wear: impl Iterator<Item = Wear>,
        records: impl Iterator<Item = Option<Record>>,
    ) {
        let (wears, table) = (self.layout.wear, self.layout.records);
        self.fill_table(wears, wear, Layout::push_wear);
        self.fill_table(table, records, |layout, page, record, into| {
            layout.push_record(Kind::Record, page, record, into);
        });
    }

    fn fill_table<T>(
        &mut self,
        table: Table,
        entries: impl Iterator<Item = T>,
        push: impl Fn(&Layout, u32, T, &mut Vec<u8>),
    ) {
        let mut first = 0;
        for (number, entry) in (0..).zip(entries) {
            push(&self.layout, number, entry, &mut self.entry);
            if self.entry.len() >= PIECE {
                self.put_entry(table.entry_at(first));
                first = number + 1;
            }
        }
        self.put_entry(table.entry_at(first));
    }

    /// The saved pages of the write buffer, each with its place.
    pub fn saved(&mut self) -> io::Result<Vec<InSlot>> {
        let mut entry = vec![0; self.layout.records.entry_bytes];
        let mut data = vec![0; self.page.len()];
        let mut found = Vec::new();
        for slot in 0..self.state.slots {
            let at = self.slot_record_at(slot);
            self.get(at, &mut entry)?;
            let (read, is_whole) = self.layout.record_of(Kind::Saved, slot, &entry);
            if !is_whole {
                let unsealed = unseal(Kind::Saved, slot, &entry).0;
                self.note(
                    is_whole,
                    || format!("the record of saved page {slot}"),
                    at,
                    &entry,
                    unsealed,
                );
            }
            let record = match read {
                Found::Record(record) => record,
                Found::Torn if self.layout.is_sealed() => {
                    let what = format!("the record of saved page {slot}");
                    return Err(self.damaged(&what, at, entry.len() as u64));
                }
                Found::Torn | Found::Erased => continue,
            };
            let before = if self.layout.is_sealed() { 0 } else { entry.len() as u64 };
            self.get(self.layout.slot_at(slot) + before, &mut data)?;
            let is_whole = checksum(&data) == record.check;
            found.push(InSlot { slot, record, data: is_whole.then(|| data.clone()) });
        }
        Ok(found)
    }
}
