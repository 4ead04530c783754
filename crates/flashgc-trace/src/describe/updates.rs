//! How soon pages are written again, and how the writes are shared out among them.
//!
//! Every page written has a row in a table: when it was last written, and how often. The table
//! never grows beyond some 45 MiB: when it is full, half of the address space, drawn by hash in
//! parts of 64 KiB, is skipped from there on, and the rest counts twice.

use super::hotness::{self, Hotness};
use super::spread::{Spread, SpreadInfo};
use crate::FOOTPRINT_PAGE_BYTES;
use crate::record::Record;
use serde::Serialize;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Pages of a part.
const PART_PAGES: u64 = 16;
/// Parts in the table: 8 GiB, if they are written all over.
const PARTS_MAX: usize = 1 << 17;
/// A larger write is skipped: no real drive receives one, and its pages take time.
const WRITE_BYTES_MAX: u64 = 1 << 30;

/// The intervals between writes of pages of 4 KiB. Writes of more than 1 GiB are skipped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Updates {
    /// Share of the written address space, by parts of 64 KiB, that these values and the values of
    /// the hotness come from; 1 up to 8 GiB and more.
    pub sampled_share: f64,
    /// Share of the pages written that had been written before.
    pub rewritten_share: Option<f64>,
    /// From one write of a page to the next: bytes written meanwhile, this page among them.
    pub distance_bytes: SpreadInfo,
    /// Update intervals as times, in ns.
    pub interval_ns: SpreadInfo,
}

/// The pages of one part.
struct Part {
    at_bytes: [u64; PART_PAGES as usize],
    at_ns: [u64; PART_PAGES as usize],
    writes: [u32; PART_PAGES as usize],
}

const EMPTY: Part = Part { at_bytes: [0; 16], at_ns: [0; 16], writes: [0; 16] };

/// Device and number of a part.
type Key = (u32, u64);

/// Mixes well enough for keys that no one chooses to collide.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    /// The finaliser of `SplitMix64`, which is one to one.
    fn write_u64(&mut self, value: u64) {
        let mut mixed = (self.0 ^ value).wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        self.0 = mixed ^ (mixed >> 31);
    }
}

fn hash((device, part): Key) -> u64 {
    let mut mixer = Mixer::default();
    mixer.write_u32(device);
    mixer.write_u64(part);
    mixer.finish()
}

/// The table, while a trace is read.
pub(super) struct Pages {
    index: HashMap<Key, u32, BuildHasherDefault<Mixer>>,
    parts: Vec<Part>,
    parts_max: usize,
    /// Parts whose hash begins with this number of zero bits are watched.
    zero_bits: u32,
    written_bytes: u64,
    first_writes: u64,
    distance: Spread,
    interval: Spread,
}

impl Pages {
    pub(super) fn new() -> Self {
        Pages::with_room(PARTS_MAX)
    }

    fn with_room(parts_max: usize) -> Self {
        Pages {
            index: HashMap::default(),
            parts: Vec::new(),
            parts_max,
            zero_bits: 0,
            written_bytes: 0,
            first_writes: 0,
            distance: Spread::default(),
            interval: Spread::default(),
        }
    }

    /// Takes a write of the device with this number at `at_ns`, which never falls.
    #[inline]
    pub(super) fn add(&mut self, device: u32, at_ns: u64, record: &Record) {
        if record.size_bytes > WRITE_BYTES_MAX {
            return;
        }
        let from = record.offset_bytes / FOOTPRINT_PAGE_BYTES;
        let end = record.end_bytes().div_ceil(FOOTPRINT_PAGE_BYTES);
        let mut page = from;
        while page < end {
            let stop = end.min((page / PART_PAGES + 1) * PART_PAGES);
            let before = (page - from) * FOOTPRINT_PAGE_BYTES;
            let at_bytes = self.written_bytes.saturating_add(before);
            self.add_in_part((device, page / PART_PAGES), page..stop, at_bytes, at_ns);
            page = stop;
        }
        self.written_bytes = self.written_bytes.saturating_add(record.size_bytes);
    }

    fn is_watched(&self, key: Key) -> bool {
        self.zero_bits == 0 || hash(key).leading_zeros() >= self.zero_bits
    }

    /// Writes the pages of one part; the first of them at `at_bytes`.
    fn add_in_part(&mut self, key: Key, pages: std::ops::Range<u64>, at_bytes: u64, at_ns: u64) {
        if !self.is_watched(key) {
            return;
        }
        let known = self.index.get(&key).copied();
        let Some(index) = known.or_else(|| self.new_part(key)) else { return };
        let weight = 1 << self.zero_bits;
        let part = &mut self.parts[index as usize];
        for (at, page) in (at_bytes..).step_by(FOOTPRINT_PAGE_BYTES as usize).zip(pages) {
            let slot = (page % PART_PAGES) as usize;
            if part.writes[slot] == 0 {
                self.first_writes += weight;
            } else {
                self.distance.add_weighted(at.saturating_sub(part.at_bytes[slot]), weight);
                self.interval.add_weighted(at_ns - part.at_ns[slot], weight);
            }
            part.at_bytes[slot] = at;
            part.at_ns[slot] = at_ns;
            part.writes[slot] = part.writes[slot].saturating_add(1);
        }
    }

    /// Room for a part; `None` if it falls out of the sample when room is made.
    #[cold]
    fn new_part(&mut self, key: Key) -> Option<u32> {
        while self.parts.len() == self.parts_max && self.zero_bits < 63 {
            self.halve();
        }
        if !self.is_watched(key) {
            return None;
        }
        let index = self.parts.len() as u32;
        self.parts.push(EMPTY);
        self.index.insert(key, index);
        Some(index)
    }

    /// Forgets half of the parts, by their hash.
    fn halve(&mut self) {
        self.zero_bits += 1;
        let zero_bits = self.zero_bits;
        self.index.retain(|&key, _| hash(key).leading_zeros() >= zero_bits);
        let mut kept: Vec<&mut u32> = self.index.values_mut().collect();
        kept.sort_unstable();
        for (to, from) in kept.into_iter().enumerate() {
            self.parts.swap(to, *from as usize);
            *from = to as u32;
        }
        self.parts.truncate(self.index.len());
    }

    pub(super) fn info(&self) -> (Updates, Hotness) {
        let again = self.distance.count();
        let written = again + self.first_writes;
        let updates = Updates {
            sampled_share: 1.0 / (1_u64 << self.zero_bits) as f64,
            rewritten_share: super::totals::ratio(again, written),
            distance_bytes: self.distance.info(),
            interval_ns: self.interval.info(),
        };
        let writes = self.parts.iter().flat_map(|part| part.writes).filter(|&writes| writes > 0);
        (updates, hotness::hotness(writes.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Op;

    fn write(pages: &mut Pages, at_ns: u64, page: u64, count: u64) {
        let (offset_bytes, size_bytes) = (page * 4096, count * 4096);
        let op = Op::Write;
        pages.add(
            0,
            at_ns,
            &Record {
                at_ns,
                device: 0,
                op,
                marks: crate::Marks::NONE,
                offset_bytes,
                size_bytes,
                line: 1,
            },
        );
    }

    #[test]
    fn distances_count_what_was_written_meanwhile() {
        let mut pages = Pages::new();
        write(&mut pages, 0, 14, 4);
        write(&mut pages, 10, 100, 1);
        write(&mut pages, 30, 15, 2);
        let (updates, hotness) = pages.info();
        // Pages 15 and 16 were the second and third of the first write: 4 + 1 pages ago.
        assert_eq!(updates.distance_bytes.count, 2);
        assert_eq!(updates.distance_bytes.mean, Some(4.0 * 4096.0));
        assert_eq!(updates.interval_ns.mean, Some(30.0));
        assert_eq!(updates.rewritten_share, Some(2.0 / 7.0));
        assert_eq!((hotness.pages, hotness.writes_per_page.max), (5, Some(2)));
    }

    /// Pages in bursts, some of them much hotter than others.
    fn hot_and_cold(pages: &mut Pages) {
        let mut state = 1_u64;
        for at in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let drawn = state >> 33;
            let page = if drawn % 10 < 8 { drawn % 20_000 } else { 20_000 + drawn % 80_000 };
            write(pages, at, page, 1);
        }
    }

    #[test]
    fn a_sample_tells_what_the_whole_tells() {
        let (mut all, mut some) = (Pages::new(), Pages::with_room(1000));
        hot_and_cold(&mut all);
        hot_and_cold(&mut some);
        assert!(some.parts.len() <= 1000);
        let ((all, all_hot), (some, some_hot)) = (all.info(), some.info());
        assert_eq!(all.sampled_share, 1.0);
        assert!(some.sampled_share < 0.2, "{}", some.sampled_share);
        let near = |a: Option<f64>, b: Option<f64>| (a.unwrap() / b.unwrap() - 1.0).abs() < 0.06;
        assert!(near(some.rewritten_share, all.rewritten_share));
        assert!(near(some.distance_bytes.mean, all.distance_bytes.mean));
        assert!(near(some_hot.top_20_percent, all_hot.top_20_percent));
    }
}
