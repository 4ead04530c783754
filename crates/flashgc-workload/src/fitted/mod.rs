//! A workload that is like a trace, from distributions alone.
//!
//! Requests come in *bursts* of several kinds. The *course* sets how many bursts of each kind there
//! are in each part of the time, and the total length of the pauses between them. Writes go to
//! *places*, each of which is the range of one write: a write goes again to a place that was
//! written some time ago, by its rank among all places of its kind. Places of different kinds lie
//! in runs, and runs in regions, of which some are written often and others only read.
//!
//! `flashgc trace fit` makes such a workload from a trace.

pub mod course;
pub mod layout;
pub mod mixture;
mod order;
mod overwrites;
mod recency;

pub use mixture::{Ages, Mixture};
pub use order::Order;
pub use overwrites::FittedOverwrites;
pub use recency::Recency;

use super::length::Length;
use super::{HostOp, HostRequest, Source, SourceError};
use course::Course;
use flashgc_model::rng::Random;
use layout::{Layout, lay_out};
use serde::Serialize;

/// Places, runs and regions are counted in pages of this size, whatever the device's is.
pub const PAGE_BYTES: u64 = 4096;
const SECTOR_BYTES: u64 = 512;

/// A fitted workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedPlan {
    /// The length of the measured part.
    pub requests: Length,
    /// All times are divided by this.
    pub rate: f64,
    /// Kinds of places that are written.
    pub places: Vec<PlacesPlan>,
    /// Kinds of regions.
    pub regions: Vec<RegionPlan>,
    /// Pages of a run that is only read.
    pub read_only_run: Mixture,
    /// The offset of a read in its first page, in bytes.
    pub read_offset: Mixture,
    /// Kinds of bursts.
    pub bursts: Vec<BurstPlan>,
    /// The parts of the course, in order.
    pub course: Vec<PartPlan>,
}

/// Places of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlacesPlan {
    /// Bytes of a place.
    pub size: Mixture,
    /// The offset of a place in its first page, in bytes.
    pub offset: Mixture,
    /// Pages of a run of such places.
    pub run: Mixture,
    /// Share of the places of a run that begin where the one before ends.
    pub adjacent: f64,
    /// Share of the places that are first written soon after the one before them.
    pub in_order: f64,
    /// The ages of places that are written again.
    pub age: Ages,
    /// Share of the writes that continue at an adjacent place, where there is one.
    pub sequential_share: f64,
}

/// Regions of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegionPlan {
    /// Number of regions.
    pub count: u32,
    /// Pages of each.
    pub of_pages: u32,
    /// Pages of each kind of places; the others are only read.
    pub pages: Vec<f64>,
}

/// Bursts of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BurstPlan {
    /// Requests of a burst.
    pub length: Mixture,
    /// Time before it, in ns.
    pub pause: Mixture,
    /// Time between its requests, in ns.
    pub gap: Mixture,
    /// Share of bursts of this kind that follow one of the same kind.
    pub stay: f64,
    /// Share of reads.
    pub read_share: f64,
    /// Share of the requests of a burst with the same operation as the one before.
    pub same_share: f64,
    /// Bytes of a read.
    pub read_size: Mixture,
    /// Share of the reads that begin where the request before ended.
    pub read_sequential_share: f64,
    /// Share of the others that go to places.
    pub read_written_share: f64,
    /// Share of the writes that continue in the order of last time: to the place that was then
    /// written after the one before.
    pub again_share: f64,
    /// Kinds of places that the others go to.
    pub places: Mixture,
}

/// A part of the course.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartPlan {
    /// All pauses together, in ns.
    pub pauses_ns: u64,
    /// Kinds of bursts, each with how many there are.
    pub bursts: Vec<(u32, u32)>,
}

/// Streams of random numbers, one for each purpose.
struct Streams {
    arrival: Random,
    op: Random,
    size: Random,
    address: Random,
}

impl Streams {
    fn new(seed: u64) -> Self {
        Streams {
            arrival: Random::named(seed, "arrival"),
            op: Random::named(seed, "op"),
            size: Random::named(seed, "size"),
            address: Random::named(seed, "address"),
        }
    }
}

/// The requests of a fitted workload.
pub struct Fitted {
    plan: FittedPlan,
    layout: Layout,
    page_bytes: u64,
    /// Requests, or bytes of writes.
    left: u64,
    begun: bool,
    at_ns: u64,
    streams: Streams,
    course: Course,
    /// The kind of the burst under way, and its requests left.
    burst: usize,
    burst_left: u64,
    op: HostOp,
    /// The place, by its number among all, that was written last time after the one before.
    follower: Option<u32>,
    /// The place written by the request before, if it was a write.
    last_place: Option<(usize, u32)>,
    /// The end of the request before, in bytes.
    end: u64,
}

impl Fitted {
    /// The measured requests, on a drive with pages of this size.
    pub fn new(plan: &FittedPlan, page_bytes: u64, seed: u64) -> Self {
        Fitted {
            layout: lay_out(plan, &mut Random::named(seed, "places")),
            plan: plan.clone(),
            page_bytes,
            left: plan.requests.units(),
            begun: false,
            at_ns: 0,
            streams: Streams::new(seed),
            course: Course::default(),
            burst: 0,
            burst_left: 0,
            op: HostOp::Write,
            follower: None,
            last_place: None,
            end: 0,
        }
    }

    /// Bytes that such a workload needs on the drive under this seed.
    pub fn span_bytes(plan: &FittedPlan, seed: u64) -> u64 {
        lay_out(plan, &mut Random::named(seed, "places")).bytes
    }

    /// Advances time to the next request, and decides whether it begins a burst.
    fn next_time(&mut self) {
        let begins = self.burst_left == 0;
        let gap_ns = if begins {
            let next = self.course.next(&self.plan, &mut self.streams.arrival);
            self.burst = next.kind;
            self.burst_left =
                self.plan.bursts[next.kind].length.draw(&mut self.streams.arrival).max(1);
            next.pause_ns
        } else {
            self.plan.bursts[self.burst].gap.draw_ns(&mut self.streams.arrival)
        };
        self.burst_left -= 1;
        // Time begins with the first request.
        if self.begun {
            let gap_ns = if self.plan.rate == 1.0 {
                gap_ns
            } else {
                (gap_ns as f64 / self.plan.rate) as u64
            };
            self.at_ns = self.at_ns.saturating_add(gap_ns);
        }
        self.begun = true;
        self.next_op(begins);
    }

    /// Repeats the operation of the request before with the frequency that keeps the shares.
    fn next_op(&mut self, begins: bool) {
        let burst = &self.plan.bursts[self.burst];
        let read = burst.read_share;
        let by_chance = read * read + (1.0 - read) * (1.0 - read);
        let repeat =
            if by_chance < 1.0 { (burst.same_share - by_chance) / (1.0 - by_chance) } else { 0.0 };
        if begins || self.streams.op.unit() >= repeat {
            let reads = self.streams.op.unit() < read;
            self.op = if reads { HostOp::Read } else { HostOp::Write };
        }
    }

    /// The first byte and the size of a write.
    fn write(&mut self) -> (u64, u64) {
        let burst = &self.plan.bursts[self.burst];
        let random = &mut self.streams.address;
        let kind = burst.places.draw(random) as usize;
        // The follower must be of the kind that is drawn, so that each kind keeps its share.
        let follower = self.follower.map(|number| self.layout.place(number));
        let follower = follower.filter(|&(of, _)| of == kind && random.unit() < burst.again_share);
        let place = match follower {
            Some((_, place)) => place,
            None => self.next_place(kind),
        };
        let places = &mut self.layout.places[kind];
        places.recency.touch(place);
        self.follower = Some(self.layout.order.touch(places.base + place));
        self.last_place = Some((kind, place));
        (places.starts[place as usize], u64::from(places.sizes[place as usize]))
    }

    /// The place next to the one before, or one that was written some time ago.
    fn next_place(&mut self, kind: usize) -> u32 {
        let random = &mut self.streams.address;
        let (plan, places) = (&self.plan.places[kind], &self.layout.places[kind]);
        if let Some((last, place)) = self.last_place {
            let start = places.starts.get(place as usize + 1);
            let adjacent = last == kind && random.unit() < plan.sequential_share;
            if adjacent && start == Some(&self.end) {
                return place + 1;
            }
        }
        places.recency.find(plan.age.draw(places.recency.len(), random))
    }

    /// The first byte and the size of a read.
    fn read(&mut self) -> (u64, u64) {
        let burst = &self.plan.bursts[self.burst];
        let size = burst.read_size.draw(&mut self.streams.size).max(SECTOR_BYTES);
        let size = size.min(self.layout.bytes);
        let random = &mut self.streams.address;
        let room = self.layout.bytes - size;
        self.last_place = None;
        if random.unit() < burst.read_sequential_share {
            return (if self.end <= room { self.end } else { 0 }, size);
        }
        let read_pages = self.layout.read_only.last().map_or(0, |(_, sum)| *sum);
        let written = random.unit() < burst.read_written_share && !self.plan.places.is_empty();
        let page = if written || read_pages == 0 {
            self.any_place()
        } else {
            let drawn = random.below(read_pages);
            let at = self.layout.read_only.partition_point(|(_, sum)| *sum <= drawn);
            let before = if at == 0 { 0 } else { self.layout.read_only[at - 1].1 };
            self.layout.read_only[at].0 + drawn - before
        };
        let offset = self.plan.read_offset.draw(&mut self.streams.address);
        ((page * PAGE_BYTES + offset).min(room / SECTOR_BYTES * SECTOR_BYTES), size)
    }

    /// The first page of any place.
    fn any_place(&mut self) -> u64 {
        let all: u64 = self.layout.places.iter().map(|kind| kind.starts.len() as u64).sum();
        let mut drawn = self.streams.address.below(all.max(1));
        for kind in &self.layout.places {
            let count = kind.starts.len() as u64;
            if drawn < count {
                return kind.starts[drawn as usize] / PAGE_BYTES;
            }
            drawn -= count;
        }
        0
    }

    fn next_request(&mut self) -> HostRequest {
        self.next_time();
        let (offset, bytes) = if self.op == HostOp::Read { self.read() } else { self.write() };
        self.end = offset + bytes;
        let request = HostRequest::from_bytes(self.at_ns, self.op, offset, bytes, self.page_bytes);
        self.left = self.left.saturating_sub(self.plan.requests.taken_by(&request));
        request
    }
}

impl Source for Fitted {
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        Ok((self.left > 0).then(|| self.next_request()))
    }
}
