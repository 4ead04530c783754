//! Steady state: whether a run has reached it; lengths by work; runs in which no page moves.

use crate::common;

use common::{
    MemoryTrace, TINY, TINY_DRIVE, at, number, open_tiny, refusal, run, run_verified, whole,
};
use serde_json::Value;

fn verdict(report: &Value) -> &str {
    at(report, "steady.verdict").as_str().expect("the verdict is a word")
}

/// TINY as a closed loop of writes over a drive that collects.
fn writes(requests: &str) -> [String; 3] {
    [
        format!("workload.synthetic.requests={requests}"),
        "workload.synthetic.read_share=0.0".into(),
        "device.blocks_per_plane=64".into(),
    ]
}

fn run_writes(requests: &str, more: &[&str]) -> Value {
    let sets = writes(requests);
    let sets: Vec<&str> = sets.iter().map(String::as_str).chain(more.iter().copied()).collect();
    run(TINY, &sets)
}

#[test]
fn a_long_run_in_balance_says_yes_and_a_longer_one_agrees() {
    let report = run_writes("40_000", &[]);
    assert_eq!(verdict(&report), "yes", "{}", at(&report, "steady"));
    assert!(at(&report, "steady.more_requests").is_null());
    assert_eq!(at(&report, "steady.reasons"), &serde_json::json!([]));
    let longer = run_writes("400_000", &[]);
    let [short, long] = [&report, &longer].map(|report| number(report, "write_amplification"));
    assert!((short / long - 1.0).abs() < 0.05, "{short} {long}");
    let interval = at(&report, "steady.write_amplification_interval");
    assert!(interval[0].as_f64() < Some(short) && Some(short) < interval[1].as_f64());
}

#[test]
fn a_short_run_of_a_closed_loop_that_only_ate_free_blocks_says_no() {
    let report = run_writes("1_600", &["precondition.overwrite=0.0"]);
    assert!(whole(&report, "gc.count") > 0);
    assert_eq!(verdict(&report), "no");
    let [won, written] =
        ["reclaimed_pages", "written_pages"].map(|key| whole(&report, &format!("steady.{key}")));
    assert!(won < written * 9 / 10, "{won} of {written}");
    assert!(whole(&report, "steady.more_requests") > 0);
    assert!(whole(&report, "steady.free_pages_begin") > whole(&report, "steady.free_pages_end"));
    // Not one block was collected.
    let none = run_writes("20", &["precondition.overwrite=0.0"]);
    assert_eq!((verdict(&none), whole(&none, "gc.count")), ("no", 0));
}

#[test]
fn free_pages_are_those_of_begin_less_written_and_more_won() {
    let report = run_writes("5_000", &[]);
    let of = |key: &str| whole(&report, &format!("steady.{key}"));
    // The pages that open collections have moved are the only difference; a plane has one
    // of at most 8 pages.
    let expected = of("free_pages_begin") + of("reclaimed_pages") - of("written_pages");
    assert!(expected.abs_diff(of("free_pages_end")) <= 8 * 8, "{expected}");
}

/// Pages that were programmed for the host, by collections and by pre-migration, by the size of
/// the drive.
#[test]
fn turnovers_count_every_program() {
    let ahead = [
        "gc.background.use=\"pre-migration\"",
        "gc.background.pre-migration.distance=\"3 blocks\"",
        "gc.background.pre-migration.t_page=\"0%\"",
        "workload.synthetic.interarrival={exponential=\"2 ms\"}",
    ];
    let text = open_tiny();
    for (text, more) in [(TINY, &ahead[..0]), (&text, &ahead)] {
        let report = run(text, &[more, &["workload.synthetic.read_share=0.0"]].concat());
        let keys = ["pages.host_written", "pages.gc_moved", "pages.background_moved"];
        let pages = keys.map(|key| whole(&report, key));
        assert!(pages[1] > 10 && (pages[2] > 10 || more.is_empty()), "{pages:?}");
        let physical = number(&report, "capacity.physical_pages");
        let turnovers = number(&report, "steady.turnovers");
        assert_eq!(turnovers, pages.iter().sum::<u64>() as f64 / physical);
    }
}

/// Some reads of 25 us of one page arrive at once, and the others of 255 at equal gaps. When
/// between a quarter and a half of them have come the queue is as long as the burst, or one longer.
/// It then grows from 64 to 72, by less than a fifth; to 102; and from 8 to 12, where 4 requests
/// for each of the 4 units do not count as a backlog.
#[test]
fn a_drive_is_saturated_where_its_queue_is_long_and_grows_by_a_fifth() {
    let workload = "[workload.trace]\nformat = \"spc\"\n[precondition]\noverwrite = 0.0\n";
    let text = format!("{TINY_DRIVE}{workload}");
    for (burst, gap_ns, is_saturated) in
        [(64, 24_000, false), (64, 20_000, true), (8, 24_600, false)]
    {
        let row = |at: u64| {
            let at_ns = (at + 1).saturating_sub(burst) * gap_ns;
            format!("0,0,4096,r,0.{at_ns:09}\n")
        };
        let bytes = (0..255).map(row).collect::<String>().into_bytes();
        let trace = MemoryTrace { name: "reads.spc".into(), bytes };
        let report = common::finish(common::setup(&text, &[]), Some(trace), true);
        let report = report.expect("it runs");
        assert_eq!(at(&report, "saturated"), &Value::Bool(is_saturated), "{burst}, {gap_ns} ns");
    }
}

#[test]
fn a_run_that_drifts_says_no() {
    let report = run_writes("4_000", &["precondition.overwrite=0.0"]);
    assert_eq!(verdict(&report), "no");
    let halves = at(&report, "steady.write_amplification_halves");
    assert!(halves[1].as_f64() > halves[0].as_f64(), "{halves}");
}

#[test]
fn the_verdict_does_not_depend_on_coalescing_or_the_checker() {
    let sets = writes("6_000");
    let mut sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let plain = run(TINY, &sets);
    let checked = run_verified(TINY, &sets);
    sets.push("engine.coalesce=false");
    let stepwise = run(TINY, &sets);
    for other in [checked, stepwise] {
        assert_eq!(at(&plain, "steady"), at(&other, "steady"));
    }
}

#[test]
fn reads_alone_are_no_gc_and_say_so_first() {
    let report = run(TINY, &["workload.synthetic.read_share=1.0"]);
    assert_eq!(verdict(&report), "no GC");
    let why = at(&report, "steady.nothing_moved").as_str().expect("a reason");
    assert!(why.contains("writes nothing"), "{why}");
    assert_eq!(at(&report, "notes")[0], why);
}

#[test]
fn a_run_without_collection_says_how_many_requests_are_missing() {
    let none = run_writes("100", &["precondition.overwrite=0.0"]);
    let why = at(&none, "steady.nothing_moved").as_str().expect("a reason").to_string();
    let more = whole(&none, "steady.more_requests");
    assert!(why.contains("more requests") && why.contains("precondition.overwrite"), "{why}");
    // It is an estimate to two digits, and planes fill unevenly.
    let enough = run_writes(&format!("{}", 100 + more * 3 / 2), &["precondition.overwrite=0.0"]);
    assert!(whole(&enough, "gc.count") + whole(&enough, "gc.open") > 0, "{more}");
}

const TRACE: &str = r#"
[workload.trace]
format = "csv:time:us,op,offset,size"
"#;

fn with_trace(sets: &[&str], rows: u64) -> Value {
    let text = format!("{TINY_DRIVE}{TRACE}");
    let mut csv = String::new();
    for row in 0..rows {
        let page = row * 7 % 400;
        csv.push_str(&format!("{},W,{},4096\n", row * 100, page * 4096));
    }
    let setup = common::setup(&text, sets);
    common::finish(setup, Some(MemoryTrace::text("my.csv", &csv)), false).expect("it runs")
}

#[test]
fn a_trace_without_collection_is_no_gc_and_says_what_it_writes() {
    let report = with_trace(&[], 30);
    assert_eq!(verdict(&report), "no GC");
    let why = at(&report, "steady.nothing_moved").as_str().expect("a reason");
    assert!(why.contains("% of the drive") && why.contains("no scheme can differ"), "{why}");
}

#[test]
fn a_trace_is_repeated_until_it_is_steady_or_at_its_bound() {
    let sets = ["workload.until=\"steady\"", "workload.at_most=3"];
    let report = with_trace(&sets, 300);
    let written = whole(&report, "pages.host_written");
    let exported = whole(&report, "capacity.exported_pages");
    assert!(written >= 3 * exported || verdict(&report) == "yes", "{written} of {exported}");
    assert!(!at(&report, "steady.until.reached").is_null());
    // Time continues from round to round: 300 rows of 100 us each, 2,000 and more of them.
    assert!(whole(&report, "simulated_ns") >= (written - 1) * 100_000);
}

/// A trace that is replayed three times is one that has its rows three times, each time one mean
/// gap after the time before.
#[test]
fn a_trace_is_replayed_as_often_as_its_loops_say() {
    let rows = |round: u64, gap: u64| -> String {
        let row = |at: u64| format!("{},W,{},4096\n", round * 300 * gap + at * gap, at * 7 % 400);
        (0..300).map(row).collect()
    };
    let text = format!("{TINY_DRIVE}{TRACE}");
    let run = |csv: &str, sets: &[&str]| {
        let setup = common::setup(&text, sets);
        common::finish(setup, Some(MemoryTrace::text("my.csv", csv)), false).expect("it runs")
    };
    let thrice: String = (0..3).map(|round| rows(round, 100)).collect();
    let (looped, written) = (run(&rows(0, 100), &["workload.trace.loops=3"]), run(&thrice, &[]));
    assert_eq!(whole(&looped, "requests.write"), 900);
    for key in ["result_hash", "latency_ns", "pages", "simulated_ns"] {
        assert_eq!(at(&looped, key), at(&written, key), "{key}");
    }
    let both = ["workload.trace.loops=3", "workload.until=\"steady\""];
    let error = common::refusal(&text, &both);
    assert!(error.contains("as often as the run needs"), "{error}");
}

#[test]
fn an_amount_of_work_ends_with_the_write_that_reaches_it() {
    for (size, share) in [("4 KiB", "0.0"), ("16 KiB", "0.5"), ("1 KiB", "0.2")] {
        let size = format!("workload.synthetic.size=\"{size}\"");
        let share = format!("workload.synthetic.read_share={share}");
        let sets = ["workload.synthetic.requests=\"1.5 drive writes\"", &size, &share];
        let report = run(TINY, &sets);
        let bytes = whole(&report, "capacity.exported_bytes") * 3 / 2;
        let per_write = (number(&report, "write_amplification")
            / number(&report, "write_amplification_bytes")
            * whole(&report, "pages.host_written") as f64
            * 4096.0) as u64;
        assert!(per_write.abs_diff(bytes) <= 16 * 1024 + 1, "{sets:?}: {per_write} for {bytes}");
    }
}

#[test]
fn phases_share_an_amount_of_work() {
    let phases = "workload.synthetic.phases=[{share=0.25},{share=0.75,read_share=0.5}]";
    let report = run(TINY, &["workload.synthetic.requests=\"2 drive writes\"", phases]);
    let written = whole(&report, "pages.host_written");
    let exported = whole(&report, "capacity.exported_pages");
    assert!(written.abs_diff(2 * exported) <= 2, "{written} {exported}");
}

#[test]
fn until_steady_ends_in_balance_and_gives_the_same_bytes_again() {
    let sets = [
        "workload.until=\"steady\"",
        "workload.synthetic.requests=10_000_000",
        "workload.within=0.5",
    ];
    let report = run(TINY, &sets);
    assert_eq!(verdict(&report), "yes", "{}", at(&report, "steady"));
    assert_eq!(at(&report, "steady.until.reached"), &Value::Bool(true));
    let interval = at(&report, "steady.until.p99_9_interval_ns");
    let p99_9 = whole(&report, "latency_ns.all.p99_9");
    assert!(interval[0].as_u64() <= Some(p99_9) && Some(p99_9) <= interval[1].as_u64());
    let again = run(TINY, &sets);
    assert_eq!(at(&report, "result_hash"), at(&again, "result_hash"));
    let stepwise = run(TINY, &[&sets[..], &["engine.coalesce=false"]].concat());
    assert_eq!(at(&report, "result_hash"), at(&stepwise, "result_hash"));
}

#[test]
fn a_bound_ends_a_run_that_is_not_steady_and_says_so() {
    let sets = ["workload.until=\"steady\"", "workload.synthetic.requests=200"];
    let report = run(TINY, &sets);
    assert_eq!(whole(&report, "requests.read") + whole(&report, "requests.write"), 200);
    assert_eq!(at(&report, "steady.until.reached"), &Value::Bool(false));
    let notes = at(&report, "notes").to_string();
    assert!(notes.contains("limit of 200 requests"), "{notes}");
}

#[test]
fn write_amplification_in_bytes_counts_what_is_left_of_a_page() {
    let sets = [
        "device.page_size=\"16 KiB\"",
        "workload.synthetic.size=\"4 KiB\"",
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.align=\"4 KiB\"",
    ];
    let report = run(TINY, &sets);
    let [pages, bytes] =
        ["write_amplification", "write_amplification_bytes"].map(|key| number(&report, key));
    assert!((bytes / pages - 4.0).abs() < 1e-9, "{pages} {bytes}");
    let whole_pages = run(TINY, &["workload.synthetic.read_share=0.0"]);
    assert_eq!(
        at(&whole_pages, "write_amplification"),
        at(&whole_pages, "write_amplification_bytes")
    );
}

#[test]
fn lengths_that_never_end_are_refused() {
    let requests = "workload.synthetic.requests=\"2 drive writes\"";
    for (sets, expected) in [
        (vec![requests, "workload.synthetic.read_share=1.0"], "writes nothing"),
        (vec!["workload.synthetic.requests=\"2 drives\""], "is not a valid length"),
        (vec!["workload.synthetic.requests=\"0 drive writes\""], "is not a valid length"),
        (vec!["workload.confidence=0.9"], "needs `until`"),
        (
            vec![
                "workload.until=\"steady\"",
                "workload.synthetic.phases=[{share=0.5},{share=0.5}]",
            ],
            "several phases",
        ),
    ] {
        let text = refusal(TINY, &sets);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn an_open_loop_that_cannot_keep_up_is_never_in_balance() {
    let text = TINY.replace("queue_depth = 8", "interarrival = { exponential = \"20 us\" }");
    let report = run(&text, &["workload.synthetic.requests=60_000"]);
    assert_eq!(at(&report, "saturated"), &Value::Bool(true));
    assert_eq!(verdict(&report), "no");
    let reasons = at(&report, "steady.reasons").to_string();
    assert!(reasons.contains("faster than they were served"), "{reasons}");
    assert!(at(&report, "steady.more_requests").is_null());
}

/// Pages that move before their collection take space: they were counted as freed when their block
/// was erased, and a run of PreGC in steady state said "no".
#[test]
fn pages_that_move_ahead_are_not_won() {
    let sets = [
        "gc.scheme=\"pregc\"",
        "workload.synthetic.interarrival={exponential=\"2 ms\"}",
        "device.blocks_per_plane=64",
        "device.exported=0.5",
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.requests=40_000",
    ];
    let text = open_tiny();
    let report = run(&text, &sets);
    assert!(whole(&report, "pages.background_moved") > 1000, "{}", at(&report, "pages"));
    let of = |key: &str| whole(&report, &format!("steady.{key}"));
    let expected = of("free_pages_begin") + of("reclaimed_pages") - of("written_pages");
    // The pages that open collections have moved, and those that moved in advance from victims
    // that are not erased yet.
    assert!(expected.abs_diff(of("free_pages_end")) <= 16 * 8, "{}", at(&report, "steady"));
}
