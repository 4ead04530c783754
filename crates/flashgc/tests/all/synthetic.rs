//! Synthetic workloads have the requested statistics, and impossible ones are refused.

use crate::common;

use common::{assert_near, synthetic};
use flashgc::config::{Setup, WorkloadPlan};
use flashgc::session::{Inputs, prepare};
use flashgc::workload::synthetic::SyntheticOverwrites;
use flashgc::workload::{HostOp, HostRequest, Overwrites, Source};
use std::collections::BTreeSet;

const PAGE_BYTES: u64 = 4096;

fn inputs(workload: &str, sets: &[&str]) -> Inputs {
    let text = format!(
        r#"
[device]
preset = "parallel-gc-slc"
blocks_per_plane = 64
[workload.synthetic]
{workload}
"#
    );
    let sets = sets.iter().map(|set| set.to_string()).collect();
    Inputs { name: "test.toml".into(), text, sets, ..Inputs::default() }
}

fn setup(workload: &str) -> Setup {
    prepare(&inputs(workload, &[])).unwrap_or_else(|errors| panic!("{errors}"))
}

fn requests(workload: &str) -> Vec<HostRequest> {
    let setup = setup(workload);
    let mut source = synthetic(&setup);
    std::iter::from_fn(|| source.next().expect("no trace")).collect()
}

/// All messages, with their places and helps.
fn refused(workload: &str) -> String {
    prepare(&inputs(workload, &[])).expect_err(workload).to_string()
}

fn of(requests: &[HostRequest], op: HostOp) -> Vec<HostRequest> {
    requests.iter().copied().filter(|request| request.op == op).collect()
}

fn mean_bytes(requests: &[HostRequest]) -> f64 {
    requests.iter().map(|request| request.bytes as f64).sum::<f64>() / requests.len() as f64
}

/// Shares of the reads and of the writes that begin where the request before ended.
fn sequential(requests: &[HostRequest]) -> [f64; 2] {
    let (mut found, mut all) = ([0.0; 2], [0.0; 2]);
    for pair in requests.windows(2) {
        let op = usize::from(pair[1].op == HostOp::Write);
        all[op] += 1.0;
        let follows = pair[0].offset_bytes + pair[0].bytes == pair[1].offset_bytes;
        found[op] += f64::from(u8::from(follows));
    }
    [found[0] / all[0], found[1] / all[1]]
}

/// The mean gap of some requests, and the share of gaps below a bound.
fn gaps(requests: &[HostRequest], below_ns: u64) -> (f64, f64) {
    let gaps: Vec<u64> = requests.windows(2).map(|pair| pair[1].at_ns - pair[0].at_ns).collect();
    let short = gaps.iter().filter(|&&gap| gap < below_ns).count();
    (gaps.iter().sum::<u64>() as f64 / gaps.len() as f64, short as f64 / gaps.len() as f64)
}

#[test]
fn sizes_addresses_and_sequences_by_operation() {
    let requests = requests(
        r#"
requests = 200_000
read_share = 0.6
size = "64 KiB"
read_size = { "4 KiB" = 0.5, "8 KiB" = 0.3, "12 KiB" = 0.2 }
read_address = "uniform"
write_address = { hot_cold = { f = 0.1, r = 0.9 } }
read_sequential_share = 0.1
write_sequential_share = 0.45
footprint = "256 MiB"
queue_depth = 8
"#,
    );
    let (reads, writes) = (of(&requests, HostOp::Read), of(&requests, HostOp::Write));
    assert_near("read share", reads.len() as f64 / 2e5, 0.6, 0.01);
    assert_near("read size", mean_bytes(&reads), 6.8 * 1024.0, 0.01);
    assert_near("write size", mean_bytes(&writes), 65536.0, 1e-9);
    let [read_share, write_share] = sequential(&requests);
    assert_near("sequential reads", read_share, 0.1, 0.03);
    // Sequential requests at the end of the footprint continue at its start.
    assert_near("sequential writes", write_share, 0.45, 0.02);
    assert!(requests.iter().all(|r| r.offset_bytes + r.bytes <= 256 << 20));
    let hot = |r: &&HostRequest| r.offset_bytes < 26 << 20;
    let share = reads.iter().filter(hot).count() as f64 / reads.len() as f64;
    // A tenth of the reads that jump, and those that follow a hot write or read.
    assert!(share < 0.25, "{share}");
    let share = writes.iter().filter(hot).count() as f64 / writes.len() as f64;
    assert!(share > 0.5, "{share}");
}

#[test]
fn marked_requests_have_their_share_and_move_nothing_else() {
    let base = "requests = 100_000\nread_share = 0.4\ntrim_share = 0.1\n\
                size = { \"4 KiB\" = 0.5, \"8 KiB\" = 0.5 }\n\
                interarrival = { exponential = \"1 ms\" }\n";
    let share = |requests: &[HostRequest]| {
        requests.iter().filter(|request| request.high).count() as f64 / requests.len() as f64
    };
    let plain = requests(base);
    assert_eq!(share(&plain), 0.0);
    let marked = requests(&format!("{base}high_share = 0.3\nread_high_share = 0.05\n"));
    for (op, expected) in [(HostOp::Read, 0.05), (HostOp::Write, 0.3), (HostOp::Trim, 0.3)] {
        assert_near("marked", share(&of(&marked, op)), expected, 0.07);
    }
    let unmarked: Vec<HostRequest> =
        marked.iter().map(|request| HostRequest { high: false, ..*request }).collect();
    assert!(unmarked == plain, "marks have moved the requests");
}

#[test]
fn phases_have_their_own_shares_of_marked_requests() {
    let requests = requests(
        r#"
requests = 30_000
queue_depth = 8
write_high_share = 1.0
[[workload.synthetic.phases]]
share = 0.5
[[workload.synthetic.phases]]
share = 0.25
high_share = 0.0
[[workload.synthetic.phases]]
share = 0.25
read_share = 0.5
"#,
    );
    let high = |part: &[HostRequest]| part.iter().filter(|request| request.high).count();
    assert_eq!((high(&requests[..15_000]), high(&requests[15_000..22_500])), (15_000, 0));
    let (reads, writes) =
        (of(&requests[22_500..], HostOp::Read), of(&requests[22_500..], HostOp::Write));
    assert_eq!((high(&reads), high(&writes)), (0, writes.len()));
    assert!(refused("requests = 1\nqueue_depth = 1\nhigh_share = 2").contains("high_share"));
}

#[test]
fn groups_of_places_have_their_shares_of_the_requests() {
    let requests = requests(
        r#"
requests = 100_000
queue_depth = 1
footprint = 0.5
[workload.synthetic.address]
groups = [{ places = 0.1, requests = 0.6 }, { places = 0.4, requests = 0.3 }]
"#,
    );
    let end = requests.iter().map(|r| r.offset_bytes).max().expect("requests") as f64;
    let share = |from: f64, to: f64| {
        let inside = |r: &&HostRequest| {
            (r.offset_bytes as f64) >= from * end && (r.offset_bytes as f64) < to * end
        };
        requests.iter().filter(inside).count() as f64 / 1e5
    };
    assert_near("the first group", share(0.0, 0.1), 0.6, 0.02);
    assert_near("the second group", share(0.1, 0.5), 0.3, 0.02);
    assert_near("the rest", share(0.5, 1.1), 0.1, 0.03);
}

/// The write-to-write gaps of a mail server: hardly any is short, though requests are frequent.
#[test]
fn two_streams_keep_their_rates_and_their_gaps() {
    let requests = requests(
        r#"
requests = 300_000
read_interarrival = { exponential = "1.866 ms" }
write_interarrival = { bursty = { mean = "3.218 ms", below = "1.5 ms", share = 0.01 } }
"#,
    );
    assert_eq!(requests[0].at_ns, 0);
    let (reads, writes) = (of(&requests, HostOp::Read), of(&requests, HostOp::Write));
    assert_near("read share", reads.len() as f64 / 3e5, 3.218 / (3.218 + 1.866), 0.01);
    let (mean_ns, short) = gaps(&writes, 1_500_000);
    assert_near("mean gap of writes", mean_ns, 3.218e6, 0.01);
    assert_near("short gaps of writes", short, 0.01, 0.1);
    assert_near("mean gap of reads", gaps(&reads, 1).0, 1.866e6, 0.01);
}

#[test]
fn a_rate_makes_all_arrivals_faster_and_changes_nothing_else() {
    let workload = r#"
requests = 20_000
read_interarrival = { exponential = "2 ms" }
write_interarrival = { bursty = { mean = "1 ms", below = "100 us", share = 0.5 } }
"#;
    let (slow, fast) = (requests(workload), requests(&format!("rate = 10\n{workload}")));
    for (slow, fast) in slow.iter().zip(&fast) {
        assert_eq!((slow.op, slow.offset_bytes), (fast.op, fast.offset_bytes));
        assert!(slow.at_ns.abs_diff(10 * fast.at_ns) <= 5, "{slow:?} {fast:?}");
    }
}

const PHASES: &str = r#"
requests = 100_000
read_share = 0.9
size = "8 KiB"
interarrival = { exponential = "1 ms" }
[[workload.synthetic.phases]]
share = 0.25
write_size = "128 KiB"
footprint = 0.1
read_interarrival = { exponential = "1 ms" }
write_interarrival = { exponential = "250 us" }
[[workload.synthetic.phases]]
share = 0.75
"#;

#[test]
fn phases_follow_each_other_in_requests_and_in_time() {
    let (base, shares) = PHASES.split_once("read_share = 0.9\n").expect("the line is there");
    let text = format!("{base}{shares}read_share = 0.9\n");
    let requests = requests(&text);
    assert_eq!(requests.len(), 100_000);
    assert!(requests.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
    let (first, second) = requests.split_at(25_000);
    assert_near("reads first", of(first, HostOp::Read).len() as f64 / 25e3, 0.2, 0.05);
    assert_near("reads then", of(second, HostOp::Read).len() as f64 / 75e3, 0.9, 0.01);
    assert_eq!(mean_bytes(&of(first, HostOp::Write)), 131_072.0);
    assert_eq!(mean_bytes(&of(first, HostOp::Read)), 8192.0);
    assert_eq!(mean_bytes(second), 8192.0);
    let end = |all: &[HostRequest]| all.iter().map(|r| r.offset_bytes).max().expect("some") as f64;
    assert_near("footprint", end(first) / end(second), 0.1, 0.01);
    let (mean_ns, _) = gaps(first, 1);
    assert_near("the gaps first", mean_ns, 200e3, 0.02);
    let (mean_ns, _) = gaps(second, 1);
    assert_near("the gaps then", mean_ns, 1e6, 0.02);
    assert!(second[0].at_ns - first[24_999].at_ns < 20_000_000, "time goes on");
}

/// The second phase writes a tenth of 75,000 requests, the first four fifths of 25,000.
#[test]
fn preconditioning_draws_from_all_phases_in_proportion() {
    let setup = setup(PHASES);
    let WorkloadPlan::Synthetic(workload) = &setup.workload else { panic!("synthetic") };
    let exported = setup.plan.geometry.exported_pages;
    let mut pages = SyntheticOverwrites::new(&workload.plan, exported, PAGE_BYTES, 1);
    let in_first = f64::from(exported) * 0.1;
    let inside = (0..400_000)
        .filter(|_| f64::from(pages.next().expect("no trace").0) < in_first)
        .count() as f64;
    // 20,000 requests of 32 pages, and a tenth of 7,500 requests of 2 pages.
    let expected = (20e3 * 32.0 + 750.0 * 2.0) / (20e3 * 32.0 + 7500.0 * 2.0);
    assert_near("pages of the first phase", inside / 4e5, expected, 0.01);
}

/// Without gaps the first stream never lets the second come; the drive is overwritten all the same.
#[test]
fn streams_without_gaps_are_reads() {
    let workload = "requests = 50\nread_interarrival = { fixed = \"0 ns\" }\n\
                    write_interarrival = { fixed = \"0 ns\" }\n";
    assert_eq!(of(&requests(workload), HostOp::Read).len(), 50);
    let setup = setup(workload);
    let WorkloadPlan::Synthetic(workload) = &setup.workload else { panic!("synthetic") };
    let exported = setup.plan.geometry.exported_pages;
    let mut pages = SyntheticOverwrites::new(&workload.plan, exported, PAGE_BYTES, 1);
    assert!((0..100).all(|_| pages.next().expect("no trace").0 < exported));
}

/// An empty phase equals no phase, and phases may be split.
#[test]
fn phases_without_keys_change_nothing() {
    let base = "requests = 5_000\nread_share = 0.3\nsize = { \"4 KiB\" = 1, \"12 KiB\" = 1 }\n\
                interarrival = { exponential = \"1 ms\" }\n";
    let one = requests(base);
    let phases = "[[workload.synthetic.phases]]\nshare = 0.4\n\
                  [[workload.synthetic.phases]]\nshare = 0.6\n";
    assert_eq!(requests(&format!("{base}{phases}")), one);
}

/// The problem, the workload, and parts of the message.
type Case = (&'static str, String, &'static [&'static str]);

fn impossible() -> Vec<Case> {
    let open = "requests = 10\ninterarrival = { exponential = \"1 ms\" }\n";
    let closed = "requests = 10\nqueue_depth = 4\n";
    let phase = "[[workload.synthetic.phases]]\n";
    #[rustfmt::skip]
    let cases: Vec<Case> = vec![
        ("one stream missing", "requests = 10\nread_interarrival = { fixed = \"1 ms\" }".into(),
         &["missing key `workload.synthetic.write_interarrival`"]),
        ("one stream and two", format!("{open}read_interarrival = {{ fixed = \"1 ms\" }}\n\
         write_interarrival = {{ fixed = \"1 ms\" }}"),
         &["cannot be combined with `read_interarrival`"]),
        ("a share and two streams", "requests = 10\nread_share = 0.5\n\
         read_interarrival = { fixed = \"1 ms\" }\n\
         write_interarrival = { fixed = \"1 ms\" }".into(),
         &["whose rates determine it", "remove `read_share`"]),
        ("closed and open", format!("{closed}read_interarrival = {{ fixed = \"1 ms\" }}"),
         &["exactly one"]),
        ("closed with an open phase", format!("{closed}{phase}share = 1\n\
         interarrival = {{ fixed = \"1 ms\" }}"), &["exactly one", "test.toml:10"]),
        ("closed with a rate", format!("{closed}rate = 2"), &["`rate` needs an open loop"]),
        ("phases of nothing", format!("{open}phases = []"), &["a list of one table or more"]),
        ("phases of text", format!("{open}phases = [\"a\"]"), &["item 1", "is not a table"]),
        ("no share", format!("{open}{phase}read_share = 1"),
         &["missing key `workload.synthetic.phases[1].share`", "test.toml:8"]),
        ("shares beyond 1", format!("{open}{phase}share = 0.5\n{phase}share = 0.6"),
         &["must add up to 1, got 1.1", "add up to 1"]),
        ("a key of the base", format!("{open}{phase}share = 1\nrequests = 5"),
         &["unknown key `requests` in [workload.synthetic.phases[1]]"]),
        ("shares of a phase",
         format!("{open}read_share = 0.8\n{phase}share = 1\ntrim_share = 0.3"),
         &["read_share + trim_share must be at most 1", "test.toml:11"]),
        ("a phase without arrivals", format!("requests = 10\n{phase}share = 0.5\n\
         interarrival = {{ fixed = \"1 ms\" }}\n{phase}share = 0.5"), &["exactly one"]),
        ("groups beyond 1",
         format!("{closed}address = {{ groups = [{{ places = 0.6, requests = 1 }}, \
         {{ places = 0.6, requests = 0 }}] }}"), &["1.2000 of the places", "at most 1"]),
        ("requests of no group", format!("{closed}address = {{ groups = [{{ places = 1, \
         requests = 0.5 }}] }}"), &["0.5000 of the requests belong to no group"]),
        ("a group of no share", format!("{closed}address = {{ groups = [{{ places = 1 }}] }}"),
         &["address.groups[1].requests"]),
        ("a footprint beyond the drive", format!("{closed}footprint = \"9 TiB\""),
         &["the user capacity is", "the footprint smaller"]),
        ("a footprint below a page", format!("{closed}footprint = \"1 KiB\""),
         &["do not fit the footprint of 0"]),
        ("a fast phase that is slow", "requests = 10\ninterarrival = { hyperexponential = \
         { fast_share = 0.5, fast = \"2 ms\", slow = \"1 ms\" } }".into(), &["swap"]),
        ("a phase without end", "requests = 10\ninterarrival = { hyperexponential = \
         { fast_share = 0.5, fast = \"1 ms\", slow = \"2 ms\", stay = 1 } }".into(),
         &["must be below 1"]),
        ("a read size", format!("{closed}read_size = \"1 B\""),
         &["a request must be a multiple of 512 B from 512 B to 1 GiB, got 1 B"]),
    ];
    cases
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    for (what, workload, expected) in impossible() {
        let found = refused(&workload);
        for part in expected {
            assert!(found.contains(part), "{what}: {part:?} is not in\n{found}");
        }
    }
}

#[test]
fn a_key_that_others_hide_is_named() {
    let setup = setup(
        "requests = 10\nqueue_depth = 1\nsize = \"4 KiB\"\nread_size = \"8 KiB\"\n\
         write_size = \"12 KiB\"",
    );
    assert_eq!(setup.unused_keys(), ["workload.synthetic.size"]);
}

#[test]
fn phases_can_be_set_from_the_command_line() {
    let base = "requests = 10\ninterarrival = { fixed = \"1 ms\" }";
    let set = "workload.synthetic.phases=[{share=0.5,read_share=1},{share=0.5}]";
    let setup = prepare(&inputs(base, &[set])).unwrap_or_else(|errors| panic!("{errors}"));
    let mut source = synthetic(&setup);
    let ops: Vec<HostOp> =
        std::iter::from_fn(|| source.next().expect("no trace")).map(|r| r.op).collect();
    assert_eq!(ops, [[HostOp::Read; 5], [HostOp::Write; 5]].concat());
}

/// The hash of a result covers the configuration, so the saved form of a workload that uses nothing
/// new stays as it was.
#[test]
fn a_plain_workload_keeps_its_form_in_reports() {
    let plain = "requests = 10\nread_share = 0.25\nsize = { \"4 KiB\" = 1, \"8 KiB\" = 3 }\n\
                 interarrival = { exponential = \"1 ms\" }\n";
    let written = |workload: &str| setup(workload).resolved_json()["workload"]["synthetic"].clone();
    let expected = serde_json::json!({
        "requests": 10,
        "read_share": 0.25,
        "trim_share": 0.0,
        "sizes": [
            { "fixed": { "bytes": 4096, "weight": 1.0 } },
            { "fixed": { "bytes": 8192, "weight": 3.0 } },
        ],
        "address": "uniform",
        "footprint": 1.0,
        "sequential_share": 0.0,
        "align_bytes": 4096,
        "interarrival": { "exponential": { "mean_ns": 1_000_000 } },
        "arrivals": "open",
    });
    assert_eq!(written(plain), expected);
    for more in ["rate = 2", "footprint = \"512 MiB\"", "read_size = \"4 KiB\""] {
        let found = written(&format!("{plain}{more}\n"));
        assert_eq!(found["phases"].as_array().map(Vec::len), Some(1), "{found}");
    }
}

/// Requests from the second size on begin at its multiples, smaller ones at any of the first, and
/// both keep to the groups and the drive.
#[test]
fn large_requests_are_aligned_more_coarsely() {
    let found = requests(
        "requests = 20_000\nqueue_depth = 1\nalign = \"512 B\"\nlarge_align = \"8 KiB\"\n\
         size = { \"512 B\" = 1, \"4 KiB\" = 1, \"8 KiB\" = 1, \"20 KiB\" = 1 }\n\
         footprint = \"1 MiB\"",
    );
    let begins = |request: &HostRequest, bytes| request.offset_bytes.is_multiple_of(bytes);
    let (large, small): (Vec<_>, Vec<_>) = found.iter().partition(|request| request.bytes >= 8192);
    assert!(large.iter().all(|request| begins(request, 8192)));
    assert!(small.iter().all(|request| begins(request, 512)));
    let off = small.iter().filter(|request| !begins(request, 4096)).count() as f64;
    assert_near("off their page", off / small.len() as f64, 7.0 / 8.0, 0.02);
    assert!(found.iter().all(|request| request.offset_bytes + request.bytes <= 1 << 20));
    let wrong = refused("requests = 1\nqueue_depth = 1\nlarge_align = \"6 KiB\"");
    assert!(wrong.contains("large_align must be a multiple of align (4096 B)"), "{wrong}");
}

/// Writes fill one extent after the other, from start to end, whatever reads come in between, and
/// the address distribution is one over extents.
#[test]
fn writes_in_extents_follow_each_other_to_the_end_of_their_extent() {
    const EXTENT: u64 = 1 << 20;
    let workload = "requests = 60_000\nqueue_depth = 1\nread_share = 0.5\nalign = \"4 KiB\"\n\
                    write_size = { \"4 KiB\" = 2, \"12 KiB\" = 1, \"128 KiB\" = 0.2 }\n\
                    write_extent = \"1 MiB\"\nfootprint = \"20 MiB\"\n\
                    write_address = { hot_cold = { f = 0.1, r = 0.75 } }";
    let found = requests(workload);
    let (writes, reads) = (of(&found, HostOp::Write), of(&found, HostOp::Read));
    let (mut end, mut drawn, mut hot) = (0, 0.0, 0.0);
    for write in &writes {
        if end % EXTENT == 0 {
            assert_eq!(write.offset_bytes % EXTENT, 0, "an extent begins at its start");
            drawn += 1.0;
            hot += f64::from(u8::from(write.offset_bytes < 2 * EXTENT));
        } else {
            assert_eq!(write.offset_bytes, end, "it goes on where the write before ended");
        }
        end = write.offset_bytes + write.bytes;
        assert_eq!(write.offset_bytes / EXTENT, (end - 1) / EXTENT, "it ends with its extent");
    }
    assert!(drawn > 400.0, "{drawn} extents");
    assert_near("hot extents", hot / drawn, 0.75, 0.1);
    let places = reads.iter().map(|read| read.offset_bytes / 4096).collect::<BTreeSet<_>>();
    assert!(places.len() > 5_000, "reads go to {} of 5,120 places", places.len());

    let wrong = refused("requests = 1\nqueue_depth = 1\nwrite_extent = \"6 KiB\"");
    assert!(wrong.contains("write_extent must be a multiple of align (4096 B), got 6144 B"));
    assert!(refused("requests = 1\nqueue_depth = 1\nextent = \"0 B\"").contains("got 0 B"));
}

/// Preconditioning rewrites the same extents.
#[test]
fn overwrites_come_in_extents_too() {
    let setup = setup(
        "requests = 1\nqueue_depth = 1\nsize = \"16 KiB\"\nextent = \"256 KiB\"\nfootprint = 0.5",
    );
    let WorkloadPlan::Synthetic(workload) = &setup.workload else { panic!("synthetic") };
    let mut overwrites = SyntheticOverwrites::new(&workload.plan, 100_000, PAGE_BYTES, 1);
    for _ in 0..1_000 {
        let pages: Vec<u32> = (0..64).map(|_| overwrites.next().expect("no trace").0).collect();
        assert_eq!(pages[0] % 64, 0);
        assert!(pages.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{pages:?}");
    }
}
