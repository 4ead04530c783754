//! The versions of each page that may be on a drive after a loss of power.

use crate::common::Choices;
use flashgc::workload::{HostOp, HostRequest};
use std::collections::BTreeMap;

/// A page: its versions in the order in which they were written, from the last that is sure to be
/// there on.
#[derive(Clone)]
struct Page {
    versions: Vec<Box<[u8]>>,
    /// The number of the first of them.
    first: u64,
    /// The last one that was acknowledged to a client.
    acknowledged: u64,
    /// Versions before the first, to distinguish a stale page from a wrong one.
    stale: Vec<Box<[u8]>>,
}

/// A request that was sent.
pub struct Sent {
    op: HostOp,
    is_forced: bool,
    /// The version of each page that it wrote, or that a flush makes durable.
    versions: Vec<(u32, u64)>,
}

#[derive(Clone)]
pub struct Versions {
    pages: Vec<Page>,
    page_bytes: usize,
    /// Whether completed writes may vanish until they are flushed.
    is_volatile: bool,
    stamp: u64,
    /// Pages with completed versions that are not durable yet.
    unsure: BTreeMap<u32, u64>,
    data: Vec<u8>,
}

impl Versions {
    pub fn new(pages: u32, page_bytes: usize, is_volatile: bool) -> Self {
        let page = Page {
            versions: vec![vec![0; page_bytes].into()],
            first: 0,
            acknowledged: 0,
            stale: Vec::new(),
        };
        let pages = vec![page; pages as usize];
        let (unsure, data) = (BTreeMap::new(), Vec::new());
        Versions { pages, page_bytes, is_volatile, stamp: 0, unsure, data }
    }

    pub fn pages(&self) -> u32 {
        self.pages.len() as u32
    }

    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// A random request, and its data.
    pub fn request(&mut self, choices: &mut Choices) -> (HostRequest, Vec<u8>) {
        let (page, pages) = (self.page_bytes as u64, u64::from(self.pages()));
        let kind = choices.below(20);
        self.data.clear();
        if kind == 0 {
            return (HostRequest::flush(0), Vec::new());
        }
        let some = if choices.below(3) == 0 { pages } else { pages / 8 };
        let first = choices.below(some);
        let count = (1 + choices.below(5)).min(pages - first);
        let (mut offset, mut bytes) = (first * page, count * page);
        let op = if kind < 4 { HostOp::Trim } else { HostOp::Write };
        if op == HostOp::Write && choices.below(4) == 0 {
            offset += choices.below(page);
            bytes = (1 + choices.below(bytes)).min(pages * page - offset);
        }
        let fua = choices.below(6) == 0;
        let request = HostRequest::from_bytes(0, op, offset, bytes, page);
        let data = if op == HostOp::Write { self.writes(&request) } else { Vec::new() };
        (HostRequest { fua, ..request }, data)
    }

    /// A write of new data.
    pub fn writes(&mut self, request: &HostRequest) -> Vec<u8> {
        self.stamp += 1;
        let stamp = self.stamp.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        self.data.clear();
        self.data.extend((0..request.bytes).map(|at| stamp[at as usize % 8] ^ (at / 8) as u8));
        self.data.clone()
    }

    /// The last request was sent.
    pub fn comes(&mut self, request: &HostRequest) -> Sent {
        let HostRequest { op, fua, offset_bytes, bytes, .. } = *request;
        if op == HostOp::Flush {
            let versions = self.unsure.iter().map(|(&lpn, &version)| (lpn, version)).collect();
            return Sent { op, is_forced: true, versions };
        }
        let page = self.page_bytes as u64;
        let mut versions = Vec::new();
        for lpn in offset_bytes / page..(offset_bytes + bytes).div_ceil(page) {
            let it = &mut self.pages[lpn as usize];
            let mut data = it.versions.last().expect("a version").clone();
            let (from, to) =
                (offset_bytes.max(lpn * page), (offset_bytes + bytes).min((lpn + 1) * page));
            let part = &mut data[(from - lpn * page) as usize..(to - lpn * page) as usize];
            match op {
                HostOp::Trim => part.fill(0),
                _ => part.copy_from_slice(
                    &self.data[(from - offset_bytes) as usize..(to - offset_bytes) as usize],
                ),
            }
            it.versions.push(data);
            versions.push((lpn as u32, it.first + it.versions.len() as u64 - 1));
        }
        Sent { op, is_forced: fua, versions }
    }

    /// A request is done.
    pub fn done(&mut self, sent: Sent) {
        let lasts = sent.is_forced || sent.op == HostOp::Write && !self.is_volatile;
        for (lpn, version) in sent.versions {
            if lasts {
                self.is_sure(lpn, version);
            } else if version > self.pages[lpn as usize].first {
                let unsure = self.unsure.entry(lpn).or_default();
                *unsure = version.max(*unsure);
            }
        }
    }

    /// This version or a later one stays.
    fn is_sure(&mut self, lpn: u32, version: u64) {
        let page = &mut self.pages[lpn as usize];
        let older = version.saturating_sub(page.first) as usize;
        page.stale.extend(page.versions.drain(..older));
        let kept = page.stale.len().min(20);
        page.stale.drain(..page.stale.len() - kept);
        page.first = page.first.max(version);
        page.acknowledged = page.acknowledged.max(version);
        if self.unsure.get(&lpn).is_some_and(|&unsure| unsure <= version) {
            self.unsure.remove(&lpn);
        }
    }

    /// The drive was stopped, with all that was sent.
    pub fn is_stopped(&mut self) {
        for lpn in 0..self.pages() {
            let page = &self.pages[lpn as usize];
            self.is_sure(lpn, page.first + page.versions.len() as u64 - 1);
        }
    }

    /// An error where a page must not have this content.
    pub fn may_be(&self, lpn: u32, found: &[u8]) -> Result<(), String> {
        let is_it = self.pages[lpn as usize].versions.iter().any(|version| **version == *found);
        if is_it { Ok(()) } else { Err(format!("page {lpn} has no version of it")) }
    }

    /// A page has this content after a start, and so it stays. Returns whether newer versions have
    /// vanished.
    pub fn is_found(&mut self, lpn: u32, found: &[u8]) -> Result<bool, String> {
        let page = &mut self.pages[lpn as usize];
        let at = page.versions.iter().rposition(|version| **version == *found);
        let Some(at) = at else {
            let is_stale = page.stale.iter().any(|stale| **stale == *found);
            let what = if is_stale { "an older version" } else { "no version of it" };
            let same = page.versions.iter().map(|version| {
                let is_same = |&at: &usize| version[at] == found[at];
                let parts: Vec<usize> = (0..found.len()).filter(is_same).collect();
                (parts.len(), parts.first().copied(), parts.last().copied())
            });
            let same: Vec<_> = same.collect();
            return Err(format!(
                "page {lpn} has {what}: of {} versions from {} on it shares {same:?}",
                page.versions.len(),
                page.first
            ));
        };
        let has_vanished = at + 1 < page.versions.len();
        page.versions.truncate(at + 1);
        self.unsure.remove(&lpn);
        let version = page.first + at as u64;
        self.is_sure(lpn, version);
        Ok(has_vanished)
    }
}
