//! Collection by the share of garbage: the share stays at its threshold, write amplification is
//! that of a drive with the spare space that the share leaves, and a drive without garbage runs.

use crate::common;

use common::{Choices, TINY, assert_near, checked, number, refusal, run_verified, setup, whole};
use flashgc::ids::{Lpn, PlaneId};
use flashgc::sim::Sim;
use flashgc::workload::{Overwrites, SourceError};

const GARBAGE: &str = "gc.trigger.use=\"garbage-share\"";

struct Uniform(Choices, usize);

impl Overwrites for Uniform {
    fn next(&mut self) -> Result<Lpn, SourceError> {
        Ok(Lpn(self.0.below(self.1) as u32))
    }
}

/// Write amplification of uniform overwrites on one log, and its pages in use and invalid ones at
/// the end.
fn uniform(sets: &[&str]) -> (f64, f64, f64) {
    let log = [
        "device.channels=1",
        "device.chips_per_channel=1",
        "device.planes_per_die=1",
        "device.blocks_per_plane=400",
        "device.pages_per_block=32",
    ];
    let setup = setup(TINY, &[&log[..], sets].concat());
    let data = setup.plan.geometry.exported_pages;
    let mut sim = Sim::new(setup.plan.clone(), checked(&setup));
    let mut writes = Uniform(Choices::new(5), data as usize);
    sim.untimed().fill(0, data).expect("the fill fits");
    sim.untimed().overwrite(&mut writes, 10 * u64::from(data)).expect("there is space");
    let before = sim.untimed().pages_moved();
    sim.untimed().overwrite(&mut writes, 20 * u64::from(data)).expect("there is space");
    let copies = sim.untimed().pages_moved() - before;
    let free = f64::from(sim.ftl().frontiers.free_pages(PlaneId(0)));
    let in_use = 400.0 * 32.0 - free;
    (1.0 + copies as f64 / (20.0 * f64::from(data)), in_use, in_use - f64::from(data))
}

/// A share g of garbage is a drive of 1 / (1 - g) pages for each page of data, whatever else there
/// is.
#[test]
fn the_share_takes_the_place_of_spare_space() {
    for victim in ["greedy", "fifo"] {
        for (percent, spare) in [(15, 0.85), (25, 0.75)] {
            let victim = format!("gc.victim.use=\"{victim}\"");
            let on = format!("gc.trigger.garbage-share.on=\"{percent}%\"");
            let of = |exported: f64| {
                let exported = format!("device.exported={exported}");
                let any = "gc.trigger.garbage-share.victims=\"1%\"";
                uniform(&[GARBAGE, &on, &victim, &exported, any])
            };
            let (amplification, in_use, garbage) = of(0.5);
            let share = garbage / in_use;
            // One block of the 240 to 270 in use is half a per cent.
            assert!((share - f64::from(percent) / 100.0).abs() < 0.005, "{victim} {share}");
            assert_near(&victim, of(0.6).0, amplification, 0.02);
            // The open block and 3 erased ones take no part in it there: 400 of 404 blocks.
            let exported = format!("device.exported={}", spare * 396.0 / 400.0);
            let (watermark, ..) =
                uniform(&[&victim, &exported, "gc.trigger.watermark.soft=\"4 blocks\""]);
            assert_near(&victim, amplification, watermark, 0.03);
        }
    }
}

#[test]
fn it_goes_with_all_batches_and_places_of_counting() {
    for of in ["device", "plane"] {
        for batch in ["one", "until-stop", "list"] {
            for scheme in ["greedy", "pgc", "on-demand", "pregc"] {
                let sets = [
                    format!("gc.scheme=\"{scheme}\""),
                    GARBAGE.into(),
                    format!("gc.trigger.garbage-share.of=\"{of}\""),
                    format!("gc.trigger.garbage-share.batch=\"{batch}\""),
                    "device.exported=0.5".into(),
                ];
                let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
                let report = run_verified(TINY, &sets);
                assert!(whole(&report, "gc.count") > 50, "{sets:?}");
                assert!(number(&report, "write_amplification") < 4.0, "{sets:?}");
            }
        }
    }
}

/// Where the spare space is smaller than the share, planes are collected as they run out of blocks.
#[test]
fn a_full_drive_falls_back_and_says_so() {
    let on = "gc.trigger.garbage-share.on=\"40%\"";
    let victims = "gc.trigger.garbage-share.victims=\"90%\"";
    let report = run_verified(TINY, &[GARBAGE, "device.exported=0.7", on, victims]);
    assert!(whole(&report, "gc.fallbacks") > 0);
    assert!(report["notes"].to_string().contains("gc.trigger.garbage-share.on"));
    let roomy = run_verified(TINY, &[GARBAGE, "device.exported=0.5"]);
    assert!(!roomy["notes"].to_string().contains("garbage-share"));
    assert_eq!(whole(&roomy, "gc.fallbacks"), 0);
}

#[test]
fn it_is_refused_beside_another_threshold() {
    let both = refusal(TINY, &["gc.trigger.use=[\"watermark\", \"garbage-share\"]"]);
    assert!(both.contains("\"watermark\" and \"garbage-share\" cannot be combined"), "{both}");
    let none = refusal(TINY, &[GARBAGE, "gc.trigger.garbage-share.on=\"0%\""]);
    assert!(none.contains("`on` must be above 0%"), "{none}");
}
