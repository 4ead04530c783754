//! The page map and its reverse: four bytes each for a page.

use crate::ids::{Lpn, Ppn};
use crate::memory::{bytes_of, prefetch, zeros};

/// Logical to physical pages, and back.
#[derive(Clone)]
pub struct PageMap {
    /// The complements of the physical pages, so that 0 is a page that was never written.
    to_ppn: Vec<u32>,
    /// The last logical page written at each physical page; stale once that page is invalid.
    to_lpn: Vec<u32>,
}

impl PageMap {
    /// A map in which no page is written.
    pub fn new(logical: usize, physical: usize) -> Self {
        PageMap { to_ppn: zeros(logical), to_lpn: zeros(physical) }
    }

    /// The map of a saved drive, with nothing in the reverse yet.
    pub fn of(mut to_ppn: Vec<u32>, physical: usize) -> Self {
        to_ppn.iter_mut().for_each(|entry| *entry = !*entry);
        PageMap { to_ppn, to_lpn: zeros(physical) }
    }

    /// Brings the reverse entry of a logical page's physical page into the cache.
    #[inline(always)]
    pub fn prefetch_reverse(&self, lpn: usize) {
        if let Some(&ppn) = self.to_ppn.get(lpn) {
            prefetch(&self.to_lpn, !ppn as usize);
        }
    }

    /// Notes which logical page a physical one holds, as the map has it.
    #[inline(always)]
    pub fn restore_reverse(&mut self, lpn: Lpn, ppn: Ppn) {
        self.to_lpn[ppn.index()] = lpn.0;
    }

    /// The physical page of each logical one.
    pub fn into_table(mut self) -> Vec<u32> {
        self.to_ppn.iter_mut().for_each(|entry| *entry = !*entry);
        self.to_ppn
    }

    /// The physical page of each logical one, in order; `u32::MAX` where nothing is written.
    pub fn entries(&self) -> impl Iterator<Item = u32> + '_ {
        self.to_ppn.iter().map(|entry| !entry)
    }

    /// The complements of these entries, as they are stored.
    pub fn complements(&self) -> &[u32] {
        &self.to_ppn
    }

    /// The physical page, or `Ppn::NONE` where nothing is written.
    #[inline(always)]
    pub fn ppn_of(&self, lpn: Lpn) -> Ppn {
        Ppn(!self.to_ppn[lpn.index()])
    }

    /// Whether every logical page holds data.
    pub fn is_full(&self) -> bool {
        !self.to_ppn.contains(&0)
    }

    /// The logical page last written here.
    #[inline(always)]
    pub fn lpn_of(&self, ppn: Ppn) -> Lpn {
        Lpn(self.to_lpn[ppn.index()])
    }

    /// Binds both ways; returns the page that held the data before.
    #[inline(always)]
    pub fn bind(&mut self, lpn: Lpn, ppn: Ppn) -> Ppn {
        let entry = &mut self.to_ppn[lpn.index()];
        let old = Ppn(!*entry);
        *entry = !ppn.0;
        self.to_lpn[ppn.index()] = lpn.0;
        old
    }

    /// Binds the data of these pages to adjacent pages, the first of which is `first`.
    #[inline(always)]
    pub fn bind_copies<'a>(&mut self, from: impl Iterator<Item = &'a Ppn>, first: Ppn) {
        for (&from, to) in from.zip(first.0..) {
            let lpn = self.to_lpn[from.index()];
            self.to_ppn[lpn as usize] = !to;
            self.to_lpn[to as usize] = lpn;
        }
    }

    /// Forgets a logical page; returns the page that held its data.
    pub fn unbind(&mut self, lpn: Lpn) -> Ppn {
        Ppn(!std::mem::take(&mut self.to_ppn[lpn.index()]))
    }

    /// Brings the entry of a logical page into the cache.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.to_ppn, lpn.index());
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.to_ppn) + bytes_of(&self.to_lpn)
    }
}
