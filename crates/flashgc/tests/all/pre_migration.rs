//! Pre-migration: it works with any scheme, in idle time alone, and its work is counted. The
//! pairwise matrix runs it with everything else, under the checker.

use crate::common;

use common::{Choices, TINY, at, checked, drain, number, run_verified, setup, synthetic, whole};
use flashgc::sim::Sim;
use serde_json::Value;

const AHEAD: &str = "gc.background.use=\"pre-migration\"";
const FAR: &str = "gc.background.pre-migration.distance=\"3 blocks\"";

/// Writes of one page with gaps of this kind.
fn open_loop(arrivals: &str, sets: &[&str]) -> Value {
    let text = TINY.replace("queue_depth = 8\n", "");
    let arrivals = format!("workload.synthetic.interarrival={{{arrivals}}}");
    run_verified(&text, &[&[arrivals.as_str(), "workload.synthetic.read_share=0.0"], sets].concat())
}

/// The report without the names of the scheme.
fn outcome(report: &Value) -> Vec<Value> {
    let keys = ["latency_ns", "pages", "erases", "utilisation", "wear", "simulated_ns"];
    keys.iter().map(|key| at(report, key).clone()).collect()
}

#[test]
fn collections_find_fewer_pages_and_requests_wait_less() {
    let gaps = "bursty={mean=\"2 ms\",below=\"200 us\",share=0.5}";
    let plain = open_loop(gaps, &[]);
    let t_page = "gc.background.pre-migration.t_page=\"0%\"";
    let ahead = open_loop(gaps, &[AHEAD, FAR, t_page]);
    assert!(number(&ahead, "gc.moved_per_gc") < 0.5 * number(&plain, "gc.moved_per_gc"));
    let mean = |report: &Value| number(report, "latency_ns.write.mean");
    assert!(mean(&ahead) < mean(&plain), "{} {}", mean(&ahead), mean(&plain));
    assert!(number(&ahead, "write_amplification") >= number(&plain, "write_amplification"));
    let moved = whole(&ahead, "pages.background_moved");
    assert!(moved > 100 && moved >= whole(&ahead, "background.victims"));
    assert!(whole(&ahead, "background.calls") > 10);
    assert!(whole(&ahead, "background.wasted") > 0, "no page was rewritten in time");
    assert!(plain.pointer("/assist").is_none());
}

/// The time of pre-migration used to be missing in the time of collection.
#[test]
fn all_collection_work_counts_in_one_figure() {
    let ahead = open_loop("exponential=\"4 ms\"", &[AHEAD, FAR]);
    let (jobs, background) = (whole(&ahead, "gc.busy_ns"), whole(&ahead, "background.busy_ns"));
    assert!(jobs > 0 && background > 0);
    assert_eq!(whole(&ahead, "gc.total_busy_ns"), jobs + background);
    let plain = open_loop("exponential=\"4 ms\"", &[]);
    assert_eq!(whole(&plain, "gc.total_busy_ns"), whole(&plain, "gc.busy_ns"));
}

#[test]
fn a_rule_of_moved_pages_leaves_the_others() {
    let gaps = "exponential=\"4 ms\"";
    let rule = |t_page: &str| {
        let t_page = format!("gc.background.pre-migration.t_page={t_page}");
        open_loop(gaps, &[AHEAD, FAR, "gc.background.pre-migration.rule=\"moved\"", &t_page])
    };
    let (none, some) = (rule("0.1"), rule("0.25"));
    // A tenth of eight pages is none.
    assert_eq!(whole(&none, "pages.background_moved"), 0);
    let (moved, victims) =
        (whole(&some, "pages.background_moved"), whole(&some, "background.victims"));
    assert!(moved > 100 && moved <= 2 * victims, "{moved} pages of {victims} victims");
}

/// A closed loop of eight requests leaves no idle drive, but idle units: pages move under load, and
/// collections have fewer to copy.
#[test]
fn units_without_requests_move_pages_under_load() {
    let sets = [AHEAD, FAR, "device.exported=0.5", "workload.synthetic.requests=6000"];
    let by_drive = run_verified(TINY, &sets);
    assert_eq!(whole(&by_drive, "pages.background_moved"), 0);
    let when = "gc.background.pre-migration.when=\"unit-idle\"";
    let by_unit = run_verified(TINY, &[&sets[..], &[when]].concat());
    let moved = whole(&by_unit, "pages.background_moved");
    assert!(moved > 100 && moved >= whole(&by_unit, "background.calls"));
    let copies = |report: &Value| number(report, "gc.moved_per_gc");
    assert!(copies(&by_unit) < 0.5 * copies(&by_drive));
}

/// With no idle time it does nothing and costs nothing.
#[test]
fn a_closed_loop_leaves_no_room_and_says_so() {
    for scheme in ["greedy", "fifo", "pgc", "parallel", "ippbe", "on-demand"] {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        let sets = [&scheme, "workload.synthetic.queue_depth=1", "device.exported=0.5"];
        let plain = run_verified(TINY, &sets);
        let ahead = run_verified(TINY, &[&sets[..], &[AHEAD, FAR]].concat());
        assert_eq!(outcome(&plain), outcome(&ahead), "{scheme}");
        assert_eq!(whole(&ahead, "pages.background_moved"), 0);
        let notes = at(&ahead, "notes").to_string();
        assert!(notes.contains("the drive is never idle"), "{notes}");
    }
}

#[test]
fn gaps_without_a_trigger_nearby_change_nothing() {
    let near = "gc.background.pre-migration.distance=\"1 pages\"";
    let t_page = "gc.background.pre-migration.t_page=\"100%\"";
    let ahead = open_loop("exponential=\"4 ms\"", &[AHEAD, near, t_page]);
    let plain = open_loop("exponential=\"4 ms\"", &[]);
    assert_eq!(outcome(&plain), outcome(&ahead));
}

/// Each preset with a trigger of its own, each kind of copy.
#[test]
fn it_works_beside_any_scheme() {
    let schemes = [
        "greedy",
        "greedy-msr",
        "fifo",
        "random",
        "d-choices",
        "cost-benefit",
        "wear-aware",
        "idle",
        "parallel",
        "ippbe",
        "parallel-ippbe",
        "pgc",
        "pgc-merge",
        "pgc-both",
        "fpgc",
        "pbgc",
        "bbgc",
        "on-demand",
        "gftl",
    ];
    for scheme in schemes {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        let sets = [
            &scheme,
            AHEAD,
            "gc.background.pre-migration.distance=\"30%\"",
            "gc.background.pre-migration.t_page=\"0%\"",
            "device.suspend.suspend=\"20 us\"",
            "device.registers=2",
            "device.exported=0.5",
            "workload.synthetic.address={zipf=1.0}",
            "gc.trigger.used-space.victims=\"40%\"",
            "gc.trigger.watermark.soft=\"4 blocks\"",
        ];
        let ahead = open_loop("exponential=\"3 ms\"", &sets);
        assert!(whole(&ahead, "pages.background_moved") > 20, "{scheme}");
    }
}

/// A block that pages leave is the greedy one under every policy, and none that others work on.
#[test]
fn drives_are_audited_while_pages_move() {
    let mut choices = Choices::new(8);
    for _ in 0..40 {
        let pick =
            |choices: &mut Choices, words: &[&str]| words[choices.below(words.len())].to_string();
        let sets = [
            AHEAD.to_string(),
            format!("seed={}", 1 + choices.below(1000)),
            format!("gc.background.pre-migration.distance=\"{} pages\"", 1 + choices.below(60)),
            format!(
                "gc.background.pre-migration.t_page={}",
                pick(&mut choices, &["0.0", "0.3", "0.6"])
            ),
            format!(
                "gc.victim.use=\"{}\"",
                pick(&mut choices, &["greedy", "fifo", "cost-benefit"])
            ),
            format!(
                "gc.placement.use=\"{}\"",
                pick(&mut choices, &["one-frontier", "separate-gc"])
            ),
            format!("device.allocation=\"{}\"", pick(&mut choices, &["striped", "dynamic"])),
            format!("device.timing.transfer=\"{}\"", pick(&mut choices, &["0 ns/B", "30 ns/B"])),
            format!("gc.copy.use=\"{}\"", pick(&mut choices, &["copyback", "bus"])),
            "workload.synthetic.trim_share=0.2".to_string(),
            "workload.synthetic.interarrival={bursty={mean=\"1 ms\",below=\"50 us\",share=0.7}}"
                .into(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let setup = setup(&TINY.replace("queue_depth = 8\n", ""), &sets);
        let exported = setup.plan.geometry.exported_pages;
        let mut sim = Sim::new(setup.plan.clone(), checked(&setup));
        sim.untimed().fill(0, exported).expect("the fill fits");
        let results = drain(&mut sim, &mut synthetic(&setup), 97);
        sim.audit_counters(&results);
        assert!(results.counters.background_busy_ns > 0 || results.counters.background_moved == 0);
    }
}
