//! Snapshots, detours and returns.

use super::{DRIVES, drive_of, hash, run, sets, submit, with_parts};
use crate::component::requests::random;
use flashgc::component::{Completion, Options, Why};
use flashgc::gc::given::{Given, GivenPolicies};
use flashgc::session;
use flashgc::workload::HostRequest;

#[test]
fn a_detour_leaves_no_trace() {
    let requests = random(6, 600);
    let detour = random(7, 100);
    for (number, sets_of_drive) in DRIVES.into_iter().enumerate() {
        let sets = sets(&[sets_of_drive]);
        let options = if number % 2 == 0 { Options::default() } else { with_parts() };
        let mut drive = drive_of(&sets, options);
        let mut done: Vec<Completion> = Vec::new();
        for (tag, request) in (0..).zip(&requests) {
            done.extend_from_slice(drive.advance(request.at_ns).expect("time passes"));
            if tag % 150 == 70 {
                let snapshot = drive.snapshot().unwrap_or_else(|why| panic!("{why}"));
                for _ in 0..2 {
                    for (tag, other) in (10_000..).zip(&detour) {
                        let at_ns = request.at_ns + other.at_ns;
                        submit(&mut drive, &HostRequest { at_ns, ..*other }, tag);
                    }
                    drive.drain().expect("the detour ends");
                    drive.restore(&snapshot).expect("it goes back");
                    assert_eq!(drive.now_ns(), request.at_ns);
                }
            }
            submit(&mut drive, request, tag);
        }
        done.extend_from_slice(drive.drain().expect("all are done"));
        assert_eq!(done.len(), requests.len(), "{sets:?}");
        assert!(done.iter().all(|done| done.tag < 10_000));
        let report = drive.finish().expect("a report").to_json();
        assert_eq!(hash(&report), hash(&run(&sets, &requests)), "{sets:?}");
    }
}

/// A snapshot is complete: the run after a restore repeats the first run from it, byte for byte.
#[test]
fn a_snapshot_has_the_requests_under_way_and_to_come() {
    let mut drive = drive_of(&sets(&[DRIVES[5]]), with_parts());
    let requests = random(8, 200);
    (0..).zip(&requests).for_each(|(tag, request)| submit(&mut drive, request, tag));
    drive.advance(requests[100].at_ns).expect("time passes");
    let snapshot = drive.snapshot().expect("a snapshot");
    let under_way = drive.under_way();
    let first = drive.drain().expect("all are done").to_vec();
    drive.restore(&snapshot).expect("it goes back");
    assert_eq!(drive.under_way(), under_way);
    assert_eq!(drive.drain().expect("all are done"), first);
}

#[test]
fn drives_that_cannot_be_copied_are_refused_with_the_reason() {
    let verify = session::Options { verify: true, ..session::Options::default() };
    let drive = drive_of(&sets(&[]), Options { session: verify, ..Options::default() });
    let why = drive.snapshot().err().expect("it is watched");
    assert_eq!(why.why, Why::NoSnapshot);
    assert!(why.text.contains("it is watched") && why.text.contains("= help: "), "{why}");

    let policies = GivenPolicies {
        victim: Some(Given::new("mine", |_| a_policy())),
        ..GivenPolicies::default()
    };
    let sets = sets(&[&["gc.victim.use=\"given\""]]);
    let inputs = session::Inputs { policies, ..crate::common::inputs(super::TEXT, &sets) };
    let setup = flashgc::component::setup(inputs).expect("it can be live");
    let drive = flashgc::Component::new(setup, Options::default()).expect("it is made");
    let why = drive.snapshot().err().expect("its state is the program's");
    assert!(why.text.contains("victim policy, \"mine\""), "{why}");
}

fn a_policy() -> Box<dyn flashgc::gc::victim::VictimPolicy> {
    struct Fewest;
    impl flashgc::gc::victim::VictimPolicy for Fewest {
        fn pick(
            &mut self,
            plane: flashgc::ids::PlaneId,
            candidates: &flashgc::gc::victim::Candidates<'_>,
            _random: &mut flashgc::rng::Random,
        ) -> Option<flashgc::ids::BlockId> {
            candidates.fewest_kept(plane)
        }
    }
    Box::new(Fewest)
}

#[test]
fn a_snapshot_of_another_component_is_refused() {
    let (mut one, two) =
        (drive_of(&sets(&[]), Options::default()), drive_of(&sets(&[]), Options::default()));
    let snapshot = two.snapshot().expect("a snapshot");
    let why = one.restore(&snapshot).expect_err("it is another's");
    assert_eq!(why.why, Why::AnotherComponent);
}
