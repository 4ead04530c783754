//! Flush commands: writes that were done at the arrival of a flush are programmed by its end. So
//! are the pages of a write with forced unit access (FUA).

use flashgc_model::ids::Lpn;
use std::collections::{BTreeMap, BTreeSet};

/// The commands that wait.
#[derive(Default)]
pub(super) struct FlushCommands {
    /// By request, the version of each page that the write buffer held.
    waiting: BTreeMap<u32, BTreeMap<u32, u32>>,
    /// The FUA writes of a drive without power-loss protection of its buffer, and their page
    /// operations.
    forced: BTreeSet<u32>,
    operations: BTreeMap<u32, u32>,
}

impl FlushCommands {
    /// A command came in, with these versions in the write buffer.
    pub(super) fn comes(&mut self, request: u32, held: impl Iterator<Item = (u32, u32)>) {
        self.waiting.insert(request, held.collect());
    }

    /// A FUA write came.
    pub(super) fn forced_comes(&mut self, request: u32) {
        self.forced.insert(request);
        self.waiting.insert(request, BTreeMap::new());
    }

    /// A page of a request was accepted.
    pub(super) fn accepted(&mut self, op: u32, request: u32) {
        if self.forced.contains(&request) {
            self.operations.insert(op, request);
        }
    }

    /// A page operation is done, and has written this version to the write buffer.
    pub(super) fn done(&mut self, op: u32, lpn: Lpn, version: u32) {
        if let Some(request) = self.operations.remove(&op) {
            self.waiting.entry(request).or_default().insert(lpn.0, version);
        }
    }

    /// A write is done.
    pub(super) fn write_served(&mut self, now_ns: u64, request: u32) {
        if self.forced.remove(&request) {
            self.served(now_ns, request);
        }
    }

    /// The program of a version of a page has ended.
    pub(super) fn programmed(&mut self, lpn: Lpn, version: u32) {
        for pages in self.waiting.values_mut() {
            if pages.get(&lpn.0).is_some_and(|&held| held <= version) {
                pages.remove(&lpn.0);
            }
        }
    }

    /// A page was trimmed: its data need not survive.
    pub(super) fn trimmed(&mut self, lpn: Lpn) {
        for pages in self.waiting.values_mut() {
            pages.remove(&lpn.0);
        }
    }

    /// A command is done.
    pub(super) fn served(&mut self, now_ns: u64, request: u32) {
        let pages = self.waiting.remove(&request);
        let pages = pages.unwrap_or_else(|| panic!("at {now_ns} ns a flush ended that never came"));
        if let Some((lpn, version)) = pages.first_key_value() {
            panic!(
                "at {now_ns} ns a flush was done, and version {version} of logical page {lpn} was \
                 only in the write buffer"
            );
        }
    }
}
