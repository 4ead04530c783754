//! FDP: the host names a placement handle with each write, and pages of different handles are
//! written to blocks of their own (NVMe 2.1, Flexible Data Placement).
//!
//! The handle follows from the address, where each application has a part of the drive, as with a
//! partition or a cache engine for each handle; or it is the hint that a write carries. A hint that
//! names no handle counts, and the write goes to handle 0.
//!
//! - Initially isolated: copies of all handles share a class, or that of the last handle.
//! - Persistently isolated: copies of each handle have a class too.
//!
//! A handle has an open block from its first write on, or always.

use super::page_table::Levels;
use super::{ClassPages, Classes, Copied, HandleCounts, Placement, State, Write};
use crate::device::Geometry;
use crate::gc::choice::{About, Choice, Count, Described, Word};
use crate::gc::windows::Costs;
use crate::ids::Lpn;
use flashgc_config::Reader;
use flashgc_config::units::counted;
use serde::Serialize;
use std::slice::Iter;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "fdp",
    about: "each part of the drive, or each write by its hint, has a placement handle, and pages \
            of different handles go to open blocks of their own",
    keys: &[&BY, &Described("shares", SHARES), &NUMBER, &ISOLATION, &COPIES, &OPEN],
    source: "NVMe 2.1, Flexible Data Placement",
};

const BY: Word<By> = Word {
    name: "by",
    words: &[("address", By::Address), ("hint", By::Hint)],
    default: 0,
    about: About::Each(&[
        "each handle writes a part of the drive",
        "the hint of a write is its handle, and 0 where there is no such handle",
    ]),
};

const SHARES: &str = "[0.5, 0.5] (default), 1 to 8 numbers above 0, at most 1 in sum: by address, \
                      the part of the drive that each handle writes, one behind the other; the \
                      rest belongs to the last";

const NUMBER: Count = Count {
    name: "handles",
    default: HANDLES as u32,
    least: 1,
    most: HANDLES as u32,
    about: "by hint, the number of handles",
};

const ISOLATION: Word<Isolation> = Word {
    name: "isolation",
    words: &[("initial", Isolation::Initial), ("persistent", Isolation::Persistent)],
    default: 0,
    about: About::Each(&["copies of all handles share open blocks", "copies do not mix handles"]),
};

const COPIES: Word<Copies> = Word {
    name: "copies",
    words: &[("apart", Copies::Apart), ("last-handle", Copies::LastHandle)],
    default: 0,
    about: About::Each(&[
        "copies have open blocks of their own",
        "with initial isolation, copies go to the open block of the last handle",
    ]),
};

const OPEN: Word<Open> = Word {
    name: "open",
    words: &[("used", Open::Used), ("all", Open::All)],
    default: 0,
    about: About::Each(&[
        "a handle takes a block for its first write, and the next for the first one after a full \
         block",
        "a block is kept for each handle that has none open",
    ]),
};

/// The open blocks of handles.
pub const STATE: State = State {
    by: "fdp ",
    name: "open blocks of placement handles",
    without: "with the open blocks of the drive in any handle",
};

/// The most handles.
const HANDLES: usize = 8;

/// The source of a write's handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Address,
    Hint,
}

/// The handles.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Handles {
    /// The share of the drive that each writes.
    Address { shares: Vec<f64> },
    /// Hints below this number.
    Hint { by: &'static str, handles: u32 },
}

/// Whether copies of different handles may share a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Isolation {
    Initial,
    Persistent,
}

/// The open blocks that copies go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Copies {
    Apart,
    LastHandle,
}

impl Copies {
    fn are_apart(&self) -> bool {
        *self == Copies::Apart
    }
}

/// The handles that have an open block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Open {
    Used,
    All,
}

impl Open {
    fn is_used(&self) -> bool {
        *self == Open::Used
    }
}

/// The handles, and how far they are isolated.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    #[serde(flatten)]
    handles: Handles,
    isolation: Isolation,
    #[serde(skip_serializing_if = "Copies::are_apart")]
    copies: Copies,
    #[serde(skip_serializing_if = "Open::is_used")]
    open: Open,
}

impl Settings {
    /// From `[gc.placement.fdp]`.
    pub fn read(table: &Reader<'_>) -> Option<Self> {
        let (isolation, copies, open) =
            (ISOLATION.read(table), COPIES.read(table), OPEN.read(table));
        let handles = match BY.read(table) {
            By::Address => Handles::Address { shares: Settings::shares(table)? },
            By::Hint => Handles::Hint { by: "hint", handles: NUMBER.checked(table)? },
        };
        let (unused, by) = match handles {
            Handles::Address { .. } => ("handles", "hint"),
            Handles::Hint { .. } => ("shares", "address"),
        };
        if table.has(unused) {
            table.error(
                unused,
                format!("`{unused}` needs `by = \"{by}\"`"),
                format!("set by = \"{by}\", or remove `{unused}`"),
            );
            return None;
        }
        if isolation == Isolation::Persistent && !copies.are_apart() {
            table.error(
                COPIES.name,
                "`copies = \"last-handle\"` mixes handles, and `isolation = \"persistent\"` keeps \
                 them apart",
                "set isolation = \"initial\", or remove `copies`",
            );
            return None;
        }
        Some(Settings { handles, isolation, copies, open })
    }

    fn shares(table: &Reader<'_>) -> Option<Vec<f64>> {
        let shares = match table.has("shares") {
            true => table.parts("shares")?,
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
                    counted(shares.len() as u64, "number")
                ),
                "give each handle its share of the drive, as in `shares = [0.04, 0.96]`",
            );
            return None;
        }
        Some(shares)
    }

    fn handles(&self) -> u32 {
        match &self.handles {
            Handles::Address { shares } => shares.len() as u32,
            Handles::Hint { handles, .. } => *handles,
        }
    }
}

impl Classes for Settings {
    fn classes(&self) -> u32 {
        match self.copies {
            Copies::Apart => self.handles() + self.classes_of_copies(),
            Copies::LastHandle => self.handles(),
        }
    }

    fn always_open(&self) -> u32 {
        match self.open {
            Open::Used => 0,
            Open::All => self.handles(),
        }
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
        let handles = match &self.handles {
            Handles::Address { shares } => format!("{shares:?}"),
            Handles::Hint { handles, .. } => format!("hint {handles}"),
        };
        let copies = if self.copies.are_apart() { "" } else { " last-handle" };
        Some(format!("{}{handles} {:?}{copies}", STATE.by, self.isolation))
    }
}

/// The source of a page's handle.
#[derive(Clone)]
enum Source {
    /// Its address: the first page behind the part of each handle but the last.
    Ends(Vec<u32>),
    /// The hint of its last write: the handle of each page, and the writes of no handle.
    Hints { of_page: Levels, invalid: u64 },
}

/// The handle of each page, and the pages that each handle took.
#[derive(Clone)]
pub struct Policy {
    source: Source,
    isolation: Isolation,
    copies: Copies,
    taken: Vec<ClassPages>,
}

impl Policy {
    /// The handles of a drive.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        let source = match &settings.handles {
            Handles::Address { shares } => Source::Ends(ends(shares, geometry.exported_pages)),
            Handles::Hint { .. } => Source::Hints { of_page: Levels::new(geometry), invalid: 0 },
        };
        let taken = vec![ClassPages::default(); settings.handles() as usize];
        Policy { source, isolation: settings.isolation, copies: settings.copies, taken }
    }

    /// The handle of a page that holds data.
    #[inline]
    fn handle(&self, lpn: Lpn) -> usize {
        match &self.source {
            Source::Ends(ends) => ends.iter().filter(|&&end| end <= lpn.0).count(),
            Source::Hints { of_page, .. } => of_page.get(lpn).into(),
        }
    }

    /// A page is written with this hint.
    #[inline]
    fn take_hint(&mut self, lpn: Lpn, hint: u8) {
        if let Source::Hints { of_page, invalid } = &mut self.source {
            let is_handle = usize::from(hint) < self.taken.len();
            *invalid += u64::from(!is_handle);
            of_page.set(lpn, if is_handle { hint } else { 0 });
        }
    }
}

/// The first page behind the part of each handle but the last.
fn ends(shares: &[f64], exported_pages: u32) -> Vec<u32> {
    let pages = f64::from(exported_pages);
    let mut sum = 0.0;
    let mut ends: Vec<u32> = shares
        .iter()
        .map(|share| {
            sum += share;
            (sum * pages).round() as u32
        })
        .collect();
    ends.pop();
    ends
}

impl Placement for Policy {
    #[inline]
    fn class_of_write(&mut self, write: Write) -> u8 {
        self.take_hint(write.lpn, write.writer.hint);
        self.handle(write.lpn) as u8
    }

    #[inline]
    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        let handle = self.handle(copy.lpn);
        let first = self.taken.len();
        match (self.isolation, self.copies) {
            (Isolation::Initial, Copies::Apart) => first as u8,
            (Isolation::Initial, Copies::LastHandle) => (first - 1) as u8,
            (Isolation::Persistent, _) => (first + handle) as u8,
        }
    }

    #[inline]
    fn took_page(&mut self, lpn: Lpn, is_copy: bool) {
        let handle = self.handle(lpn);
        let taken = &mut self.taken[handle];
        let count = if is_copy { &mut taken.copies } else { &mut taken.writes };
        *count += 1;
    }

    fn start_counting(&mut self, _seed: u64) {
        self.taken.fill(ClassPages::default());
        if let Source::Hints { invalid, .. } = &mut self.source {
            *invalid = 0;
        }
    }

    fn keep(&self, numbers: &mut Vec<u32>) {
        if let Source::Hints { of_page, .. } = &self.source {
            of_page.keep(numbers);
        }
    }

    fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        match &mut self.source {
            Source::Ends(_) => Some(()),
            Source::Hints { of_page, .. } => of_page.take_kept(numbers, self.taken.len() as u8 - 1),
        }
    }

    fn table_bytes(&self) -> u64 {
        match &self.source {
            Source::Ends(_) => 0,
            Source::Hints { of_page, .. } => of_page.bytes(),
        }
    }

    fn of_handles(&self) -> Option<HandleCounts> {
        let invalid = match self.source {
            Source::Ends(_) => 0,
            Source::Hints { invalid, .. } => invalid,
        };
        Some(HandleCounts { pages: self.taken.clone(), invalid, ..HandleCounts::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(source: Source, handles: usize) -> Policy {
        let taken = vec![ClassPages::default(); handles];
        Policy { source, isolation: Isolation::Initial, copies: Copies::Apart, taken }
    }

    #[test]
    fn the_handle_follows_from_the_address() {
        let policy = policy(Source::Ends(vec![4, 10]), 3);
        let handles: Vec<usize> = [0, 3, 4, 9, 10, 99].map(|lpn| policy.handle(Lpn(lpn))).into();
        assert_eq!(handles, [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn a_hint_that_names_no_handle_is_counted_and_goes_to_handle_0() {
        let mut policy = policy(Source::Hints { of_page: Levels::of(4), invalid: 0 }, 3);
        for (lpn, hint) in [(0, 2), (1, 3), (2, 1), (3, 255), (2, 2)] {
            policy.take_hint(Lpn(lpn), hint);
        }
        let handles: Vec<usize> = [0, 1, 2, 3].map(|lpn| policy.handle(Lpn(lpn))).into();
        assert_eq!(handles, [2, 0, 2, 0]);
        assert_eq!(policy.of_handles().expect("there are handles").invalid, 2);
        policy.start_counting(0);
        assert_eq!(policy.of_handles().expect("there are handles").invalid, 0);
    }
}
