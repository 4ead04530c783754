//! Formulas: unloaded latency to the nanosecond, throughput at each bottleneck, and the identities
//! that connect the metrics of a report.

use crate::common;

use common::{TINY, assert_near, at, checked, drain, number, run, run_verified, setup, whole};
use flashgc::ids::Lpn;
use flashgc::measure::Results;
use flashgc::sim::Sim;
use flashgc::workload::{HostOp, HostRequest, ListSource};
use serde_json::Value;

/// 25 ns/B over 4,096 bytes, and a command: every phase of an operation is visible.
const TRANSFER_NS: u64 = 102_400;
const COMMAND_NS: u64 = 300;
const READ_NS: u64 = COMMAND_NS + 25_000 + TRANSFER_NS;
const PROGRAM_NS: u64 = COMMAND_NS + TRANSFER_NS + 200_000;
const ON_THE_BUS: &[&str] =
    &["device.timing.transfer=\"25 ns/B\"", "device.timing.command=\"300 ns\""];

fn request(op: HostOp, offset_bytes: u64, bytes: u64) -> HostRequest {
    HostRequest::from_bytes(0, op, offset_bytes, bytes, 4096)
}

/// Runs the requests one after the other on a drive with nothing else to do.
fn unloaded(sets: &[&str], fill: bool, requests: Vec<HostRequest>) -> Results {
    let mut all = ON_THE_BUS.to_vec();
    all.extend_from_slice(sets);
    all.push("workload.synthetic.queue_depth=1");
    let setup = setup(TINY, &all);
    let mut plan = setup.plan.clone();
    // The list below has requests that the synthetic workload of the plan does not promise.
    plan.ordered = true;
    let exported = plan.geometry.exported_pages;
    let mut sim = Sim::new(plan, checked(&setup));
    if fill {
        sim.untimed().fill(0, exported).expect("the fill fits");
    }
    let results = drain(&mut sim, &mut ListSource::new(requests), 1000);
    sim.audit();
    sim.audit_counters(&results);
    results
}

fn read_latency(results: &Results) -> Option<u64> {
    results.read.summary().max
}

fn write_latency(results: &Results) -> Option<u64> {
    results.write.summary().max
}

#[test]
fn an_unloaded_read_takes_command_array_and_transfer() {
    let results = unloaded(&[], true, vec![request(HostOp::Read, 4096, 4096)]);
    assert_eq!(read_latency(&results), Some(READ_NS));
    assert_eq!(results.simulated_ns, READ_NS);
}

#[test]
fn an_unloaded_read_of_a_part_of_a_page_transfers_the_page() {
    let results = unloaded(&[], true, vec![request(HostOp::Read, 4608, 512)]);
    assert_eq!(read_latency(&results), Some(READ_NS));
}

#[test]
fn an_unloaded_write_takes_command_transfer_and_program() {
    let results = unloaded(&[], true, vec![request(HostOp::Write, 4096, 4096)]);
    assert_eq!(write_latency(&results), Some(PROGRAM_NS));
}

#[test]
fn an_unloaded_write_of_a_part_of_a_page_reads_the_rest_first() {
    let results = unloaded(&[], true, vec![request(HostOp::Write, 4608, 512)]);
    assert_eq!(write_latency(&results), Some(READ_NS + PROGRAM_NS));
    let counters = &results.counters;
    // A read-modify-write programs one page, and its read does not count as one of the host.
    let seen = (counters.rest_read, counters.array_reads, counters.array_programs);
    assert_eq!(seen, (1, 1, 1));
    assert_eq!((counters.host_read, counters.host_written, counters.bytes), (0, 1, [0, 512]));
}

#[test]
fn a_part_of_a_page_that_was_never_written_has_no_rest_to_read() {
    let results = unloaded(&[], false, vec![request(HostOp::Write, 4608, 512)]);
    assert_eq!(write_latency(&results), Some(PROGRAM_NS));
    assert_eq!(results.counters.rest_read, 0);
}

#[test]
fn reads_of_nothing_and_trims_take_no_time() {
    let results =
        unloaded(&[], false, vec![request(HostOp::Read, 0, 4096), request(HostOp::Trim, 0, 8192)]);
    assert_eq!(read_latency(&results), Some(0));
    assert_eq!(results.simulated_ns, 0);
    assert_eq!(results.counters.requests, [1, 0, 1]);
    assert_eq!((results.counters.unwritten_read, results.counters.host_trimmed), (1, 2));
}

#[test]
fn a_trimmed_page_reads_as_nothing_and_a_page_trimmed_in_part_stays() {
    let requests = vec![
        request(HostOp::Trim, 0, 4096 + 512),
        request(HostOp::Read, 0, 4096),
        request(HostOp::Read, 4096, 4096),
    ];
    let results = unloaded(&[], true, requests);
    assert_eq!(results.read.summary().min, Some(0));
    assert_eq!(read_latency(&results), Some(READ_NS));
    assert_eq!(results.counters.unwritten_read, 1);
}

/// The MSR SSD extension sends 528 bytes a sector: 4,224 for a page.
#[test]
fn transfer_bytes_replaces_the_page_size_on_the_bus() {
    let sets = ["device.transfer_bytes=\"4224 B\""];
    let results = unloaded(&sets, true, vec![request(HostOp::Read, 0, 4096)]);
    assert_eq!(read_latency(&results), Some(COMMAND_NS + 25_000 + 105_600));
    let results = unloaded(&sets, true, vec![request(HostOp::Write, 0, 4096)]);
    assert_eq!(write_latency(&results), Some(COMMAND_NS + 105_600 + 200_000));
    assert_eq!(results.counters.bytes, [0, 4096]);
}

#[test]
fn pages_on_channels_of_their_own_are_read_at_once() {
    // Striping turns the channel fastest: pages 0 and 1 share neither unit nor bus.
    let results = unloaded(&[], true, vec![request(HostOp::Read, 0, 8192)]);
    assert_eq!(read_latency(&results), Some(READ_NS));
}

#[test]
fn pages_on_one_channel_share_its_bus() {
    let order = "device.order=[\"chip\",\"channel\",\"die\",\"plane\"]";
    // Both commands go out, both arrays work at once, and the second transfer waits for the first.
    let results = unloaded(&[order], true, vec![request(HostOp::Read, 0, 8192)]);
    assert_eq!(read_latency(&results), Some(READ_NS + TRANSFER_NS));
    // The second program starts when the first page is on the chip.
    let results = unloaded(&[order], true, vec![request(HostOp::Write, 0, 8192)]);
    assert_eq!(write_latency(&results), Some(PROGRAM_NS + COMMAND_NS + TRANSFER_NS));
}

#[test]
fn pages_of_one_unit_follow_each_other() {
    let order = "device.order=[\"plane\",\"channel\",\"chip\",\"die\"]";
    let results = unloaded(&[order], true, vec![request(HostOp::Read, 0, 8192)]);
    assert_eq!(read_latency(&results), Some(2 * READ_NS));
    let results =
        unloaded(&[order, "device.unit=\"plane\""], true, vec![request(HostOp::Read, 0, 8192)]);
    assert_eq!(read_latency(&results), Some(READ_NS + TRANSFER_NS));
}

#[test]
fn operations_on_one_page_follow_each_other_in_order_of_arrival() {
    let requests = vec![request(HostOp::Write, 0, 4096), request(HostOp::Read, 0, 4096)];
    let setup = setup(TINY, ON_THE_BUS);
    let mut plan = setup.plan.clone();
    plan.ordered = true;
    let mut sim = Sim::new(plan, checked(&setup));
    let results = drain(&mut sim, &mut ListSource::new(requests), 1000);
    assert_eq!(write_latency(&results), Some(PROGRAM_NS));
    assert_eq!(read_latency(&results), Some(PROGRAM_NS + READ_NS));
}

#[test]
fn a_list_names_pages_as_the_drive_does() {
    let whole = request(HostOp::Write, 3 * 4096, 4096);
    assert_eq!((whole.first, whole.pages, whole.head_partial), (Lpn(3), 1, false));
}

const SEQUENTIAL: &[&str] =
    &["workload.synthetic.sequential_share=1.0", "workload.synthetic.requests=20_000"];

fn throughput(sets: &[&str]) -> Value {
    run(TINY, &[SEQUENTIAL, sets].concat())
}

#[test]
fn many_units_on_one_channel_are_bound_by_its_bus() {
    let report = throughput(&[
        "device.channels=1",
        "device.chips_per_channel=8",
        "device.timing.transfer=\"25 ns/B\"",
        "workload.synthetic.read_share=1.0",
        "workload.synthetic.queue_depth=64",
    ]);
    assert_near("iops", number(&report, "throughput.iops"), 1e9 / TRANSFER_NS as f64, 1e-3);
    assert_near("bus", number(&report, "utilisation.bus.host"), 1.0, 1e-3);
    let bytes = number(&report, "throughput.bytes_per_s");
    assert_near("bytes", bytes, number(&report, "throughput.iops") * 4096.0, 1e-12);
}

#[test]
fn many_requests_on_few_units_are_bound_by_the_units() {
    let report = throughput(&[
        "device.channels=4",
        "device.chips_per_channel=1",
        "device.timing.transfer=\"2.5 ns/B\"",
        "workload.synthetic.read_share=1.0",
        "workload.synthetic.queue_depth=64",
    ]);
    let service_ns = 25_000.0 + 10_240.0;
    assert_near("iops", number(&report, "throughput.iops"), 4.0 * 1e9 / service_ns, 1e-3);
    assert_near("units", number(&report, "utilisation.unit.host"), 1.0, 1e-3);
}

#[test]
fn one_request_at_a_time_is_bound_by_its_latency() {
    let report = throughput(&[
        "device.timing.transfer=\"25 ns/B\"",
        "device.timing.command=\"300 ns\"",
        "workload.synthetic.read_share=1.0",
        "workload.synthetic.queue_depth=1",
    ]);
    assert_near("iops", number(&report, "throughput.iops"), 1e9 / READ_NS as f64, 1e-12);
    assert_eq!(whole(&report, "latency_ns.read.max"), READ_NS);
    assert_eq!(number(&report, "latency_ns.read.stddev"), 0.0);
    assert_eq!(whole(&report, "simulated_ns"), 20_000 * READ_NS);
}

/// Arrivals so slow that no collection is open when the last request ends.
const AT_EASE: &[&str] = &["workload.synthetic.interarrival.fixed=\"40 ms\""];

fn at_ease(sets: &[&str]) -> Value {
    let text = TINY.replace("queue_depth = 8", "");
    let report = run_verified(&text, &[AT_EASE, sets].concat());
    assert_eq!(whole(&report, "gc.open"), 0);
    assert!(whole(&report, "gc.count") > 50, "the identities would say little");
    report
}

fn erases_and_moves(report: &Value) -> (u64, u64) {
    (whole(report, "erases"), whole(report, "pages.gc_moved"))
}

#[test]
fn array_time_of_collection_is_that_of_its_copies_and_erases() {
    for copy in ["copyback", "bus"] {
        for command in ["0 ns", "300 ns"] {
            let report = at_ease(&[
                &format!("gc.copy.use=\"{copy}\""),
                &format!("device.timing.command=\"{command}\""),
                "device.timing.transfer=\"25 ns/B\"",
                "device.unit=\"plane\"",
            ]);
            let (erases, moved) = erases_and_moves(&report);
            assert!(moved > 0);
            let array_ns = moved * (25_000 + 200_000) + erases * 1_500_000;
            assert_eq!(whole(&report, "gc.busy_ns"), array_ns, "{copy} {command}");
            let command_ns = if command == "0 ns" { 0 } else { COMMAND_NS };
            let per_copy = if copy == "bus" { TRANSFER_NS + command_ns } else { command_ns };
            let bus_ns = moved * 2 * per_copy + erases * command_ns;
            assert_eq!(whole(&report, "gc.transfer_ns"), bus_ns, "{copy} {command}");
        }
    }
}

#[test]
fn a_collection_that_nothing_disturbs_lasts_as_long_as_its_operations() {
    let report = at_ease(&["gc.trigger.watermark.batch=\"one\""]);
    let (erases, moved) = erases_and_moves(&report);
    let all_ns = moved * 225_000 + erases * 1_500_000;
    assert_eq!(whole(&report, "gc.elapsed_ns"), all_ns);
    assert_eq!(whole(&report, "gc.blocking_ns"), all_ns);
    let simulated = number(&report, "simulated_ns");
    // Four chips of one die each: four units.
    let share = all_ns as f64 / (4.0 * simulated);
    assert_near("units for gc", number(&report, "utilisation.unit.gc"), share, 1e-9);
}

#[test]
fn every_page_that_collection_moves_or_wins_is_accounted_for() {
    for victim in ["greedy", "fifo", "random", "d-choices", "cost-benefit", "wear-aware"] {
        let report = at_ease(&[&format!("gc.victim.use=\"{victim}\"")]);
        let (erases, moved) = erases_and_moves(&report);
        let count = whole(&report, "gc.count");
        assert_eq!((count, count), (erases, whole(&report, "gc.victim_blocks")), "{victim}");
        assert_eq!(erases, whole(&report, "erase_operations"));
        assert_eq!(whole(&report, "gc.reclaimed_pages"), erases * 8 - moved, "{victim}");
        assert_near("moves", number(&report, "gc.moved_per_gc") * count as f64, moved as f64, 1e-9);
        let blocks = 8.0 * 16.0;
        assert_near("wear", number(&report, "wear.mean") * blocks, erases as f64, 1e-9);
        let written = whole(&report, "pages.host_written") as f64;
        let amplification = 1.0 + moved as f64 / written;
        assert_near("wa", number(&report, "write_amplification"), amplification, 1e-12);
    }
}

#[test]
fn copies_that_cannot_be_overtaken_move_every_valid_page() {
    let report = at_ease(&[]);
    assert_eq!(at(&report, "gc.valid_per_victim"), at(&report, "gc.moved_per_gc"));
    assert_eq!(whole(&report, "pages.wasted_copies"), 0);
}

/// Little's law over the whole run: the mean number outstanding is iops times mean latency.
#[test]
fn a_closed_loop_keeps_its_queue_depth_by_littles_law() {
    let report = run(TINY, &["workload.synthetic.requests=20_000"]);
    let seconds = number(&report, "latency_ns.all.mean") / 1e9;
    let outstanding = number(&report, "throughput.iops") * seconds;
    assert_near("outstanding", outstanding, 8.0, 2e-3);
}

#[test]
fn figures_of_a_report_agree_with_each_other() {
    for sets in [
        &["gc.copy.use=\"bus\"", "device.timing.transfer=\"25 ns/B\""][..],
        &["workload.synthetic.trim_share=0.1", "workload.synthetic.align=\"512 B\""],
        &["workload.synthetic.size={\"4 KiB\"=0.5,\"20 KiB\"=0.5}", "device.unit=\"plane\""],
    ] {
        let report = run_verified(TINY, sets);
        for part in ["unit", "bus"] {
            let share = |who| number(&report, &format!("utilisation.{part}.{who}"));
            assert_near("time", share("host") + share("gc") + share("idle"), 1.0, 1e-12);
        }
        let count = |kind: &str| whole(&report, &format!("latency_ns.{kind}.count"));
        let sum =
            |kind: &str| number(&report, &format!("latency_ns.{kind}.mean")) * count(kind) as f64;
        assert_eq!(count("read"), whole(&report, "requests.read"));
        assert_eq!(count("write"), whole(&report, "requests.write"));
        assert_eq!(count("all"), count("read") + count("write"));
        assert_near("latency", sum("all"), sum("read") + sum("write"), 1e-12);
        let done = (count("all")) as f64 * 1e9 / number(&report, "simulated_ns");
        assert_near("iops", number(&report, "throughput.iops"), done, 1e-12);
        let requests =
            ["read", "write", "trim"].map(|op| whole(&report, &format!("requests.{op}")));
        assert_eq!(requests.iter().sum::<u64>(), 3000);
        percentiles_rise(&report);
    }
}

fn percentiles_rise(report: &Value) {
    for kind in ["read", "write", "all"] {
        let keys = ["min", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"];
        let row = keys.map(|key| whole(report, &format!("latency_ns.{kind}.{key}")));
        assert!(row.is_sorted(), "{kind}: {row:?}");
    }
}

#[test]
fn page_operations_count_a_copy_over_the_bus_twice() {
    for (copy, per_copy) in [("bus", 2), ("copyback", 1)] {
        let report = at_ease(&[&format!("gc.copy.use=\"{copy}\"")]);
        let pages = |key: &str| whole(&report, &format!("pages.{key}"));
        let host = pages("host_read") - pages("unwritten_read") + pages("host_written");
        let expected = host + pages("rest_read") + pages("gc_moved") * per_copy;
        assert_eq!(whole(&report, "page_operations"), expected, "{copy}");
    }
}

/// A year of requests far apart: time does not drift and nothing overflows.
/// The clock has 63 bits less those that number the slots of events: 4 units, 2 buses and the
/// arrival are 7 slots, and 3 bits. A run ends in the first half of that range.
#[test]
fn a_run_ends_in_the_first_half_of_the_range_of_the_clock() {
    let text = TINY.replace("queue_depth = 8", "");
    let latest_ns = ((1u64 << 60) - 1) / 2 - 25_000;
    let run_until = |last_ns: u64| {
        let gap = format!("workload.synthetic.interarrival.fixed=\"{last_ns} ns\"");
        let sets = ["workload.synthetic.read_share=1.0", "workload.synthetic.requests=2", &gap];
        common::finish(setup(&text, &sets), None, true)
    };
    let report = run_until(latest_ns).expect("it ends in time");
    assert_eq!(whole(&report, "simulated_ns"), latest_ns + 25_000);
    for too_late_ns in [latest_ns + 1, 3 * latest_ns] {
        let error = run_until(too_late_ns).expect_err("it is too late");
        assert!(error.contains("exceeds 6671 days of simulated time"), "{error}");
    }
}

#[test]
fn requests_days_apart_keep_their_latency() {
    let text = TINY.replace("queue_depth = 8", "");
    let report = run(
        &text,
        &[
            "workload.synthetic.interarrival.fixed=\"3600 s\"",
            "workload.synthetic.read_share=1.0",
            "workload.synthetic.requests=1000",
        ],
    );
    assert_eq!(whole(&report, "simulated_ns"), 999 * 3_600_000_000_000 + 25_000);
    assert_eq!(whole(&report, "latency_ns.read.max"), 25_000);
}
