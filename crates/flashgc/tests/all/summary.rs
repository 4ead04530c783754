//! Blocks whose last pages are a summary: their capacity, their cost, and that all counters include
//! them. The pairwise matrix runs them with everything else.

use crate::common;

use common::{TINY, at, number, run_verified, setup, whole};
use serde_json::Value;

const FREE: &str = "device.summary={pages=1,transfer=\"528 B\",copies=\"free\"}";
const TIMED: &str = "device.summary={pages=1,transfer=\"528 B\",copies=\"timed\"}";

/// One chip of one plane, written in order by one request at a time.
fn one_plane(summary: &str, more: &[&str]) -> Value {
    let mut sets = vec![
        "device.channels=1",
        "device.chips_per_channel=1",
        "device.planes_per_die=1",
        "device.timing.transfer=\"25 ns/B\"",
        "device.exported=0.5",
        "workload.synthetic.queue_depth=1",
        "workload.synthetic.read_share=0.0",
        summary,
    ];
    sets.extend(more);
    run_verified(TINY, &sets)
}

/// A read that was answered while the program of a copy was in the array requested the bus together
/// with the summary of the block that the copy filled, and the bus dropped one of the two.
#[test]
fn a_summary_comes_in_when_the_answer_has_left() {
    let sets = [
        "device.channels=1",
        "device.chips_per_channel=1",
        "device.dies_per_chip=2",
        "device.planes_per_die=1",
        "device.blocks_per_plane=40",
        "device.pages_per_block=4",
        "device.page_size=\"16 KiB\"",
        "device.allocation=\"dynamic\"",
        "device.timing.transfer=\"5 ns/B\"",
        "device.timing.program=\"100 us\"",
        "device.timing.erase=\"1 us\"",
        "device.suspend.suspend=\"0 ns\"",
        "gc.preemption.use=\"suspend\"",
        "gc.trigger.watermark.soft=\"5 blocks\"",
        "workload.synthetic.read_share=0.6",
        "workload.synthetic.queue_depth=2",
        "workload.synthetic.size=\"16 KiB\"",
        "workload.synthetic.requests=2000",
        "device.summary={pages=1,copies=\"timed\"}",
    ];
    for seed in ["seed=1", "seed=2", "seed=3", "seed=4"] {
        let report = run_verified(TINY, &[&sets[..], &[seed]].concat());
        let requests = whole(&report, "requests.read") + whole(&report, "requests.write");
        assert_eq!(requests, 2_000, "{seed}");
        assert!(whole(&report, "gc.merged_read") > 0, "{seed}");
    }
}

#[test]
fn a_block_holds_fewer_pages_of_data() {
    let setup = setup(TINY, &[FREE]);
    let shape = &setup.plan.geometry.shape;
    assert_eq!((shape.pages_per_block, shape.data_pages()), (8, 7));
    let pages = (shape.pages_per_plane(), shape.data_pages_per_plane());
    assert_eq!(pages, (16 * 8, 16 * 7));
}

#[test]
fn exported_space_may_be_given_by_reserved_blocks() {
    let pages =
        |text: &str, sets: &[&str]| setup(text, sets).plan.geometry.shape.exported_pages_per_plane;
    let reserved = "device.exported={reserved_blocks=\"37.5%\"}";
    assert_eq!(pages(TINY, &[reserved]), 10 * 8);
    assert_eq!(pages(TINY, &["device.exported={reserved_blocks=\"43%\"}"]), 10 * 8, "truncated");
    assert_eq!(pages(TINY, &[reserved, FREE]), 10 * 7);
    assert_eq!(pages(TINY, &["device.exported={reserved_blocks=\"7 blocks\"}"]), 9 * 8);
    // The later layer applies, whichever of the two keys it has.
    assert_eq!(pages(TINY, &[reserved, "device.exported=0.5"]), 64);
    let preset = "device.preset = \"slc-msr\"\nworkload.synthetic.requests = 1\n\
                  workload.synthetic.queue_depth = 1\n";
    assert_eq!(pages(preset, &["device.exported.reserved_blocks=\"15%\""]), 1741 * 64);
    let own = format!("{preset}device.exported.reserved_blocks = \"15%\"\n");
    assert_eq!(pages(&own, &[]), 1741 * 64);
    assert_eq!(pages(&own, &["device.exported=0.85"]), 111_411);
}

#[test]
fn exported_space_may_be_given_as_over_provisioning() {
    let pages =
        |text: &str, sets: &[&str]| setup(text, sets).plan.geometry.shape.exported_pages_per_plane;
    // 128 pages in each plane: 128 / 1.6 and, truncated, 128 / 1.7.
    assert_eq!(pages(TINY, &["device.over_provisioning=\"60%\""]), 80);
    assert_eq!(pages(TINY, &["device.over_provisioning=0.7"]), 75);
    let own = TINY.replace("exported = 0.6", "over_provisioning = \"60%\"");
    assert_eq!(pages(&own, &[]), 80);
    assert_eq!(pages(&own, &["device.exported=0.5"]), 64, "the higher layer wins");
    assert_eq!(pages(&own, &["device.exported.reserved_blocks=\"37.5%\""]), 10 * 8);
}

/// The host gets the capacity in whole pages of each plane, and each plane the fewest blocks of 8
/// pages whose share is at least that.
#[test]
fn a_capacity_sizes_the_flash() {
    let sized = |text: &str, sets: &[&str]| {
        let shape = &setup(text, sets).plan.geometry.shape;
        (shape.planes() as u32, shape.blocks_per_plane, shape.exported_pages_per_plane)
    };
    let (planes, blocks, pages) = sized(TINY, &[]);
    assert_eq!((blocks, pages), (16, 76), "60 % of 128 pages");
    let kib = u64::from(planes) * 4 * 76;
    assert_eq!(sized(TINY, &[&format!("device.user_capacity=\"{kib} KiB\"")]), (planes, 16, 76));
    // A page more in each plane needs a block more: 60 % of 136 pages are 81.
    let kib = u64::from(planes) * 4 * 77;
    assert_eq!(sized(TINY, &[&format!("device.user_capacity=\"{kib} KiB\"")]), (planes, 17, 77));
    let own = TINY
        .replace("blocks_per_plane = 16", &format!("user_capacity = \"{kib} KiB\""))
        .replace("exported = 0.6", "over_provisioning = \"60%\"");
    assert_eq!(sized(&own, &[]), (planes, 16, 77), "128 / 1.6 are 80");
    assert_eq!(sized(&own, &["device.blocks_per_plane=32"]), (planes, 32, 160));
    let but = "device.exported.reserved_blocks=\"5 blocks\"";
    assert_eq!(sized(&own, &[but]), (planes, 15, 77), "10 blocks hold 77 pages");
}

/// One plane of large blocks stands for the whole drive in a fitted device. The part for the host
/// of the largest number of blocks was counted in 32 bits, so that some shares were refused.
#[test]
fn a_capacity_sizes_a_single_plane_of_large_blocks_whatever_the_share() {
    let one_plane = common::ONE_PLANE;
    for percent in 5..=100 {
        let over_provisioning = format!("device.over_provisioning=\"{percent}%\"");
        let sets = [
            "device.user_capacity=\"800 GB\"",
            "device.pages_per_block=16000",
            "device.page_size=\"16 KiB\"",
            "device.mapping_unit=\"4 KiB\"",
            "device.allocation=\"dynamic\"",
            &over_provisioning,
        ];
        let setup = setup(TINY, &[&one_plane[..], &sets].concat());
        let shape = &setup.plan.geometry.shape;
        assert_eq!(shape.exported_pages_per_plane, 195_312_500, "{percent} %");
        let least = shape.exported_pages_per_plane as u64 * (100 + percent) / 100;
        let pages = u64::from(shape.blocks_per_plane) * 64_000;
        assert!((least..=least + 64_000).contains(&pages), "{percent} %: {pages} pages");
    }
}

#[test]
fn the_write_that_fills_a_block_pays_for_its_summary() {
    // An erased drive: 64 writes in order, 7 pages to a block, so that 9 of them fill one.
    let more = [
        "precondition.fill=\"none\"",
        "precondition.overwrite=0.0",
        "workload.synthetic.requests=64",
    ];
    let report = one_plane(FREE, &more);
    assert_eq!(whole(&report, "pages.overhead"), 9);
    let plain_ns = 4096.0 * 25.0 + 200_000.0;
    let summary_ns = 528.0 * 25.0 + 200_000.0;
    let mean_ns = number(&report, "latency_ns.write.mean");
    assert!((mean_ns - (plain_ns + 9.0 / 64.0 * summary_ns)).abs() < 1e-3, "{mean_ns}");
    assert_eq!(number(&report, "latency_ns.write.max"), plain_ns + summary_ns);
    assert_eq!(number(&report, "write_amplification"), 1.0, "no page of data more");
}

/// With everything that pays, the time of collection follows from three counts.
#[test]
fn copies_pay_for_summaries_or_do_not() {
    let times = |report: &Value| {
        let count = |key: &str| whole(report, key);
        let copies_ns = count("pages.gc_moved") * 225_000 + count("erases") * 1_500_000;
        (count("gc.busy_ns") - copies_ns, count("gc.transfer_ns"))
    };
    let placement = "gc.placement.use=\"separate-gc\"";
    for coalesce in ["engine.coalesce=true", "engine.coalesce=false"] {
        let free = one_plane(FREE, &[placement, coalesce]);
        assert_eq!(at(&free, "gc.open").as_u64(), Some(0), "the sums below need whole jobs");
        assert_eq!(times(&free), (0, 0));
        let timed = one_plane(TIMED, &[placement, coalesce]);
        let (programs_ns, transfers_ns) = times(&timed);
        // Copies have a frontier of their own, so each 7 of them fill a block.
        let filled = whole(&timed, "pages.gc_moved") / 7;
        assert!(programs_ns.abs_diff(filled * 200_000) <= 200_000, "{programs_ns}: {filled}");
        assert_eq!(programs_ns / 200_000 * 528 * 25, transfers_ns);
        assert!(filled > 100);
    }
}

#[test]
fn a_summary_may_have_several_pages() {
    let summary = "device.summary={pages=3}";
    let more = [
        "precondition.fill=\"none\"",
        "precondition.overwrite=0.0",
        "workload.synthetic.requests=64",
        "device.exported=0.3",
    ];
    let report = one_plane(summary, &more);
    // 5 pages of data in each block; transfers are whole pages by default.
    assert_eq!(whole(&report, "pages.overhead"), 3 * 12);
    assert_eq!(number(&report, "latency_ns.write.max"), 4.0 * (4096.0 * 25.0 + 200_000.0));
}

#[test]
fn steps_and_whole_jobs_agree() {
    let of = |coalesce: &str| {
        let report = run_verified(TINY, &[FREE, "device.exported=0.5", coalesce]);
        at(&report, "result_hash").clone()
    };
    assert_eq!(of("engine.coalesce=true"), of("engine.coalesce=false"));
}
