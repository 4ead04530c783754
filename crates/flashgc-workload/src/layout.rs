//! Where a trace's addresses lie on the drive: several devices one behind the other, and addresses
//! that are too large are refused, wrapped or compacted.
//!
//! A first pass over the trace notes how far each device reaches and, for compaction, which pages
//! are touched at all.

use flashgc_trace::{Op, Record};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;

/// The handling of addresses beyond the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressPolicy {
    /// They are an error.
    Reject,
    /// They are taken modulo the drive's size.
    Wrap,
    /// The pages that the trace touches are numbered without gaps, in order of address.
    Compact,
}

/// Pages of one chunk of the set of touched pages.
const CHUNK_PAGES: u64 = 4096;
const WORDS: usize = (CHUNK_PAGES / 64) as usize;

/// A device, and the chunk of its pages.
type Key = (u64, u64);
type Bits = Box<[u64; WORDS]>;

/// The results of the first pass.
pub struct LayoutScan {
    page_bytes: u64,
    compact: bool,
    /// End of the highest request of each device, in bytes.
    ends: BTreeMap<u64, u64>,
    /// The device of the last request, and its end.
    device: u64,
    device_ends: u64,
    touched: Touched,
    /// Requests that will be replayed.
    pub requests: u64,
    /// Reads among them.
    pub reads: u64,
    /// Writes among them.
    pub writes: u64,
}

impl LayoutScan {
    /// A layout without requests.
    pub fn new(policy: AddressPolicy, page_bytes: u64) -> Self {
        LayoutScan {
            page_bytes,
            compact: policy == AddressPolicy::Compact,
            ends: BTreeMap::new(),
            device: 0,
            device_ends: 0,
            touched: Touched::default(),
            requests: 0,
            reads: 0,
            writes: 0,
        }
    }

    /// Notes a record.
    pub fn observe(&mut self, record: &Record) {
        if record.is_flush() {
            self.requests += 1;
            return;
        }
        if record.op == Op::Other || record.size_bytes == 0 {
            return;
        }
        self.requests += 1;
        self.reads += u64::from(record.op == Op::Read);
        self.writes += u64::from(record.op == Op::Write);
        let end = record.end_bytes();
        if record.device != self.device || end > self.device_ends {
            self.device_reaches(record.device, end);
        }
        if self.compact && record.op != Op::Trim {
            let first = record.offset_bytes / self.page_bytes;
            let last = (record.end_bytes() - 1) / self.page_bytes;
            self.touched.add(record.device, first, last + 1);
        }
    }

    #[inline(never)]
    fn device_reaches(&mut self, device: u64, to: u64) {
        let end = self.ends.entry(device).or_insert(0);
        *end = to.max(*end);
        (self.device, self.device_ends) = (device, *end);
    }

    /// Pages that are read or written; counted for compaction only.
    pub fn touched_pages(&self) -> u64 {
        self.touched.chunks.iter().map(|(_, bits)| count(&bits[..])).sum()
    }

    /// The layout on a drive with this number of user pages, or why there is none.
    pub fn finish(self, policy: AddressPolicy, exported_pages: u32) -> Result<Layout, String> {
        let mut bases = BTreeMap::new();
        let mut pages = 0u64;
        for (device, end) in &self.ends {
            bases.insert(*device, pages);
            pages += end.div_ceil(self.page_bytes);
        }
        let mut touched = self.touched.chunks;
        touched.sort_unstable_by_key(|&(key, _)| key);
        let (mut chunks, mut chunk_of) = (Vec::new(), FxHashMap::default());
        let mut rank = 0u64;
        for (key, bits) in touched {
            chunk_of.insert(key, chunks.len() as u32);
            let chunk = Chunk::new(rank, bits);
            rank = chunk.ranks_to();
            chunks.push(chunk);
        }
        if policy == AddressPolicy::Compact && rank > u64::from(exported_pages) {
            return Err(format!(
                "the trace touches {rank} pages, but the drive has {exported_pages} for it: use a \
                 larger drive, or address = \"wrap\""
            ));
        }
        let exported_pages = u64::from(exported_pages);
        let page_bytes = self.page_bytes;
        Ok(Layout { page_bytes, exported_pages, policy, pages, bases, chunks, chunk_of })
    }
}

/// The pages that a trace touches.
#[derive(Default)]
struct Touched {
    /// In order of appearance.
    chunks: Vec<(Key, Bits)>,
    chunk_of: FxHashMap<Key, u32>,
}

impl Touched {
    /// The pages `first..end` of a device are touched.
    fn add(&mut self, device: u64, first: u64, end: u64) {
        let mut at = first;
        while at < end {
            let key = (device, at / CHUNK_PAGES);
            let stop = end.min((key.1 + 1) * CHUNK_PAGES);
            let next = self.chunks.len() as u32;
            let chunk = *self.chunk_of.entry(key).or_insert(next);
            if chunk == next {
                self.chunks.push((key, Box::new([0; WORDS])));
            }
            let bits = &mut self.chunks[chunk as usize].1;
            while at < stop {
                let word_ends = stop.min((at / 64 + 1) * 64);
                let mask = (u64::MAX >> (64 - (word_ends - at))) << (at % 64);
                bits[(at % CHUNK_PAGES / 64) as usize] |= mask;
                at = word_ends;
            }
        }
    }
}

fn count(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// A chunk of the touched pages.
struct Chunk {
    bits: Bits,
    /// The rank of the first page of each word.
    ranks: Box<[u64; WORDS]>,
}

impl Chunk {
    /// Its first touched page has this rank.
    fn new(mut rank: u64, bits: Bits) -> Self {
        let mut ranks = Box::new([0; WORDS]);
        for (first, word) in ranks.iter_mut().zip(&bits[..]) {
            *first = rank;
            rank += u64::from(word.count_ones());
        }
        Chunk { bits, ranks }
    }

    /// The rank of a page, by its number in the chunk.
    fn rank(&self, page: u64) -> Option<u64> {
        let (word, bit) = ((page / 64) as usize, page % 64);
        let bits = self.bits[word];
        let inside = u64::from((bits & ((1 << bit) - 1)).count_ones());
        (bits >> bit & 1 == 1).then_some(self.ranks[word] + inside)
    }

    /// The rank after the rank of its last page.
    fn ranks_to(&self) -> u64 {
        self.ranks[WORDS - 1] + u64::from(self.bits[WORDS - 1].count_ones())
    }
}

/// Places a trace's addresses on a drive.
pub struct Layout {
    page_bytes: u64,
    exported_pages: u64,
    policy: AddressPolicy,
    /// Pages from the first of the first device to the last of the last one.
    pages: u64,
    bases: BTreeMap<u64, u64>,
    /// In order of device and address.
    chunks: Vec<Chunk>,
    chunk_of: FxHashMap<Key, u32>,
}

/// A run of bytes on the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The first byte.
    pub offset_bytes: u64,
    /// Its length.
    pub size_bytes: u64,
}

impl Layout {
    /// Whether addresses lie beyond the drive and are wrapped.
    pub fn wraps(&self) -> bool {
        self.policy == AddressPolicy::Wrap && self.pages > self.exported_pages
    }

    /// The user capacity of the drive, in bytes.
    pub fn drive_bytes(&self) -> u64 {
        self.exported_pages * self.page_bytes
    }

    /// Pages that the trace's devices span together.
    pub fn span_pages(&self) -> u64 {
        self.pages
    }

    /// Pages of the drive from its start to the last that the trace reaches.
    pub fn span_on_drive(&self) -> u64 {
        let last = self.chunks.last().map(Chunk::ranks_to);
        let span = if self.policy == AddressPolicy::Compact { last } else { Some(self.pages) };
        span.unwrap_or(0).min(self.exported_pages)
    }

    /// The place of a request: two runs if it crosses the end of the drive, and none if it changes
    /// nothing.
    #[inline]
    pub fn place(&self, record: &Record) -> Result<[Option<Placed>; 2], String> {
        let (offset, size) = (record.offset_bytes, record.size_bytes);
        let first_page = offset / self.page_bytes;
        let page = match self.policy {
            AddressPolicy::Compact => match self.rank(record.device, first_page) {
                Some(rank) => rank,
                // A trim of a page that is never read or written changes nothing.
                None => return Ok([None; 2]),
            },
            _ if self.bases.len() == 1 => first_page,
            _ => self.bases.get(&record.device).copied().unwrap_or(0) + first_page,
        };
        let drive_bytes = self.drive_bytes();
        let mut at = page * self.page_bytes + (offset - first_page * self.page_bytes);
        if self.policy == AddressPolicy::Reject && at + size > drive_bytes {
            return Err(format!(
                "the request ends at byte {}, but the drive has {drive_bytes} bytes for \
                 it",
                at + size
            ));
        }
        if at >= drive_bytes {
            at %= drive_bytes;
        }
        let size_bytes = size.min(drive_bytes);
        let before_end = size_bytes.min(drive_bytes - at);
        let first = Placed { offset_bytes: at, size_bytes: before_end };
        let rest = Placed { offset_bytes: 0, size_bytes: size_bytes - before_end };
        Ok([first, rest].map(|run| Some(run).filter(|run| run.size_bytes > 0)))
    }

    fn rank(&self, device: u64, page: u64) -> Option<u64> {
        let chunk = *self.chunk_of.get(&(device, page / CHUNK_PAGES))?;
        self.chunks[chunk as usize].rank(page % CHUNK_PAGES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashgc_trace::Marks;

    fn record(device: u64, offset_bytes: u64, size_bytes: u64) -> Record {
        Record {
            at_ns: 0,
            device,
            op: Op::Write,
            marks: Marks::NONE,
            offset_bytes,
            size_bytes,
            line: 1,
        }
    }

    fn layout(policy: AddressPolicy, pages: u32, records: &[Record]) -> Result<Layout, String> {
        let mut scan = LayoutScan::new(policy, 4096);
        records.iter().for_each(|r| scan.observe(r));
        scan.finish(policy, pages)
    }

    fn places(layout: &Layout, record: &Record) -> Result<Vec<(u64, u64)>, String> {
        let runs = layout.place(record)?;
        Ok(runs.into_iter().flatten().map(|p| (p.offset_bytes, p.size_bytes)).collect())
    }

    #[test]
    fn devices_lie_one_behind_the_other_in_order_of_id() {
        let records = [record(7, 0, 4096), record(2, 8192, 100)];
        let layout = layout(AddressPolicy::Reject, 10, &records).unwrap();
        assert_eq!(places(&layout, &records[0]).unwrap(), [(3 * 4096, 4096)]);
        assert_eq!(places(&layout, &records[1]).unwrap(), [(8192, 100)]);
    }

    #[test]
    fn a_request_across_the_wrap_is_split() {
        let wide = record(0, 3 * 4096, 2 * 4096);
        let layout = layout(AddressPolicy::Wrap, 4, &[wide]).unwrap();
        assert!(layout.wraps());
        assert_eq!(places(&layout, &wide).unwrap(), [(3 * 4096, 4096), (0, 4096)]);
    }

    #[test]
    fn beyond_the_drive_is_rejected() {
        let beyond = record(0, 4 * 4096, 512);
        let layout = layout(AddressPolicy::Reject, 4, &[beyond]).unwrap();
        assert!(places(&layout, &beyond).unwrap_err().contains("the drive has 16384 bytes"));
    }

    #[test]
    fn compaction_closes_gaps_and_keeps_requests_whole() {
        let records = [record(0, 1 << 40, 8192), record(0, 512, 512), record(1, 4096, 4096)];
        let layout = layout(AddressPolicy::Compact, 4, &records).unwrap();
        assert_eq!(places(&layout, &records[0]).unwrap(), [(4096, 8192)]);
        assert_eq!(places(&layout, &records[1]).unwrap(), [(512, 512)]);
        assert_eq!(places(&layout, &records[2]).unwrap(), [(3 * 4096, 4096)]);
        assert!(self::layout(AddressPolicy::Compact, 3, &records).is_err());
    }
}
