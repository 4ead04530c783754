//! FADaC: a fading average data classifier (Kremer and Brinkmann, SYSTOR 2019). A write raises the
//! count of a page by one, a copy lowers it by one. The classes are powers of ten of an average
//! that follows the writes: class 0 takes pages with counts up to the average, class 1 up to 10
//! times the average, class 2 up to 100 times.

use super::numbered::{self, Numbered};
use super::page_table::Numbers;
use super::runs::Runs;
use super::saved::{keep_fraction, take_fraction};
use super::{Copied, Placement, State, Write};
use crate::device::Geometry;
use crate::gc::choice::{Choice, Count};
use crate::ids::Lpn;
use std::slice::Iter;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "fadac",
    about: "a write raises the count of a page, a copy lowers it; classes are powers of ten of a \
            fading average",
    keys: &[&CLASSES],
    source: "Kremer and Brinkmann 2019 (FADaC)",
};

const CLASSES: Count =
    Count { name: "classes", default: 6, least: 1, most: 16, about: "number of classes" };

/// The counts of the pages, and the average.
pub const STATE: State =
    State { by: "fadac ", name: "counts of writes", without: "with all counts at 0" };

/// The ratio of the limits of two classes.
const RATIO: f64 = 10.0;

/// The number of classes.
pub type Settings = numbered::Settings<Rules>;

/// Copies go to all classes.
#[derive(Clone, Debug)]
pub struct Rules;

impl Numbered for Rules {
    const CLASSES: &'static Count = &CLASSES;
    const STATE: State = STATE;
    const KEEPS_BLOCKS: bool = false;
}

/// The counts.
#[derive(Clone)]
pub struct Policy {
    /// The count of each page, plus 1; 0 for a page that was never written.
    counts: Numbers,
    /// Pages that were written and hold data.
    pages: u32,
    average: f64,
    runs: Runs,
    exported_pages: u32,
    highest: u8,
}

impl Policy {
    /// No page was written.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        Policy {
            counts: Numbers::new(geometry),
            pages: 0,
            average: 0.0,
            runs: Runs::default(),
            exported_pages: geometry.exported_pages,
            highest: settings.highest(),
        }
    }

    /// Changes a count.
    fn set(&mut self, lpn: Lpn, count: u32) {
        self.pages += u32::from(self.counts.get(lpn) == 0);
        self.counts.set(lpn, count.saturating_add(1));
    }

    fn count(&self, lpn: Lpn) -> u32 {
        self.counts.get(lpn).saturating_sub(1)
    }

    /// The first class whose limit is not below the count.
    fn class_of(&self, count: u32) -> u8 {
        let (mut class, mut limit) = (0, self.average);
        while limit > 0.0 && f64::from(count) > limit && class < self.highest {
            (class, limit) = (class + 1, limit * RATIO);
        }
        class
    }
}

impl Placement for Policy {
    fn class_of_write(&mut self, write: Write) -> u8 {
        if let Some(run) = self.runs.write(write.lpn) {
            let pages = f64::from(self.pages.max(1));
            self.average += (f64::from(run.pages) - self.average) / pages;
        }
        let count = self.count(write.lpn).saturating_add(1);
        self.set(write.lpn, count);
        self.class_of(count)
    }

    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        let count = self.count(copy.lpn);
        if !copy.is_current {
            return self.class_of(count);
        }
        let count = count.saturating_sub(1);
        self.set(copy.lpn, count);
        self.class_of(count)
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.pages -= u32::from(self.counts.get(lpn) > 0);
        self.counts.set(lpn, 0);
    }

    #[inline]
    fn prefetch(&self, lpn: Lpn) {
        self.counts.prefetch(lpn);
    }

    fn keep(&self, numbers: &mut Vec<u32>) {
        keep_fraction(self.average, numbers);
        self.runs.keep(numbers);
        self.counts.keep(numbers);
    }

    fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        self.average = take_fraction(numbers)?;
        self.runs.take_kept(numbers, self.exported_pages)?;
        self.counts.take_kept(numbers)?;
        self.pages = self.counts.all().filter(|&(_, count)| count > 0).count() as u32;
        Some(())
    }

    fn table_bytes(&self) -> u64 {
        self.counts.bytes()
    }
}
