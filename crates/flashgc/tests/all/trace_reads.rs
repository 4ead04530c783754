//! Pages that a trace reads hold data before it is replayed, as in SSDSim.

use crate::common;

use common::{MemoryTrace, TINY, at, inputs, refusal, setup, whole};
use flashgc::session::{Options, Phase, SavedDrive, Session, TraceOpener, prepare};
use serde_json::Value;

/// The tiny drive has 608 user pages, and begins empty.
fn replay(sets: &[&str]) -> String {
    let mut text = TINY.to_string();
    text.truncate(text.find("[workload").expect("a workload"));
    format!(
        "{text}\n[workload.trace]\nformat = \"csv:time:s,op,offset,size\"\n{}\n[precondition]\n\
         fill = \"none\"\n",
        sets.join("\n")
    )
}

/// A trace of requests: an operation, a first byte and bytes.
fn trace(requests: &[(&str, u64, u64)]) -> MemoryTrace {
    let rows = requests.iter().enumerate();
    let rows = rows.map(|(at, (op, byte, bytes))| format!("{at},{op},{byte},{bytes}\n"));
    MemoryTrace::text("my.csv", &format!("time,op,offset,size\n{}", rows.collect::<String>()))
}

const PAGE: u64 = 4096;

/// Page 1 is read only, 2 is read and then written, 3 written and then read, 4 written in part
/// and then read, 5 trimmed and then read, 6 trimmed in part and then read, 7 only written.
fn requests() -> Vec<(&'static str, u64, u64)> {
    vec![
        ("read", PAGE, PAGE),
        ("read", 2 * PAGE, 512),
        ("write", 2 * PAGE, PAGE),
        ("write", 3 * PAGE, PAGE),
        ("read", 3 * PAGE, PAGE),
        ("write", 4 * PAGE + 512, 512),
        ("read", 4 * PAGE, PAGE),
        ("trim", 5 * PAGE, PAGE + 512),
        ("read", 5 * PAGE, 2 * PAGE),
        ("write", 7 * PAGE, PAGE),
        ("read", PAGE, PAGE),
    ]
}

fn run(sets: &[&str]) -> Value {
    let setup = setup(&replay(&[]), sets);
    common::finish(setup, Some(trace(&requests())), true).unwrap_or_else(|error| panic!("{error}"))
}

fn drive(trace: MemoryTrace, sets: &[&str]) -> SavedDrive {
    let opener = Box::new(trace) as Box<dyn TraceOpener>;
    let options = Options { verify: true, ..Options::default() };
    let mut session = Session::new(setup(&replay(&[]), sets), Some(opener), options);
    while session.advance().unwrap_or_else(|error| panic!("{error}")).phase != Phase::Ready {}
    session.into_drive().expect("it is preconditioned")
}

/// The pages that hold data when measuring begins.
fn mapped(sets: &[&str]) -> Vec<usize> {
    let map = drive(trace(&requests()), sets).state.map;
    (0..map.len()).filter(|&lpn| map[lpn] != u32::MAX).collect()
}

const MAPPED: &str = "precondition.reads=\"mapped\"";
const ALL: &str = "precondition.reads=\"all-mapped\"";
const AGED: [&str; 2] = ["precondition.fill=\"aged\"", "precondition.aged_ratio=0.3"];

#[test]
fn what_is_read_before_it_is_written_is_mapped() {
    assert_eq!(mapped(&[]), [0; 0]);
    assert_eq!(mapped(&[MAPPED]), [1, 2, 6]);
    assert_eq!(mapped(&[ALL]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(mapped(&[AGED[0], AGED[1], MAPPED]), [1, 2, 6]);
    // Addresses beyond the drive are wrapped, as in the run.
    let far = trace(&[("read", (608 + 9) * PAGE, PAGE)]);
    let map = drive(far, &[MAPPED, "workload.trace.address=\"wrap\""]).state.map;
    assert!(map[9] != u32::MAX && map.iter().filter(|&&ppn| ppn != u32::MAX).count() == 1);
}

#[test]
fn reads_then_find_data() {
    let plain = run(&[]);
    // Pages 1, 2 and 6, and page 1 again; page 5 was trimmed.
    assert_eq!(whole(&plain, "pages.unwritten_read"), 5);
    assert_eq!(plain["precondition"].get("mapped_pages"), None);
    assert_eq!(plain["config"]["precondition"].get("reads"), None);
    for (sets, pages) in [(&[MAPPED][..], 3), (&[ALL], 6), (&[AGED[0], AGED[1], MAPPED], 3)] {
        let report = run(sets);
        assert_eq!(whole(&report, "pages.unwritten_read"), 1, "{sets:?}");
        assert_eq!(whole(&report, "precondition.mapped_pages"), pages);
        assert_eq!(whole(&report, "precondition.filled_pages"), 0);
        let notes = at(&report, "notes").to_string();
        assert!(!notes.contains("starts erased"), "{notes}");
    }
    let words = run(&[ALL]);
    assert_eq!(at(&words, "config.precondition.reads"), "all-mapped");
    // A write of a part of page 4, which has data: the rest is read first.
    assert_eq!(whole(&run(&[MAPPED]), "pages.rest_read"), 0);
    assert_eq!(whole(&words, "pages.rest_read"), 1);
}

/// Without a read no page must be mapped, and the trace is not read for it.
#[test]
fn a_trace_of_writes_alone_is_not_read_for_pages_to_map() {
    let fills = |requests: &[(&str, u64, u64)]| {
        let opener = Box::new(trace(requests)) as Box<dyn TraceOpener>;
        let mut session =
            Session::new(setup(&replay(&[]), &[MAPPED]), Some(opener), Options::default());
        let mut passes = 0;
        loop {
            let now = session.advance().unwrap_or_else(|error| panic!("{error}"));
            passes += u32::from(now.phase == Phase::Fill && now.total.is_none());
            if now.phase == Phase::Ready {
                break;
            }
        }
        let mapped = session.into_drive().expect("it is preconditioned").origin.precondition;
        (passes, mapped.mapped_pages)
    };
    assert_eq!(fills(&[("write", 0, PAGE), ("trim", 2 * PAGE, PAGE)]), (0, Some(0)));
    assert_eq!(fills(&requests()), (1, Some(3)));
}

/// Over many slices, and with collection on the way, on a drive that another scheme takes over.
#[test]
fn a_long_trace_is_mapped_in_slices() {
    let rows: Vec<(&str, u64, u64)> =
        (0..150_000u64).map(|at| ("read", at * 7 % 600 * PAGE, PAGE)).collect();
    let sets = [AGED[0], AGED[1], MAPPED, "precondition.scheme=\"fifo\""];
    let saved = drive(trace(&rows), &sets);
    assert_eq!(saved.origin.precondition.mapped_pages, Some(600));
    assert_eq!(saved.state.map.iter().filter(|&&ppn| ppn != u32::MAX).count(), 600);
}

/// The state depends on the trace, and so does its key.
#[test]
fn the_key_of_a_drive_knows_what_was_mapped() {
    let key =
        |requests: &[(&str, u64, u64)], sets: &[&str]| drive(trace(requests), sets).origin.key();
    let own = key(&requests(), &[MAPPED]);
    assert_ne!(key(&requests(), &[ALL]), own);
    assert_ne!(key(&requests(), &[]), own);
    assert_ne!(key(&requests()[..3], &[MAPPED]), own);
    assert_eq!(key(&requests()[..3], &[]), key(&requests(), &[]));
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    let text = replay(&[]);
    for fill in ["sequential", "trace"] {
        let found = refusal(&text, &[&format!("precondition.fill=\"{fill}\""), MAPPED]);
        assert!(found.contains("a filled drive has none"), "{found}");
        assert!(found.contains("set fill = \"none\" or \"aged\""), "{found}");
    }
    let found = refusal(&text, &["precondition.reads=\"read\""]);
    assert!(found.contains("`precondition.reads`") && found.contains("\"all-mapped\""), "{found}");
    let synthetic = ["precondition.fill=\"none\"", "precondition.overwrite=0.0", MAPPED];
    let found = refusal(TINY, &synthetic);
    assert!(found.contains("needs a trace workload"), "{found}");
    let fitted = "[device]\npreset = \"slc-msr\"\n[workload.fitted]\nrequests = 1\n\
                 regions = [{ pages = 1 }]\nbursts = [{ read_share = 1.0 }]\n\
                 course = [{ pauses = \"1 s\", bursts = { 1 = 1 } }]\n";
    let sets = ["precondition.fill=\"none\"", MAPPED];
    assert!(prepare(&inputs(fitted, &sets[..1])).is_ok(), "{}", refusal(fitted, &sets[..1]));
    assert!(refusal(fitted, &sets).contains("needs a trace workload"));
    assert!(refusal(fitted, &["precondition.fill=\"trace\""]).contains("needs a trace workload"));
}
