//! The pages of the write buffer: which are there, in the order of their last use, and how far the
//! flush of each is.
//!
//! A page comes in, is rewritten, and is flushed: its data is *taken* when the program begins. If
//! it was rewritten since then it stays after the flush. The page used least recently is flushed
//! first.

use crate::ftl::Writer;
use crate::ids::Lpn;
use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Page {
    lpn: Lpn,
    newer: u32,
    older: u32,
    /// The operation that flushes it, if one does.
    flush: u32,
    /// The flush has taken the data.
    is_taken: bool,
    /// Data came in since then.
    is_rewritten: bool,
    /// Data is on its way in.
    is_coming: bool,
    /// Some data has come in.
    has_data: bool,
    /// Who wrote that data.
    writer: Writer,
    /// The class of that data, where it is known.
    class: Option<u8>,
}

/// A page whose data is in the buffer only.
#[derive(Clone)]
pub(super) struct Unsafe {
    pub(super) lpn: Lpn,
    /// The programs that must end until this data is in flash.
    pub(super) programs: u8,
    /// Whether nothing flushes it yet.
    pub(super) is_free: bool,
}

/// The pages in the buffer.
#[derive(Clone)]
pub(super) struct Buffered {
    capacity: u32,
    place_of: FxHashMap<u32, u32>,
    pages: Vec<Page>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
    /// The oldest page that is not being flushed.
    waiting: u32,
    flushing: u32,
    /// Pages that can be flushed now.
    ready: u32,
}

impl Page {
    /// It is not being flushed, and no data is on its way in.
    fn is_ready(&self) -> bool {
        self.flush == NONE && !self.is_coming
    }

    fn is_unsafe(&self) -> Option<Unsafe> {
        let programs = 1 + u8::from(self.is_taken && self.is_rewritten);
        let is_free = self.is_ready();
        self.has_data.then_some(Unsafe { lpn: self.lpn, programs, is_free })
    }
}

impl Buffered {
    /// An empty buffer with `capacity` pages.
    pub fn new(capacity: u32) -> Self {
        Buffered {
            capacity,
            place_of: FxHashMap::default(),
            pages: Vec::new(),
            free: Vec::new(),
            newest: NONE,
            oldest: NONE,
            waiting: NONE,
            flushing: 0,
            ready: 0,
        }
    }

    /// Pages that have a place.
    pub fn count(&self) -> u32 {
        (self.pages.len() - self.free.len()) as u32
    }

    /// Whether another page finds a place.
    pub fn has_room(&self) -> bool {
        self.count() < self.capacity
    }

    /// Pages whose flush has begun or waits to begin.
    pub fn flushing(&self) -> u32 {
        self.flushing
    }

    /// Pages of which [`next_to_flush`](Self::next_to_flush) has at most as many.
    pub fn ready(&self) -> u32 {
        self.ready
    }

    /// Changes a page, and keeps the number of those that can be flushed.
    fn change(&mut self, at: u32, change: impl FnOnce(&mut Page)) {
        let page = &mut self.pages[at as usize];
        let before = page.is_ready();
        change(page);
        self.ready = self.ready + u32::from(page.is_ready()) - u32::from(before);
    }

    /// Whether the page has a place.
    #[inline]
    pub fn holds(&self, lpn: Lpn) -> bool {
        self.place_of.contains_key(&lpn.0)
    }

    /// The pages with data, most recently used first.
    pub fn with_data(&self) -> impl Iterator<Item = Lpn> + '_ {
        let place = |at: u32| (at != NONE).then_some(at);
        let places = std::iter::successors(place(self.newest), move |&at| {
            place(self.pages[at as usize].older)
        });
        places.map(|at| &self.pages[at as usize]).filter(|page| page.has_data).map(|page| page.lpn)
    }

    /// Adds the page; its data is on its way in.
    pub fn insert(&mut self, lpn: Lpn) {
        debug_assert!(self.has_room() && !self.holds(lpn));
        let page = Page {
            lpn,
            newer: NONE,
            older: NONE,
            flush: NONE,
            is_taken: false,
            is_rewritten: false,
            is_coming: true,
            has_data: false,
            writer: Writer::default(),
            class: None,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.pages[at as usize] = page;
                at
            }
            None => {
                self.pages.push(page);
                (self.pages.len() - 1) as u32
            }
        };
        self.place_of.insert(lpn.0, at);
        self.put_first(at);
    }

    /// The page is used: it is the last to be flushed now.
    pub fn touch(&mut self, lpn: Lpn) {
        let at = self.place(lpn);
        self.take_out(at);
        self.put_first(at);
    }

    /// New data of a page that has a place is on its way in.
    pub fn rewrite(&mut self, lpn: Lpn) {
        self.touch(lpn);
        let at = self.place(lpn);
        self.change(at, |page| page.is_coming = true);
    }

    /// Data of this writer has come in.
    pub fn came(&mut self, lpn: Lpn, writer: Writer) {
        let at = self.place(lpn);
        self.change(at, |page| {
            page.is_coming = false;
            page.has_data = true;
            (page.writer, page.class) = (writer, None);
            page.is_rewritten = page.is_taken;
        });
    }

    /// The pages to flush next: those that are not being flushed, the one used least recently
    /// first.
    pub fn next_to_flush(&self) -> impl Iterator<Item = Lpn> + '_ {
        let place = |at: u32| (at != NONE).then_some(at);
        let places = std::iter::successors(place(self.waiting), move |&at| {
            place(self.pages[at as usize].newer)
        });
        let pages = places.map(|at| &self.pages[at as usize]);
        pages.filter(|page| page.is_ready()).map(|page| page.lpn)
    }

    /// This operation will flush the page.
    pub fn flush_waits(&mut self, lpn: Lpn, flush: u32) {
        let at = self.place(lpn);
        self.change(at, |page| page.flush = flush);
        self.flushing += 1;
        if at == self.waiting {
            self.pass_flushed(at);
        }
    }

    /// Finds the oldest page that is not being flushed, from this one on.
    fn pass_flushed(&mut self, from: u32) {
        let mut at = from;
        while at != NONE && self.pages[at as usize].flush != NONE {
            at = self.pages[at as usize].newer;
        }
        self.waiting = at;
    }

    /// The flush that waits leaves the page to a later one.
    pub fn flush_is_put_off(&mut self, lpn: Lpn) {
        let at = self.place(lpn);
        self.change(at, |page| page.flush = NONE);
        self.flushing -= 1;
        self.pass_flushed(self.oldest);
    }

    /// The flush of a page takes its data.
    #[inline]
    pub fn flush_starts(&mut self, lpn: Lpn) {
        let at = self.place(lpn) as usize;
        self.pages[at].is_taken = true;
        self.pages[at].is_rewritten = false;
    }

    /// A flush has ended. Returns whether the page has left: it stays if it was rewritten since,
    /// and may be another one that came after a trim.
    pub fn flush_ends(&mut self, lpn: Lpn, flush: u32) -> bool {
        let Some(&at) = self.place_of.get(&lpn.0) else { return false };
        if self.pages[at as usize].flush != flush {
            return false;
        }
        self.change(at, |page| {
            page.flush = NONE;
            page.is_taken = false;
        });
        self.flushing -= 1;
        let page = &self.pages[at as usize];
        let stays = page.is_rewritten || page.is_coming;
        if stays {
            self.pass_flushed(self.oldest);
        } else {
            self.remove(lpn, at);
        }
        !stays
    }

    /// Whether this operation flushes the page, which was not trimmed since.
    #[inline]
    pub fn is_flushed_by(&self, lpn: Lpn, flush: u32) -> bool {
        let at = self.place_of.get(&lpn.0);
        at.is_some_and(|&at| self.pages[at as usize].flush == flush)
    }

    /// Whether the page is here, with data, and nothing flushes it.
    pub fn is_free(&self, lpn: Lpn) -> bool {
        let page = self.place_of.get(&lpn.0).map(|&at| &self.pages[at as usize]);
        page.is_some_and(|page| page.is_ready() && page.has_data)
    }

    /// The pages with data, the one used least recently first.
    pub fn unsafe_pages(&self) -> impl Iterator<Item = Unsafe> + '_ {
        let place = |at: u32| (at != NONE).then_some(at);
        let places = std::iter::successors(place(self.oldest), move |&at| {
            place(self.pages[at as usize].newer)
        });
        places.filter_map(|at| self.pages[at as usize].is_unsafe())
    }

    /// The same of one page; `None` where flash has its data.
    pub fn unsafe_page(&self, lpn: Lpn) -> Option<Unsafe> {
        let &at = self.place_of.get(&lpn.0)?;
        self.pages[at as usize].is_unsafe()
    }

    /// Who wrote the data of a page that is here.
    pub fn writer(&self, lpn: Lpn) -> Writer {
        let page = self.place_of.get(&lpn.0).map(|&at| &self.pages[at as usize]);
        page.map_or(Writer::default(), |page| page.writer)
    }

    /// The class of the data of a page that is here, where it is known.
    pub fn class(&self, lpn: Lpn) -> Option<u8> {
        self.place_of.get(&lpn.0).and_then(|&at| self.pages[at as usize].class)
    }

    /// The class of the data of a page was asked.
    pub fn set_class(&mut self, lpn: Lpn, class: u8) {
        let at = self.place(lpn) as usize;
        self.pages[at].class = Some(class);
    }

    /// The host trims the page. Returns the flush that still waits for its beginning.
    pub fn drop_page(&mut self, lpn: Lpn) -> Option<u32> {
        let at = self.place(lpn);
        let Page { flush, is_taken, .. } = self.pages[at as usize];
        self.flushing -= u32::from(flush != NONE);
        self.remove(lpn, at);
        (flush != NONE && !is_taken).then_some(flush)
    }

    #[inline]
    fn place(&self, lpn: Lpn) -> u32 {
        *self.place_of.get(&lpn.0).expect("the page is in the buffer")
    }

    fn remove(&mut self, lpn: Lpn, at: u32) {
        self.ready -= u32::from(self.pages[at as usize].is_ready());
        self.take_out(at);
        self.place_of.remove(&lpn.0);
        self.free.push(at);
    }

    fn take_out(&mut self, at: u32) {
        let Page { newer, older, .. } = self.pages[at as usize];
        if at == self.waiting {
            self.pass_flushed(newer);
        }
        match newer {
            NONE => self.newest = older,
            _ => self.pages[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.pages[older as usize].newer = newer,
        }
    }

    fn put_first(&mut self, at: u32) {
        self.pages[at as usize].newer = NONE;
        self.pages[at as usize].older = self.newest;
        match self.newest {
            NONE => self.oldest = at,
            newest => self.pages[newest as usize].newer = at,
        }
        self.newest = at;
        if self.waiting == NONE && self.pages[at as usize].flush == NONE {
            self.waiting = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(pages: &[u32], capacity: u32) -> Buffered {
        let mut buffered = Buffered::new(capacity);
        for &lpn in pages {
            buffered.insert(Lpn(lpn));
            buffered.came(Lpn(lpn), Writer::default());
        }
        buffered
    }

    #[test]
    fn the_page_used_least_recently_is_flushed_first() {
        let mut buffered = filled(&[5, 6, 7], 3);
        assert!(!buffered.has_room());
        assert_eq!(buffered.next_to_flush().next(), Some(Lpn(5)));
        buffered.touch(Lpn(5));
        assert_eq!(buffered.next_to_flush().next(), Some(Lpn(6)));
        buffered.flush_waits(Lpn(6), 0);
        assert_eq!(buffered.next_to_flush().next(), Some(Lpn(7)));
        let held: Vec<u32> = buffered.with_data().map(|lpn| lpn.0).collect();
        assert_eq!(held, [5, 7, 6]);
        buffered.flush_starts(Lpn(6));
        assert!(buffered.flush_ends(Lpn(6), 0));
        assert!(buffered.has_room() && buffered.flushing() == 0);
        assert_eq!((buffered.ready(), buffered.next_to_flush().count()), (2, 2));
    }

    #[test]
    fn a_page_rewritten_after_its_flush_began_stays() {
        let mut buffered = filled(&[5], 1);
        buffered.flush_waits(Lpn(5), 0);
        buffered.rewrite(Lpn(5));
        buffered.came(Lpn(5), Writer::default());
        // Rewritten before the data was taken: the flush has the newest.
        buffered.flush_starts(Lpn(5));
        assert!(buffered.flush_ends(Lpn(5), 0));
        let mut buffered = filled(&[5], 1);
        buffered.flush_waits(Lpn(5), 0);
        buffered.flush_starts(Lpn(5));
        buffered.rewrite(Lpn(5));
        // Even while the new data is still on its way.
        assert!(!buffered.flush_ends(Lpn(5), 0));
        assert_eq!(buffered.next_to_flush().next(), None, "the data is on its way in");
        assert_eq!(buffered.ready(), 0);
        buffered.came(Lpn(5), Writer::default());
        assert_eq!(buffered.ready(), 1);
        assert_eq!(buffered.next_to_flush().next(), Some(Lpn(5)));
    }

    #[test]
    fn a_flush_has_the_writer_of_the_data_that_it_takes() {
        let mut buffered = Buffered::new(1);
        let writer = |hint| Writer { job: 3, hint };
        buffered.insert(Lpn(5));
        buffered.came(Lpn(5), writer(1));
        buffered.flush_waits(Lpn(5), 0);
        buffered.rewrite(Lpn(5));
        assert_eq!(buffered.writer(Lpn(5)), writer(1), "the new data is on its way in");
        buffered.came(Lpn(5), writer(2));
        assert_eq!(buffered.writer(Lpn(5)), writer(2));
        buffered.flush_starts(Lpn(5));
        assert!(buffered.flush_ends(Lpn(5), 0));
        buffered.insert(Lpn(6));
        assert_eq!(buffered.writer(Lpn(6)), Writer::default(), "no data has come in");
    }

    #[test]
    fn the_flush_of_a_dropped_page_does_not_end_that_of_its_successor() {
        let mut buffered = filled(&[5, 6], 2);
        buffered.flush_waits(Lpn(6), 9);
        assert_eq!(buffered.drop_page(Lpn(6)), Some(9));
        buffered.flush_waits(Lpn(5), 0);
        buffered.flush_starts(Lpn(5));
        assert_eq!(buffered.drop_page(Lpn(5)), None, "its program is under way");
        buffered.insert(Lpn(5));
        buffered.came(Lpn(5), Writer::default());
        assert!(!buffered.flush_ends(Lpn(5), 0));
        assert!(buffered.holds(Lpn(5)) && buffered.count() == 1);
        assert_eq!(buffered.ready(), 1);
        buffered.flush_waits(Lpn(5), 3);
        assert_eq!(buffered.ready(), 0);
        buffered.flush_is_put_off(Lpn(5));
        assert_eq!((buffered.ready(), buffered.next_to_flush().count()), (1, 1));
    }
}
