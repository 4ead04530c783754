//! The clock of a unit: the time, divided by what the unit did in it. As long as operations wait, that
//! is work for the host, or one of the causes why it did not work for the host. Of a wait the clock
//! counts only the time in which the unit was not the host's; the rest is the host's.
//!
//! The clock shows the parts of a latency, whose sum is the time. So the difference of two readings
//! is a wait between them, by its parts, however many operations it spans. Numbers are modulo 2^64:
//! a wait under way is the negative of the reading at its start.

use super::parts::{Cause, Held, PARTS, Part, Parts};

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

/// The time of a unit so far. Aligned, since the clock is read and written as a whole.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Unit {
    /// What the clock shows without the time itself, in ns: the time that the unit did not work for
    /// the host, by cause, and the negative of its sum as the host's.
    lost_ns: Parts,
    /// Operations that wait in the queue.
    waiting: u32,
    does: Does,
    /// The causes of the present operation of a collection, and how long the first one lasts.
    causes: [Cause; 2],
    first_ns: u64,
    /// When this operation began, in ns.
    since_ns: u64,
    /// Since when the unit rests, in ns; while nothing waits, the rest does not count.
    rests_since_ns: u64,
    /// Since when a write of the queue finds no page, in ns.
    starves_since_ns: u64,
    /// For how long the last operation waited for the bus.
    pub(super) waited: BusWait,
}

/// A sum or a difference, modulo 2^64.
pub(super) type Operator = fn(u64, u64) -> u64;

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

    /// Adds what the clock shows now to these parts, or subtracts it.
    #[inline(always)]
    pub(super) fn read(&self, now_ns: u64, parts: &mut Parts, plus: Operator) {
        for (part, &ns) in parts.iter_mut().zip(&self.lost_ns) {
            *part = plus(*part, ns);
        }
        let host = &mut parts[Part::Host as usize];
        *host = plus(*host, now_ns);
        self.read_present(now_ns, parts, plus);
    }

    /// The same of the time since the last operation ended, or began.
    #[inline(always)]
    fn read_present(&self, now_ns: u64, parts: &mut Parts, plus: Operator) {
        match self.does {
            Does::WorksForHost => {}
            Does::Collects => {
                for (cause, ns) in self.causes.into_iter().zip(self.spent(now_ns)) {
                    lose(parts, cause, ns, plus);
                }
            }
            Does::Rests if now_ns <= self.rests_since_ns => {}
            Does::Rests => self.read_rest(now_ns, parts, plus),
        }
    }

    /// The time of the present operation of a collection, by its two causes.
    #[inline(always)]
    fn spent(&self, now_ns: u64) -> [u64; 2] {
        let spent_ns = now_ns - self.since_ns;
        let first_ns = self.first_ns.min(spent_ns);
        [first_ns, spent_ns - first_ns]
    }

    /// The rest until now: a collection keeps the queue closed, or there is no page to write.
    #[cold]
    #[inline(never)]
    fn read_rest(&self, now_ns: u64, parts: &mut Parts, plus: Operator) {
        let starves_ns = now_ns.saturating_sub(self.starves_since_ns.max(self.rests_since_ns));
        lose(parts, Cause::Space, starves_ns, plus);
        lose(parts, Cause::Blocked, now_ns - self.rests_since_ns - starves_ns, plus);
    }

    /// An operation waits from now on: the wait is added to these parts when it is
    /// [taken](Unit::taken).
    #[inline(always)]
    pub(super) fn queued(&mut self, now_ns: u64, parts: &mut Parts) {
        self.one_more(now_ns);
        self.read(now_ns, parts, u64::wrapping_sub);
    }

    /// The same where nothing else has happened to the operation, which has waited since `since_ns`
    /// for others of the host.
    #[inline(always)]
    pub(super) fn queued_at_once(&mut self, since_ns: u64, now_ns: u64, parts: &mut Parts) {
        self.one_more(now_ns);
        for (part, ns) in parts.iter_mut().zip(&self.lost_ns) {
            *part = ns.wrapping_neg();
        }
        let host = &mut parts[Part::Host as usize];
        *host = host.wrapping_sub(since_ns);
        self.read_present(now_ns, parts, u64::wrapping_sub);
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
        self.read(now_ns, parts, u64::wrapping_add);
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
            for (cause, ns) in self.causes.into_iter().zip(self.spent(now_ns)) {
                lose(&mut self.lost_ns, cause, ns, u64::wrapping_add);
            }
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
        self.read_rest(now_ns, &mut lost_ns, u64::wrapping_add);
        self.lost_ns = lost_ns;
        self.rests_since_ns = now_ns;
    }
}

/// Time that is not the host's, but of this cause.
#[inline(always)]
fn lose(parts: &mut Parts, cause: Cause, ns: u64, plus: Operator) {
    let of_cause = &mut parts[cause.part() as usize];
    *of_cause = plus(*of_cause, ns);
    let host = &mut parts[Part::Host as usize];
    *host = plus(*host, ns.wrapping_neg());
}
