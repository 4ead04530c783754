//! The schemes `ideal` and `greedy`, and the parts of their latencies, against a small model of its
//! own: a queue for each plane, and a log that is collected in no time or in that of its copies and
//! its erase. The model shares no code with the engine.

use crate::common;
use crate::common::spy::{Record, spied};

use common::{TINY, TINY_DRIVE, setup};
use flashgc::session::Options;
use flashgc::sim::Sim;
use flashgc::verify::blame::{Blame, PARTS, Part, Parts};
use flashgc::verify::{Happened, Watch as _};
use flashgc::workload::{HostOp, HostRequest, ListSource};

/// Eight planes, each a unit with a bus of its own: nothing is shared.
const ALONE: &[&str] = &[
    "device.channels=8",
    "device.chips_per_channel=1",
    "device.planes_per_die=1",
    "device.timing.transfer=\"10 ns/B\"",
    "device.allocation=\"striped\"",
    "workload.trace.format=\"fgt\"",
];
const PLANES: u64 = 8;
const BLOCKS: usize = 16;
const PAGES: usize = 8;
const SOFT: usize = 3;
const READ_NS: u64 = 25_000;
const PROGRAM_NS: u64 = 200_000;
const PAGE_NS: u64 = 40_960;
const ERASE_NS: u64 = 1_500_000;

/// One plane of the model: a log that is collected in no time.
struct Log {
    /// The data of each page of each block, in the order in which they were programmed.
    blocks: Vec<Vec<u64>>,
    /// The place of each page's current data.
    places: Vec<Option<(usize, usize)>>,
    erased: Vec<usize>,
    open: usize,
    copies: u64,
    erases: u64,
}

/// A collection of a plane: its copies begin, its erase begins, it ends.
type Collection = [u64; 3];

/// A plane of the model.
struct Plane {
    log: Log,
    free_ns: u64,
    collections: Vec<Collection>,
}

/// The length of the overlap of two intervals.
fn overlap([from, to]: [u64; 2], [begin, end]: [u64; 2]) -> u64 {
    to.min(end).saturating_sub(from.max(begin))
}

impl Plane {
    fn new(data: u64) -> Plane {
        Plane { log: Log::new(data as usize), free_ns: 0, collections: Vec::new() }
    }

    /// Serves a page: when it is done, and the parts of the time until then.
    fn serve(&mut self, at_ns: u64, op: HostOp, page: u64, takes_time: bool) -> (u64, Parts) {
        let begin_ns = at_ns.max(self.free_ns);
        let array_ns = if op == HostOp::Read { READ_NS } else { PROGRAM_NS };
        let done_ns = begin_ns + array_ns + PAGE_NS;
        let mut parts = [0; PARTS];
        parts[Part::Service as usize] = done_ns - begin_ns;
        parts[Part::Host as usize] = begin_ns - at_ns;
        let waits = [at_ns, begin_ns];
        for &[copies_ns, erase_ns, end_ns] in self.collections.iter().rev() {
            if end_ns <= at_ns {
                break;
            }
            for (part, time) in
                [(Part::Copies, [copies_ns, erase_ns]), (Part::Erase, [erase_ns, end_ns])]
            {
                parts[part as usize] += overlap(waits, time);
                parts[Part::Host as usize] -= overlap(waits, time);
            }
        }
        self.free_ns = done_ns;
        let copies = if op == HostOp::Write { self.log.write(page) } else { None };
        if let Some(copies) = copies.filter(|_| takes_time) {
            let erase_ns = done_ns + copies * (READ_NS + PROGRAM_NS);
            self.free_ns = erase_ns + ERASE_NS;
            self.collections.push([done_ns, erase_ns, self.free_ns]);
        }
        (done_ns, parts)
    }
}

impl Log {
    fn new(data: usize) -> Log {
        Log {
            blocks: vec![Vec::new(); BLOCKS],
            places: vec![None; data],
            erased: (1..BLOCKS).rev().collect(),
            open: 0,
            copies: 0,
            erases: 0,
        }
    }

    fn append(&mut self, data: u64) {
        if self.blocks[self.open].len() == PAGES {
            self.open = self.erased.pop().expect("an erased block");
        }
        self.places[data as usize] = Some((self.open, self.blocks[self.open].len()));
        self.blocks[self.open].push(data);
    }

    fn valid_of(&self, block: usize) -> Vec<u64> {
        let pages = self.blocks[block].iter().enumerate();
        let is_valid = |at, data: u64| self.places[data as usize] == Some((block, at));
        pages.filter(|&(at, &data)| is_valid(at, data)).map(|(_, &data)| data).collect()
    }

    /// A block is collected if fewer than the threshold are erased: returns its copies.
    fn write(&mut self, data: u64) -> Option<u64> {
        self.append(data);
        if self.erased.len() >= SOFT {
            return None;
        }
        let sealed = (0..BLOCKS).filter(|&at| self.blocks[at].len() == PAGES);
        let victim = sealed.min_by_key(|&at| (self.valid_of(at).len(), at)).expect("a victim");
        let valid = self.valid_of(victim);
        let copies = valid.len() as u64;
        self.copies += copies;
        valid.into_iter().for_each(|data| self.append(data));
        self.blocks[victim].clear();
        self.erased.insert(0, victim);
        self.erases += 1;
        Some(copies)
    }
}

/// A request that was served.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outcome {
    latency_ns: u64,
    /// The parts of each page that was done last: where several are, any of them may count.
    parts: Vec<Parts>,
}

/// The results of the model: each request; copies and erases.
fn modelled(requests: &[HostRequest], data: u64, takes_time: bool) -> (Vec<Outcome>, u64, u64) {
    let mut planes: Vec<Plane> = (0..PLANES).map(|_| Plane::new(data / PLANES)).collect();
    (0..data).for_each(|page| planes[(page % PLANES) as usize].log.append(page / PLANES));
    let mut outcomes = Vec::new();
    for request in requests {
        let first = u64::from(request.first.0);
        let served: Vec<(u64, Parts)> = (first..first + u64::from(request.pages))
            .map(|page| {
                let plane = &mut planes[(page % PLANES) as usize];
                plane.serve(request.at_ns, request.op, page / PLANES, takes_time)
            })
            .collect();
        let done_ns = served.iter().map(|page| page.0).max().expect("a page");
        let last = served.into_iter().filter(|page| page.0 == done_ns);
        let parts = last.map(|page| page.1).collect();
        outcomes.push(Outcome { latency_ns: done_ns - request.at_ns, parts });
    }
    let sum = |of: fn(&Log) -> u64| planes.iter().map(|plane| of(&plane.log)).sum();
    (outcomes, sum(|log| log.copies), sum(|log| log.erases))
}

/// The latency of each request and its parts, by its place in the list.
struct Latencies {
    blame: Blame,
    under_way: Vec<Option<usize>>,
    arrived: usize,
    done: Vec<(usize, u64, Parts)>,
}

impl Record for Latencies {
    fn observe(&mut self, now_ns: u64, happened: Happened) {
        self.blame.observe(now_ns, happened);
        match happened {
            Happened::Arrived { request, .. } => {
                let at = request as usize;
                self.under_way.resize(self.under_way.len().max(at + 1), None);
                self.under_way[at] = Some(self.arrived);
                self.arrived += 1;
            }
            Happened::Served { request, latency_ns, .. } => {
                let at = self.under_way[request as usize].take().expect("it has arrived");
                self.done.push((at, latency_ns, self.blame.parts_of(request)));
            }
            _ => {}
        }
    }
}

/// Requests of one to four pages at random times, reads among them.
fn requests(pages: u64, mean_gap_ns: u64) -> Vec<HostRequest> {
    let mut state: u64 = 7;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 33) % below
    };
    let mut at_ns = 0;
    let mut next = || {
        at_ns += draw(2 * mean_gap_ns);
        let op = if draw(10) < 3 { HostOp::Read } else { HostOp::Write };
        let count = 1 + draw(4);
        let first = draw(pages - count + 1);
        HostRequest::from_bytes(at_ns, op, first * 4096, count * 4096, 4096)
    };
    (0..20_000).map(|_| next()).collect()
}

/// Compares every request of a run with the model.
fn compare(scheme: &str, mean_gap_ns: u64, more: &str) {
    let scheme_key = format!("gc.scheme=\"{scheme}\"");
    let setup = setup(TINY_DRIVE, &[ALONE, &[&scheme_key, more]].concat());
    let pages = u64::from(setup.plan.geometry.exported_pages);
    let requests = requests(pages, mean_gap_ns);
    let (expected, copies, erases) = modelled(&requests, pages, scheme == "greedy");

    let blame = Blame::new(&setup.plan);
    let latencies = Latencies { blame, under_way: Vec::new(), arrived: 0, done: Vec::new() };
    let (watch, latencies) = spied(latencies);
    let mut sim = Sim::new(setup.plan, watch);
    sim.untimed().fill(0, pages as u32).expect("the fill fits");
    let results = common::drain(&mut sim, &mut ListSource::new(requests.clone()), 10_000);
    let mut found = std::mem::take(&mut latencies.lock().expect("the run has ended").done);
    found.sort_unstable();
    assert_eq!(found.len(), requests.len());
    for (at, latency_ns, parts) in found {
        let Outcome { latency_ns: expected_ns, parts: any } = &expected[at];
        let same = latency_ns == *expected_ns && any.contains(&parts);
        assert!(same, "{scheme}, {at}: {latency_ns} ns {parts:?}, expected {:?}", expected[at]);
    }
    // Collections that are open when the last request is done are not counted yet.
    assert_eq!(results.counters.erases + results.jobs_open, erases);
    if results.jobs_open == 0 {
        assert_eq!(results.counters.gc_moved, copies);
    }
    assert!(erases > 1000 && copies > erases, "{erases} {copies}");
}

#[test]
fn latencies_under_ideal_are_those_of_a_model_without_collection_time() {
    compare("ideal", 60_000, "engine.coalesce=true");
    compare("ideal", 200_000, "engine.coalesce=false");
}

/// Every part of every latency, too.
#[test]
fn latencies_under_greedy_and_their_parts_are_those_of_the_model() {
    compare("greedy", 600_000, "engine.coalesce=true");
    compare("greedy", 2_000_000, "engine.coalesce=true");
    compare("greedy", 900_000, "engine.coalesce=false");
}

#[test]
fn nothing_of_a_latency_is_blamed_on_a_collection() {
    let sets = ["gc.scheme=\"ideal\"", "device.timing.transfer=\"10 ns/B\""];
    let options = Options { verify: true, blame: true, ..Options::default() };
    let report = common::finish_with(setup(TINY, &sets), None, options).expect("it runs");
    assert!(common::whole(&report, "erases") > 100);
    for kind in ["read", "write"] {
        let mean = format!("blame.{kind}.mean");
        assert_eq!(common::number(&report, &format!("{mean}.collection_ns")), 0.0);
        assert_eq!(common::number(&report, &format!("{mean}.space_ns")), 0.0);
        assert!(common::number(&report, &format!("{mean}.host_ns")) > 0.0);
    }
}
