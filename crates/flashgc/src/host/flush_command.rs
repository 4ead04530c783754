//! A flush command that waits for pages of the write buffer.

use crate::ids::Lpn;
use rustc_hash::FxHashMap;

/// A FUA write whose pages are coming in.
#[derive(Clone)]
pub(super) struct Forced {
    /// Its request.
    pub(super) id: u32,
    /// Its first page, and their number.
    pub(super) first: Lpn,
    pub(super) pages: u32,
}

/// A command that waits.
#[derive(Clone)]
pub(super) struct FlushCommand {
    /// Its request.
    pub(super) id: u32,
    /// The programs that each page still needs. Never walked.
    pub(super) left: FxHashMap<u32, u8>,
}

impl FlushCommand {
    /// A command that waits for no page yet.
    pub(super) fn new(id: u32) -> Self {
        FlushCommand { id, left: FxHashMap::default() }
    }

    /// A program of the page has ended, or all of them are needless.
    pub(super) fn programmed(&mut self, lpn: Lpn, all: bool) {
        if let Some(left) = self.left.get_mut(&lpn.0) {
            *left -= 1;
            if all || *left == 0 {
                self.left.remove(&lpn.0);
            }
        }
    }
}
