//! The pass of fio's `sprandom`, as a fill and as a job: the shares of its regions, and refusals.
//! tests/python/test_sprandom.py has the shares and the order of the writes as a second program.

use crate::common;
use crate::drive::preconditioned;
use crate::jobs::text;

use common::{
    ONE_PLANE, TINY, assert_near, by_class, finish, number, refusal, run, run_verified, setup,
    whole,
};
use flashgc::config::WorkloadPlan;
use flashgc::workload::jobs::{Jobs, JobsOverwrites};
use flashgc::workload::{Overwrites, Source, Turn};
use std::collections::BTreeSet;

const FILL: &str = "precondition.fill=\"sprandom\"";
const NO_OVERWRITES: &str = "precondition.overwrite=0.0";

/// A plane of 4,096 pages, of which the host has 3,276.
const PLANE: [&str; 4] = [
    "device.blocks_per_plane=512",
    "device.exported=0.8",
    "precondition.sprandom.over_provisioning=0.15",
    "precondition.sprandom.regions=20",
];

/// On one plane pages lie in the order in which they were last written, so their places have the
/// valid share of each region. The age of a region to that of the oldest is the exponent of its
/// share, and the mean of all is user / physical.
#[test]
fn a_drive_has_the_shares_of_a_steady_one() {
    let sets = [&ONE_PLANE[..], &PLANE, &[FILL, NO_OVERWRITES]].concat();
    let filled = setup(TINY, &sets);
    let saved = preconditioned(&filled, None, true);
    assert_eq!(saved.origin.precondition.filled_pages, 3_276 + 491);
    let again = preconditioned(&filled, None, true);
    assert_eq!(saved.state.map, again.state.map, "the same seed");
    let other = setup(TINY, &[&sets[..], &["seed=2"]].concat());
    assert_ne!(saved.state.map, preconditioned(&other, None, true).state.map, "another seed");
    let mut valid = [0.0; 20];
    for ppn in &saved.state.map {
        valid[(*ppn as usize * 20 / 3_767).min(19)] += 20.0 / 3_767.0;
    }
    let powers = |least: f64| (0..20).map(move |age| least.powf(f64::from(age) / 19.0));
    let (mut low, mut high) = (0.01f64, 1.0f64);
    for _ in 0..60 {
        let least = (low + high) / 2.0;
        let mean = powers(least).sum::<f64>() / 20.0;
        if mean < 1.0 / 1.15 { low = least } else { high = least }
    }
    for (found, expected) in valid.iter().rev().zip(powers(low)) {
        assert!((found - expected).abs() < 3.0 / 188.0, "{found} is not {expected}");
    }
}

/// Planes with room for the reserve of any placement.
const LARGE: [&str; 2] = ["device.blocks_per_plane=96", "gc.trigger.watermark.soft=\"14 blocks\""];

/// Without a number the pass has the spare space of the drive, and collection begins before its
/// end. Overwriting may follow, and hints, slices and other schemes do not matter to the pass.
#[test]
fn a_fill_goes_with_everything_else() {
    let report = run_verified(TINY, &[FILL, "precondition.overwrite=0.5"]);
    assert_eq!(whole(&report, "precondition.filled_pages"), 1024);
    assert_eq!(whole(&report, "precondition.overwritten_pages"), 304);
    for placement in by_class() {
        let placement = format!("gc.placement.use=\"{placement}\"");
        run_verified(TINY, &[&LARGE[..], &[FILL, &placement]].concat());
    }
    run_verified(TINY, &[FILL, "precondition.scheme=\"fifo\""]);
    let hinted = ["gc.placement.use=\"fdp\"", "gc.placement.fdp.by=\"hint\""];
    run_verified(TINY, &[&hinted[..], &LARGE, &[FILL]].concat());
}

/// The oracle draws the pass in advance: its windows see each page's next write.
#[test]
fn the_oracle_knows_the_pass() {
    let pass = ["precondition.sprandom.over_provisioning=0.5", FILL, NO_OVERWRITES];
    let oracle = ["gc.placement.use=\"oracle\""];
    let report = run_verified(TINY, &[&LARGE[..], &oracle, &pass].concat());
    let unknowing = run(TINY, &[&LARGE[..], &pass].concat());
    assert!(number(&report, "write_amplification") <= number(&unknowing, "write_amplification"));
}

/// On a larger drive, write amplification of the next quarter drive writes is that of a drive that
/// was overwritten ten times, within some per cent.
#[test]
fn a_drive_is_steady_after_the_pass() {
    let plane = ["device.blocks_per_plane=2048", "device.exported=0.85"];
    let after = |sets: &[&str]| {
        let report = run(TINY, &[&ONE_PLANE[..], &plane, sets].concat());
        number(&report, "precondition.write_amplification")
    };
    let pass = after(&[FILL, "precondition.overwrite=0.5"]);
    let saved = preconditioned(
        &setup(TINY, &[&ONE_PLANE[..], &plane, &["precondition.overwrite=10"]].concat()),
        None,
        false,
    );
    let steady = &saved.origin.precondition.write_amplification_quarters;
    assert_near("write amplification", pass, *steady.last().expect("quarters"), 0.04);
    let sequential = after(&["precondition.overwrite=0.5"]);
    assert!(sequential < 0.9 * pass, "{sequential} after a fill in order, {pass} after the pass");
}

fn writes_of(jobs: &str) -> Vec<u64> {
    let WorkloadPlan::Jobs(plan) = setup(&text(jobs), &[]).workload else { panic!("jobs") };
    let mut source = Jobs::new(&plan.plan, 1 << 16, 4096, 1);
    let (mut found, mut now_ns) = (Vec::new(), 0);
    loop {
        match source.turn(now_ns).expect("a turn") {
            Turn::Request(request) => {
                found.push(request.offset_bytes / 4096);
                now_ns += 1000;
                source.done(request.job, request.op, request.bytes, 1000, now_ns);
            }
            Turn::Wait(until) => now_ns = until.expect("nothing is in flight"),
            Turn::End => return found,
            Turn::RampEnds(_) | Turn::NeverEnds(_) => panic!("neither a ramp nor a loop"),
        }
    }
}

const JOB: &str = "[[job]]\nspan = \"4 MiB\"\n";

#[test]
fn a_job_writes_the_pass_and_ends() {
    for passes in ["", "passes = \"same\"\n", "passes = \"new\"\nflush_after = 10_000\n"] {
        let found = writes_of(&format!("{JOB}{passes}sprandom = {{ regions = 10 }}"));
        assert_eq!(found.len(), 1024 + 154, "{passes}");
        let blocks: BTreeSet<u64> = found.iter().copied().collect();
        assert_eq!(blocks, (0..1024).collect(), "{passes}");
    }
    assert_eq!(writes_of(&format!("{JOB}sprandom = true\nrequests = 100")).len(), 100);
    assert_eq!(writes_of(&format!("{JOB}sprandom = false")).len(), 1024);
    // Preconditioning with the places of such a job has one pass after the other.
    let job = format!("{JOB}sprandom = true");
    let WorkloadPlan::Jobs(plan) = setup(&text(&job), &[]).workload else { panic!("jobs") };
    let mut source = JobsOverwrites::new(&plan.plan, 1 << 16, 4096, 1);
    let drawn: Vec<u32> = (0..2_356).map(|_| source.next().expect("a page").0).collect();
    for pass in drawn.chunks(1_178) {
        let pages: BTreeSet<u32> = pass.iter().copied().collect();
        assert_eq!(pages, (0..1024).collect());
    }
    assert_ne!(drawn[..1_178], drawn[1_178..]);
}

#[test]
fn a_job_runs_on_an_erased_drive() {
    let job = "[[job]]\nfile = \"drive\"\nspan = 0.5\ndepth = 4\nsprandom = true";
    let erased = setup(&text(job), &["precondition.fill=\"none\""]);
    assert!(erased.notes().iter().all(|note| !note.contains("sprandom")), "{:?}", erased.notes());
    let pages = u64::from(erased.plan.geometry.exported_pages) / 2;
    let report = finish(erased, None, true).expect("it runs");
    assert_eq!(whole(&report, "pages.host_written"), pages + (pages * 3).div_ceil(20));
    let filled = setup(&text(job), &[]);
    assert!(filled.notes().iter().any(|note| note.contains("for an erased drive")));
}

#[test]
fn wrong_passes_are_refused() {
    for (sets, reported) in [
        (&["precondition.sprandom.regions=10"][..], "needs fill = \"sprandom\""),
        (&[FILL, "precondition.sprandom.over_provisioning=0.0"], "above 0 and below 1"),
        (&[FILL, "precondition.sprandom.over_provisioning=1"], "above 0 and below 1"),
        (&[FILL, "precondition.sprandom.over_provisioning=-0.1"], "over_provisioning"),
        (&[FILL, "device.exported=0.45"], "that of the drive is 1."),
        (&[FILL, "precondition.sprandom.regions=1"], "from 2 to 100000"),
        (&[FILL, "precondition.sprandom.regions=2000"], "has 1024 writes, but 2000 regions"),
        (&[FILL, "precondition.sprandom.cache=\"64 KiB\""], "give at most 64 regions"),
        (&[FILL, "precondition.sprandom.cach=\"64 KiB\""], "`cache`"),
        (&[FILL, "precondition.reads=\"mapped\""], "needs pages without data"),
    ] {
        let found = refusal(TINY, sets);
        assert!(found.contains(reported), "{sets:?}: {found}");
    }
    for (keys, reported) in [
        ("sprandom = 1", "true or false"),
        ("sprandom = { over_provisioning = 2.0 }", "over_provisioning"),
        ("sprandom = { regions = 5_000 }", "`sprandom.regions` of job \"job 1\""),
        ("sprandom = { cache = \"1 MiB\" }", "at most 4 regions"),
        ("sprandom = true\nread_share = 0.5", "writes alone"),
        ("sprandom = true\naddress = { zipf = 1.0 }", "uniform random addresses"),
        ("sprandom = true\nrandom_share = 0.5", "uniform random addresses"),
        ("sprandom = true\nsize = \"8 KiB\"\nalign = \"4 KiB\"", "requests of one size"),
        ("sprandom = true\nonce = true", "more than once"),
        ("sprandom = true\nclones = 2", "one clone"),
        ("sprandom = true\npasses = \"same\"\nfiles = 2", "one file"),
        ("sprandom = true\npasses = \"same\"\nrun = 2", "places of its own"),
        ("sprandom = true\nloops = 2", "an amount of its own"),
        ("sprandom = true\namount = 2.0", "an amount of its own"),
        ("sprandom = true\ntime_based = true\nruntime = \"1 s\"", "an amount of its own"),
    ] {
        let found = refusal(&text(&format!("{JOB}{keys}")), &[]);
        assert!(found.contains(reported), "{keys}: {found}");
    }
}
