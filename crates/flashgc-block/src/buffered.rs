//! The pages in the write buffer.
//!
//! Where the buffer survives a loss of power, each page lies in the store as well, from the moment
//! when it is in the buffer until flash has it: what a drive with capacitors writes out in time.

use crate::pages::Pages;
use crate::record::{Content, Record};
use crate::store::{Store, StoreError};
use std::collections::HashMap;
use std::io;

/// A page, or none where its data could not be read.
pub type Page = Option<Box<[u8]>>;

/// A page in the buffer.
pub struct Held {
    pub page: Page,
    /// The number of the write that brought it.
    pub sequence: u64,
    /// Its place among the saved pages of the store.
    slot: Option<u32>,
}

impl Held {
    /// The reason why its data cannot be read.
    pub fn error(&self, lpn: u32, store: Option<&mut Store>) -> io::Error {
        let place =
            self.slot.zip(store).map(|(slot, store)| format!(": {}", store.slot_text(slot)));
        let place = place.unwrap_or_default();
        let text = format!("logical page {lpn} in the write buffer has no data to be read{place}");
        StoreError { errno: libc::EIO, text }.into()
    }
}

/// The pages in the write buffer, and the places of the store that are free for them.
#[derive(Default)]
pub struct Buffered {
    pages: HashMap<u32, Held>,
    free: Vec<u32>,
    slots: u32,
}

impl Buffered {
    /// A page in the buffer.
    pub fn get(&self, lpn: u32) -> Option<&Held> {
        self.pages.get(&lpn)
    }

    /// These places are taken by pages that were saved before.
    pub fn reserve(&mut self, taken: &[u32]) {
        self.slots = taken.iter().map(|slot| slot + 1).max().unwrap_or(0);
        self.free = (0..self.slots).filter(|slot| !taken.contains(slot)).collect();
    }

    /// Puts a page into the buffer, or changes it there. With a store that keeps the buffer, the
    /// new version is saved before the old one is dropped.
    pub fn put(&mut self, lpn: u32, page: Page, sequence: u64, into: Option<&mut Pages>) {
        let mut held = Held { page, sequence, slot: None };
        let old = self.pages.remove(&lpn).and_then(|old| old.slot);
        if let Some(store) = into.and_then(Pages::store) {
            let slot = self.free.pop().unwrap_or(self.slots);
            self.slots = self.slots.max(slot + 1);
            if store.save(slot, held.page.as_deref(), Self::record(lpn, &held)) {
                held.slot = Some(slot);
                if let Some(old) = old {
                    store.forget(old);
                    self.free.push(old);
                }
            }
        }
        self.pages.insert(lpn, held);
    }

    fn record(lpn: u32, held: &Held) -> Record {
        let content = if held.page.is_some() { Content::Data } else { Content::Unreadable };
        Record::empty(lpn, content, held.sequence, 0)
    }

    /// A page leaves the buffer.
    pub fn remove(&mut self, lpn: u32, pages: &mut Pages) {
        let slot = self.pages.remove(&lpn).and_then(|held| held.slot);
        if let Some(slot) = slot {
            self.forget(slot, pages);
        }
    }

    /// The page in this place of the store is no longer needed.
    pub fn forget(&mut self, slot: u32, pages: &mut Pages) {
        if let Some(store) = pages.store() {
            store.forget(slot);
            self.free.push(slot);
        }
    }

    /// Saves every page that is not saved.
    pub fn save_all(&mut self, pages: &mut Pages) {
        let mut unsaved: Vec<u32> = self.pages.keys().copied().collect();
        unsaved.retain(|lpn| self.pages[lpn].slot.is_none());
        unsaved.sort_unstable();
        for lpn in unsaved {
            let Some(held) = self.pages.remove(&lpn) else { continue };
            self.put(lpn, held.page, held.sequence, Some(pages));
        }
    }
}
