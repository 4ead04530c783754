//! The files of the contract run as they are, reports have every key of the contract, and real
//! traces are replayed under the checker.
//!
//! Contract and traces are in a folder next to the repository. Without it these tests are listed
//! as ignored, and the captures of the package are run (`every_trace.rs`).

use crate::common;

use common::{MemoryTrace, assert_near, at, finish, number, setup, shared, whole};
use serde_json::Value;

/// Shown with `--nocapture`.
#[allow(clippy::print_stderr)]
fn report_missing(path: &str) {
    eprintln!("skipped: {path} is missing");
}

fn text(path: &str) -> Option<String> {
    let Some(file) = shared(path) else {
        report_missing(path);
        return None;
    };
    Some(std::fs::read_to_string(file).expect("the file is readable"))
}

fn trace(name: &str) -> Option<MemoryTrace> {
    let path = format!("traces/{name}.zst");
    let Some(file) = shared(&path) else {
        report_missing(&path);
        return None;
    };
    let bytes = std::fs::read(file).expect("the file is readable");
    Some(MemoryTrace { name: name.into(), bytes })
}

const KEYS: &[&str] = &[
    "version",
    "seed",
    "config_hash",
    "result_hash",
    "scheme",
    "device",
    "saturated",
    "requests.read",
    "requests.write",
    "requests.trim",
    "pages.host_read",
    "pages.host_written",
    "pages.gc_moved",
    "pages.background_moved",
    "pages.wasted_copies",
    "pages.overhead",
    "write_amplification",
    "erases",
    "erase_operations",
    "gc.count",
    "gc.open",
    "gc.victim_blocks",
    "gc.valid_per_victim",
    "gc.moved_per_gc",
    "gc.reclaimed_pages",
    "gc.erased_at_selection",
    "gc.busy_ns",
    "gc.elapsed_ns",
    "gc.blocking_ns",
    "gc.transfer_ns",
    "gc.preempted",
    "gc.suspended",
    "gc.merged",
    "gc.pipelined",
    "throughput.iops",
    "throughput.bytes_per_s",
    "wear.mean",
    "wear.min",
    "wear.max",
    "wear.stddev",
    "free_pages_min",
    "simulated_ns",
    "wall_s",
    "precondition_wall_s",
    "page_operations",
    "page_operations_per_s",
    "table_bytes",
    "peak_rss_bytes",
];

fn assert_has_every_key(report: &Value) {
    for key in KEYS {
        at(report, key);
    }
    for kind in ["read", "write", "all"] {
        for key in
            ["count", "mean", "stddev", "min", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"]
        {
            at(report, &format!("latency_ns.{kind}.{key}"));
        }
    }
    for part in ["unit", "bus"] {
        for key in ["host", "gc", "idle"] {
            at(report, &format!("utilisation.{part}.{key}"));
        }
    }
}

#[test]
#[ignore = "needs ../shared/traces, and the contract beside them"]
fn the_contracts_poisson_reads_run_as_they_are() {
    let Some(text) = text("contract/poisson-read.toml") else { return };
    let report = finish(setup(&text, &[]), None, false).expect("the run ends");
    assert_has_every_key(&report);
    assert_eq!(whole(&report, "requests.read"), 1_000_000);
    assert_eq!(at(&report, "write_amplification"), &Value::Null);
    assert_eq!(at(&report, "latency_ns.write.mean"), &Value::Null);
    assert_near("utilisation", number(&report, "utilisation.unit.host"), 0.5, 0.005);
}

#[test]
#[ignore = "needs ../shared/traces, and the contract beside them"]
fn the_contracts_uniform_overwrite_runs_as_it_is() {
    let Some(text) = text("contract/uniform-overwrite.toml") else { return };
    let report = finish(setup(&text, &[]), None, false).expect("the run ends");
    assert_has_every_key(&report);
    assert_eq!(whole(&report, "pages.host_written"), 1_000_000);
    // Sixteen logs of 1,024 blocks with 4 of them erased: the exact value for greedy is 3.39.
    let expected = 3.39;
    assert_near("write amplification", number(&report, "write_amplification"), expected, 0.02);
    assert_eq!(at(&report, "saturated"), &Value::Bool(false));
}

#[test]
#[ignore = "needs ../shared/traces"]
fn the_contracts_replay_runs_as_it_is_over_a_real_trace() {
    let Some(text) = text("contract/replay.toml") else { return };
    let Some(trace) = trace("linux-mysql.load") else { return };
    let mut inputs = common::inputs(&text, &[]);
    inputs.has_trace = true;
    let setup = flashgc::session::prepare(&inputs).expect("the contract's file is accepted");
    let report = finish(setup, Some(trace), true).expect("the run ends");
    assert_has_every_key(&report);
    // The rows of the README; a request across the drive's end is split, which adds a few.
    let requests = whole(&report, "requests.read") + whole(&report, "requests.write");
    assert!((80_793..80_850).contains(&requests), "{requests}");
    assert_near("duration", number(&report, "simulated_ns") / 1e9, 3599.89, 1e-3);
}

/// A small drive of the MSR extension's flash: about 400 MiB.
const REPLAY: &str = r#"
[device]
preset = "slc-msr"
blocks_per_plane = 32
exported = 0.6

[workload.trace]
address = "wrap"

[precondition]
overwrite = 0.5
"#;

/// Replays a trace on the small drive under the checker.
fn replay(name: &str, sets: &[&str]) -> Option<Value> {
    let trace = trace(name)?;
    let report = finish(setup(REPLAY, sets), Some(trace), true);
    let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_has_every_key(&report);
    Some(report)
}

fn requests(report: &Value) -> (u64, u64) {
    (whole(report, "requests.read"), whole(report, "requests.write"))
}

#[test]
#[ignore = "needs ../shared/traces"]
fn msr_cambridge_is_replayed_with_all_its_requests() {
    let Some(report) = replay("msr_web_3.csv", &[]) else { return };
    let (reads, writes) = requests(&report);
    // 31,380 rows, 32.03 % reads; a request across the drive's end is split in two.
    assert!((10_050..10_100).contains(&reads), "{reads}");
    assert!((31_380..31_450).contains(&(reads + writes)), "{reads} {writes}");
    assert_near("duration", number(&report, "simulated_ns") / 1e9, 594_376.2, 1e-4);
}

#[test]
#[ignore = "needs ../shared/traces"]
fn a_compacted_trace_needs_no_more_than_its_footprint() {
    let sets = ["workload.trace.address=\"compact\"", "device.blocks_per_plane=64"];
    let Some(report) = replay("msr_web_3.csv", &sets) else { return };
    let (reads, writes) = requests(&report);
    assert_eq!(reads + writes, 31_380);
}

#[test]
#[ignore = "needs ../shared/traces"]
fn blkreplay_loads_are_replayed() {
    for (name, rows) in [("linux-webserver-2.load", 268_663), ("windows-shared-server.load", 1371)]
    {
        let Some(report) = replay(name, &["workload.trace.rows=30_000"]) else { return };
        let (reads, writes) = requests(&report);
        let least = rows.min(29_000);
        assert!(reads + writes >= least, "{name}: {reads} {writes}");
    }
}

#[test]
#[ignore = "needs ../shared/traces"]
fn spc_asus_lie_one_behind_the_other_wrapped_or_compacted() {
    for address in ["wrap", "compact"] {
        let address = format!("workload.trace.address=\"{address}\"");
        let Some(report) = replay("Financial1.first949.spc", &[&address]) else { return };
        let (reads, writes) = requests(&report);
        assert_eq!((reads, writes), (183, 766), "{address}");
        let bytes = number(&report, "throughput.bytes_per_s") * number(&report, "simulated_ns");
        assert_near("bytes", bytes / 1e9, (183 * 1654 + 766 * 2961) as f64, 1e-3);
    }
}

#[test]
#[ignore = "needs ../shared/traces"]
fn blkparse_texts_are_replayed_once_sorted() {
    // One row of the ext4 text has a bogus stamp far later than its neighbours, which makes the
    // replay too long for the clock: an error with that reason. Its rows before that one are
    // replayed.
    let window = "workload.trace.sort_window=\"1000 s\"";
    let Some(report) = replay("ycsb_btrfs.blkparse.txt", &[window]) else { return };
    let (reads, writes) = requests(&report);
    assert!((1824..1900).contains(&(reads + writes)), "{reads} {writes}");
    let rows = "workload.trace.rows=5_000";
    let Some(report) = replay("ycsb_ext4.blkparse.txt", &[window, rows]) else { return };
    let (reads, writes) = requests(&report);
    assert!((5000..5100).contains(&(reads + writes)), "{reads} {writes}");
    let Some(trace) = trace("ycsb_ext4.blkparse.txt") else { return };
    let error = finish(setup(REPLAY, &[window]), Some(trace), true).expect_err("a bogus stamp");
    assert!(error.contains("days of simulated time"), "{error}");
}

#[test]
#[ignore = "needs ../shared/traces"]
fn a_closed_loop_ignores_the_stamps_of_a_trace() {
    let sets = ["workload.trace.queue_depth=8", "workload.trace.rows=5_000"];
    let Some(report) = replay("msr_web_3.csv", &sets) else { return };
    let outstanding =
        number(&report, "throughput.iops") * number(&report, "latency_ns.all.mean") / 1e9;
    assert_near("outstanding", outstanding, 8.0, 0.02);
}

#[test]
#[ignore = "needs ../shared/traces"]
fn half_the_time_between_arrivals_takes_half_as_long() {
    let of = |scale: &str| {
        let scale = format!("workload.trace.time_scale={scale}");
        replay("windows-shared-server.load", &[&scale])
    };
    let (Some(whole_time), Some(half)) = (of("1.0"), of("0.5")) else { return };
    let [whole_time, half] = [whole_time, half].map(|report| number(&report, "simulated_ns"));
    assert_near("duration", half, whole_time / 2.0, 1e-4);
}

#[test]
#[ignore = "needs ../shared/traces"]
fn every_scheme_replays_a_real_trace_under_the_checker() {
    for scheme in ["greedy", "fifo", "random", "d-choices", "cost-benefit", "wear-aware"] {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        let sets = [scheme.as_str(), "device.blocks_per_plane=16", "workload.trace.rows=8_000"];
        let Some(report) = replay("linux-mysql.load", &sets) else { return };
        assert!(whole(&report, "erases") > 0, "{scheme}");
    }
}

/// The resolved configuration of a report names the choices that differ from the rule.
#[test]
fn exceptions_are_in_the_resolved_configuration() {
    let gc = |sets: &[&str]| setup(common::TINY, sets).resolved_json()["gc"].clone();
    let plain = gc(&[]);
    for key in ["/preemption", "/trigger/idle_units", "/blocking/blocks"] {
        assert!(plain.pointer(key).is_none_or(Value::is_null), "{key}");
    }
    let between = "gc.preemption.use=\"between-copies\"";
    assert!(gc(&[between]).pointer("/preemption/between_copies").is_none());
    let slices = ["gc.pacing.use=\"time-slices\"", "gc.trigger.watermark.hard=\"none\""];
    assert_eq!(gc(&slices)["preemption"]["between_copies"], false);
    assert_eq!(gc(&["gc.trigger.watermark.idle_units=false"])["trigger"]["idle_units"], false);
    let blocks = ["gc.blocking.use=\"blocks\"", between, "gc.placement.use=\"separate-gc\""];
    assert_eq!(gc(&blocks)["blocking"]["blocks"], true);
}

#[test]
fn every_device_preset_is_accepted_and_runs() {
    for preset in flashgc::config::presets::device_names() {
        let text = format!(
            "[device]\npreset = \"{preset}\"\nblocks_per_plane = 16\npages_per_block = 192\n\
             channels = 2\nexported = 0.5\n[workload.synthetic]\nrequests = 3000\nqueue_depth = 8\n\
             read_share = 0.3\nsize = {{ \"4 KiB\" = 0.5, \"32 KiB\" = 0.5 }}\n"
        );
        let report = finish(setup(&text, &[]), None, true)
            .unwrap_or_else(|error| panic!("{preset}: {error}"));
        assert_has_every_key(&report);
        assert_eq!(at(&report, "device").as_str(), Some(preset));
    }
}

/// Reads at depth 1 wait for nothing: firmware, tR on the mean of the types, 4 KiB on bus and link.
#[test]
fn single_reads_of_todays_devices_take_the_steps_of_their_figures() {
    let devices = [
        ("slc-low-latency", 5_330.0 + 3_000.0 + 4_883.0 + 1_163.0),
        ("client-tlc", 56_000.0 + 4_281.0 + 1_163.0),
        ("nvmevirt-970-pro", 21_500.0 + 35_760.0 + 4_883.0 + 1_163.0),
        ("nvmevirt-zn540", 20_000.0 + 50_000.0 + 8_681.0 + 1_281.0),
        ("enterprise-qlc", 90_000.0 + 5_440.0 + 1_163.0),
    ];
    for (preset, expected_ns) in devices {
        let text = format!(
            "[device]\npreset = \"{preset}\"\nblocks_per_plane = 16\npages_per_block = 192\n\
             exported = 0.5\n[workload.synthetic]\nrequests = 4000\nqueue_depth = 1\n\
             read_share = 1.0\nsize = \"4 KiB\"\nalign = \"4 KiB\"\n"
        );
        let report = finish(setup(&text, &[]), None, true)
            .unwrap_or_else(|error| panic!("{preset}: {error}"));
        let mean = at(&report, "latency_ns.read.mean").as_f64().expect("reads have a mean");
        assert!((mean / expected_ns - 1.0).abs() < 0.01, "{preset}: {mean} ns, not {expected_ns}");
    }
}
