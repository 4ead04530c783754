//! The order of places: runs from a random place on, holes between sequential requests, zones that
//! are visited one after the other, and round robin over several files.

use serde::Serialize;

/// The order of the requests of a job in passes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Walk {
    /// Requests from one random place to the next one: the first goes there, and the others follow.
    pub run: u32,
    /// Whether the others of a run go to the same place.
    pub stays: bool,
    /// Bytes from the end of a sequential request to the next one; below zero backwards.
    pub skip_bytes: i64,
    /// The zones that are visited one after the other.
    pub strides: Option<Strides>,
}

/// Zones, of which each is left when some bytes were transferred.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Strides {
    /// The length of a zone.
    pub range_bytes: u64,
    /// Bytes that are transferred in each visit.
    pub amount_bytes: u64,
    /// From the end of a zone to the next one.
    pub gap_bytes: u64,
}

impl Default for Walk {
    fn default() -> Self {
        Walk { run: 1, stays: false, skip_bytes: 0, strides: None }
    }
}

impl Walk {
    /// Whether sequential requests follow each other at once, and random ones do not.
    pub fn is_plain(&self) -> bool {
        *self == Walk::default()
    }

    /// With zones of another scale, in multiples of some bytes.
    pub(super) fn scaled(self, scale: f64, align_bytes: u64) -> Walk {
        if scale == 1.0 {
            return self;
        }
        let one =
            |bytes: u64| (libm::round(bytes as f64 * scale) as u64).next_multiple_of(align_bytes);
        let strides = self.strides.map(|zone| Strides {
            range_bytes: one(zone.range_bytes).max(align_bytes),
            amount_bytes: one(zone.amount_bytes).max(align_bytes),
            gap_bytes: one(zone.gap_bytes),
        });
        Walk { strides, ..self }
    }

    /// The first byte of a sequential request after one with this end, in a part that begins at an
    /// offset in its file; `None` behind the end of the file. As in fio, the place after a hole is
    /// counted from the start of the part, and compared with the length of the file.
    pub(super) fn after(&self, end: u64, offset: u64, file_bytes: u64) -> Option<u64> {
        if self.skip_bytes == 0 {
            return Some(end);
        }
        if offset + end >= file_bytes {
            return None;
        }
        let next = end as i64 + self.skip_bytes;
        if next < 0 {
            return u64::try_from(file_bytes as i64 + self.skip_bytes).ok();
        }
        Some(if next as u64 >= file_bytes { 0 } else { next as u64 })
    }
}

/// The order in which files have their turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One after the other, and again from the first.
    RoundRobin,
    /// Any of those whose pass is not over.
    Random,
    /// The next one when the pass of the one before is over.
    Sequential,
}

/// Several files of a clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FilesPlan {
    /// Their number.
    pub count: u32,
    /// The order of their turns.
    pub order: Order,
    /// Requests of a turn.
    pub turn: u32,
}

impl Default for FilesPlan {
    fn default() -> Self {
        FilesPlan { count: 1, order: Order::RoundRobin, turn: 1 }
    }
}

impl FilesPlan {
    /// Whether it is one file.
    pub fn is_one(&self) -> bool {
        self.count == 1
    }
}
