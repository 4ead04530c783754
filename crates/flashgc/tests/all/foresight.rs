//! The oracle: it makes the copies of a second program, which records the writes of a first run
//! and foresees them in a second one; and with windows that grow it is not above any other
//! placement.

use crate::common::{
    BUFFER, MemoryTrace, TINY, finish, inputs, number, of_the_past, refusal, run, run_verified,
    setup,
};
use crate::oracles::LOG;

use flashgc::gc::given::{Given, GivenPlacement, GivenPolicies};
use flashgc::gc::placement::{Copied, Placement, Write};
use flashgc::session::{Inputs, Options, Phase, Session, prepare};
use serde_json::Value;
use std::sync::{Arc, Mutex};

const NEVER: u64 = u64::MAX;
const CLASSES: u32 = 12;
const PAGES_PER_BLOCK: u64 = 64;

/// All pages in one class; the pages are recorded in the order of their writes.
struct Recorder(Arc<Mutex<Vec<u32>>>);

impl Placement for Recorder {
    fn class_of_write(&mut self, write: Write) -> u8 {
        self.0.lock().expect("one thread").push(write.lpn.0);
        0
    }

    fn class_of_copy(&mut self, _copy: Copied) -> u8 {
        0
    }
}

/// The writes of each page, the next one last.
#[derive(Clone)]
struct Foresight(Vec<Vec<u64>>);

impl Foresight {
    fn of(writes: &[u32]) -> Foresight {
        let pages = writes.iter().max().map_or(0, |&last| last as usize + 1);
        let mut times = vec![Vec::new(); pages];
        for (at, &page) in writes.iter().enumerate().rev() {
            times[page as usize].push(at as u64 + 1);
        }
        Foresight(times)
    }

    /// Windows that double: the class of a page that is written next within a block of writes is 0,
    /// within two blocks 1, and so on.
    fn class(&self, page: u32, clock: u64) -> u8 {
        let next = self.0[page as usize].last().copied().unwrap_or(NEVER);
        let blocks = next.saturating_sub(clock) / PAGES_PER_BLOCK;
        (64 - blocks.leading_zeros()).min(CLASSES - 1) as u8
    }
}

impl Placement for Foresight {
    fn class_of_write(&mut self, write: Write) -> u8 {
        self.0[write.lpn.index()].pop();
        self.class(write.lpn.0, write.clock)
    }

    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        self.class(copy.lpn.0, copy.clock)
    }
}

/// The number of pages copied, of the sets with a placement of the test.
fn copies(sets: &[&str], placement: Option<GivenPlacement>) -> f64 {
    let policies = GivenPolicies { placement, ..GivenPolicies::default() };
    let inputs = Inputs { policies, ..inputs(LOG, sets) };
    let setup = prepare(&inputs).unwrap_or_else(|errors| panic!("{errors}"));
    let mut session = Session::new(setup, None, Options::default());
    while session.advance().expect("it runs").phase != Phase::Done {}
    let report: Value = session.report().to_json();
    number(&report, "pages.gc_moved")
}

fn given<P: Placement + 'static>(
    classes: u32,
    make: impl Fn() -> P + Send + Sync + 'static,
) -> Option<GivenPlacement> {
    let make = move |_: &_| Box::new(make()) as Box<dyn Placement>;
    Some(GivenPlacement { classes, policy: Given::new("test", make) })
}

const USE: &str = "gc.placement.use";
const SQRT_AGE: &[&str] =
    &["gc.victim.use=\"cost-benefit\"", "gc.victim.cost-benefit.form=\"sqrt-age\""];
const ORACLE: &str = "gc.placement.use=\"oracle\"";
/// A log with the threshold that sixteen classes need.
const DRIVE: &[&str] = &[
    "device.blocks_per_plane=512",
    "device.exported=0.88",
    "gc.trigger.watermark.soft=\"19 blocks\"",
    "precondition.overwrite=4.0",
    "workload.synthetic.requests=50_000",
    "engine.timing=none",
];
const ADDRESSES: [&str; 5] =
    ["\"uniform\"", "{zipf=0.6}", "{zipf=1.0}", "{zipf=1.2}", "{hot_cold={f=0.1,r=0.9}}"];

fn write_amplification(sets: &[&[&str]]) -> f64 {
    number(&run(LOG, &[DRIVE, &sets.concat()].concat()), "write_amplification")
}

#[test]
fn copies_are_those_of_a_program_that_runs_twice() {
    let zipf = "workload.synthetic.address={zipf=1.0}";
    let timed = ["engine.timing=events", "workload.synthetic.queue_depth=1"];
    for more in [&timed[..], SQRT_AGE] {
        let sets = [DRIVE, &[zipf], more].concat();
        let run = |word: &str, placement: Option<GivenPlacement>| {
            copies(&[&sets[..], &[&format!("{USE}=\"{word}\"")]].concat(), placement)
        };
        let writes = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&writes);
        run("given", given(1, move || Recorder(Arc::clone(&to))));
        let foresight = Foresight::of(&writes.lock().expect("one thread"));
        let due = run("given", given(CLASSES, move || foresight.clone()));
        let found = run("oracle", None);
        assert!(found > 10_000.0, "{found} copies");
        assert_eq!(found, due, "{more:?}");
    }
}

/// Under two skews; under none, little, and hot and cold pages in the long form.
#[test]
fn no_placement_is_below_the_oracle() {
    let skews = if crate::common::is_long() { &ADDRESSES[..] } else { &ADDRESSES[2..4] };
    for (victim, addresses) in [(&[][..], &ADDRESSES[2..3]), (SQRT_AGE, skews)] {
        for address in addresses {
            let address = format!("workload.synthetic.address={address}");
            let run = |word: &str| {
                let word = format!("{USE}=\"{word}\"");
                write_amplification(&[victim, &[&address, &word]])
            };
            let future = run("oracle");
            let past: Vec<f64> = of_the_past().map(run).collect();
            let best = past.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(future <= best * 1.01, "{address} {victim:?}: {future}, {past:?}");
            assert!(future > 1.0, "{address}: {future}");
        }
    }
}

/// With windows of one block each, a small drive has most pages in the last class.
#[test]
fn windows_that_do_not_grow_are_no_bound_on_a_small_drive() {
    let of = |more: &[&str]| {
        let zipf = "workload.synthetic.address={zipf=1.0}";
        write_amplification(&[SQRT_AGE, &[zipf], more])
    };
    let linear = "gc.placement.oracle.windows=\"linear\"";
    let geometric = of(&[ORACLE]);
    let few = of(&[ORACLE, linear, "gc.placement.oracle.classes=6"]);
    let many = of(&[ORACLE, linear]);
    let other = of(&["gc.placement.use=\"sepbit\""]);
    assert!(few > 1.5 * geometric, "{few}, {geometric}");
    assert!(many > 1.2 * geometric, "{many}, {geometric}");
    assert!(few > other, "{few}, {other} by what is known of the past");
}

/// A trace of writes of one page each.
fn trace_of(pages: impl Iterator<Item = u64>) -> MemoryTrace {
    let row = |(at, page): (u64, u64)| {
        let at = 128_166_372_003_061_629_u64 + at * 9_000;
        format!("{at},web,0,Write,{},4096,1331\n", page * 4096)
    };
    MemoryTrace::text(
        "t.csv",
        &pages.enumerate().map(|(at, page)| row((at as u64, page))).collect::<String>(),
    )
}

const FEW: &str = "gc.placement.oracle.classes=6";
const SOFT: &str = "gc.trigger.watermark.soft=\"9 blocks\"";
const TRACE: &str = "[workload.trace]\nformat = \"msr\"\naddress = \"wrap\"\n";

/// Two regions are rewritten in order, one of them seven times as often. Every block of the oracle
/// dies as a whole.
#[test]
fn regions_that_are_rewritten_in_order_are_never_copied() {
    let text = LOG.replace("[workload.synthetic]\nrequests = 1\nqueue_depth = 4\n", TRACE);
    let pages = (0..120_000).map(|at: u64| match at % 8 {
        7 => 2_000 + at / 8 % 4_000,
        of_seven => (at / 8 * 7 + of_seven) % 2_000,
    });
    let trace = trace_of(pages);
    let of = |placement: &str| {
        let sets = [
            "device.blocks_per_plane=128",
            "device.exported=0.75",
            "precondition.overwrite=3.0",
            "gc.trigger.watermark.soft=\"15 blocks\"",
            placement,
        ];
        let report = finish(setup(&text, &sets), Some(trace.clone()), true);
        number(&report.unwrap_or_else(|error| panic!("{error}")), "write_amplification")
    };
    let (oracle, mixed) = (of(ORACLE), of("gc.placement.use=\"one-frontier\""));
    assert!(oracle < 1.01, "{oracle}");
    assert!(mixed > 1.05, "{mixed}");
}

#[test]
fn one_class_separates_nothing() {
    let of = |sets: &[&str]| {
        let zipf = "workload.synthetic.address={zipf=1.0}";
        number(&run(LOG, &[DRIVE, &[zipf], sets].concat()), "pages.gc_moved")
    };
    let one = of(&[ORACLE, "gc.placement.oracle.classes=1"]);
    assert_eq!(one, of(&["gc.placement.use=\"one-frontier\""]));
}

/// Requests under way overtake each other, and change little.
#[test]
fn a_long_queue_is_foreseen_nearly_as_well() {
    let tiny = |sets: &[&str]| {
        let drive = [
            "device.blocks_per_plane=64",
            "device.exported=0.75",
            "gc.trigger.watermark.soft=\"9 blocks\"",
            "gc.placement.oracle.classes=6",
            "gc.placement.oracle.base=4",
            "workload.synthetic.address={zipf=1.0}",
            "workload.synthetic.requests=60_000",
            "workload.synthetic.trim_share=0.1",
            "precondition.overwrite=4.0",
            ORACLE,
        ];
        number(&run_verified(TINY, &[&drive, sets].concat()), "write_amplification")
    };
    let exact = tiny(&["engine.timing=none"]);
    let deep = tiny(&["workload.synthetic.queue_depth=32"]);
    assert!((deep / exact - 1.0).abs() < 0.02, "{deep}, {exact}");
}

/// Another scheme fills the drive, so that the future begins with the run.
#[test]
fn the_future_may_begin_with_the_measured_part() {
    let fills = ["precondition.scheme=\"greedy\"", "precondition.until=\"steady\""];
    let sets = [
        "device.blocks_per_plane=64",
        "gc.trigger.watermark.soft=\"9 blocks\"",
        "gc.placement.oracle.classes=6",
        "workload.synthetic.trim_share=0.2",
        ORACLE,
    ];
    let without_overwrite = TINY.replace("overwrite = 1.0\n", "");
    run_verified(&without_overwrite, &[&fills[..], &sets].concat());
    let own = refusal(&without_overwrite, &[&sets[..], &fills[1..]].concat());
    assert!(own.contains("until = \"steady\" depends on the copies"), "{own}");
    let aged = ["precondition.fill=\"aged\"", "precondition.aged_ratio=0.3"];
    run_verified(TINY, &[&sets[..], &aged].concat());
}

#[test]
fn a_trace_is_foreseen() {
    let synthetic = "[workload.synthetic]\nrequests = 3_000\nread_share = 0.3\nqueue_depth = 8\n";
    let trace = trace_of((0..4_000).map(|at: u64| at * at * 7 % 500));
    for more in [&[][..], &["workload.until=\"steady\"", "workload.at_most=2.0"]] {
        let sets =
            ["device.blocks_per_plane=64", "gc.trigger.watermark.soft=\"9 blocks\"", FEW, ORACLE];
        let setup = setup(&TINY.replace(synthetic, TRACE), &[&sets, more].concat());
        let report = finish(setup, Some(trace.clone()), true);
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        let classes = report["placement"]["classes"].as_array().expect("classes");
        let used = classes.iter().filter(|class| class["writes"] != 0).count();
        assert!(used >= 3, "{classes:?}");
    }
}

#[test]
fn a_future_that_depends_on_the_run_is_refused() {
    let synthetic = "[workload.synthetic]\nrequests = 3_000\nread_share = 0.3\nqueue_depth = 8\n";
    let jobs = "[[workload.jobs.job]]\nfile = \"drive\"\namount = \"1 MiB\"\n";
    let without_overwrite = TINY.replace("overwrite = 1.0\n", "");
    let rows = [
        (TINY.into(), BUFFER, "which writes a write buffer merges depends on the time"),
        (TINY.replace(synthetic, jobs), "seed=1", "which of several jobs issues the next"),
        (TINY.replace(synthetic, TRACE), "precondition.fill=\"trace\"", "until the drive is full"),
        (without_overwrite, "precondition.until=\"steady\"", "depends on the copies"),
    ];
    for (text, set, due) in rows {
        let reported = refusal(&text, &["device.blocks_per_plane=64", SOFT, FEW, ORACLE, set]);
        assert!(reported.contains(due), "{reported}");
        assert!(reported.contains("or choose another gc.placement.use"), "{reported}");
    }
    let base = ["gc.placement.oracle.windows=\"linear\"", "gc.placement.oracle.base=3"];
    let reported =
        refusal(TINY, &[&["device.blocks_per_plane=64", SOFT, FEW, ORACLE], &base[..]].concat());
    assert!(reported.contains("base needs windows = \"geometric\""), "{reported}");
}
