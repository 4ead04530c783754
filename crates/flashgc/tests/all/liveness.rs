//! Nothing waits for ever: a drive whose data fits is never reported as full, and a request that
//! can continue does.
//!
//! Each case is the smallest in which the pairwise matrix once found a drive that stopped.

use crate::common;

use common::{ONE_PLANE, TINY, run_verified, setup, whole};
use flashgc::sim::Sim;
use flashgc::verify::Overview;
use flashgc::workload::{HostOp, HostRequest, ListSource};
use serde_json::Value;

fn open_loop(arrivals: &str, sets: &[&str]) -> Value {
    let text = TINY.replace("queue_depth = 8\n", "").replace("overwrite = 1.0\n", "");
    let arrivals = format!("workload.synthetic.interarrival={{{arrivals}}}");
    run_verified(&text, &[&[arrivals.as_str()], sets].concat())
}

fn assert_all_done(report: &Value) {
    let done: u64 =
        ["read", "write", "trim"].iter().map(|op| whole(report, &format!("requests.{op}"))).sum();
    assert_eq!(done, 3000);
}

/// Erased pages of the open block of copies count for a threshold in pages, and the host cannot
/// have them: the plane is not short by its threshold, and the host has no page.
#[test]
fn a_mark_in_pages_beside_a_gc_frontier_leaves_the_host_a_page() {
    let sets = [
        "gc.trigger.watermark.soft=\"18 pages\"",
        "gc.placement.use=\"separate-gc\"",
        "device.pages_per_block=16",
        "precondition.overwrite=2.0",
    ];
    assert_all_done(&open_loop("fixed=\"25 us\"", &sets));
    assert_all_done(&run_verified(TINY, &sets));
}

/// A write that dynamic allocation sends elsewhere leaves its unit free: operations behind it there
/// can start.
#[test]
fn a_write_that_goes_to_another_plane_does_not_leave_its_unit_asleep() {
    for unit in ["die", "chip", "channel"] {
        let unit = format!("device.unit=\"{unit}\"");
        let sets = ["device.allocation=\"dynamic\"", unit.as_str()];
        assert_all_done(&open_loop("fixed=\"25 us\"", &sets));
    }
}

/// Dynamic allocation may give a plane more than its share: where no plane has a page for the
/// host, one that collection can help has to be collected, before measuring and in it.
#[test]
fn dynamic_allocation_collects_in_a_plane_that_has_something_to_win() {
    for exported in ["0.6", "0.65", "0.7"] {
        let sets = [
            "gc.trigger.watermark.soft=\"18 pages\"",
            "gc.placement.use=\"separate-gc\"",
            "device.allocation=\"dynamic\"",
            "device.pages_per_block=16",
            "precondition.overwrite=2.0",
            &format!("device.exported={exported}"),
        ];
        assert_all_done(&open_loop("exponential=\"300 us\"", &sets));
        assert_all_done(&run_verified(TINY, &sets));
    }
}

/// Under the odd/even rule a frontier of copies may keep blocks open whose odd or even pages are
/// used up. The plan must count them, or the host must be able to use them.
#[test]
fn the_odd_even_rule_beside_a_gc_frontier_does_not_strand_pages() {
    let sets = [
        "gc.copy.copyback.parity=true",
        "gc.placement.use=\"separate-gc\"",
        "device.blocks_per_plane=32",
        "device.pages_per_block=5",
        "device.exported=0.809",
    ];
    assert_all_done(&open_loop("fixed=\"25 us\"", &sets));
}

/// The worst case of the same: only even pages survive, so that copies never need an odd one.
#[test]
fn the_odd_even_rule_survives_data_that_is_cold_on_even_pages_only() {
    for placement in ["one-frontier", "separate-gc"] {
        let placement = format!("gc.placement.use=\"{placement}\"");
        let setup = setup(
            TINY,
            &[
                "gc.copy.copyback.parity=true",
                &placement,
                "device.channels=1",
                "device.chips_per_channel=1",
                "device.planes_per_die=1",
                "device.exported=0.65",
                "gc.trigger.watermark.soft=\"2 blocks\"",
            ],
        );
        let exported = setup.plan.geometry.exported_pages;
        let mut sim = Sim::new(setup.plan.clone(), Overview::default());
        sim.untimed().fill(0, exported).expect("the fill fits");
        // One plane, filled in order: logical page n lies on an odd page where n is odd.
        let odd = (0..4000u64).map(|at| (2 * at + 1) % u64::from(exported / 2 * 2));
        let writes =
            odd.map(|lpn| HostRequest::from_bytes(0, HostOp::Write, lpn * 4096, 4096, 4096));
        let mut source = ListSource::new(writes.collect());
        sim.start(&mut source).expect("the workload starts");
        loop {
            match sim.run(&mut source, 10_000) {
                Ok(progress) if progress.finished => break,
                Ok(_) => {}
                Err(error) => panic!("{placement}: {error:?}"),
            }
        }
    }
}

/// A window of sub-blocks moved more even pages, of its neighbours, than it had invalid ones: with
/// each such collection copies had fewer even pages, until there was none.
#[test]
fn windows_of_sub_blocks_lose_no_even_pages_under_the_odd_even_rule() {
    let sets = [
        "gc.copy.copyback.parity=true",
        "gc.erase.use=\"sub-blocks\"",
        "gc.victim.use=\"recycle-benefit\"",
        "gc.trigger.watermark.soft=\"3 blocks\"",
        "gc.trigger.watermark.hard=\"none\"",
        "device.blocks_per_plane=32",
        "device.pages_per_block=16",
        "device.sub_blocks=8",
        "device.exported=0.77",
        "workload.synthetic.address={zipf=1.1}",
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.requests=6000",
        "precondition.overwrite=4.0",
    ];
    let text = TINY.replace("queue_depth = 8\n", "").replace("overwrite = 1.0\n", "");
    let arrivals = "workload.synthetic.interarrival={exponential=\"300 us\"}";
    let sets = [&[arrivals], &ONE_PLANE[..], &sets[..]].concat();
    let report = run_verified(&text, &sets);
    assert_eq!(whole(&report, "requests.write"), 6000);
    let scan = ["gc.victim.recycle-benefit.index=\"scan\""];
    let scanned = run_verified(&text, &[&sets[..], &scan[..]].concat());
    assert_eq!(report["result_hash"], scanned["result_hash"]);
}

/// A plane needs space and no block frees a page, until a trim elsewhere changes that.
#[test]
fn a_trim_wakes_the_plane_that_it_gives_something_to_win() {
    let sets = [
        "gc.trigger.watermark.soft=\"18 pages\"",
        "gc.victim.use=\"d-choices\"",
        "gc.placement.use=\"separate-gc\"",
        "gc.blocking.use=\"chip\"",
        "device.unit=\"channel\"",
        "device.allocation=\"dynamic\"",
        "device.order=[\"plane\",\"die\",\"chip\",\"channel\"]",
        "device.pages_per_block=16",
        "device.timing.command=\"200 ns\"",
        "workload.synthetic.trim_share=0.2",
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.address={hot_cold={f=0.1,r=0.9}}",
        "device.exported=0.798828125",
        "precondition.overwrite=2.0",
    ];
    assert_all_done(&open_loop("bursty={mean=\"400 us\",below=\"40 us\",share=0.8}", &sets));
}

/// A drive that starts erased reads nothing, and collects once its writes have filled it.
#[test]
fn a_drive_that_starts_erased_takes_every_write() {
    let report = run_verified(
        &TINY.replace("overwrite = 1.0\n", ""),
        &["precondition.fill=\"none\"", "workload.synthetic.read_share=0.0"],
    );
    assert_all_done(&report);
}
