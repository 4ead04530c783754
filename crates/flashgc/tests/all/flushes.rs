//! Flush commands: their completion, and their cost.

use crate::common;

use common::{at, finish_with, number, refusal, setup, whole};
use flashgc::session::Options;
use serde_json::Value;

/// A drive with much erased space, and one that collects.
const FRESH: &str = "[device]\npreset = \"slc-msr\"\nblocks_per_plane = 24\nchannels = 2\n\
                     exported = 0.75\n";
const FULL: &str = "[precondition]\noverwrite = 1.0\n";
const BUFFER: &str = "device.write_buffer.size=\"256 KiB\"";
const ACCESS: &str = "device.write_buffer.access=\"2 us\"";
const UNPROTECTED: &str = "device.write_buffer.power_loss_protection=false";

fn run(drive: &str, jobs: &[&str], sets: &[&str]) -> Value {
    let job = |job: &&str| format!("[[workload.jobs.job]]\nfile = \"drive\"\n{job}\n");
    let jobs: String = jobs.iter().map(job).collect();
    let options = Options { verify: true, blame: true, ..Options::default() };
    let setup = setup(&format!("{drive}[workload.jobs]\n{jobs}"), sets);
    finish_with(setup, None, options).expect("the run goes on")
}

/// After each write a flush: it lasts until the end of the program that it waits for.
#[test]
fn a_flush_waits_for_the_program_of_the_page_in_the_buffer() {
    let job = "requests = 500\nflush_after = 1";
    let direct = run(FRESH, &[job], &[]);
    let write_ns = number(&direct, "latency_ns.write.max");
    assert_eq!(number(&direct, "latency_ns.write.min"), write_ns, "nothing else is at work");
    let report = run(FRESH, &[job], &[BUFFER, ACCESS, UNPROTECTED]);
    assert_eq!(whole(&report, "flush.requests"), 500);
    assert_eq!(number(&report, "flush.latency_ns.min"), write_ns);
    assert_eq!(number(&report, "flush.latency_ns.max"), write_ns);
    assert_eq!(number(&report, "latency_ns.write.max"), 2_000.0);
    assert_eq!(whole(&report, "pages.flushed"), 500, "nothing is left to absorb");
    assert_eq!(whole(&report, "buffer.dirty_at_end"), 0);
    let row = &at(&report, "jobs")[0];
    assert_eq!(at(row, "flush"), at(&report, "flush"));
}

/// Power-loss protection keeps the buffer, and without a buffer every write that is done is in
/// flash.
#[test]
fn a_flush_is_done_at_once_where_nothing_can_be_lost() {
    let job = "requests = 500\nflush_after = 3\ndepth = 8";
    for sets in [&[BUFFER][..], &[]] {
        let report = run(FRESH, &[job], sets);
        assert_eq!(number(&report, "flush.latency_ns.max"), 0.0);
        assert_eq!(whole(&report, "flush.requests"), 166, "one after every third write");
        let without = run(FRESH, &[&job.replace("flush_after = 3", "")], sets);
        assert_eq!(at(&report, "pages"), at(&without, "pages"));
        assert!(without.get("flush").is_none());
    }
}

/// Flushes of several jobs, while collections run, pages are rewritten and trimmed, and every part
/// of the way into the drive takes time. The checker compares the versions.
#[test]
fn flushes_hold_what_they_promise_under_load() {
    let hot = "address = { zipf = 1.2 }\ntrim_share = 0.1\nread_share = 0.2\ndepth = 16\n\
               requests = 8000\nflush_after = 5\nclones = 2";
    let bulk = "depth = 32\nrequests = 8000\nflush_after = 64\nsize = \"16 KiB\"\n\
                limit_iops = 40000\nfua_share = 0.3";
    let small = "device.write_buffer.size=\"32 KiB\"";
    let way = [
        "device.firmware.command=\"3 us\"",
        "device.host_link.transfer=\"1 ns/B\"",
        "device.queue_length=24",
        "device.queue_order=\"round-robin\"",
    ];
    for buffer in [small, BUFFER] {
        for way in [&way[..], &[]] {
            let sets = [&[buffer, ACCESS, UNPROTECTED], way].concat();
            let report = run(&format!("{FRESH}{FULL}"), &[hot, bulk], &sets);
            assert!(whole(&report, "flush.requests") > 2000);
            assert!(whole(&report, "gc.count") > 0 && whole(&report, "buffer.hits_write") > 0);
            let waits = number(&report, "flush.latency_ns.mean");
            let way_ns = if way.is_empty() { 0.0 } else { 3_000.0 };
            assert!(waits > way_ns + 100_000.0, "{waits}");
        }
    }
}

/// The cost of flushes: the buffer absorbs fewer rewrites.
#[test]
fn flushes_cost_programs() {
    let job = "address = { zipf = 1.5 }\nrequests = 20000\namount = 10.0";
    let flushed = |keys: &str, sets: &[&str]| {
        let report = run(FRESH, &[&format!("{job}\n{keys}")], &[&[BUFFER], sets].concat());
        whole(&report, "pages.flushed") + whole(&report, "buffer.dirty_at_end")
    };
    let (never, protected) = (flushed("", &[]), flushed("flush_after = 1", &[]));
    assert_eq!(never, protected);
    let every_write = flushed("flush_after = 1", &[UNPROTECTED]);
    assert_eq!(every_write, 20_000);
    let some = flushed("flush_after = 8", &[UNPROTECTED]);
    assert!(never < some && some < every_write, "{never} {some}");
}

/// A write with forced unit access waits for its own program, and no other write does.
#[test]
fn a_fua_write_waits_for_its_own_program() {
    let job = "requests = 500\nfua_share = 1.0";
    let direct = run(FRESH, &["requests = 500"], &[]);
    let write_ns = number(&direct, "latency_ns.write.max");
    let report = run(FRESH, &[job], &[BUFFER, ACCESS, UNPROTECTED]);
    assert_eq!(number(&report, "latency_ns.write.min"), write_ns + 2_000.0);
    assert_eq!(number(&report, "latency_ns.write.max"), write_ns + 2_000.0);
    assert_eq!(number(&report, "blame.write.mean.buffer_ns"), write_ns, "it waits in the buffer");
    assert_eq!(whole(&report, "pages.flushed"), 500);
    assert_eq!(whole(&report, "buffer.dirty_at_end"), 0);
    let half = run(FRESH, &["requests = 120\nfua_share = 0.5"], &[BUFFER, ACCESS, UNPROTECTED]);
    assert_eq!(number(&half, "latency_ns.write.min"), 2_000.0);
    assert!((45..75).contains(&whole(&half, "pages.flushed")), "half of the writes");
    // Protected, and without a buffer.
    for sets in [&[BUFFER, ACCESS][..], &[]] {
        let report = run(FRESH, &[job], sets);
        let without = run(FRESH, &["requests = 500"], sets);
        assert_eq!(at(&report, "result_hash"), at(&without, "result_hash"));
    }
}

#[test]
fn a_register_is_no_place_for_what_must_survive() {
    for key in ["flush_after = 1", "fua_share = 0.5"] {
        let job = format!("[[workload.jobs.job]]\nfile = \"drive\"\n{key}\n");
        let text = format!("{FRESH}[workload.jobs]\n{job}");
        let loaded = refusal(&text, &["device.write_completion=\"loaded\""]);
        assert!(loaded.contains("in a register"), "{loaded}");
    }
}
