//! The scope of blocking: no operation of the host is served inside it, and the checker notices
//! one that is. The scope may be smaller in the erase.

use crate::common;

use common::{TINY, found_against, number, refusal, run_verified, setup};
use flashgc::device::Level;
use flashgc::gc::{BlockingChoice, JobRow};
use flashgc::ids::{BlockId, Lpn, Ppn, UnitId};
use flashgc::verify::checker::{Checker, Promises};
use flashgc::verify::{Cause, Happened, Watch, What};
use serde_json::Value;

const CHANNEL: &str = "gc.blocking.use=\"channel\"";
const CHIP_IN_ERASE: &str = "gc.blocking.channel.erasing=\"chip\"";
const ONE_COLLECTION: &str = "gc.blocking.channel.collections=\"one\"";

fn erasing(sets: &[&str]) -> Option<Level> {
    setup(TINY, sets).plan.gc.blocking.erasing
}

#[test]
fn the_part_of_the_erase_is_smaller_than_that_of_the_copies() {
    assert_eq!(erasing(&[CHANNEL]), None);
    assert_eq!(erasing(&[CHANNEL, "gc.blocking.channel.erasing=\"channel\""]), None);
    assert_eq!(erasing(&[CHANNEL, CHIP_IN_ERASE]), Some(Level::Chip));
    // The unit that erases serves no request, so that at least the unit is blocked.
    assert_eq!(erasing(&[CHANNEL, "gc.blocking.channel.erasing=\"plane\""]), Some(Level::Die));
    assert_eq!(setup(TINY, &[CHANNEL, CHIP_IN_ERASE]).unused_keys(), [""; 0]);
    for sets in [
        [CHANNEL, CHIP_IN_ERASE, "device.unit=\"channel\""],
        ["gc.blocking.use=\"die\"", "gc.blocking.die.erasing=\"plane\"", "device.unit=\"chip\""],
        ["gc.blocking.use=\"chip\"", "gc.blocking.chip.erasing=\"die\"", "device.unit=\"chip\""],
    ] {
        assert_eq!(erasing(&sets), None);
        assert!(setup(TINY, &sets).unused_keys()[0].ends_with(".erasing"), "{sets:?}");
    }
    let unused = setup(TINY, &[CHIP_IN_ERASE]).unused_keys().to_vec();
    assert_eq!(unused, ["gc.blocking.channel.erasing"]);
}

#[test]
fn one_collection_matters_where_a_channel_has_several_units() {
    let one = |sets: &[&str]| setup(TINY, sets).plan.gc.blocking.one_collection;
    assert!(one(&[CHANNEL, ONE_COLLECTION]));
    assert!(!one(&[CHANNEL, "gc.blocking.channel.collections=\"any\""]) && !one(&[CHANNEL]));
    let whole = setup(TINY, &[CHANNEL, ONE_COLLECTION, "device.unit=\"channel\""]);
    assert!(!whole.plan.gc.blocking.one_collection);
    assert_eq!(whole.unused_keys(), ["gc.blocking.channel.collections"]);
    let found =
        refusal(TINY, &["gc.blocking.use=\"chip\"", "gc.blocking.chip.collections=\"one\""]);
    assert!(found.contains("unknown key `collections`"), "{found}");
}

#[test]
fn a_larger_part_in_the_erase_is_refused() {
    let found =
        refusal(TINY, &["gc.blocking.use=\"chip\"", "gc.blocking.chip.erasing=\"channel\""]);
    assert!(found.contains("`gc.blocking.chip.erasing`") && found.contains("\"die\""), "{found}");
    let found =
        refusal(TINY, &["gc.blocking.use=\"plane\"", "gc.blocking.plane.erasing=\"plane\""]);
    assert!(found.contains("unknown key `erasing`"), "{found}");
    let preempting = [CHANNEL, CHIP_IN_ERASE, "gc.preemption.use=\"between-copies\""];
    assert!(
        refusal(TINY, &preempting)
            .contains("cannot be combined with requests that are served during a collection")
    );
}

/// The host waits less with fewer closed units; the cost of a collection is the same.
#[test]
fn reads_wait_less_where_less_is_closed_in_the_erase() {
    let base = [
        CHANNEL,
        "workload.synthetic.read_share=0.7",
        "workload.synthetic.queue_depth=4",
        "device.timing.transfer=\"5 ns/B\"",
    ];
    let reports: Vec<Value> = ["channel", "chip", "plane"]
        .map(|part| {
            let erasing = format!("gc.blocking.channel.erasing=\"{part}\"");
            run_verified(TINY, &[&base[..], &[&erasing]].concat())
        })
        .into();
    let means = reports.iter().map(|report| number(report, "latency_ns.read.mean"));
    let means: Vec<f64> = means.collect();
    assert!(means[0] > 1.1 * means[1] && means[1] >= means[2], "{means:?}");
}

#[test]
fn every_batch_and_scheme_keeps_its_holds() {
    for batch in ["one", "until-stop", "list"] {
        for sets in [
            &["gc.copy.use=\"copyback\""][..],
            &["gc.copy.use=\"bus\"", "device.timing.transfer=\"5 ns/B\""],
            &["gc.erase.use=\"blocks\"", "gc.trigger.watermark.soft=\"4 blocks\""],
            &["device.unit=\"plane\"", "device.allocation=\"dynamic\""],
            &["gc.trigger.use=[\"watermark\",\"idle\"]", "gc.trigger.idle.wait=\"0 ns\""],
            &["gc.trigger.watermark.hard=\"2 blocks\"", "gc.trigger.watermark.soft=\"3 blocks\""],
        ] {
            let batch = format!("gc.trigger.watermark.batch=\"{batch}\"");
            run_verified(TINY, &[&[CHANNEL, CHIP_IN_ERASE, &batch], sets].concat());
            run_verified(TINY, &[&[CHANNEL, ONE_COLLECTION, &batch], sets].concat());
            let both = [CHANNEL, CHIP_IN_ERASE, ONE_COLLECTION, &batch];
            run_verified(TINY, &[&both, sets].concat());
        }
    }
}

/// Runs a drive whose checker expects another blocking, and returns its complaint.
fn found(sets: &[&str], blocking: BlockingChoice) -> String {
    let setup = setup(TINY, sets);
    let promises = Promises { blocking: Some(blocking), ..Promises::of(&setup.plan) };
    found_against(&setup, promises)
}

#[test]
fn the_checker_notices_a_hold_that_is_too_small() {
    let whole = BlockingChoice {
        level: Level::Channel,
        blocks: false,
        erasing: None,
        one_collection: false,
    };
    let narrow = BlockingChoice { erasing: Some(Level::Chip), ..whole };
    let holds = "which a collection in plane";
    assert!(found(&[], whole).contains(holds));
    assert!(found(&[CHANNEL, CHIP_IN_ERASE], whole).contains(holds));
    assert!(found(&["engine.coalesce=false"], narrow).contains("while a collection in plane"));
}

#[test]
fn the_checker_notices_a_second_collection() {
    let alone = BlockingChoice {
        level: Level::Channel,
        blocks: false,
        erasing: None,
        one_collection: true,
    };
    let began = found(&[CHANNEL], alone);
    assert!(began.contains("ns a collection began in plane"), "{began}");
    let narrow = BlockingChoice { erasing: Some(Level::Chip), ..alone };
    let got_in = found(&[CHANNEL, CHIP_IN_ERASE], narrow);
    assert!(got_in.contains("a collection got in while a collection in plane"), "{got_in}");
}

/// A collection in plane 0 of a channel with two chips, whose erase begins at 1000 ns.
fn story(begins_ns: u64, plane: usize, is_read: bool) {
    let setup = setup(TINY, &[CHANNEL, CHIP_IN_ERASE]);
    let geometry = &setup.plan.geometry;
    let promises = Promises { timing: None, in_order: false, ..Promises::of(&setup.plan) };
    let mut checker = Checker::new(geometry, promises);
    let page = geometry.first_page(BlockId(plane as u32 * 16 + 3));
    let program = |ppn: Ppn| {
        let (lpn, cause) = (Lpn(plane as u32), Cause::Host { op: 0 });
        Happened::Programmed { ppn, lpn, cause, current: true }
    };
    checker.observe(0, program(page));
    checker.observe(0, program(Ppn(page.0 + 1)));
    checker.observe(0, Happened::MeasuringStarts);
    checker.observe(0, Happened::Claimed { block: BlockId(0), valid: 0 });
    let begins = match is_read {
        true => Happened::Read { ppn: Ppn(page.0 + 1), lpn: Lpn(plane as u32) },
        false => program(Ppn(page.0 + 2)),
    };
    checker.observe(begins_ns, begins);
    let (what, unit) = (What::Operation("erase", 0), UnitId(0));
    checker.observe(3000, Happened::Busy { what, unit, from_ns: 1000, to_ns: 3000, gc: true });
    checker.observe(3000, Happened::JobClosed(row()));
    // The collection has ended: its plane is open.
    checker.observe(3000, program(Ppn(geometry.first_page(BlockId(5)).0)));
}

/// The row of a collection without a page to move; it does not name its block.
fn row() -> JobRow {
    JobRow { end_ns: 3000, ..JobRow::default() }
}

/// A plane of the same chip, of the other chip, and of another channel.
fn planes() -> [usize; 3] {
    let geometry = setup(TINY, &[]).plan.geometry;
    let find = |level: Level, outer: Level| {
        let zero = flashgc::ids::PlaneId(0);
        let is_fit = |&plane: &u32| {
            let plane = flashgc::ids::PlaneId(plane);
            let same = |level| geometry.part_of(plane, level) == geometry.part_of(zero, level);
            plane != zero && !same(level) && same(outer)
        };
        (0..geometry.planes).find(is_fit).expect("a plane") as usize
    };
    let other_channel = (0..geometry.planes).map(flashgc::ids::PlaneId);
    let other_channel = other_channel.map(|plane| geometry.part_of(plane, Level::Channel));
    let other = other_channel.into_iter().position(|part| part != 0).expect("another channel");
    [find(Level::Plane, Level::Die), find(Level::Chip, Level::Channel), other]
}

#[test]
fn the_checker_passes_what_a_hold_leaves_open() {
    let [_, chip, channel] = planes();
    for is_read in [true, false] {
        story(10, channel, is_read);
        story(1000, chip, is_read);
        story(2999, chip, is_read);
    }
}

#[test]
#[should_panic(expected = "the host got in while a collection in plane 0 copied")]
fn the_checker_catches_a_read_of_the_channel_while_pages_move() {
    story(999, planes()[1], true);
}

#[test]
#[should_panic(expected = "the host got in while a collection in plane 0 copied")]
fn the_checker_catches_a_write_to_the_channel_while_pages_move() {
    story(500, planes()[1], false);
}

#[test]
#[should_panic(expected = "at 2000 ns the host began in plane")]
fn the_checker_catches_a_read_of_the_chip_in_the_erase() {
    story(2000, planes()[0], true);
}
