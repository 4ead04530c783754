//! Collections in time slices: no request waits for more than one above the floor, every collection
//! ends, and every drive continues. The checker enforces the first in all runs here; the pairwise
//! matrix runs time slices with everything else.

use crate::common;

use common::{TINY, at, number, run, run_verified, whole};
use serde_json::Value;

const SLICES: &str = "gc.pacing.use=\"time-slices\"";
const NO_MARK: &str = "gc.trigger.watermark.hard=\"none\"";
const ERASE_NS: u64 = 1_500_000;
const COPY_NS: u64 = 225_000;

/// Requests of one page at these times.
fn open_loop(arrivals: &str, sets: &[&str]) -> Value {
    let text = TINY.replace("queue_depth = 8\n", "");
    let arrivals = format!("workload.synthetic.interarrival={{{arrivals}}}");
    run_verified(&text, &[&[arrivals.as_str()], sets].concat())
}

#[test]
fn no_page_waits_for_more_than_a_turn_and_an_operation() {
    for soft in ["4 blocks", "5 blocks"] {
        for arrivals in ["exponential=\"300 us\"", "fixed=\"150 us\"", "exponential=\"3 ms\""] {
            let soft = format!("gc.trigger.watermark.soft=\"{soft}\"");
            let report = open_loop(arrivals, &[SLICES, NO_MARK, &soft]);
            let stall_ns = whole(&report, "gc.stall_max_ns");
            assert!(stall_ns > 0 && stall_ns <= ERASE_NS + COPY_NS, "{stall_ns}");
            assert!(whole(&report, "gc.time_slices") > whole(&report, "gc.count"));
        }
    }
}

#[test]
fn shorter_turns_shorten_the_wait_for_copies_and_not_for_the_erase() {
    let with = |length: &str| {
        let length = format!("gc.pacing.time-slices.length=\"{length}\"");
        open_loop("exponential=\"400 us\"", &[SLICES, NO_MARK, &length])
    };
    let (short, long) = (with("225 us"), with("10 ms"));
    assert!(whole(&short, "gc.time_slices") > 2 * whole(&long, "gc.time_slices"));
    // A time slice of 10 ms is a whole collection.
    assert!(number(&short, "latency_ns.read.mean") < number(&long, "latency_ns.read.mean"));
}

/// One time slice for each write is enough: a collection of n copies takes at most n + 1 time
/// slices, and a block has more pages than that.
#[test]
fn a_busy_drive_keeps_up_above_its_floor() {
    let soft = "gc.trigger.watermark.soft=\"5 blocks\"";
    let sets = [SLICES, NO_MARK, soft, "workload.synthetic.read_share=0.0", "device.exported=0.4"];
    let report = run_verified(TINY, &sets);
    assert_eq!(whole(&report, "gc.below_floor_ns"), 0);
    assert!(whole(&report, "gc.count") > 100);
}

#[test]
fn a_drive_filled_to_the_last_page_goes_on_below_its_floor() {
    for depth in ["1", "40"] {
        for allocation in ["striped", "dynamic"] {
            let depth = format!("workload.synthetic.queue_depth={depth}");
            let allocation = format!("device.allocation=\"{allocation}\"");
            let sets = [SLICES, NO_MARK, &depth, &allocation, "device.exported=0.8"];
            let soft = "gc.trigger.watermark.soft=\"2 blocks\"";
            let report = run_verified(TINY, &[&sets[..], &[soft]].concat());
            assert!(whole(&report, "gc.below_floor_ns") > 0);
            assert_eq!(whole(&report, "requests.read") + whole(&report, "requests.write"), 3_000);
        }
    }
}

/// Without a pause the same victims are collected as at once: time slices change the times, not
/// the victims. One request at a time, so that none is accepted during a collection whose page it
/// rewrites.
#[test]
fn an_endless_turn_is_a_job_without_pause() {
    let one = "workload.synthetic.queue_depth=1";
    let endless = ["gc.pacing.time-slices.length=\"1000 s\"", SLICES, NO_MARK, one];
    let turns = run_verified(TINY, &endless);
    let plain = run_verified(TINY, &[NO_MARK, one]);
    for key in ["erases", "pages", "latency_ns.write.count", "wear"] {
        assert_eq!(at(&turns, key), at(&plain, key), "{key}");
    }
}

#[test]
fn extra_blocks_are_spare_space_and_marks_do_not_count_them() {
    let extra = "gc.pacing.time-slices.extra_space=\"25%\"";
    let (with, without) = (run(TINY, &[SLICES, extra]), run(TINY, &[SLICES]));
    // 8 planes of 16 blocks get 4 blocks of 8 pages each.
    assert_eq!(whole(&with, "capacity.extra_pages"), 8 * 4 * 8);
    assert_eq!(
        whole(&with, "capacity.physical_pages"),
        whole(&without, "capacity.physical_pages") + 8 * 4 * 8
    );
    let exported = |report: &Value| whole(report, "capacity.exported_pages");
    assert_eq!(exported(&with), exported(&without));
    assert!(without.pointer("/capacity/extra_pages").is_none());
    // A run is known by its configuration, and these are two.
    assert_ne!(with["config_hash"], without["config_hash"]);
    let notes = at(&with, "notes").to_string();
    assert!(notes.contains("adds spare blocks to each plane (4 to the device's 16)"), "{notes}");
    assert!(number(&with, "write_amplification") < number(&without, "write_amplification"));
    let share = "gc.trigger.watermark.soft=\"25%\"";
    let mark = |report: &Value| at(report, "config.gc.trigger.soft").clone();
    let (with, without) = (run(TINY, &[SLICES, extra, share]), run(TINY, &[SLICES, share]));
    assert_eq!(mark(&with), mark(&without));
}

/// A drive whose collections pause is found as it was left, whatever comes next.
#[test]
fn jobs_that_pause_are_open_at_the_end_and_in_no_mean() {
    let report = open_loop("exponential=\"5 ms\"", &[SLICES, NO_MARK]);
    let open = whole(&report, "gc.open");
    assert!(open <= 4, "{open}");
    assert!(whole(&report, "gc.busy_open_ns") <= whole(&report, "gc.busy_ns"));
}

/// Classes that always have an open block keep erased ones, which are none above the floor. The
/// checker counted them, and took a collection below its floor for one that let no request in.
#[test]
fn blocks_that_are_kept_for_classes_are_none_above_the_floor() {
    let sets = [
        &common::ONE_PLANE[..],
        &[
            "device.unit=\"plane\"",
            "device.blocks_per_plane=16",
            "device.pages_per_block=1",
            "device.exported=0.6198",
            "device.firmware.command=\"0 ns\"",
            "device.firmware.jitter.normal={mean=\"2 ns\",stddev=\"300 us\"}",
            "gc.victim.use=\"random\"",
            "gc.placement.use=\"fdp\"",
            "gc.placement.fdp.by=\"hint\"",
            "gc.placement.fdp.open=\"all\"",
            "gc.pacing.time-slices.extra_space=\"50%\"",
            "workload.synthetic.requests=300",
            "workload.synthetic.read_share=0.0",
            "workload.synthetic.queue_depth=1",
            "workload.synthetic.align=\"1 KiB\"",
            "precondition.overwrite=0.37",
            SLICES,
            NO_MARK,
        ],
    ]
    .concat();
    for seed in 1..=5 {
        let seed = format!("seed={seed}");
        let report = run_verified(TINY, &[&sets[..], &[&seed]].concat());
        assert!(whole(&report, "gc.below_floor_ns") > 0);
    }
}
