//! A trace among jobs: it comes at its own times, stays in its part of the drive, and has its own
//! row in the report.

use crate::common;
use crate::tenants::DRIVE;

use common::{MemoryTrace, at, finish_with, inputs, number, refusal, setup, whole};
use flashgc::config::{Inputs, prepare};
use flashgc::session::Options;
use serde_json::Value;
use std::fmt::Write;

/// The settings of preconditioning for a trace alone and among jobs. They continue the table of the
/// drive.
const UNIFORM: &str = "overwrite_with = \"uniform\"\n";

/// A job that begins when the trace has long ended.
const LATE: &str = "[[workload.jobs.job]]\nfile = \"drive\"\nstart = \"1000 s\"\nrequests = 1\n";

/// 4000 requests, two reads to a write, with gaps of 0.3 ms on average over 16 MiB.
fn rows(first_page: u64) -> MemoryTrace {
    let (mut text, mut time, mut choices) = (String::new(), 0, common::Choices::new(7));
    for _ in 0..4000 {
        time += choices.below(6000);
        let op = if choices.below(3) == 0 { "Write" } else { "Read" };
        let offset = (first_page + choices.below(4096) as u64) * 4096;
        let time = 128_166_372_003_061_629 + time;
        writeln!(text, "{time},web,0,{op},{offset},4096,0").expect("a text grows");
    }
    MemoryTrace::text("t.csv", &text)
}

fn run(text: &str, trace: MemoryTrace) -> Result<Value, String> {
    let options = Options { verify: true, blame: true, ..Options::default() };
    finish_with(setup(&format!("{DRIVE}{UNIFORM}{text}"), &[]), Some(trace), options)
}

fn jobs(report: &Value) -> &Vec<Value> {
    at(report, "jobs").as_array().expect("rows")
}

/// Without another active job it has the latencies and the blame of the trace alone.
#[test]
fn a_trace_beside_a_job_that_sleeps_is_the_trace_alone() {
    let alone = run("[workload.trace]\n", rows(0)).expect("it goes on");
    let beside = run(&format!("{LATE}[workload.jobs.trace]\n"), rows(0)).expect("it goes on");
    let row = &jobs(&beside)[1];
    assert_eq!(at(row, "name"), "trace");
    assert_eq!(whole(row, "depth"), 0);
    for op in ["read", "write"] {
        let op_of = format!("latency_ns.{op}");
        assert_eq!(at(row, &op_of), at(&alone, &op_of));
        assert!(whole(row, &format!("{op_of}.count")) > 1000);
    }
    assert_eq!(at(row, "blame.read"), at(&alone, "blame.read"));
    assert_eq!(whole(&beside, "requests.write"), whole(&alone, "requests.write") + 1);
}

/// Its addresses count from the start of its part, and none leaves it.
#[test]
fn a_trace_stays_in_its_part() {
    let text = |keys: &str| format!("{LATE}[workload.jobs.trace]\nspan = \"16 MiB\"\n{keys}");
    let at_start = run(&text(""), rows(0)).expect("it fits");
    // Other pages lie on the same planes in the same order, at a multiple of all planes.
    let moved = run(&text("offset = \"32 MiB\"\n"), rows(0)).expect("it fits");
    for report in [&at_start, &moved] {
        assert_eq!(whole(&jobs(report)[1], "bytes.write") % 4096, 0);
    }
    let why = run(&text(""), rows(1)).expect_err("the last page lies behind the part");
    assert!(why.contains("16777216 bytes for it"), "{why}");
    let compact = run(&text("address = \"compact\"\n"), rows(1)).expect("it fits");
    assert_eq!(
        whole(&jobs(&compact)[1], "requests.read"),
        whole(&jobs(&moved)[1], "requests.read")
    );
}

/// A concurrent writer makes it slower, and the delay moves all its requests.
#[test]
fn a_trace_waits_for_its_neighbour_and_may_begin_later() {
    let writer = "[[workload.jobs.job]]\nname = \"writer\"\nfile = \"drive\"\ndepth = 32\n\
                  time_based = true\nruntime = \"1200 ms\"\n";
    let quiet = run(&format!("{LATE}[workload.jobs.trace]\n"), rows(0)).expect("it goes on");
    let delayed = format!("{writer}[workload.jobs.trace]\ndelay = \"3 s\"\nname = \"users\"\n");
    let delayed = run(&delayed, rows(0)).expect("it goes on");
    let loud = run(&format!("{writer}[workload.jobs.trace]\n"), rows(0)).expect("it goes on");
    let mean = |report: &Value| number(&jobs(report)[1], "latency_mean_ns.read");
    assert!(mean(&loud) > 3.0 * mean(&quiet), "{} {}", mean(&loud), mean(&quiet));
    let row = &jobs(&delayed)[1];
    assert_eq!((at(row, "name").as_str(), whole(row, "begun_ns")), (Some("users"), 3_000_000_000));
    assert!(mean(&delayed) < mean(&loud));
}

#[test]
fn what_a_trace_beside_jobs_cannot_have_is_refused() {
    let text = |keys: &str| format!("{DRIVE}{UNIFORM}{LATE}[workload.jobs.trace]\n{keys}");
    for (keys, why) in [
        ("queue_depth = 4\n", "arrives at its own times"),
        ("fit = \"90%\"\n", "jobs share this drive"),
        ("span = \"1 TiB\"\n", "the user capacity is"),
        ("depth = 4\n", "unknown key `depth`"),
    ] {
        let found = refusal(&text(keys), &[]);
        assert!(found.contains(why), "{found}");
    }
    let grouped = text("").replace("requests = 1\n", "requests = 1\nafter_others = true\n");
    assert!(refusal(&grouped, &[]).contains("begins with the first group"));
}

/// A trace that the caller passes in is replayed among the jobs.
#[test]
fn a_given_trace_does_not_replace_the_jobs() {
    let text = format!("{DRIVE}{UNIFORM}{LATE}[workload.jobs.trace]\n");
    let given = Inputs { has_trace: true, ..inputs(&text, &[]) };
    let setup = prepare(&given).expect("a setup");
    assert!(setup.needs_trace() && setup.trace_file().is_none());
    assert_eq!(setup.workload.queues().weights, [1, 1]);
    let named = common::setup(&format!("{text}file = \"t.csv\"\n"), &[]);
    assert_eq!(named.trace_file(), Some("t.csv"));
}
