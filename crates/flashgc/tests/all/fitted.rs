//! Fitted workloads follow their tables, and impossible ones are refused.

use flashgc::config::WorkloadPlan;
use flashgc::session::{Inputs, Options, Phase, Session, prepare};
use flashgc::workload::fitted::{Fitted, FittedOverwrites};
use flashgc::workload::{HostOp, HostRequest, Overwrites, Source};
use std::collections::BTreeSet;

const PLAIN: &str = r#"
requests = 20_000
read_only_run = { 4 = 1 }
[[workload.fitted.places]]
size = { "8 KiB" = 1 }
run = { 2 = 1 }
age = { "1" = 1 }
[[workload.fitted.places]]
size = { "512 B" = 1 }
offset = { "1 KiB" = 1 }
age = { "0.5" = 1 }
[[workload.fitted.regions]]
count = 4
pages = 100
written = { 1 = 20, 2 = 10 }
[[workload.fitted.regions]]
pages = 100
[[workload.fitted.bursts]]
length = { 4 = 1 }
pause = { "10 ms" = 1 }
gap = { "20 us" = 1 }
places = { 1 = 0.75, 2 = 0.25 }
[[workload.fitted.bursts]]
length = { 10 = 0.5, 30 = 0.5 }
pause = { "1 ms" = 1 }
gap = { "5 us" = 1 }
read_share = 1.0
read_size = { "4 KiB" = 0.5, "16 KiB" = 0.5 }
read_sequential_share = 0.3
read_written_share = 0.25
stay = 0.9
[[workload.fitted.course]]
pauses = "3 s"
bursts = { 1 = 250 }
[[workload.fitted.course]]
pauses = "1 s"
bursts = { 2 = 50, 1 = 250 }
"#;

fn inputs(workload: &str) -> Inputs {
    let text = format!(
        "[device]\npreset = \"slc-msr\"\nblocks_per_plane = 40\n[workload.fitted]\n{workload}"
    );
    Inputs { name: "test.toml".into(), text, ..Inputs::default() }
}

fn requests(workload: &str, seed: u64) -> Vec<HostRequest> {
    let setup = prepare(&inputs(workload)).unwrap_or_else(|errors| panic!("{errors}"));
    let WorkloadPlan::Fitted(plan) = &setup.workload else { panic!("fitted") };
    let mut source = Fitted::new(plan, 4096, seed);
    std::iter::from_fn(|| source.next().expect("no trace")).collect()
}

fn refused(workload: &str) -> String {
    prepare(&inputs(workload)).expect_err(workload).to_string()
}

#[test]
fn parts_have_their_bursts_and_last_as_long_as_they_should() {
    let found = requests(PLAIN, 1);
    assert_eq!(found.len(), 20_000);
    // The first part: 250 bursts of 4 writes, in 3 s of pauses and 250 * 3 gaps of 20 us.
    assert!(found[..1000].iter().all(|request| request.op == HostOp::Write));
    let second = &found[1000..];
    let lasted_ms = (second[0].at_ns - found[0].at_ns) / 1_000_000;
    assert!((2_950..3_100).contains(&lasted_ms), "{lasted_ms}");
    // 50 bursts of 20 reads on average in each round of 2000 writes.
    let reads = found.iter().filter(|request| request.op == HostOp::Read).count();
    assert!((6_200..7_200).contains(&reads), "{reads}");
    assert!(found.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
    assert_eq!(found[0].at_ns, 0);
}

#[test]
fn writes_go_to_places_and_the_oldest_come_in_turn() {
    let found = requests(PLAIN, 1);
    let large: Vec<u64> = found
        .iter()
        .filter(|r| r.bytes == 8192 && r.op == HostOp::Write)
        .map(|r| r.offset_bytes)
        .collect();
    // 80 pages of the first kind make 40 places. All are written before one is written again.
    let places: BTreeSet<u64> = large[..40].iter().copied().collect();
    assert_eq!(places.len(), 40);
    for (at, place) in large.iter().enumerate().skip(40) {
        assert_eq!(*place, large[at - 40]);
    }
    let small: Vec<&HostRequest> =
        found.iter().filter(|r| r.op == HostOp::Write && r.bytes == 512).collect();
    assert!(small.iter().all(|r| r.offset_bytes % 4096 == 1024 && r.head_partial));
    let share = small.len() as f64 / (small.len() + large.len()) as f64;
    assert!((0.23..0.27).contains(&share), "{share}");
    // Only the younger half of the 40 small places is ever written, once they have been found.
    let distinct: BTreeSet<u64> = small.iter().map(|r| r.offset_bytes).collect();
    assert!((20..=22).contains(&distinct.len()), "{}", distinct.len());
}

#[test]
fn the_order_of_last_time_can_be_kept() {
    let again = PLAIN
        .replace("age = { \"0.5\" = 1 }", "age = { \"0.3\" = 1 }")
        .replace("places = { 1 = 0.75, 2 = 0.25 }", "places = { 2 = 1 }\nagain_share = 0.95");
    let found: Vec<u64> = requests(&again, 1)
        .iter()
        .filter(|r| r.op == HostOp::Write)
        .map(|r| r.offset_bytes)
        .collect();
    let mut followers = std::collections::BTreeMap::new();
    let mut kept = 0;
    for pair in found.windows(2) {
        kept += u32::from(followers.insert(pair[0], pair[1]) == Some(pair[1]));
    }
    assert!(f64::from(kept) > 0.9 * found.len() as f64, "{kept} of {}", found.len());
}

#[test]
fn reads_have_their_sizes_and_shares() {
    let found = requests(PLAIN, 1);
    let reads = || found.iter().filter(|r| r.op == HostOp::Read);
    let large = reads().filter(|r| r.bytes == 16_384).count() as f64 / reads().count() as f64;
    assert!((0.48..0.52).contains(&large), "{large}");
    let pairs = found.windows(2).filter(|pair| pair[1].op == HostOp::Read);
    let follows =
        |pair: &&[HostRequest]| pair[1].offset_bytes == pair[0].offset_bytes + pair[0].bytes;
    let share = pairs.clone().filter(follows).count() as f64 / pairs.count() as f64;
    assert!((0.28..0.33).contains(&share), "{share}");
}

#[test]
fn a_seed_gives_the_same_requests_and_a_rate_divides_times() {
    assert_eq!(requests(PLAIN, 1), requests(PLAIN, 1));
    assert_ne!(requests(PLAIN, 1), requests(PLAIN, 2));
    let fast = requests(&format!("rate = 2.0\n{PLAIN}"), 1);
    let plain = requests(PLAIN, 1);
    let ratio = plain[19_999].at_ns as f64 / fast[19_999].at_ns as f64;
    assert!((1.99..2.01).contains(&ratio), "{ratio}");
}

#[test]
fn preconditioning_writes_what_the_measured_part_writes() {
    let setup = prepare(&inputs(PLAIN)).unwrap();
    let WorkloadPlan::Fitted(plan) = &setup.workload else { panic!("fitted") };
    let mut overwrites = FittedOverwrites::new(plan, 4096, 1);
    for _ in 0..2 {
        for request in requests(PLAIN, 1).iter().filter(|r| r.op == HostOp::Write) {
            for page in 0..request.pages {
                assert_eq!(overwrites.next().unwrap().0, request.first.0 + page);
            }
        }
    }
}

/// The last run of nexus5_calout's fitted workload took more pages than its drive had.
#[test]
fn a_last_run_that_is_too_long_is_cut() {
    let long = PLAIN.replace("size = { \"8 KiB\" = 1 }", "size = { \"8 KiB\" = 9, \"1 MiB\" = 1 }");
    for seed in 1..40 {
        let last = requests(&long, seed).iter().map(|it| it.offset_bytes + it.bytes).max();
        // 500 pages, a hundredth of them, 32 more, and one for a kind of places that has none.
        assert!(last.is_some_and(|last| last <= (505 + 32 + 2) * 4096), "{seed}: {last:?}");
    }
}

#[test]
fn a_workload_that_only_reads_runs_too() {
    let text = "requests = 500\n[[workload.fitted.regions]]\npages = 40\n\
                [[workload.fitted.bursts]]\nread_share = 1.0\npause = { \"1 ms\" = 1 }\n\
                [[workload.fitted.course]]\npauses = \"100 ms\"\nbursts = { 1 = 100 }\n\
                [precondition]\noverwrite = 0.1\n";
    let setup = prepare(&inputs(text)).unwrap_or_else(|errors| panic!("{errors}"));
    let mut session = Session::new(setup, None, Options { verify: true, ..Options::default() });
    while session.advance().expect("the run goes on").phase != Phase::Done {}
    let report = session.report().to_json();
    assert_eq!(report["requests"]["read"], 500);
}

#[test]
fn a_run_holds_under_the_checker() {
    let text = format!("{PLAIN}[precondition]\noverwrite = 0.5\n");
    let setup = prepare(&inputs(&text)).unwrap_or_else(|errors| panic!("{errors}"));
    let mut session = Session::new(setup, None, Options { verify: true, ..Options::default() });
    while session.advance().expect("the run goes on").phase != Phase::Done {}
    let report = session.report().to_json();
    let requests = &report["requests"];
    assert_eq!(requests["read"].as_u64().unwrap() + requests["write"].as_u64().unwrap(), 20_000);
}

#[test]
fn what_cannot_be_is_refused() {
    let with = |old: &str, new: &str| refused(&PLAIN.replace(old, new));
    for (text, part) in [
        (with("pages = 100\nwritten", "pages = 20\nwritten"), "written pages add up to 30"),
        (with("bursts = { 1 = 250 }", "bursts = { 7 = 250 }"), "has no number 7"),
        (with("places = { 1 = 0.75, 2 = 0.25 }", ""), "needs `places`"),
        (with("places = { 1 = 0.75, 2 = 0.25 }", "places = { 3 = 1 }"), "has no number 3"),
        (with("age = { \"0.5\" = 1 }", "age = { \"0.5\" = 1, \"0.2\" = 1 }"), "range end \"0.2\""),
        (with("\"512 B\" = 1", "\"500 B\" = 1"), "\"500 B\" is not allowed"),
        (with("{ \"10 ms\" = 1 }", "{ \"10\" = 1 }"), "\"10\" is not allowed"),
        (with("length = { 4 = 1 }", "length = { 4 = 0 }"), "all weights are 0"),
        (with("count = 4", "count = 4_000_000"), "the user capacity is"),
        (with("requests = 20_000", ""), "requests"),
        (with("stay = 0.9", "stays = 0.9"), "stay"),
        (refused("requests = 1\n"), "regions"),
        (refused(&format!("{PLAIN}[workload.synthetic]\nrequests = 1\n")), "more than one"),
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
