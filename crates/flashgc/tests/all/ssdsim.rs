//! SSDSim's drive and collection: the resolved presets, and a run with the program's own
//! preparation.

use crate::common;

use common::{Choices, MemoryTrace, finish, refusal, setup, whole};
use flashgc::device::Level;
use flashgc::gc::Space;
use serde_json::Value;

const PRESETS: &str = "[device]\npreset = \"ssdsim\"\n[gc]\nscheme = \"ssdsim\"\n\
                       [workload.synthetic]\nrequests = 1\nqueue_depth = 1\n";

#[test]
fn the_mark_is_a_share_of_the_pages_of_a_plane() {
    let setup = setup(PRESETS, &[]);
    let shape = &setup.plan.geometry.shape;
    assert_eq!((shape.planes(), shape.pages_per_plane()), (16, 131_072));
    let trigger = &setup.plan.gc.trigger;
    // 13,107.2 pages: 13,107 are below the threshold, 13,108 are not.
    assert_eq!((trigger.soft, trigger.hard), (Space::Pages(13_107), Some(Space::Pages(13_107))));
    assert!(trigger.inclusive);
    let blocking = setup.plan.gc.blocking;
    assert_eq!((blocking.level, blocking.erasing), (Level::Channel, Some(Level::Chip)));
    assert_eq!(setup.unused_keys(), [""; 0]);
    let sub_blocks = [
        "device.exported=0.5",
        "device.sub_blocks=4",
        "gc.erase.use=\"sub-blocks\"",
        "gc.victim.use=\"recycle-benefit\"",
        "gc.trigger.watermark.hard=\"none\"",
    ];
    let parts = common::setup(PRESETS, &sub_blocks).plan.gc.trigger;
    assert_eq!(parts.soft, Space::Pages(13_107));
}

/// With its shipped over-provisioning no threshold of 10 % can be reached, and the error names the
/// reachable one.
#[test]
fn the_drive_as_it_ships_needs_a_lower_mark() {
    let ships = "device.exported=0.90";
    let found = refusal(PRESETS, &[ships]);
    assert!(found.contains("exceeds the spare space"), "{found}");
    let low = ["soft", "hard"].map(|key| format!("gc.trigger.watermark.{key}=\"5% of pages\""));
    setup(PRESETS, &[ships, &low[0], &low[1]]);
    let found = refusal(PRESETS, &["gc.trigger.watermark.soft=\"5% of page\""]);
    assert!(found.contains("a share must be `of physical`, `of pages`"), "{found}");
}

/// A trace of small writes and reads on an aged drive whose reads are mapped, under the checker.
#[test]
fn a_trace_runs_as_the_program_prepares_it() {
    let text = "[device]\npreset = \"ssdsim\"\nexported = 0.80\nblocks_per_plane = 16\n\
                pages_per_block = 32\n[gc]\nscheme = \"ssdsim\"\n[workload.trace]\n\
                format = \"ssdsim\"\naddress = \"wrap\"\n[precondition]\nfill = \"aged\"\n\
                aged_ratio = 0.3\nreads = \"all-mapped\"\n";
    let mut choices = Choices::new(8);
    let rows = (0..20_000u64).map(|at| {
        let (sector, size) = (choices.below(16_000), 1 + choices.below(12));
        format!("{} 0 {sector} {size} {}\n", at * 400_000, choices.below(2))
    });
    let trace = MemoryTrace::text("my.ascii", &rows.collect::<String>());
    let report = finish(setup(text, &[]), Some(trace), true).expect("it runs");
    assert_eq!(whole(&report, "pages.unwritten_read"), 0);
    assert!(whole(&report, "pages.rest_read") > 1000);
    assert!(whole(&report, "precondition.aged_pages") > 0);
    assert!(whole(&report, "precondition.mapped_pages") > 1000);
    assert!(whole(&report, "gc.count") > 10 && whole(&report, "gc.blocking_ns") > 0);
}

/// The configuration of SSDSim behind the reference means below: 256 blocks in a plane, 20 % of
/// over-provisioning, threshold 10 %, no advanced command, no buffer.
const BESIDE: &str = "[device]\npreset = \"ssdsim\"\nblocks_per_plane = 256\n[gc]\n\
                      scheme = \"ssdsim\"\ncopy.use = \"bus\"\n[workload.trace]\n\
                      format = \"ssdsim\"\naddress = \"wrap\"\n[precondition]\n\
                      fill = \"none\"\nreads = \"all-mapped\"\n";

/// 250,000 requests of 4 KiB, 4 ms apart, uniform over the user pages of an empty drive.
fn means_beside(read_percent: usize) -> Value {
    let mut choices = Choices::new(3);
    let sectors = setup(BESIDE, &[]).plan.geometry.exported_pages as usize * 4;
    let rows = (1..=250_000u64).map(|at| {
        let sector = choices.below(sectors / 8) * 8;
        let op = u8::from(choices.below(100) < read_percent);
        format!("{} 0 {sector} 8 {op}\n", at * 4_000_000)
    });
    let trace = MemoryTrace::text("my.ascii", &rows.collect::<String>());
    finish(setup(BESIDE, &[]), Some(trace), false).expect("it runs")
}

/// The program's own means, within 5 %.
#[test]
fn means_are_the_programs() {
    let mean_ms =
        |report: &Value, op: &str| common::number(report, &format!("latency_ns.{op}.mean")) / 1e6;
    let writes = means_beside(0);
    common::assert_near("uniform writes", mean_ms(&writes, "write"), 0.2240, 0.05);
    let mix = means_beside(30);
    common::assert_near("writes of a mix", mean_ms(&mix, "write"), 0.2156, 0.05);
    common::assert_near("reads of a mix", mean_ms(&mix, "read"), 0.2570, 0.05);
}

/// 200,000 requests of 4 KiB with exponential gaps of 4 ms, 30 % of them reads.
fn means_with_gaps(seed: u64) -> (f64, f64) {
    let mut choices = Choices::new(seed);
    let sectors = setup(BESIDE, &[]).plan.geometry.exported_pages as usize * 4;
    let mut at_ns = 0.0;
    let rows = (0..200_000).map(|_| {
        let share = (1 + choices.below(1 << 30)) as f64 / f64::from(1 << 30);
        at_ns -= share.ln() * 4e6;
        let sector = choices.below(sectors / 8) * 8;
        let op = u8::from(choices.below(100) < 30);
        format!("{at_ns:.0} 0 {sector} 8 {op}\n")
    });
    let trace = MemoryTrace::text("my.ascii", &rows.collect::<String>());
    let report = finish(setup(BESIDE, &[]), Some(trace), false).expect("it runs");
    let mean_ms = |op: &str| common::number(&report, &format!("latency_ns.{op}.mean")) / 1e6;
    (mean_ms("write"), mean_ms("read"))
}

/// The program's means over six traces of this kind, within 5 %. Unless each channel has a turn of
/// its own for its chips, the channels of the first of these traces do not collect together, and
/// writes go past them: 0.130 ms.
#[test]
fn means_with_exponential_gaps_are_the_programs() {
    let found = [7, 9, 11].map(means_with_gaps);
    for (write_ms, read_ms) in found {
        common::assert_near("writes of a trace", write_ms, 0.1701, 0.08);
        common::assert_near("reads of a trace", read_ms, 0.2059, 0.08);
    }
    let count = found.len() as f64;
    let writes_ms = found.iter().map(|&(write, _)| write).sum::<f64>() / count;
    let reads_ms = found.iter().map(|&(_, read)| read).sum::<f64>() / count;
    common::assert_near("writes", writes_ms, 0.1701, 0.05);
    common::assert_near("reads", reads_ms, 0.2059, 0.05);
}
