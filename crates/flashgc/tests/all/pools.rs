//! Dynamic allocation inside pools of planes: no page leaves its pool, whatever the drive does, and
//! the planes of a pool share its work.

use crate::common;

use common::{TINY, checked, run_verified, setup, synthetic, whole};
use flashgc::ids::Lpn;
use flashgc::session::Setup;
use flashgc::sim::Sim;

const DYNAMIC: &str = "device.allocation=\"dynamic\"";

/// Fills a drive, overwrites it and runs the workload; asserts that each page is in its pool.
fn stays_in_pools(setup: &Setup) {
    let plan = &setup.plan;
    let (geometry, pools) = (plan.geometry.clone(), plan.pools.clone());
    let mut sim = Sim::new(plan.clone(), checked(setup));
    let audit = |sim: &Sim<_>| {
        for lpn in (0..geometry.exported_pages).map(Lpn) {
            let plane = geometry.plane_of(sim.ftl().map.ppn_of(lpn));
            assert_eq!(pools.of_plane(plane), pools.of_page(&geometry, lpn), "page {}", lpn.0);
        }
    };
    sim.untimed().fill(0, geometry.exported_pages).expect("it can be filled");
    audit(&sim);
    let mut source = synthetic(setup);
    common::drain(&mut sim, &mut source, 1000);
    audit(&sim);
    sim.audit();
}

#[test]
fn no_page_leaves_its_pool() {
    for pool in ["channel", "chip", "die"] {
        for unit in ["plane", "die", "chip", "channel"] {
            for blocking in ["unit", "plane"] {
                let (pool, unit) = (format!("device.pool={pool}"), format!("device.unit={unit}"));
                let blocking = format!("gc.blocking.use={blocking}");
                stays_in_pools(&setup(TINY, &[DYNAMIC, &pool, &unit, &blocking]));
            }
        }
    }
}

/// Writes to few pages that striping would send to few planes spread over the planes of the pool.
#[test]
fn writes_spread_over_their_pool_and_no_further() {
    let sets = [
        DYNAMIC,
        "device.planes_per_die=4",
        "device.unit=\"chip\"",
        "device.pool=\"chip\"",
        "gc.trigger.watermark.soft=\"2 blocks\"",
        "precondition.fill=\"none\"",
        "precondition.overwrite=0.0",
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.requests=160",
        "workload.synthetic.sequential_share=0.0",
        // One page, the first: it belongs to the first chip.
        "workload.synthetic.footprint=\"4 KiB\"",
    ];
    let setup = setup(TINY, &sets);
    let mut sim = Sim::new(setup.plan.clone(), checked(&setup));
    common::drain(&mut sim, &mut synthetic(&setup), 1000);
    let geometry = &setup.plan.geometry;
    let pool = setup.plan.pools.of_page(geometry, Lpn(0));
    for plane in (0..geometry.planes).map(flashgc::ids::PlaneId) {
        let written = 128 - sim.ftl().frontiers.free_pages(plane);
        let expected = if setup.plan.pools.of_plane(plane) == pool { 40 } else { 0 };
        assert_eq!(written, expected, "plane {}", plane.0);
    }
}

/// A pool of one chip and one chip without pools are the same device for a write, whether its plane
/// is found when it starts or when it is queued, unless it waits.
#[test]
fn when_the_plane_is_found_makes_no_difference_where_nothing_waits() {
    let of = |pool: &str| {
        let sets = [
            DYNAMIC,
            "device.channels=1",
            "device.chips_per_channel=1",
            "device.planes_per_die=4",
            "device.unit=\"chip\"",
            "workload.synthetic.queue_depth=1",
            "precondition.fill=\"none\"",
            "precondition.overwrite=0.0",
            "workload.synthetic.requests=300",
            pool,
        ];
        let setup = setup(TINY, &sets);
        let mut sim = Sim::new(setup.plan.clone(), checked(&setup));
        common::drain(&mut sim, &mut synthetic(&setup), 1000);
        let pages = 0..setup.plan.geometry.exported_pages;
        pages.map(|lpn| sim.ftl().map.ppn_of(Lpn(lpn))).collect::<Vec<_>>()
    };
    assert_eq!(of("device.pool=\"chip\""), of("device.pool=\"device\""));
}

#[test]
fn a_pool_without_dynamic_allocation_has_no_effect_and_is_reported() {
    let plain = setup(TINY, &[]);
    let with = setup(TINY, &["device.pool=\"chip\""]);
    assert_eq!(plain.config_hash(), with.config_hash());
    assert_eq!(with.unused_keys(), ["device.pool"]);
    let whole = setup(TINY, &[DYNAMIC, "device.pool=\"device\""]);
    assert_eq!(whole.config_hash(), setup(TINY, &[DYNAMIC]).config_hash());
}

/// Collection in one plane of a pool must continue where the first write finds no plane.
#[test]
fn a_full_pool_lives() {
    for service in ["[\"gc\",\"host\"]", "[\"host\",\"gc\"]", "[\"reads\",\"writes\",\"gc\"]"] {
        for pool in ["die", "chip", "channel"] {
            let (pool, service) =
                (format!("device.pool={pool}"), format!("device.service={service}"));
            let sets = [
                DYNAMIC,
                "device.unit=\"chip\"",
                "device.exported=0.74",
                "gc.trigger.watermark.soft=\"2 blocks\"",
                &pool,
                &service,
            ];
            let report = run_verified(TINY, &sets);
            assert!(whole(&report, "erases") > 0);
        }
    }
}
