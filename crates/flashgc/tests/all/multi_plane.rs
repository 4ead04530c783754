//! Planes of a die that work together under dynamic allocation: writes go out in pairs, rows of
//! four and so on, as they do where pages are striped.

use crate::common;

use common::{assert_near, number, run_verified};

/// Four channels, each with two dies of four planes.
const DRIVE: &str = r#"
[device]
channels = 4
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 4
multi_plane = 4
blocks_per_plane = 32
pages_per_block = 64
page_size = "16 KiB"
exported = 0.8
unit = "die"
[device.timing]
read = "60 us"
program = "600 us"
erase = "3 ms"
transfer = "1 ns/B"
[gc]
scheme = "greedy"
[workload.synthetic]
requests = 4_000
size = "128 KiB"
sequential_share = 1.0
[precondition]
fill = "none"
"#;

fn bytes_per_s(allocation: &str, depth: u32, sets: &[&str]) -> f64 {
    let allocation = format!("device.allocation=\"{allocation}\"");
    let depth = format!("workload.synthetic.queue_depth={depth}");
    let report = run_verified(DRIVE, &[&[allocation.as_str(), &depth], sets].concat());
    number(&report, "throughput.bytes_per_s")
}

/// Dynamic allocation used to spread writes over the dies one by one: 0.96 GiB/s in place of 3.05,
/// and less at greater depth.
#[test]
fn dynamic_allocation_fills_the_planes_of_a_die_together() {
    let others: [&[&str]; 3] =
        [&[], &["device.page_size=\"4 KiB\""], &["gc.blocking.use=\"plane\""]];
    for sets in others {
        let mut before = 0.0;
        for depth in [4, 8, 16, 32, 64] {
            let striped = bytes_per_s("striped", depth, sets);
            let dynamic = bytes_per_s("dynamic", depth, sets);
            assert!(dynamic >= 0.9 * striped, "{sets:?} depth {depth}: {dynamic} of {striped} B/s");
            assert!(dynamic >= 0.99 * before, "{sets:?} depth {depth}: {dynamic} after {before}");
            before = dynamic;
        }
    }
}

/// Random reads, of which many wait: planes as units read planes / tR, dies dies / tR.
#[test]
fn random_reads_reach_one_per_read_time_of_each_unit() {
    let reads = [
        "device.timing.transfer=\"0.01 ns/B\"",
        "device.multi_plane=1",
        "workload.synthetic.read_share=1.0",
        "workload.synthetic.size=\"16 KiB\"",
        "workload.synthetic.align=\"16 KiB\"",
        "workload.synthetic.sequential_share=0.0",
        "workload.synthetic.requests=200_000",
        "workload.synthetic.queue_depth=1_024",
        "precondition.fill=\"sequential\"",
        "precondition.overwrite=0.0",
    ];
    for (unit, count) in [("plane", 32.0), ("die", 8.0)] {
        let unit = format!("device.unit=\"{unit}\"");
        let report = run_verified(DRIVE, &[&reads[..], &[unit.as_str()]].concat());
        let found = number(&report, "throughput.bytes_per_s");
        assert_near(&unit, found, count * 16_384.0 * 1e9 / (60_000.0 + 164.0), 0.03);
    }
}
