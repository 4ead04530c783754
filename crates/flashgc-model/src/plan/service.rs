//! The order in which a unit serves what waits there.

/// A class of work at a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// Garbage collection.
    Gc,
    /// The host's queue of this number.
    Queue(u8),
}

/// The order in which a unit serves waiting operations.
#[derive(Clone, Debug)]
pub struct Service {
    /// Classes in order of service.
    pub order: Vec<Served>,
    /// The queue of reads.
    pub read_queue: u8,
    /// The queue of writes.
    pub write_queue: u8,
    /// Whether the request that has waited longest is served first, though reads and writes wait
    /// apart.
    pub oldest_first: bool,
}

/// The lists of a queue where requests may preempt a collection: reads, writes, and the writes of
/// high priority.
pub const READS: u8 = 0;
/// See [`READS`].
pub const WRITES: u8 = 1;
/// See [`READS`].
pub const HIGH: u8 = 2;

impl Service {
    /// Collection first, then requests first come first served.
    pub fn gc_then_host() -> Self {
        let order = vec![Served::Gc, Served::Queue(0)];
        Service { order, read_queue: 0, write_queue: 0, oldest_first: false }
    }

    /// The same with reads and writes in lists of their own, so that reads can pass writes that
    /// must wait for space.
    #[must_use]
    pub fn apart(&self) -> Self {
        let order = self.order.clone();
        let oldest_first = !self.splits_host();
        let writes_first = self.writes_first();
        let mut apart = Service { order, read_queue: READS, write_queue: WRITES, oldest_first };
        if writes_first {
            apart.order.retain(|&served| served == Served::Gc);
            apart.order.extend([Served::Queue(WRITES), Served::Queue(READS)]);
        }
        apart
    }

    /// Whether all writes go before all reads.
    pub fn writes_first(&self) -> bool {
        let place = |queue| self.place(Served::Queue(queue));
        self.splits_host() && place(self.write_queue) < place(self.read_queue)
    }

    /// Whether a write that can begin goes before a collection that is due.
    pub fn writes_before_gc(&self) -> bool {
        self.place(Served::Queue(self.write_queue)) < self.place(Served::Gc)
    }

    fn place(&self, class: Served) -> Option<usize> {
        self.order.iter().position(|&served| served == class)
    }

    /// Whether reads and writes are served apart, so that one may overtake the other.
    pub fn splits_host(&self) -> bool {
        self.read_queue != self.write_queue
    }
}
