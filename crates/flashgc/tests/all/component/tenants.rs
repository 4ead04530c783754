//! Requests of several tenants: each has a row in the report, and a queue with a weight and limits.

use super::requests::random;
use super::{DRIVES, drive_of, hash, run, sets, submit, with_parts};
use crate::common::{Choices, inputs};
use flashgc::component::{self, Completion, Component, Options, Request, Why};
use flashgc::session::{self, prepare};
use flashgc::workload::{HostOp, HostRequest};
use serde_json::Value;

const THREE: &str = "workload.tenants=[{ name = \"a\" }, { name = \"b\" }, { name = \"c\" }]";
const MS: u64 = 1_000_000;

/// Random requests, each of one of three tenants.
fn of_three(seed: u64, count: usize) -> Vec<HostRequest> {
    let mut choices = Choices::new(seed + 1);
    let of_one = |request| HostRequest { job: choices.below(3) as u16, ..request };
    random(seed, count).into_iter().map(of_one).collect()
}

/// A drive that the checkers watch.
fn checked(own: &[&str]) -> Component {
    let session = session::Options { verify: true, blame: true, ..session::Options::default() };
    drive_of(&sets(&[own]), Options { session, ..Options::default() })
}

fn served(drive: &mut Component, requests: &[HostRequest]) -> Vec<Completion> {
    (0..).zip(requests).for_each(|(tag, request)| submit(drive, request, tag));
    drive.drain().unwrap_or_else(|why| panic!("{why}")).to_vec()
}

fn finished(drive: Component) -> Value {
    drive.finish().unwrap_or_else(|why| panic!("{why}")).to_json()
}

/// The share of a report that a tenant's row says of its requests must be that of its completions.
fn row_is_of(row: &Value, requests: &[HostRequest], done: &[Completion], tenant: u16) {
    let own = |one: &&Completion| requests[one.tag as usize].job == tenant;
    let own: Vec<&Completion> = done.iter().filter(own).collect();
    for op in [HostOp::Read, HostOp::Write, HostOp::Trim] {
        let of_kind: Vec<_> = own.iter().filter(|one| one.op == op).collect();
        let bytes: u64 = of_kind.iter().map(|one| requests[one.tag as usize].bytes).sum();
        let longest = of_kind.iter().map(|one| one.latency_ns).max().unwrap_or(0);
        assert_eq!(row["requests"][op.name()], of_kind.len(), "tenant {tenant}");
        assert_eq!(row["bytes"][op.name()], bytes, "tenant {tenant}");
        assert_eq!(row["latency_max_ns"][op.name()], longest, "tenant {tenant}");
    }
    let flushes = own.iter().filter(|one| one.op == HostOp::Flush).count();
    assert_eq!(row["flush"]["requests"].as_u64().unwrap_or(0), flushes as u64);
    assert_eq!(row["ended_ns"], own.last().expect("it has requests").at_ns);
}

#[test]
fn tenants_without_weights_and_limits_change_no_result_and_have_rows() {
    let requests = of_three(21, 600);
    for own in DRIVES {
        let given = sets(&[own, &[THREE]]);
        let mut drive = drive_of(&given, with_parts());
        assert_eq!(drive.tenants().collect::<Vec<_>>(), ["a", "b", "c"]);
        let done = served(&mut drive, &requests);
        let so_far = drive.statistics().unwrap_or_else(|why| panic!("{why}")).to_json();
        let report = finished(drive);
        assert_eq!(hash(&report), hash(&run(&sets(&[own]), &requests)), "{own:?}");
        let rows = report["jobs"].as_array().expect("a row for each tenant");
        assert_eq!(so_far["jobs"], report["jobs"], "{own:?}");
        for (tenant, row) in (0..).zip(rows) {
            assert_eq!(row["name"], ["a", "b", "c"][usize::from(tenant)]);
            row_is_of(row, &requests, &done, tenant);
            for op in ["read", "write"] {
                let parts = &row["blame"][op]["mean"];
                let keys = ["service_ns", "host_ns", "space_ns", "buffer_ns", "collection_ns"];
                let sum: f64 = keys.iter().map(|key| parts[key].as_f64().expect("a part")).sum();
                let mean = row["latency_mean_ns"][op].as_f64().expect("a mean");
                assert!((sum - mean).abs() < 1e-3 * mean, "{own:?}: {sum} of {mean}");
            }
        }
    }
}

/// 100 reads of two tenants at 0: those of the second are admitted one a millisecond.
#[test]
fn a_limit_holds_the_requests_of_its_tenant() {
    let limited = "workload.tenants=[{ name = \"free\" }, { name = \"slow\", limit_iops = 1000 }]";
    let mut drive = checked(&[limited]);
    let page = |at: u64| HostRequest::from_bytes(0, HostOp::Read, at * 4096, 4096, 4096);
    let requests: Vec<HostRequest> =
        (0..100).map(|at| HostRequest { job: (at % 2) as u16, ..page(at) }).collect();
    let done = served(&mut drive, &requests);
    let slow: Vec<u64> = done.iter().filter(|one| one.tag % 2 == 1).map(|one| one.at_ns).collect();
    for (number, at_ns) in (0..).zip(slow) {
        assert!((number * MS..(number + 1) * MS + 10 * MS).contains(&at_ns), "{number}: {at_ns}");
        assert!(number < 20 || at_ns < (number + 1) * MS, "{number}: {at_ns}");
    }
    let report = finished(drive);
    assert_eq!(report["jobs"][1]["in_flight_max"], 50);
    let waited = report["jobs"][1]["blame"]["read"]["mean"]["host_ns"].as_f64().expect("a wait");
    assert!((23e6..25e6).contains(&waited), "{waited}");
}

/// A closed loop from outside, whose requests come in by a shorter way, has the limit too.
#[test]
fn a_limit_holds_the_answers_of_a_closed_loop() {
    let mut drive = checked(&["workload.tenants=[{ name = \"slow\", limit_iops = 1000 }]"]);
    let read = |at_ns| HostRequest::from_bytes(at_ns, HostOp::Read, 0, 4096, 4096);
    submit(&mut drive, &read(0), 0);
    for tag in 1..=20 {
        drive.advance_to_completion(u64::MAX).unwrap_or_else(|why| panic!("{why}"));
        let now_ns = drive.now_ns();
        submit(&mut drive, &read(now_ns), tag);
    }
    drive.drain().unwrap_or_else(|why| panic!("{why}"));
    assert!((20 * MS..21 * MS).contains(&drive.now_ns()), "{}", drive.now_ns());
}

/// Of two tenants that always wait for the one place of a drive, the one with weight 3 has three
/// turns of four.
#[test]
fn weights_share_the_places_of_a_drive() {
    let own = [
        "workload.tenants=[{ name = \"heavy\", weight = 3 }, { name = \"light\" }]",
        "device.queue_length=1",
        "device.queue_order=\"round-robin\"",
    ];
    let mut drive = checked(&own);
    let read = HostRequest::from_bytes(0, HostOp::Read, 0, 4096, 4096);
    let requests: Vec<HostRequest> =
        (0..80).map(|at| HostRequest { job: (at / 40) as u16, ..read }).collect();
    let done = served(&mut drive, &requests);
    let heavy = |part: &[Completion]| part.iter().filter(|one| one.tag < 40).count();
    // The very first one finds the place free.
    assert_eq!(done[1..41].chunks(4).map(heavy).collect::<Vec<_>>(), [3; 10]);
    let report = finished(drive);
    assert!(report["jobs"][0]["ended_ns"].as_u64() < report["jobs"][1]["ended_ns"].as_u64());
}

#[test]
fn rows_of_tenants_go_back_with_a_snapshot() {
    let requests = of_three(5, 400);
    let mut drive = drive_of(&sets(&[&[THREE]]), with_parts());
    served(&mut drive, &requests[..200]);
    let snapshot = drive.snapshot().expect("a snapshot");
    let later = |request: &HostRequest, from_ns: u64| HostRequest { at_ns: from_ns, ..*request };
    let now_ns = drive.now_ns();
    let rest: Vec<HostRequest> = requests[200..].iter().map(|one| later(one, now_ns)).collect();
    served(&mut drive, &rest);
    let once = drive.statistics().expect("a report").to_json();
    drive.restore(&snapshot).expect("its own snapshot");
    served(&mut drive, &rest);
    assert_eq!(once["jobs"], finished(drive)["jobs"]);
}

#[test]
fn a_tenant_that_is_not_there_is_an_error() {
    let submit = |own: &[&str], tenant| {
        let mut drive = drive_of(&sets(&[own]), Options::default());
        let request = Request::new(0, HostOp::Read, 0, 4096, 0);
        drive.submit_request(Request { tenant, ..request }).expect_err("no such tenant")
    };
    let none = submit(&[], 1);
    assert_eq!(none.why, Why::NoTenant);
    assert!(none.text.contains("a request of tenant 1, and the configuration has no tenants"));
    let beyond = submit(&[THREE], 3);
    assert!(
        beyond.text.contains("a request of tenant 3, and the configuration has tenants 0 to 2")
    );
}

#[test]
fn mistakes_of_tenants_are_named() {
    for (given, reported) in [
        ("[{ name = \"a\" }, { name = \"a\" }]", "two tenants have the name \"a\""),
        ("[{ weight = 1 }]", "a name, as in name = \"reader\""),
        ("[{ name = \"a\", weight = 0 }]", "weight"),
        ("[{ name = \"a\", wait = 1 }]", "wait"),
        ("[{ name = \"a\", limit_iops = 0 }]", "limit_iops"),
        ("3", "tenants"),
    ] {
        let set = format!("workload.tenants={given}");
        let wrong = component::setup(inputs(super::TEXT, &[&set])).expect_err(given);
        assert!(wrong.text.contains(reported), "{given}: {}", wrong.text);
    }
    let errors = prepare(&inputs(super::TEXT, &[THREE])).expect_err("a run has none").to_string();
    assert!(errors.contains("tenants issue the requests of a component"), "{errors}");
}
