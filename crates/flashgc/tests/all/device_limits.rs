//! Today's devices against the bounds that follow from their own figures: sequential writes, random
//! reads, and random writes until collection is steady. The pages of the devices have the same
//! comparison at full size; here each has two channels, blocks of 96 pages and more spare.

use crate::common;

use common::{number, run, setup};
use flashgc::plan::Plan;
use serde_json::Value;

const DEVICES: [&str; 6] = [
    "enterprise-tlc-1dwpd",
    "enterprise-tlc-3dwpd",
    "client-tlc",
    "nvmevirt-970-pro",
    "nvmevirt-zn540",
    "slc-low-latency",
];

const BYTES: f64 = 4096.0;

fn text(preset: &str, workload: &str) -> String {
    format!(
        "[device]\npreset = \"{preset}\"\nchannels = 2\nblocks_per_plane = 24\n\
         pages_per_block = 96\nexported = 0.75\n\
         [gc]\nscheme = \"greedy\"\n[gc.trigger.watermark]\nsoft = \"4 blocks\"\n\
         [workload.synthetic]\n{workload}\n"
    )
}

/// The time that one unit, one channel, the firmware and the link need for a request, in ns.
struct Needs(f64, f64, f64, f64);

impl Needs {
    /// The most requests per second.
    fn bound(&self, plan: &Plan) -> f64 {
        let Needs(unit, channel, firmware, link) = *self;
        let cores = plan.front.firmware.map_or(1, |firmware| firmware.cores);
        let units = f64::from(plan.geometry.units) / unit;
        let channels = f64::from(plan.geometry.shape.channels) / channel;
        1e9 * units.min(channels).min(f64::from(cores) / firmware).min(1.0 / link)
    }
}

/// The times of a device, in ns: a program with its load, the load, a read, and a slot on the bus.
fn times(plan: &Plan) -> [f64; 4] {
    let (shape, timing) = (&plan.geometry.shape, &plan.timing);
    let load = timing.transfer_ns as f64 * f64::from(shape.program_slots / shape.slots);
    let slot = timing.transfer_ns as f64 / f64::from(shape.slots);
    [timing.program_ns as f64 + load, load, timing.read_ns as f64, slot]
}

fn of_command(plan: &Plan) -> f64 {
    plan.front.firmware.map_or(0.0, |firmware| firmware.command_ns as f64)
}

fn on_link(plan: &Plan, bytes: f64) -> f64 {
    plan.front.host_link.map_or(0.0, |link| link.rate.ns_for(bytes as u64) as f64)
}

/// Within 10 %: at the end of a run some writes are in the buffer, and collections are under way.
fn assert_within(what: &str, found: f64, bound: f64) {
    let share = found / bound;
    assert!((0.9..1.1).contains(&share), "{what}: {found} of {bound}");
}

fn plan_of(preset: &str, workload: &str) -> (Plan, Value) {
    let text = text(preset, workload);
    (setup(&text, &[]).plan, run(&text, &[]))
}

#[test]
fn sequential_writes_reach_their_bound() {
    for preset in DEVICES {
        let workload = "requests = 1000\nqueue_depth = 64\nsequential_share = 1.0\n\
                        size = \"128 KiB\"\n[precondition]\nfill = \"none\"";
        let (plan, report) = plan_of(preset, workload);
        let [program, load, ..] = times(&plan);
        let of_request = 32.0 * BYTES / f64::from(plan.geometry.shape.page_bytes);
        let programs = of_request / f64::from(plan.geometry.shape.program_slots);
        let link = on_link(&plan, 32.0 * BYTES);
        let bound = Needs(program * programs, load * programs, of_command(&plan), link);
        let found = number(&report, "throughput.iops");
        assert_within(&format!("{preset}, sequential"), found, bound.bound(&plan));
    }
}

#[test]
fn random_reads_reach_their_bound() {
    for preset in DEVICES {
        let workload = "requests = 60000\nqueue_depth = 1024\nread_share = 1.0\n\
                        size = \"4 KiB\"\nalign = \"4 KiB\"";
        let (plan, report) = plan_of(preset, workload);
        let [.., read, slot] = times(&plan);
        let out = slot * BYTES / f64::from(plan.geometry.shape.page_bytes);
        let bound = Needs(read + out, out, of_command(&plan), on_link(&plan, BYTES));
        let found = number(&report, "throughput.iops");
        assert_within(&format!("{preset}, reads"), found, bound.bound(&plan));
    }
}

/// By the write amplification and the reads of each copy that the run has.
#[test]
fn steady_random_writes_reach_their_bound() {
    for preset in DEVICES {
        let workload = "requests = 120000\nqueue_depth = 256\nsize = \"4 KiB\"\n\
                        align = \"4 KiB\"\n[precondition]\noverwrite = 1.0";
        let (plan, report) = plan_of(preset, workload);
        let [program, load, read, slot] = times(&plan);
        let shape = &plan.geometry.shape;
        let amplified = number(&report, "write_amplification");
        let reads = number(&report, "slots.reads_per_copy");
        let (copied, slots) = (amplified - 1.0, f64::from(shape.program_slots));
        let erase = plan.timing.erase_ns as f64 / f64::from(shape.pages_per_block);
        let unit = amplified * (program / slots + erase) + copied * (reads * read + slot);
        let channel = amplified * load / slots + copied * slot;
        let each = BYTES / f64::from(shape.page_bytes);
        let (command, link) = (of_command(&plan), on_link(&plan, BYTES));
        let bound = Needs(unit * each, channel * each, command, link).bound(&plan);
        assert_within(&format!("{preset}, writes"), number(&report, "throughput.iops"), bound);
    }
}
