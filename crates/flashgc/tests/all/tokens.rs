//! Collections that the writes of the host pay for: free space stays constant, no copy is made in
//! advance or too late, and the pages that move are those of a collection without a pause. The
//! checker keeps accounts of its own in all runs here; the pairwise matrix runs tokens with
//! everything else.

use crate::common;

use common::{TINY, at, number, refusal, run, run_verified, whole};
use serde_json::Value;

const TOKENS: &str = "gc.pacing.use=\"tokens\"";
const BETWEEN: &str = "gc.preemption.use=\"between-copies\"";
const NO_MARK: &str = "gc.trigger.watermark.hard=\"none\"";

/// Planes large enough that a block is a small part of them.
const LARGE: [&str; 5] = [
    "device.blocks_per_plane=64",
    "device.pages_per_block=64",
    "device.exported=0.85",
    "device.unit=\"plane\"",
    "gc.trigger.watermark.soft=\"4 blocks\"",
];

/// Random writes on a drive in steady state.
fn writes(sets: &[&str]) -> Value {
    let load = [
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.requests=20_000",
        "workload.synthetic.queue_depth=32",
        "precondition.overwrite=3.0",
    ];
    run_verified(TINY, &[&LARGE[..], &load, sets].concat())
}

/// The copies of the worst victim for each page that it frees: the largest number of valid pages
/// with which a victim was chosen.
fn price_of_the_worst(report: &Value) -> u64 {
    let victims = at(report, "gc.valid_distribution").as_array().expect("pairs");
    let most = victims.last().and_then(|pair| pair[0].as_u64()).expect("a victim");
    most.div_ceil((64 - most).max(1))
}

#[test]
fn copies_between_two_writes_are_those_of_the_price() {
    for preemption in ["never", "between-copies"] {
        for victim in ["greedy", "fifo", "random", "cost-benefit", "d-choices"] {
            let preemption = format!("gc.preemption.use=\"{preemption}\"");
            let victim = format!("gc.victim.use=\"{victim}\"");
            let plain = "gc.pacing.tokens.urgency_max=1.0";
            let report = writes(&[TOKENS, NO_MARK, &preemption, &victim, plain]);
            let most = whole(&report, "gc.copies_between_writes_max");
            let worst = price_of_the_worst(&report);
            assert!(most > 1 && most <= worst + 2, "{victim}: {most} copies, worst price {worst}");
            assert_eq!(whole(&report, "gc.unpaid_copies"), 0, "{victim}");
        }
    }
}

#[test]
fn write_amplification_is_that_of_a_collection_without_a_pause() {
    for allocation in ["striped", "dynamic"] {
        let allocation = format!("device.allocation=\"{allocation}\"");
        let paced = writes(&[TOKENS, NO_MARK, BETWEEN, &allocation]);
        let at_once = writes(&[NO_MARK, &allocation]);
        let amplification = |report| number(report, "write_amplification");
        let ratio = amplification(&paced) / amplification(&at_once);
        assert!((0.97..=1.01).contains(&ratio), "{allocation}: {ratio}");
    }
}

/// A plane has its threshold when a victim is chosen, and a block less before the erase.
#[test]
fn free_space_stays_within_a_block_of_the_threshold() {
    let of_planes = 8 * 64;
    for urgency in ["1.0", "2.0"] {
        let urgency = format!("gc.pacing.tokens.urgency_max={urgency}");
        let report = writes(&[TOKENS, NO_MARK, BETWEEN, &urgency]);
        let least = whole(&report, "free_pages_min");
        assert!((3 * of_planes..=4 * of_planes).contains(&least), "{least} pages");
    }
}

/// A drive that needs its last pages continues, whatever is paid.
#[test]
fn a_drive_filled_to_the_last_page_goes_on_below_its_floor() {
    for depth in ["1", "40"] {
        for preemption in ["never", "between-copies"] {
            let depth = format!("workload.synthetic.queue_depth={depth}");
            let preemption = format!("gc.preemption.use=\"{preemption}\"");
            let soft = "gc.trigger.watermark.soft=\"2 blocks\"";
            let sets = [TOKENS, NO_MARK, &depth, &preemption, "device.exported=0.8", soft];
            let report = run_verified(TINY, &sets);
            assert!(whole(&report, "gc.unpaid_copies") > 0);
            assert_eq!(whole(&report, "requests.read") + whole(&report, "requests.write"), 3_000);
        }
    }
}

/// With slots a write pays for those that it binds, and a step may move more than are paid.
#[test]
fn slots_pay_for_slots() {
    let slots = [
        "device.page_size=\"16 KiB\"",
        "device.mapping_unit=\"4 KiB\"",
        "device.allocation=\"dynamic\"",
        "workload.synthetic.size=\"4 KiB\"",
        "workload.synthetic.requests=20_000",
        "device.pages_per_block=32",
        "device.blocks_per_plane=32",
        "gc.trigger.watermark.soft=\"4 blocks\"",
    ];
    for preemption in ["never", "between-copies", "suspend"] {
        let preemption = format!("gc.preemption.use=\"{preemption}\"");
        let suspend = "device.suspend.suspend=\"20 us\"";
        let sets = [&slots[..], &[TOKENS, NO_MARK, &preemption, suspend]].concat();
        let report = run_verified(TINY, &sets);
        assert_eq!(whole(&report, "gc.unpaid_copies"), 0);
        assert!(whole(&report, "gc.copies_between_writes_max") > 0);
        assert!(whole(&report, "gc.count") > 10);
    }
}

/// The frontier of the host is full while the frontier of the collection has pages left, more than
/// the floor: the unit has free space, and still none for the next write.
#[test]
fn a_write_that_finds_no_page_begins_a_collection_without_payment() {
    let report = run_verified(
        r#"
[device]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 26
pages_per_block = 24
page_size = "4 KiB"
exported = 0.8617
unit = "plane"
timing = { read = "25 us", program = "200 us", erase = "1.5 ms", transfer = "0 ns/B" }
write_buffer.size = "128 KiB"
[gc]
victim.use = "cost-benefit"
trigger.watermark = { soft = "38 pages", hard = "80% of soft" }
placement.use = "separate-gc"
pacing = { use = "tokens", tokens.floor = "40 pages" }
background.use = ["flush-buffer", "pre-migration"]
[workload.synthetic]
requests = 40
interarrival.hyperexponential = { fast_share = 0.7, fast = "300 us", slow = "4 ms", stay = 0.5 }
address.hot_cold = { f = 0.02, r = 0.99 }
[precondition]
overwrite = 0.37
"#,
        &[],
    );
    assert_eq!(whole(&report, "gc.count"), 1);
    assert!(whole(&report, "gc.unpaid_copies") > 0);
}

#[test]
fn what_writes_cannot_pace_is_refused() {
    let cases: &[(&str, &[&str])] = &[
        ("gc.trigger.use=\"used-space\"", &["no soft threshold in a plane"]),
        ("gc.trigger.use=[\"watermark\",\"idle\"]", &["collections in idle time"]),
        ("gc.blocking.use=\"channel\"", &["cannot be combined with requests"]),
        ("gc.pacing.tokens.floor=\"1 block\"", &["above the reserve", "at least \"2 blocks\""]),
        ("gc.pacing.tokens.urgency_max=0.5", &["gc.pacing.tokens.urgency_max"]),
        ("gc.pacing.tokens.urgency_max=101.0", &["gc.pacing.tokens.urgency_max"]),
        ("gc.pacing.tokens.price=2", &["unknown key `price`"]),
    ];
    for (set, parts) in cases {
        let found = refusal(TINY, &[TOKENS, set]);
        for part in *parts {
            assert!(found.contains(part), "expected: {part}\nfound:\n{found}");
        }
    }
    let blocks = ["gc.blocking.use=\"blocks\"", BETWEEN, TOKENS];
    assert!(refusal(TINY, &blocks).contains("blocks that are closed until their collection ends"));
}

#[test]
fn a_floor_that_leaves_no_room_is_noted() {
    let notes = |soft: &str| {
        let soft = format!("gc.trigger.watermark.soft=\"{soft}\"");
        at(&run(TINY, &[TOKENS, NO_MARK, &soft]), "notes").to_string()
    };
    assert!(notes("2 blocks").contains("collections run without a pause"));
    assert!(!notes("4 blocks").contains("collections run without a pause"));
}
