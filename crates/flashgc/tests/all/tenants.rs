//! Tenants: jobs that share a drive have latencies and blame of their own, queues that are served
//! by turns, and a firmware that handles each command.

use crate::common;

use common::{at, finish_with, number, refusal, setup, whole};
use flashgc::session::Options;
use serde_json::Value;

/// A drive that collects, without jobs.
const DRIVE: &str = r#"
[device]
preset = "slc-msr"
blocks_per_plane = 24
channels = 2
exported = 0.75
[precondition]
overwrite = 1.0
"#;

/// A reader of low depth beside a writer.
const JOBS: [&str; 2] = [
    "name = \"reader\"\nread_share = 1.0\ndepth = 4\nrequests = 3000",
    "name = \"writer\"\ndepth = 64\nrequests = 20000",
];

fn run(jobs: &[&str], sets: &[&str]) -> Value {
    let job = |job: &&str| format!("[[workload.jobs.job]]\nfile = \"drive\"\n{job}\n");
    let jobs: String = jobs.iter().map(job).collect();
    let options = Options { verify: true, blame: true, ..Options::default() };
    let setup = setup(&format!("{DRIVE}[workload.jobs]\n{jobs}"), sets);
    finish_with(setup, None, options).expect("the run goes on")
}

/// The parts of a row of blame.
fn parts(row: &Value) -> f64 {
    ["service_ns", "host_ns", "collection_ns", "space_ns", "buffer_ns"]
        .iter()
        .map(|key| number(row, key))
        .sum()
}

#[test]
fn each_job_has_its_latencies_and_its_blame() {
    let report = run(&JOBS, &[]);
    let jobs = at(&report, "jobs").as_array().expect("rows");
    assert_eq!(jobs.len(), 2);
    for (job, op, other) in [(0, "read", "write"), (1, "write", "read")] {
        let job = &jobs[job];
        let latency = at(job, &format!("latency_ns.{op}"));
        assert_eq!(latency, at(&report, &format!("latency_ns.{op}")), "one job has all of a kind");
        assert_eq!(whole(latency, "count"), whole(job, &format!("requests.{op}")));
        assert_eq!(whole(job, &format!("latency_ns.{other}.count")), 0);
        let blame = at(job, &format!("blame.{op}"));
        assert_eq!(blame, at(&report, &format!("blame.{op}")));
        for row in ["mean", "p99", "p99_9"] {
            let row = at(blame, row);
            let sum = parts(row);
            assert!((sum - number(row, "latency_ns")).abs() <= 1e-6 * sum, "{sum} {row}");
        }
        assert!(number(blame, "p99_9.collection_ns") > 0.0);
    }
}

/// Reads of a job of weight 3 over those of one of weight 1, both of which always wait.
fn share(sets: &[&str]) -> f64 {
    let reads = "read_share = 1.0\ndepth = 64\nruntime = \"3 s\"\ntime_based = true";
    let thrice = format!("{reads}\nweight = 3");
    let report = run(&[reads, &thrice], &[&["device.queue_length=4"], sets].concat());
    let jobs = at(&report, "jobs").as_array().expect("rows");
    number(&jobs[1], "requests.read") / number(&jobs[0], "requests.read")
}

#[test]
fn turns_share_the_places_by_weight() {
    let by_turns = share(&["device.queue_order=\"round-robin\""]);
    assert!((by_turns - 3.0).abs() < 0.03, "{by_turns}");
    let by_arrival = share(&[]);
    assert!((by_arrival - 1.0).abs() < 0.02, "{by_arrival}");
}

#[test]
fn turns_without_jobs_are_refused() {
    let text = format!("{DRIVE}[workload.synthetic]\nrequests = 1\nqueue_depth = 1\n");
    let sets = ["device.queue_length=4", "device.queue_order=\"round-robin\""];
    assert!(refusal(&text, &sets).contains("the workload has no jobs"));
}

/// No more commands than cores over the time of one, and an unloaded request is later by it.
#[test]
fn the_firmware_bounds_the_rate_of_commands() {
    let reads = "read_share = 1.0\ndepth = 64\nrequests = 5000";
    for cores in [1, 2] {
        let cores_set = format!("device.firmware.cores={cores}");
        let report = run(&[reads], &["device.firmware.command=\"200 us\"", &cores_set]);
        let iops = number(&report, "throughput.iops");
        let bound = f64::from(cores) * 5e3;
        assert!(iops <= bound && iops > 0.97 * bound, "{cores}: {iops}");
        assert!(number(&report, "utilisation.firmware.host") > 0.97);
    }
    let one = "read_share = 1.0\nrequests = 500";
    let without = number(&run(&[one], &[]), "latency_ns.read.min");
    let with = number(&run(&[one], &["device.firmware.command=\"7 us\""]), "latency_ns.read.min");
    assert_eq!(with - without, 7_000.0);
}
