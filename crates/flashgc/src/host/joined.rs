//! Flushes of several pages: slots of the write buffer that one program takes to flash together.
//!
//! A flush is one page operation, whose own page is the first of its pages that is left. A page
//! that the host trims before the program begins leaves its flush.

use crate::ids::Lpn;

/// The pages of every flush, by the number of its operation.
#[derive(Clone, Default)]
pub(super) struct Joined {
    pages: Vec<Vec<Lpn>>,
}

impl Joined {
    /// A flush begins to wait, with these pages.
    pub(super) fn add(&mut self, flush: u32, pages: impl Iterator<Item = Lpn>) {
        if self.pages.len() <= flush as usize {
            self.pages.resize_with(flush as usize + 1, Vec::new);
        }
        let own = &mut self.pages[flush as usize];
        own.clear();
        own.extend(pages);
    }

    /// Another page joins a flush.
    pub(super) fn join(&mut self, flush: u32, page: Lpn) {
        self.pages[flush as usize].push(page);
    }

    /// The pages of a flush become these. Returns those that it had.
    pub(super) fn replace(&mut self, flush: u32, pages: Vec<Lpn>) -> Vec<Lpn> {
        std::mem::replace(&mut self.pages[flush as usize], pages)
    }

    /// The pages of a flush, in the order in which they are programmed.
    #[inline]
    pub(super) fn pages(&self, flush: u32) -> &[Lpn] {
        self.pages.get(flush as usize).map_or(&[], Vec::as_slice)
    }

    /// A flush keeps this number of pages at most. Returns the others.
    pub(super) fn cut(&mut self, flush: u32, pages: usize) -> impl Iterator<Item = Lpn> {
        let own = &mut self.pages[flush as usize];
        let from = pages.min(own.len());
        own.drain(from..)
    }

    /// A page leaves its flush. Returns the first that is left.
    pub(super) fn leave(&mut self, flush: u32, page: Lpn) -> Option<Lpn> {
        let own = &mut self.pages[flush as usize];
        own.retain(|&at| at != page);
        own.first().copied()
    }
}
