//! The write buffer: absorbed writes, its cost, and that no version of a page is ever lost in it.
//! The pairwise matrix runs it with everything else.

use crate::common;

use common::{Choices, TINY, at, checked, number, refusal, run, run_verified, setup, whole};
use flashgc::ids::{Lpn, Ppn};
use flashgc::measure::Results;
use flashgc::session::Setup;
use flashgc::sim::Sim;
use flashgc::verify::checker::{Checker, Promises};
use flashgc::verify::{Cause, Happened, Watch};
use flashgc::workload::{HostOp, HostRequest, ListSource};
use serde_json::Value;

const FLUSHES: &str = "gc.background.use=\"flush-buffer\"";

/// Writes only, one page each, in a closed loop.
fn writes(sets: &[&str]) -> Value {
    run_verified(TINY, &[&["workload.synthetic.read_share=0.0"], sets].concat())
}

#[test]
fn every_page_written_is_absorbed_flushed_or_still_there() {
    for size in ["4 KiB", "32 KiB", "256 KiB"] {
        let size = format!("device.write_buffer.size=\"{size}\"");
        let report = writes(&[&size]);
        let [written, hits, flushed, dirty] =
            ["pages.host_written", "buffer.hits_write", "pages.flushed", "buffer.dirty_at_end"]
                .map(|key| whole(&report, key));
        // A page that is rewritten while it is flushed is flushed twice.
        assert!(written <= hits + flushed + dirty, "{written} {hits} {flushed} {dirty}");
        assert!(flushed + dirty <= written, "{written} {flushed} {dirty}");
        let moved = whole(&report, "pages.gc_moved");
        let expected = (flushed + moved) as f64 / written as f64;
        assert!((number(&report, "write_amplification") - expected).abs() < 1e-12);
    }
}

#[test]
fn a_buffer_that_holds_the_drive_needs_no_flash() {
    let sets = ["device.write_buffer.size=\"64 MiB\"", "workload.synthetic.requests=20_000"];
    let report = writes(&sets);
    assert_eq!(whole(&report, "pages.flushed"), 0);
    assert_eq!(number(&report, "write_amplification"), 0.0);
    // One after the other, 1.28 us each.
    assert_eq!(whole(&report, "simulated_ns"), 20_000 * 1280);
    let exported = whole(&report, "capacity.exported_pages");
    assert!(whole(&report, "buffer.dirty_at_end") <= exported);
}

/// Where each page leaves at once, every write finds a place; where pages leave when the buffer is
/// full, each write waits for a program, however long the drive had rested before.
#[test]
fn a_buffer_that_empties_itself_has_a_place_for_each_write() {
    let slow = [
        "device.write_buffer={size=\"64 KiB\",access=\"1 us\"}",
        "workload.synthetic.interarrival.fixed=\"5 ms\"",
        "workload.synthetic.requests=4000",
    ];
    let median_ns = |flush: &str| {
        let report = writes(&[&slow[..], &[flush]].concat());
        assert_eq!(whole(&report, "pages.host_written"), 4000);
        number(&report, "latency_ns.write.p50")
    };
    assert!(median_ns("device.write_buffer.flush=\"at-once\"") < 1_100.0);
    assert!(median_ns("device.write_buffer.flush=\"when-full\"") >= 100_000.0);
    let idle = [&slow[..], &["device.write_buffer.flush=\"at-once\"", FLUSHES]].concat();
    assert!(refusal(TINY, &idle).contains("leaves nothing to the idle time"));
}

#[test]
fn a_closed_loop_is_never_idle() {
    let size = "device.write_buffer.size=\"64 MiB\"";
    let report = writes(&[size, FLUSHES, "workload.synthetic.queue_depth=1"]);
    assert_eq!(whole(&report, "pages.flushed"), 0);
}

#[test]
fn idle_flushes_leave_writes_a_place() {
    let text = TINY.replace("queue_depth = 8\n", "");
    let sets = [
        "workload.synthetic.interarrival={fixed=\"1 ms\"}",
        "workload.synthetic.read_share=0.0",
        "device.write_buffer.size=\"16 KiB\"",
        "gc.trigger.watermark.soft=\"2 blocks\"",
    ];
    let lazy = run_verified(&text, &sets);
    let eager = run_verified(&text, &[&sets[..], &[FLUSHES]].concat());
    assert!(whole(&lazy, "buffer.stalls") > 2000, "{}", whole(&lazy, "buffer.stalls"));
    assert_eq!(whole(&eager, "buffer.stalls"), 0);
    assert_eq!(whole(&eager, "latency_ns.write.max"), 1280);
    assert!(number(&lazy, "latency_ns.write.mean") > 100_000.0);
}

#[test]
fn a_device_without_a_buffer_says_nothing_of_one() {
    let report = run(TINY, &[]);
    assert!(report.get("buffer").is_none() && report.pointer("/pages/flushed").is_none());
    assert!(at(&report, "config.device").get("write_buffer").is_none());
}

#[test]
fn preconditioning_goes_around_the_buffer() {
    let sets = ["device.write_buffer.size=\"64 KiB\"", "workload.synthetic.requests=1"];
    let (with, without) = (writes(&sets), writes(&sets[1..]));
    assert_eq!(at(&with, "precondition"), at(&without, "precondition"));
    assert_eq!(whole(&with, "buffer.dirty_at_end"), 1);
}

#[test]
fn the_default_access_is_20_ns_for_64_bytes() {
    let access = |sets: &[&str]| {
        let sets = [&["device.write_buffer.size=\"1 MiB\""], sets].concat();
        let buffer = setup(TINY, &sets).plan.write_buffer.expect("a buffer");
        (buffer.pages, buffer.access_ns)
    };
    assert_eq!(access(&[]), (256, 1280));
    assert_eq!(access(&["device.page_size=\"512 B\""]), (2048, 160));
    assert_eq!(access(&["device.write_buffer.access=\"0 ns\""]), (256, 0));
    assert_eq!(access(&["device.write_buffer.size=\"1 MB\""]), (244, 1280));
}

#[test]
fn what_makes_no_buffer_is_refused() {
    for (sets, why) in [
        (&["device.write_buffer.access=\"1 us\""][..], "missing key `device.write_buffer.size`"),
        (&["device.write_buffer.size=\"4095 B\""], "pages of 4096 bytes, got 4095 bytes (0 pages)"),
        (&["device.write_buffer.size=\"17179869184 KiB\""], "write for example size = \"1 MiB\""),
        (
            &["device.write_buffer={size=\"1 MiB\",access=\"1001 s\"}"],
            "access must take at most 1000 s per page",
        ),
        (&["device.write_buffer={size=\"1 MiB\",acess=\"1 s\"}"], "unknown key `acess`"),
        (&["device.write_buffer=5"], "is not a table"),
        (&[FLUSHES], "add one, as in `device.write_buffer.size = \"1 MiB\"`"),
    ] {
        let refusal = refusal(TINY, sets);
        assert!(refusal.contains(why), "{sets:?}: {refusal}");
    }
}

/// Random requests of every kind to few pages, with gaps of every length.
fn requests(choices: &mut Choices, pages: usize) -> Vec<HostRequest> {
    let count = 40 + choices.below(160);
    let mut at_ns = 0;
    let request = |_| {
        at_ns += [0, 0, 300, 5_000, 150_000, 2_000_000][choices.below(6)] as u64;
        let op = [HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Write, HostOp::Trim]
            [choices.below(5)];
        let first = choices.below(pages);
        let (offset, bytes) = match choices.below(3) {
            0 => (first * 4096 + 512 * choices.below(8), 512),
            1 => (first * 4096, 4096),
            _ => (first * 4096 + 512 * choices.below(8), 512 * (1 + choices.below(24))),
        };
        let bytes = bytes.min((pages * 4096) - offset);
        HostRequest::from_bytes(at_ns, op, offset as u64, bytes as u64, 4096)
    };
    (0..count).map(request).collect()
}

/// The counts of a buffer of this capacity when one request comes after the other: the pages in a
/// list, the last used at its end.
fn counted_by_hand(requests: &[HostRequest], capacity: usize) -> [u64; 4] {
    let mut held: Vec<u32> = Vec::new();
    let (mut hits_read, mut hits_write, mut stalls) = (0, 0, 0);
    for request in requests {
        let lpn = request.first.0;
        let place = held.iter().position(|&page| page == lpn);
        match (request.op, place) {
            (HostOp::Read, None) | (HostOp::Trim, None) | (HostOp::Flush, _) => {}
            (HostOp::Trim, Some(place)) => {
                held.remove(place);
            }
            (op, Some(place)) => {
                let page = held.remove(place);
                held.push(page);
                hits_read += u64::from(op == HostOp::Read);
                hits_write += u64::from(op == HostOp::Write);
            }
            (HostOp::Write, None) => {
                if held.len() == capacity {
                    held.remove(0);
                    stalls += 1;
                }
                held.push(lpn);
            }
        }
    }
    [hits_read, hits_write, stalls, held.len() as u64]
}

#[test]
fn the_least_recently_used_page_leaves() {
    let text = TINY.replace("queue_depth = 8\n", "interarrival = { fixed = \"1 ms\" }\n");
    for seed in 0..20 {
        let mut choices = Choices::new(seed);
        let (capacity, pages) = (1 + choices.below(20), 2 + choices.below(60));
        let size = format!("device.write_buffer.size=\"{} KiB\"", 4 * capacity);
        let setup = setup(&text, &[&size]);
        let request = |at: u64| {
            let op = [HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Write, HostOp::Trim];
            let lpn = choices.below(pages).min(choices.below(pages)) as u64;
            // Far enough from each other for a flush and a collection.
            HostRequest::from_bytes(at * 10_000_000, op[choices.below(5)], lpn * 4096, 4096, 4096)
        };
        let requests: Vec<HostRequest> = (0..500).map(request).collect();
        let by_hand = counted_by_hand(&requests, capacity);
        let results = run_watched(&setup, requests, "least recently used");
        let counters = &results.counters;
        let [hits_read, hits_write] = counters.buffer_hits;
        let dirty = results.buffer_dirty_pages.expect("there is a buffer");
        assert_eq!([hits_read, hits_write, counters.buffer_stalls, dirty], by_hand, "seed {seed}");
        assert_eq!(counters.flushed, counters.buffer_stalls, "seed {seed}");
    }
}

fn run_watched(setup: &Setup, requests: Vec<HostRequest>, case: &str) -> Results {
    let mut sim = Sim::new(setup.plan.clone(), checked(setup));
    sim.untimed().fill(0, setup.plan.geometry.exported_pages * 3 / 4).expect("the fill fits");
    let mut source = ListSource::new(requests);
    sim.start(&mut source).expect("the workload starts");
    loop {
        let progress = sim.run(&mut source, 7).unwrap_or_else(|why| panic!("{case}: {why:?}"));
        sim.audit();
        if progress.finished {
            break;
        }
    }
    let results = sim.seen().results();
    sim.audit_counters(&results);
    results
}

/// The checker follows every version of every page: 3,000 short runs in which trims, rewrites and
/// reads meet flushes at every stage.
#[test]
fn no_version_is_lost_whatever_meets_a_flush() {
    let text = TINY.replace("queue_depth = 8\n", "interarrival = { fixed = \"1 ms\" }\n");
    let mut met = [0u64; 5];
    for seed in 0..3_000 {
        let mut choices = Choices::new(seed);
        let mut sets = vec![
            "device.channels=1".to_string(),
            "device.blocks_per_plane=8".into(),
            "device.pages_per_block=4".into(),
            "device.exported=0.4".into(),
            "gc.trigger.watermark.soft=\"2 blocks\"".into(),
        ];
        let size = 4 << choices.below(4);
        sets.push(format!("device.write_buffer.size=\"{size} KiB\""));
        let access = ["0 ns", "1.28 us", "30 us"][choices.below(3)];
        sets.push(format!("device.write_buffer.access=\"{access}\""));
        for (key, values) in [
            ("gc.background.use", ["nothing", "flush-buffer"]),
            ("device.allocation", ["striped", "dynamic"]),
            ("gc.victim.use", ["greedy", "random"]),
            ("gc.copy.use", ["copyback", "bus"]),
            ("device.unit", ["die", "plane"]),
            ("device.timing.transfer", ["0 ns/B", "25 ns/B"]),
        ] {
            sets.push(format!("{key}=\"{}\"", values[choices.below(2)]));
        }
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let setup = setup(&text, &sets);
        let pages = 4 + choices.below(40);
        let case = format!("seed {seed}\n{}", sets.join("\n"));
        let results = run_watched(&setup, requests(&mut choices, pages), &case);
        let counters = results.counters;
        let [hits_read, hits_write] = counters.buffer_hits;
        let one_run =
            [counters.flushed, counters.buffer_stalls, hits_read, hits_write, counters.gc_moved];
        for (all, one) in met.iter_mut().zip(one_run) {
            *all += one;
        }
    }
    assert!(met.iter().all(|&count| count > 1_000), "too little happened: {met:?}");
}

/// Feeds a checker with the events of logical page 1, one per microsecond.
struct Story {
    checker: Checker,
    now_ns: u64,
}

const PAGE: Lpn = Lpn(1);

impl Story {
    fn new() -> Self {
        let plan = setup(TINY, &[]).plan;
        let mut checker = Checker::new(&plan.geometry, Promises::of(&plan));
        let (kind, high) = (HostOp::Write, false);
        checker.observe(0, Happened::Accepted { op: 0, request: 0, lpn: PAGE, kind, high });
        Story { checker, now_ns: 0 }
    }

    fn notify(&mut self, happened: Happened) -> &mut Self {
        self.now_ns += 1000;
        self.checker.observe(self.now_ns, happened);
        self
    }

    fn comes_in(&mut self) -> &mut Self {
        let (from_ns, to_ns) = (self.now_ns + 500, self.now_ns + 1000);
        self.notify(Happened::BufferAccessed { lpn: PAGE, kind: HostOp::Write, from_ns, to_ns })
    }

    fn programmed(&mut self, ppn: u32, cause: Cause) -> &mut Self {
        self.notify(Happened::Programmed { ppn: Ppn(ppn), lpn: PAGE, cause, current: true })
    }

    fn flushed(&mut self) -> &mut Self {
        self.notify(Happened::Flushed { lpn: PAGE })
    }

    fn read_flash(&mut self, ppn: u32) -> &mut Self {
        self.notify(Happened::Read { ppn: Ppn(ppn), lpn: PAGE })
    }

    fn read_buffer(&mut self) -> &mut Self {
        self.notify(Happened::ReadBuffered { lpn: PAGE })
    }
}

#[test]
fn the_checker_passes_what_a_buffer_may_do() {
    let mut story = Story::new();
    story.comes_in().read_buffer().programmed(0, Cause::Flush).read_buffer().comes_in();
    // A collection may read the older version in flash; only the host may not.
    story.notify(Happened::ReadOut { ppn: Ppn(0), lpn: PAGE });
    story.programmed(1, Cause::Flush).flushed().read_flash(1).comes_in();
    story.notify(Happened::Trimmed { lpn: PAGE }).notify(Happened::ReadNothing { lpn: PAGE });
    story.comes_in().read_buffer();
    story.notify(Happened::Done { op: 0, lpn: PAGE, kind: HostOp::Write });
    story.checker.audit_buffer([PAGE].into_iter());
    assert_eq!((story.checker.flushes, story.checker.host_programs), (2, 0));
}

#[test]
#[should_panic(expected = "left the write buffer in version Some(2), and flash has Some(1)")]
fn the_checker_catches_a_rewrite_that_leaves_with_an_older_flush() {
    Story::new().comes_in().programmed(0, Cause::Flush).comes_in().flushed();
}

#[test]
#[should_panic(expected = "went past the write buffer")]
fn the_checker_catches_a_read_from_flash_of_a_page_in_the_buffer() {
    Story::new().comes_in().programmed(0, Cause::Flush).read_flash(0);
}

#[test]
#[should_panic(expected = "a write of logical page 1 went past the write buffer")]
fn the_checker_catches_a_write_to_flash_of_a_page_in_the_buffer() {
    Story::new().comes_in().programmed(0, Cause::Host { op: 0 });
}

#[test]
#[should_panic(expected = "was flushed and is not buffered")]
fn the_checker_catches_a_flush_of_nothing() {
    Story::new().programmed(0, Cause::Flush);
}

#[test]
#[should_panic(expected = "a read of logical page 1 from the write buffer")]
fn the_checker_catches_a_read_from_the_buffer_of_a_page_that_is_not_there() {
    Story::new().comes_in().programmed(0, Cause::Flush).flushed().read_buffer();
}

#[test]
#[should_panic(expected = "a read of logical page 1 lost its data")]
fn the_checker_catches_data_that_the_buffer_lost() {
    Story::new().comes_in().notify(Happened::ReadNothing { lpn: PAGE });
}

#[test]
#[should_panic(expected = "pages in the write buffer")]
fn the_checker_catches_a_page_that_the_buffer_forgot() {
    let mut story = Story::new();
    story.comes_in();
    story.checker.audit_buffer(std::iter::empty());
}

#[test]
#[should_panic(expected = "served two accesses at once")]
fn the_checker_catches_two_accesses_at_once() {
    let mut story = Story::new();
    story.comes_in();
    let access = Happened::BufferAccessed { lpn: PAGE, kind: HostOp::Read, from_ns: 0, to_ns: 1 };
    story.notify(access);
}
