//! Synthetic workloads: address, size, operation and arrival from one seed.
//!
//! Each of them draws from a stream of its own, so that other sizes do not change the addresses. A
//! workload is one phase or several, one after the other.

pub mod arrivals;
mod form;
mod overwrites;
pub mod pattern;
pub mod sizes;

pub use arrivals::Interarrival;
pub use overwrites::SyntheticOverwrites;
pub use pattern::{Footprint, PatternPlan};
pub use sizes::Size;

use super::hints::{HintPlan, PageHints, Places};
use super::length::Length;
use super::{HostOp, HostRequest, Source, SourceError};
use arrivals::{Gaps, TwoStreams};
use flashgc_model::ids::Lpn;
use flashgc_model::rng::Random;
use pattern::{Aligns, Draws, Pattern};
use serde::Serialize;

/// A synthetic workload.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticPlan {
    /// The length of the measured part.
    pub requests: Length,
    /// Requests begin at multiples of this many bytes.
    pub align_bytes: u64,
    /// Requests of at least this many bytes begin at its multiples.
    pub large_align_bytes: Option<u64>,
    /// All times are divided by this.
    pub rate: f64,
    /// At least one; their requests are all.
    pub phases: Vec<PhasePlan>,
}

impl SyntheticPlan {
    /// The units of the first bytes of requests.
    fn aligns(&self) -> Aligns {
        let large_bytes = self.large_align_bytes.unwrap_or(self.align_bytes);
        Aligns { all_bytes: self.align_bytes, large_bytes }
    }

    /// The hints with which the drive is filled: the hints of the first phase.
    pub fn fill_hints(&self, exported_pages: u32, page_bytes: u64) -> Option<PageHints> {
        self.phases[0].page_hints(self.aligns(), exported_pages, page_bytes)
    }

    /// Derives amounts of work from the user capacity in bytes.
    pub fn on_drive(&mut self, exported_bytes: u64) {
        self.requests = self.requests.on_drive(exported_bytes);
        for phase in &mut self.phases {
            phase.requests = phase.requests.on_drive(exported_bytes);
        }
    }
}

/// A part of a workload in which nothing changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhasePlan {
    /// Its length.
    pub requests: Length,
    /// The kinds of the requests, and their arrivals.
    pub mix: Mix,
    /// The part of the drive that they go to.
    pub footprint: Footprint,
    /// The reads.
    pub read: PatternPlan,
    /// The writes and trims.
    pub write: PatternPlan,
    /// The shares of high priority.
    #[serde(skip_serializing_if = "HighShares::is_none")]
    pub high_share: HighShares,
    /// The placement hints of the writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<HintPlan>,
}

impl PhasePlan {
    /// The hint of a write by its first page, where writes have hints.
    fn page_hints(&self, aligns: Aligns, pages: u32, page_bytes: u64) -> Option<PageHints> {
        let places = Places {
            span_bytes: self.footprint.pages(pages, page_bytes) * page_bytes,
            place_bytes: self.write.extent_bytes.unwrap_or(aligns.all_bytes),
            page_bytes,
        };
        self.hints.as_ref().map(|plan| PageHints::new(plan, &self.write.address, places, pages))
    }
}

/// Shares of the requests that are marked as of high priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HighShares {
    /// The share of the reads.
    pub read: f64,
    /// The share of the writes and trims.
    pub write: f64,
}

impl HighShares {
    /// Whether no request is marked.
    pub fn is_none(&self) -> bool {
        *self == HighShares::default()
    }
}

/// The kinds of requests, and their arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mix {
    /// One stream of arrivals, in which the kind of each request is random.
    Shares {
        /// Share of reads.
        read_share: f64,
        /// Share of trims.
        trim_share: f64,
        /// The gaps, in an open loop.
        interarrival: Option<Interarrival>,
    },
    /// Two independent streams. The share of reads follows from their rates.
    Streams {
        /// Gaps between reads.
        read: Interarrival,
        /// Gaps between writes.
        write: Interarrival,
    },
}

impl Mix {
    /// The share of writes among the requests.
    pub fn write_share(&self) -> f64 {
        match *self {
            Mix::Shares { read_share, trim_share, .. } => (1.0 - read_share - trim_share).max(0.0),
            Mix::Streams { read, write } => {
                let (read_ns, write_ns) = (read.mean_ns(), write.mean_ns());
                // A read comes before a write at the same time, so that without gaps all are reads.
                if read_ns > 0.0 { read_ns / (read_ns + write_ns) } else { 0.0 }
            }
        }
    }
}

/// A phase under way.
struct Phase {
    requests: Length,
    read_share: f64,
    trim_share: f64,
    timing: Timing,
    /// Reads and writes are one whole page each, and alike.
    one_page: bool,
    read: Pattern,
    write: Pattern,
    high_share: HighShares,
    hints: Option<PageHints>,
}

enum Timing {
    /// A closed loop has no times.
    Closed,
    One(Gaps),
    Two(TwoStreams),
}

impl Phase {
    fn new(plan: &PhasePlan, aligns: Aligns, exported_pages: u32, page_bytes: u64) -> Self {
        let span_bytes = plan.footprint.pages(exported_pages, page_bytes) * page_bytes;
        let pattern = |plan: &PatternPlan| Pattern::new(plan, aligns, span_bytes);
        let (read, write) = (pattern(&plan.read), pattern(&plan.write));
        let (read_share, trim_share, timing) = match plan.mix {
            Mix::Shares { read_share, trim_share, interarrival } => {
                let one = |choice| Timing::One(Gaps::new(choice));
                (read_share, trim_share, interarrival.map_or(Timing::Closed, one))
            }
            Mix::Streams { read, write } => (0.0, 0.0, Timing::Two(TwoStreams::new(read, write))),
        };
        Phase {
            requests: plan.requests,
            read_share,
            trim_share,
            timing,
            one_page: plan.read == plan.write && write.is_one_page(&plan.write, page_bytes),
            read,
            write,
            high_share: plan.high_share,
            hints: plan.page_hints(aligns, exported_pages, page_bytes),
        }
    }
}

/// Draws the requests of a plan.
pub struct Synthetic {
    page_bytes: u64,
    /// The rest of the phase under way: requests, or bytes of writes.
    left: u64,
    phase: Phase,
    later: std::vec::IntoIter<Phase>,
    rate: f64,
    /// Time before it is divided by the rate, so that no rate changes the order of requests.
    at_ns: u64,
    first: bool,
    arrival: Random,
    arrivals: [Random; 2],
    op: Random,
    priority: Random,
    draws: Draws,
    /// Whether the writes of a phase have hints.
    has_hints: bool,
}

impl Synthetic {
    /// Over a drive with this number of user pages.
    ///
    /// # Panics
    /// If the plan has no phase.
    pub fn new(plan: &SyntheticPlan, exported_pages: u32, page_bytes: u64, seed: u64) -> Self {
        let aligns = plan.aligns();
        let phase = |phase| Phase::new(phase, aligns, exported_pages, page_bytes);
        let mut phases = plan.phases.iter().map(phase).collect::<Vec<_>>().into_iter();
        let mut source = Synthetic {
            page_bytes,
            left: 0,
            phase: phases.next().expect("a workload has a phase"),
            later: phases,
            rate: plan.rate,
            at_ns: 0,
            first: true,
            arrival: Random::named(seed, "arrival"),
            arrivals: [Random::named(seed, "read-arrival"), Random::named(seed, "write-arrival")],
            op: Random::named(seed, "op"),
            priority: Random::named(seed, "priority"),
            draws: Draws::new(seed, "address", "size"),
            has_hints: plan.phases.iter().any(|phase| phase.hints.is_some()),
        };
        source.begin_phase();
        source
    }

    fn begin_phase(&mut self) {
        self.left = self.phase.requests.units();
        if let Timing::Two(streams) = &mut self.phase.timing {
            match self.first {
                true => streams.begin_at_0(&mut self.arrivals),
                false => streams.begin(self.at_ns, &mut self.arrivals),
            }
        }
    }

    /// Counts a request.
    #[inline(always)]
    fn take(&mut self, request: HostRequest) -> HostRequest {
        self.left = self.left.saturating_sub(self.phase.requests.taken_by(&request));
        request
    }

    /// Advances to the next phase that has requests; false at the end.
    #[cold]
    fn next_phase(&mut self) -> bool {
        while self.left == 0 {
            let Some(phase) = self.later.next() else { return false };
            self.phase = phase;
            self.begin_phase();
        }
        true
    }

    /// The operation of the next request, whose time is then `at_ns`.
    #[inline(always)]
    fn arrive(&mut self) -> HostOp {
        match &mut self.phase.timing {
            Timing::Closed => {}
            Timing::One(gaps) => {
                // Time begins with the first arrival.
                if !self.first {
                    let gap_ns = gaps.next_ns(&mut self.arrival);
                    self.at_ns = self.at_ns.saturating_add(gap_ns);
                }
                self.first = false;
            }
            Timing::Two(streams) => {
                let (at_ns, is_read) = streams.next(&mut self.arrivals);
                self.at_ns = at_ns;
                self.first = false;
                return if is_read { HostOp::Read } else { HostOp::Write };
            }
        }
        self.draw_op()
    }

    #[inline(always)]
    fn draw_op(&mut self) -> HostOp {
        let (read, trim) = (self.phase.read_share, self.phase.trim_share);
        if trim == 0.0 && (read == 0.0 || read == 1.0) {
            return if read == 0.0 { HostOp::Write } else { HostOp::Read };
        }
        let drawn = self.op.unit();
        if drawn < read {
            HostOp::Read
        } else if drawn < read + trim {
            HostOp::Trim
        } else {
            HostOp::Write
        }
    }

    /// Whether the next request is marked. It has a stream of its own, so the other streams do not
    /// change.
    #[inline(always)]
    fn draw_high(&mut self, op: HostOp) -> bool {
        let HighShares { read, write } = self.phase.high_share;
        let share = if op == HostOp::Read { read } else { write };
        share > 0.0 && self.priority.unit() < share
    }

    /// The next request, without a hint.
    #[inline(always)]
    fn draw_request(&mut self) -> Option<HostRequest> {
        if self.left == 0 && !self.next_phase() {
            return None;
        }
        let op = self.arrive();
        let high = self.draw_high(op);
        let at_ns = match self.rate {
            1.0 => self.at_ns,
            rate => libm::round(self.at_ns as f64 / rate) as u64,
        };
        if self.phase.one_page {
            let first = Lpn(self.phase.write.next_place(&mut self.draws) as u32);
            let request = HostRequest {
                at_ns,
                op,
                high,
                fua: false,
                hint: 0,
                job: 0,
                first,
                pages: 1,
                offset_bytes: u64::from(first.0) * self.page_bytes,
                bytes: self.page_bytes,
                head_partial: false,
                tail_partial: false,
            };
            return Some(self.take(request));
        }
        let phase = &mut self.phase;
        let pattern = if op == HostOp::Read { &mut phase.read } else { &mut phase.write };
        let (offset, bytes) = pattern.next(&mut self.draws);
        let request = HostRequest::from_bytes(at_ns, op, offset, bytes, self.page_bytes);
        Some(self.take(HostRequest { high, ..request }))
    }

    /// The next request, with the hint of its first page.
    fn draw_hinted(&mut self) -> Option<HostRequest> {
        let mut request = self.draw_request()?;
        if let (HostOp::Write, Some(hints)) = (request.op, &self.phase.hints) {
            request.hint = hints.of(request.first.0);
        }
        Some(request)
    }

    /// Draws requests while there is room. Returns their number.
    #[inline(always)]
    fn draw_into<const HINTS: bool>(&mut self, room: &mut [HostRequest]) -> usize {
        for (count, place) in room.iter_mut().enumerate() {
            match if HINTS { self.draw_hinted() } else { self.draw_request() } {
                Some(request) => *place = request,
                None => return count,
            }
        }
        room.len()
    }
}

impl Source for Synthetic {
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        Ok(self.draw_hinted())
    }

    fn draw(&mut self, room: &mut [HostRequest]) -> (usize, Option<Result<(), SourceError>>) {
        let count = match self.has_hints {
            true => self.draw_into::<true>(room),
            false => self.draw_into::<false>(room),
        };
        (count, (count < room.len()).then_some(Ok(())))
    }
}
