//! The checker's own account of the write buffer: which version of each page it holds.

use flashgc_model::ids::Lpn;
use std::collections::BTreeMap;

/// The content that the write buffer must have.
#[derive(Default)]
pub(super) struct Held {
    /// The version of each page.
    versions: BTreeMap<u32, u32>,
    last_end_ns: u64,
}

impl Held {
    /// The version that the buffer holds of a page.
    pub(super) fn version(&self, lpn: Lpn) -> Option<u32> {
        self.versions.get(&lpn.0).copied()
    }

    /// The pages, each with its version.
    pub(super) fn pages(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.versions.iter().map(|(&lpn, &version)| (lpn, version))
    }

    /// One access after the other; a write brings a version.
    pub(super) fn accessed(&mut self, span: (u64, u64), written: Option<(Lpn, u32)>) {
        let (from_ns, to_ns) = span;
        assert!(
            self.last_end_ns <= from_ns && from_ns <= to_ns,
            "at {from_ns} ns the write buffer served two accesses at once"
        );
        self.last_end_ns = to_ns;
        if let Some((lpn, version)) = written {
            self.versions.insert(lpn.0, version);
        }
    }

    /// A page leaves the buffer.
    pub(super) fn leaves(&mut self, lpn: Lpn) -> Option<u32> {
        self.versions.remove(&lpn.0)
    }

    /// Compares with the reported content of the buffer.
    pub(super) fn audit(&self, held: impl Iterator<Item = Lpn>) {
        let mut count = 0;
        for lpn in held {
            count += 1;
            assert!(
                self.versions.contains_key(&lpn.0),
                "logical page {} should not be in the write buffer",
                lpn.0
            );
        }
        assert_eq!(count, self.versions.len(), "pages in the write buffer");
    }
}
