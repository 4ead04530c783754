//! Placement hints from the request to the handle: of traces, synthetic workloads and jobs, through
//! the write buffer and preconditioning, with a clock and without.

use crate::common::{self, MemoryTrace, at, number, refusal, run_verified, whole};
use flashgc::config::{Inputs, prepare};
use flashgc::session::{Options, Phase, Session, Setup};
use flashgc_trace::{Format, Marks, Op, Record, writer};
use serde_json::Value;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

const DRIVE: &str = r#"
seed = 1
[device]
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 32
page_size = "4 KiB"
exported = 0.75
unit = "die"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "25 ns/B"
[gc]
scheme = "fdp"
trigger.watermark.soft = "8 blocks"
placement.fdp = { by = "hint", handles = 3 }
[precondition]
fill = "sequential"
"#;

const PAGES: u64 = 4 * 64 * 32 * 3 / 4;
const BY_HINT: &str = "{ by = \"hint\", handles = 3 }";
const PERSISTENT: &str = "gc.placement.fdp.isolation=\"persistent\"";
const CSV: &str = "csv:time:ns, op, offset, size, hint";

fn synthetic(keys: &str) -> String {
    format!(
        "{DRIVE}overwrite = 2.0\n[workload.synthetic]\nqueue_depth = 8\nrequests = 20_000\n{keys}"
    )
}

/// The pages of each handle that the host wrote.
fn written(report: &Value) -> Vec<u64> {
    let handles = at(report, "placement.handles").as_array().expect("there are handles");
    handles.iter().map(|handle| whole(handle, "host_bytes") / 4096).collect()
}

fn sum(report: &Value, key: &str) -> u64 {
    let handles = at(report, "placement.handles").as_array().expect("there are handles");
    handles.iter().map(|handle| whole(handle, key)).sum()
}

/// Two logs whose extents of 64 KiB lie in turn on the drive, overwritten in order, the first four
/// times as often. Each writes with a hint of its own.
fn logs(rows: u64) -> Vec<Record> {
    let extents = PAGES / 32;
    let mut at = [0_u64; 2];
    let row = |number: u64| {
        let log = usize::from(number.is_multiple_of(5));
        let extent = at[log] % extents;
        at[log] += 1;
        Record {
            at_ns: number * 3_000_000,
            device: 0,
            op: Op::Write,
            marks: Marks::NONE.with_hint(log as u8 + 1),
            offset_bytes: (2 * extent + log as u64) * 65_536,
            size_bytes: 65_536,
            line: number + 1,
        }
    };
    (0..rows).map(row).collect()
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no other thread").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn written_as(format: &str, records: &[Record]) -> MemoryTrace {
    let shared = Shared::default();
    let format: Format = format.parse().expect("a format");
    let mut writer = writer(&format, Box::new(shared.clone())).expect("it can be written");
    records.iter().for_each(|record| writer.push(record).expect("it is written"));
    writer.finish().expect("it is written");
    let bytes = shared.0.lock().expect("no other thread").clone();
    MemoryTrace { name: "logs".into(), bytes }
}

/// A configuration whose handles follow from the address.
fn by_address(text: &str, shares: &str) -> String {
    text.replace(BY_HINT, &format!("{{ shares = {shares} }}"))
}

fn replayed(text: &str, sets: &[&str]) -> Setup {
    let inputs = Inputs { has_trace: true, ..common::inputs(text, sets) };
    prepare(&inputs).unwrap_or_else(|errors| panic!("{sets:?}\n{errors}"))
}

fn replay(format: &str, records: &[Record], sets: &[&str]) -> Value {
    let text = format!("{DRIVE}[workload.trace]\nformat = \"{format}\"\n");
    replay_as(&text, format, records, sets)
}

fn replay_as(text: &str, format: &str, records: &[Record], sets: &[&str]) -> Value {
    let trace = written_as(format, records);
    common::finish(replayed(text, sets), Some(trace), true).unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn logs_with_hints_are_never_copied_and_by_address_they_mix() {
    // Whole rounds of both logs, so that the trace begins again where it ends.
    let records = logs(2_880);
    let fill = "precondition.fill=\"trace\"";
    let hinted = replay(CSV, &records, &[fill]);
    assert_eq!(number(&hinted, "write_amplification"), 1.0);
    assert_eq!(written(&hinted), [0, 2_304 * 16, 576 * 16]);
    assert_eq!(whole(&hinted, "placement.events.media_reallocated"), 0);
    let text = by_address(&format!("{DRIVE}[workload.trace]\nformat = \"{CSV}\"\n"), "[0.5, 0.5]");
    let mixed = replay_as(&text, CSV, &records, &[fill]);
    assert!(number(&mixed, "write_amplification") > 1.1);
    assert!(whole(&mixed, "placement.events.media_reallocated") > 100);
    let moved = whole(&mixed, "placement.events.reallocated_bytes");
    assert_eq!(sum(&mixed, "media_bytes") - sum(&mixed, "host_bytes"), moved);
    // The binary format carries the same hints, and preconditioning replays them.
    for set in ["precondition.overwrite=0.5", "precondition.overwrite=2.0"] {
        let [csv, fgt] = [CSV, "fgt"].map(|format| replay(format, &records, &[fill, set]));
        assert_eq!(csv["result_hash"], fgt["result_hash"], "{set}");
        assert_eq!(written(&fgt), written(&hinted));
    }
    // A sequential fill lays both logs into the same blocks of handle 0.
    let filled = number(&replay("fgt", &records, &[]), "write_amplification");
    assert!((1.01..1.1).contains(&filled), "{filled}");
    let passes = replay("fgt", &records, &[fill, "precondition.overwrite=1.5"]);
    assert!(number(&passes, "write_amplification") < 1.01);
}

#[test]
fn hints_of_regions_are_handles_by_address() {
    let shares = "[0.2, 0.5, 0.3]";
    let keys = format!("read_share = 0.2\nhints = {{ regions = {shares} }}\n");
    let text = by_address(&synthetic(&keys), shares);
    for isolation in ["gc.placement.fdp.isolation=\"initial\"", PERSISTENT] {
        let by_hint = run_verified(&synthetic(&keys), &[isolation]);
        let by_address = run_verified(&text, &[isolation]);
        for key in ["placement.handles", "placement.classes", "pages", "latency_ns", "erases"] {
            assert_eq!(at(&by_hint, key), at(&by_address, key), "{key}");
        }
        assert!(number(&by_hint, "write_amplification") > 1.1);
        assert_eq!(sum(&by_hint, "host_bytes"), whole(&by_hint, "pages.host_written") * 4096);
    }
}

/// Measured writes, overwrites and the fill have the hints of their places; so the cold pages of
/// handle 1 are not touched by the copies of hot ones.
#[test]
fn hints_by_class_separate_hot_from_cold() {
    let address = "address = { hot_cold = { f = 0.1, r = 0.9 } }\n";
    let plain = run_verified(&synthetic(address), &[]);
    for hints in ["\"groups\"", "{ hotness = [0.1, 0.9] }"] {
        let hinted = run_verified(&synthetic(&format!("{address}hints = {hints}\n")), &[]);
        let [hot, cold, none] = written(&hinted)[..] else { panic!("three handles") };
        assert!((17_500..18_500).contains(&hot) && hot + cold == 20_000 && none == 0, "{hot}");
        let [without, with] = [&plain, &hinted].map(|report| number(report, "write_amplification"));
        assert!(with < without, "{with} {without}");
    }
    assert_eq!(written(&plain), [20_000, 0, 0]);
}

#[test]
fn each_phase_has_its_hints() {
    let phases = "phases = [{ share = 0.25, hints = { regions = [1.0] } }, { share = 0.75 }]\n\
                  hints = { regions = [0.00001, 0.99999] }\n";
    let report = run_verified(&synthetic(phases), &[]);
    assert_eq!(written(&report), [5_000, 15_000, 0]);
}

#[test]
fn hints_that_name_no_handle_are_counted_and_go_to_handle_0() {
    let keys = "hints = { regions = [0.25, 0.25, 0.25, 0.25] }\n";
    let report = run_verified(&synthetic(keys), &[]);
    let [first, second, third] = written(&report)[..] else { panic!("three handles") };
    let invalid = whole(&report, "placement.events.invalid_placement_identifier");
    assert!((4_500..5_500).contains(&invalid), "{invalid}");
    assert_eq!(first + second + third, 20_000);
    assert!((9_000..11_000).contains(&first), "{first}");
}

/// A write that waits in the buffer is placed by the hint with which it came.
#[test]
fn flushes_of_the_write_buffer_keep_their_hints() {
    let keys = "hints = { regions = [0.5, 0.25, 0.25] }\nsize = \"8 KiB\"\n";
    let buffer = "device.write_buffer.size=\"256 KiB\"";
    let report = run_verified(&synthetic(keys), &[buffer]);
    let programs = written(&report);
    let flushed = whole(&report, "pages.flushed");
    let of = |share: f64| (share * flushed as f64) as u64;
    assert!(programs.iter().sum::<u64>() >= flushed);
    for (found, share) in programs.iter().zip([0.5, 0.25, 0.25]) {
        assert!(found.abs_diff(of(share)) < of(share) / 10, "{programs:?} of {flushed}");
    }
}

fn jobs(hints: &str) -> String {
    let job = |keys: &str| {
        format!("[[workload.jobs.job]]\nspan = 0.5\namount = 10.0\nrequests = 6000\n{keys}\n")
    };
    format!("{DRIVE}overwrite = 1.0\n{}{}", job("hints = [2]"), job(hints))
}

#[test]
fn jobs_write_with_hints_of_their_own() {
    let report = run_verified(&jobs("hints = [0, 1]"), &[]);
    assert_eq!(written(&report), [3_000, 3_000, 6_000]);
    let report = run_verified(&jobs("hints = [0, 1]\nhint_select = \"random\""), &[]);
    let [first, second, third] = written(&report)[..] else { panic!("three handles") };
    assert!((2_800..3_200).contains(&first) && first + second == 6_000 && third == 6_000);
    let report = run_verified(&jobs("read_share = 0.5"), &[]);
    let [first, second, third] = written(&report)[..] else { panic!("three handles") };
    assert!((2_800..3_200).contains(&first) && second == 0 && third == 6_000);
}

/// The handle of each page is saved with a drive.
#[test]
fn a_run_on_the_saved_drive_is_the_same() {
    let text = synthetic("address = { zipf = 1.1 }\nhints = { hotness = [0.1, 0.3, 0.6] }\n");
    for sets in [&[][..], &[PERSISTENT]] {
        let start = || Session::new(common::setup(&text, sets), None, Options::default());
        let mut direct = start();
        while direct.advance().expect("it goes on").phase != Phase::Done {}
        let mut saving = start();
        while saving.advance().expect("it goes on").phase != Phase::Ready {}
        let drive = saving.into_drive().expect("it is ready");
        let setup = common::setup(&text, sets);
        let session = Session::with_drive(setup, None, drive, "a", Options::default());
        let mut session = session.expect("the drive fits");
        while session.advance().expect("it goes on").phase != Phase::Done {}
        let report = session.report().to_json();
        assert!(!report["notes"].to_string().contains("handles"), "{}", report["notes"]);
        assert_eq!(report["result_hash"], direct.report().to_json()["result_hash"]);
    }
}

#[test]
fn a_run_without_a_clock_counts_the_same() {
    let keys = "address = { zipf = 1.1 }\nhints = { hotness = [0.1, 0.3, 0.6] }\n";
    // Each collection ends before the next request comes, and the last one among the reads.
    let phases = "phases = [{ share = 0.9 }, { share = 0.1, read_share = 1.0 }]\n";
    let text = synthetic(&format!("{keys}{phases}"))
        .replace("queue_depth = 8", "interarrival = { fixed = \"100 ms\" }");
    let untimed = "engine.timing=\"none\"";
    for sets in [&[][..], &[PERSISTENT]] {
        let timed = run_verified(&text, sets);
        let logical = run_verified(&text, &[sets, &[untimed]].concat());
        for key in ["placement.handles", "placement.classes", "pages.gc_moved", "erases"] {
            assert_eq!(at(&timed, key), at(&logical, key), "{key}");
        }
    }
    let records = logs(2_000);
    let [timed, logical] = [&[][..], &[untimed]].map(|sets| replay("fgt", &records, sets));
    assert_eq!(at(&timed, "placement.handles"), at(&logical, "placement.handles"));
}

/// Pages left in the open blocks of a handle, over all planes.
#[test]
fn available_pages_are_those_of_open_blocks() {
    let report = replay(CSV, &logs(5), &["precondition.fill=\"none\""]);
    let handles = at(&report, "placement.handles").as_array().expect("handles");
    let available: Vec<u64> =
        handles.iter().map(|it| whole(it, "available_bytes") / 4096).collect();
    // 64 pages of the first log and 16 of the second, striped over 4 planes with 32-page blocks.
    assert_eq!(available, [0, 4 * 32 - 64, 4 * 32 - 16]);
}

#[test]
fn mistakes_are_refused() {
    let cases: [(&str, &[&str], &str); 9] = [
        ("hints = \"hot\"\n", &[], "unknown placement hints"),
        ("hints = \"groups\"\n", &[], "addresses that have groups"),
        ("hints = { hotness = [0.1, 0.9] }\n", &[], "all places are equally hot"),
        ("hints = { regions = [0.6, 0.6] }\n", &[], "1 to 256 numbers above 0"),
        ("hints = { regions = [0.5], hotness = [0.5] }\n", &[], "both `regions` and `hotness`"),
        ("hints = {}\n", &[], "neither `regions` nor `hotness`"),
        ("", &["gc.placement.fdp.handles=9"], "handles"),
        ("", &["gc.placement.fdp.shares=[1]"], "`shares` needs `by = \"address\"`"),
        ("", &["gc.placement.fdp.by=\"address\""], "`handles` needs `by = \"hint\"`"),
    ];
    for (keys, sets, part) in cases {
        let refused = refusal(&synthetic(keys), sets);
        assert!(refused.contains(part), "{keys} {sets:?}: {refused}");
    }
    for (hints, part) in [
        ("hints = []", "1 to 256 numbers from 0 to 255"),
        ("hints = [256]", "1 to 256 numbers from 0 to 255"),
        ("hint_select = \"random\"", "`hint_select` needs `hints`"),
    ] {
        let refused = refusal(&jobs(hints), &[]);
        assert!(refused.contains(part), "{hints}: {refused}");
    }
}
