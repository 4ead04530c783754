//! Programs that are padded since the controller has no power-loss protection
//! (docs/mapping-unit.md#without-power-loss-protection).

use crate::common;
use crate::mapping_unit::schemes_run_on;

use common::{
    ONE_PLANE, TINY, TINY_DRIVE, assert_near, at, finish_with, number, refusal, setup, whole,
};
use flashgc::drive::Drive;
use flashgc::ids::{BlockId, Lpn, Ppn};
use flashgc::session::Options;
use flashgc::verify::checker::Checker;
use flashgc::verify::{Cause, Happened, Watch};
use flashgc::workload::HostOp;
use serde_json::Value;

const UNPROTECTED: [&str; 2] =
    ["device.write_buffer.size=\"256 KiB\"", "device.write_buffer.power_loss_protection=false"];

const SLOTS: [&str; 5] = [
    "device.page_size=\"16 KiB\"",
    "device.mapping_unit=\"4 KiB\"",
    "device.allocation=\"dynamic\"",
    UNPROTECTED[0],
    UNPROTECTED[1],
];

/// Every scheme pads the last program of each of its collections, under the checker.
#[test]
fn collections_pad_their_last_program() {
    let bus = "device.timing.transfer=\"1 ns/B\"";
    let devices: [&[&str]; 6] = [
        &[bus],
        &[bus, "gc.copy.use=\"bus\""],
        &[bus, FRONTIERS, "device.allocation=\"when-idle\"", "device.exported=0.5"],
        &["workload.synthetic.read_share=0.2", "workload.synthetic.trim_share=0.2"],
        &["workload.synthetic.size=\"6 KiB\"", "workload.synthetic.align=\"2 KiB\""],
        &[
            "device.layers=4",
            "device.timing.layer_ratio=3.0",
            "device.timing.layer_map=\"striped\"",
        ],
    ];
    schemes_run_on(&devices, &SLOTS);
}

/// A plane whose blocks have 64 flash pages of 16 KiB.
const BLOCKS_OF_64: [&str; 6] = [
    "device.blocks_per_plane=400",
    "device.pages_per_block=64",
    "device.page_size=\"16 KiB\"",
    "device.mapping_unit=\"4 KiB\"",
    "device.exported=0.7",
    "device.allocation=\"dynamic\"",
];

/// A drive of one plane and one job.
fn run(job: &str, sets: &[&str]) -> Value {
    let job = format!("[[workload.jobs.job]]\nfile = \"drive\"\nsize = \"4 KiB\"\n{job}\n");
    let options = Options { verify: true, blame: true, ..Options::default() };
    let sets = [&ONE_PLANE[..], &BLOCKS_OF_64, sets].concat();
    finish_with(setup(&format!("{TINY_DRIVE}{job}"), &sets), None, options).expect("it runs")
}

/// Slots programmed for each written one, on a drive that does not collect.
fn factor(job: &str, sets: &[&str]) -> f64 {
    let sets = [&UNPROTECTED, sets].concat();
    let report = run(job, &sets);
    assert_eq!(whole(&report, "gc.count"), 0);
    assert_eq!(number(&report, "pages.overhead"), number(&report, "slots.padded"));
    assert_eq!(number(&report, "write_amplification"), 1.0, "padding holds no data");
    number(&report, "slots.programmed_per_write")
}

const WORD_LINE: &str = "device.pages_per_program=3";
const BLOCK_OF_WORD_LINES: &str = "device.pages_per_block=96";
const FOUR_PLANES: [&str; 4] = [
    "device.planes_per_die=4",
    "device.multi_plane=4",
    "device.blocks_per_plane=100",
    "device.write_buffer.size=\"512 KiB\"",
];

/// A forced write of 4 KiB takes a whole program: a flash page, a word line of three, or word lines
/// of four planes.
#[test]
fn a_fua_write_takes_a_program() {
    let job = "requests = 600\nfua_share = 1.0";
    assert_eq!(factor(job, &[]), 4.0);
    assert_eq!(factor(job, &[WORD_LINE, BLOCK_OF_WORD_LINES]), 12.0);
    let in_step = [&[WORD_LINE, BLOCK_OF_WORD_LINES][..], &FOUR_PLANES].concat();
    assert_eq!(factor(job, &in_step), 48.0);
}

/// A flush after every n writes of a slot, with programs of u slots: ceil(n / u) u / n.
#[test]
fn flushes_pad_up_to_whole_programs() {
    for (slots, sets) in [(4, &[][..]), (12, &[WORD_LINE, BLOCK_OF_WORD_LINES])] {
        for writes in [1, 2, 3, 4, 5, 7, 12, 13, 24] {
            let requests = 60 * writes;
            // Once each, so that no rewrite is absorbed.
            let job = format!("requests = {requests}\nflush_after = {writes}\nonce = true");
            let expected = f64::from(u32::div_ceil(writes, slots) * slots) / f64::from(writes);
            assert_near("padding", factor(&job, sets), expected, 1e-12);
        }
    }
}

/// Slots programmed for each written one in the long run, copies included: the difference of two
/// runs of different length.
fn long_run(keys: &str, scheme: &[&str]) -> f64 {
    let of = |requests: u32| {
        let job = format!("requests = {requests}\namount = 1000.0\n{keys}");
        let report = run(&job, &[scheme, &UNPROTECTED, &["precondition.overwrite=2.0"]].concat());
        number(&report, "slots.programmed_per_write") * f64::from(requests)
    };
    (of(300_000) - of(150_000)) / 150_000.0
}

const FRONTIERS: &str = "gc.placement.use=\"separate-gc\"";

/// Under greedy with a frontier of its own for copies, padded blocks of the host are collected
/// first, are copied once full, and then behave as ever: A = pf + A0.
#[test]
fn greedy_adds_padding_once() {
    let scheme = ["gc.scheme=\"greedy\"", FRONTIERS];
    // The write amplification of a drive that pads nothing for the host, though its collections do.
    let without = long_run("", &scheme);
    for (keys, factor) in [("flush_after = 2", 2.0), ("fua_share = 1.0", 4.0)] {
        assert_near(keys, long_run(keys, &scheme), factor + without, 0.02);
    }
}

/// Under FIFO a block is as full as ever when its turn comes. With c copies for each write,
/// c = (1 + c) e^(-a / (pf + c)), where a is the space of the log for each user page.
#[test]
fn fifo_pays_for_padding_with_copies() {
    let scheme = ["gc.scheme=\"fifo\"", FRONTIERS];
    // Up to four erased blocks and two open ones, half full, do not belong to the log.
    let space = (400.0 - 3.5 - 1.0) / (0.7 * 400.0);
    for (keys, factor) in [("flush_after = 2", 2.0), ("fua_share = 1.0", 4.0)] {
        let mut copies = 1.0f64;
        for _ in 0..10_000 {
            copies = (1.0 + copies) * (-space / (factor + copies)).exp();
        }
        assert_near(keys, long_run(keys, &scheme), factor + copies, 0.02);
    }
}

/// Flushes and forced writes of several jobs, while collections run, slots are rewritten and
/// trimmed, and programs of copies are begun. The checker compares the versions.
#[test]
fn nothing_that_must_survive_is_only_in_the_controller() {
    let hot = "address = { zipf = 1.2 }\ntrim_share = 0.1\nread_share = 0.2\ndepth = 16\n\
               requests = 6000\nflush_after = 5\nclones = 2\nfua_share = 0.2";
    let bulk = "[[workload.jobs.job]]\nfile = \"drive\"\ndepth = 32\nrequests = 6000\n\
                flush_after = 64\nsize = \"22 KiB\"\nalign = \"2 KiB\"\nfua_share = 0.3";
    let full = [
        "device.blocks_per_plane=40",
        "device.planes_per_die=2",
        "device.unit=\"plane\"",
        "precondition.overwrite=1.0",
        "device.write_buffer.access=\"2 us\"",
        "device.timing.transfer=\"1 ns/B\"",
    ];
    let small = [
        "device.write_buffer.size=\"96 KiB\"",
        "device.firmware.command=\"3 us\"",
        "device.host_link.transfer=\"1 ns/B\"",
        "device.queue_length=24",
    ];
    let word_lines = [WORD_LINE, BLOCK_OF_WORD_LINES, "device.allocation=\"when-idle\""];
    for scheme in ["greedy", "pgc", "fifo"] {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        for other in [&[][..], &small, &word_lines, &[FRONTIERS]] {
            let sets = [&UNPROTECTED[..], &full, other, &[&scheme]].concat();
            let report = run(&format!("{hot}\n{bulk}"), &sets);
            assert!(whole(&report, "flush.requests") > 1000);
            assert!(whole(&report, "gc.count") > 0 && whole(&report, "slots.padded") > 0);
        }
    }
}

/// With power-loss protection a forced write, a flush and the last program of a collection are as
/// they were.
#[test]
fn a_protected_controller_pads_nothing() {
    let lasting = "requests = 40000\namount = 10.0\nfua_share = 0.5\nflush_after = 3";
    let report = run(lasting, &[]);
    assert_eq!(number(&report, "flush.latency_ns.max"), 0.0);
    assert!(whole(&report, "gc.count") > 0);
    assert_eq!(whole(&report, "pages.overhead"), 0);
    assert!(report["slots"].get("padded").is_none());
    let without = run("requests = 40000\namount = 10.0", &[]);
    assert_eq!(at(&report, "pages"), at(&without, "pages"));
}

#[test]
fn drives_that_cannot_pad_are_refused() {
    let passes = [
        &SLOTS[..],
        &[WORD_LINE, "device.pages_per_block=12", "device.timing.program=[\"1 ms\", \"2 ms\"]"],
        &["device.timing.transfer=\"1 ns/B\"", "device.exported=0.2"],
    ];
    let found = refusal(TINY, &passes.concat());
    assert!(found.contains("programs of one pass"), "{found}");
    // One slot in each block would be invalid, and no collection could win a flash page.
    let full = ["device.exported=0.7"];
    let found = refusal(TINY, &[&SLOTS, &full[..]].concat());
    assert!(found.contains("48 pages that no collection wins, 3 in each block"), "{found}");
    let protected = [&SLOTS[..3], &full].concat();
    setup(TINY, &protected);
}

/// Whether the checker of a drive of slots accepts these facts.
fn accepts(facts: &[Happened]) -> bool {
    let (setup, facts) = (setup(TINY, &SLOTS), facts.to_vec());
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let drive = Drive::aged(&setup.plan.geometry, 0.0);
        let mut checker = Checker::with_drive(&setup.plan, &drive);
        facts.iter().for_each(|&fact| checker.observe(1_000, fact));
    }))
    .is_ok()
}

#[test]
fn the_checker_notices_what_would_be_lost() {
    let lpn = Lpn(7);
    let arrives = Happened::Arrived {
        request: 0,
        job: 0,
        offset_bytes: 28_672,
        size_bytes: 4096,
        hint: 0,
        fua: true,
        outstanding: 1,
    };
    let accepted = Happened::Accepted { op: 0, request: 0, lpn, kind: HostOp::Write, high: false };
    let in_buffer = [
        Happened::MeasuringStarts,
        arrives,
        accepted,
        Happened::Started { op: 0, lpn },
        Happened::BufferAccessed { lpn, kind: HostOp::Write, from_ns: 0, to_ns: 1 },
        Happened::Done { op: 0, lpn, kind: HostOp::Write },
    ];
    let programmed =
        [Happened::Programmed { ppn: Ppn(0), lpn, cause: Cause::Flush, current: true }];
    let padded = [1, 2, 3].map(|slot| Happened::Padded { ppn: Ppn(slot), collects: false });
    let flushed = [Happened::Flushed { lpn }];
    let op = HostOp::Write;
    let served = [Happened::Served { request: 0, job: 0, op, latency_ns: 1_000, outstanding: 0 }];
    let story = |parts: &[&[Happened]]| accepts(&parts.concat());
    assert!(story(&[&in_buffer, &programmed, &padded, &flushed, &served]));
    assert!(!story(&[&in_buffer, &served]), "a forced write is only in the buffer");
    assert!(!story(&[&in_buffer, &programmed, &padded, &served]), "its program is under way");
    assert!(!story(&[&in_buffer, &programmed, &flushed, &served]), "its program is not full");
    // Block 1 holds a page that was copied to block 0.
    let first = setup(TINY, &SLOTS).plan.geometry.shape.pages_per_block;
    let slot = |at: u32| Ppn(first + at);
    let written =
        [Happened::Programmed { ppn: slot(0), lpn, cause: Cause::Host { op: 9 }, current: true }];
    let rest = [1, 2, 3].map(|at| Happened::Padded { ppn: slot(at), collects: false });
    let starts = [Happened::MeasuringStarts];
    let cause = Cause::Copy { from: slot(0) };
    let copied = [Happened::Programmed { ppn: Ppn(0), lpn, cause, current: true }];
    let erased = [Happened::Erased { block: BlockId(1) }];
    assert!(story(&[&starts, &written, &rest, &copied, &padded, &erased]));
    assert!(!story(&[&starts, &written, &rest, &copied, &erased]), "the copy is not programmed");
}
