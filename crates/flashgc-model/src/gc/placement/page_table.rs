//! Tables of a placement with an entry for each page.

use crate::device::Geometry;
use crate::ids::Lpn;
use crate::memory::{bytes_of, prefetch, zeros};
use std::slice::Iter;

/// A level from 0 to 15 for each page.
#[derive(Clone)]
pub struct Levels(Vec<u8>);

impl Levels {
    /// All 0.
    pub fn new(geometry: &Geometry) -> Self {
        Levels::of(geometry.exported_pages)
    }

    /// All 0, of this many pages.
    pub fn of(pages: u32) -> Self {
        Levels(zeros(pages.div_ceil(2) as usize))
    }

    /// The level of a page.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> u8 {
        self.0[lpn.index() / 2] >> Levels::shift(lpn) & 15
    }

    /// Changes it.
    #[inline]
    pub fn set(&mut self, lpn: Lpn, level: u8) {
        debug_assert!(level < 16, "a level has four bits");
        let pair = &mut self.0[lpn.index() / 2];
        *pair = *pair & !(15 << Levels::shift(lpn)) | level << Levels::shift(lpn);
    }

    /// Brings the level of a page into the cache.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.0, lpn.index() / 2);
    }

    fn shift(lpn: Lpn) -> u32 {
        lpn.0 % 2 * 4
    }

    /// Calls this with the level of each page.
    pub fn count_into(&self, mut count: impl FnMut(u8)) {
        self.0.iter().for_each(|&pair| {
            count(pair & 15);
            count(pair >> 4);
        });
    }

    /// Appends them to these numbers.
    pub fn keep(&self, numbers: &mut Vec<u32>) {
        let whole = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &b| sum << 8 | u32::from(b));
        numbers.extend(self.0.chunks(4).map(whole));
    }

    /// Takes them from the front of these numbers; `None` where one is above the highest.
    pub fn take_kept(&mut self, numbers: &mut Iter<'_, u32>, highest: u8) -> Option<()> {
        for bytes in self.0.chunks_mut(4) {
            let whole = numbers.next()?.to_le_bytes();
            bytes.copy_from_slice(&whole[..bytes.len()]);
            if bytes.iter().any(|&pair| pair & 15 > highest || pair >> 4 > highest) {
                return None;
            }
        }
        Some(())
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.0)
    }
}

/// A number of 32 bits for each page.
#[derive(Clone)]
pub struct Numbers(Vec<u32>);

impl Numbers {
    /// All 0.
    pub fn new(geometry: &Geometry) -> Self {
        Numbers(zeros(geometry.exported_pages as usize))
    }

    /// The number of a page.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> u32 {
        self.0[lpn.index()]
    }

    /// Changes it.
    #[inline]
    pub fn set(&mut self, lpn: Lpn, number: u32) {
        self.0[lpn.index()] = number;
    }

    /// Brings the number of a page into the cache.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.0, lpn.index());
    }

    /// All of them, by page.
    pub fn all(&self) -> impl Iterator<Item = (Lpn, u32)> {
        (0..).map(Lpn).zip(self.0.iter().copied())
    }

    /// Appends them to these numbers.
    pub fn keep(&self, numbers: &mut Vec<u32>) {
        numbers.extend(&self.0);
    }

    /// Takes them from the front of these numbers.
    pub fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        self.0.iter_mut().try_for_each(|number| {
            *number = *numbers.next()?;
            Some(())
        })
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.0)
    }
}

/// The clock of the last write of each page, in 32 bits: an interval is right up to 2^32 pages.
#[derive(Clone)]
pub struct LastWrites(Numbers);

impl LastWrites {
    /// All 0.
    pub fn new(geometry: &Geometry) -> Self {
        LastWrites(Numbers::new(geometry))
    }

    /// Pages that the host has written since it last wrote this one.
    #[inline]
    pub fn since(&self, lpn: Lpn, clock: u64) -> u64 {
        u64::from((clock as u32).wrapping_sub(self.0.get(lpn)))
    }

    /// Brings the time of a page into the cache.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        self.0.prefetch(lpn);
    }

    /// The host writes the page.
    #[inline]
    pub fn set(&mut self, lpn: Lpn, clock: u64) {
        self.0.set(lpn, clock as u32);
    }

    /// Appends them to these numbers.
    pub fn keep(&self, numbers: &mut Vec<u32>) {
        self.0.keep(numbers);
    }

    /// Takes them from the front of these numbers.
    pub fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        self.0.take_kept(numbers)
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_do_not_disturb_each_other() {
        let mut levels = Levels(zeros(3));
        (0..6).for_each(|lpn| levels.set(Lpn(lpn), lpn as u8 + 10));
        levels.set(Lpn(3), 0);
        let found: Vec<u8> = (0..6).map(|lpn| levels.get(Lpn(lpn))).collect();
        assert_eq!(found, [10, 11, 12, 0, 14, 15]);
        let mut numbers = Vec::new();
        levels.keep(&mut numbers);
        let mut other = Levels(zeros(3));
        assert_eq!(other.take_kept(&mut numbers.iter(), 14), None, "15 is above the highest");
        other.take_kept(&mut numbers.iter(), 15).expect("these are levels");
        assert_eq!(other.0, levels.0);
    }

    #[test]
    fn intervals_are_right_where_the_clock_of_32_bits_turns_over() {
        let mut last = LastWrites(Numbers(zeros(1)));
        last.set(Lpn(0), (1 << 32) - 5);
        assert_eq!(last.since(Lpn(0), (1 << 32) + 5), 10);
    }
}
