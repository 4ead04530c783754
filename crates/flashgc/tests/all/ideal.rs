//! The scheme `ideal` against a small model of its own: queues without collection time, and a
//! greedy log beside them. The model shares no code with the engine.

use crate::common;

use common::{TINY, setup};
use flashgc::session::Options;
use flashgc::sim::Sim;
use flashgc::verify::{Happened, Watch};
use flashgc::workload::{HostOp, HostRequest, ListSource};

/// Eight planes, each a unit with a bus of its own: nothing is shared.
const ALONE: &[&str] = &[
    "gc.scheme=\"ideal\"",
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

/// One plane of the model: a log that is collected in no time.
struct Log {
    /// The data of each page of each block, in the order in which they were programmed.
    blocks: Vec<Vec<u64>>,
    /// Where the current data of a page lies.
    places: Vec<Option<(usize, usize)>>,
    erased: Vec<usize>,
    open: usize,
    copies: u64,
    erases: u64,
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

    /// A block is collected if fewer than the threshold are erased.
    fn write(&mut self, data: u64) {
        self.append(data);
        if self.erased.len() >= SOFT {
            return;
        }
        let sealed = (0..BLOCKS).filter(|&at| self.blocks[at].len() == PAGES);
        let victim = sealed.min_by_key(|&at| (self.valid_of(at).len(), at)).expect("a victim");
        let valid = self.valid_of(victim);
        self.copies += valid.len() as u64;
        valid.into_iter().for_each(|data| self.append(data));
        self.blocks[victim].clear();
        self.erased.insert(0, victim);
        self.erases += 1;
    }
}

/// Latency of each request, copies and erases.
fn modelled(requests: &[HostRequest], data: u64) -> (Vec<u64>, u64, u64) {
    let mut logs: Vec<Log> = (0..PLANES).map(|_| Log::new((data / PLANES) as usize)).collect();
    (0..data).for_each(|page| logs[(page % PLANES) as usize].append(page / PLANES));
    let mut free_ns = [0; PLANES as usize];
    let mut latencies = Vec::new();
    for request in requests {
        let mut done_ns = 0;
        for page in u64::from(request.first.0)..u64::from(request.first.0 + request.pages) {
            let plane = (page % PLANES) as usize;
            let array_ns = match request.op {
                HostOp::Read => READ_NS,
                _ => PROGRAM_NS,
            };
            free_ns[plane] = request.at_ns.max(free_ns[plane]) + array_ns + PAGE_NS;
            done_ns = done_ns.max(free_ns[plane]);
            if request.op == HostOp::Write {
                logs[plane].write(page / PLANES);
            }
        }
        latencies.push(done_ns - request.at_ns);
    }
    let sum = |of: fn(&Log) -> u64| logs.iter().map(of).sum();
    (latencies, sum(|log| log.copies), sum(|log| log.erases))
}

/// The latency of each request, by its place in the list.
#[derive(Default)]
struct Latencies {
    under_way: Vec<Option<usize>>,
    arrived: usize,
    done: Vec<(usize, u64)>,
}

impl Watch for Latencies {
    const ACTIVE: bool = true;

    fn see(&mut self, _now_ns: u64, happened: Happened) {
        match happened {
            Happened::Arrived { request, .. } => {
                let at = request as usize;
                self.under_way.resize(self.under_way.len().max(at + 1), None);
                self.under_way[at] = Some(self.arrived);
                self.arrived += 1;
            }
            Happened::Served { request, latency_ns, .. } => {
                let at = self.under_way[request as usize].take().expect("it has arrived");
                self.done.push((at, latency_ns));
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

#[test]
fn latencies_copies_and_erases_are_those_of_a_model_without_collection_time() {
    for (mean_gap_ns, more) in
        [(60_000, "engine.coalesce=true"), (200_000, "engine.coalesce=false")]
    {
        let (drive, _) = TINY.split_once("[workload").expect("its workload");
        let setup = setup(drive, &[ALONE, &[more]].concat());
        let pages = u64::from(setup.plan.geometry.exported_pages);
        let requests = requests(pages, mean_gap_ns);
        let (expected, copies, erases) = modelled(&requests, pages);

        let mut sim = Sim::new(setup.plan.clone(), Latencies::default());
        sim.untimed().fill(0, pages as u32).expect("the fill fits");
        let results = common::drain(&mut sim, &mut ListSource::new(requests.clone()), 10_000);
        let mut done = std::mem::take(&mut sim.watch().done);
        done.sort_unstable();
        let found: Vec<u64> = done.into_iter().map(|(_, latency_ns)| latency_ns).collect();
        let wrong = (0..requests.len()).find(|&at| found.get(at) != expected.get(at));
        let both = wrong.map(|at| (at, requests[at], found.get(at).copied(), expected[at]));
        assert_eq!(both, None, "the first request whose latency differs");
        assert_eq!((results.counters.gc_moved, results.counters.erases), (copies, erases));
        assert!(erases > 1000 && copies > erases, "{erases} {copies}");
    }
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
