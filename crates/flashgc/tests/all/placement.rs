//! Placement by lifetime: each against a second program, tables that were derived by hand, and one
//! class against no separation.

use crate::common::{self, Choices, TINY, at, prepare_or_none, run, setup, whole};

use flashgc::config::Setup;
use flashgc::device::Geometry;
use flashgc::ftl::{BlockFacts, Writer};
use flashgc::gc::placement::{Copied, Placement, Policy, Write};
use flashgc::ids::{BlockId, Lpn};
use flashgc::sim::Sim;
use flashgc::workload::{HostOp, HostRequest, ListSource, Overwrites, SourceError};
use flashgc_oracles::lifetime::{AutoStream, Eti, Fadac, MultiLog, Sfs, Warcip};
use flashgc_oracles::placement::{BLOCKS, CLASSES, Dac, Log, One, PAGES, Rule, SepBit};
use serde_json::Value;

/// One plane: a single log.
const ONE_LOG: &[&str] = &[
    "device.channels=1",
    "device.chips_per_channel=1",
    "device.planes_per_die=1",
    "device.exported=0.78",
    "gc.trigger.watermark.soft=\"9 blocks\"",
];
const SOFT: usize = 9;
/// Writes of the timed part.
const WRITES: u64 = 10_000;
const SQRT_AGE: &[&str] =
    &["gc.victim.use=\"cost-benefit\"", "gc.victim.cost-benefit.form=\"sqrt-age\""];

/// The reserve of copies to many classes is larger than the space that greedy leaves. Their copies
/// go to the classes that have a block, until each plane has the reserve: 12 pages of the victim,
/// and 11 of each class but one.
#[test]
fn a_drive_that_greedy_filled_is_taken_over_by_every_placement() {
    let drive = [
        "device.blocks_per_plane=60",
        "device.pages_per_block=12",
        "gc.trigger.watermark.soft=\"10 blocks\"",
        "precondition.overwrite=1.5",
        "precondition.scheme=\"greedy\"",
        "workload.synthetic.requests=1",
    ];
    for placement in common::by_class() {
        for exported in ["device.exported=0.3", "device.exported=0.6", "device.exported=0.75"] {
            let own = format!("gc.placement.use=\"{placement}\"");
            let setup = prepare_or_none(TINY, &[&drive[..], &[&own, exported]].concat());
            let Some(setup) = setup else { continue };
            let reserve = u64::from(setup.plan.gc.reserve_pages);
            let classes = u64::from(setup.plan.gc.classes());
            let planes = u64::from(setup.plan.geometry.planes);
            let report =
                common::finish(setup, None, true).unwrap_or_else(|why| panic!("{own}: {why}"));
            if reserve > 0 {
                assert_eq!(reserve, 12 + (classes - 1) * 11, "{own}");
            }
            let free = whole(&report, "steady.free_pages_begin");
            assert!(free >= reserve * planes, "{own} {exported}: {free} of {reserve}");
        }
    }
}

fn one_log(placement: &str, by_age: bool, sets: &[&str]) -> Setup {
    let sizes = [
        format!("device.blocks_per_plane={BLOCKS}"),
        format!("device.pages_per_block={PAGES}"),
        format!("gc.placement.use=\"{placement}\""),
    ];
    let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
    setup(TINY, &[ONE_LOG, &sizes, if by_age { SQRT_AGE } else { &[] }, sets].concat())
}

/// The placements that need no more than the number of classes.
const WORDS: [&str; 8] =
    ["dac", "sepbit", "sfs", "multilog", "eti", "autostream", "fadac", "warcip"];

fn rule(placement: &str, data: usize) -> Box<dyn Rule> {
    match placement {
        "one-frontier" => Box::new(One),
        "dac" => Box::new(Dac(vec![0; data])),
        "sepbit" => Box::new(SepBit::new(data)),
        "sfs" => Box::new(Sfs::new(data)),
        "multilog" => Box::new(MultiLog::new(data)),
        "eti" => Box::new(Eti::new(data)),
        "autostream" => Box::new(AutoStream::new(data)),
        "fadac" => Box::new(Fadac::new(data)),
        "warcip" => Box::new(Warcip::new(data)),
        _ => unreachable!("{placement}"),
    }
}

/// 80 % of the writes to a tenth of the pages, which lie scattered; or runs of one to eight pages,
/// most of them in the first tenth.
struct Skewed {
    choices: Choices,
    data: usize,
    in_runs: bool,
    next: usize,
    left: usize,
}

impl Skewed {
    fn new(data: usize, in_runs: bool) -> Skewed {
        Skewed { choices: Choices::new(11), data, in_runs, next: 0, left: 0 }
    }

    fn draw(&mut self) -> usize {
        if self.in_runs {
            if self.left == 0 {
                let range = if self.choices.below(10) < 8 { self.data / 10 } else { self.data };
                (self.next, self.left) = (self.choices.below(range), 1 + self.choices.below(8));
            }
            self.left -= 1;
            self.next = (self.next + 1) % self.data;
            return self.next;
        }
        let range = if self.choices.below(10) < 8 { self.data / 10 } else { self.data };
        self.choices.below(range) * 389 % self.data
    }
}

impl Overwrites for Skewed {
    fn next(&mut self) -> Result<Lpn, SourceError> {
        Ok(Lpn(self.draw() as u32))
    }
}

fn compare(placement: &str, by_age: bool, in_runs: bool) {
    // All chunks of such a small drive are hot.
    let least = if placement == "autostream" { 2 } else { 3 };
    compare_after(20, placement, &[], &|data| rule(placement, data), [by_age, in_runs], least);
}

/// The copies of the model and the engine agree to the page, in the untimed part, in which the
/// drive is overwritten this many times, and by class in the timed one. The requests come one after
/// the other.
pub fn compare_after(
    times: usize,
    placement: &str,
    sets: &[&str],
    rule: &dyn Fn(usize) -> Box<dyn Rule>,
    [by_age, in_runs]: [bool; 2],
    least: usize,
) {
    let setup = one_log(placement, by_age, sets);
    let data = setup.plan.geometry.exported_pages as usize;
    assert_ne!(data % 389, 0, "every page can be drawn");
    let mut model = Log::new(rule(data), by_age, SOFT, data);
    let skewed = || Skewed::new(data, in_runs);
    let (mut drawn, mut untimed) = (skewed(), skewed());
    let first = times * data;
    (0..data).for_each(|page| model.write(page));
    (0..first).for_each(|_| model.write(drawn.draw()));
    let before = model.taken;
    model.rule.measured();
    let copies = |taken: [[u64; 2]; CLASSES]| taken.iter().map(|class| class[1]).sum::<u64>();

    let mut sim = Sim::new(setup.plan.clone(), common::checked(&setup));
    sim.untimed().fill(0, data as u32).expect("the fill fits");
    sim.untimed().overwrite(&mut untimed, first as u64).expect("there is space");
    assert_eq!(sim.untimed().pages_moved(), copies(before), "{placement} {by_age}");

    let request = |at: u64, op, page: usize| {
        HostRequest::from_bytes(at * 500_000_000, op, page as u64 * 4096, 4096, 4096)
    };
    let mut write = |at: u64| {
        let page = drawn.draw();
        model.write(page);
        request(at, HostOp::Write, page)
    };
    let mut requests: Vec<HostRequest> = (0..WRITES).map(&mut write).collect();
    // By then the last collection has ended.
    requests.push(request(WRITES, HostOp::Read, 0));
    let results = common::drain(&mut sim, &mut ListSource::new(requests), 10_000);
    let moved = copies(model.taken) - copies(before);
    assert_eq!(results.counters.gc_moved, moved, "{placement} {by_age} {}", results.jobs_open);
    assert!(copies(before) > first as u64 / 10, "{} copies", copies(before));
    let Some(found) = results.placement else { return assert_eq!(placement, "one-frontier") };
    assert_eq!(found.fallbacks, 0);
    let used = found.classes.iter().filter(|pages| pages.writes + pages.copies > 0).count();
    assert!(used >= least, "{placement}: {used} classes are used");
    for (class, pages) in found.classes.iter().enumerate() {
        let taken = |kind: usize| model.taken[class][kind] - before[class][kind];
        assert_eq!([pages.writes, pages.copies], [taken(0), taken(1)], "{placement} {class}");
    }
}

#[test]
fn copies_are_those_of_a_second_program() {
    for by_age in [false, true] {
        compare("one-frontier", by_age, false);
        for placement in WORDS {
            compare(placement, by_age, false);
            compare(placement, by_age, true);
        }
    }
}

/// All events, with one class and with one frontier.
#[test]
fn one_class_is_no_separation() {
    for more in [&[][..], SQRT_AGE, &["gc.copy.use=\"bus\""], &["device.allocation=\"dynamic\""]] {
        let one = run(TINY, &[more, &["gc.placement.use=\"one-frontier\""]].concat());
        assert!(whole(&one, "pages.gc_moved") > 1000);
        for word in WORDS {
            let word_key = format!("gc.placement.use=\"{word}\"");
            let classes = format!("gc.placement.{word}.classes=1");
            let found = run(TINY, &[more, &[&word_key, &classes]].concat());
            assert_eq!(found["result_hash"], one["result_hash"], "{word} {more:?}");
            assert_eq!(at(&found, "placement.fallbacks"), &Value::from(0));
            assert_eq!(at(&found, "placement.classes").as_array().map(Vec::len), Some(1));
        }
    }
}

/// A placement on a drive of `ONE_LOG`.
pub struct Table {
    pub policy: Policy,
    pub clock: u64,
    written: Vec<u32>,
}

impl Table {
    pub fn new(placement: &str) -> Table {
        let setup = one_log(placement, false, &[]);
        let settings = setup.plan.gc.placement.as_ref().expect("there are classes");
        let geometry: &Geometry = &setup.plan.geometry;
        Table { policy: Policy::new(settings, geometry, 1), clock: 0, written: Vec::new() }
    }

    /// The class of a write.
    pub fn write(&mut self, lpn: u32) -> u8 {
        self.clock += 1;
        let (clock, is_update) = (self.clock, self.written.contains(&lpn));
        self.written.push(lpn);
        let lpn = Lpn(lpn);
        self.policy.class_of_write(Write {
            lpn,
            is_update,
            writer: Writer::default(),
            clock,
            old: None,
        })
    }

    /// The class of a copy from a block of this class.
    pub fn copy(&mut self, lpn: u32, class: u8) -> u8 {
        let from = Some(facts(class, 0));
        let (lpn, clock) = (Lpn(lpn), self.clock);
        self.policy.class_of_copy(Copied { lpn, clock, from, is_current: true })
    }

    /// A block of this class that was opened then is collected.
    pub fn collect(&mut self, class: u8, opened: u64) {
        self.policy.collected(facts(class, opened), self.clock);
    }

    /// The page is trimmed.
    pub fn trim(&mut self, lpn: u32) {
        self.written.retain(|&written| written != lpn);
        self.policy.trimmed(Lpn(lpn));
    }

    /// The class of a write, whose page goes to this block.
    pub fn write_in(&mut self, lpn: u32, block: u32) -> u8 {
        let class = self.write(lpn);
        self.policy.placed(Lpn(lpn), BlockId(block));
        class
    }

    /// A block of this class is full.
    pub fn seal(&mut self, block: u32, class: u8) {
        self.policy.sealed(BlockFacts { block: BlockId(block), ..facts(class, 0) });
    }
}

fn facts(class: u8, opened: u64) -> BlockFacts {
    BlockFacts { block: BlockId(0), class: Some(class), opened, sealed: Some(opened), valid: 1 }
}

/// Page 7 climbs to the last of six levels and stays there; copies take it down again, at most to
/// the lowest. Page 8 is not touched by that.
#[test]
fn levels_of_dac_by_hand() {
    let mut table = Table::new("dac");
    let climbs: Vec<u8> = (0..8).map(|_| table.write(7)).collect();
    assert_eq!(climbs, [0, 1, 2, 3, 4, 5, 5, 5]);
    assert_eq!([table.write(8), table.copy(8, 0), table.write(8)], [0, 0, 1]);
    let sinks: Vec<u8> = (0..6).map(|_| table.copy(7, 5)).collect();
    assert_eq!(sinks, [4, 3, 2, 1, 0, 0]);
    assert_eq!([table.write(7), table.write(7), table.write(8)], [1, 2, 2]);
    // A page that was trimmed is new.
    table.written.clear();
    assert_eq!([table.write(7), table.write(7)], [0, 1]);
}

/// 16 blocks of class 0 that lived 10 pages on average make the threshold 10.
#[test]
fn classes_of_sepbit_by_hand() {
    let mut table = Table::new("sepbit");
    // New pages go to class 1, and every update to class 0 while the threshold is infinite.
    let first: Vec<u8> = (0..10).map(|lpn| table.write(lpn)).collect();
    assert_eq!(first, [1; 10]);
    assert_eq!([table.write(0), table.write(9)], [0, 0]);
    // Copies from class 0 go to class 2; others are young until they have a history.
    assert_eq!([table.copy(1, 0), table.copy(1, 1), table.copy(1, 5)], [2, 3, 3]);
    // Collected at 12: eight blocks that lived 8 pages, and eight that lived 12. Others do not
    // count.
    (0..8).for_each(|_| table.collect(0, 4));
    (0..5).for_each(|class| table.collect(1 + class, 0));
    (0..7).for_each(|_| table.collect(0, 0));
    assert_eq!(table.write(1), 0, "15 blocks are not 16: page 1 was written 11 pages ago");
    table.clock -= 1;
    table.collect(0, 0);
    // The next write has number 13. Page 3 was written as number 4, 9 pages before; page 4, as
    // number 5, 9 pages before number 14; page 2, as number 3, 12 pages before number 15.
    assert_eq!([table.write(3), table.write(4), table.write(2)], [0, 0, 1]);
    // Page 5 was written as number 6: exactly the threshold before number 16 is not below it.
    assert_eq!(table.write(5), 1);
    // Ages of copies: page 6 was written as number 7. Below 40, below 160, and older.
    for (clock, class) in [(46, 3), (47, 4), (166, 4), (167, 5)] {
        table.clock = clock;
        assert_eq!([table.copy(6, 1), table.copy(6, 0)], [class, 2], "{clock}");
    }
    // The mean of 16 others takes its place.
    (0..16).for_each(|_| table.collect(0, 67));
    table.clock = 400;
    assert_eq!(table.copy(6, 4), 3, "393 pages are less than 4 times 100");
}

#[test]
fn what_classes_cannot_be_combined_with_is_refused_with_a_reason() {
    let refusal = |sets: &[&str]| {
        let all = ["gc.placement.use=\"sepbit\"", "gc.trigger.watermark.soft=\"9 blocks\""];
        common::refusal(TINY, &[&["device.blocks_per_plane=60"][..], &all, sets].concat())
    };
    let blocks = ["gc.blocking.use=\"blocks\"", "gc.preemption.use=\"between-copies\""];
    assert!(refusal(&blocks).contains("has one for each class"));
    let slots = ["device.page_size=\"16 KiB\"", "device.mapping_unit=\"4 KiB\""];
    let small = ["device.allocation=\"dynamic\"", "device.write_buffer.size=\"64 KiB\""];
    let small = refusal(&[&slots[..], &small].concat());
    assert!(small.contains("write buffer"), "{small}");
    let odd_even = refusal(&["gc.copy.copyback.parity=true"]);
    assert!(odd_even.contains("sepbit cannot be combined with parity = true"), "{odd_even}");
}
