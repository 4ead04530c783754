//! The clock of a unit: for how long it did not work for the host while operations waited for it.
//! The difference of two readings is a wait between them, by its cause; the rest of the wait is
//! other work of the host.
//!
//! Most waits see none of these causes. The clock has a number that changes with it, so that such a
//! wait costs one comparison.

use super::parts::{CAUSES, Cause, Held, Part, Parts};

const NEVER: u64 = u64::MAX;

/// Time spent waiting for a bus, in ns: while the host's transfers have it, and those of
/// collections.
pub type BusWait = [u64; 2];

/// What a unit does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Rests,
    WorksForHost,
    Collects,
}

/// The time of a unit so far.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    /// Changes with `lost_ns`.
    number: u32,
    /// Operations that wait in the queue.
    waiting: u32,
    does: Does,
    /// The causes of the present operation of a collection, and how long the first one lasts.
    causes: [Cause; 2],
    first_ns: u64,
    /// When this operation began, in ns.
    since_ns: u64,
    /// Time that the unit did not work for the host, in ns, by cause.
    lost_ns: [u64; CAUSES],
    /// Since when the unit rests, or did before the present operation, in ns; while nothing waits,
    /// the rest does not count.
    rests_since_ns: u64,
    /// Since when a write of the queue finds no page, in ns.
    starves_since_ns: u64,
    /// For how long the last operation waited for the bus.
    pub(super) waited: BusWait,
}

/// What a clock shows.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    number: u32,
    lost_ns: [u64; CAUSES],
}

impl Reading {
    pub(super) const ZERO: Reading = Reading { number: 0, lost_ns: [0; CAUSES] };

    /// Adds a wait of this length, from this reading to a later one.
    #[cold]
    #[inline(never)]
    pub(super) fn add_wait(&self, later: &Reading, length_ns: u64, parts: &mut Parts) {
        let mut host_ns = length_ns;
        for cause in Cause::ALL {
            let ns = later.lost_ns[cause as usize] - self.lost_ns[cause as usize];
            parts[cause.part() as usize] += ns;
            host_ns -= ns;
        }
        parts[Part::Host as usize] += host_ns;
    }

    /// Whether the clock has not changed until a later reading.
    #[inline(always)]
    pub(super) fn is(&self, later: &Reading) -> bool {
        self.number == later.number
    }
}

impl Unit {
    pub(super) fn new() -> Self {
        Unit {
            number: 0,
            waiting: 0,
            does: Does::Rests,
            causes: [Cause::Copies; 2],
            first_ns: 0,
            since_ns: 0,
            lost_ns: [0; CAUSES],
            rests_since_ns: 0,
            starves_since_ns: NEVER,
            waited: BusWait::default(),
        }
    }

    /// What the clock shows now, with the operation under way or the rest.
    #[inline(always)]
    pub(super) fn read(&self, now_ns: u64) -> Reading {
        if self.does == Does::WorksForHost || self.does == Does::Rests && self.is_level(now_ns) {
            return Reading { number: self.number, lost_ns: self.lost_ns };
        }
        self.read_between(now_ns)
    }

    #[inline(always)]
    fn is_level(&self, now_ns: u64) -> bool {
        self.rests_since_ns == now_ns
    }

    #[cold]
    #[inline(never)]
    fn read_between(&self, now_ns: u64) -> Reading {
        let mut reading = Reading { number: self.number, lost_ns: self.lost_ns };
        match self.does {
            Does::WorksForHost => {}
            Does::Rests => self.add_rest(&mut reading.lost_ns, now_ns),
            Does::Collects => {
                self.add_rest(&mut reading.lost_ns, self.since_ns);
                self.add_work(&mut reading.lost_ns, now_ns);
            }
        }
        reading
    }

    /// An operation waits from now on.
    #[inline(always)]
    pub(super) fn queued(&mut self, now_ns: u64) -> Reading {
        if self.waiting == 0 {
            let collects = self.does == Does::Collects;
            self.rests_since_ns = if collects { self.since_ns } else { now_ns };
        }
        self.waiting += 1;
        self.read(now_ns)
    }

    /// An operation leaves the queue.
    #[inline(always)]
    pub(super) fn taken(&mut self, now_ns: u64) -> Reading {
        if self.does == Does::Rests {
            self.rest_ends(now_ns);
        }
        self.waiting -= 1;
        if self.does == Does::Collects {
            // It begins beside the collection, whose time goes on.
            return Reading { number: !self.number, ..self.read(now_ns) };
        }
        Reading { number: self.number, lost_ns: self.lost_ns }
    }

    /// An operation begins.
    #[inline(always)]
    pub(super) fn begins(&mut self, held: Held, now_ns: u64) {
        match held {
            Held::ForHost => self.does = Does::WorksForHost,
            Held::ForCollection { first, first_ns, then } => {
                self.does = Does::Collects;
                self.causes = [first, then];
                (self.first_ns, self.since_ns) = (first_ns, now_ns);
            }
        }
    }

    /// Whether it works for a collection.
    pub(super) fn collects(&self) -> bool {
        self.does == Does::Collects
    }

    /// An operation has ended, or was suspended.
    #[inline(always)]
    pub(super) fn worked(&mut self, waited: BusWait, now_ns: u64) {
        if self.does == Does::Collects {
            self.collected(now_ns);
        }
        self.does = Does::Rests;
        self.waited = waited;
        self.rests_since_ns = now_ns;
    }

    #[inline(never)]
    fn collected(&mut self, now_ns: u64) {
        self.rest_ends(self.since_ns);
        let mut lost_ns = self.lost_ns;
        self.add_work(&mut lost_ns, now_ns);
        self.lost_ns = lost_ns;
        self.number += 1;
    }

    /// A write of the queue finds no page.
    pub(super) fn starves(&mut self, now_ns: u64) {
        if self.starves_since_ns == NEVER {
            self.starves_since_ns = now_ns;
        }
    }

    /// The unit has rested until now, if operations waited.
    #[inline(always)]
    fn rest_ends(&mut self, now_ns: u64) {
        if self.waiting > 0 && now_ns > self.rests_since_ns {
            self.end_rest(now_ns);
        }
        self.starves_since_ns = NEVER;
    }

    #[cold]
    #[inline(never)]
    fn end_rest(&mut self, now_ns: u64) {
        let mut lost_ns = self.lost_ns;
        self.add_rest(&mut lost_ns, now_ns);
        self.lost_ns = lost_ns;
        self.number += 1;
        self.rests_since_ns = now_ns;
    }

    /// Adds the rest until now: a collection keeps the queue closed, or there is no page to write.
    fn add_rest(&self, lost_ns: &mut [u64; CAUSES], now_ns: u64) {
        if now_ns <= self.rests_since_ns {
            return;
        }
        let starves_ns = now_ns.saturating_sub(self.starves_since_ns.max(self.rests_since_ns));
        lost_ns[Cause::Space as usize] += starves_ns;
        lost_ns[Cause::Blocked as usize] += now_ns - self.rests_since_ns - starves_ns;
    }

    /// Adds the time of the present operation of a collection.
    fn add_work(&self, lost_ns: &mut [u64; CAUSES], now_ns: u64) {
        let spent_ns = now_ns - self.since_ns;
        let first_ns = self.first_ns.min(spent_ns);
        lost_ns[self.causes[0] as usize] += first_ns;
        lost_ns[self.causes[1] as usize] += spent_ns - first_ns;
    }
}
