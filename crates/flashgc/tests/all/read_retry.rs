//! Read retries: their distribution, whose reads have them, and their cost (docs/read-retry.md).

use crate::common;

use common::{
    TINY, assert_near, at, finish_with, number, refusal, run, run_verified, setup, whole,
};
use flashgc::device::ErrorLaw;
use flashgc::session::{Options, Phase, Session};
use serde_json::Value;

const WORN: [&str; 2] = ["device.read_retry.cycles=3000", "device.read_retry.retention_days=90"];

/// Random reads of a drive that nothing is written to.
const READS: [&str; 4] = [
    "workload.synthetic.read_share=1.0",
    "workload.synthetic.queue_depth=1",
    "workload.synthetic.requests=40000",
    "precondition.overwrite=0.0",
];

fn with<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    parts.concat()
}

/// The share of a normal distribution above this value.
fn above(value: f64) -> f64 {
    libm::erfc(value / core::f64::consts::SQRT_2) / 2.0
}

/// The shares of pages that need no retry, one, and so on; soft decoding; and that are lost.
fn expected(days: f64, factor: f64) -> Vec<f64> {
    let limit = 72.0 / 8192.0;
    let excess = (ErrorLaw::TLC_72_LAYERS.rate(3000.0, days) * factor / limit).ln();
    let more_than = |steps: f64| above((steps - excess) / 0.3);
    let step = -(0.7f64.ln());
    let ends: Vec<f64> = (0..=8).map(|retries| f64::from(retries) * step).collect();
    let mut above = vec![1.0];
    above.extend(ends.iter().map(|&end| more_than(end)));
    above.extend([more_than(8.0 * step + 2f64.ln()), 0.0]);
    above.windows(2).map(|pair| pair[0] - pair[1]).collect()
}

fn shares(report: &Value, of: &str) -> Vec<f64> {
    let counts = at(report, &format!("read_retry.{of}.reads_by_retries"));
    let mut counts: Vec<f64> =
        counts.as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    counts.push(number(report, &format!("read_retry.{of}.soft_decoded")));
    counts.push(number(report, &format!("read_retry.{of}.uncorrectable")));
    let reads = number(report, &format!("read_retry.{of}.page_reads"));
    assert_eq!(counts.iter().sum::<f64>(), reads, "each read is counted once");
    counts.iter().map(|count| count / reads).collect()
}

/// A drive of 48,000 pages, for the same number of draws.
const LARGE: [&str; 3] =
    ["device.blocks_per_plane=200", "device.pages_per_block=60", "device.exported=0.5"];

fn assert_distribution(sets: &[&str], days: f64, factor: f64) {
    let report = run(TINY, &with(&[&LARGE, &READS, &WORN, sets]));
    let found = shares(&report, "host");
    let reads = number(&report, "read_retry.host.page_reads");
    for (at, (found, expected)) in found.iter().zip(expected(days, factor)).enumerate() {
        // Pages are read about once each: four standard deviations of this number of draws.
        let noise = 4.0 * (2.0 * expected * (1.0 - expected) / reads).sqrt() + 2e-4;
        assert!((found - expected).abs() < noise, "{at} retries: {found}, expected {expected}");
    }
    let mean: f64 = (0u32..).zip(&found).map(|(at, share)| f64::from(at.min(8)) * share).sum();
    assert_near("mean", number(&report, "read_retry.host.retries_per_read"), mean, 1e-9);
}

#[test]
fn retries_are_distributed_as_the_closed_form_says() {
    assert_distribution(&[], 90.0, 1.0);
    assert_distribution(&["device.read_retry.retention_days=365"], 365.0, 1.0);
    // All retries, soft decoding and its failure occur.
    assert_distribution(&["device.read_retry.type_factors=[25.0]"], 90.0, 25.0);
}

/// Word lines of three pages, each with its own rate.
#[test]
fn page_types_have_rates_of_their_own() {
    let types = ["device.read_retry.type_factors=[0.2, 1.0, 3.0]"];
    let report = run(TINY, &with(&[&LARGE, &READS, &WORN, &types]));
    let of_types = [0.2, 1.0, 3.0].map(|factor| expected(90.0, factor));
    for (at, found) in shares(&report, "host").iter().enumerate() {
        let mean = of_types.iter().map(|shares| shares[at]).sum::<f64>() / 3.0;
        assert!((found - mean).abs() < 0.012, "{at} retries: {found}, expected {mean}");
    }
}

/// On an idle drive a read takes its retries longer: decoder, array and bus for each.
#[test]
fn the_mean_read_is_longer_by_its_retries() {
    let plain = run(TINY, &with(&[&LARGE, &READS]));
    let worn = run(TINY, &with(&[&LARGE, &READS, &WORN]));
    let added_ns = number(&worn, "latency_ns.read.mean") - number(&plain, "latency_ns.read.mean");
    let read_ns = number(&plain, "latency_ns.read.mean");
    let retries = number(&worn, "read_retry.host.retries_per_read");
    assert_eq!(whole(&worn, "read_retry.host.soft_decoded"), 0);
    assert_near("added", added_ns, retries * (10_000.0 + read_ns), 1e-6);
    assert!(plain.get("read_retry").is_none());
}

/// A page has the same number of retries at every read.
#[test]
fn retries_belong_to_a_page_and_not_to_a_read() {
    let sets = with(&[&READS, &WORN, &["device.exported=0.1"]]);
    let [once, again] = [1, 2].map(|times| {
        let count = format!("workload.synthetic.requests={}", times * 200);
        let pass = ["workload.synthetic.sequential_share=1.0", "workload.synthetic.size=\"4 KiB\""];
        run(TINY, &with(&[&sets, &pass, &[&count]]))
    });
    let pages = whole(&once, "capacity.exported_pages");
    assert!(pages < 200, "{pages}");
    assert_ne!(number(&again, "read_retry.host.retried_share"), 0.0);
    assert_near(
        "shares",
        number(&again, "read_retry.host.retried_share"),
        number(&once, "read_retry.host.retried_share"),
        0.2,
    );
}

fn report_of(sets: &[&str], blame: bool) -> Value {
    let options = Options { verify: true, blame, ..Options::default() };
    finish_with(setup(TINY, sets), None, options).expect("the run goes on")
}

/// Copies over the bus are corrected and counted, and their data is new; copybacks are not.
#[test]
fn collection_has_retries_where_the_controller_corrects() {
    let mixed = ["workload.synthetic.read_share=0.5", "workload.synthetic.requests=20000"];
    let old = ["device.read_retry.retention_days=3650"];
    let sets = with(&[&WORN, &mixed, &old]);
    let bus = report_of(&with(&[&sets, &["gc.copy.use=\"bus\""]]), false);
    let back = report_of(&sets, false);
    assert!(number(&bus, "read_retry.collection.retried_share") > 0.01);
    assert_eq!(whole(&back, "read_retry.collection.page_reads"), 0);
    assert!(whole(&back, "pages.gc_moved") > 0);
    let [of_bus, of_back] =
        [&bus, &back].map(|report| number(report, "read_retry.host.retried_share"));
    assert!(of_bus < of_back, "old data stays old: {of_bus} and {of_back}");
}

/// Slots of a flash page share its retries, and collection pays for each flash page.
#[test]
fn slots_share_the_retries_of_their_page() {
    let slots = [
        "device.page_size=\"16 KiB\"",
        "device.mapping_unit=\"4 KiB\"",
        "device.pages_per_block=12",
        "device.pages_per_program=3",
        "device.allocation=\"dynamic\"",
        "workload.synthetic.read_share=0.5",
        "workload.synthetic.requests=20000",
        "workload.synthetic.size=\"4 KiB\"",
    ];
    for copy in ["\"bus\"", "\"copyback\""] {
        for preemption in ["never", "between-copies"] {
            let copy = format!("gc.copy.use={copy}");
            let preemption = format!("gc.preemption.use=\"{preemption}\"");
            let report = report_of(&with(&[&slots, &WORN, &[&copy, &preemption]]), true);
            assert!(number(&report, "read_retry.collection.retried_share") > 0.0);
            assert!(number(&report, "read_retry.host.retried_share") > 0.0);
        }
    }
}

/// The parts of each latency add up as ever, and retries are a part of service.
#[test]
fn blame_shows_retries_within_service() {
    let load = ["workload.synthetic.read_share=0.7", "workload.synthetic.requests=20000"];
    let report = report_of(&with(&[&WORN, &load]), true);
    for name in ["mean", "p50", "p99", "p99_9", "p99_99"] {
        let part = |key: &str| number(&report, &format!("blame.read.{name}.{key}"));
        let sum: f64 = ["service_ns", "host_ns", "collection_ns", "space_ns", "buffer_ns"]
            .iter()
            .map(|key| part(key))
            .sum();
        assert_near(name, sum, number(&report, &format!("latency_ns.read.{name}")), 1e-12);
        assert!(part("retries_ns") <= part("service_ns"));
    }
    assert!(number(&report, "blame.read.mean.retries_ns") > 1000.0);
    let write = at(&report, "blame.write.mean");
    assert!(write.get("retries_ns").is_none(), "whole pages are not read: {write}");
}

/// Where no page has too many errors, nothing changes.
#[test]
fn without_errors_beyond_the_ecc_the_result_is_the_same() {
    let load = ["workload.synthetic.read_share=0.7", "workload.synthetic.requests=5000"];
    let none = ["device.read_retry.cycles=0", "device.read_retry.retention_days=0"];
    let plain = run_verified(TINY, &load);
    let with_table = run_verified(TINY, &with(&[&none, &load]));
    assert_eq!(whole(&with_table, "read_retry.host.uncorrectable"), 0);
    assert_eq!(number(&with_table, "read_retry.host.retried_share"), 0.0);
    for key in ["latency_ns", "gc", "pages", "wear", "utilisation"] {
        assert_eq!(at(&plain, key), at(&with_table, key), "{key}");
    }
}

/// Under every kind of collection the checker calculates wear, age and times by itself.
#[test]
fn schemes_run_under_the_checker() {
    let load = ["workload.synthetic.read_share=0.6", "workload.synthetic.requests=6000"];
    for scheme in [
        &["gc.scheme=\"pgc\""][..],
        &["gc.scheme=\"fpgc\"", "device.suspend.suspend=\"20 us\""],
        &["gc.scheme=\"fpgc\"", "device.suspend.suspend=\"20 us\"", "gc.copy.use=\"bus\""],
        &["gc.scheme=\"gftl\""],
        &["gc.scheme=\"tokens\"", "gc.copy.use=\"bus\""],
        &["gc.copy.use=\"parallel\"", "device.registers=4"],
        &["gc.copy.use=\"bus\"", "device.layers=8", "device.timing.layer_ratio=3"],
        &["device.cache_operations=\"both\""],
        &["device.write_buffer.size=\"64 KiB\""],
        &["gc.scheme=\"ideal\""],
    ] {
        let report = run_verified(TINY, &with(&[&WORN, &load, scheme]));
        assert!(number(&report, "read_retry.host.retried_share") > 0.0, "{scheme:?}");
    }
}

/// Slots whose pages lie in layers of different speed: each read may be rounded, and each of its
/// retries, also where a copy reads several pages and is suspended.
#[test]
fn slots_in_layers_have_retries_under_the_checker() {
    let slots = [
        "device.page_size=\"16 KiB\"",
        "device.mapping_unit=\"4 KiB\"",
        "device.allocation=\"dynamic\"",
        "device.layers=4",
        "device.pages_per_block=8",
        "workload.synthetic.read_share=0.4",
        "workload.synthetic.requests=3000",
    ];
    let fpgc: &[&str] = &[
        "gc.scheme=\"fpgc\"",
        "device.suspend.suspend=\"1 ns\"",
        "gc.preemption.suspend.merge=false",
        "gc.preemption.suspend.pipeline=false",
    ];
    for scheme in [&[][..], &["gc.copy.use=\"bus\""], &["gc.scheme=\"pgc\""], fpgc] {
        for read in ["7 ns", "13 ns", "25 us"] {
            for ratio in ["1.5", "28"] {
                for map in ["in-order", "striped"] {
                    let times = [
                        format!("device.timing.read=\"{read}\""),
                        format!("device.timing.layer_ratio={ratio}"),
                        format!("device.timing.layer_map=\"{map}\""),
                    ];
                    let times: Vec<&str> = times.iter().map(String::as_str).collect();
                    let report = run_verified(TINY, &with(&[&WORN, &slots, &times, scheme]));
                    let share = number(&report, "read_retry.host.retried_share");
                    assert!(share > 0.0, "{scheme:?} {times:?}");
                }
            }
        }
    }
}

#[test]
fn wrong_values_are_refused_with_the_reason() {
    for (sets, reason) in [
        (&["device.read_retry.cycles=10"][..], "retention_days"),
        (&["device.read_retry.retention_days=10"], "cycles"),
        (&[WORN[0], WORN[1], "device.read_retry.retry_factor=1.0"], "out of range"),
        (&[WORN[0], WORN[1], "device.read_retry.type_factors=[]"], "type_factors"),
        (&[WORN[0], WORN[1], "device.read_retry.type_factors=[1, 2, 3, 4, 5]"], "a multiple of"),
        (&[WORN[0], WORN[1], "device.read_retry.type_factors=[1, \"a\"]"], "list of numbers"),
        (&[WORN[0], WORN[1], "device.read_retry.decode=\"2000 s\""], "at most 1000 s"),
        (&[WORN[0], WORN[1], "device.read_retry.retrys=3"], "unknown key"),
        (&[WORN[0], WORN[1], "device.read_retry.rber.base=0"], "out of range"),
    ] {
        let refused = refusal(TINY, sets);
        assert!(refused.contains(reason), "{sets:?}: {refused}");
    }
}

/// Read errors follow from the wear of blocks and the age of data, and programs that were begun are
/// padded when measuring begins: on the saved drive as on the one that was preconditioned.
#[test]
fn read_errors_and_padding_are_the_same_on_a_saved_drive() {
    let retries = ["device.read_retry.cycles=3000", "device.read_retry.retention_days=90"];
    let slots = [
        "device.page_size=\"16 KiB\"",
        "device.mapping_unit=\"4 KiB\"",
        "device.allocation=\"dynamic\"",
    ];
    let pads =
        ["device.write_buffer.size=\"256 KiB\"", "device.write_buffer.power_loss_protection=false"];
    let bus = ["gc.copy.use=\"bus\""];
    let preempted = ["gc.preemption.use=\"between-copies\""];
    let all: [&[&[&str]]; 6] = [
        &[&retries],
        &[&retries, &bus],
        &[&retries, &slots],
        &[&retries, &slots, &preempted],
        &[&slots, &pads],
        &[&retries, &slots, &pads, &bus],
    ];
    for sets in all.map(<[_]>::concat) {
        let setup = setup(TINY, &sets);
        let options = || Options { verify: true, ..Options::default() };
        let own = finish_with(setup.clone(), None, options()).expect("it runs");
        let mut first = Session::new(setup.clone(), None, Options::default());
        while first.advance().expect("it goes on").phase != Phase::Ready {}
        let drive = first.into_drive().expect("it is preconditioned");
        let second = Session::with_drive(setup, None, drive, "a.drive", options());
        let mut second = second.expect("the drive fits");
        while second.advance().expect("it goes on").phase != Phase::Done {}
        let on_drive = second.report().to_json();
        assert_eq!(own["result_hash"], on_drive["result_hash"], "{sets:?}");
        for key in ["read_retry", "pages", "slots"] {
            assert_eq!(own.get(key), on_drive.get(key), "{key} of {sets:?}");
        }
        assert!(sets[0] != retries[0] || number(&own, "read_retry.host.retried_share") > 0.0);
    }
}

/// On a device whose reads need no retry, every read of two pages of block 1 is lost, and no other.
/// Block 1 of the first plane holds the pages of the drive that fill it in order.
#[test]
fn given_pages_are_lost_and_no_other() {
    let few = "device.read_retry={cycles=0,retention_days=0,spread=0,ecc_bits=4096,uncorrectable=[\
               {block=1,page=0},{block=1,page=3,erases=0},{block=1,page=4,erases=1}]}";
    let report = run_verified(TINY, &with(&[&LARGE, &READS, &[few]]));
    let of = |key: &str| number(&report, &format!("read_retry.host.{key}"));
    let pages = number(&report, "capacity.exported_pages");
    let due = of("page_reads") * 2.0 / pages;
    assert!(of("uncorrectable") > 0.0, "{report}");
    assert_near("lost reads", of("uncorrectable"), due, 5.0 * due.sqrt() / due);
    let corrected = at(&report, "read_retry.host.reads_by_retries")[0].as_f64();
    assert_eq!(corrected, Some(of("page_reads") - of("uncorrectable")));
}

#[test]
fn a_given_page_must_be_there() {
    let set = "device.read_retry={cycles=0,retention_days=0,uncorrectable=[{block=1,page=60}]}";
    let error = refusal(TINY, &with(&[&LARGE, &[set]]));
    assert!(error.contains("uncorrectable names block 1, page 60, but the device has"), "{error}");
    assert!(error.contains("blocks of 60 pages"), "{error}");
    let set = "device.read_retry={cycles=0,retention_days=0,uncorrectable=[{block=1},{page=2}]}";
    let error = refusal(TINY, &[set]);
    assert!(error.contains("missing key `device.read_retry.uncorrectable[1].page`"), "{error}");
    assert!(error.contains("missing key `device.read_retry.uncorrectable[2].block`"), "{error}");
    assert!(error.contains("as in `uncorrectable = [{ block = 5, page = 2 }]`"), "{error}");
}

/// Collected pages have corrected data where copies take no time, and so do pre-migrated pages.
#[test]
fn pages_that_move_ahead_without_a_price_have_corrected_data() {
    let report = run_verified(
        r#"
seed = 3
[device]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 14
pages_per_block = 7
page_size = "16 KiB"
exported = 0.7789
unit = "plane"
timing = { read = "25 us", program = "200 us", erase = "1.5 ms", transfer = "0 ns/B" }
write_buffer.size = "16 KiB"
read_retry = { cycles = 2672, retention_days = 341 }
[gc]
victim.use = "d-choices"
trigger.watermark.soft = "70% of spare"
copy.use = "instant"
placement.use = "fdp"
pacing = { use = "time-slices", time-slices.extra_space = "16%" }
background = { use = "pre-migration", pre-migration.distance = "3 blocks" }
[workload.synthetic]
requests = 2
interarrival.bursty = { mean = "400 us", below = "40 us", share = 0.8 }
size = "12 KiB"
address.zipf = 0.9
[precondition]
overwrite = 1.0
overwrite_with = "uniform"
"#,
        &[],
    );
    assert!(whole(&report, "pages.background_moved") > 0);
}
