//! Faults of the engine that random histories found, each as a test named for it.

use crate::common;

use common::{TINY, at, checked, drain, finish, run, run_verified, setup, synthetic, whole};
use flashgc::config::presets::scheme_names;
use flashgc::ids::UnitId;
use flashgc::session::{Options, Phase, RunError, SavedDrive, Session};
use flashgc::sim::{Sim, SimError};
use serde_json::Value;

/// Two channels of two dies of two planes, with sub-blocks.
const EIGHT_PLANES: &str = r#"
seed = 1
[device]
channels = 2
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 2
blocks_per_plane = 12
pages_per_block = 40
sub_blocks = 4
page_size = "12 KiB"
exported = 0.5055
unit = "plane"
allocation = "dynamic"
[device.timing]
read = "333 ns"
program = "1 ns"
erase = "1 ns"
transfer = "5 ns/B"
[gc]
scheme = "gsm"
copy.use = "parallel"
copy.parallel.path = "global"
preemption.use = "between-copies"
[gc.trigger.watermark]
soft = "4 blocks"
hard = "2 blocks"
[workload.synthetic]
requests = 3_000
read_share = 0.0
size = "48 KiB"
interarrival = { fixed = "1 us" }
[precondition]
fill = "sequential"
overwrite = 1.0
"#;

/// One plane of 25 blocks of 16 pages.
const ONE_PLANE: &str = r#"
seed = 1
[device]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 25
pages_per_block = 16
page_size = "4 KiB"
exported = 0.7
unit = "plane"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "0 ns/B"
[workload.synthetic]
requests = 3_000
read_share = 0.3
[precondition]
fill = "sequential"
overwrite = 1.0
"#;

pub fn seeded(text: &str, seed: u32) -> String {
    text.replace("seed = 1\n", &format!("seed = {seed}\n"))
}

/// Writes that no plane accepted went from one to the next and back, for ever, in one instant.
#[test]
fn writes_that_no_plane_lets_in_wait_and_do_not_wander() {
    let times = ["timing.read=\"25 us\"", "timing.program=\"200 us\"", "timing.erase=\"1500 us\""];
    let slow = times.map(|time| format!("device.{time}"));
    for registers in ["device.registers=1", "device.registers=2", "device.registers=4"] {
        for share in ["0.0", "0.5"] {
            let share = format!("workload.synthetic.read_share={share}");
            for seed in 1..=2 {
                let text = seeded(EIGHT_PLANES, seed);
                let mut sets = vec![registers, &share];
                assert_eq!(requests(&run_verified(&text, &sets)), 3_000);
                sets.extend(slow.iter().map(String::as_str));
                assert_eq!(requests(&run_verified(&text, &sets)), 3_000);
            }
        }
    }
}

/// The fault with suspended operations, with dies as units, and with pre-migration.
#[test]
fn writes_do_not_wander_where_operations_are_suspended_and_pages_move_ahead() {
    for (seed, copy) in [(1, "copyback"), (2, "bus"), (3, "parallel"), (4, "parallel")] {
        for of in ["any", "erase"] {
            let copy = format!("gc.copy.use=\"{copy}\"");
            let of = format!("gc.preemption.suspend.of=\"{of}\"");
            let sets = [
                copy.as_str(),
                &of,
                "gc.copy.parallel.path=\"global\"",
                "gc.preemption.use=\"suspend\"",
                "gc.background.use=\"pre-migration\"",
                "gc.background.pre-migration.distance=\"20%\"",
                "device.unit=\"die\"",
                "device.suspend.suspend=\"20 us\"",
                "device.suspend.resume=\"5 us\"",
                "device.timing.program=\"200 us\"",
                "device.timing.erase=\"1.5 ms\"",
                "workload.synthetic.interarrival={exponential=\"300 us\"}",
            ];
            assert_eq!(requests(&run_verified(&seeded(EIGHT_PLANES, seed), &sets)), 3_000);
        }
    }
}

/// The error of a run that would never leave one instant.
#[test]
fn an_instant_without_end_is_an_error_that_names_its_units() {
    let message = |count: u32| {
        let units = (0..count).map(|unit| UnitId(3 * unit)).collect();
        RunError::from(SimError::Endless { at_ns: 1_234, units, waiting: 56 }).to_string()
    };
    assert!(message(1).contains("at 1234 ns: nothing starts on unit 0 after"), "{}", message(1));
    assert!(message(2).contains("nothing starts on units 0, 3 after"), "{}", message(2));
    assert!(message(10).contains("15, 18, 21 and 2 more"), "{}", message(10));
    assert!(message(2).contains("waiting requests: 56") && message(2).contains("please report it"));
}

fn requests(report: &Value) -> u64 {
    whole(report, "requests.read") + whole(report, "requests.write")
}

/// Sub-blocks that layers isolate differ in size: two small ones were filled and a large one freed,
/// until the erased ones were enough by number and not by their pages.
#[test]
fn the_reserve_holds_pages_enough_where_sub_blocks_differ_in_size() {
    let device = ["device.sub_blocks=4", "device.layers=8", "device.exported=0.448"];
    let all = ["workload.synthetic.write_high_share=1.0"];
    let load = ["workload.synthetic.interarrival={fixed=\"300 us\"}"];
    for seed in 1..=6 {
        for scheme in ["pb", "speedup-pb"] {
            for preemption in ["never", "between-copies"] {
                let (scheme, preemption) = (
                    format!("gc.scheme=\"{scheme}\""),
                    format!("gc.preemption.use=\"{preemption}\""),
                );
                let own = [scheme.as_str(), &preemption];
                let sets = [&device[..], &all, &load, &own].concat();
                match finish_or_refuse(&seeded(ONE_PLANE, seed), &sets) {
                    Some(report) => assert_eq!(requests(&report), 3_000),
                    // Seven groups of pages need more blocks than this plane has.
                    None => assert!(own[0].contains("speedup-pb")),
                }
            }
        }
    }
}

fn finish_or_refuse(text: &str, sets: &[&str]) -> Option<Value> {
    let setup = flashgc::session::prepare(&common::inputs(text, sets)).ok()?;
    Some(finish(setup, None, true).unwrap_or_else(|error| panic!("{sets:?}\n{error}")))
}

/// Under the odd/even rule a merged write took a page of the other kind, which the collection then
/// lacked.
#[test]
fn a_merged_write_takes_the_page_of_the_copy_that_it_replaces() {
    let sets = [
        "gc.scheme=\"pgc-merge\"",
        "gc.copy.use=\"parallel\"",
        "gc.victim.use=\"random\"",
        "gc.trigger.watermark.hard=\"none\"",
        "device.registers=2",
        "workload.synthetic.queue_depth=8",
    ];
    for seed in 1..=6 {
        let report = run_verified(&seeded(ONE_PLANE, seed), &sets);
        assert_eq!(requests(&report), 3_000);
        assert!(whole(&report, "gc.merged_write") > 0);
    }
}

/// A session that is ready to be measured.
pub fn saved(text: &str, sets: &[&str]) -> SavedDrive {
    let mut session = Session::new(setup(text, sets), None, Options::default());
    while session.advance().expect("it goes on").phase != Phase::Ready {}
    session.into_drive().expect("it is preconditioned")
}

pub fn on_saved(text: &str, sets: &[&str], drive: SavedDrive) -> Value {
    let options = Options { verify: true, ..Options::default() };
    let session = Session::with_drive(setup(text, sets), None, drive, "a.drive", options);
    let mut session = session.unwrap_or_else(|error| panic!("{sets:?}\n{error}"));
    while session.advance().expect("it goes on").phase != Phase::Done {}
    session.report().to_json()
}

/// Large enough for every scheme: sub-blocks, layers, groups, suspension and a buffer.
const ANY_SCHEME: &str = r#"
seed = 3
[device]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 128
pages_per_block = 32
sub_blocks = 4
layers = 16
registers = 2
page_size = "4 KiB"
exported = 0.45
unit = "die"
[device.suspend]
suspend = "20 us"
resume = "5 us"
[device.write_buffer]
size = "64 KiB"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "0 ns/B"
[workload.synthetic]
requests = 20_000
read_share = 0.2
address = { zipf = 1.1 }
interarrival = { exponential = "400 us" }
[precondition]
fill = "sequential"
overwrite = 1.5
"#;

/// Counters of hot pages and the groups of blocks were lost when a drive was saved.
#[test]
fn a_saved_drive_gives_the_result_of_a_direct_run_under_every_scheme() {
    let mut kept = 0;
    for scheme in scheme_names() {
        let scheme_set = format!("gc.scheme=\"{scheme}\"");
        let sets = [scheme_set.as_str()];
        let direct = finish(setup(ANY_SCHEME, &sets), None, true).expect("it runs");
        let drive = saved(ANY_SCHEME, &sets);
        kept += u32::from(drive.state.kept.is_some());
        let report = on_saved(ANY_SCHEME, &sets, drive);
        for key in ["erases", "pages", "latency_ns", "wear", "gc"] {
            assert_eq!(at(&report, key), at(&direct, key), "{scheme}: {key}");
        }
        assert_eq!(at(&report, "result_hash"), at(&direct, "result_hash"), "{scheme}");
        assert!(!at(&report, "notes").to_string().contains("hotness counters"), "{scheme}");
    }
    assert!(kept >= 2, "schemes that keep something: {kept}");
}

#[test]
fn what_a_scheme_keeps_is_dropped_for_another_and_said() {
    let isolation = "gc.erase.sub-blocks.isolation=\"software\"";
    let speedup = ["gc.scheme=\"speedup\""];
    let gsm = ["gc.scheme=\"gsm\"", isolation];
    let notes = |report: &Value| at(report, "notes").to_string();
    let on_gsm = on_saved(ANY_SCHEME, &gsm, saved(ANY_SCHEME, &speedup));
    assert!(notes(&on_gsm).contains("they were dropped"), "{}", notes(&on_gsm));
    let on_speedup = on_saved(ANY_SCHEME, &speedup, saved(ANY_SCHEME, &gsm));
    assert!(notes(&on_speedup).contains("has no hotness counters"), "{}", notes(&on_speedup));
    let other = ["gc.scheme=\"speedup\"", "gc.placement.hotness-groups.decay=1000"];
    let on_other = on_saved(ANY_SCHEME, &other, saved(ANY_SCHEME, &speedup));
    assert!(notes(&on_other).contains("do not fit this scheme"), "{}", notes(&on_other));
}

/// Numbers from a file that agree with nothing are refused, and break nothing.
#[test]
fn what_a_scheme_kept_is_checked_before_it_is_used() {
    what_was_kept_is_checked("speedup", "hotness counters", 30);
    what_was_kept_is_checked("midas", "groups of blocks", 20);
}

fn what_was_kept_is_checked(scheme: &str, name: &str, least: u32) {
    let scheme = format!("gc.scheme=\"{scheme}\"");
    let sets = [scheme.as_str()];
    let drive = saved(ANY_SCHEME, &sets);
    let count = drive.state.kept.as_ref().expect("it keeps something").numbers.len();
    let mut choices = common::Choices::new(9);
    let mut refused = 0;
    for _ in 0..60 {
        let mut other = drive.clone();
        let numbers = &mut other.state.kept.as_mut().expect("as before").numbers;
        match choices.below(3) {
            0 => numbers.truncate(choices.below(count)),
            1 => numbers.push(7),
            // Behind the counters, any of which may be right.
            _ => {
                let at = count - 1 - choices.below(count.min(5_000));
                numbers[at] = choices.below(1 << 32) as u32;
            }
        }
        let options = Options::default();
        match Session::with_drive(setup(ANY_SCHEME, &sets), None, other, "a.drive", options) {
            Err(error) => refused += u32::from(error.to_string().contains(name)),
            Ok(mut session) => while session.advance().expect("it goes on").phase != Phase::Done {},
        }
    }
    assert!(refused > least, "{refused} of 60");
}

/// The first numbers behind the counters are the block of each plane to which cold pages go,
/// counted in its plane.
#[test]
fn a_saved_block_for_cold_pages_is_one_of_its_plane() {
    let sets = ["gc.scheme=\"speedup\""];
    let (own, drive) = (setup(ANY_SCHEME, &sets), saved(ANY_SCHEME, &sets));
    let shape = &own.plan.geometry.shape;
    let hotness = own.resolved_json()["gc"]["hotness_groups"].clone();
    let counters = whole(&hotness, "hash_functions") * whole(&hotness, "counters");
    let counters = counters.div_ceil(4) as u32;
    // The open blocks of each plane, the updates until the next decay, and the counters.
    let at = (own.plan.geometry.planes + 1 + counters) as usize;
    let blocks = shape.blocks_per_plane / shape.sub_blocks;
    for (block, is_one) in [(0, true), (blocks - 1, true), (blocks, false)] {
        let mut other = drive.clone();
        other.state.kept.as_mut().expect("it keeps something").numbers[at] = block;
        let own = setup(ANY_SCHEME, &sets);
        let taken = Session::with_drive(own, None, other, "a.drive", Options::default());
        assert_eq!(taken.is_ok(), is_one, "block {block} of {blocks}");
    }
}

/// A time slice shorter than a copy makes one whole copy, and the checker took that for a fault.
#[test]
fn a_turn_shorter_than_a_copy_makes_a_whole_one() {
    let text = TINY.replace("queue_depth = 8\n", "");
    for length in ["1 ns", "30 us", "225 us"] {
        let length = format!("gc.pacing.time-slices.length=\"{length}\"");
        for arrivals in ["exponential=\"300 us\"", "fixed=\"150 us\""] {
            let arrivals = format!("workload.synthetic.interarrival={{{arrivals}}}");
            let hard = "gc.trigger.watermark.hard=\"none\"";
            let sets = ["gc.pacing.use=\"time-slices\"", hard, length.as_str(), arrivals.as_str()];
            assert!(whole(&run_verified(&text, &sets), "gc.time_slices") > 0);
        }
    }
}

/// Work under way at the end was added to the counters each time that the results were requested.
#[test]
fn results_may_be_requested_twice() {
    for scheme in ["greedy", "parallel", "fpgc", "pregc", "gftl", "pgc-merge"] {
        for requests in [611, 997] {
            let scheme_set = format!("gc.scheme=\"{scheme}\"");
            let requests = format!("workload.synthetic.requests={requests}");
            let suspend = ["device.suspend.suspend=\"20 us\"", "device.suspend.resume=\"5 us\""];
            let soft = "gc.trigger.watermark.soft=\"4 blocks\"";
            let sets = [&[scheme_set.as_str(), &requests, soft][..], &suspend].concat();
            let setup = setup(TINY, &sets);
            let mut sim = Sim::new(setup.plan.clone(), checked(&setup));
            sim.untimed().fill(0, setup.plan.geometry.exported_pages).expect("it fits");
            let first = drain(&mut sim, &mut synthetic(&setup), 1_000);
            let again = sim.seen().results();
            assert_eq!(format!("{:?}", first.counters), format!("{:?}", again.counters));
            let shares = |results: &flashgc::measure::Results| {
                format!("{:?} {:?} {}", results.unit, results.bus, results.gc_transfer_ns)
            };
            assert_eq!(shares(&first), shares(&again));
        }
    }
}

/// A copy that had not ended was counted as wasted, and not as moved.
#[test]
fn no_more_copies_are_wasted_than_were_made() {
    for scheme in ["greedy", "parallel", "pgc", "pgc-merge", "fpgc", "pregc", "gftl"] {
        for copy in ["copyback", "bus", "parallel"] {
            for requests in 1..40 {
                let sets = [
                    &format!("gc.scheme=\"{scheme}\""),
                    &format!("gc.copy.use=\"{copy}\""),
                    &format!("workload.synthetic.requests={requests}"),
                    "device.suspend.suspend=\"20 us\"",
                    "device.suspend.resume=\"5 us\"",
                    "gc.trigger.watermark.soft=\"4 blocks\"",
                    "workload.synthetic.read_share=0.0",
                    "workload.synthetic.address={zipf=1.5}",
                ];
                let report = run(TINY, &sets);
                let made =
                    whole(&report, "pages.gc_moved") + whole(&report, "pages.background_moved");
                let wasted = whole(&report, "pages.wasted_copies");
                assert!(wasted <= made, "{sets:?}: {wasted} of {made}");
            }
        }
    }
}

/// A plane that had pages refused writes until its collection, which did not begin, since no
/// request waited at its unit. The only write waited at a plane that was full.
#[test]
fn a_plane_that_refuses_a_write_collects_for_it_although_nothing_waits_there() {
    let sets = [
        "device.dies_per_chip=2",
        "device.blocks_per_plane=29",
        "device.pages_per_block=5",
        "device.page_size=\"512 B\"",
        "device.exported=0.8963",
        "device.allocation=\"dynamic\"",
        "gc.trigger.watermark.soft=\"70% of spare\"",
        "gc.trigger.watermark.idle_units=false",
        "gc.preemption.use=\"between-copies\"",
        "workload.synthetic.requests=100",
        "workload.synthetic.interarrival={uniform=\"300 us\"}",
        "workload.synthetic.size=\"48 KiB\"",
        "workload.synthetic.write_sequential_share=0.5",
        "precondition.overwrite=0.0",
    ];
    for seed in 1..=6 {
        assert_eq!(requests(&run_verified(&seeded(ONE_PLANE, seed), &sets)), 100);
    }
}

/// Below the hard threshold writes waited for a collection. Next to a sub-block that is open no
/// window can be erased, and only those writes could have filled it.
#[test]
fn writes_do_not_wait_for_a_collection_that_has_no_victim() {
    let device = [
        "device.blocks_per_plane=9",
        "device.pages_per_block=20",
        "device.sub_blocks=2",
        "device.exported=0.3089",
        "gc.erase.use=\"sub-blocks\"",
        "gc.victim.use=\"recycle-benefit\"",
        "device.suspend.suspend=\"20 us\"",
        "workload.synthetic.requests=200",
        "workload.synthetic.interarrival={fixed=\"300 us\"}",
        "precondition.fill=\"aged\"",
        "precondition.aged_ratio=0.8",
        "precondition.overwrite=0.0",
    ];
    let two = ["device.dies_per_chip=2", "device.allocation=\"dynamic\""];
    for seed in 1..=6 {
        for preemption in ["between-copies", "suspend"] {
            let preemption = format!("gc.preemption.use=\"{preemption}\"");
            for planes in [&[][..], &two] {
                let sets = [&device[..], &[&preemption], planes].concat();
                assert_eq!(requests(&run_verified(&seeded(ONE_PLANE, seed), &sets)), 200);
            }
        }
    }
}

/// All blocks of the last group were fully valid, and the victim policy was restricted to them: its
/// collections freed no page for the writes that waited, again and again at one instant.
#[test]
fn policies_that_are_left_whole_blocks_alone_collect_others() {
    let sets = [
        "gc.placement.use=\"midas\"",
        "gc.placement.midas.sizes=[1,2]",
        "gc.copy.use=\"instant\"",
        "device.allocation=\"dynamic\"",
        "device.pages_per_block=24",
        "precondition.overwrite=0.0",
    ];
    for victim in ["second-chance", "fifo", "windowed-greedy", "random", "d-choices"] {
        let victim = format!("gc.victim.use=\"{victim}\"");
        let report = run_verified(TINY, &[&sets[..], &[&victim]].concat());
        assert_eq!(requests(&report), 3_000, "{victim}");
        assert!(whole(&report, "gc.count") > 0, "{victim}");
    }
}

/// Isolated sub-blocks have more even pages than odd ones: copies ran short of odd ones.
#[test]
fn the_host_takes_pages_of_the_kind_that_copies_have_to_spare() {
    let device = [
        "device.pages_per_block=16",
        "device.sub_blocks=4",
        "device.layers=16",
        "gc.erase.use=\"sub-blocks\"",
        "gc.erase.sub-blocks.isolation=\"hardware\"",
        "gc.victim.use=\"recycle-benefit\"",
        "gc.copy.copyback.parity=true",
        "gc.placement.use=\"separate-gc\"",
        "device.blocks_per_plane=32",
        "device.exported=0.684570312",
        "device.allocation=\"dynamic\"",
        "device.pool=\"chip\"",
        "workload.synthetic.address={zipf=1.1}",
        "precondition.overwrite=2.0",
        "gc.trigger.watermark.soft=\"4 blocks\"",
        "gc.trigger.watermark.compare=\"<=\"",
        "device.order=[\"plane\",\"die\",\"chip\",\"channel\"]",
    ];
    for seed in 1..=6 {
        assert_eq!(requests(&run_verified(&seeded(TINY, seed), &device)), 3_000, "{seed}");
    }
}
