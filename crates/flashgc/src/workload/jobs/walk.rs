//! How places follow from those before them: runs from a random place on, holes between sequential
//! requests, and zones that are visited one after the other.

use serde::Serialize;

/// How the requests of a job in passes follow each other.
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

    /// Where a sequential request begins after one with this end, in a part that begins at an
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
