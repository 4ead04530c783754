//! Jobs that work in passes over their part, by the rules of fio: the requests that fit,
//! repetitions, and their number.

use crate::common;
use crate::jobs::text;

use common::setup;
use flashgc::config::WorkloadPlan;
use flashgc::workload::jobs::{Jobs, JobsOverwrites};
use flashgc::workload::{HostOp, Overwrites, Source, Turn};

const PAGES: u32 = 1 << 16;
const KIB: u64 = 1024;

/// The requests of jobs on a drive that answers after a microsecond, with their times in ns.
fn timed(jobs: &str) -> Vec<(u64, HostOp, u64, u64)> {
    let WorkloadPlan::Jobs(plan) = setup(&text(jobs), &[]).workload else { panic!("jobs") };
    let mut source = Jobs::new(&plan.plan, PAGES, 4096, 1);
    let (mut found, mut now_ns) = (Vec::new(), 0);
    loop {
        match source.turn(now_ns).expect("a turn") {
            Turn::Request(request) => {
                let clone = request.job;
                found.push((now_ns, request.op, request.offset_bytes, request.bytes));
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

fn requests(jobs: &str) -> Vec<(HostOp, u64, u64)> {
    timed(jobs).into_iter().map(|(_, op, offset, bytes)| (op, offset, bytes)).collect()
}

fn places(jobs: &str) -> Vec<u64> {
    requests(jobs).into_iter().map(|(_, offset, _)| offset / KIB).collect()
}

fn sorted(places: &[u64]) -> Vec<u64> {
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    sorted
}

/// The first trim of a pass may find no place where it fits, and passes that are the same are empty
/// then, without an end. Found by histories. fio ends such a job without a request.
#[test]
fn a_job_whose_first_pass_is_empty_ends_where_passes_are_the_same() {
    let of = |passes: &str| {
        requests(&format!(
            "[[job]]\nspan = \"44 KiB\"\nclones = 40\nrequests = 6\namount = 1000.0\n\
             trim_share = 0.3\nsize = \"4 KiB\"\ntrim_size = \"22 KiB\"\npasses = \"{passes}\""
        ))
        .len()
    };
    assert_eq!(of("new"), 40 * 6);
    let same = of("same");
    assert!(same % 6 == 0 && (20 * 6..40 * 6).contains(&same), "{same}");
}

/// A drive was overwritten without an end by clones whose passes are empty. Found by histories.
#[test]
fn clones_with_empty_passes_overwrite_nothing_and_others_go_on() {
    let pages_of = |jobs: &str, seed: u64| -> Vec<u64> {
        let WorkloadPlan::Jobs(plan) = setup(&text(jobs), &[]).workload else { panic!("jobs") };
        let mut source = JobsOverwrites::new(&plan.plan, PAGES, 4096, seed);
        (0..2_000).map(|_| u64::from(source.next().expect("a page").0)).collect()
    };
    let of_clones = |clones: u32| {
        format!(
            "[[job]]\nspan = \"44 KiB\"\nclones = {clones}\nrequests = 6\namount = 1000.0\n\
             size = \"22 KiB\"\nalign = \"4 KiB\"\npasses = \"same\"\n"
        )
    };
    // Some begin at a place without room for 22 KiB, in each pass.
    let pages = pages_of(&of_clones(40), 1);
    let used = (0..40).filter(|clone| pages.iter().any(|page| page / 11 == *clone)).count();
    assert!((20..40).contains(&used), "{used} of 40 clones");
    assert!(pages.iter().all(|&page| page < 40 * 11));
    // Where no clone has a request, any page is written.
    let spread = |seed: &u64| pages_of(&of_clones(1), *seed).iter().any(|&page| page >= 11);
    let empty = (1..=40).filter(spread).count();
    assert!((10..30).contains(&empty), "{empty} of 40 seeds");
}

#[test]
fn passes_repeat_the_first_or_are_new() {
    let job = |passes: &str| {
        places(&format!(
            "[[job]]\nspan = \"256 KiB\"\nonce = true\nloops = 3\npasses = \"{passes}\""
        ))
    };
    let all: Vec<u64> = (0..64).map(|block| block * 4).collect();
    for (passes, is_same) in [("same", true), ("new", false)] {
        let found = job(passes);
        assert_eq!(found.len(), 192, "{passes}");
        for pass in found.chunks(64) {
            assert_eq!(sorted(pass), all, "{passes}");
            assert_eq!(pass == &found[..64], is_same || pass.as_ptr() == found.as_ptr());
        }
    }
}

/// A drawn block that was visited is replaced by the next one that is free. The request before has
/// often just taken the one before that, so neighbours follow each other; in an order that is drawn
/// as a whole one pair is expected.
#[test]
fn a_visited_block_is_replaced_by_the_next_one() {
    let found = places("[[job]]\nspan = \"16 MiB\"\nonce = true\npasses = \"new\"");
    let neighbours = found.windows(2).filter(|pair| pair[0] + 4 == pair[1]).count();
    assert!(neighbours > 20, "{neighbours}");
    assert_eq!(sorted(&found), (0..4096).map(|block| block * 4).collect::<Vec<_>>());
}

/// Requests of several sizes are cut where they meet a visited block, and cover all once.
#[test]
fn requests_of_several_sizes_cover_every_block_once() {
    let sizes = "size = { \"4 KiB\" = 1, \"16 KiB\" = 1 }";
    let job =
        format!("[[job]]\nspan = \"1 MiB\"\nonce = true\npasses = \"same\"\nloops = 2\n{sizes}");
    let found = requests(&job);
    assert_eq!(found.len() % 2, 0);
    let (first, second) = found.split_at(found.len() / 2);
    assert_eq!(first, second);
    let mut blocks: Vec<u64> = first
        .iter()
        .flat_map(|&(_, offset, bytes)| (offset / 4096)..(offset + bytes) / 4096)
        .collect();
    blocks.sort_unstable();
    assert_eq!(blocks, (0..256).collect::<Vec<_>>());
    assert!(first.iter().any(|&(_, _, bytes)| bytes == 8192 || bytes == 12288), "some are cut");
}

#[test]
fn sequential_passes_end_where_nothing_fits() {
    // 9120 bytes: two requests, and no third that wraps.
    let job = |more: &str| {
        requests(&format!(
            "[[job]]\nspan = \"9120 B\"\nrandom_share = 0.0\npasses = \"same\"\n{more}"
        ))
    };
    let pass = vec![(HostOp::Write, 0, 4096), (HostOp::Write, 4096, 4096)];
    assert_eq!(job(""), pass);
    assert_eq!(job("loops = 2"), [&pass[..], &pass[..]].concat());
    // An amount above the part continues while the largest request is left of it.
    assert_eq!(job("amount = \"16 KiB\"").len(), 4);
    assert_eq!(job("amount = \"13 KiB\"").len(), 4);
    assert_eq!(job("amount = \"12 KiB\"").len(), 3);
    assert_eq!(job("amount = \"11 KiB\"").len(), 2);
    // The last one is drawn until it fits.
    let found = requests(
        "[[job]]\nspan = \"30 KiB\"\nrandom_share = 0.0\npasses = \"new\"\n\
         size = { \"4 KiB\" = 1, \"12 KiB\" = 9 }",
    );
    let bytes: u64 = found.iter().map(|&(_, _, bytes)| bytes).sum();
    assert_eq!(bytes, 28 * KIB);
}

#[test]
fn requests_are_counted_over_all_loops() {
    let job = "[[job]]\nspan = \"1 MiB\"\nrandom_share = 0.0\npasses = \"same\"\nloops = 2\n\
               requests = 3";
    assert_eq!(places(job), [0, 4, 8, 12, 16, 20]);
}

/// Trims of 16 KiB and writes of 8 KiB: each write up to the one that begins where the trim does.
#[test]
fn trims_and_writes_have_sizes_of_their_own() {
    let job = "[[job]]\nspan = \"256 KiB\"\nrandom_share = 0.0\npasses = \"same\"\n\
               trim_share = 1.0\ntrim_then_write = true\nwrite_size = \"8 KiB\"\n\
               trim_size = \"16 KiB\"";
    let found = requests(job);
    let of = |op| found.iter().filter(|&&(kind, _, _)| kind == op).count();
    assert_eq!((of(HostOp::Trim), of(HostOp::Write)), (16, 31));
    let starts: Vec<(HostOp, u64)> =
        found.iter().take(8).map(|&(op, offset, _)| (op, offset / KIB)).collect();
    let (t, w) = (HostOp::Trim, HostOp::Write);
    assert_eq!(starts, [(t, 0), (w, 0), (t, 16), (w, 8), (w, 16), (t, 32), (w, 24), (w, 32)]);
}

/// A share of requests that is not random leaves the others their map.
#[test]
fn the_random_part_of_a_job_visits_every_block_once() {
    let job = "[[job]]\nspan = \"4 MiB\"\npasses = \"same\"\nonce = true\nread_share = 0.5\n\
               write_random_share = 0.0";
    let found = requests(job);
    let mut reads: Vec<u64> =
        found.iter().filter(|request| request.0 == HostOp::Read).map(|request| request.1).collect();
    let count = reads.len();
    reads.sort_unstable();
    reads.dedup();
    assert_eq!(reads.len(), count);
}

/// 90 % reads at 500 requests a second of each kind: a read that is not due yet makes room for a
/// write. Without `overtake` it delays the writes behind it.
#[test]
fn a_kind_that_is_due_overtakes_one_that_is_not() {
    let job = |more: &str| {
        let found = timed(&format!(
            "[[job]]\nspan = \"64 MiB\"\nread_share = 0.9\niops = 500\nruntime = \"1 s\"\n\
             time_based = true\npasses = \"new\"\n{more}"
        ));
        [HostOp::Read, HostOp::Write].map(|op| found.iter().filter(|one| one.1 == op).count())
    };
    assert_eq!(job("overtake = true"), [500, 500]);
    let [reads, writes] = job("");
    assert!(reads == 500 && (30..90).contains(&writes), "{reads} {writes}");
    // Reads without a rate run free.
    let free = timed(
        "[[job]]\nspan = \"64 MiB\"\nread_share = 0.5\nwrite_iops = 300\nruntime = \"1 s\"\n\
         time_based = true\npasses = \"new\"\novertake = true",
    );
    let writes = free.iter().filter(|one| one.1 == HostOp::Write).count();
    assert_eq!(writes, 300);
    assert!(free.len() > 900_000, "{}", free.len());
}

#[test]
fn offsets_are_as_given_and_shares_whole_requests() {
    let first = |more: &str| {
        requests(&format!(
            "[[job]]\nspan = \"64 KiB\"\nrandom_share = 0.0\npasses = \"same\"\n{more}"
        ))[0]
            .1
    };
    assert_eq!(first("offset = \"512 B\""), 512);
    assert_eq!(first("offset = 0.1"), 8192);
    // A part ends with its file.
    let ended = |more: &str| {
        places(&format!(
            "[[job]]\nrandom_share = 0.0\npasses = \"same\"\nsize = \"64 KiB\"\n{more}"
        ))
    };
    let found = ended("file_size = \"4 MiB\"\noffset = \"1 MiB\"");
    assert_eq!((found.len(), found[0], found[47]), (48, 1024, 4096 - 64));
    let found = ended("file_size = \"256 KiB\"\nspan = \"400 KiB\"");
    assert_eq!(found, [0, 64, 128, 192]);
    // And with the drive.
    let found = requests(
        "[[job]]\nfile = \"drive\"\nspan = 1.0\noffset = 0.9\nrandom_share = 0.0\n\
         passes = \"same\"\nsize = \"1 MiB\"",
    );
    let drive_bytes = u64::from(PAGES) * 4096;
    let last = found.last().expect("some");
    assert!(last.1 + last.2 <= drive_bytes && drive_bytes - last.1 - last.2 < 1 << 20);
    assert!(found[0].1 >= drive_bytes / 10 * 9);
}
