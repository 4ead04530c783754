//! The hot filter: pages that are overwritten again and again before their block is collected.
//!
//! Each page has a level from 0 to 3, and is hot at 3. An overwrite raises the level of a page of
//! the hot group, and of the first group if its block was sealed no longer ago than the mean age of
//! collected hot blocks; if it was, the overwrite lowers the level. A copy lowers it by 1 out of
//! the first group and by 2 out of the hot one.

use super::super::page_table::Levels;
use super::super::saved::{keep_whole, take_whole};
use super::chain::Tally;
use super::{FIRST, HOT};
use crate::device::Geometry;
use crate::ids::Lpn;
use std::slice::Iter;

/// The level of hot pages.
const HIGHEST: u8 = 3;

/// The measurements of the hot group in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Share of the host's writes.
    pub traffic: f64,
    /// Share of the pages that were valid when their block was collected.
    pub valid: f64,
}

/// The levels of the pages.
#[derive(Clone)]
pub struct Filter {
    levels: Levels,
    /// Overwrites and copies that change nothing yet.
    idle: u64,
    /// The mean age of hot blocks when they are collected.
    age: u64,
    /// Overwrites until the window ends.
    left: u64,
    writes: u64,
    hot_writes: u64,
    /// Hot blocks that were collected, and their ages.
    hot: Tally,
    ages: u64,
    data_pages: u32,
}

impl Filter {
    /// No page is hot.
    pub fn new(geometry: &Geometry) -> Self {
        Filter::of(geometry.exported_pages, geometry.shape.data_pages())
    }

    fn of(pages: u32, data_pages: u32) -> Self {
        let all = u64::from(pages);
        Filter {
            levels: Levels::of(pages),
            idle: all,
            age: all,
            left: all,
            writes: 0,
            hot_writes: 0,
            hot: Tally::default(),
            ages: 0,
            data_pages,
        }
    }

    /// The host overwrites a page of this group, whose block was sealed this long ago (0 where it
    /// is open). Returns the measurements of the window that ends with this write.
    #[inline]
    pub fn overwritten(&mut self, lpn: Lpn, group: Option<u8>, age: u64) -> Option<Seen> {
        if self.idle > 0 {
            self.idle -= 1;
            return None;
        }
        let seen = (self.left == 0 && self.hot.collections > 0).then(|| self.end_window());
        self.left = self.left.saturating_sub(1);
        let level = self.levels.get(lpn);
        let changed = match group {
            Some(HOT) => (level + 1).min(HIGHEST),
            Some(FIRST) if age <= self.age => (level + 1).min(HIGHEST),
            Some(FIRST) => level.saturating_sub(1),
            _ => level,
        };
        if changed != level {
            self.levels.set(lpn, changed);
        }
        seen
    }

    #[cold]
    fn end_window(&mut self) -> Seen {
        let mean = self.ages / self.hot.collections;
        self.age = match self.age {
            0 => mean,
            age if mean >= 2 * age => age + age / 2,
            age => (mean + age) / 2,
        };
        let pages = self.hot.collections * u64::from(self.data_pages);
        let seen = Seen {
            traffic: self.hot_writes as f64 / self.writes.max(1) as f64,
            valid: self.hot.valid as f64 / pages as f64,
        };
        self.left = self.age;
        (self.writes, self.hot_writes, self.ages, self.hot) = (0, 0, 0, Tally::default());
        seen
    }

    /// A page of this group is copied.
    #[inline]
    pub fn copied(&mut self, lpn: Lpn, group: Option<u8>) {
        let down = match group {
            Some(HOT) => 2,
            Some(FIRST) => 1,
            _ => return,
        };
        if self.idle > 0 {
            self.idle -= 1;
            return;
        }
        let level = self.levels.get(lpn);
        self.levels.set(lpn, level.saturating_sub(down));
    }

    /// Whether the page that the host writes is hot.
    #[inline]
    pub fn is_hot(&mut self, lpn: Lpn) -> bool {
        self.writes += 1;
        if self.levels.get(lpn) != HIGHEST {
            return false;
        }
        self.hot_writes += 1;
        true
    }

    /// A hot block of this age is collected.
    pub fn collected(&mut self, age: u64, valid: u32) {
        self.ages += age;
        self.hot.add(valid);
    }

    /// The page was trimmed.
    pub fn trimmed(&mut self, lpn: Lpn) {
        self.levels.set(lpn, 0);
    }

    fn numbers(&mut self) -> [&mut u64; 8] {
        let Filter { idle, age, left, writes, hot_writes, hot, ages, .. } = self;
        [idle, age, left, writes, hot_writes, &mut hot.collections, &mut hot.valid, ages]
    }

    /// Appends the state to save with the drive.
    pub fn keep(&self, numbers: &mut Vec<u32>) {
        let Filter { idle, age, left, writes, hot_writes, hot, ages, .. } = self;
        for number in [idle, age, left, writes, hot_writes, &hot.collections, &hot.valid, ages] {
            keep_whole(*number, numbers);
        }
        self.levels.keep(numbers);
    }

    /// Takes it from the front of these numbers.
    pub fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        for number in self.numbers() {
            *number = take_whole(numbers).filter(|&number| number < 1 << 56)?;
        }
        self.levels.take_kept(numbers, HIGHEST)
    }

    /// Bytes of its table.
    pub fn bytes(&self) -> u64 {
        self.levels.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Lpn = Lpn(7);

    /// A filter whose levels change, and whose hot blocks live 100 pages.
    fn filter() -> Filter {
        Filter { idle: 0, age: 100, left: 1_000, ..Filter::of(20, 8) }
    }

    fn level(filter: &Filter) -> u8 {
        filter.levels.get(PAGE)
    }

    #[test]
    fn overwrites_raise_levels_and_copies_lower_them() {
        let mut filter = filter();
        let mut after = |group, age| {
            filter.overwritten(PAGE, group, age);
            level(&filter)
        };
        // The age of hot blocks, a younger one, and an older one.
        assert_eq!(
            [after(Some(FIRST), 100), after(Some(FIRST), 0), after(Some(FIRST), 101)],
            [1, 2, 1]
        );
        // In the hot group whatever the age, up to 3.
        assert_eq!([after(Some(HOT), 900), after(Some(HOT), 900), after(Some(HOT), 0)], [2, 3, 3]);
        // Elsewhere nothing.
        assert_eq!([after(Some(2), 0), after(None, 0)], [3, 3]);
        assert!(filter.is_hot(PAGE) && !filter.is_hot(Lpn(8)));
        let mut after = |group| {
            filter.copied(PAGE, group);
            level(&filter)
        };
        assert_eq!([after(Some(2)), after(Some(HOT)), after(Some(HOT))], [3, 1, 0]);
        for _ in 0..3 {
            filter.overwritten(PAGE, Some(HOT), 0);
        }
        filter.copied(PAGE, Some(FIRST));
        assert_eq!(level(&filter), 2);
        filter.trimmed(PAGE);
        assert_eq!(level(&filter), 0);
    }

    #[test]
    fn as_many_changes_as_the_drive_has_pages_change_nothing() {
        let mut filter = Filter::of(20, 8);
        for _ in 0..15 {
            filter.overwritten(PAGE, Some(FIRST), 0);
        }
        (0..5).for_each(|_| filter.copied(PAGE, Some(FIRST)));
        // Copies of other groups do not count.
        filter.copied(PAGE, Some(2));
        assert_eq!((level(&filter), filter.idle), (0, 0));
        filter.overwritten(PAGE, Some(FIRST), 0);
        assert_eq!(level(&filter), 1);
    }

    /// A window lasts for the mean age in overwrites, and until a hot block was collected.
    #[test]
    fn the_mean_age_follows_collected_hot_blocks() {
        let mut filter = Filter { left: 100, ..filter() };
        let end = |filter: &mut Filter, hot: &[u64]| {
            let writes = (0..).take_while(|_| filter.overwritten(PAGE, None, 0).is_none());
            let before = writes.take(500).count();
            filter.is_hot(PAGE);
            filter.is_hot(Lpn(8));
            hot.iter().for_each(|&age| filter.collected(age, 2));
            let seen = filter.overwritten(PAGE, None, 0);
            (before, seen, filter.age)
        };
        assert_eq!(end(&mut filter, &[]), (500, None, 100), "no hot block was collected");
        filter.levels.set(PAGE, 3);
        let seen = Some(Seen { traffic: 0.25, valid: 0.25 });
        // The mean of 40 and 60 is 50, and that with 100 before is 75.
        assert_eq!(end(&mut filter, &[40, 60]), (500, seen, 75));
        // One overwrite of the window was that which began it.
        assert_eq!(filter.left, 74);
        // Twice as old or older: 1.5 times the age before.
        let seen = Some(Seen { traffic: 0.5, valid: 0.25 });
        filter.left = 0;
        assert_eq!(end(&mut filter, &[150]), (500, seen, 75 + 37));
    }
}
