//! The idle trigger: it collects only while the drive is idle, only blocks that free pages, and
//! comes to an end. The pairwise matrix runs it with everything else.

use crate::common;
use crate::common::spy::{Record, spied};

use common::{TINY, at, checked, number, open_tiny, refusal, run, run_verified, setup, whole};
use flashgc::sim::Sim;
use flashgc::verify::Happened;
use flashgc::workload::{HostOp, HostRequest, ListSource};
use serde_json::Value;

const IDLE: &str = "gc.scheme=\"idle\"";

/// Writes of one page with gaps of this mean.
fn open_loop(arrivals: &str, sets: &[&str]) -> Value {
    let text = open_tiny();
    let arrivals = format!("workload.synthetic.interarrival={{{arrivals}}}");
    let always = ["workload.synthetic.read_share=0.0", "gc.trigger.watermark.soft=\"2 blocks\""];
    run_verified(&text, &[&[arrivals.as_str()], &always[..], sets].concat())
}

#[test]
fn gaps_are_used_and_writes_wait_less() {
    let gaps = "exponential=\"4 ms\"";
    let idle = [IDLE, "gc.trigger.idle.wait=\"500 us\""];
    let (plain, idle) = (open_loop(gaps, &[]), open_loop(gaps, &idle));
    assert!(whole(&idle, "gc.idle_collections") > whole(&idle, "gc.count") / 2);
    assert!(whole(&idle, "gc.idle_collections") <= whole(&idle, "gc.count"));
    // Collection in advance moves more pages.
    assert!(number(&idle, "write_amplification") >= number(&plain, "write_amplification"));
    assert!(whole(&idle, "free_pages_min") > whole(&plain, "free_pages_min"));
    assert!(plain.pointer("/gc/idle_collections").is_none());
}

#[test]
fn shorter_gaps_than_the_wait_change_nothing() {
    let gaps = "fixed=\"700 us\"";
    let idle = open_loop(gaps, &[IDLE, "gc.trigger.idle.wait=\"701 us\""]);
    assert_eq!(whole(&idle, "gc.idle_collections"), 0);
    let plain = open_loop(gaps, &[]);
    assert_eq!(at(&idle, "latency_ns"), at(&plain, "latency_ns"));
    assert_eq!(at(&idle, "erases"), at(&plain, "erases"));
}

#[test]
fn a_closed_loop_is_never_idle_and_says_so() {
    let sets = [IDLE, "gc.trigger.idle.wait=\"0 ns\"", "workload.synthetic.queue_depth=1"];
    let report = run_verified(TINY, &sets);
    assert_eq!(whole(&report, "gc.idle_collections"), 0);
    let plain = run_verified(TINY, &["workload.synthetic.queue_depth=1"]);
    assert_eq!(at(&report, "latency_ns"), at(&plain, "latency_ns"));
    let notes = at(&report, "notes").to_string();
    assert!(notes.contains("the drive is never idle"), "{notes}");
    assert!(!at(&plain, "notes").to_string().contains("idle"));
}

#[test]
fn preconditioning_has_no_idle_time() {
    let (idle, plain) = (open_loop("fixed=\"9 ms\"", &[IDLE]), open_loop("fixed=\"9 ms\"", &[]));
    let without_scheme = |report: &Value| {
        let mut precondition = at(report, "precondition").clone();
        precondition["scheme"] = Value::Null;
        precondition
    };
    assert_eq!(without_scheme(&idle), without_scheme(&plain));
}

/// The requests of the list come at their own times.
fn open_text() -> String {
    TINY.replace("queue_depth = 8\n", "interarrival = { fixed = \"1 ms\" }\n")
}

/// A watcher that records the moved pages and the begin of each collection.
#[derive(Default)]
struct Jobs(Vec<(u64, u32, u32)>);

impl Record for Jobs {
    fn observe(&mut self, _now_ns: u64, happened: Happened) {
        if let Happened::JobClosed(row) = happened {
            self.0.push((row.selected_ns, row.valid, row.blocks));
        }
    }
}

fn write(at_ns: u64, lpn: u64) -> HostRequest {
    HostRequest::from_bytes(at_ns, HostOp::Write, lpn * 4096, 4096, 4096)
}

/// An hour without requests: each victim policy collects the blocks that free pages, and rests.
#[test]
fn an_idle_drive_comes_to_rest_and_collects_nothing_without_gain() {
    for victim in ["greedy", "fifo", "random", "d-choices", "cost-benefit", "wear-aware"] {
        for erase in ["block", "blocks"] {
            let victim = format!("gc.victim.use=\"{victim}\"");
            let erase = format!("gc.erase.use=\"{erase}\"");
            let mark = "gc.trigger.idle.threshold=\"16 blocks\"";
            let setup = setup(&open_text(), &[IDLE, &victim, &erase, mark]);
            let exported = setup.plan.geometry.exported_pages;
            let (watch, jobs) = spied(Jobs::default());
            let mut sim = Sim::new(setup.plan.clone(), watch);
            sim.untimed().fill(0, exported).expect("the fill fits");
            let writes = (0..200u64).map(|at| write(at * 1000, at * 7 % u64::from(exported)));
            let last = write(3_600_000_000_000, 0);
            let mut source = ListSource::new(writes.chain([last]).collect());
            sim.start(&mut source).expect("the workload starts");
            let progress = sim.run(&mut source, 1_000_000).expect("it runs");
            assert!(progress.finished, "{victim} {erase}: it never rests");
            let idle_collections = sim.seen().results().counters.idle_collections;
            assert!(
                idle_collections > 0 && idle_collections < 2_000,
                "{victim}: {idle_collections} jobs"
            );
            // The burst ends within 100 ms; all after that is idle time.
            let jobs = jobs.lock().expect("the run has ended");
            let idle = jobs.0.iter().filter(|(begun_ns, ..)| *begun_ns > 100_000_000);
            for (_, valid, blocks) in idle {
                assert!(*valid < 8 * blocks, "{victim} {erase}: a job won nothing");
            }
        }
    }
}

#[test]
fn a_greedy_drive_left_alone_has_nothing_invalid_in_the_end() {
    let setup = setup(&open_text(), &[IDLE, "gc.trigger.idle.threshold=\"16 blocks\""]);
    let exported = setup.plan.geometry.exported_pages;
    let mut sim = Sim::new(setup.plan.clone(), checked(&setup));
    sim.untimed().fill(0, exported).expect("the fill fits");
    let writes = (0..300u64).map(|at| write(at * 1000, at * 7 % u64::from(exported)));
    let last = HostRequest { op: HostOp::Read, ..write(60_000_000_000, 0) };
    let mut source = ListSource::new(writes.chain([last]).collect());
    sim.start(&mut source).expect("the workload starts");
    while !sim.run(&mut source, 97).expect("it runs").finished {
        sim.audit();
    }
    assert!(sim.ftl().blocks.reclaimable.iter().all(|&pages| pages == 0));
    let results = sim.seen().results();
    sim.audit_counters(&results);
}

/// The trigger does not depend on a preset: it joins any thresholds, and the flush of a buffer.
#[test]
fn idle_collection_and_idle_flushes_share_the_gaps() {
    let sets = [
        IDLE,
        "gc.trigger.idle.wait=\"1 ms\"",
        "gc.background.use=\"flush-buffer\"",
        "device.write_buffer.size=\"16 KiB\"",
    ];
    let report = open_loop("bursty={mean=\"4 ms\",below=\"300 us\",share=0.7}", &sets);
    assert!(whole(&report, "gc.idle_collections") > 10, "{report}");
    assert!(whole(&report, "pages.flushed") > 1_000);
}

#[test]
fn triggers_are_one_word_or_a_list() {
    let slot = |sets: &[&str]| setup(TINY, sets).plan.gc.slots["trigger"].clone();
    assert_eq!(slot(&[]), "watermark");
    assert_eq!(slot(&["gc.trigger.use=[\"watermark\"]"]), "watermark");
    assert_eq!(slot(&["gc.trigger.use=[\"idle\",\"watermark\"]"]), "watermark + idle");
    assert_eq!(slot(&[IDLE]), "watermark + idle");
    let back = [IDLE, "gc.trigger.use=\"watermark\"", "workload.synthetic.requests=10"];
    assert_eq!(at(&run(TINY, &back), "unused_keys").to_string(), "[\"gc.trigger.idle.wait\"]");
    let mark = |sets: &[&str]| {
        let sets = [&[IDLE], sets].concat();
        serde_json::to_value(setup(TINY, &sets).plan.gc.idle).expect("it is data")
    };
    assert_eq!(mark(&[])["threshold"]["blocks"], 6, "twice the soft threshold");
    assert_eq!(mark(&["gc.trigger.watermark.soft=\"20 pages\""])["threshold"]["pages"], 40);
    assert_eq!(mark(&["gc.trigger.idle.threshold=\"50%\""])["threshold"]["blocks"], 8);
    assert_eq!(mark(&["gc.trigger.idle.wait=\"5 ms\""])["wait"]["ns"], 5_000_000);
}

#[test]
fn what_makes_no_trigger_is_refused() {
    for (sets, why) in [
        (&["gc.trigger.use=\"idle\""][..], "[\"watermark\", \"idle\"]"),
        (&["gc.trigger.use=[\"idle\"]"], "alone never collects on a drive that is never idle"),
        (&["gc.trigger.use=[]"], "is not a list of different choices"),
        (&["gc.trigger.use=[\"watermark\",\"watermark\"]"], "is not a list of different choices"),
        (&["gc.trigger.use=[\"watermark\",\"idel\"]"], "is not a list of different choices"),
        (&["gc.trigger.use=[1]"], "is not a string"),
        (&["gc.trigger.use=\"idel\""], "did you mean \"idle\"?"),
        (&["gc.trigger.use=5"], "a list of strings"),
        (&[IDLE, "gc.trigger.idle.wait=\"soon\""], "or a duration, got \"soon\""),
        (&[IDLE, "gc.trigger.idle.wait=5"], "is not a duration"),
        (&[IDLE, "gc.trigger.idle.wait=\"1001 s\""], "at most 1000 s"),
        (&[IDLE, "gc.trigger.idle.threshold=\"2 blocks\""], "below the soft threshold"),
        (&[IDLE, "gc.trigger.idle.threshold=\"17 blocks\""], "but a plane has"),
        (&[IDLE, "gc.trigger.idle.marks=\"7 blocks\""], "unknown key `marks`"),
    ] {
        let refusal = refusal(TINY, sets);
        assert!(refusal.contains(why), "{sets:?}: {refusal}");
    }
}
