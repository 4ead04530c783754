//! ETI: extents of pages that are updated about equally often. The drive is divided into extents,
//! each with a count of the runs that have written in it; the borders of a run divide extents.
//! Pages of extents with a high count are hot (class 0), others cold (class 1), and copies go to
//! class 2.

use super::numbered::{self, Numbered};
use super::runs::{Run, Runs};
use super::{Copied, Placement, State, Write};
use crate::device::Geometry;
use crate::gc::choice::{Choice, Count};
use std::slice::Iter;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "eti",
    about: "extents that are written often are hot; copies have a class of their own",
    keys: &[&CLASSES],
    source: "Shafaei, Desnoyers and Fitzpatrick 2016 (extent-based temperature identification)",
};

const CLASSES: Count = Count {
    name: "classes",
    default: 3,
    least: 1,
    most: 3,
    about: "number of classes; pages of those above the last go to the last",
};

/// The extents.
pub const STATE: State =
    State { by: "eti ", name: "extents", without: "with one extent that is cold" };

/// The most extents.
const EXTENTS: usize = 1024;
/// A count stops here.
const MOST: u32 = 15;
/// From this count on an extent is hot.
const HOT: u32 = 4;
/// All counts are halved after this number of runs.
const RUNS: u32 = 4096;

/// The number of classes.
pub type Settings = numbered::Settings<Rules>;

/// Copies go to the last class.
#[derive(Clone, Debug)]
pub struct Rules;

impl Numbered for Rules {
    const CLASSES: &'static Count = &CLASSES;
    const STATE: State = STATE;
    const KEEPS_BLOCKS: bool = false;

    fn classes_of_copies(_classes: u32) -> u32 {
        1
    }
}

/// Pages from the first page of an extent to the first one of the next extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    first: u32,
    count: u32,
}

/// The extents.
#[derive(Clone)]
pub struct Policy {
    extents: Vec<Extent>,
    runs: Runs,
    /// Runs since the counts were halved.
    counted: u32,
    pages: u32,
    highest: u8,
}

impl Policy {
    /// One extent of all pages.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        Policy {
            extents: vec![Extent { first: 0, count: 0 }],
            runs: Runs::default(),
            counted: 0,
            pages: geometry.exported_pages,
            highest: settings.highest(),
        }
    }

    /// The place of the extent of a page.
    fn place_of(&self, page: u32) -> usize {
        self.extents.partition_point(|extent| extent.first <= page) - 1
    }

    /// Divides an extent before this page, unless its count is at the limit, or there are too many.
    fn divide(&mut self, page: u32) {
        if page >= self.pages || self.extents.len() == EXTENTS {
            return;
        }
        let at = self.place_of(page);
        let Extent { first, count } = self.extents[at];
        if first < page && count < MOST {
            self.extents.insert(at + 1, Extent { first: page, count });
        }
    }

    /// A run has ended.
    fn count(&mut self, run: Run) {
        self.divide(run.first);
        self.divide(run.first + run.pages);
        let last = self.place_of(run.first + run.pages - 1);
        for at in self.place_of(run.first)..=last {
            self.extents[at].count = (self.extents[at].count + 1).min(MOST);
        }
        self.counted += 1;
        if self.counted == RUNS {
            self.counted = 0;
            self.halve();
        }
    }

    /// Halves all counts. Neighbours become one extent if their counts are equal, or both cold.
    fn halve(&mut self) {
        self.extents.iter_mut().for_each(|extent| extent.count /= 2);
        self.extents.dedup_by(|next, extent| {
            let is_similar = next.count == extent.count || next.count.max(extent.count) < HOT;
            if is_similar {
                extent.count = extent.count.max(next.count);
            }
            is_similar
        });
    }
}

impl Placement for Policy {
    fn class_of_write(&mut self, write: Write) -> u8 {
        if let Some(run) = self.runs.write(write.lpn) {
            self.count(run);
        }
        let is_hot = self.extents[self.place_of(write.lpn.0)].count >= HOT;
        u8::from(!is_hot).min(self.highest)
    }

    fn class_of_copy(&mut self, _copy: Copied) -> u8 {
        self.highest
    }

    fn keep(&self, numbers: &mut Vec<u32>) {
        numbers.extend([self.counted, self.extents.len() as u32]);
        numbers.extend(self.extents.iter().flat_map(|extent| [extent.first, extent.count]));
        self.runs.keep(numbers);
    }

    fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        self.counted = *numbers.next().filter(|&&counted| counted < RUNS)?;
        let count = *numbers.next().filter(|&&count| (1..=EXTENTS as u32).contains(&count))?;
        self.extents.clear();
        for _ in 0..count {
            let (&first, &count) = (numbers.next()?, numbers.next()?);
            let is_next = match self.extents.last() {
                Some(extent) => extent.first < first,
                None => first == 0,
            };
            if !is_next || first >= self.pages || count > MOST {
                return None;
            }
            self.extents.push(Extent { first, count });
        }
        self.runs.take_kept(numbers, self.pages)
    }

    fn table_bytes(&self) -> u64 {
        (EXTENTS * size_of::<Extent>()) as u64
    }
}
