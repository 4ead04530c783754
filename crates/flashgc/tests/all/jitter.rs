//! Jitter of the firmware and of the host's link: queues with known response times, a checker that
//! draws by itself, and values that are refused.

use crate::common;

use common::{
    BUS, TINY, assert_near, at, found_against, number, refusal, run, run_verified, setup,
};
use flashgc::plan::{Additions, Firmware, HostLink, Jitter};
use flashgc::verify::checker::Promises;
use serde_json::Value;

/// Reads that take no time but that of the stage, on 64 planes.
const STAGE_ALONE: [&str; 7] = [
    "device.unit=\"plane\"",
    "device.channels=8",
    "device.chips_per_channel=4",
    "device.timing.read=\"1 ns\"",
    "workload.synthetic.read_share=1.0",
    "workload.synthetic.requests=300_000",
    "precondition={fill=\"sequential\"}",
];

/// Reads whose gaps are exponential with a mean of 40 us pass a stage.
fn passing(stage: &[&str]) -> Value {
    let text = TINY.replace("queue_depth = 8\n", "");
    let gaps = "workload.synthetic.interarrival={exponential=\"40 us\"}";
    run(&text, &[&STAGE_ALONE[..], &[gaps], stage].concat())
}

fn mean_ns(report: &Value) -> f64 {
    number(report, "latency_ns.read.mean")
}

/// M/M/1 with half of the core's time taken: responses are exponential, of twice the mean.
#[test]
fn a_core_with_exponential_times_is_a_queue_with_exponential_responses() {
    let report = passing(&[
        "device.firmware.command=\"0 ns\"",
        "device.firmware.jitter.exponential=\"20 us\"",
    ]);
    assert_near("mean", mean_ns(&report), 40_000.0, 0.02);
    let p99_ns = number(&report, "latency_ns.read.p99");
    assert_near("p99", p99_ns, 40_000.0 * 100f64.ln(), 0.03);
    assert_near("use", number(&report, "utilisation.firmware.host"), 0.5, 0.01);
}

/// M/M/2 with half of the time taken: by Erlang's formula a third waits, for 20 us in the mean.
/// Commands leave their cores in another order than they took them.
#[test]
fn two_cores_with_exponential_times_are_a_queue_of_two_servers() {
    let report = passing(&[
        "device.firmware.command=\"0 ns\"",
        "device.firmware.cores=2",
        "device.firmware.jitter.exponential=\"40 us\"",
    ]);
    assert_near("mean", mean_ns(&report), 40_000.0 + 40_000.0 / 3.0, 0.02);
}

/// M/G/1, by the formula of Pollaczek and Khinchine: the mean wait is the mean square of the time
/// over twice the mean gap and the share of time that is left.
#[test]
fn waits_for_a_core_grow_with_the_variance_of_its_times() {
    let report = passing(&[
        "device.firmware.command=\"5 us\"",
        "device.firmware.jitter.lognormal={mean=\"15 us\",stddev=\"15 us\"}",
    ]);
    let square_us = 20.0 * 20.0 + 15.0 * 15.0;
    let wait_us = square_us / 40.0 / 2.0 / 0.5;
    assert_near("mean", mean_ns(&report), 1e3 * (20.0 + wait_us), 0.03);
}

/// The data of reads leaves over the link's lane to the host, which is the same queue.
#[test]
fn a_link_with_exponential_times_is_a_queue() {
    let link =
        "device.host_link={transfer=\"0 ns/B\",duplex=\"full\",jitter.exponential=\"20 us\"}";
    let report = passing(&[link]);
    assert_near("mean", mean_ns(&report), 40_000.0, 0.02);
    assert_near("use", number(&report, "utilisation.host_link_out.host"), 0.5, 0.01);
    assert_eq!(number(&report, "utilisation.host_link_in.host"), 0.0);
}

/// A fixed addition is a longer command.
#[test]
fn a_fixed_addition_is_part_of_the_command() {
    let firmware = |command: &str, sets: &[&str]| {
        let command = format!("device.firmware.command=\"{command}\"");
        run(TINY, &[sets, &[&command, "device.firmware.cores=3"]].concat())
    };
    let whole = firmware("5 us", &[]);
    let parts = firmware("2 us", &["device.firmware.jitter.fixed=\"3 us\""]);
    assert_eq!(at(&whole, "result_hash"), at(&parts, "result_hash"));
    let without = firmware("5 us", &["device.firmware.jitter.exponential=\"0 ns\""]);
    assert_eq!(at(&whole, "result_hash"), at(&without, "result_hash"));
}

/// A command that begins draws one time, however many events a collection has.
#[test]
fn collections_as_one_event_and_as_many_draw_the_same_times() {
    let of = |coalesce: &str| {
        let firmware = "device.firmware={command=\"5 us\",cores=2,jitter.exponential=\"30 us\"}";
        let link =
            "device.host_link={transfer=\"1 ns/B\",jitter.normal={mean=\"3 us\",stddev=\"2 us\"}}";
        let report = run_verified(TINY, &[firmware, link, BUS, coalesce]);
        assert!(number(&report, "gc.count") > 100.0);
        at(&report, "result_hash").clone()
    };
    assert_eq!(of("engine.coalesce=true"), of("engine.coalesce=false"));
}

/// One core: the k-th command has the k-th time of the stream, which follows from the seed alone.
#[test]
fn the_times_of_idle_commands_are_those_of_the_stream() {
    let of = |seed: u64| {
        let reads =
            "workload.synthetic={requests=3_000,read_share=1.0,interarrival.fixed=\"10 ms\"}";
        let seed = format!("seed={seed}");
        let sets = [&seed, reads, "device.firmware.command=\"0 ns\""];
        let lognormal = "device.firmware.jitter.lognormal={mean=\"20 us\",stddev=\"9 us\"}";
        let jitter = mean_ns(&run(TINY, &[&sets[..], &[lognormal]].concat()));
        jitter - mean_ns(&run(TINY, &sets))
    };
    let drawn = |seed: u64| {
        let lognormal = Jitter::Lognormal { mean_ns: 20_000, stddev_ns: 9_000 };
        let mut times = Additions::new(lognormal, seed, "firmware jitter");
        (0..3_000).map(|_| times.draw_ns()).sum::<u64>() as f64 / 3_000.0
    };
    for seed in [1, 2] {
        assert_near("mean", of(seed), drawn(seed), 1e-9);
    }
    assert_ne!(drawn(1), drawn(2));
}

/// The checker draws the times itself: it notices those of another seed, and of no jitter.
#[test]
fn the_checker_notices_times_that_were_not_drawn() {
    let sets = [
        "device.firmware={command=\"5 us\",jitter.exponential=\"3 us\"}",
        "device.host_link={transfer=\"1 ns/B\",jitter.normal={mean=\"3 us\",stddev=\"1 us\"}}",
    ];
    let of = |set| setup(TINY, &[set]);
    let firmware = of(sets[0]);
    let right = Promises::of(&firmware.plan);
    let plain = right.firmware.map(|rules| Firmware { jitter: Jitter::default(), ..rules });
    for wrong in [Promises { seed: 9, ..right }, Promises { firmware: plain, ..right }] {
        let found = found_against(&firmware, wrong);
        assert!(found.contains("the end of a command of the firmware"), "{found}");
    }
    let link = of(sets[1]);
    let right = Promises::of(&link.plan);
    let other = Jitter::Fixed { ns: 3_000 };
    let fixed = right.host_link.map(|rules| HostLink { jitter: other, ..rules });
    for wrong in [Promises { seed: 9, ..right }, Promises { host_link: fixed, ..right }] {
        let found = found_against(&link, wrong);
        assert!(found.contains("B on the link"), "{found}");
    }
}

#[test]
fn a_jitter_has_one_distribution_with_its_moments() {
    for (jitter, message) in [
        ("{}", "give exactly one distribution of the jitter"),
        ("{fixed=\"1 us\",exponential=\"1 us\"}", "give exactly one distribution of the jitter"),
        ("{normal={mean=\"1 us\"}}", "stddev"),
        ("{lognormal={mean=\"0 ns\",stddev=\"1 us\"}}", "a lognormal time of mean 0"),
        ("{exponential=\"1001 s\"}", "exponential must be at most 1000 s, got 1001 s"),
    ] {
        let firmware = format!("device.firmware={{command=\"5 us\",jitter={jitter}}}");
        let link = format!("device.host_link={{transfer=\"1 ns/B\",jitter={jitter}}}");
        for stage in [firmware, link] {
            let found = refusal(TINY, &[&stage]);
            assert!(found.contains(message), "{stage}: {found}");
        }
    }
}
