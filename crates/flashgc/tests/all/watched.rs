//! A session that is watched, instant by instant, has the results of a run; and its pictures show
//! drives that can exist.

use crate::common;

use common::{BUFFER, BUS, OPEN, SIZES, SUSPENDS, TRIMS, run_tiny, tiny_with};
use flashgc::session::picture::{BlockPicture, Picture, Place, Work};
use flashgc::session::{Options, Phase, Session};
use flashgc::verify::blame::make_up;
use flashgc::workload::HostOp;

const FEW: &str = "workload.synthetic.requests=600";
const DRIVES: [&[&str]; 10] = [
    &[FEW],
    &[FEW, "engine.coalesce=false", TRIMS],
    &[FEW, OPEN, "gc.scheme=\"pgc\""],
    &[FEW, OPEN, "gc.scheme=\"fpgc\"", SUSPENDS, "engine.coalesce=false"],
    &[FEW, OPEN, "gc.scheme=\"idle-pgc\"", BUFFER],
    &[FEW, "gc.scheme=\"tokens\"", SIZES, BUS],
    &[FEW, OPEN, "gc.placement.use=\"separate-gc\"", "device.allocation=\"dynamic\""],
    &[FEW, "device.unit=\"chip\"", "gc.copy.use=\"bus\"", BUS],
    &[FEW, OPEN, "gc.scheme=\"pregc\"", "device.unit=\"die\""],
    &[FEW, "device.superblock=\"chip\"", "gc.copy.use=\"bus\"", BUS],
];
const STEP_NS: u64 = 237_000;

#[test]
fn a_run_that_is_watched_has_the_results_of_a_run() {
    for sets in DRIVES {
        let mut session =
            Session::new(tiny_with(sets), None, Options { blame: true, ..Options::default() });
        session.attend();
        let (mut until_ns, mut done, mut phase) = (0, 0, Phase::Scan);
        let (mut works, mut waited, mut collected) = (Vec::new(), false, false);
        while phase != Phase::Done {
            let progress = session.advance_to(until_ns, 7).expect("it runs");
            phase = progress.phase;
            session.take_done(|one| {
                done += 1;
                assert!(one.at_ns <= until_ns, "{sets:?}: done later than the instant");
                let split = one.parts.filter(|_| matches!(one.op, HostOp::Read | HostOp::Write));
                assert!(split.is_none_or(|parts| make_up(&parts, one.latency_ns)), "{sets:?}");
            });
            if phase != Phase::Run || session.next_ns().is_none_or(|next| next <= until_ns) {
                continue;
            }
            assert!(progress.now_ns <= until_ns, "{sets:?}: {} > {until_ns}", progress.now_ns);
            let picture = session.picture();
            check(sets, &picture);
            works.extend(picture.units.iter().map(|unit| unit.work));
            waited |= picture.units.iter().any(|unit| !unit.queue.is_empty());
            collected |= picture.units.iter().any(|unit| unit.collection.is_some());
            if until_ns.is_multiple_of(10 * STEP_NS) {
                let report = session.so_far().to_json();
                assert_eq!(report["result_hash"], "", "{sets:?}");
            }
            until_ns += STEP_NS;
        }
        let report = session.report().to_json();
        assert_eq!(report["result_hash"], run_tiny(sets)["result_hash"], "{sets:?}");
        assert_eq!(done, 600, "{sets:?}");
        for work in [Work::Read, Work::Write] {
            assert!(works.contains(&work), "{sets:?}: {work:?} is never shown");
        }
        assert!(waited && collected, "{sets:?}: {waited} {collected}");
    }
}

fn check(sets: &[&str], picture: &Picture) {
    for &BlockPicture(state, valid, written) in &picture.blocks {
        assert!(valid <= written, "{sets:?}: {valid} of {written} pages are valid");
        assert!(state != 0 || written == 0, "{sets:?}: an erased block has {written} pages");
    }
    for unit in &picture.units {
        assert!(unit.since_ns <= picture.now_ns, "{sets:?}: {unit:?}");
        assert_eq!(unit.work == Work::Idle, unit.place == Place::Rest, "{sets:?}: {unit:?}");
        let arrivals = unit.queue.iter().filter_map(|waits| waits.1).chain(unit.serves_ns);
        for arrival in arrivals {
            assert!(arrival <= picture.now_ns, "{sets:?}: {arrival} is to come");
        }
        let Some(collection) = &unit.collection else { continue };
        for &victim in &collection.victims {
            assert_eq!(picture.blocks[victim as usize].0, 3, "{sets:?}: block {victim}");
        }
        assert!(!collection.erases || collection.left == 0, "{sets:?}: {collection:?}");
    }
}
