//! Program and erase failures: bad blocks, the time that they take, and the end of a drive
//! (docs/failures.md).

use crate::common;
use crate::faults_of_histories::{on_saved, saved, seeded};

use common::{
    MemoryTrace, ONE_PLANE, TINY, at, finish, finish_with, prepare_or_none, refusal, run,
    run_verified, setup, whole,
};
use flashgc::config::presets::scheme_names;
use flashgc::session::Options;
use flashgc::verify::{Happened, Listener};
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// One plane of blocks of four pages, of which the host writes one after the other.
const BLOCKS_OF_FOUR: [&str; 3] =
    ["device.blocks_per_plane=12", "device.pages_per_block=4", "device.exported=0.34"];

const TRACED: &str = concat!(
    common::tiny_drive!(),
    "[workload.trace]\nformat = \"csv\"\naddress = \"reject\"\n[precondition]\nfill = \"none\"\n"
);

/// The events of pages and blocks, each with its time in us.
fn events(sets: &[&str], trace: &str) -> (Vec<String>, Value) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&seen);
    let listener: Listener = Box::new(move |now_ns, happened| {
        let text = match happened {
            Happened::Programmed { ppn, lpn, .. } => format!("{} at {}", lpn.0, ppn.0),
            Happened::ProgramFailed(ppn) => format!("{} fails", ppn.0),
            Happened::Erased { block } => format!("block {} erased", block.0),
            Happened::Retired(block, true) => format!("erase of {} fails", block.0),
            Happened::Retired(block, _) => format!("block {} retired", block.0),
            Happened::BecomesReadOnly => "read-only".into(),
            Happened::Served { latency_ns, .. } => format!("done after {}", latency_ns / 1000),
            _ => return,
        };
        received.lock().expect("a list").push(format!("{}: {text}", now_ns / 1000));
    });
    let options = Options { verify: true, listener: Some(listener), ..Options::default() };
    let mut inputs = common::inputs(TRACED, &[&ONE_PLANE[..], &BLOCKS_OF_FOUR, sets].concat());
    inputs.has_trace = true;
    let setup = flashgc::session::prepare(&inputs).unwrap_or_else(|errors| panic!("{errors}"));
    let trace = MemoryTrace::text("writes.csv", trace);
    let report = finish_with(setup, Some(trace), options).expect("a run");
    let events = seen.lock().expect("a list").clone();
    (events, report)
}

/// Writes of these pages, 10 ms apart.
fn writes(pages: &[u64]) -> String {
    let row = |(at, page): (usize, &u64)| format!("{},0,w,{},4096\n", at * 10_000_000, page * 4096);
    pages.iter().enumerate().map(row).collect()
}

/// The events from this time on.
fn since(events: &[String], us: u64) -> Vec<&str> {
    let time = |event: &&String| event.split(':').next().and_then(|at| at.parse().ok()) >= Some(us);
    events.iter().filter(time).map(String::as_str).collect()
}

/// The write that opens block 9 leaves two erased blocks, below the threshold of three. The erase
/// of block 0 takes its time and fails; block 1 is erased after it.
#[test]
fn a_block_whose_erase_fails_is_retired_after_its_time() {
    let pages: Vec<u64> = (0..16).chain(0..16).chain(0..6).collect();
    let at = "device.failures.at=[{block=0,erases=0}]";
    let (events, report) = events(&[at], &writes(&pages));
    let expected = [
        "360000: 4 at 36",
        "360200: done after 200",
        "361700: erase of 0 fails",
        "363200: block 1 erased",
        "370000: 5 at 37",
        "370200: done after 200",
    ];
    assert_eq!(since(&events, 360_000), expected);
    let found = at_keys(&report);
    assert_eq!(found, (0, 1, 1, 0, 2, false));
    assert_eq!((whole(&report, "erases"), whole(&report, "erase_operations")), (1, 2));
}

/// The program of the second page of block 0 fails. Its data, which is still in the register, is
/// programmed in the first page of block 1, and block 0 is closed. It is the oldest victim when
/// block 9 is opened: its valid page moves, and it is retired without an erase.
#[test]
fn a_block_with_a_failed_program_is_closed_emptied_and_retired() {
    let pages: Vec<u64> = (0..16).chain(1..16).chain(1..5).collect();
    let at = "device.failures.at=[{block=0,program=1}]";
    let (events, report) = events(&["gc.scheme=\"fifo\"", at], &writes(&pages));
    let first = [
        "0: 0 at 0",
        "200: done after 200",
        "10000: 1 fails",
        "10000: 1 at 4",
        "10400: done after 400",
        "20000: 2 at 5",
    ];
    assert_eq!(events[..6], first);
    let last = [
        "330000: 3 at 36",
        "330200: done after 200",
        "330200: 0 at 37",
        "330425: block 0 retired",
        "331925: block 1 erased",
        "340000: 4 at 38",
        "340200: done after 200",
    ];
    assert_eq!(since(&events, 330_000), last);
    assert_eq!(at_keys(&report), (1, 0, 1, 0, 2, false));
    assert_eq!(whole(&report, "pages.gc_moved"), 1);
    assert_eq!(whole(&report, "erase_operations"), 1);
}

/// Program failures, erase failures, retired, failing and spare blocks; whether it is read-only.
fn at_keys(report: &Value) -> (u64, u64, u64, u64, u64, bool) {
    let count = |key: &str| whole(report, &format!("failures.{key}"));
    let is_read_only = at(report, "failures.read_only").as_bool().expect("a flag");
    (
        count("program"),
        count("erase"),
        count("retired_blocks"),
        count("failing_blocks"),
        count("spare_blocks"),
        is_read_only,
    )
}

/// Three blocks are spare. With the third that is retired the run ends, and every request that has
/// come is served.
#[test]
fn a_drive_without_spare_blocks_is_read_only_and_its_run_ends() {
    let pages: Vec<u64> = (0..16).cycle().take(100).collect();
    let all: Vec<String> = (0..12).map(|block| format!("{{block={block}}}")).collect();
    let at_all = format!("device.failures.at=[{}]", all.join(","));
    let (events, report) = events(&[&at_all], &writes(&pages));
    assert_eq!(
        since(&events, 360_000),
        [
            "360000: 4 at 36",
            "360200: done after 200",
            "361700: erase of 0 fails",
            "363200: erase of 1 fails",
            "364700: erase of 2 fails",
            "364700: read-only",
        ]
    );
    assert_eq!(at_keys(&report), (0, 3, 3, 0, 0, true));
    assert_eq!(whole(&report, "requests.write"), 37);
    let notes = at(&report, "notes").to_string();
    let note = "the drive became read-only after 37 writes, with 3 bad blocks";
    assert!(notes.contains(note), "{notes}");
    let untimed = events_untimed(&at_all, &pages);
    assert_eq!(at_keys(&untimed), (0, 3, 3, 0, 0, true));
    assert_eq!(whole(&untimed, "requests.write"), 37);
}

fn events_untimed(at: &str, pages: &[u64]) -> Value {
    events(&[at, "engine.timing=\"none\""], &writes(pages)).1
}

/// No number of requests is missing where there can be no more of them: the drive is read-only, or
/// will be before their end.
#[test]
fn a_drive_that_runs_out_of_blocks_waits_for_no_balance() {
    let base = ["device.blocks_per_plane=32", "device.exported=0.5", "workload.until=\"steady\""];
    let run_of = |failures| run_verified(TINY, &[&base[..], &[failures]].concat());
    let judged = |report: &Value| {
        let reasons = at(report, "steady.reasons").to_string();
        (
            at(report, "steady.verdict").to_string(),
            reasons,
            at(report, "steady.more_requests").as_u64(),
        )
    };
    let worn = run_of("device.failures={erase=0.1}");
    assert!(at_keys(&worn).5, "{:?}", at_keys(&worn));
    let (verdict, reasons, more) = judged(&worn);
    assert_eq!((verdict.as_str(), more), ("\"no\"", None));
    assert!(reasons.starts_with("[\"the drive became read-only"), "{reasons}");
    assert!(!at(&worn, "notes").to_string().contains("reached its limit"), "{worn}");

    let wears = run_of("device.failures={erase=0.05}");
    assert!(at_keys(&wears).1 > 0 && !at_keys(&wears).5, "{:?}", at_keys(&wears));
    let (verdict, reasons, more) = judged(&wears);
    assert_eq!((verdict.as_str(), more), ("\"no\"", None));
    assert!(reasons.contains("read-only before it reaches steady state"), "{reasons}");
    assert!(!at(&wears, "notes").to_string().contains("raise it"), "{wears}");
    let (_, reasons, more) = judged(&run_of("device.failures={erase=0.02}"));
    assert!(more.is_some() && !reasons.contains("read-only"), "{reasons}");
}

/// Blocks of which none is collected: a drive whose programs fail.
#[test]
fn a_drive_that_is_read_only_before_a_collection_names_that() {
    let all: Vec<String> = (0..12).map(|block| format!("{{block={block},program=0}}")).collect();
    let (_, report) =
        events(&[&format!("device.failures.at=[{}]", all.join(","))], &writes(&[0, 1]));
    assert!(at_keys(&report).5, "{:?}", at_keys(&report));
    assert_eq!(at(&report, "steady.verdict"), "no GC");
    let why = at(&report, "steady.nothing_moved").to_string();
    assert!(why.contains("read-only before a collection"), "{why}");
}

/// Every scheme, with and without a clock, on devices of several kinds: the checker keeps its own
/// bad blocks, and every run ends served.
#[test]
fn every_scheme_lives_with_bad_blocks_under_the_checker() {
    const DEVICES: &[&[&str]] = &[
        &[],
        &["engine.timing=\"none\""],
        &["engine.coalesce=false", "gc.copy.use=\"bus\""],
        &["device.allocation=\"dynamic\"", "device.multi_plane=2"],
        &["device.write_buffer.size=\"64 KiB\"", "device.timing.layer_ratio=2.0"],
        &["device.mapping_unit=\"1 KiB\"", "device.allocation=\"dynamic\""],
        &["gc.placement.use=\"sepbit\""],
        &["device.allocation=\"when-idle\"", "device.timing.transfer=\"5 ns/B\""],
    ];
    const RATES: [&str; 4] = [
        "device.failures={erase=0.003}",
        "device.failures={program=0.0005}",
        "device.failures={program=0.01,erase=0.06}",
        "device.failures={erase=0.001,program=0.0002,doubling_cycles=4}",
    ];
    let (mut runs, mut read_only, mut programs, mut erases) = (0, 0, 0, 0);
    for (number, scheme) in scheme_names().into_iter().enumerate() {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        for (device, rates) in (0..DEVICES.len()).map(|at| (DEVICES[at], RATES[(at + number) % 4]))
        {
            let base = [
                scheme.as_str(),
                rates,
                "device.blocks_per_plane=32",
                "device.exported=0.5",
                common::SUSPENDS,
            ];
            let Some(setup) = prepare_or_none(TINY, &[&base[..], device].concat()) else {
                continue;
            };
            let report = match finish(setup, None, true) {
                Ok(report) => report,
                Err(why) => {
                    assert!(why.contains("read-only before"), "{scheme} {rates} {device:?}: {why}");
                    continue;
                }
            };
            runs += 1;
            read_only += u32::from(at_keys(&report).5);
            programs += at_keys(&report).0;
            erases += at_keys(&report).1;
        }
    }
    assert!(runs > 100, "{runs}");
    assert!(read_only > 10 && read_only < runs - 10, "{read_only} of {runs} read-only");
    assert!(programs > 100 && erases > 100, "{programs} programs, {erases} erases");
}

/// The open blocks of an aged drive end in the middle of a program. The data of a failed one does
/// not complete it: it fills a whole program, of another open block or of an erased one. So a flush
/// of fewer pages than a program waits for others as before.
#[test]
fn the_data_of_a_failed_program_fills_a_whole_one() {
    const DEVICES: &[&[&str]] = &[
        &["device.pages_per_program=2"],
        &["device.pages_per_program=4", "gc.placement.use=\"separate-gc\""],
        &["device.mapping_unit=\"1 KiB\"", "gc.copy.use=\"bus\""],
        &["device.mapping_unit=\"1 KiB\"", "gc.scheme=\"ideal\""],
        &["device.mapping_unit=\"2 KiB\"", "device.pages_per_program=2"],
        &["device.pages_per_program=2", "gc.placement.use=\"sepbit\"", "device.exported=0.35"],
        &[
            "device.pages_per_program=2",
            "gc.preemption.use=\"between-copies\"",
            NO_MERGE[0],
            NO_MERGE[1],
        ],
    ];
    const NO_MERGE: [&str; 2] =
        ["gc.preemption.between-copies.merge=false", "gc.preemption.between-copies.pipeline=false"];
    let mut failed = 0;
    for device in DEVICES {
        for seed in 0..6 {
            let seed = format!("seed={seed}");
            let base = [
                seed.as_str(),
                "device.failures={program=0.01}",
                "device.allocation=\"dynamic\"",
                "device.blocks_per_plane=80",
                "device.pages_per_block=12",
                "device.exported=0.5",
                "gc.trigger.watermark.soft=\"12 blocks\"",
                "precondition.fill=\"aged\"",
                "precondition.aged_ratio=0.1",
                "precondition.overwrite=0.0",
                "workload.synthetic.requests=3000",
            ];
            let report = run_verified(TINY, &[&ONE_PLANE[..], &base, device].concat());
            failed += at_keys(&report).0;
        }
    }
    assert!(failed > 100, "{failed} programs");
}

/// Results do not depend on whether a collection runs as one event.
#[test]
fn coalescing_changes_no_result() {
    for scheme in ["greedy", "fpgc", "fifo"] {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        let rates = "device.failures={program=0.003,erase=0.002}";
        let drive = ["device.blocks_per_plane=32", "device.exported=0.5", common::SUSPENDS];
        let sets = [&[scheme.as_str(), rates][..], &drive].concat();
        let steps = [&sets[..], &["engine.coalesce=false"]].concat();
        let (one, other) = (run(TINY, &sets), run_verified(TINY, &steps));
        assert!(at_keys(&one).0 > 0, "{scheme}: {:?}", at_keys(&one));
        assert_eq!(at(&one, "result_hash"), at(&other, "result_hash"), "{scheme}");
    }
}

/// A drive that has lost 22 of its 105 blocks, in one of whose planes a single erased block is left
/// and no page is invalid: it was read-only when it was taken from a file.
#[test]
fn a_drive_with_fewer_erased_blocks_than_its_reserve_continues_from_a_file() {
    let text = r#"
        seed = 763
        [device]
        channels = 1
        chips_per_channel = 3
        dies_per_chip = 1
        planes_per_die = 1
        blocks_per_plane = 35
        pages_per_block = 12
        page_size = "4 KiB"
        exported = 0.5097
        unit = "plane"
        allocation = "when-idle"
        [device.timing]
        read = "25 us"
        program = "200 us"
        erase = "1.5 ms"
        transfer = "0 ns/B"
        [device.failures]
        program = 0.0003
        erase = 0.1
        doubling_cycles = 17
        [gc]
        scheme = "subblock-baseline"
        [workload.synthetic]
        requests = 20
        interarrival = { uniform = "300 us" }
        [precondition]
        fill = "by-block"
        until = "steady"
        at_most = 2.0
    "#;
    let direct = finish(setup(text, &[]), None, true).expect("it runs");
    let (_, _, retired, ..) = at_keys(&direct);
    assert_eq!((whole(&direct, "requests.write"), retired), (20, 22));
    let report = on_saved(text, &[], saved(text, &[]));
    assert_eq!(at(&report, "result_hash"), at(&direct, "result_hash"));
}

/// A collection that only retires its victims ends with its last copy. In steps it ended after
/// other units of the instant were checked, so that its chip was closed again before they began.
#[test]
fn a_collection_that_erases_nothing_ends_with_its_last_copy_in_steps_too() {
    let text = r#"
        seed = 1
        [device]
        channels = 1
        chips_per_channel = 2
        dies_per_chip = 2
        planes_per_die = 1
        blocks_per_plane = 18
        pages_per_block = 3
        page_size = "4 KiB"
        exported = 0.5009
        unit = "plane"
        failures.program = 0.01
        [device.timing]
        read = "25 us"
        program = "200 us"
        erase = "1.5 ms"
        transfer = "0 ns/B"
        [gc]
        scheme = "greedy"
        [workload.synthetic]
        requests = 400
        queue_depth = 16
        read_share = 0.2
        size = "16 KiB"
    "#;
    const BLOCKING: [&str; 2] = ["{use=\"chip\"}", "{use=\"channel\", channel.erasing=\"chip\"}"];
    let mut retired = 0;
    for (seed, blocking) in (1..=12).flat_map(|seed| BLOCKING.map(|blocking| (seed, blocking))) {
        let (text, blocking) = (seeded(text, seed), format!("gc.blocking={blocking}"));
        let steps = [blocking.as_str(), "engine.coalesce=false"];
        let (one, other) = (run_verified(&text, &steps[..1]), run_verified(&text, &steps));
        retired += whole(&one, "failures.retired_blocks");
        assert_eq!(at(&one, "result_hash"), at(&other, "result_hash"), "{seed} {blocking}");
    }
    assert!(retired > 40, "{retired} blocks were retired");
}

#[test]
fn what_cannot_be_combined_is_refused_with_its_reason() {
    let given = |sets: &[&str]| refusal(TINY, sets);
    let why = given(&["device.failures={}"]);
    assert!(why.contains("names nothing that fails"), "{why}");
    let why = given(&["device.failures.at=[{block=128}]"]);
    assert!(why.contains("block 128") && why.contains("128 blocks of 8 programs"), "{why}");
    let why = given(&["device.failures.at=[{block=1,program=8}]"]);
    assert!(why.contains("block 1, program 8"), "{why}");
    let why = given(&["device.failures.at=[{erases=1},{block=1,page=2},{block=1,program=-1}]"]);
    assert!(why.contains("missing key `device.failures.at[1].block`"), "{why}");
    assert!(why.contains("as in `at = [{ block = 5, erases = 2 }]`"), "{why}");
    assert!(why.contains("`page`") && why.contains("program"), "{why}");
    let why = given(&["device.failures.erase=1.5"]);
    assert!(why.contains("erase"), "{why}");
    let why = given(&["device.failures.program=0.1", "gc.scheme=\"parallel\""]);
    assert!(why.contains("of the wrong parity"), "{why}");
    setup(TINY, &["device.failures.erase=0.1", "gc.scheme=\"parallel\""]);
    let why =
        given(&["device.failures.erase=0.1", "device.superblock=\"die\"", "gc.copy.use=\"bus\""]);
    assert!(why.contains("blocks of a superblock"), "{why}");
    let why = given(&["device.failures.erase=0.1", "device.sub_blocks=2", "gc.scheme=\"gsm\""]);
    assert!(why.contains("a part of a block"), "{why}");
}
