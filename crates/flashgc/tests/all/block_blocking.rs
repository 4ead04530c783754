//! Blocking of blocks only: no read is served from a block under collection and no data is lost,
//! however requests interleave with collections; and a missing requirement is an error.

use crate::common;

use common::{TINY, found_against, refusal, run_filled, run_verified, setup, whole};
use flashgc::ids::{BlockId, Lpn, PlaneId, Ppn};
use flashgc::verify::checker::{Checker, ClosedBlocks, Promises};
use flashgc::verify::{Cause, Happened, Watch};
use proptest::test_runner::{Config, TestRunner};

/// Settings of the start and the victims of collections.
const SCHEMES: [&[&str]; 9] = [
    &["gc.scheme=\"bbgc\"", "gc.trigger.used-space.victims=\"25%\""],
    &["gc.scheme=\"on-demand\"", "gc.trigger.used-space.victims=\"25%\""],
    &["gc.scheme=\"on-demand\"", "gc.victim.invalidation-rate.now=true"],
    &["gc.scheme=\"bbgc\"", "gc.trigger.used-space.of=\"plane\"", "gc.erase.use=\"blocks\""],
    &["gc.scheme=\"on-demand\"", "gc.trigger.use=\"watermark\"", HARD],
    &["gc.scheme=\"bbgc\"", "gc.trigger.use=[\"used-space\",\"idle\"]", IDLE],
    &["gc.scheme=\"bbgc\"", "gc.trigger.used-space.victims=\"25%\"", ONE_FRONTIER],
    &["gc.scheme=\"on-demand\"", "gc.trigger.use=\"watermark\"", HARD, ONE_FRONTIER],
    &["gc.scheme=\"bbgc\"", "gc.erase.use=\"blocks\"", UNTIL_STOP, ONE_FRONTIER],
];
const ONE_FRONTIER: &str = "gc.placement.use=\"one-frontier\"";
const UNTIL_STOP: &str = "gc.trigger.used-space.batch=\"until-stop\"";
const HARD: &str = "gc.trigger.watermark.hard=\"2 blocks\"";
const IDLE: &str = "gc.trigger.idle.wait=\"200 us\"";

/// The drives on which they meet.
const DRIVES: [&[&str]; 6] = [
    &["device.unit=\"plane\""],
    &["device.unit=\"plane\"", "device.timing.transfer=\"25 ns/B\""],
    &["device.unit=\"die\"", "device.timing.transfer=\"25 ns/B\"", "device.allocation=\"dynamic\""],
    &[
        "device.unit=\"chip\"",
        "device.registers=2",
        "gc.copy.use=\"parallel\"",
        "gc.copy.parallel.parity=false",
    ],
    &["device.unit=\"channel\"", "gc.copy.use=\"bus\"", "device.timing.transfer=\"5 ns/B\""],
    &[
        "device.unit=\"chip\"",
        "device.multi_plane=2",
        "device.allocation=\"dynamic\"",
        "device.pool=\"chip\"",
        "device.write_buffer.size=\"8 KiB\"",
    ],
];

/// A short run under the checker, which panics at a read of a block under collection, a write of
/// the host to the one that copies fill, and at data that is lost or stale. Returns the number
/// of reads that waited, and of collections.
fn run_case(scheme: usize, drive: usize, seed: u64, gap_us: u64, reads: u64) -> [u64; 2] {
    let sets = [
        format!("seed={seed}"),
        format!("workload.synthetic.interarrival={{exponential=\"{gap_us} us\"}}"),
        format!("workload.synthetic.read_share=0.{reads}"),
        format!("gc.trigger.used-space.on=\"{}%\"", 40 + seed % 40),
        format!("workload.synthetic.trim_share=0.{}", seed % 2),
        "workload.synthetic.requests=100".into(),
        "workload.synthetic.size={\"512 B\"=0.2,\"4 KiB\"=0.6,\"12 KiB\"=0.2}".into(),
        "workload.synthetic.address={hot_cold={f=0.1,r=0.7}}".into(),
        "device.exported=0.4".into(),
        "gc.trigger.watermark.soft=\"3 blocks\"".into(),
        format!("device.blocks_per_plane={}", 15 + seed % 3),
        "device.pages_per_block=4".into(),
    ];
    let text = TINY.replace("queue_depth = 8\n", "").replace("overwrite = 1.0\n", "");
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let setup = setup(&text, &[&sets, SCHEMES[scheme], DRIVES[drive]].concat());
    let results = run_filled(&setup);
    [results.counters.blocked, results.counters.jobs]
}

#[test]
fn the_host_stays_out_of_blocks_under_collection_however_requests_come() {
    let count = if common::is_long() { 10_000 } else { 1_000 };
    let config = Config { cases: count, failure_persistence: None, ..Config::default() };
    let cases = (0..SCHEMES.len(), 0..DRIVES.len(), 0u64..1 << 32, 20u64..600, 1u64..9);
    let sums = std::cell::Cell::new([0, 0]);
    let run = |(scheme, drive, seed, gap_us, reads)| {
        let [blocked, jobs] = run_case(scheme, drive, seed, gap_us, reads);
        let [all_blocked, all_jobs] = sums.get();
        sums.set([all_blocked + blocked, all_jobs + jobs]);
        Ok(())
    };
    TestRunner::new(config).run(&cases, run).expect("every case");
    let [blocked, jobs] = sums.get();
    let (least_blocked, least_jobs) = (u64::from(count) / 10, 2 * u64::from(count));
    assert!(blocked > least_blocked && jobs > least_jobs, "{blocked} reads waited for {jobs} jobs");
}

#[test]
fn what_the_hold_needs_is_requested() {
    for (sets, expected) in [
        (&["gc.preemption.use=\"never\""][..], "needs requests that are served between copies"),
        (
            &["gc.preemption.use=\"suspend\"", "device.suspend.suspend=\"20 us\""],
            "needs requests that are served between copies",
        ),
        (&["gc.preemption.between-copies.merge=true"], "set merge = false"),
        (&["gc.preemption.between-copies.pipeline=true"], "set pipeline = false"),
        (&["gc.copy.copyback.parity=true"], "parity = false"),
        (
            &[
                "gc.copy.use=\"parallel\"",
                "gc.copy.parallel.path=\"global\"",
                "device.allocation=\"dynamic\"",
            ],
            "set path = \"local\"",
        ),
    ] {
        let sets = [&["gc.scheme=\"bbgc\"", "device.exported=0.4"], sets].concat();
        let found = refusal(TINY, &sets);
        assert!(found.contains(expected), "{sets:?}\n{found}");
    }
}

/// A poll of the queue costs time, as in every collection with preemption.
#[test]
fn looks_at_the_queue_cost_time() {
    let sets = ["gc.scheme=\"bbgc\"", "device.exported=0.4"];
    let poll = ["gc.preemption.between-copies.poll=\"600 ns\""];
    let held = |sets: &[&str]| whole(&run_verified(TINY, sets), "gc.blocking_ns");
    assert!(held(&[&sets[..], &poll].concat()) > held(&sets));
}

/// One frontier on a drive with few erased pages, with reads that always wait: writes wait for the
/// end of each batch, and all requests are served.
#[test]
fn writes_that_wait_for_batches_are_served() {
    for allocation in ["striped", "dynamic", "when-idle"] {
        let allocation = format!("device.allocation=\"{allocation}\"");
        for reads in ["0.1", "0.9"] {
            let reads = format!("workload.synthetic.read_share={reads}");
            let sets = ["gc.scheme=\"bbgc\"", "device.exported=0.4", ONE_FRONTIER];
            let report = run_verified(TINY, &[&sets[..], &[&allocation, &reads]].concat());
            assert!(whole(&report, "gc.count") > 0, "{allocation} {reads}");
            assert!(whole(&report, "gc.blocked") > 0, "{allocation} {reads}");
        }
    }
}

/// A checker that expects the host's open block to be closed complains where copies have a block of
/// their own.
#[test]
fn the_checker_tells_the_two_closed_blocks_apart() {
    let setup = setup(TINY, &["gc.scheme=\"bbgc\"", "device.exported=0.4"]);
    let closes_blocks = Some(ClosedBlocks::OpenBlock);
    let promises = Promises { closes_blocks, ..Promises::of(&setup.plan) };
    let found = found_against(&setup, promises);
    assert!(found.contains("which a batch has closed"), "{found}");
}

/// A story for a checker of one frontier: an operation of the host in plane 0, in whose open block
/// two pages are written when a batch begins.
fn story(seen: impl Fn(Ppn) -> Happened) {
    let setup = setup(TINY, &["gc.scheme=\"bbgc\"", "device.exported=0.4", ONE_FRONTIER]);
    let promises = Promises { timing: None, ..Promises::of(&setup.plan) };
    let geometry = &setup.plan.geometry;
    let mut checker = Checker::new(geometry, promises);
    let first = geometry.first_page(BlockId(3));
    for page in 0..2 {
        let (lpn, cause) = (Lpn(page), Cause::Host { op: 0 });
        let ppn = Ppn(first.0 + page);
        checker.observe(0, Happened::Programmed { ppn, lpn, cause, current: true });
    }
    checker.observe(0, Happened::MeasuringStarts);
    checker.observe(0, Happened::Claimed { block: BlockId(0), valid: 0 });
    checker.observe(500, seen(first));
}

#[test]
#[should_panic(expected = "was read in the open block, which a batch has closed")]
fn the_checker_catches_a_read_of_the_open_block() {
    story(|first| Happened::Read { ppn: Ppn(first.0 + 1), lpn: Lpn(1) });
}

#[test]
#[should_panic(expected = "the host wrote to block 3, which a batch has closed")]
fn the_checker_catches_a_write_to_the_open_block() {
    story(|first| Happened::Programmed {
        ppn: Ppn(first.0 + 2),
        lpn: Lpn(2),
        cause: Cause::Host { op: 1 },
        current: true,
    });
}

#[test]
#[should_panic(expected = "the batch of plane 0 ended before its victims were erased")]
fn the_checker_catches_a_batch_that_ends_early() {
    story(|_| Happened::BatchEnded { plane: PlaneId(0) });
}
