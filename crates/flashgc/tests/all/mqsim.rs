//! MQSim's drive: requests have the latencies of the program itself.

use crate::common;

use common::{finish, number, setup, whole};
use serde_json::Value;

/// Requests of a page, uniform over a full drive that is smaller, but has the same number of chips.
fn run(requests: &str) -> Value {
    let text = format!(
        "[device]\npreset = \"mqsim\"\nblocks_per_plane = 128\n[gc]\nscheme = \"d-choices\"\n\
         [workload.synthetic]\n{requests}\n[precondition]\nfill = \"sequential\"\n"
    );
    let report = finish(setup(&text, &[]), None, false).expect("it runs");
    assert_eq!(whole(&report, "gc.count"), 0, "nothing is collected");
    report
}

fn mean_us(report: &Value, of: &str) -> f64 {
    number(report, &format!("latency_ns.{of}.mean")) / 1e3
}

/// The program prints 102 us for a read and 777 us for a write, mean, minimum and maximum.
#[test]
fn an_unloaded_request_takes_the_programs_microseconds() {
    let reads = run("requests = 2_000\nread_share = 1.0\ninterarrival = { fixed = \"1 ms\" }");
    let parts = 75_000 + 3 * 8192 + 290 + 2048;
    assert_eq!(whole(&reads, "latency_ns.read.min"), parts);
    assert_eq!(whole(&reads, "latency_ns.read.max"), parts);
    assert_eq!(mean_us(&reads, "read").round(), 102.0);
    let writes = run("requests = 2_000\ninterarrival = { fixed = \"2 ms\" }");
    assert_eq!(whole(&writes, "latency_ns.write.max"), parts + 675_000);
    assert_eq!(mean_us(&writes, "write").round(), 777.0);
}

/// Means that the program prints with exponential gaps, here with other random numbers.
#[test]
fn moderate_loads_take_the_programs_means() {
    for (requests, read_share, gap, program_us) in
        [(100_000, 1.0, 50, 107.0), (50_000, 0.0, 100, 902.0), (100_000, 0.7, 100, 336.0)]
    {
        let report = run(&format!(
            "requests = {requests}\nread_share = {read_share:.1}\n\
             interarrival = {{ exponential = \"{gap} us\" }}"
        ));
        let what = format!("{read_share} read, {gap} us apart");
        common::assert_near(&what, mean_us(&report, "all"), program_us, 0.01);
    }
}
