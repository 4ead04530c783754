//! Superblocks: planes that share their blocks (docs/superblocks.md).

use crate::common;
use crate::common::spy::{Record, spied};
use crate::drive::{preconditioned, run_on};

use common::{
    TINY, assert_near, at, drain, finish, number, prepare_or_none, refusal, run, run_verified,
    setup, synthetic, whole,
};
use flashgc::sim::Sim;
use flashgc::verify::{Happened, What};
use serde_json::Value;

/// The settings that every scheme needs on superblocks.
const COPIES: [&str; 2] = ["gc.copy.use=\"bus\"", "gc.placement.use=\"separate-gc\""];
const BUS: &str = "device.timing.transfer=\"1 ns/B\"";
const WORDS: [&str; 5] = ["plane", "die", "chip", "channel", "drive"];

/// The checker follows every page, the order of pages in each plane, and all times.
#[test]
fn schemes_work_on_superblocks() {
    for superblock in &WORDS[1..] {
        for unit in &WORDS[..4] {
            for scheme in ["greedy", "fifo", "d-choices", "ideal"] {
                let sets = [
                    format!("device.superblock=\"{superblock}\""),
                    format!("device.unit=\"{unit}\""),
                    format!("gc.scheme=\"{scheme}\""),
                ];
                let sets = sets.each_ref().map(String::as_str);
                let usual = ["device.blocks_per_plane=24", COPIES[1], BUS];
                let copies = if scheme == "ideal" { &[][..] } else { &COPIES[..1] };
                let all = [&usual[..], copies, &sets].concat();
                let place = |word| WORDS.iter().position(|other| other == word);
                if place(superblock) < place(unit) {
                    assert!(refusal(TINY, &all).contains("must be at least the unit"), "{sets:?}");
                    continue;
                }
                let report = run_verified(TINY, &all);
                assert!(whole(&report, "gc.count") > 0, "{sets:?}");
            }
        }
    }
}

/// A drive of one unit, in which this number of planes share blocks of 48 pages.
fn with_planes(planes: u32, sets: &[&str]) -> Value {
    let device = [
        format!("device.planes_per_die={planes}"),
        format!("device.pages_per_block={}", 48 / planes),
    ];
    let usual = [
        "device.channels=1",
        "device.chips_per_channel=1",
        "device.superblock=\"die\"",
        "device.blocks_per_plane=100",
        "device.exported=0.8",
        "workload.synthetic.requests=6_000",
        "workload.synthetic.queue_depth=1",
    ];
    let device = device.each_ref().map(String::as_str);
    run_verified(TINY, &[&device[..], &usual, &COPIES, sets].concat())
}

/// Data that a queued write replaces is valid until the write starts. Writes of 200 requests of 24
/// superblocks' spare space in all once took each free page, so that collections freed nothing: 353
/// programs for each page of the host, where a queue of one needs 1.5.
#[test]
fn a_queue_deeper_than_the_spare_space_leaves_something_to_collect() {
    let amplification = |depth: u32| {
        let depth = format!("workload.synthetic.queue_depth={depth}");
        let sizes = ["workload.synthetic.size=\"48 KiB\"", "workload.synthetic.requests=400"];
        let drive = ["device.blocks_per_plane=48", "device.exported=0.57"];
        let sets = [&sizes[..], &drive, &["gc.scheme=\"fifo\"", &depth]].concat();
        number(&with_planes(2, &sets), "write_amplification")
    };
    let (shallow, deep) = (amplification(1), amplification(200));
    assert!((1.2..1.8).contains(&shallow), "{shallow}");
    assert!(deep < 1.5 * shallow, "{deep} with a deep queue, {shallow} with a shallow one");
}

/// Superblocks in one unit give the results of larger blocks of one plane, to the page.
#[test]
fn superblocks_of_one_unit_are_larger_blocks_of_one_plane() {
    let keys = ["pages.gc_moved", "gc.count", "precondition.programmed_pages"];
    for victim in ["greedy", "fifo", "d-choices", "random", "cost-benefit"] {
        let victim = format!("gc.victim.use=\"{victim}\"");
        let form = "gc.victim.cost-benefit.form=\"sqrt-age\"";
        let form = if victim.contains("cost") { &[form][..] } else { &[] };
        for timing in ["none", "events"] {
            let timing = format!("engine.timing=\"{timing}\"");
            let sets = [&[victim.as_str(), &timing], form].concat();
            let large = with_planes(1, &sets);
            assert!(whole(&large, "gc.count") > 100, "{sets:?}");
            for planes in [2, 4, 6] {
                let shared = with_planes(planes, &sets);
                for key in keys {
                    assert_eq!(whole(&shared, key), whole(&large, key), "{planes} {sets:?} {key}");
                }
                let [found, expected] = [&shared, &large].map(|report| at(report, "wear"));
                assert_eq!(found, expected, "{planes} planes, {sets:?}");
            }
        }
    }
}

/// Placements with one class, with several, and placements that use the future.
fn placements() -> impl Iterator<Item = &'static str> {
    ["one-frontier", "oracle"].into_iter().chain(common::by_class())
}

/// So do placements: each class has a superblock.
#[test]
fn classes_of_superblocks_are_those_of_larger_blocks() {
    let keys = ["pages.gc_moved", "gc.count", "precondition.programmed_pages"];
    for placement in placements() {
        let usual = [
            format!("gc.placement.use=\"{placement}\""),
            "workload.synthetic.address.zipf=1.0".into(),
            "gc.trigger.watermark.soft=\"14 blocks\"".into(),
            "workload.synthetic.trim_share=0.05".into(),
            "device.exported=0.6".into(),
        ];
        for timing in ["none", "events"] {
            let timing = format!("engine.timing=\"{timing}\"");
            let mut sets = usual.each_ref().map(String::as_str).to_vec();
            sets.push(&timing);
            let large = with_planes(1, &sets);
            assert!(whole(&large, "gc.count") > 20, "{sets:?}");
            for planes in [2, 6] {
                let shared = with_planes(planes, &sets);
                for key in keys {
                    assert_eq!(whole(&shared, key), whole(&large, key), "{planes} {sets:?} {key}");
                }
                for key in ["wear", "placement"] {
                    assert_eq!(shared.get(key), large.get(key), "{planes} {sets:?} {key}");
                }
            }
        }
    }
}

/// The checker follows the order of pages in each plane, which writes and copies of a class share.
#[test]
fn classes_work_on_superblocks_of_several_units() {
    for superblock in &WORDS[1..] {
        for unit in ["plane", "die", "channel"] {
            for placement in placements() {
                let sets = [
                    format!("device.superblock=\"{superblock}\""),
                    format!("device.unit=\"{unit}\""),
                    format!("gc.placement.use=\"{placement}\""),
                ];
                let sets = sets.each_ref().map(String::as_str);
                let usual = [
                    "device.blocks_per_plane=60",
                    "device.exported=0.5",
                    "gc.trigger.watermark.soft=\"14 blocks\"",
                    "workload.synthetic.address.zipf=1.0",
                    "workload.synthetic.queue_depth=32",
                    "workload.synthetic.size=\"10 KiB\"",
                    BUS,
                    COPIES[0],
                ];
                let all = [&usual[..], &sets].concat();
                let place = |word: &str| WORDS.iter().position(|other| *other == word);
                if place(superblock) < place(unit) {
                    continue;
                }
                let report = run_verified(TINY, &all);
                assert!(whole(&report, "gc.count") > 0, "{sets:?}");
            }
        }
    }
}

/// A channel of six units, and blocks of whose planes the last pages are left to write.
const NEARLY_FULL: &str = r#"
[device]
channels = 1
chips_per_channel = 3
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 13
pages_per_block = 3
page_size = "1536 B"
exported = 0.5
unit = "plane"
superblock = "channel"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "0 ns/B"
[gc]
copy.use = "bus"
[workload.synthetic]
requests = 200
queue_depth = 1
read_share = 0.0
size = "4 KiB"
[precondition]
fill = "aged"
aged_ratio = 0.8
"#;

/// Blocks were sealed by units that claim no victim, and the unit that does had nothing to do: it
/// was not notified of a block to collect, and the drive ended full.
#[test]
fn a_block_that_another_unit_seals_is_collected() {
    let mut runs = 0;
    for superblock in ["chip", "channel", "drive"] {
        for placement in placements().chain(["separate-gc"]) {
            for percent in (40..=90).step_by(2) {
                let sets = [
                    format!("device.superblock=\"{superblock}\""),
                    format!("gc.placement.use=\"{placement}\""),
                    format!("precondition.aged_ratio=\"{percent}%\""),
                ];
                let sets = sets.each_ref().map(String::as_str);
                // Several classes have a reserve that does not fit with this share of aged blocks.
                let Some(setup) = prepare_or_none(NEARLY_FULL, &sets) else { continue };
                let report = finish(setup, None, true).unwrap_or_else(|e| panic!("{sets:?} {e}"));
                assert!(whole(&report, "gc.count") > 0, "{sets:?}");
                runs += 1;
            }
        }
    }
    assert!(runs > 140, "{runs}");
}

/// Greedy on 500 superblocks of 256 pages, of which collection keeps seven and two halves are open,
/// tends to the closed form of FIFO: a victim of age N(1 - v) writes has a valid share of
/// v = exp(-(1 - v) (N - H) / (N rho)), and A = 1 / (1 - v).
#[test]
fn greedy_over_superblocks_tends_to_the_form_of_fifo() {
    let (blocks, kept, share) = (500.0, 7.5, 0.85);
    let mut valid: f64 = 0.7;
    for _ in 0..1000 {
        valid = (-(1.0 - valid) * (blocks - kept) / (blocks * share)).exp();
    }
    let form = 1.0 / (1.0 - valid);
    assert_near("the form", form, 3.832, 0.001);
    let of = |sets: &[&str]| {
        let usual = [
            "engine.timing=\"none\"",
            "device.blocks_per_plane=500",
            "device.pages_per_block=32",
            "device.exported=0.85",
            "gc.trigger.watermark.soft=\"7 blocks\"",
            "workload.synthetic.read_share=0.0",
            "workload.synthetic.requests=400_000",
            "precondition.overwrite=6.0",
        ];
        number(&run(TINY, &[&usual[..], &COPIES, sets].concat()), "write_amplification")
    };
    let drive = "device.superblock=\"drive\"";
    let greedy = of(&[drive]);
    assert_near("fifo", of(&[drive, "gc.victim.use=\"fifo\""]), form, 0.01);
    assert_near("greedy", greedy, 3.80, 0.01);
    // With the same number of reserved blocks in each of eight planes, smaller blocks cost less.
    let planes = of(&[]);
    assert!(planes < 0.97 * greedy, "{planes} by planes, {greedy} by superblocks");
}

/// Operations of each unit, by name.
#[derive(Default)]
struct Worked {
    erases: Vec<u64>,
    programs: Vec<u64>,
}

impl Record for Worked {
    fn observe(&mut self, _now_ns: u64, happened: Happened) {
        let Happened::Busy { what: What::Operation(name, _), unit, .. } = happened else { return };
        let counts = match name {
            "erase" => &mut self.erases,
            "program" | "program-copy" => &mut self.programs,
            _ => return,
        };
        counts.resize(counts.len().max(unit.index() + 1), 0);
        counts[unit.index()] += 1;
    }
}

/// All units of a superblock are worn alike.
#[test]
fn wear_is_even_over_the_units_of_a_superblock() {
    let usual = ["device.superblock=\"drive\"", "device.blocks_per_plane=24", BUS];
    let setup = setup(TINY, &[&usual[..], &COPIES].concat());
    let (watch, worked) = spied(Worked::default());
    let mut sim = Sim::new(setup.plan.clone(), watch);
    sim.untimed().fill(0, setup.plan.geometry.exported_pages).expect("the fill fits");
    let results = drain(&mut sim, &mut synthetic(&setup), 10_000);
    let Worked { erases, programs } = &*worked.lock().expect("the run has ended");
    let collections = results.counters.erases;
    assert!(collections > 10, "{collections}");
    assert_eq!(erases.len(), 4);
    let open = erases.iter().filter(|&&count| count > collections).count();
    let is_even = |count: &u64| (collections..=collections + 1).contains(count);
    assert!(erases.iter().all(is_even) && open < 4, "{erases:?} of {collections}");
    // A stripe of two pages of each unit may be begun by the host, and another by copies.
    let (least, most) = (programs.iter().min(), programs.iter().max());
    assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 16), "{programs:?}");
}

/// Writes in sequence keep all units busy, as with striped planes.
#[test]
fn writes_in_sequence_reach_the_bandwidth_of_striped_planes() {
    let of = |superblock: &str, unit: &str| {
        let sets =
            [format!("device.superblock=\"{superblock}\""), format!("device.unit=\"{unit}\"")];
        let sets = sets.each_ref().map(String::as_str);
        let usual = [
            "device.blocks_per_plane=64",
            "workload.synthetic.read_share=0.0",
            "workload.synthetic.sequential_share=1.0",
            "workload.synthetic.requests=2_000",
            "workload.synthetic.queue_depth=64",
            "precondition.fill=\"none\"",
            "precondition.overwrite=0.0",
            BUS,
        ];
        let report = run_verified(TINY, &[&usual[..], &COPIES, &sets].concat());
        assert_eq!(whole(&report, "gc.count"), 0, "{sets:?}");
        number(&report, "throughput.bytes_per_s")
    };
    for unit in ["plane", "die"] {
        let striped = of("plane", unit);
        let units = if unit == "plane" { 8.0 } else { 4.0 };
        assert_near(unit, striped, units * 4096.0 * 1e9 / 204_096.0, 0.02);
        for superblock in &WORDS[1..] {
            assert_near(superblock, of(superblock, unit), striped, 0.01);
        }
    }
}

/// A collection of a superblock copies and erases in all its units at once.
#[test]
fn the_units_of_a_superblock_collect_at_once() {
    let usual = ["device.blocks_per_plane=24", "workload.synthetic.read_share=0.0", BUS];
    let of = |sets: &[&str]| run_verified(TINY, &[&usual[..], &COPIES, sets].concat());
    let (report, planes) = (of(&["device.superblock=\"drive\""]), of(&[]));
    let at_once = |report: &Value| {
        let [busy, elapsed] = ["gc.busy_ns", "gc.elapsed_ns"].map(|key| number(report, key));
        busy / elapsed
    };
    let [shared, alone] = [&report, &planes].map(at_once);
    assert!(shared > 2.0 && alone <= 1.0, "{shared} and {alone} of four dies");
    let [amplified, usual] = [&report, &planes].map(|report| number(report, "write_amplification"));
    assert!(amplified > usual, "{amplified} by superblocks, {usual} by planes");
}

/// Reads and writes wait for an operation of a collection in place of a whole one, each copy is
/// paid for, and nothing else changes but the moments of collections.
#[test]
fn collections_of_superblocks_make_way_for_requests() {
    let tokens = "gc.pacing.use=\"tokens\"";
    let usual = ["device.blocks_per_plane=40", "gc.trigger.watermark.soft=\"8 blocks\"", BUS];
    for superblock in &WORDS[1..] {
        let superblock = format!("device.superblock=\"{superblock}\"");
        let of = |sets: &[&str]| {
            let load = ["workload.synthetic.read_share=0.3", "workload.synthetic.queue_depth=8"];
            run_verified(TINY, &[&usual[..], &COPIES, &load, &[&superblock], sets].concat())
        };
        let (at_once, paced) = (of(&[]), of(&[tokens]));
        let preempted = of(&["gc.preemption.use=\"between-copies\""]);
        let p99 = |report: &Value, of: &str| number(report, &format!("latency_ns.{of}.p99"));
        for report in [&paced, &preempted] {
            assert!(whole(report, "gc.count") > 0, "{superblock}");
            let share = p99(report, "read") / p99(&at_once, "read");
            assert!(share < 0.7, "{superblock}: p99 of reads is {share} of that without pauses");
        }
        // Without its cost it has no pauses.
        let [free, free_paced] = [&[][..], &[tokens]].map(|sets| {
            let report = of(&[sets, &["gc.cost=\"none\""]].concat());
            (report["latency_ns"].clone(), whole(&report, "gc.count"))
        });
        assert_eq!(free, free_paced, "{superblock}");
        assert_eq!(whole(&paced, "gc.unpaid_copies"), 0, "{superblock}");
        assert!(whole(&paced, "gc.copies_between_writes_max") <= 16, "{superblock}");
    }
}

/// The same with slots that programs join.
#[test]
fn collections_of_slots_make_way_for_requests() {
    let usual = [
        "device.superblock=\"drive\"",
        "device.page_size=\"16 KiB\"",
        "device.mapping_unit=\"4 KiB\"",
        "device.allocation=\"dynamic\"",
        "device.blocks_per_plane=40",
        "gc.trigger.watermark.soft=\"8 blocks\"",
        BUS,
    ];
    let of = |sets: &[&str]| run_verified(TINY, &[&usual[..], &COPIES, sets].concat());
    let p99 = |report: &Value| number(report, "latency_ns.read.p99");
    let at_once = of(&[]);
    for set in ["gc.pacing.use=\"tokens\"", "gc.preemption.use=\"between-copies\""] {
        let report = of(&[set]);
        assert!(whole(&report, "gc.count") > 0);
        let share = p99(&report) / p99(&at_once);
        assert!(share < 0.7, "{set}: p99 of reads is {share} of that without pauses");
    }
}

#[test]
fn what_does_not_work_is_refused_with_a_reason() {
    let refused = |sets: &[&str]| {
        let usual = ["device.superblock=\"drive\"", "device.blocks_per_plane=24"];
        refusal(TINY, &[&usual[..], &COPIES, sets].concat())
    };
    let cases: [(&[&str], &str); 20] = [
        (&["gc.copy.use=\"copyback\""], "copies go through the controller"),
        (&["device.multi_plane=2"], "remove device.multi_plane"),
        (&["device.allocation=\"dynamic\""], "nothing is left to choose"),
        (&["device.write_buffer.size=\"64 KiB\""], "remove device.write_buffer"),
        (&["device.write_completion=\"loaded\""], "its place in the superblock"),
        (&["device.cache_operations=\"both\""], "follow one another"),
        (&["device.independent_plane_reads=true"], "follow one another"),
        (&["device.summary.pages=1"], "a summary has no place"),
        (&["device.read_retry={cycles=100,retention_days=30}"], "remove device.read_retry"),
        (&["device.pages_per_program=2", "device.allocation=\"when-idle\""], "left to choose"),
        (&["gc.erase.use=\"blocks\"", "gc.erase.blocks.count=2"], "erased as a whole"),
        (
            &[
                "gc.blocking.use=\"chip\"",
                "gc.blocking.chip.erasing=\"die\"",
                "device.unit=\"die\"",
            ],
            "closes all its planes",
        ),
        (&["gc.trigger.watermark.idle_units=false"], "only some of them"),
        (&["gc.pacing.use=\"time-slices\""], "no unit has the time slice"),
        (&["gc.pacing.use=\"tokens\"", "gc.placement.use=\"one-frontier\""], "in order"),
        (
            &["gc.preemption.use=\"suspend\"", "device.suspend.suspend=\"5 us\""],
            "\"between-copies\"",
        ),
        (
            &["gc.preemption.use=\"between-copies\"", "gc.preemption.between-copies.merge=true"],
            "served from its register",
        ),
        (
            &["gc.pacing.use=\"tokens\"", "device.suspend={suspend=\"5 us\", host_programs=true}"],
            "could pass the program of a copy",
        ),
        (&["device.pages_per_block=60_000", "device.planes_per_die=32"], "at most 4194304 pages"),
        (&["device.superblock=\"super\""], "drive"),
    ];
    for (sets, reason) in cases {
        let text = refused(sets);
        assert!(text.contains(reason), "{sets:?}\n{text}");
    }
}

/// A saved drive resumes at its write positions, and keeps its superblocks.
#[test]
fn a_saved_drive_keeps_its_superblocks() {
    let of = |sets: &[&str]| {
        let usual = ["device.blocks_per_plane=24", "device.exported=0.5"];
        setup(TINY, &[&usual[..], &COPIES, sets].concat())
    };
    let own = ["device.superblock=\"drive\""];
    let drive = preconditioned(&of(&own), None, false);
    let whole = run_verified(
        TINY,
        &[&["device.blocks_per_plane=24", "device.exported=0.5"][..], &COPIES, &own].concat(),
    );
    let taken_over = run_on(&of(&own), drive.clone(), true).expect("it runs");
    for key in ["pages", "gc", "wear", "latency_ns"] {
        assert_eq!(at(&taken_over, key), at(&whole, key), "{key}");
    }
    let other = ["device.superblock=\"channel\""];
    let error = run_on(&of(&other), drive, false).expect_err("it does not fit");
    let part = "device.superblock: \"drive\" in the drive, \"channel\" in the configuration";
    assert!(error.contains(part), "{error}");
}
