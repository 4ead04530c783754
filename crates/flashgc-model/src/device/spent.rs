//! Time that a part of the device has worked, and for whom.

/// Time spent, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// For the host.
    pub host_ns: u64,
    /// For garbage collection.
    pub gc_ns: u64,
}

impl Spent {
    /// Adds time.
    #[inline(always)]
    pub fn add(&mut self, for_gc: bool, ns: u64) {
        *(if for_gc { &mut self.gc_ns } else { &mut self.host_ns }) += ns;
    }

    /// For the host and for garbage collection, in ns.
    pub fn total_ns(self) -> u64 {
        self.host_ns + self.gc_ns
    }

    /// Over several parts.
    pub fn sum(parts: impl Iterator<Item = Spent>) -> Spent {
        parts.fold(Spent::default(), |sum, part| Spent {
            host_ns: sum.host_ns + part.host_ns,
            gc_ns: sum.gc_ns + part.gc_ns,
        })
    }
}
