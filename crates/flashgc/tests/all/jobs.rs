//! Concurrent jobs follow their tables: depths, rates, times, places and sizes.

use crate::common;

use common::setup;
use flashgc::config::WorkloadPlan;
use flashgc::rng::Random;
use flashgc::workload::jobs::{Jobs, JobsOverwrites, Layout, Misfit, Tally};
use flashgc::workload::{HostOp, HostRequest, Overwrites, Source, Turn};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// 256 MiB for the host, in pages of 4 KiB.
const PAGES: u32 = 1 << 16;
const MIB: u64 = 1 << 20;
pub const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

pub fn text(jobs: &str) -> String {
    format!(
        "[device]\npreset = \"slc-msr\"\nblocks_per_plane = 40\n[workload.jobs]\n{}",
        jobs.replace("[[job]]", "[[workload.jobs.job]]")
    )
}

fn plan(jobs: &str) -> flashgc::workload::jobs::JobsPlan {
    let WorkloadPlan::Jobs(plan) = setup(&text(jobs), &[]).workload else { panic!("jobs") };
    plan.plan
}

/// A request as a drive of this test saw it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at_ns: u64,
    clone: u16,
    request: HostRequest,
}

/// A drive that serves any number of requests at once, each with a latency of `latency_ns`.
struct Played {
    seen: Vec<Seen>,
    tallies: Vec<Tally>,
    ended_ns: u64,
    /// The most requests in flight, by clone.
    in_flight_max: BTreeMap<u16, u32>,
}

fn play(source: &mut Jobs, mut latency_ns: impl FnMut(&HostRequest) -> u64) -> Played {
    let mut seen: Vec<Seen> = Vec::new();
    // The end of each request, the earliest first.
    let mut ends: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut in_flight: BTreeMap<u16, u32> = BTreeMap::new();
    let mut in_flight_max: BTreeMap<u16, u32> = BTreeMap::new();
    let mut now_ns = 0;
    loop {
        let until = match source.turn(now_ns).expect("a turn") {
            Turn::Request(request) => {
                let clone = request.job;
                assert_eq!(request.at_ns, now_ns);
                ends.push(Reverse((now_ns + latency_ns(&request), seen.len())));
                seen.push(Seen { at_ns: now_ns, clone, request });
                let count = in_flight.entry(clone).or_default();
                *count += 1;
                let most = in_flight_max.entry(clone).or_default();
                *most = (*most).max(*count);
                continue;
            }
            Turn::Wait(until) => until,
            Turn::End => break,
            Turn::RampEnds(_) => unreachable!("no job has a ramp"),
            Turn::NeverEnds(why) => panic!("{why}"),
        };
        let end = ends.peek().map(|Reverse((at_ns, _))| *at_ns);
        now_ns = [until, end].into_iter().flatten().min().expect("it waits for something");
        if end == Some(now_ns) {
            let Reverse((_, number)) = ends.pop().expect("a request");
            let Seen { at_ns, clone, request } = seen[number];
            *in_flight.get_mut(&clone).expect("in flight") -= 1;
            source.done(clone, request.op, request.bytes, now_ns - at_ns, now_ns);
        }
    }
    assert!(ends.is_empty(), "it ends when all requests are done");
    Played { seen, tallies: source.tallies(), ended_ns: now_ns, in_flight_max }
}

fn played(jobs: &str, latency_ns: u64) -> Played {
    play(&mut Jobs::new(&plan(jobs), PAGES, 4096, 1), |_| latency_ns)
}

#[test]
fn each_clone_keeps_its_own_depth() {
    let jobs = "
        [[job]]
        name = \"deep\"
        span = \"16 MiB\"
        depth = 8
        read_share = 1.0
        [[job]]
        name = \"wide\"
        clones = 3
        span = \"4 MiB\"
        depth = 2";
    let mut random = Random::named(1, "latency");
    let mut source = Jobs::new(&plan(jobs), PAGES, 4096, 1);
    let found = play(&mut source, |_| 1_000 + random.below(100_000));
    assert_eq!(found.in_flight_max, BTreeMap::from([(0, 8), (1, 2), (2, 2), (3, 2)]));
    let [deep, wide] = &found.tallies[..] else { panic!("two jobs") };
    assert_eq!(
        (deep.name.as_str(), deep.clones, deep.depth, deep.in_flight_max),
        ("deep", 1, 8, 8)
    );
    assert_eq!(
        (wide.name.as_str(), wide.clones, wide.depth, wide.in_flight_max),
        ("wide", 3, 6, 2)
    );
    // The amount of each clone is its span.
    assert_eq!((deep.requests, wide.requests), ([4096, 0, 0], [0, 3 * 1024, 0]));
    assert_eq!((deep.bytes, wide.bytes), ([16 * MIB, 0, 0], [0, 12 * MIB, 0]));
    // They run concurrently: the first is not over when the others begin.
    let first_of = |clone| found.seen.iter().position(|seen| seen.clone == clone).expect("it runs");
    assert!((0..4).all(|clone| first_of(clone) < 14), "all begin at once");
}

#[test]
fn a_rate_is_met_to_the_nanosecond_where_the_depth_allows() {
    let jobs = "[[job]]\nspan = \"4 MiB\"\niops = 3000\ndepth = 4\nrequests = 3001";
    let found = played(jobs, 100_000);
    for (number, seen) in found.seen.iter().enumerate() {
        assert_eq!(seen.at_ns, number as u64 * S / 3000, "{number}");
    }
    // The span ends the job after 1024 requests, before its number of them.
    assert_eq!(found.seen.len(), 1024);
    // Two clones have the rate each.
    let two = played(&format!("{jobs}\nclones = 2\namount = 10.0"), 100_000);
    assert_eq!(two.tallies[0].requested_iops, [Some(6000), Some(6000), Some(6000)]);
    assert_eq!(two.tallies[0].requests[1], 6002);
    assert_eq!(two.ended_ns, S + 100_000);
}

#[test]
fn a_job_that_is_held_up_catches_up_as_far_as_its_depth_allows() {
    let jobs = "[[job]]\nspan = \"4 MiB\"\niops = 1000\ndepth = 2\nrequests = 100";
    let mut served = 0;
    let mut source = Jobs::new(&plan(jobs), PAGES, 4096, 1);
    let found = play(&mut source, |_| {
        served += 1;
        if served == 10 { 20 * MS } else { 600_000 }
    });
    assert_eq!(found.in_flight_max[&0], 2);
    let due_ns = |number: usize| number as u64 * MS;
    assert!(found.seen.iter().enumerate().all(|(number, seen)| seen.at_ns >= due_ns(number)));
    // With one place in the queue left, it still keeps its rate.
    assert_eq!(found.seen[99].at_ns, due_ns(99));
    // With none, it is late and then issues as soon as one is done.
    let one = jobs.replace("depth = 2", "depth = 1");
    let mut served = 0;
    let mut source = Jobs::new(&plan(&one), PAGES, 4096, 1);
    let found = play(&mut source, |_| {
        served += 1;
        if served == 10 { 20 * MS } else { 600_000 }
    });
    assert_eq!(found.seen[10].at_ns, 29 * MS);
    assert_eq!(found.seen[11].at_ns, 29 * MS + 600_000);
    assert_eq!(found.seen[99].at_ns, due_ns(99));
}

#[test]
fn rates_of_reads_and_writes_bound_each_other_through_the_mix() {
    let jobs = "[[job]]\nspan = \"64 MiB\"\nread_share = 0.75\nread_iops = 900\nwrite_iops = 900\n\
                runtime = \"10 s\"\ntime_based = true\ndepth = 8";
    let [tally] = &played(jobs, 50_000).tallies[..] else { panic!("one job") };
    let reads = tally.iops(HostOp::Read).expect("a rate");
    assert!((890.0..=900.1).contains(&reads), "{reads}");
    let share = tally.requests[0] as f64 / (tally.requests[0] + tally.requests[1]) as f64;
    assert!((share - 0.75).abs() < 0.01, "{share}");
    // Bytes per second count bytes, whatever the sizes.
    let jobs = "[[job]]\nspan = \"64 MiB\"\nsize = { \"4 KiB\" = 1, \"12 KiB\" = 1 }\n\
                rate = \"8 MB/s\"\ntime_based = true\nruntime = \"5 s\"\ndepth = 4";
    let [tally] = &played(jobs, 50_000).tallies[..] else { panic!("one job") };
    assert!(tally.bytes[1].abs_diff(40_000_000) < 16_384, "{}", tally.bytes[1]);
}

#[test]
fn gaps_of_a_poisson_process_are_exponential() {
    let jobs = "[[job]]\nspan = \"64 MiB\"\niops = 2000\npoisson = true\ndepth = 1000\n\
                time_based = true\nruntime = \"50 s\"";
    let found = played(jobs, 1_000);
    let gaps: Vec<f64> =
        found.seen.windows(2).map(|two| (two[1].at_ns - two[0].at_ns) as f64 / 5e5).collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
    for short in [0.1, 0.5, 1.0, 2.0] {
        let found = gaps.iter().filter(|&&gap| gap < short).count() as f64 / count;
        assert!((found - (1.0 - libm::exp(-short))).abs() < 0.01, "{short}: {found}");
    }
}

#[test]
fn a_time_based_job_ends_at_its_time() {
    let jobs = "
        [[job]]
        span = \"1 MiB\"
        depth = 4
        time_based = true
        runtime = \"100 ms\"
        [[job]]
        span = \"1 MiB\"
        iops = 7
        time_based = true
        runtime = \"200 ms\"";
    let found = played(jobs, 30_000);
    let [loops, paced] = &found.tallies[..] else { panic!("two jobs") };
    // The span is passed many times.
    assert!(loops.bytes[1] > 40 * MIB, "{}", loops.bytes[1]);
    let last = found.seen.iter().filter(|seen| seen.clone == 0).map(|seen| seen.at_ns).max();
    assert!(last.is_some_and(|at_ns| (99 * MS..100 * MS).contains(&at_ns)), "{last:?}");
    assert!((100 * MS..100 * MS + 30_000).contains(&loops.ended_ns), "{}", loops.ended_ns);
    // A job whose next request is due later ends at its time, too.
    assert_eq!((paced.requests[1], paced.ended_ns, found.ended_ns), (2, 200 * MS, 200 * MS));
    // Without `time_based` the time only bounds it.
    let short = "[[job]]\nspan = \"1 MiB\"\ndepth = 4\nruntime = \"100 ms\"";
    assert_eq!(played(short, 30_000).tallies[0].bytes[1], MIB);
    let bounded = played(short, 3 * MS);
    assert!((100 * MS..=103 * MS).contains(&bounded.ended_ns), "{}", bounded.ended_ns);
    assert!(bounded.seen.len() < 200);
}

#[test]
fn groups_follow_one_another_and_starts_are_delayed() {
    let jobs = "
        [[job]]
        span = \"1 MiB\"
        [[job]]
        span = \"2 MiB\"
        start = \"5 ms\"
        [[job]]
        clones = 2
        span = \"1 MiB\"
        after_others = true
        start = \"7 ms\"";
    let [first, second, third] = &played(jobs, 100_000).tallies[..] else { panic!("three jobs") };
    assert_eq!((first.begun_ns, first.ended_ns), (0, 256 * 100_000));
    assert_eq!((second.begun_ns, second.ended_ns), (5 * MS, 5 * MS + 512 * 100_000));
    assert_eq!(third.begun_ns, second.ended_ns + 7 * MS);
    assert_eq!(third.ended_ns, third.begun_ns + 256 * 100_000, "both clones begin together");
}

#[test]
fn a_job_pauses_after_its_requests_are_done() {
    let jobs = "[[job]]\nspan = \"4 MiB\"\ndepth = 8\nthink = \"1 ms\"\nthink_after = 3\n\
                requests = 9";
    let found = played(jobs, 100_000);
    let times: Vec<u64> = found.seen.iter().map(|seen| seen.at_ns).collect();
    let next = MS + 100_000;
    assert_eq!(times, [0, 0, 0, next, next, next, 2 * next, 2 * next, 2 * next]);
}

#[test]
fn a_trim_is_followed_by_a_write_of_the_same_bytes() {
    let jobs = "[[job]]\nspan = \"1 MiB\"\ntrim_share = 1.0\ntrim_then_write = true\nonce = true";
    let found = played(jobs, 1_000);
    assert_eq!(found.tallies[0].requests, [0, 256, 256]);
    assert_eq!(found.tallies[0].bytes, [0, MIB, MIB]);
    for two in found.seen.chunks(2) {
        let [trim, write] = two else { panic!("pairs") };
        assert_eq!((trim.request.op, write.request.op), (HostOp::Trim, HostOp::Write));
        assert_eq!(trim.request.offset_bytes, write.request.offset_bytes);
    }
}

/// Counts of 4 KiB blocks of the first clone.
fn blocks(found: &Played, of: usize) -> Vec<u64> {
    let mut counts = vec![0; of];
    for seen in found.seen.iter().filter(|seen| seen.clone == 0) {
        counts[(seen.request.offset_bytes / 4096) as usize] += 1;
    }
    counts
}

#[test]
fn a_random_pass_visits_every_block_once() {
    let jobs = "[[job]]\nspan = \"3 MiB\"\nonce = true\namount = 2.5\nread_share = 0.5\ndepth = 4";
    let found = played(jobs, 1_000);
    assert_eq!(found.seen.len(), 1920);
    assert!(blocks(&found, 768).iter().all(|&count| count == 2 || count == 3));
    let first_pass = Played { seen: found.seen[..768].to_vec(), ..found };
    assert!(blocks(&first_pass, 768).iter().all(|&count| count == 1));
    // Without a pass, some are left out.
    let free = played(&jobs.replace("once = true\n", ""), 1_000);
    assert!(blocks(&free, 768).contains(&0));
}

#[test]
fn sequential_requests_continue_where_those_of_their_kind_ended() {
    let jobs = "[[job]]\nspan = \"1 MiB\"\nread_share = 0.5\nrandom_share = 0.0\n\
                read_size = \"8 KiB\"\nwrite_size = \"4 KiB\"\nalign = \"4 KiB\"\namount = 5.0";
    let mut next = [0u64; 3];
    for seen in played(jobs, 1_000).seen {
        let HostRequest { op, offset_bytes, bytes, .. } = seen.request;
        let at = if next[op as usize] + bytes > MIB { 0 } else { next[op as usize] };
        assert_eq!(offset_bytes, at);
        next[op as usize] = at + bytes;
    }
    // Half of the requests are sequential.
    let half = "[[job]]\nspan = \"64 MiB\"\nrandom_share = 0.5\namount = 1.0";
    let found = played(half, 1_000);
    let follows = |two: &[Seen]| two[1].request.offset_bytes == two[0].request.offset_bytes + 4096;
    let share =
        found.seen.windows(2).filter(|two| follows(two)).count() as f64 / found.seen.len() as f64;
    assert!((share - 0.5).abs() < 0.02, "{share}");
}

/// Asserts that counts have these shares of their sum, within five standard deviations.
fn assert_shares(what: &str, counts: &[u64], shares: &[f64]) {
    let all = counts.iter().sum::<u64>() as f64;
    for (number, (&count, &share)) in counts.iter().zip(shares).enumerate() {
        let (due, off) = (all * share, 5.0 * (all * share * (1.0 - share)).sqrt() + 1e-9);
        assert!((count as f64 - due).abs() <= off, "{what} {number}: {count} of {due}");
    }
}

#[test]
fn kinds_sizes_and_zones_have_their_shares() {
    let jobs = "[[job]]\nspan = \"128 MiB\"\namount = 20.0\nread_share = 0.6\ntrim_share = 0.1\n\
        read_size = { \"4 KiB\" = 70, \"16 KiB\" = 20, \"64 KiB\" = 10 }\n\
        write_size = { \"4 KiB\" = 90, \"8 KiB\" = 10 }\ntrim_size = \"32 KiB\"\n\
        write_address = { zones = [{ bytes = \"8 MiB\", requests = 0.7 }, \
        { bytes = \"24 MiB\", requests = 0.3 }] }\n\
        read_address = { groups = [{ places = 0.1, requests = 0.6 }, \
        { places = 0.2, requests = 0.3 }, \
        { places = 0.7, requests = 0.1 }] }";
    let found = played(jobs, 1_000);
    let (mut kinds, mut sizes, mut zones) = ([0; 3], BTreeMap::new(), [[0u64; 3]; 3]);
    for Seen { request, .. } in &found.seen {
        let kind = request.op as usize;
        kinds[kind] += 1;
        *sizes.entry((kind, request.bytes / 1024)).or_insert(0u64) += 1;
        let at = request.offset_bytes;
        let zone = match request.op {
            HostOp::Read => [128 * MIB / 10, 3 * 128 * MIB / 10, 128 * MIB],
            _ => [8 * MIB, 32 * MIB, 128 * MIB],
        };
        zones[kind][zone.iter().position(|&end| at < end).expect("inside")] += 1;
    }
    assert_shares("kind", &kinds, &[0.6, 0.3, 0.1]);
    let of = |kind, kib| sizes.get(&(kind, kib)).copied().unwrap_or(0);
    assert_shares("read", &[of(0, 4), of(0, 16), of(0, 64)], &[0.7, 0.2, 0.1]);
    assert_shares("write", &[of(1, 4), of(1, 8)], &[0.9, 0.1]);
    assert_eq!(sizes.keys().filter(|(kind, _)| *kind == 2).count(), 1);
    assert_shares("reads by zone", &zones[0], &[0.6, 0.3, 0.1]);
    assert_shares("writes by zone", &zones[1], &[0.7, 0.3, 0.0]);
}

#[test]
fn popular_blocks_follow_zipf_and_the_self_similar_law() {
    let jobs = |address: &str| {
        format!("[[job]]\nspan = \"16 MiB\"\namount = 50.0\naddress = {{ {address} }}")
    };
    for theta in [0.6, 0.99, 1.2] {
        let mut counts = blocks(&played(&jobs(&format!("zipf = {theta}")), 1_000), 4096);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let sum: f64 = (1..=4096).map(|rank| libm::pow(f64::from(rank), -theta)).sum();
        let shares: Vec<f64> =
            [1, 2, 3, 10].map(|rank| libm::pow(f64::from(rank), -theta) / sum).into();
        let all = counts.iter().sum::<u64>() as f64;
        for (rank, share) in [1, 2, 3, 10].into_iter().zip(shares) {
            let (found, due) = (counts[rank - 1] as f64, all * share);
            assert!((found - due).abs() < 6.0 * due.sqrt(), "{theta} {rank}: {found} of {due}");
        }
    }
    // 80 % of the requests go to 20 % of the blocks, and 64 % to 4 %.
    let mut counts = blocks(&played(&jobs("pareto = 0.2"), 1_000), 4096);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let all = counts.iter().sum::<u64>() as f64;
    for (share, due) in [(0.2, 0.8), (0.04, 0.64)] {
        let found = counts[..(share * 4096.0) as usize].iter().sum::<u64>() as f64 / all;
        assert!((found - due).abs() < 0.01, "{share}: {found}");
    }
}

fn spans(jobs: &str) -> Vec<(u64, u64)> {
    let layout = Layout::new(&plan(jobs), 256 * MIB, 4096).expect("it fits");
    layout.spans.iter().map(|span| (span.first_byte, span.bytes)).collect()
}

#[test]
fn files_lie_one_behind_the_other_and_shared_ones_overlap() {
    let own =
        "[[job]]\nclones = 2\nspan = \"3 MiB\"\n[[job]]\nspan = \"1 MiB\"\noffset = \"2 MiB\"";
    assert_eq!(spans(own), [(0, 3 * MIB), (3 * MIB, 3 * MIB), (8 * MIB, MIB)]);
    let shared = "
        [[job]]
        file = \"a\"
        clones = 3
        span = \"1 MiB\"
        offset_step = \"2 MiB\"
        [[job]]
        file = \"b\"
        span = \"1 MiB\"
        [[job]]
        file = \"a\"
        span = \"4 MiB\"
        offset = 0.5";
    let expected =
        [(0, 1), (2, 1), (4, 1), (6, 1), (2, 4)].map(|(at, size)| (at * MIB, size * MIB));
    assert_eq!(spans(shared), expected);
    let drive = "[[job]]\nfile = \"drive\"\noffset = 0.25\n[[job]]\nfile = \"drive\"\nspan = 0.5";
    assert_eq!(spans(drive), [(64 * MIB, 192 * MIB), (0, 128 * MIB)]);
    // Sizes, offsets and zones shrink together; requests do not.
    assert_eq!(
        spans(&format!("scale = 0.5\n{own}")),
        [(0, 3), (3, 3), (8, 1)].map(|(at, size)| (at * MIB / 2, size * MIB / 2))
    );
    let large = plan(
        &own.replace("3 MiB", "3 GiB").replace("[[job]]\nclones", "scale = 0.01\n[[job]]\nclones"),
    );
    let large = flashgc::workload::jobs::JobsPlan { scale: 1.0, ..large };
    let end = 2 * 3072 * MIB + 3 * MIB;
    assert_eq!(Layout::new(&large, 256 * MIB, 4096), Err(Misfit::Large(end)));
}

#[test]
fn a_clone_draws_the_same_requests_whatever_the_drive_does() {
    let jobs = "[[job]]\nclones = 2\nspan = \"4 MiB\"\ndepth = 3\nread_share = 0.5\n\
                [[job]]\nspan = \"2 MiB\"";
    let by_clone = |latency_ns: &mut dyn FnMut(&HostRequest) -> u64, seed| {
        let mut source = Jobs::new(&plan(jobs), PAGES, 4096, seed);
        let mut clones: BTreeMap<u16, Vec<(HostOp, u64)>> = BTreeMap::new();
        for seen in play(&mut source, latency_ns).seen {
            clones
                .entry(seen.clone)
                .or_default()
                .push((seen.request.op, seen.request.offset_bytes));
        }
        clones
    };
    let mut random = Random::named(5, "latency");
    let plain = by_clone(&mut |_| 1_000, 1);
    assert_eq!(plain, by_clone(&mut |_| 1_000 + random.below(1 << 20), 1));
    assert_ne!(plain, by_clone(&mut |_| 1_000, 2));
    assert_ne!(plain[&0], plain[&1].iter().map(|&(op, at)| (op, at - 4 * MIB)).collect::<Vec<_>>());
}

#[test]
fn overwriting_goes_where_jobs_write() {
    let jobs = "[[job]]\nspan = \"8 MiB\"\nread_share = 1.0\n[[job]]\nspan = \"4 MiB\"\ndepth = 3\n\
                [[job]]\nspan = \"2 MiB\"\nread_share = 0.5\ndepth = 2";
    let mut source = JobsOverwrites::new(&plan(jobs), PAGES, 4096, 1);
    let mut counts = [0u64; 3];
    for _ in 0..100_000 {
        let at = u64::from(source.next().expect("a page").0) * 4096;
        counts[[8, 12, 14].iter().position(|end| at < end * MIB).expect("a file")] += 1;
    }
    assert_eq!(counts[0], 0);
    assert_shares("overwrites", &counts[1..], &[0.75, 0.25]);
    // If no job writes, the places of the reads are overwritten.
    let reads = plan("[[job]]\nspan = \"8 MiB\"\nread_share = 1.0");
    let mut source = JobsOverwrites::new(&reads, PAGES, 4096, 1);
    assert!((0..1000).all(|_| u64::from(source.next().expect("a page").0) < 2048));
}
