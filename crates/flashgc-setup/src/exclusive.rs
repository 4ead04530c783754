//! Keys that exclude each other: where two layers give one each, the higher layer applies.
//!
//! Within one layer both together stay a mistake, which the reader of their table reports.

use crate::device::jitter;
use Exclusive::{InItems, Instead, OneOf, ValueOrTable};
use flashgc_config::{Exclusive, Tree};

const SYNTHETIC: &str = "workload.synthetic";
const GAPS: &[&str] = &["fixed", "uniform", "exponential", "bursty", "hyperexponential"];
/// The distributions of addresses, of which a table has one.
pub const PLACES: &[&str] = &["zipf", "pareto", "normal", "hot_cold", "groups"];
const NOT_ZIPF: &[&str] = &["pareto", "normal", "hot_cold", "groups"];
const OF_ZIPF: &[&str] = &["ranks", "draw", "shuffle", "population"];
const NOT_GROUPS: &[&str] = &["zipf", "pareto", "normal", "hot_cold"];
const OF_GROUPS: &[&str] = &["scatter"];
const OPEN: &[&str] = &["interarrival", "read_interarrival", "write_interarrival"];

const RULES: &[Exclusive] = &[
    // Arrivals: a closed loop, one stream, or two.
    Instead { table: SYNTHETIC, given: &["queue_depth"], gone: OPEN },
    Instead { table: SYNTHETIC, given: &["queue_depth"], gone: &["rate"] },
    InItems { table: SYNTHETIC, given: &["queue_depth"], list: "phases", gone: OPEN },
    Instead { table: SYNTHETIC, given: OPEN, gone: &["queue_depth"] },
    OneOf { table: SYNTHETIC, keys: &["interarrival", "read_interarrival"] },
    OneOf { table: SYNTHETIC, keys: &["interarrival", "write_interarrival"] },
    // With two streams the shares are derived from their rates.
    Instead { table: SYNTHETIC, given: &["read_interarrival"], gone: &["read_share"] },
    Instead { table: SYNTHETIC, given: &["read_interarrival"], gone: &["trim_share"] },
    OneOf { table: "workload.synthetic.interarrival", keys: GAPS },
    OneOf { table: "workload.synthetic.read_interarrival", keys: GAPS },
    OneOf { table: "workload.synthetic.write_interarrival", keys: GAPS },
    // Addresses and sizes of requests.
    ValueOrTable { key: "workload.synthetic.address" },
    ValueOrTable { key: "workload.synthetic.read_address" },
    ValueOrTable { key: "workload.synthetic.write_address" },
    OneOf { table: "workload.synthetic.address", keys: PLACES },
    OneOf { table: "workload.synthetic.read_address", keys: PLACES },
    OneOf { table: "workload.synthetic.write_address", keys: PLACES },
    // Keys of Zipf distributions only.
    Instead { table: "workload.synthetic.address", given: NOT_ZIPF, gone: OF_ZIPF },
    Instead { table: "workload.synthetic.read_address", given: NOT_ZIPF, gone: OF_ZIPF },
    Instead { table: "workload.synthetic.write_address", given: NOT_ZIPF, gone: OF_ZIPF },
    // Keys of groups only.
    Instead { table: "workload.synthetic.address", given: NOT_GROUPS, gone: OF_GROUPS },
    Instead { table: "workload.synthetic.read_address", given: NOT_GROUPS, gone: OF_GROUPS },
    Instead { table: "workload.synthetic.write_address", given: NOT_GROUPS, gone: OF_GROUPS },
    ValueOrTable { key: "workload.synthetic.size" },
    ValueOrTable { key: "workload.synthetic.read_size" },
    ValueOrTable { key: "workload.synthetic.write_size" },
    Instead { table: SYNTHETIC, given: &["size.exponential"], gone: &["size"] },
    Instead { table: SYNTHETIC, given: &["read_size.exponential"], gone: &["read_size"] },
    Instead { table: SYNTHETIC, given: &["write_size.exponential"], gone: &["write_size"] },
    OneOf { table: "device.firmware.jitter", keys: jitter::KINDS },
    OneOf { table: "device.host_link.jitter", keys: jitter::KINDS },
    // The user capacity, and the end of overwriting.
    ValueOrTable { key: "device.exported" },
    OneOf { table: "device", keys: &["exported", "over_provisioning"] },
    OneOf { table: "device", keys: &["blocks_per_plane", "user_capacity"] },
    Instead { table: "precondition", given: &["overwrite"], gone: &["until", "at_most"] },
    Instead { table: "precondition", given: &["until"], gone: &["overwrite"] },
];

/// Keys which show that a layer brings a workload of its own and not only a key of one.
const WORKLOADS: [(&str, &[&[&str]]); 4] = [
    (
        "synthetic",
        &[
            &["requests"],
            &["queue_depth", "interarrival", "read_interarrival", "write_interarrival", "phases"],
        ],
    ),
    ("fitted", &[&["course"]]),
    ("jobs", &[&["job"]]),
    ("trace", &[&["file"]]),
];

/// Removes from `below` the keys that the layer `top` excludes.
pub fn give_way(below: &mut Tree, top: &Tree) {
    let brings = |(name, needs): &(&str, &[&[&str]])| {
        needs.iter().all(|any| any.iter().any(|key| top.has(&["workload", name, key])))
    };
    let given = WORKLOADS.iter().filter(|workload| brings(workload)).count();
    if given == 1 {
        for (name, _) in WORKLOADS.iter().filter(|workload| !brings(workload)) {
            below.remove(&["workload", name]);
        }
        if !top.has(&["workload", "jobs", "job"]) {
            below.remove(&["workload", "fio"]);
        }
    }
    below.give_way(top, RULES);
}
