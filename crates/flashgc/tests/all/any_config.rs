//! No text at all causes a panic: any values of the known keys, and a text changed anywhere, run or
//! are refused.

use crate::common;

use common::{Choices, TINY, inputs};
use flashgc::session::{Options, Phase, Session, prepare};
use proptest::prelude::*;

/// Values that people and fuzzers give.
#[rustfmt::skip]
const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "17",
    "-1",
    "1e9",
    "1e308",
    "inf",
    "nan",
    "18446744073709551615",
    "9223372036854775807",
    "0.0",
    "0.5",
    "0.999999999",
    "true",
    "false",
    "\"\"",
    "\"0 ns\"",
    "\"1 ns\"",
    "\"1 s\"",
    "\"100000 s\"",
    "\"0 B\"",
    "\"512 B\"",
    "\"4 KiB\"",
    "\"3 KiB\"",
    "\"1 MiB\"",
    "\"0 ns/B\"",
    "\"1 GB/s\"",
    "\"1 B/s\"",
    "\"0%\"",
    "\"5%\"",
    "\"50% of spare\"",
    "\"100%\"",
    "\"1 blocks\"",
    "\"2 blocks\"",
    "\"9 pages\"",
    "\"4294967295 pages\"",
    "[]",
    "{}",
    "\"plane\"",
    "\"channel\"",
    "\"dynamic\"",
    "\"2 KiB\"",
    "\"both\"",
    "\"round-robin\"",
    "\"tokens\"",
    "[{ file = \"drive\", requests = 40, flush_after = 2, limit_iops = 100, weight = 3 }]",
    "[0.5, 2.0]",
    "\"bus\"",
    "\"separate-gc\"",
    "\"dac\"",
    "\"fdp\"",
    "\"fifo\"", "\"blocks\"",
    "\"random\"",
    "\"list\"",
    "\"until-stop\"",
    "\"none\"",
    "\"steady\"",
    "\"<=\"",
    "{ zipf = 1.0 }",
    "{ zipf = 10.0 }",
    "{ hot_cold = { f = 0.0, r = 1.0 } }",
    "{ exponential = \"1 us\" }",
    "{ bursty = { mean = \"1 ms\", below = \"10 us\", share = 0.001 } }",
    "{ hyperexponential = { fast_share = 0.5, fast = \"0 ns\", slow = \"1 ms\", stay = 0.9 } }",
    "{ groups = [{ places = 0.0, requests = 0.5 }, { places = 1e-9, requests = 0.5 }] }",
    "{ groups = [{ places = 0.5, requests = 0.0 }] }",
    "[{ share = 1.0 }]",
    "[{ share = 1e-9, footprint = \"64 KiB\" }, { share = 0.999999999, trim_share = 0.5 }]",
    "[{ share = 1, read_interarrival = { fixed = \"0 ns\" }, \
      write_interarrival = { fixed = \"0 ns\" } }]",
    "[{ share = 0.5, read_interarrival = { fixed = \"0 ns\" }, \
      write_interarrival = { fixed = \"1 ns\" } }, { share = 0.5 }]",
    "{ fixed = \"0 ns\" }",
    "{ \"512 B\" = 1, \"1 MiB\" = 1 }",
    "[\"writes\", \"gc\", \"reads\"]",
    "[\"plane\", \"die\", \"chip\", \"channel\"]",
];

const KEYS: &[&str] = &[
    "seed",
    "device.channels",
    "device.chips_per_channel",
    "device.dies_per_chip",
    "device.planes_per_die",
    "device.blocks_per_plane",
    "device.pages_per_block",
    "device.page_size",
    "device.exported",
    "device.exported.reserved_blocks",
    "device.firmware",
    "device.firmware.command",
    "device.firmware.cores",
    "device.firmware.jitter",
    "device.firmware.jitter.fixed",
    "device.firmware.jitter.exponential",
    "device.firmware.jitter.normal",
    "device.firmware.jitter.normal.mean",
    "device.firmware.jitter.normal.stddev",
    "device.firmware.jitter.lognormal",
    "device.firmware.jitter.lognormal.mean",
    "device.firmware.jitter.lognormal.stddev",
    "device.host_link.jitter",
    "device.host_link.jitter.fixed",
    "device.host_link.jitter.exponential",
    "device.host_link.jitter.normal",
    "device.host_link.jitter.normal.mean",
    "device.host_link.jitter.normal.stddev",
    "device.host_link.jitter.lognormal",
    "device.host_link.jitter.lognormal.mean",
    "device.host_link.jitter.lognormal.stddev",
    "device.failures",
    "device.failures.program",
    "device.failures.erase",
    "device.failures.doubling_cycles",
    "device.failures.at",
    "device.read_retry",
    "device.read_retry.cycles",
    "device.read_retry.retention_days",
    "device.read_retry.ecc_bits",
    "device.read_retry.spread",
    "device.read_retry.type_factors",
    "device.read_retry.retries",
    "device.read_retry.retry_factor",
    "device.read_retry.decode",
    "device.read_retry.soft_reads",
    "device.read_retry.soft_decode",
    "device.read_retry.soft_gain",
    "device.read_retry.uncorrectable",
    "device.read_retry.rber",
    "device.read_retry.rber.base",
    "device.read_retry.rber.wear_exponent",
    "device.host_link",
    "device.host_link.transfer",
    "device.host_link.duplex",
    "device.mapping_unit",
    "device.pages_per_program",
    "device.multi_plane",
    "device.superblock",
    "device.cache_operations",
    "device.queue_length",
    "device.queue_order",
    "device.write_buffer",
    "device.write_buffer.size",
    "device.write_buffer.access",
    "device.write_buffer.flush",
    "device.write_buffer.power_loss_protection",
    "gc.pacing.use",
    "gc.pacing.tokens.urgency_max",
    "gc.pacing.tokens.floor",
    "workload.jobs",
    "workload.jobs.job",
    "device.summary",
    "device.summary.pages",
    "device.summary.transfer",
    "device.summary.copies",
    "device.unit",
    "device.allocation",
    "device.pool",
    "device.order",
    "device.service",
    "device.transfer_bytes",
    "device.timing.read",
    "device.timing.copy_read",
    "device.timing.program",
    "device.timing.erase",
    "device.timing.transfer",
    "device.timing.command",
    "gc.trigger.watermark.soft",
    "gc.trigger.watermark.hard",
    "gc.trigger.watermark.stop",
    "gc.trigger.watermark.compare",
    "gc.trigger.watermark.batch",
    "gc.trigger.watermark.idle_units",
    "gc.trigger.use",
    "gc.trigger.used-space.on",
    "gc.trigger.used-space.victims",
    "gc.trigger.used-space.batch",
    "gc.victim.invalidation-rate.now",
    "gc.victim.greedy.ties",
    "gc.victim.use",
    "gc.erase.use",
    "gc.erase.blocks.k",
    "gc.victim.d-choices.d",
    "gc.copy.use",
    "gc.copy.copyback.parity",
    "gc.placement.use",
    "gc.blocking.use",
    "workload.synthetic.requests",
    "workload.synthetic.read_share",
    "workload.synthetic.trim_share",
    "workload.synthetic.size",
    "workload.synthetic.align",
    "workload.synthetic.address",
    "workload.synthetic.read_size",
    "workload.synthetic.write_address",
    "workload.synthetic.footprint",
    "workload.synthetic.sequential_share",
    "workload.synthetic.read_sequential_share",
    "workload.synthetic.write_extent",
    "workload.synthetic.high_share",
    "workload.synthetic.write_high_share",
    "workload.synthetic.phases",
    "workload.synthetic.rate",
    "workload.synthetic.read_interarrival",
    "workload.synthetic.write_interarrival",
    "workload.synthetic.queue_depth",
    "workload.synthetic.interarrival",
    "precondition.fill",
    "precondition.aged_ratio",
    "precondition.scheme",
    "precondition.overwrite",
    "precondition.until",
    "precondition.at_most",
    "engine.coalesce",
];

/// Prepares, and runs accepted small configurations, under the checker and within a budget.
fn try_to_run(text: &str, sets: &[&str]) {
    let Ok(setup) = prepare(&inputs(text, sets)) else { return };
    let flashgc::config::WorkloadPlan::Synthetic(workload) = &setup.workload else { return };
    let small = setup.plan.geometry.pages <= 20_000
        && workload.plan.requests.requests().is_some_and(|requests| requests <= 5_000)
        && setup.precondition.overwrite <= 3.0
        && setup.plan.geometry.shape.page_bytes <= 8192;
    if !small {
        return;
    }
    let mut session = Session::new(setup, None, Options { verify: true, ..Options::default() });
    for _ in 0..2_000 {
        match session.advance() {
            Ok(progress) if progress.phase == Phase::Done => {
                session.report();
                return;
            }
            Ok(_) => {}
            Err(_) => return,
        }
    }
    panic!("the run does not end with {sets:?}\n{text}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_values_of_the_known_keys_run_or_are_refused(
        drawn in prop::collection::vec((0..KEYS.len(), 0..VALUES.len()), 1..6),
    ) {
        let sets: Vec<String> =
            drawn.iter().map(|&(key, value)| format!("{}={}", KEYS[key], VALUES[value])).collect();
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        try_to_run(TINY, &sets);
    }

    #[test]
    fn a_text_changed_anywhere_runs_or_is_refused(seed in any::<u64>(), edits in 1..4usize) {
        let mut choices = Choices::new(seed);
        let mut text: Vec<char> = TINY.chars().collect();
        for _ in 0..edits {
            let at = choices.below(text.len());
            match choices.below(3) {
                0 => text[at] = char::from(32 + choices.below(95) as u8),
                1 => drop(text.remove(at)),
                _ => text.insert(at, ['9', '"', '=', '\n', '[', '\0', 'é', '.'][choices.below(8)]),
            }
        }
        try_to_run(&text.into_iter().collect::<String>(), &[]);
    }
}
