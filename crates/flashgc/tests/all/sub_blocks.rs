//! Sub-blocks under the checker: an erase of them frees a run of one block that its isolation
//! allows, no data is lost next to it, and the index finds what the scan finds.

use crate::common;

use common::{Choices, TINY, at, inputs, number, run, run_verified, whole};
use flashgc::session::prepare;

/// TINY with blocks of 32 pages in sub-blocks of 8, each of 4 layers.
const LAYERED: &[&str] = &[
    "device.pages_per_block=32",
    "device.sub_blocks=4",
    "device.layers=16",
    "gc.erase.use=\"sub-blocks\"",
    "gc.victim.use=\"recycle-benefit\"",
    "gc.trigger.watermark.soft=\"20%\"",
    "workload.synthetic.address={hot_cold={f=0.1,r=0.9}}",
];
const INVALID: &[&str] = &[
    "gc.victim.use=\"invalid-sub-blocks\"",
    "gc.erase.sub-blocks.isolation=\"hardware\"",
    "device.exported=0.4",
];
const GROUPS: &[&str] = &[
    "device.blocks_per_plane=32",
    "gc.placement.use=\"hotness-groups\"",
    "gc.placement.hotness-groups.groups=3",
    "gc.placement.hotness-groups.counters=256",
];

#[test]
fn windows_isolated_by_software_lose_nothing() {
    let more = ["device.exported=0.5", "workload.synthetic.requests=10_000"];
    let report = run_verified(TINY, &[LAYERED, &more].concat());
    assert!(whole(&report, "gc.count") > 100);
    assert!(whole(&report, "gc.neighbours_moved") > 0);
    assert!(whole(&report, "erases") > whole(&report, "erase_operations"));
    assert_eq!(whole(&report, "capacity.isolation_pages"), 0);
}

#[test]
fn invalid_sub_blocks_isolated_by_layers_lose_nothing() {
    let report = run_verified(TINY, &[LAYERED, INVALID].concat());
    assert!(whole(&report, "gc.count") > 100);
    assert_eq!(whole(&report, "gc.neighbours_moved"), 0);
    // 3 layers of 2 pages in each of 8 x 16 blocks.
    assert_eq!(whole(&report, "capacity.isolation_pages"), 768);
    let spare =
        whole(&report, "capacity.physical_pages") - whole(&report, "capacity.exported_pages") - 768;
    assert_eq!(whole(&report, "capacity.spare_pages"), spare);
}

#[test]
fn pages_by_hotness_lose_nothing() {
    for victims in [&["device.exported=0.5"][..], INVALID] {
        let report = run_verified(TINY, &[LAYERED, GROUPS, victims].concat());
        assert!(whole(&report, "hotness.hot_updates") > 0);
        assert!(whole(&report, "hotness.updates") <= whole(&report, "pages.host_written"));
        assert_eq!(whole(&report, "hotness.counter_bytes"), 7 * 256);
    }
}

/// On a device whose blocks are one sub-block, the block with the greatest benefit for its time has
/// the most invalid pages.
#[test]
fn recycle_benefit_of_whole_blocks_is_greedy() {
    let whole_blocks = ["gc.victim.use=\"recycle-benefit\""];
    let (greedy, benefit) = (run(TINY, &[]), run(TINY, &whole_blocks));
    for key in ["gc", "latency_ns", "pages", "erases", "wear"] {
        assert_eq!(at(&greedy, key), at(&benefit, key), "{key}");
    }
}

/// A configuration with random choices.
fn random_choices(choices: &mut Choices) -> Vec<String> {
    let mut pick = |values: &[&str]| values[choices.below(values.len())].to_string();
    let isolation = pick(&["software", "software", "hardware"]);
    let hardware = isolation == "hardware";
    let victim = if hardware {
        pick(&["recycle-benefit", "invalid-sub-blocks"])
    } else {
        "recycle-benefit".into()
    };
    let mut sets = vec![
        format!("gc.erase.sub-blocks.isolation=\"{isolation}\""),
        format!("gc.victim.use=\"{victim}\""),
        format!("device.sub_blocks={}", pick(&["2", "4", "8"])),
        format!("device.blocks_per_plane={}", pick(&["16", "24", "40"])),
        format!("device.unit=\"{}\"", pick(&["plane", "die", "channel"])),
        format!("device.allocation=\"{}\"", pick(&["striped", "dynamic"])),
        format!("device.timing.command=\"{}\"", pick(&["0 ns", "200 ns"])),
        format!("gc.trigger.watermark.soft=\"{}\"", pick(&["20%", "30%"])),
        format!("gc.trigger.watermark.batch=\"{}\"", pick(&["one", "until-stop", "list"])),
        format!("workload.synthetic.trim_share={}", pick(&["0.0", "0.1"])),
        format!(
            "workload.synthetic.address={}",
            pick(&["\"uniform\"", "{zipf=1.2}", "{hot_cold={f=0.05,r=0.9}}",])
        ),
        format!("workload.synthetic.size=\"{}\"", pick(&["4 KiB", "16 KiB", "2 KiB"])),
        format!("engine.coalesce={}", pick(&["true", "false"])),
        format!("seed={}", choices.below(1000)),
    ];
    let mut pick = |values: &[&str]| values[choices.below(values.len())].to_string();
    let copy = pick(&["copyback", "bus", "parallel"]);
    sets.push(format!("gc.copy.use=\"{copy}\""));
    if copy == "parallel" {
        sets.push("device.registers=3".into());
        sets.push("gc.copy.parallel.parity=false".into());
    }
    if pick(&["no", "yes"]) == "yes" {
        sets.push("gc.placement.use=\"hotness-groups\"".into());
        sets.push(format!("gc.placement.hotness-groups.groups={}", pick(&["2", "3"])));
        sets.push("gc.placement.hotness-groups.counters=128".into());
        sets.push(format!("gc.placement.hotness-groups.hot_to=\"{}\"", pick(&["group", "top"])));
        sets.push(format!("gc.placement.hotness-groups.cold=\"{}\"", pick(&["random", "next"])));
        let copies = pick(&["by-hotness", "cold"]);
        sets.push(format!("gc.placement.hotness-groups.copies=\"{copies}\""));
    } else {
        sets.push(format!("gc.placement.use=\"{}\"", pick(&["one-frontier", "separate-gc"])));
    }
    if pick(&["no", "no", "yes"]) == "yes" {
        sets.push("gc.preemption.use=\"between-copies\"".into());
        sets.push(format!("gc.preemption.between-copies.merge={}", pick(&["true", "false"])));
    }
    sets
}

/// The most data that the plan accepts, tested in steps of a fiftieth.
fn fullest(sets: &[&str]) -> Option<Vec<String>> {
    let base: Vec<String> = sets.iter().map(|set| (*set).to_string()).collect();
    (5..45).rev().find_map(|share| {
        let mut all = base.clone();
        all.push(format!("device.exported={}", f64::from(share) / 50.0));
        let texts: Vec<&str> = all.iter().map(String::as_str).collect();
        prepare(&inputs(TINY, &texts)).is_ok().then_some(all)
    })
}

/// Random drives with as little spare as the plan accepts, under the checker; and the kept index
/// against a scan of every window of every block at every choice.
#[test]
fn random_drives_of_sub_blocks_lose_nothing_and_the_index_agrees_with_the_scan() {
    let mut choices = Choices::new(11);
    let rounds = if common::is_long() { 3000 } else { 150 };
    let (mut run_count, mut collected) = (0, 0);
    for _ in 0..rounds {
        let random = random_choices(&mut choices);
        let sets: Vec<&str> =
            LAYERED.iter().copied().chain(random.iter().map(String::as_str)).collect();
        let Some(sets) = fullest(&sets) else { continue };
        let mut sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let kept = run_verified(TINY, &sets);
        run_count += 1;
        collected += u32::from(number(&kept, "gc.count") > 0.0);
        if random.iter().any(|set| set.ends_with("\"recycle-benefit\"")) {
            sets.push("gc.victim.recycle-benefit.index=\"scan\"");
            let scanned = run(TINY, &sets);
            assert_eq!(at(&kept, "result_hash"), at(&scanned, "result_hash"), "{sets:?}");
        }
    }
    assert!(run_count * 10 > rounds * 9, "{run_count} of {rounds} were accepted");
    assert!(collected * 10 > run_count * 9, "{collected} of {run_count} collected anything");
}
