//! FDP: the host names a placement handle with each write, and pages of different handles are
//! written to blocks of their own (NVMe 2.1, Flexible Data Placement).
//!
//! Each application has a part of the drive, and writes it with a handle of its own, as with a
//! partition or a cache engine for each handle. So the handle follows from the address.
//!
//! - Initially isolated: copies of all handles share a class.
//! - Persistently isolated: copies of each handle have a class too.

use super::{ClassPages, Classes, Copied, Placement, State, Write};
use crate::device::Geometry;
use crate::gc::choice::{About, Choice, Told, Word};
use crate::gc::windows::Costs;
use crate::ids::Lpn;
use flashgc_config::Reader;
use serde::Serialize;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "fdp",
    about: "each part of the drive is written with a placement handle, and pages of different \
            handles go to open blocks of their own",
    keys: &[&Told("shares", SHARES), &ISOLATION],
    source: "NVMe 2.1, Flexible Data Placement",
};

const SHARES: &str = "[0.5, 0.5] (default), 1 to 8 numbers above 0, at most 1 in sum: the part of \
                      the drive that each handle writes, one behind the other; the rest \
                      belongs to the last";

const ISOLATION: Word<Isolation> = Word {
    name: "isolation",
    words: &[("initial", Isolation::Initial), ("persistent", Isolation::Persistent)],
    default: 0,
    about: About::Each(&["copies of all handles share open blocks", "copies do not mix handles"]),
};

/// The open blocks of handles.
pub const STATE: State = State {
    by: "fdp ",
    name: "open blocks of placement handles",
    without: "with the open blocks of the drive in any handle",
};

/// The most handles.
const HANDLES: usize = 8;

/// Whether copies of different handles may share a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Isolation {
    Initial,
    Persistent,
}

/// The handles.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    shares: Vec<f64>,
    isolation: Isolation,
}

impl Settings {
    /// From `[gc.placement.fdp]`.
    pub fn read(table: &Reader<'_>) -> Option<Self> {
        let isolation = ISOLATION.read(table);
        let shares = match table.has("shares") {
            true => table.f64s("shares")?,
            false => vec![0.5, 0.5],
        };
        // Ten tenths are one, though their sum as numbers is not.
        let sum: f64 = shares.iter().sum();
        let are_right = (1..=HANDLES).contains(&shares.len())
            && shares.iter().all(|&share| share > 0.0)
            && sum <= 1.0 + 1e-9;
        if !are_right {
            table.error(
                "shares",
                format!(
                    "shares has {} with the sum {sum}; 1 to {HANDLES} numbers above 0 are allowed, \
                     with a sum of at most 1",
                    numbers(shares.len())
                ),
                "give each handle its share of the drive, as in `shares = [0.04, 0.96]`",
            );
            return None;
        }
        Some(Settings { shares, isolation })
    }

    fn handles(&self) -> u32 {
        self.shares.len() as u32
    }
}

fn numbers(count: usize) -> String {
    if count == 1 { "1 number".into() } else { format!("{count} numbers") }
}

impl Classes for Settings {
    fn classes(&self) -> u32 {
        self.handles() + self.classes_of_copies()
    }

    fn classes_of_copies(&self) -> u32 {
        match self.isolation {
            Isolation::Initial => 1,
            Isolation::Persistent => self.handles(),
        }
    }

    fn keeps_blocks(&self) -> bool {
        false
    }

    fn kept_by(&self, _costs: Costs) -> Option<String> {
        Some(format!("{}{:?} {:?}", STATE.by, self.shares, self.isolation))
    }
}

/// The handle of each page, and the pages that each handle took.
pub struct Policy {
    /// The first page behind the part of each handle but the last.
    ends: Vec<u32>,
    isolation: Isolation,
    taken: Vec<ClassPages>,
}

impl Policy {
    /// The handles of a drive.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        let pages = f64::from(geometry.exported_pages);
        let mut sum = 0.0;
        let mut ends: Vec<u32> = settings
            .shares
            .iter()
            .map(|share| {
                sum += share;
                (sum * pages).round() as u32
            })
            .collect();
        ends.pop();
        let taken = vec![ClassPages::default(); settings.shares.len()];
        Policy { ends, isolation: settings.isolation, taken }
    }

    /// The handle of a page.
    #[inline]
    fn handle(&self, lpn: Lpn) -> usize {
        self.ends.iter().filter(|&&end| end <= lpn.0).count()
    }
}

impl Placement for Policy {
    #[inline]
    fn class_of_write(&mut self, write: Write) -> u8 {
        let handle = self.handle(write.lpn);
        self.taken[handle].writes += 1;
        handle as u8
    }

    #[inline]
    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        let handle = self.handle(copy.lpn);
        self.taken[handle].copies += 1;
        let first = self.taken.len();
        match self.isolation {
            Isolation::Initial => first as u8,
            Isolation::Persistent => (first + handle) as u8,
        }
    }

    fn start_counting(&mut self, _seed: u64) {
        self.taken.fill(ClassPages::default());
    }

    fn of_handles(&self) -> Option<&[ClassPages]> {
        Some(&self.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handle_follows_from_the_address() {
        let policy = Policy { ends: vec![4, 10], isolation: Isolation::Initial, taken: vec![] };
        let handles: Vec<usize> = [0, 3, 4, 9, 10, 99].map(|lpn| policy.handle(Lpn(lpn))).into();
        assert_eq!(handles, [0, 0, 1, 1, 2, 2]);
    }
}
