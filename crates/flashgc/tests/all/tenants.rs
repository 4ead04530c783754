//! Tenants: jobs that share a drive have latencies and blame of their own, queues that are served
//! round robin, and a firmware that handles each command.

use crate::common;

use common::{at, finish_with, number, refusal, setup, whole};
use flashgc::session::Options;
use serde_json::Value;

/// A drive that collects, without jobs.
pub const DRIVE: &str = r#"
[device]
preset = "slc-msr"
blocks_per_plane = 24
channels = 2
exported = 0.75
[precondition]
overwrite = 1.0
"#;

/// A reader of low depth and a writer.
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

/// The ratio of the reads of a job with weight 3 to those of a job with weight 1, both of which
/// always wait.
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

/// A limited job gets its limit and no more, and its waits are its depth over the limit.
#[test]
fn a_limit_bounds_the_rate_of_a_job() {
    let reads = "read_share = 1.0\ndepth = 8\nrequests = 4000\nsize = \"8 KiB\"";
    for limit in ["limit_iops = 1000", "limit_rate = \"8192 kB/s\""] {
        let report = run(&[&format!("{reads}\n{limit}")], &[]);
        let job = &at(&report, "jobs")[0];
        // The first is admitted at once, and the last some reads after 3,999 ms.
        let ended_ns = number(job, "ended_ns");
        assert!((3.999e9..4.003e9).contains(&ended_ns), "{limit}: {ended_ns}");
        let mean_ns = number(job, "latency_mean_ns.read");
        assert!((mean_ns - 8e6).abs() < 0.01 * 8e6, "{limit}: {mean_ns}");
    }
}

/// The limit is of all clones, also where their turn is due, and others gain by it.
#[test]
fn a_limit_protects_the_neighbours() {
    let reader = "read_share = 1.0\nruntime = \"2 s\"\ntime_based = true";
    let writer = "depth = 32\nclones = 2\nruntime = \"2 s\"\ntime_based = true";
    let limited = format!("{writer}\nlimit_iops = 200");
    let sets = ["device.queue_length=8", "device.queue_order=\"round-robin\""];
    let read_ns = |writer: &str, sets: &[&str]| {
        let report = run(&[reader, writer], sets);
        let jobs = at(&report, "jobs").as_array().expect("rows").clone();
        let writes = number(&jobs[1], "requests.write");
        (number(&jobs[0], "latency_ns.read.p99"), writes)
    };
    let (without_ns, _) = read_ns(writer, &sets);
    for sets in [&sets[..], &[]] {
        let (with_ns, writes) = read_ns(&limited, sets);
        // Requests that wait when the time is over are still written.
        assert!((400.0..=401.0 + 64.0).contains(&writes), "{writes}");
        assert!(with_ns < 0.5 * without_ns, "{with_ns} {without_ns}");
    }
}

/// A job that was held up does not catch up, unlike one with a rate.
#[test]
fn what_a_limit_leaves_is_lost() {
    let pauses =
        "read_share = 1.0\nrequests = 100\nthink = \"20 ms\"\nthink_after = 10\ndepth = 10";
    let limited = run(&[&format!("{pauses}\nlimit_iops = 1000")], &[]);
    let paced = run(&[&format!("{pauses}\niops = 1000")], &[]);
    let ended_ns = |report: &Value| number(&at(report, "jobs")[0], "ended_ns");
    // Ten times nine intervals of the limit, or 100 requests at the rate; and nine pauses.
    assert!((ended_ns(&limited) - 270e6).abs() < 6e6, "{}", ended_ns(&limited));
    assert!(ended_ns(&paced) < 210e6, "{}", ended_ns(&paced));
}

#[test]
fn the_checker_notices_a_request_that_its_limit_had_not_admitted() {
    use flashgc::verify::checker::Checker;
    use flashgc::verify::{Happened, Watch};
    let text = format!("{DRIVE}[[workload.jobs.job]]\nfile = \"drive\"\nlimit_iops = 1000\n");
    let setup = setup(&text, &[]);
    let arrives = |request| Happened::Arrived {
        request,
        job: 0,
        offset_bytes: 0,
        size_bytes: 4096,
        hint: 0,
        fua: false,
        outstanding: 1,
    };
    let admitted = |request| Happened::Admitted { request };
    let crosses = |request| Happened::Crosses { request };
    let story = |facts: &[(u64, Happened)]| {
        let facts = facts.to_vec();
        let setup = &setup;
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let drive = flashgc::drive::Drive::aged(&setup.plan.geometry, 0.5);
            let mut checker = Checker::with_drive(&setup.plan, &drive);
            facts.iter().for_each(|&(at_ns, fact)| checker.observe(at_ns, fact));
        }))
        .is_ok()
    };
    let both = [(0, arrives(0)), (0, arrives(1)), (0, admitted(0)), (0, crosses(0))];
    assert!(story(&[&both[..], &[(1_000_000, admitted(1))]].concat()));
    assert!(!story(&[&both[..], &[(999_999, admitted(1))]].concat()), "too early");
    assert!(!story(&[&both[..], &[(1_000_000, crosses(1))]].concat()), "not admitted");
    assert!(!story(&[(0, arrives(0)), (0, arrives(1)), (0, admitted(1))]), "out of order");
}

/// A job of the example of docs/tenants.md, or both, on a small drive and for a tenth of the time.
fn example(jobs: std::ops::Range<usize>, scheme: &str) -> Value {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/tenants.md")).expect("the page");
    let toml = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let toml = toml.expect("the example").replace("20 s", "2 s").replace("= 256", "= 48");
    let (drive, rest) = toml.split_once("[[workload.jobs.job]]").expect("jobs");
    let tables: Vec<&str> = rest.split("[[workload.jobs.job]]").collect();
    let jobs = tables[jobs].iter().map(|job| format!("[[workload.jobs.job]]{job}"));
    let scheme = format!("gc.scheme=\"{scheme}\"");
    let setup = setup(
        &format!("{drive}{}", jobs.collect::<String>()),
        &[&scheme, "device.suspend.suspend=\"20 us\""],
    );
    let options = Options { blame: true, ..Options::default() };
    finish_with(setup, None, options).expect("the run goes on")
}

/// The table of docs/tenants.md in short: each tenant alone and together, under four schemes.
#[test]
fn two_tenants_alone_and_together_under_four_schemes() {
    let alone = example(0..1, "greedy");
    let reader = &at(&alone, "jobs")[0];
    assert_eq!(whole(reader, "latency_ns.read.p99_9"), whole(reader, "latency_ns.read.min"));
    let mut tails = Vec::new();
    for scheme in ["greedy", "pgc", "fpgc", "tokens"] {
        let (alone, both) = (example(1..2, scheme), example(0..2, scheme));
        let (jobs, lone) = (at(&both, "jobs"), &at(&alone, "jobs")[0]);
        let (writes, wrote) = (number(&jobs[1], "requests.write"), number(lone, "requests.write"));
        assert!((0.85..1.02).contains(&(writes / wrote)), "{scheme}: {writes} of {wrote}");
        for (job, kind) in [(&jobs[0], "read"), (&jobs[1], "write"), (lone, "write")] {
            let (blame, latency) = (format!("blame.{kind}.p99_9"), format!("latency_ns.{kind}"));
            let sum = parts(at(job, &blame));
            assert_eq!(sum, number(job, &format!("{latency}.p99_9")), "{scheme} {kind}");
        }
        let part = |key| number(&jobs[0], &format!("blame.read.p99_9.{key}"));
        // Only without preemption does the reader wait for the collection itself.
        assert_eq!(part("collection_ns") > part("host_ns"), scheme == "greedy", "{scheme}");
        tails.push(number(&jobs[0], "latency_ns.read.p99_9"));
    }
    assert!(tails[3] < tails[0] / 5.0, "tokens protect the reader: {tails:?}");
    assert!(tails[2] < tails[0], "{tails:?}");
}
