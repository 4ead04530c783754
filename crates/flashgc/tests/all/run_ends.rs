//! The ends of runs: jobs on a drive that is read-only, requests that take no time, requests at one
//! instant, and jobs without requests.

use crate::common;

use common::{
    TINY, TINY_DRIVE, at, finish, number, open_tiny, run, run_tiny, run_verified, setup, whole,
};
use flashgc::session::{Options, Phase, Session};
use serde_json::Value;

const MS: u64 = 1_000_000;

/// The tiny drive with these jobs, of which each works on all of it.
fn with_jobs(jobs: &[&str]) -> String {
    let job = |job: &&str| format!("[[workload.jobs.job]]\nfile = \"drive\"\n{job}\n");
    let jobs: String = jobs.iter().map(job).collect();
    format!("{TINY_DRIVE}[precondition]\noverwrite = 1.0\n[workload.jobs]\n{jobs}")
}

/// A drive that becomes read-only after some thousand writes.
const WEARS_OUT: [&str; 3] =
    ["device.failures={erase=0.1}", "device.blocks_per_plane=32", "device.exported=0.5"];

fn sum_over_jobs(report: &Value, key: &str) -> u64 {
    report["jobs"].as_array().expect("jobs").iter().map(|job| whole(job, key)).sum()
}

/// The requests under way when the drive became read-only are served, and each job counts its own.
/// A group that has not begun then never begins.
#[test]
fn jobs_on_a_drive_that_becomes_read_only_count_the_requests_under_way() {
    let many = "name = \"many\"\ndepth = 900\nclones = 2\nflush_after = 3";
    let few = "name = \"few\"\ndepth = 5\nread_share = 0.5\ntrim_share = 0.1";
    let late = "name = \"late\"\nafter_others = true";
    let timed = "name = \"timed\"\nstart = \"1000 s\"";
    let amount = ["\namount = 50.0"; 4];
    let jobs: Vec<String> = [many, few, timed, late]
        .iter()
        .zip(amount)
        .map(|(job, more)| format!("{job}{more}"))
        .collect();
    let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
    for buffer in [None, Some(common::BUFFER)] {
        let sets = WEARS_OUT.into_iter().chain(buffer).collect::<Vec<_>>();
        let report = run_verified(&with_jobs(&jobs), &sets);
        assert_eq!(at(&report, "failures.read_only"), true);
        for kind in ["read", "write", "trim"] {
            let key = format!("requests.{kind}");
            assert_eq!(sum_over_jobs(&report, &key), whole(&report, &key), "{kind}");
            let bytes = sum_over_jobs(&report, &format!("bytes.{kind}"));
            assert_eq!(bytes, 4096 * whole(&report, &key), "{kind}");
        }
        let of_jobs = report["jobs"].as_array().expect("jobs");
        assert_eq!(whole(&of_jobs[0], "flush.requests"), whole(&report, "flush.requests"));
        let ends: Vec<u64> = of_jobs.iter().map(|job| whole(job, "ended_ns")).collect();
        assert!(ends[0] > 0 && ends[1] > 0, "{ends:?}");
        assert!(ends.iter().all(|&end| end <= whole(&report, "simulated_ns")), "{ends:?}");
        let of_later = [&of_jobs[2], &of_jobs[3]].map(|job| {
            let requests =
                ["read", "write", "trim"].map(|kind| whole(job, &format!("requests.{kind}")));
            (requests.iter().sum::<u64>(), whole(job, "begun_ns"), whole(job, "ended_ns"))
        });
        assert_eq!(of_later, [(0, 0, 0); 2], "neither has begun");
    }
}

/// A drive that is read-only ends a job whose requests are all done at that instant as well.
#[test]
fn a_job_of_depth_one_ends_with_its_last_request() {
    let report = run_verified(&with_jobs(&["amount = 50.0"]), &WEARS_OUT);
    assert_eq!(at(&report, "failures.read_only"), true);
    let job = &at(&report, "jobs")[0];
    assert_eq!(whole(job, "requests.write"), whole(&report, "requests.write"));
    assert!(number(job, "iops.write") > 0.0);
}

const TIMED: &str = "name = \"timed\"\ntime_based = true\nruntime = \"1 ms\"\nsize = \"4 KiB\"";

/// Whatever takes no time: trims, reads of pages that hold nothing, and writes into a buffer that
/// takes them at once.
#[test]
fn a_timed_job_whose_requests_take_no_time_is_an_error() {
    let empty = ["precondition.fill=\"none\"", "precondition.overwrite=0.0"];
    let buffer = ["device.write_buffer.size=\"64 KiB\"", "device.write_buffer.access=\"0 ns\""];
    for (more, sets) in [
        ("trim_share = 1.0\nclones = 2\nflush_after = 3", &[][..]),
        ("read_share = 1.0", &empty),
        ("span = \"16 KiB\"", &buffer),
    ] {
        let setup = setup(&with_jobs(&[&format!("{TIMED}\n{more}")]), sets);
        let error = finish(setup, None, false).expect_err("it never ends");
        let parts = [
            "job \"timed\" issued 1010000 requests at 0 ns",
            "its end at 1000000 ns",
            "`device.firmware.command = \"5 us\"`",
        ];
        for part in parts {
            assert!(error.contains(part), "{more}\nexpected: {part}\nfound: {error}");
        }
    }
}

/// A trim costs its command.
#[test]
fn a_timed_job_of_trims_ends_where_commands_take_time() {
    let job = format!("{TIMED}\ntrim_share = 1.0");
    let report = run_verified(&with_jobs(&[&job]), &["device.firmware.command=\"5 us\""]);
    assert_eq!(whole(&report, "requests.trim"), 200);
    assert_eq!(whole(&report, "simulated_ns"), MS);
    assert_eq!(number(&at(&report, "jobs")[0], "latency_mean_ns.trim"), 5000.0);
}

/// The caller can stop within an instant that lasts.
#[test]
fn a_session_returns_while_requests_take_no_time() {
    let long = [
        "workload.synthetic.requests=1_000_000_000_000",
        "workload.synthetic.trim_share=1.0",
        "workload.synthetic.read_share=0.0",
    ];
    let mut session = Session::new(setup(TINY, &long), None, Options::default());
    let mut in_run = 0;
    while in_run < 3 {
        let progress = session.advance().expect("it goes on");
        in_run += u32::from(progress.phase == Phase::Run);
        assert_eq!(progress.now_ns, 0);
    }
}

#[test]
fn a_job_of_nothing_issues_nothing() {
    for amount in ["\"0 B\"", "0.0"] {
        let nothing = format!("name = \"nothing\"\namount = {amount}");
        let report = run_verified(&with_jobs(&[&nothing, "name = \"some\"\nrequests = 7"]), &[]);
        let requests = |at_job: usize| whole(&at(&report, "jobs")[at_job], "requests.write");
        assert_eq!((requests(0), requests(1)), (0, 7), "{amount}");
        let alone = run_verified(&with_jobs(&[&nothing]), &[]);
        assert_eq!((whole(&alone, "requests.write"), whole(&alone, "simulated_ns")), (0, 0));
    }
    // A scale makes amounts small, and none of them nothing.
    let small = with_jobs(&["amount = \"1 MiB\""]);
    let report = run_verified(&small, &["workload.jobs.scale=0.000001"]);
    assert_eq!(whole(&report, "requests.write"), 1);
}

/// Requests that all come at once are not served as fast as they come, at whatever distance.
#[test]
fn requests_that_come_at_once_saturate_the_drive() {
    let open = open_tiny();
    for gap in ["0 ns", "1 ns", "100 ns"] {
        let arrivals = format!("workload.synthetic.interarrival={{fixed=\"{gap}\"}}");
        let report = run(&open, &[&arrivals]);
        assert_eq!(at(&report, "saturated"), true, "{gap}");
        assert_eq!(at(&report, "steady.verdict"), "no", "{gap}");
        let reasons = at(&report, "steady.reasons").to_string();
        assert!(reasons.contains("faster than"), "{gap}: {reasons}");
    }
    // A few requests at once do not count as load.
    let few = ["workload.synthetic.interarrival={fixed=\"0 ns\"}", "workload.synthetic.requests=8"];
    assert_eq!(at(&run(&open, &few), "saturated"), false);
}

/// A buffer that takes every page of the drive never flushes; one that is not full yet will.
#[test]
fn a_write_buffer_that_takes_the_whole_drive_never_collects() {
    let report = run_tiny(&["device.write_buffer.size=\"64 MiB\""]);
    assert_eq!(at(&report, "steady.verdict"), "no GC");
    assert!(at(&report, "steady.more_requests").is_null());
    let why = at(&report, "steady.nothing_moved").to_string();
    assert!(why.contains("the write buffer takes every page of the drive"), "{why}");
    assert!(!why.contains("more requests"), "{why}");
    let few = ["device.write_buffer.size=\"1 MiB\"", "workload.synthetic.requests=100"];
    let report = run_tiny(&few);
    assert_eq!(at(&report, "steady.verdict"), "no");
    let more = whole(&report, "steady.more_requests");
    let longer = format!("workload.synthetic.requests={}", 100 + 3 * more);
    assert!(more > 100, "{more}");
    assert!(whole(&run_tiny(&[few[0], &longer]), "gc.count") > 0, "{more}");
}

/// A link or a firmware that takes no time is none: no order of events depends on it.
#[test]
fn a_link_or_a_firmware_without_time_is_as_none() {
    let ways: [&[&str]; 4] = [
        &["device.host_link.transfer=\"0 ns/B\""],
        &["device.firmware.command=\"0 ns\""],
        &["device.host_link.transfer=\"0 ns/B\"", "device.firmware={command=\"0 ns\",cores=3}"],
        &["device.firmware={command=\"0 ns\",jitter.normal={mean=\"0 ns\",stddev=\"0 ns\"}}"],
    ];
    for base in [
        &["device.allocation=\"dynamic\"", "device.pages_per_block=1"][..],
        &["workload.synthetic.size=\"20 KiB\"", "device.write_buffer.size=\"64 KiB\""],
        &["workload.synthetic.trim_share=0.2", "device.queue_length=3"],
    ] {
        let plain = run_tiny(base);
        for way in ways {
            let report = run_tiny(&[base, way].concat());
            assert_eq!(at(&report, "result_hash"), at(&plain, "result_hash"), "{base:?} {way:?}");
            assert_eq!(at(&report, "utilisation"), at(&plain, "utilisation"), "{base:?} {way:?}");
        }
    }
}
