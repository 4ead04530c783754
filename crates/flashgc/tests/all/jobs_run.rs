//! Concurrent jobs on a simulated drive: under every scheme, in any way, and with mistakes.

use crate::common;

use crate::jobs::{MS, text};
use common::{TINY, at, refusal, run, run_verified, setup, whole};
use flashgc::config::WorkloadPlan;

/// The tiny drive with other work than its own.
fn tiny(jobs: &str) -> String {
    let (device, _) = TINY.split_once("[workload.synthetic]").expect("its workload");
    let jobs = jobs.replace("[[job]]", "[[workload.jobs.job]]");
    format!(
        "{device}[workload.jobs]\n{jobs}\n[precondition]\nfill = \"sequential\"\noverwrite = 1.0"
    )
}

const MIXED: &str = "
    [[job]]
    name = \"reader\"
    file = \"shared\"
    span = \"1 MiB\"
    read_share = 1.0
    read_size = { \"512 B\" = 1, \"8 KiB\" = 1 }
    depth = 4
    time_based = true
    runtime = \"300 ms\"
    [[job]]
    name = \"writer\"
    file = \"shared\"
    span = \"1 MiB\"
    size = { \"1 KiB\" = 1, \"4 KiB\" = 2, \"12 KiB\" = 1 }
    align = \"512 B\"
    iops = 500
    depth = 32
    time_based = true
    runtime = \"300 ms\"
    [[job]]
    name = \"trimmer\"
    clones = 2
    span = \"128 KiB\"
    trim_share = 1.0
    trim_then_write = true
    once = true
    think = \"1 ms\"";

#[test]
fn jobs_run_under_every_scheme_and_the_checker() {
    for scheme in ["greedy", "cost-benefit", "parallel", "fpgc", "pregc", "bbgc", "idle"] {
        let mut sets = vec![format!("gc.scheme=\"{scheme}\"")];
        sets.push("device.registers=4".into());
        sets.push("device.suspend.suspend=\"20 us\"".into());
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let Some(_) = common::prepare_or_none(&tiny(MIXED), &sets) else {
            assert!(
                !["greedy", "cost-benefit", "parallel"].contains(&scheme),
                "{scheme} runs here"
            );
            continue;
        };
        let report = run_verified(&tiny(MIXED), &sets);
        let jobs = report["jobs"].as_array().expect("a list");
        let depths: Vec<u64> = jobs.iter().map(|job| whole(job, "in_flight_max")).collect();
        assert!(depths[0] == 4 && depths[1] <= 32 && depths[2] == 1, "{scheme}: {depths:?}");
        assert_eq!(whole(&jobs[2], "requests.trim"), 64, "{scheme}");
        assert_eq!(whole(&jobs[2], "requests.write"), 64, "{scheme}");
        assert!((149..=151).contains(&whole(&jobs[1], "requests.write")), "{scheme}");
        assert!(whole(&report, "simulated_ns") >= 300 * MS, "{scheme}");
        for op in ["read", "write", "trim"] {
            let sum: u64 = jobs.iter().map(|job| whole(job, &format!("requests.{op}"))).sum();
            assert_eq!(sum, whole(&report, &format!("requests.{op}")), "{scheme}");
        }
    }
}

#[test]
fn runs_of_jobs_are_the_same_in_any_way() {
    let text = tiny(MIXED);
    let hash = |sets: &[&str]| at(&run(&text, sets), "result_hash").clone();
    let plain = hash(&[]);
    assert_eq!(plain, hash(&[]));
    assert_eq!(plain, hash(&["engine.coalesce=false"]));
    assert_ne!(plain, hash(&["seed=2"]));
}

#[test]
fn a_rate_beyond_the_drive_is_noted() {
    let report =
        run(&tiny("[[job]]\nname = \"fast\"\nspan = \"1 MiB\"\niops = 100_000\ndepth = 2"), &[]);
    let notes = at(&report, "notes").to_string();
    assert!(notes.contains("job \\\"fast\\\" reached"), "{notes}");
    let slow = run(&tiny("[[job]]\nspan = \"1 MiB\"\niops = 100\ndepth = 8"), &[]);
    assert!(!at(&slow, "notes").to_string().contains("reached"), "{}", slow["notes"]);
}

#[test]
fn mistakes_in_jobs_are_named() {
    for (jobs, parts) in [
        ("[[job]]\n", ["job \"job 1\" has no size for its file", "file = \"drive\""]),
        ("scale = 2.0", ["missing key `workload.jobs.job`", "[[workload.jobs.job]]"]),
        ("[[job]]\nspan = \"1 MiB\"\ntime_based = true", ["needs a `runtime`", "10 s"]),
        ("[[job]]\nspan = \"1 MiB\"\nflow_id = 1", ["needs `flow`", "flow = 1"]),
        (
            "[[job]]\nspan = \"1 MiB\"\nflow = 1\n[[job]]\nspan = \"1 MiB\"\nflow = 2\n\
             after_others = true",
            ["wait for its requests", "another `flow_id`"],
        ),
        ("[[job]]\nspan = \"2 KiB\"", ["requests of 4096 bytes, but works on 2048", "span"]),
        // Found by histories: a pass ended before its first write, without an end.
        (
            "[[job]]\nspan = \"14 KiB\"\npasses = \"new\"\nread_share = 0.7\nsize = \"22 KiB\"\n\
             read_size = \"4 KiB\"",
            ["requests of 22528 bytes, but works on 14336", "span"],
        ),
        ("[[job]]\nspan = \"1 MiB\"\nclones = 5000", ["out of range", "4096"]),
        ("[[job]]\nspan = \"1 MiB\"\nread_share = 0.7\ntrim_share = 0.7", ["at most 1", "writes"]),
        ("[[job]]\nspan = \"1 MiB\"\ntrim_then_write = true", ["trim_share = 1.0", "trim"]),
        ("[[job]]\nspan = \"1 MiB\"\npoisson = true", ["`poisson` needs `iops`", "iops = 1000"]),
        (
            "[[job]]\nspan = \"1 MiB\"\nonce = true\naddress = { zipf = 1.0 }",
            ["`once` needs", "uniform"],
        ),
        ("[[job]]\nspan = \"1 MiB\"\naddress = { pareto = 1.0 }", ["above 0 and below 1", "0.2"]),
        (
            "[[job]]\nspan = \"1 MiB\"\n\
             address = { zones = [{ bytes = \"1 MiB\", requests = 0.9 }] }",
            ["must add up to 1", "change"],
        ),
        (
            "[[job]]\nspan = \"1 MiB\"\n\
             address = { zones = [{ bytes = \"2 MiB\", requests = 1.0 }] }",
            ["works on 1048576 bytes", "zones"],
        ),
        ("[[job]]\nspan = \"1 MiB\"\nrate = \"0 ns/B\"", ["a rate must be finite", "100 MB/s"]),
        ("[[job]]\nspan = \"1 MiB\"\nsizes = 1", ["unknown key `sizes`", "`size`"]),
        (
            "[[job]]\nspan = \"900 GiB\"",
            ["the files of the jobs need", "workload.jobs.scale = 0.000"],
        ),
    ] {
        let found = refusal(&text(jobs), &[]);
        for part in parts {
            assert!(found.contains(part), "{jobs}\nexpected: {part}\nfound: {found}");
        }
    }
    let large = refusal(&text("[[job]]\nclones = 8\nspan = \"1 GiB\""), &[]);
    let scale = large.split("scale = ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let scale: f64 = scale.and_then(|text| text.parse().ok()).expect("a scale");
    setup(&text(&format!("scale = {scale}\n[[job]]\nclones = 8\nspan = \"1 GiB\"")), &[]);
    let until = refusal(&text("[[job]]\nspan = \"1 MiB\""), &["workload.until=\"steady\""]);
    assert!(until.contains("`until` cannot be combined with jobs"), "{until}");
    let both = refusal(
        &text("[[job]]\nspan = \"1 MiB\"\n[workload.synthetic]\nrequests = 10\nqueue_depth = 1"),
        &[],
    );
    assert!(both.contains("both [workload.jobs] and [workload.synthetic]"), "{both}");
    let unread = refusal("[device]\npreset = \"slc-msr\"\n[workload]\nfio = \"a.fio\"", &[]);
    assert!(unread.contains("was not read"), "{unread}");
}

#[test]
fn a_job_file_lies_below_the_configuration() {
    let mut given =
        common::inputs("[device]\npreset = \"slc-msr\"\n[workload]\nfio = \"a.fio\"", &[]);
    given.jobs = Some((
        "a.fio".into(),
        text("[[job]]\nspan = \"1 MiB\"")
            .replace("[device]\npreset = \"slc-msr\"\nblocks_per_plane = 40\n", ""),
    ));
    let jobs = |inputs: &flashgc::session::Inputs| {
        let setup = flashgc::session::prepare(inputs).unwrap_or_else(|errors| panic!("{errors}"));
        matches!(setup.workload, WorkloadPlan::Jobs(_))
    };
    assert!(jobs(&given));
    // An assignment of another workload replaces it.
    let mut other = given.clone();
    other.sets =
        vec!["workload.synthetic.requests=10".into(), "workload.synthetic.queue_depth=1".into()];
    assert!(!jobs(&other));
    // A file that an assignment names replaces the workload of the configuration.
    let mut named = given.clone();
    named.text = TINY.into();
    named.sets = vec!["workload.fio=\"a.fio\"".into()];
    assert!(jobs(&named));
}
