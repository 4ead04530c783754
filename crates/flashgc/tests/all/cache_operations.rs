//! Cache operations: registers work in parallel with the array (docs/cache-operations.md).

use crate::common;
use crate::mapping_unit::{SCHEMES, SUSPENDS};

use common::{
    TINY, assert_near, at, found_against, number, refusal, run, run_filled, run_verified, setup,
    whole,
};
use flashgc::verify::checker::Promises;
use serde_json::Value;

const BOTH: &str = "device.cache_operations=\"both\"";
const SLOTS: [&str; 3] = [
    "device.page_size=\"16 KiB\"",
    "device.mapping_unit=\"4 KiB\"",
    "device.allocation=\"dynamic\"",
];

/// Requests of one kind and size on one unit, or more.
fn of_one_kind(sets: &[&str]) -> Value {
    let usual = [
        "device.channels=1",
        "device.chips_per_channel=1",
        "device.planes_per_die=1",
        "device.blocks_per_plane=1024",
        "workload.synthetic.queue_depth=16",
        "workload.synthetic.requests=1_000",
        "precondition.overwrite=0.0",
        "gc.scheme=\"ideal\"",
    ];
    run_verified(TINY, &[&usual[..], sets].concat())
}

/// Bytes, and the time of their transfer and of the array.
const TIMES: [(&str, f64); 3] =
    [("1 ns/B", 4_096.0), ("25 ns/B", 102_400.0), ("100 ns/B", 409_600.0)];

fn longer_or_sum(cached: &str, transfer_ns: f64, array_ns: f64) -> f64 {
    if cached == "\"none\"" { transfer_ns + array_ns } else { transfer_ns.max(array_ns) }
}

#[test]
fn programs_take_the_longer_of_transfer_and_array() {
    let writes = [
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.sequential_share=1.0",
        "precondition.fill=\"none\"",
    ];
    for (rate, _) in TIMES {
        for cached in ["\"none\"", "\"programs\"", "\"both\""] {
            let ns_per_byte: f64 = rate.trim_end_matches(" ns/B").parse().expect("a number");
            let device = [
                format!("device.timing.transfer=\"{rate}\""),
                format!("device.cache_operations={cached}"),
            ];
            let device = device.each_ref().map(String::as_str);
            let word_line = ["device.pages_per_block=9", "device.pages_per_program=3"];
            let planes = ["device.planes_per_die=2", "device.multi_plane=2"];
            let large =
                ["workload.synthetic.size=\"64 KiB\"", "workload.synthetic.align=\"64 KiB\""];
            let kinds: [(f64, Vec<&str>); 4] = [
                (4_096.0, vec![]),
                (8_192.0, [&planes[..], &large].concat()),
                (16_384.0, [&SLOTS[..], &large].concat()),
                (49_152.0, [&SLOTS[..], &word_line, &large].concat()),
            ];
            for (bytes, kind) in kinds {
                let report = of_one_kind(&[&writes[..], &device, &kind].concat());
                let ns = longer_or_sum(cached, bytes * ns_per_byte, 200_000.0);
                let what = format!("{rate} {cached} {bytes}");
                assert_near(
                    &what,
                    number(&report, "throughput.bytes_per_s"),
                    bytes * 1e9 / ns,
                    0.01,
                );
                assert_eq!(report.get("cache").is_some(), cached != "\"none\"");
            }
        }
    }
}

#[test]
fn reads_take_the_longer_of_array_and_transfer() {
    for (rate, transfer_ns) in TIMES {
        for cached in ["\"none\"", "\"reads\"", "\"both\""] {
            let report = of_one_kind(&[
                "workload.synthetic.read_share=1.0",
                &format!("device.timing.transfer=\"{rate}\""),
                &format!("device.cache_operations={cached}"),
            ]);
            let ns = longer_or_sum(cached, transfer_ns, 25_000.0);
            let found = number(&report, "throughput.bytes_per_s");
            assert_near(&format!("{rate} {cached}"), found, 4096.0 * 1e9 / ns, 0.01);
            if cached != "\"none\"" {
                assert!(whole(&report, "cache.reads") > 900, "nearly all overlap");
            }
        }
    }
}

/// Dies of one channel share its bus, whatever their registers do.
#[test]
fn several_dies_are_bound_by_the_bus() {
    let dies = ["device.dies_per_chip=4", "device.timing.transfer=\"25 ns/B\"", BOTH];
    for (share, kind) in [("1.0", "reads"), ("0.0", "programs")] {
        let share = format!("workload.synthetic.read_share={share}");
        let report = of_one_kind(&[&dies[..], &[&share]].concat());
        assert_near(
            kind,
            number(&report, "throughput.bytes_per_s"),
            4096.0 * 1e9 / 102_400.0,
            0.01,
        );
    }
}

/// The checker follows every page and recalculates the array time of every operation; the parts of
/// each latency add up.
#[test]
fn schemes_work_with_registers_beside_the_array() {
    let bus = "device.timing.transfer=\"25 ns/B\"";
    let devices: [&[&str]; 8] = [
        &[],
        &["device.unit=\"plane\""],
        &["device.multi_plane=2", "device.allocation=\"dynamic\""],
        &["device.service=[\"reads\",\"gc\",\"writes\"]", "workload.synthetic.trim_share=0.2"],
        &["device.write_completion=\"loaded\"", "device.unit=\"chip\""],
        &["device.write_buffer.size=\"64 KiB\"", "device.summary.pages=1"],
        &["workload.synthetic.size=\"6 KiB\"", "workload.synthetic.align=\"2 KiB\""],
        &SLOTS,
    ];
    for scheme in SCHEMES {
        for device in devices {
            let scheme = format!("gc.scheme=\"{scheme}\"");
            let mut sets = [&[scheme.as_str(), bus, BOTH], device].concat();
            if scheme.contains("pgc-se") {
                sets.extend(SUSPENDS);
            }
            if scheme.contains("pgc") && device.contains(&"device.unit=\"chip\"") {
                sets.retain(|set| !set.contains("unit"));
            }
            run_filled(&setup(TINY, &sets));
            let report = run_verified(TINY, &sets);
            // Where requests preempt collections, few programs overlap: a collection is open.
            let keys: &[&str] =
                if scheme.contains("pgc") { &["reads"] } else { &["reads", "programs"] };
            for key in keys {
                assert!(whole(&report, &format!("cache.{key}")) > 0, "{sets:?}");
            }
        }
    }
}

#[test]
fn the_checker_notices_an_operation_beside_another() {
    let sets = ["device.timing.transfer=\"25 ns/B\"", BOTH];
    let setup = setup(TINY, &sets);
    for cache in [[false, true], [true, false]] {
        let found = found_against(&setup, Promises { cache, ..Promises::of(&setup.plan) });
        assert!(found.contains("no such cache operation"), "{found}");
    }
    let mut promises = Promises::of(&setup.plan);
    for timing in promises.timing.as_mut().expect("the checker looks") {
        timing.read_ns += 1;
    }
    let found = found_against(&setup, promises);
    assert!(found.contains("ended a read with 25000 ns"), "{found}");
}

#[test]
fn what_needs_the_registers_is_refused() {
    let refused: [(&[&str], &str); 3] = [
        (&["device.timing.command=\"1 us\""], "device.timing.command is 1000 ns"),
        (&["device.allocation=\"when-idle\""], "set device.allocation = \"dynamic\""),
        (&["device.cache_operations=\"write\""], "cache_operations"),
    ];
    for (sets, words) in refused {
        let found = refusal(TINY, &[&[BOTH], sets].concat());
        assert!(found.contains(words), "{sets:?}\n{found}");
    }
    let [reads, programs] =
        ["reads", "programs"].map(|word| format!("device.cache_operations=\"{word}\""));
    setup(TINY, &[&reads, "device.allocation=\"when-idle\""]);
    setup(TINY, &[&programs, "device.timing.command=\"1 us\""]);
}

/// Where nothing overlaps, results are those without cache operations.
#[test]
fn without_overlap_nothing_changes() {
    let hash = |sets: &[&str]| at(&run(TINY, sets), "result_hash").clone();
    assert_eq!(hash(&["device.cache_operations=\"none\""]), hash(&[]));
    // Without time on the bus there is nothing to overlap.
    assert_eq!(hash(&[BOTH]), hash(&[]));
    let bus = "device.timing.transfer=\"25 ns/B\"";
    assert_ne!(hash(&[bus, BOTH]), hash(&[bus]));
    let one = "workload.synthetic.queue_depth=1";
    assert_eq!(hash(&[bus, one, BOTH]), hash(&[bus, one]));
}

/// A case from a random history: with cache reads alone one queue kept the order of a page, and the
/// second of two reads of a page began in parallel with the first.
#[test]
fn the_second_read_of_a_page_waits_for_the_first() {
    for allocation in ["striped", "dynamic"] {
        let report = of_one_kind(&[
            "workload.synthetic.read_share=1.0",
            "workload.synthetic.address={ zipf = 1.2 }",
            "device.timing.transfer=\"25 ns/B\"",
            "device.cache_operations=\"reads\"",
            &format!("device.allocation=\"{allocation}\""),
        ]);
        assert!(number(&report, "cache.reads") > 500.0, "{allocation}: reads of other pages");
    }
}
