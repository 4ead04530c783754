//! The layout of a store: the parts of its file, and the format of their entries.
//!
//! ```text
//! head    what the drive is, in JSON, twice; whether it was stopped or is read-only
//! wear    erases of each block, and whether it is bad
//! records the out-of-band record of each physical page; one with data names its place
//! trims   the number of the last trim of each logical page
//! data    a place for each physical page; free ones may be holes
//! saved   pages of a write buffer that survives a loss of power, each with its record
//! ```
//!
//! Since version 3 each entry lies there twice with checksums ([`sealed`](crate::sealed)). Before,
//! only records and saved pages had checksums, and version 1 had no mark of a read-only drive. In
//! both the place of a page had its number; when the drive of such a store resumes, it becomes a
//! store of version 4, which has the same form and any places.

use crate::record::{CONTENT_BYTES, Found, Record, checksum};
use crate::sealed::{Kind, Sealed, seal, unseal};

/// The version of new stores.
pub const VERSION: u32 = 3;
/// The version that earlier ones become.
pub const CONTINUED: u32 = 4;
/// Parts begin at multiples of this.
const ALIGNED: u64 = 64 << 10;
/// Bytes of a head.
pub const HEAD_BYTES: u64 = 64 << 10;
const STATE_BYTES: u64 = 2 * 32;
/// The mark of a retired block, next to its wear, and the mark of a block with a failed program.
const RETIRED: u64 = 1 << 63;
const FAILING: u64 = 1 << 62;

/// A block that is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// A program of it has failed.
    Failing,
    /// It is retired: the records of its pages no longer count.
    Retired,
}

/// Erases of a block, and whether it is bad.
pub type Wear = (u32, Option<Bad>);

/// The sizes that the places of a file follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub blocks: u32,
    pub pages: u32,
    pub page_bytes: u32,
    pub logical_pages: u32,
}

/// A part of a file that is a table of entries.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub kind: Kind,
    pub at: u64,
    pub entries: u32,
    pub entry_bytes: usize,
}

impl Table {
    /// The position of an entry, in bytes.
    pub fn entry_at(&self, number: u32) -> u64 {
        self.at + u64::from(number) * self.entry_bytes as u64
    }

    fn end(&self) -> u64 {
        self.entry_at(self.entries).next_multiple_of(ALIGNED)
    }
}

/// The places of a store.
#[derive(Clone, Debug)]
pub struct Layout {
    pub version: u32,
    pub sizes: Sizes,
    pub wear: Table,
    pub records: Table,
    pub trims: Table,
    pub data_at: u64,
    pub saved_at: u64,
}

impl Layout {
    pub fn new(version: u32, sizes: Sizes) -> Self {
        let is_sealed = version == VERSION;
        let (heads, [wear, record, trim]) =
            if is_sealed { (2, [32, 64, 32]) } else { (1, [8, 32, 8]) };
        let table = |kind, at, entries, entry_bytes| Table { kind, at, entries, entry_bytes };
        let wear = table(Kind::Wear, heads * HEAD_BYTES, sizes.blocks, wear);
        let records = table(Kind::Record, wear.end(), sizes.pages, record);
        let trims = table(Kind::Trim, records.end(), sizes.logical_pages, trim);
        let data_at = trims.end();
        let data_bytes = u64::from(sizes.pages) * u64::from(sizes.page_bytes);
        let saved_at = (data_at + data_bytes).next_multiple_of(ALIGNED);
        Layout { version, sizes, wear, records, trims, data_at, saved_at }
    }

    /// Whether entries are sealed.
    pub fn is_sealed(&self) -> bool {
        self.version == VERSION
    }

    /// The position of the state of the drive, and its bytes: at the end of the heads.
    pub fn state(&self) -> (u64, u64) {
        (self.wear.at - STATE_BYTES, STATE_BYTES)
    }

    /// The position of a place for data, in bytes.
    pub fn page_at(&self, place: u32) -> u64 {
        self.data_at + u64::from(place) * u64::from(self.sizes.page_bytes)
    }

    /// Bytes of a saved page and its record.
    pub fn slot_bytes(&self) -> u64 {
        u64::from(self.sizes.page_bytes) + self.records.entry_bytes as u64
    }

    /// The position of a saved page with its record, in bytes.
    pub fn slot_at(&self, slot: u32) -> u64 {
        self.saved_at + u64::from(slot) * self.slot_bytes()
    }

    pub fn push_wear(&self, block: u32, (erases, bad): Wear, into: &mut Vec<u8>) {
        let mark = match bad {
            None => 0,
            Some(Bad::Failing) => FAILING,
            Some(Bad::Retired) => RETIRED,
        };
        self.push_number(Kind::Wear, block, u64::from(erases) | mark, into);
    }

    pub fn wear_of(&self, block: u32, entry: &[u8]) -> (Option<Wear>, bool) {
        let (found, is_whole) = self.number_of(Kind::Wear, block, entry);
        let wear = found.map(|found| {
            let bad = match found & (RETIRED | FAILING) {
                0 => None,
                FAILING => Some(Bad::Failing),
                _ => Some(Bad::Retired),
            };
            ((found & !(RETIRED | FAILING)).try_into().unwrap_or(0), bad)
        });
        (wear, is_whole)
    }

    pub fn push_trim(&self, lpn: u32, sequence: u64, into: &mut Vec<u8>) {
        self.push_number(Kind::Trim, lpn, sequence, into);
    }

    pub fn trim_of(&self, lpn: u32, entry: &[u8]) -> (Option<u64>, bool) {
        self.number_of(Kind::Trim, lpn, entry)
    }

    fn push_number(&self, kind: Kind, at: u32, number: u64, into: &mut Vec<u8>) {
        let bytes = number.to_le_bytes();
        if self.is_sealed() {
            seal(kind, at, &[&bytes[..], &[0; 4]].concat(), into);
        } else {
            into.extend_from_slice(&bytes);
        }
    }

    /// The number of an entry, none where it is damaged, and whether both copies are whole.
    fn number_of(&self, kind: Kind, at: u32, entry: &[u8]) -> (Option<u64>, bool) {
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().unwrap_or_default());
        if !self.is_sealed() {
            return (Some(number(entry)), true);
        }
        let (found, is_whole) = unseal(kind, at, entry);
        let found = match found {
            Sealed::Empty => Some(0),
            Sealed::Whole(content) => Some(number(content)),
            Sealed::Damaged => None,
        };
        (found, is_whole)
    }

    /// Adds the record of a page or of a saved page; `None` is the record of an erased one.
    pub fn push_record(&self, kind: Kind, number: u32, record: Option<Record>, into: &mut Vec<u8>) {
        let Some(record) = record else {
            into.resize(into.len() + self.records.entry_bytes, 0);
            return;
        };
        let content = record.to_bytes();
        if self.is_sealed() {
            seal(kind, number, &content, into);
        } else {
            into.extend_from_slice(&content);
            into.extend_from_slice(&checksum(&content).to_le_bytes());
        }
    }

    /// The content of a record, and whether both copies agree.
    pub fn record_of(&self, kind: Kind, number: u32, entry: &[u8]) -> (Found, bool) {
        if !self.is_sealed() {
            return (Record::find_alone(entry), true);
        }
        let (found, is_whole) = unseal(kind, number, entry);
        let found = match found {
            Sealed::Empty => Found::Erased,
            Sealed::Whole(content) if content.len() == CONTENT_BYTES => {
                Record::of_bytes(content).map_or(Found::Torn, Found::Record)
            }
            Sealed::Whole(_) | Sealed::Damaged => Found::Torn,
        };
        (found, is_whole)
    }
}
