//! Where a trace's addresses lie on the drive: several devices one behind the other, and addresses
//! that are too large are refused, wrapped or compacted.
//!
//! A first pass over the trace notes how far each device reaches and, for compaction, which pages
//! are touched at all.

use flashgc_trace::{Op, Record};
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

/// The results of the first pass.
pub struct LayoutScan {
    page_bytes: u64,
    compact: bool,
    /// End of the highest request of each device, in bytes.
    ends: BTreeMap<u64, u64>,
    touched: BTreeMap<(u64, u64), Box<[u64; 64]>>,
    /// Requests that will be replayed.
    pub requests: u64,
    /// Those that write.
    pub writes: u64,
}

impl LayoutScan {
    /// Nothing seen.
    pub fn new(policy: AddressPolicy, page_bytes: u64) -> Self {
        LayoutScan {
            page_bytes,
            compact: policy == AddressPolicy::Compact,
            ends: BTreeMap::new(),
            touched: BTreeMap::new(),
            requests: 0,
            writes: 0,
        }
    }

    /// Notes a record.
    pub fn see(&mut self, record: &Record) {
        if record.op == Op::Other || record.size_bytes == 0 {
            return;
        }
        self.requests += 1;
        self.writes += u64::from(record.op == Op::Write);
        let end = self.ends.entry(record.device).or_insert(0);
        *end = (*end).max(record.end_bytes());
        if self.compact && record.op != Op::Trim {
            let first = record.offset_bytes / self.page_bytes;
            let last = (record.end_bytes() - 1) / self.page_bytes;
            for page in first..=last {
                let chunk = self
                    .touched
                    .entry((record.device, page / CHUNK_PAGES))
                    .or_insert_with(|| Box::new([0; 64]));
                chunk[(page % CHUNK_PAGES / 64) as usize] |= 1 << (page % 64);
            }
        }
    }

    /// Pages that are read or written; counted for compaction only.
    pub fn touched_pages(&self) -> u64 {
        let words = self.touched.values().flat_map(|bits| bits.iter());
        words.map(|word| u64::from(word.count_ones())).sum()
    }

    /// The layout on a drive with this number of user pages, or why there is none.
    pub fn finish(self, policy: AddressPolicy, exported_pages: u32) -> Result<Layout, String> {
        let mut bases = BTreeMap::new();
        let mut pages = 0u64;
        for (device, end) in &self.ends {
            bases.insert(*device, pages);
            pages += end.div_ceil(self.page_bytes);
        }
        let mut chunks = Vec::new();
        let mut rank = 0u64;
        for (key, bits) in self.touched {
            let count: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
            chunks.push(Chunk { key, first_rank: rank, bits });
            rank += count;
        }
        if policy == AddressPolicy::Compact && rank > u64::from(exported_pages) {
            return Err(format!(
                "the trace touches {rank} pages, but the drive has {exported_pages} for it: use a \
                 larger drive, or address = \"wrap\""
            ));
        }
        let exported_pages = u64::from(exported_pages);
        Ok(Layout { page_bytes: self.page_bytes, exported_pages, policy, pages, bases, chunks })
    }
}

struct Chunk {
    key: (u64, u64),
    first_rank: u64,
    bits: Box<[u64; 64]>,
}

/// Places a trace's addresses on a drive.
pub struct Layout {
    page_bytes: u64,
    exported_pages: u64,
    policy: AddressPolicy,
    /// Pages from the first of the first device to the last of the last one.
    pages: u64,
    bases: BTreeMap<u64, u64>,
    chunks: Vec<Chunk>,
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

    /// The size of the drive as the host sees it, in bytes.
    pub fn drive_bytes(&self) -> u64 {
        self.exported_pages * self.page_bytes
    }

    /// Pages that the trace's devices span together.
    pub fn span_pages(&self) -> u64 {
        self.pages
    }

    /// Pages of the drive from its start to the last that the trace reaches.
    pub fn span_on_drive(&self) -> u64 {
        let last = self.chunks.last().map(|chunk| {
            let inside = chunk.bits.iter().map(|word| u64::from(word.count_ones()));
            chunk.first_rank + inside.sum::<u64>()
        });
        let span = if self.policy == AddressPolicy::Compact { last } else { Some(self.pages) };
        span.unwrap_or(0).min(self.exported_pages)
    }

    /// Where a request lies: in two runs where it crosses the end of the drive.
    pub fn place(&self, record: &Record, into: &mut Vec<Placed>) -> Result<(), String> {
        let (offset, size) = (record.offset_bytes, record.size_bytes);
        let first_page = offset / self.page_bytes;
        let page = match self.policy {
            AddressPolicy::Compact => match self.rank(record.device, first_page) {
                Some(rank) => rank,
                // A trim of a page that is never read or written changes nothing.
                None => return Ok(()),
            },
            _ => self.bases.get(&record.device).copied().unwrap_or(0) + first_page,
        };
        let drive_bytes = self.drive_bytes();
        let mut at = page * self.page_bytes + offset % self.page_bytes;
        if self.policy == AddressPolicy::Reject && at + size > drive_bytes {
            return Err(format!(
                "the request ends at byte {}, but the drive has {drive_bytes} bytes for \
                 it",
                at + size
            ));
        }
        at %= drive_bytes;
        let mut left = size.min(drive_bytes);
        while left > 0 {
            let run = left.min(drive_bytes - at);
            into.push(Placed { offset_bytes: at, size_bytes: run });
            left -= run;
            at = 0;
        }
        Ok(())
    }

    fn rank(&self, device: u64, page: u64) -> Option<u64> {
        let key = (device, page / CHUNK_PAGES);
        let at = self.chunks.binary_search_by_key(&key, |chunk| chunk.key).ok()?;
        let chunk = &self.chunks[at];
        let (word, bit) = ((page % CHUNK_PAGES / 64) as usize, page % 64);
        if chunk.bits[word] >> bit & 1 == 0 {
            return None;
        }
        let before: u64 = chunk.bits[..word].iter().map(|word| u64::from(word.count_ones())).sum();
        let inside = u64::from((chunk.bits[word] & ((1 << bit) - 1)).count_ones());
        Some(chunk.first_rank + before + inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashgc_trace::Priority;

    fn record(device: u64, offset_bytes: u64, size_bytes: u64) -> Record {
        Record {
            at_ns: 0,
            device,
            op: Op::Write,
            priority: Priority::Normal,
            offset_bytes,
            size_bytes,
            line: 1,
        }
    }

    fn layout(policy: AddressPolicy, pages: u32, records: &[Record]) -> Result<Layout, String> {
        let mut scan = LayoutScan::new(policy, 4096);
        records.iter().for_each(|r| scan.see(r));
        scan.finish(policy, pages)
    }

    fn places(layout: &Layout, record: &Record) -> Result<Vec<(u64, u64)>, String> {
        let mut into = Vec::new();
        layout.place(record, &mut into)?;
        Ok(into.iter().map(|p| (p.offset_bytes, p.size_bytes)).collect())
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
