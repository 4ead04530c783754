//! The same input gives the same bytes: again, on another thread, in other slices, with another
//! index of victims, and whether a collection runs as one event or as many.

use crate::common;

use common::{
    Choices, TINY, at, checked, drain, finish, is_long, open_tiny, run, setup, synthetic,
};
use flashgc::config::WorkloadPlan;
use flashgc::measure::Results;
use flashgc::sim::Sim;
use flashgc::verify::attended::Done;
use flashgc::verify::blame::Blame;
use flashgc::verify::{InDetail, Overview, Watchers};
use flashgc::workload::synthetic::SyntheticOverwrites;
use serde_json::Value;

/// Values of the keys that shape a run, one list for each key.
const KEYS: &[(&str, &[&str])] = &[
    ("device.allocation", &["\"striped\"", "\"dynamic\""]),
    ("device.unit", &["\"plane\"", "\"die\"", "\"chip\"", "\"channel\""]),
    (
        "device.service",
        &[
            "[\"gc\",\"host\"]",
            "[\"host\",\"gc\"]",
            "[\"gc\",\"reads\",\"writes\"]",
            "[\"reads\",\"gc\",\"writes\"]",
            "[\"writes\",\"reads\",\"gc\"]",
        ],
    ),
    (
        "device.order",
        &["[\"channel\",\"chip\",\"die\",\"plane\"]", "[\"plane\",\"die\",\"chip\",\"channel\"]"],
    ),
    ("device.timing.transfer", &["\"0 ns/B\"", "\"25 ns/B\""]),
    // 225 us for a copy divides 1.35 ms, so that many events fall on one instant.
    ("device.timing.erase", &["\"1.5 ms\"", "\"1.35 ms\""]),
    ("gc.trigger.watermark.batch", &["\"one\"", "\"until-stop\"", "\"list\""]),
    ("gc.trigger.watermark.stop", &["\"3 blocks\"", "\"4 blocks\""]),
    ("gc.trigger.watermark.compare", &["\"<\"", "\"<=\""]),
    (
        "gc.victim.use",
        &[
            "\"greedy\"",
            "\"fifo\"",
            "\"second-chance\"",
            "\"windowed-greedy\"",
            "\"random\"",
            "\"d-choices\"",
            "\"cost-benefit\"",
            "\"cost-age-times\"",
            "\"static-levelling\"",
            "\"wear-aware\"",
        ],
    ),
    ("gc.erase.use", &["\"block\"", "\"blocks\""]),
    ("gc.erase.blocks.move_cap", &["\"2 blocks\"", "\"10 pages\""]),
    ("gc.copy.use", &["\"copyback\"", "\"parallel\""]),
    ("gc.copy.parallel.workers", &["1", "2", "3"]),
    ("gc.copy.parallel.parity", &["false", "true"]),
    ("gc.copy.parallel.list", &["\"block\"", "\"extent\""]),
    ("device.registers", &["3"]),
    ("device.layers", &["4", "8"]),
    ("device.timing.layer_ratio", &["1", "1", "2", "3.7"]),
    ("device.timing.layer_map", &["\"in-order\"", "\"striped\""]),
    ("gc.copy.copyback.parity", &["false", "true"]),
    ("gc.placement.use", &["\"one-frontier\"", "\"separate-gc\""]),
    ("gc.blocking.use", &["\"unit\"", "\"channel\"", "\"chip\"", "\"die\"", "\"plane\""]),
    ("gc.blocking.channel.erasing", &["\"channel\"", "\"channel\"", "\"chip\"", "\"plane\""]),
    ("gc.blocking.channel.collections", &["\"any\"", "\"one\""]),
    ("gc.blocking.chip.erasing", &["\"chip\"", "\"die\""]),
    ("workload.synthetic.size", &["\"4 KiB\"", "{\"2 KiB\"=0.5,\"16 KiB\"=0.5}"]),
    ("workload.synthetic.trim_share", &["0.0", "0.1"]),
    ("workload.synthetic.queue_depth", &["1", "7", "32"]),
    ("device.exported", &["0.54", "0.4"]),
];

/// Schemes in which requests preempt collections, whose copies then run unseen or step by step.
const PREEMPTED: &[(&str, &[&str])] = &[
    ("seed", &["1", "2", "3", "4", "5"]),
    (
        "gc.scheme",
        &["\"pgc\"", "\"pgc-merge\"", "\"pgc-pipeline\"", "\"pgc-se\"", "\"fpgc\"", "\"wear-pgc\""],
    ),
    ("device.suspend", &["{suspend=\"20 us\",resume=\"7 us\"}"]),
    ("device.unit", &["\"plane\"", "\"die\"", "\"chip\""]),
    ("device.blocks_per_plane", &["32"]),
    ("device.pages_per_block", &["8", "16"]),
    ("device.exported", &["0.5", "0.7"]),
    ("device.timing.program", &["\"200 us\"", "\"250 us\"", "\"25 us\""]),
    ("device.timing.transfer", &["\"0 ns/B\"", "\"5 ns/B\"", "\"25 ns/B\""]),
    ("gc.trigger.watermark.hard", &["\"none\"", "\"20% of soft\"", "\"2 blocks\""]),
    ("gc.erase.use", &["\"block\"", "\"blocks\""]),
    ("gc.victim.use", &["\"greedy\"", "\"fifo\"", "\"random\""]),
    ("gc.placement.use", &["\"one-frontier\"", "\"separate-gc\""]),
    ("workload.synthetic.requests", &["1000"]),
    ("workload.synthetic.read_share", &["0.0", "0.0", "0.3"]),
    ("workload.synthetic.trim_share", &["0.0", "0.1"]),
    ("workload.synthetic.high_share", &["0.0", "0.3"]),
    ("workload.synthetic.size", &["\"4 KiB\"", "\"16 KiB\""]),
    ("workload.synthetic.queue_depth", &["1", "8", "64", "200"]),
];

/// Collections that close their channel, whose copies then use the bus alone.
const ALONE: &[(&str, &[&str])] = &[
    ("seed", &["1", "2", "3", "4", "5"]),
    ("gc.scheme", &["\"greedy\"", "\"ssdsim\"", "\"fifo\""]),
    ("gc.copy.use", &["\"bus\"", "\"bus\"", "\"copyback\""]),
    ("gc.blocking.use", &["\"channel\""]),
    ("gc.blocking.channel.erasing", &["\"channel\"", "\"chip\""]),
    ("gc.blocking.channel.collections", &["\"any\"", "\"one\""]),
    ("gc.trigger.watermark.soft", &["\"3 blocks\"", "\"20% of pages\""]),
    ("gc.trigger.watermark.hard", &["\"2 blocks\""]),
    ("device.chips_per_channel", &["2", "3"]),
    ("device.unit", &["\"chip\"", "\"chip\"", "\"channel\""]),
    ("device.allocation", &["\"striped\"", "\"when-idle\""]),
    ("device.bus_order", &["\"arrival\"", "\"commands-first\""]),
    ("device.completions", &["\"one-by-one\"", "\"together\""]),
    ("device.write_completion", &["\"programmed\"", "\"loaded\""]),
    ("device.pages_per_block", &["8", "16"]),
    ("device.exported", &["0.4", "0.5"]),
    ("device.timing.read", &["\"20 us\"", "\"25 us\""]),
    ("device.timing.transfer", &["\"5 ns/B\"", "\"25 ns/B\""]),
    ("device.timing.command", &["\"200 ns\"", "\"5 us\""]),
    ("gc.placement.use", &["\"one-frontier\"", "\"separate-gc\""]),
    ("workload.synthetic.requests", &["1000"]),
    ("workload.synthetic.read_share", &["0.0", "0.3"]),
    ("workload.synthetic.trim_share", &["0.0", "0.1"]),
    ("workload.synthetic.size", &["\"4 KiB\"", "\"16 KiB\""]),
    ("workload.synthetic.queue_depth", &["1", "8", "64"]),
];

/// Other units use the bus meanwhile, which comes to rest between their requests.
const BETWEEN_REQUESTS: &[(&str, &[&str])] = &[
    ("gc.blocking.use", &["\"unit\""]),
    ("device.allocation", &["\"striped\""]),
    (
        "workload.synthetic.interarrival",
        &["{ exponential = \"200 us\" }", "{ exponential = \"2 ms\" }", "{ fixed = \"1 ms\" }"],
    ),
];

/// The cases of a random test; in the short form two fifths of them, since random histories have
/// the rules of collections as one event and of the index as well.
fn cases(all: u64) -> u64 {
    if is_long() { all } else { all * 2 / 5 }
}

/// One value of every key, drawn.
fn draw(choices: &mut Choices) -> Vec<String> {
    draw_of(KEYS, choices)
}

fn draw_of(keys: &[(&str, &[&str])], choices: &mut Choices) -> Vec<String> {
    let pick =
        |(key, values): &(&str, &[&str])| format!("{key}={}", values[choices.below(values.len())]);
    keys.iter().map(pick).collect()
}

fn run_drawn(sets: &[String], more: &[&str]) -> Value {
    let mut all: Vec<&str> = sets.iter().map(String::as_str).collect();
    all.extend_from_slice(more);
    run(TINY, &all)
}

fn hash(report: &Value) -> &str {
    at(report, "result_hash").as_str().expect("a hash is text")
}

#[test]
fn the_same_input_gives_the_same_report() {
    let mut choices = Choices::new(1);
    for _ in 0..20 {
        let sets = draw(&mut choices);
        assert_eq!(run_drawn(&sets, &[]), run_drawn(&sets, &[]), "{sets:?}");
    }
}

#[test]
fn another_seed_gives_another_report() {
    let seeds = ["seed=1", "seed=2", "seed=3"].map(|seed| run(TINY, &[seed]));
    assert_ne!(hash(&seeds[0]), hash(&seeds[1]));
    assert_ne!(hash(&seeds[1]), hash(&seeds[2]));
    let reads = |report: &Value| at(report, "requests.read").clone();
    assert_ne!(reads(&seeds[0]), reads(&seeds[1]));
}

#[test]
fn all_schemes_meet_identical_requests() {
    let reports = ["greedy", "fifo", "random", "d-choices", "cost-benefit", "wear-aware"]
        .map(|scheme| run(TINY, &[&format!("gc.scheme=\"{scheme}\"")]));
    for report in &reports {
        for key in ["requests", "pages.host_read", "pages.host_written"] {
            assert_eq!(at(report, key), at(&reports[0], key), "{key}");
        }
    }
}

/// Names the first value that differs, which a hash cannot.
fn assert_equal(sets: &[String], what: &str, a: &Value, b: &Value) {
    if hash(a) == hash(b) {
        return;
    }
    let (a, b) = (a.as_object().expect("a table"), b.as_object().expect("a table"));
    let differing: Vec<String> = a
        .iter()
        .filter(|(key, value)| key.as_str() != "result_hash" && b[key.as_str()] != **value)
        .map(|(key, value)| format!("{key}: {value}\n   or {}", b[key.as_str()]))
        .collect();
    panic!("{what} differ with\n{}\n{}", sets.join("\n"), differing.join("\n"));
}

/// A collection that nothing can interrupt is one event or many: the metrics are equal.
#[test]
fn coalesced_and_plain_execution_give_the_same_bytes() {
    let mut choices = Choices::new(2);
    for _ in 0..cases(400) {
        let sets = draw(&mut choices);
        let [coalesced, plain] =
            ["engine.coalesce=true", "engine.coalesce=false"].map(|set| run_drawn(&sets, &[set]));
        assert_equal(&sets, "coalesced and plain", &coalesced, &plain);
    }
}

/// Copies that no request can preempt run unseen, or step by step: the metrics are equal, and the
/// parts of each request.
#[test]
fn coalesced_and_plain_execution_agree_where_requests_preempt() {
    assert_unseen_as_step_by_step(11, PREEMPTED);
}

/// The same of copies that have the bus of their channel to themselves.
#[test]
fn coalesced_and_plain_execution_agree_where_a_collection_closes_its_channel() {
    assert_unseen_as_step_by_step(12, ALONE);
}

/// The same where collections close their own unit only, and other units use the bus.
#[test]
fn coalesced_and_plain_execution_agree_where_a_bus_rests_between_requests() {
    let is_other = |(key, _): &&(&str, &[&str])| {
        !key.starts_with("gc.blocking")
            && !key.ends_with("queue_depth")
            && BETWEEN_REQUESTS.iter().all(|(other, _)| other != key)
    };
    let shared = ALONE.iter().filter(is_other);
    let keys: Vec<_> = shared.chain(BETWEEN_REQUESTS).copied().collect();
    assert_unseen_as_step_by_step(13, &keys);
}

fn assert_unseen_as_step_by_step(seed: u64, keys: &[(&str, &[&str])]) {
    let mut choices = Choices::new(seed);
    let drawn = (0..cases(200)).map(|_| saved_unseen(&draw_of(keys, &mut choices)));
    let saved: u64 = drawn.sum();
    assert!(saved > 200 * cases(200), "copies run unseen with blame: {saved} steps less");
}

/// The tiny drive, without its closed loop where requests have times.
fn tiny_for(sets: &[String]) -> String {
    let is_open = sets.iter().any(|set| set.contains("interarrival"));
    if is_open { open_tiny() } else { TINY.into() }
}

/// Steps of the loop that a run saves whose copies run unseen. Its results are those of one that
/// has each copy.
fn saved_unseen(sets: &[String]) -> u64 {
    assert_coalesced_as_plain(&tiny_for(sets), sets);
    let (step_by_step, steps) = blamed(sets, true, "false");
    let (unseen, steps_unseen) = blamed(sets, false, "true");
    for other in [unseen, blamed(sets, true, "true").0] {
        assert_eq!(other.len(), step_by_step.len(), "{sets:?}");
        let differs = step_by_step.iter().zip(&other).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{sets:?}");
    }
    steps - steps_unseen
}

/// A run of a drive that was filled and overwritten, with the requests that are done in their order
/// and the parts of each, and the steps of the loop. With `copies` its watcher needs each copy.
fn blamed(sets: &[String], copies: bool, coalesce: &str) -> (Vec<Done>, u64) {
    let coalesce = format!("engine.coalesce={coalesce}");
    let mut all: Vec<&str> = sets.iter().map(String::as_str).collect();
    all.push(&coalesce);
    let setup = setup(&tiny_for(sets), &all);
    let WorkloadPlan::Synthetic(workload) = &setup.workload else { panic!("synthetic") };
    let (seed, pages) = (setup.plan.seed, setup.plan.geometry.exported_pages);
    let blame = Blame::new(&setup.plan);
    let overview = Overview { attended: Some(Box::default()), ..Overview::default() };
    let watch = match copies {
        false => Watchers::Parts(Box::new(blame), overview),
        true => Watchers::from(InDetail {
            blame: Some(blame),
            reports_blame: true,
            overview,
            ..InDetail::default()
        }),
    };
    let mut sim = Sim::new(setup.plan.clone(), watch);
    sim.untimed().fill(0, pages).expect("the fill fits");
    let mut before = SyntheticOverwrites::new(&workload.plan, pages, 4096, seed);
    sim.untimed().overwrite(&mut before, u64::from(pages)).expect("it is overwritten");
    let mut source = synthetic(&setup);
    sim.start(&mut source).expect("the workload starts");
    let mut steps = 0;
    while !sim.run(&mut source, 1).expect("the run goes on").finished {
        steps += 1;
    }
    let attended = sim.watch().overview_mut().attended.take();
    (std::mem::take(attended.expect("requests are recorded").done()), steps)
}

#[test]
fn coalesced_and_plain_execution_agree_where_planes_work_together() {
    let mut choices = Choices::new(7);
    for _ in 0..cases(100) {
        let sets = draw(&mut choices);
        let [coalesced, plain] = ["engine.coalesce=true", "engine.coalesce=false"]
            .map(|set| run_drawn(&sets, &["device.unit=\"chip\"", "device.multi_plane=2", set]));
        assert_equal(&sets, "coalesced and plain", &coalesced, &plain);
    }
}

fn assert_coalesced_as_plain(text: &str, sets: &[String]) {
    let all: Vec<&str> = sets.iter().map(String::as_str).collect();
    let [coalesced, plain] = ["true", "false"].map(|coalesce| {
        let coalesce = format!("engine.coalesce={coalesce}");
        run(text, &[&all[..], &[coalesce.as_str()]].concat())
    });
    assert_equal(sets, "coalesced and plain", &coalesced, &plain);
}

#[test]
fn coalesced_and_plain_execution_agree_in_an_open_loop() {
    let text = TINY.replace("queue_depth = 8", "");
    for victim in ["greedy", "random", "cost-benefit"] {
        for arrivals in ["fixed=\"75 us\"", "exponential=\"150 us\"", "fixed=\"600 us\""] {
            for blocking in ["unit", "plane", "channel"] {
                let sets = [
                    format!("workload.synthetic.interarrival={{{arrivals}}}"),
                    format!("gc.victim.use=\"{victim}\""),
                    format!("gc.blocking.use=\"{blocking}\""),
                    "workload.synthetic.size=\"2 KiB\"".to_string(),
                ];
                assert_coalesced_as_plain(&text, &sets);
            }
        }
    }
}

/// Idle time begins and ends at the same instants.
#[test]
fn coalesced_and_plain_execution_agree_on_what_is_done_in_idle_time() {
    let text = TINY.replace("queue_depth = 8", "");
    for arrivals in ["fixed=\"3 ms\"", "exponential=\"2 ms\"", "exponential=\"400 us\""] {
        for wait in ["mean-collection", "0 ns", "300 us"] {
            for blocking in ["unit", "channel"] {
                let sets = [
                    format!("workload.synthetic.interarrival={{{arrivals}}}"),
                    format!("gc.trigger.idle.wait=\"{wait}\""),
                    format!("gc.blocking.use=\"{blocking}\""),
                    "gc.trigger.use=[\"watermark\",\"idle\"]".to_string(),
                    "gc.background.use=\"flush-buffer\"".to_string(),
                    "device.write_buffer.size=\"32 KiB\"".to_string(),
                ];
                assert_coalesced_as_plain(&text, &sets);
            }
        }
    }
}

/// The lazily kept order of victims names the same blocks as a scan over the plane.
#[test]
fn greedy_by_buckets_and_by_scan_choose_the_same_victims() {
    let mut choices = Choices::new(3);
    for _ in 0..cases(100) {
        let sets = draw(&mut choices);
        let [buckets, scan] = ["buckets", "scan"].map(|index| {
            let index = format!("gc.victim.greedy.index=\"{index}\"");
            run_drawn(&sets, &["gc.victim.use=\"greedy\"", &index])
        });
        assert_equal(&sets, "buckets and scan", &buckets, &scan);
        let [buckets, scan] = ["buckets", "scan"].map(|index| {
            let index = format!("gc.victim.greedy.index=\"{index}\"");
            let highest = "gc.victim.greedy.ties=\"highest\"";
            run_drawn(&sets, &["gc.victim.use=\"greedy\"", highest, &index])
        });
        assert_equal(&sets, "buckets and scan, highest", &buckets, &scan);
    }
}

/// Larger blocks, where the buckets reach over several counts of valid pages.
#[test]
fn greedy_by_buckets_and_by_scan_agree_on_larger_blocks() {
    for address in ["\"uniform\"", "{zipf=0.99}", "{hot_cold={f=0.1,r=0.9}}"] {
        for (exported, ties) in
            [("0.5", "lowest"), ("0.8", "lowest"), ("0.9", "lowest"), ("0.8", "highest")]
        {
            let sets = [
                format!("gc.victim.greedy.ties=\"{ties}\""),
                "device.blocks_per_plane=100".to_string(),
                "device.pages_per_block=96".to_string(),
                "workload.synthetic.requests=30_000".to_string(),
                format!("workload.synthetic.address={address}"),
                format!("device.exported={exported}"),
            ];
            let all: Vec<&str> = sets.iter().map(String::as_str).collect();
            let [buckets, scan] = ["buckets", "scan"].map(|index| {
                let index = format!("gc.victim.greedy.index=\"{index}\"");
                run(TINY, &[&all[..], &[index.as_str()]].concat())
            });
            assert_equal(&sets, "buckets and scan", &buckets, &scan);
        }
    }
}

#[test]
fn the_checker_changes_nothing_by_watching() {
    let mut choices = Choices::new(4);
    for _ in 0..20 {
        let sets = draw(&mut choices);
        let all: Vec<&str> = sets.iter().map(String::as_str).collect();
        let watched = finish(setup(TINY, &all), None, true).expect("the run ends");
        assert_equal(&sets, "watched and unwatched", &watched, &run(TINY, &all));
    }
}

#[test]
fn two_threads_at_once_give_what_one_gives_alone() {
    let mut choices = Choices::new(5);
    for _ in 0..5 {
        let sets = draw(&mut choices);
        let alone = run_drawn(&sets, &[]);
        let together: Vec<Value> = std::thread::scope(|scope| {
            let threads = [0, 1].map(|_| scope.spawn(|| run_drawn(&sets, &[])));
            threads.into_iter().map(|thread| thread.join().expect("the run ends")).collect()
        });
        assert_eq!([alone.clone(), alone], together[..]);
    }
}

/// All results, as text.
fn figures(results: &Results) -> String {
    let Results { counters, simulated_ns, jobs_open, unit, bus, wear, .. } = results;
    let latencies = [results.read.distribution(), results.write.distribution()];
    let [read, write] = [results.read.summary(), results.write.summary()];
    format!(
        "{counters:?} {simulated_ns} {jobs_open} {} {unit:?} {bus:?} {wear:?} {latencies:?} \
         {read:?} {write:?} {}",
        results.gc_transfer_ns, results.saturated
    )
}

#[test]
fn slices_of_any_length_give_the_same_results() {
    let mut choices = Choices::new(6);
    for _ in 0..20 {
        let sets = draw(&mut choices);
        let all: Vec<&str> = sets.iter().map(String::as_str).collect();
        let setup = setup(TINY, &all);
        let in_slices = |budget| {
            let mut sim = Sim::new(setup.plan.clone(), Overview::default());
            sim.untimed().fill(0, setup.plan.geometry.exported_pages).expect("the fill fits");
            figures(&drain(&mut sim, &mut synthetic(&setup), budget))
        };
        let (single, thousands) = (in_slices(1), in_slices(1000));
        assert_eq!(single, thousands, "{sets:?}");
        let mut sim = Sim::new(setup.plan.clone(), checked(&setup));
        sim.untimed().fill(0, setup.plan.geometry.exported_pages).expect("the fill fits");
        assert_eq!(figures(&drain(&mut sim, &mut synthetic(&setup), 7)), single, "{sets:?}");
    }
}
