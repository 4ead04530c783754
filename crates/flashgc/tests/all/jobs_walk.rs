//! The order of a job's places: holes, runs, zones and several files; and the location of its
//! popular places.

use crate::common;
use crate::jobs::text;

use common::{refusal, setup};
use flashgc::config::WorkloadPlan;
use flashgc::workload::jobs::{Jobs, JobsOverwrites, JobsPlan};
use flashgc::workload::{Overwrites, Source, Turn};
use std::collections::{BTreeMap, BTreeSet};

const PAGES: u32 = 1 << 16;
const PAGE: u64 = 4096;
const KIB: u64 = 1024;
const SEQUENTIAL: &str = "random_share = 0.0\npasses = \"same\"";

fn plan(jobs: &str) -> JobsPlan {
    let WorkloadPlan::Jobs(plan) = setup(&text(jobs), &[]).workload else { panic!("jobs") };
    plan.plan
}

/// The places of the requests of each clone, in KiB, on a drive that answers at once.
fn places_of_clones(jobs: &str) -> BTreeMap<u16, Vec<u64>> {
    let mut source = Jobs::new(&plan(jobs), PAGES, PAGE, 1);
    let mut found: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
    let mut now_ns = 0;
    loop {
        match source.turn(now_ns).expect("a turn") {
            Turn::Request(request) => {
                let clone = request.job;
                found.entry(clone).or_default().push(request.offset_bytes / KIB);
                now_ns += 1000;
                source.done(clone, request.op, request.bytes, 1000, now_ns);
            }
            Turn::Wait(until) => now_ns = until.expect("nothing is in flight"),
            Turn::End => return found,
            Turn::RampEnds(_) => unreachable!("no job has a ramp"),
            Turn::NeverEnds(why) => panic!("{why}"),
        }
    }
}

fn places(jobs: &str) -> Vec<u64> {
    places_of_clones(jobs).remove(&0).expect("a clone")
}

#[test]
fn sequential_requests_leave_holes() {
    let job = |more: &str| places(&format!("[[job]]\nspan = \"32 KiB\"\n{SEQUENTIAL}\n{more}"));
    // A place behind the end wraps to the start, and a request that does not fit ends the pass.
    assert_eq!(job("skip = \"4 KiB\""), [0, 8, 16, 24, 0, 8, 16, 24]);
    assert_eq!(job("skip = \"6 KiB\"\nloops = 2"), [0, 10, 20, 0, 10, 20]);
    assert_eq!(job("skip = \"8 KiB\"\nskip_back = true"), [0, 24, 20, 16, 12, 8, 4, 0]);
    assert_eq!(job("skip = \"1 MiB\"\nrequests = 3"), [0, 0, 0]);
}

#[test]
fn runs_follow_random_places() {
    let job = |more: &str| {
        places(&format!(
            "[[job]]\nspan = \"1 MiB\"\namount = 0.25\nonce = true\npasses = \"new\"\nrun = 4\n\
             {more}"
        ))
    };
    for (more, step) in [("", 4), ("run_stays = true", 0)] {
        let found = job(more);
        assert_eq!(found.len(), 64);
        let firsts: BTreeSet<u64> = found.iter().step_by(4).copied().collect();
        assert_eq!(firsts.len(), 16, "{more}");
        let follows = |run: &&[u64]| run.iter().zip(0..).all(|(&at, by)| at == run[0] + by * step);
        // A run that meets the end continues at another place.
        assert!(found.chunks(4).filter(follows).count() >= 15, "{more}");
    }
}

#[test]
fn zones_are_visited_one_after_the_other() {
    let zones = "stride_range = \"8 KiB\"\nstride_gap = \"8 KiB\"";
    let found = places(&format!("[[job]]\nspan = \"60 KiB\"\n{SEQUENTIAL}\n{zones}"));
    assert_eq!(found, [0, 4, 16, 20, 32, 36, 48, 52, 0, 4, 16, 20, 32, 36, 48]);
    let part = "stride_range = \"16 KiB\"\nstride_amount = \"8 KiB\"";
    let found = places(&format!("[[job]]\nspan = \"32 KiB\"\n{SEQUENTIAL}\n{part}"));
    assert_eq!(found, [0, 4, 16, 20, 0, 4, 16, 20]);
    let random = "once = true\npasses = \"new\"\nstride_range = \"16 KiB\"";
    let found = places(&format!("[[job]]\nspan = \"64 KiB\"\nloops = 2\n{random}"));
    for (visit, zone) in found.chunks(4).zip([0, 16, 32, 48].into_iter().cycle()) {
        let seen: BTreeSet<u64> = visit.iter().copied().collect();
        assert_eq!(seen, (0..4).map(|block| zone + 4 * block).collect::<BTreeSet<_>>());
    }
}

#[test]
fn files_have_their_turns() {
    let job =
        |more: &str| places(&format!("[[job]]\nspan = \"8 KiB\"\nfiles = 3\n{SEQUENTIAL}\n{more}"));
    // Each is a file of its own, and they lie one behind the other.
    assert_eq!(job(""), [0, 8, 16, 4, 12, 20]);
    assert_eq!(job("file_order = \"sequential\""), [0, 4, 8, 12, 16, 20]);
    assert_eq!(job("file_turn = 2"), [0, 4, 8, 12, 16, 20]);
    assert_eq!(job("amount = 0.5"), [0, 8, 16]);
    let mut random = job("file_order = \"random\"\nloops = 2");
    assert_eq!(random[..6], random[6..]);
    random.truncate(6);
    random.sort_unstable();
    assert_eq!(random, [0, 4, 8, 12, 16, 20]);
}

/// Preconditioning overwrites all files of the jobs.
#[test]
fn all_files_are_overwritten() {
    let jobs = plan("[[job]]\nspan = \"40 KiB\"\nfiles = 3\npasses = \"new\"");
    let mut source = JobsOverwrites::new(&jobs, PAGES, PAGE, 1);
    let pages: BTreeSet<u32> = (0..1000).map(|_| source.next().expect("a page").0).collect();
    assert_eq!(pages, (0..30).collect::<BTreeSet<_>>());
}

/// Popular places belong to a clone, in a file that it shares too, and stay where they are when the
/// drive is overwritten first.
#[test]
fn clones_have_popular_places_of_their_own() {
    let jobs = "[[job]]\nspan = \"4 MiB\"\nfile = \"a\"\nclones = 2\nloops = 4\n\
                address = { zipf = 1.2 }\npasses = \"new\"";
    let found = places_of_clones(jobs);
    let popular = |places: &mut dyn Iterator<Item = u64>| {
        let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
        places.for_each(|place| *counts.entry(place).or_default() += 1);
        let mut ranks: Vec<(u32, u64)> =
            counts.into_iter().map(|(at, count)| (count, at)).collect();
        ranks.sort_unstable();
        ranks.into_iter().rev().take(2).map(|(_, at)| at).collect::<Vec<_>>()
    };
    let [one, other] = [0, 1].map(|clone| popular(&mut found[&clone].iter().copied())[0]);
    assert_ne!(one, other);
    let mut source = JobsOverwrites::new(&plan(jobs), PAGES, PAGE, 1);
    let mut pages = (0..8192).map(|_| u64::from(source.next().expect("a page").0) * PAGE / KIB);
    let both: BTreeSet<u64> = popular(&mut pages).into_iter().collect();
    assert_eq!(both, BTreeSet::from([one, other]));
}

#[test]
fn rates_begin_again_after_a_pause() {
    let times = |more: &str| {
        let jobs = format!(
            "[[job]]\nspan = \"32 KiB\"\n{SEQUENTIAL}\niops = 100\nthink = \"35 ms\"\n\
             think_after = 4\n{more}"
        );
        let mut source = Jobs::new(&plan(&jobs), PAGES, PAGE, 1);
        let (mut found, mut now_ns) = (Vec::new(), 0);
        loop {
            match source.turn(now_ns).expect("a turn") {
                Turn::Request(request) => {
                    let clone = request.job;
                    found.push(now_ns / 1_000_000);
                    source.done(clone, request.op, request.bytes, 0, now_ns);
                }
                Turn::Wait(until) => now_ns = until.expect("nothing is in flight"),
                _ => return found,
            }
        }
    };
    assert_eq!(times(""), [0, 10, 20, 30, 65, 65, 65, 70]);
    assert_eq!(times("think_restarts_rate = true"), [0, 10, 20, 30, 65, 75, 85, 95]);
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (job, why) in [
        ("run = 2", "needs passes"),
        ("skip = \"4 KiB\"", "needs passes"),
        ("files = 2", "needs passes"),
        ("passes = \"new\"\nfile = \"drive\"\nfiles = 2", "the drive is one"),
        ("passes = \"new\"\nfiles = 2\nrun = 2", "several files"),
        ("passes = \"new\"\nstride_gap = \"4 KiB\"", "needs `stride_range`"),
        ("passes = \"new\"\nstride_range = \"0 B\"", "must have bytes"),
        ("passes = \"new\"\nstride_range = \"6 KiB\"", "multiple of the alignment"),
        (
            "passes = \"new\"\nstride_range = \"8 KiB\"\naddress = { zipf = 1.2 }",
            "uniform addresses",
        ),
    ] {
        let found = refusal(&text(&format!("[[job]]\nspan = \"1 MiB\"\n{job}")), &[]);
        assert!(found.contains(why), "{job}: {found}");
    }
}
