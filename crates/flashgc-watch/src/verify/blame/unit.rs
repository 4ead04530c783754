//! The clock of a unit: the time, divided by the work of the unit. As long as operations wait, that
//! is work for the host, or one of the causes why it did not work for the host.
//!
//! The clock shows the parts of a latency, whose sum is the time. So the difference of two readings
//! is a wait between them, by its parts, however many operations it spans. Differences are modulo
//! 2^64: while an operation waits, its parts are subtracted from the reading at the start, and that
//! is subtracted from the one at the end.

use super::parts::{Cause, Held, PARTS, Part, Parts};

const NEVER: u64 = u64::MAX;

/// Time spent waiting for a bus, in ns: during transfers of the host, and during transfers of
/// collections.
pub type BusWait = [u64; 2];

/// The states of a unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Rests,
    WorksForHost,
    Collects,
}

/// The time of a unit so far. Aligned, since the clock is read and written as a whole.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Unit {
    /// The clock without the time itself, in ns: the time that the unit did not work for the host,
    /// by cause, and the negative of its sum as the host's.
    lost_ns: Parts,
    /// Operations that wait in the queue.
    waiting: u32,
    does: Does,
    /// The causes of the present operation of a collection, and how long the first one lasts.
    causes: [Cause; 2],
    first_ns: u64,
    /// The start of this operation, in ns.
    since_ns: u64,
    /// Since when the unit rests, in ns; while nothing waits, the rest does not count.
    rests_since_ns: u64,
    /// Since when a write of the queue finds no page, in ns.
    starves_since_ns: u64,
    /// For how long the last operation waited for the bus.
    pub(super) waited: BusWait,
}

impl Unit {
    pub(super) fn new() -> Self {
        Unit {
            lost_ns: [0; PARTS],
            waiting: 0,
            does: Does::Rests,
            causes: [Cause::Copies; 2],
            first_ns: 0,
            since_ns: 0,
            rests_since_ns: 0,
            starves_since_ns: NEVER,
            waited: BusWait::default(),
        }
    }

    /// Replaces the parts by the present values of the clock minus them: at the start and at the
    /// end of a wait.
    #[inline(always)]
    pub(super) fn read(&self, now_ns: u64, parts: &mut Parts) {
        for (part, ns) in parts.iter_mut().zip(&self.lost_ns) {
            *part = ns.wrapping_sub(*part);
        }
        self.add_present(now_ns, parts);
        let host = &mut parts[Part::Host as usize];
        *host = host.wrapping_add(now_ns);
    }

    /// Adds the time since the last operation ended, or the present one began.
    #[inline(always)]
    fn add_present(&self, now_ns: u64, parts: &mut Parts) {
        match self.does {
            Does::WorksForHost => {}
            Does::Collects => self.add_work(now_ns, parts),
            Does::Rests if now_ns <= self.rests_since_ns => {}
            Does::Rests => self.add_rest(now_ns, parts),
        }
    }

    /// Adds the time of the present operation of a collection.
    #[inline(always)]
    fn add_work(&self, now_ns: u64, parts: &mut Parts) {
        let spent_ns = now_ns - self.since_ns;
        let first_ns = self.first_ns.min(spent_ns);
        lose(parts, self.causes[0], first_ns);
        lose(parts, self.causes[1], spent_ns - first_ns);
    }

    /// Adds the rest until now: a collection keeps the queue closed, or there is no page to write.
    #[cold]
    #[inline(never)]
    fn add_rest(&self, now_ns: u64, parts: &mut Parts) {
        let starves_ns = now_ns.saturating_sub(self.starves_since_ns.max(self.rests_since_ns));
        lose(parts, Cause::Space, starves_ns);
        lose(parts, Cause::Blocked, now_ns - self.rests_since_ns - starves_ns);
    }

    /// An operation waits from now on, until it is [taken](Unit::taken).
    #[inline(always)]
    pub(super) fn queued(&mut self, now_ns: u64, parts: &mut Parts) {
        self.one_more(now_ns);
        self.read(now_ns, parts);
    }

    /// Starts a wait of an operation that has only waited for others of the host since `since_ns`.
    #[inline(always)]
    pub(super) fn queued_first(&mut self, since_ns: u64, now_ns: u64, parts: &mut Parts) {
        self.one_more(now_ns);
        *parts = self.lost_ns;
        self.add_present(now_ns, parts);
        let host = &mut parts[Part::Host as usize];
        *host = host.wrapping_add(since_ns);
    }

    #[inline(always)]
    fn one_more(&mut self, now_ns: u64) {
        if self.waiting == 0 {
            self.rests_since_ns = now_ns;
        }
        self.waiting += 1;
    }

    /// An operation leaves the queue.
    #[inline(always)]
    pub(super) fn taken(&mut self, now_ns: u64, parts: &mut Parts) {
        self.rest_ends(now_ns);
        self.waiting -= 1;
        self.read(now_ns, parts);
    }

    /// An operation begins.
    #[inline(always)]
    pub(super) fn begins(&mut self, held: Held, now_ns: u64) {
        match held {
            Held::ForHost => self.does = Does::WorksForHost,
            Held::ForCollection { first, first_ns, then } => {
                self.rest_ends(now_ns);
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
            let mut lost_ns = self.lost_ns;
            self.add_work(now_ns, &mut lost_ns);
            self.lost_ns = lost_ns;
        }
        self.does = Does::Rests;
        self.waited = waited;
        self.rests_since_ns = now_ns;
    }

    /// A write of the queue finds no page.
    pub(super) fn starves(&mut self, now_ns: u64) {
        if self.starves_since_ns == NEVER {
            self.starves_since_ns = now_ns;
        }
    }

    /// If the unit rests, it has done so until now.
    #[inline(always)]
    fn rest_ends(&mut self, now_ns: u64) {
        if self.does != Does::Rests {
            return;
        }
        if self.waiting > 0 && now_ns > self.rests_since_ns {
            self.end_rest(now_ns);
        }
        self.starves_since_ns = NEVER;
    }

    #[cold]
    #[inline(never)]
    fn end_rest(&mut self, now_ns: u64) {
        let mut lost_ns = self.lost_ns;
        self.add_rest(now_ns, &mut lost_ns);
        self.lost_ns = lost_ns;
        self.rests_since_ns = now_ns;
    }
}

/// Time that is not the host's, but of this cause.
#[inline(always)]
fn lose(parts: &mut Parts, cause: Cause, ns: u64) {
    for (part, ns) in [(cause.part(), ns), (Part::Host, ns.wrapping_neg())] {
        parts[part as usize] = parts[part as usize].wrapping_add(ns);
    }
}
