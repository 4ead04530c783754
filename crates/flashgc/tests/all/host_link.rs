//! The host's link, half-duplex and full-duplex: a second model of a full-duplex link, throughput
//! where the link is the bottleneck, and a checker that notices links of another kind.

use crate::common;

use common::{
    TINY, TINY_DRIVE, assert_near, checked, drain, found_against, number, run_verified, setup,
};
use flashgc::measure::Results;
use flashgc::plan::{Duplex, HostLink};
use flashgc::sim::Sim;
use flashgc::verify::checker::Promises;
use flashgc::workload::{HostOp, HostRequest, ListSource};
use proptest::prelude::*;

const HALF: &str = "device.host_link={transfer=\"5 ns/B\",duplex=\"half\"}";
const FULL: &str = "device.host_link={transfer=\"5 ns/B\",duplex=\"full\"}";

/// A page on this link, and array times, in ns.
const PAGE_NS: u64 = 20_480;
const READ_NS: u64 = 25_000;
const PROGRAM_NS: u64 = 200_000;

/// A drive of 64 planes, each a unit.
const UNITS: [&str; 3] =
    ["device.unit=\"plane\"", "device.channels=8", "device.chips_per_channel=4"];

/// The requests of a list, each on a unit that does nothing else, and its arrival.
fn alone(drawn: &[(bool, u64)]) -> Vec<HostRequest> {
    let mut at_ns = 0;
    let request = |(page, &(reads, gap_ns)): (usize, &(bool, u64))| {
        at_ns += gap_ns;
        let op = if reads { HostOp::Read } else { HostOp::Write };
        HostRequest::from_bytes(at_ns, op, page as u64 * 4096, 4096, 4096)
    };
    drawn.iter().enumerate().map(request).collect()
}

fn simulated(link: &str, requests: Vec<HostRequest>) -> Results {
    let text = format!(
        "{TINY_DRIVE}[workload.synthetic]\nrequests = 64\ninterarrival = {{ fixed = \"1 us\" }}\n"
    );
    let setup = setup(&text, &[&UNITS[..], &[link]].concat());
    let mut plan = setup.plan.clone();
    plan.ordered = true;
    let exported = plan.geometry.exported_pages;
    let mut sim = Sim::new(plan, checked(&setup));
    sim.untimed().fill(0, exported).expect("the fill fits");
    let results = drain(&mut sim, &mut ListSource::new(requests), 1000);
    sim.audit();
    sim.audit_counters(&results);
    results
}

/// The latencies of reads and of writes on a full-duplex link: two queues, each with one server.
fn calculated(requests: &[HostRequest]) -> [Vec<u64>; 2] {
    let mut in_ns = 0;
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for request in requests {
        let mut comes_ns = request.at_ns.max(in_ns);
        if request.op == HostOp::Write {
            comes_ns += PAGE_NS;
            in_ns = comes_ns;
            writes.push(comes_ns + PROGRAM_NS - request.at_ns);
        } else {
            reads.push((comes_ns + READ_NS, request.at_ns));
        }
    }
    reads.sort_unstable();
    let mut out_ns = 0;
    let leaves = |(ready_ns, at_ns): (u64, u64)| {
        out_ns = ready_ns.max(out_ns) + PAGE_NS;
        out_ns - at_ns
    };
    [reads.into_iter().map(leaves).collect(), writes]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_full_duplex_link_is_two_queues(
        drawn in prop::collection::vec((any::<bool>(), 0..30_000u64), 1..64)
    ) {
        let requests = alone(&drawn);
        let [reads, writes] = calculated(&requests);
        let results = simulated(FULL, requests);
        for (of, expected) in [(&results.read, reads), (&results.write, writes)] {
            // Of reads that end at one instant, one or the other leaves first.
            let all_ns: u64 = expected.iter().sum();
            prop_assert_eq!(of.exact().sum, u128::from(all_ns));
        }
    }
}

/// Requests a second where the flash has time left, next to those that the link has.
fn of_the_link(link: &str, read_share: &str) -> f64 {
    let share = format!("workload.synthetic.read_share={read_share}");
    let sets = [
        &UNITS[..],
        &[
            link,
            &share,
            "workload.synthetic.queue_depth=64",
            "workload.synthetic.requests=4000",
            "device.write_buffer={size=\"1 MiB\",access=\"0 ns\"}",
            "device.timing.program=\"1 us\"",
            "device.timing.erase=\"1 us\"",
        ],
    ];
    number(&run_verified(TINY, &sets.concat()), "throughput.iops") * PAGE_NS as f64 / 1e9
}

#[test]
fn each_direction_of_a_full_duplex_link_has_the_whole_rate() {
    // Half of the bytes go each way.
    assert_near("both share a half-duplex link", of_the_link(HALF, "0.5"), 1.0, 0.02);
    assert_near("and not a full-duplex one", of_the_link(FULL, "0.5"), 2.0, 0.1);
    // In one direction nothing is gained.
    for one_way in ["0.0", "1.0"] {
        assert_near(one_way, of_the_link(FULL, one_way), 1.0, 0.02);
    }
}

/// Each die has a read from arrival on: behind a half-duplex link it is idle until all data left.
#[test]
fn data_that_leaves_does_not_delay_reads_of_a_full_duplex_link() {
    let sets = |link| {
        let depth = "workload.synthetic.queue_depth=16";
        [&UNITS[..], &[link, "workload.synthetic.read_share=1.0", depth]].concat()
    };
    let [half, full] = [HALF, FULL].map(|link| run_verified(TINY, &sets(link)));
    let share = |report, direction: &str| number(report, &format!("utilisation.{direction}.host"));
    assert!(share(&full, "host_link_out") > 0.98, "the link never rests");
    assert_eq!(share(&full, "host_link_in"), 0.0);
    assert!(share(&half, "host_link") < 0.95, "it rests while the units have no reads");
}

/// The checker's message on a drive with one kind of link, whose promises are of another.
fn mistaken(link: &str, promised: HostLink) -> String {
    let sets = ["device.unit=\"plane\"", link, "workload.synthetic.read_share=0.5"];
    let setup = setup(TINY, &sets);
    let promises = Promises { host_link: Some(promised), ..Promises::of(&setup.plan) };
    found_against(&setup, promises)
}

#[test]
fn the_checker_notices_a_link_of_another_kind() {
    let of = |link| setup(TINY, &[link]).plan.front.host_link.expect("a link");
    let (half, full) = (of(HALF), of(FULL));
    assert_eq!((half.duplex, full.duplex), (Duplex::Half, Duplex::Full));
    assert!(mistaken(FULL, half).contains("two requests cross the link"));
    let waited = mistaken(HALF, full);
    assert!(
        waited.contains("has come in over the link") || waited.contains("the start of a transfer"),
        "{waited}"
    );
    let faster = of("device.host_link.transfer=\"4 ns/B\"");
    assert!(mistaken(HALF, faster).contains("the time of 4096 B on the link"));
}

/// A ramp ends while data crosses the link and cores handle commands: what of their time lies
/// behind it counts, and not all of it. Found by histories: shares were above 1.
#[test]
fn a_ramp_divides_the_time_of_a_crossing_and_of_a_command() {
    const FIRMWARE: &str = "device.firmware={command=\"300 us\",cores=2}";
    for link in [HALF, FULL] {
        for ramp in ["1 us", "150 us", "310 us", "500 us", "900 us"] {
            let job = format!(
                "[[workload.jobs.job]]\nfile = \"drive\"\nrequests = 3\ndepth = 2\n\
                 size = \"64 KiB\"\nread_share = 0.5\nramp = \"{ramp}\"\n"
            );
            let report = run_verified(&format!("{TINY_DRIVE}{job}"), &[link, FIRMWARE]);
            let parts = ["host_link", "host_link_in", "host_link_out", "firmware"];
            let shares = parts.iter().filter_map(|part| {
                let of = |who: &str| report.pointer(&format!("/utilisation/{part}/{who}"));
                Some([of("host")?.as_f64()?, of("idle")?.as_f64()?])
            });
            let shares: Vec<[f64; 2]> = shares.collect();
            assert!(shares.len() >= 2, "{shares:?}");
            for [host, idle] in shares {
                assert!((0.0..=1.0).contains(&host), "{link} {ramp}: {host}");
                assert_near("shares", host + idle, 1.0, 1e-9);
            }
        }
    }
}
