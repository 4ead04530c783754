#![allow(clippy::all, clippy::print_stdout, missing_docs)]
use flashgc::{device::*, gc::*, plan::*, sim::*, workload::{address::*, synthetic::*}};
use std::time::Instant;
fn main() {
    let gib: u32 = std::env::args().nth(1).map_or(8, |s| s.parse().unwrap());
    let reqs: u64 = std::env::args().nth(2).map_or(10_000_000, |s| s.parse().unwrap());
    let planes = 16; // 4 x 2 x 1 x 2
    let blocks_per_plane = gib * 262144 / 64 / planes;
    let shape = Shape { channels: 4, chips_per_channel: 2, dies_per_chip: 1, planes_per_die: 2, blocks_per_plane, pages_per_block: 64, page_bytes: 4096, unit: Level::Die,
        order: [Level::Channel, Level::Chip, Level::Die, Level::Plane], exported_pages_per_plane: (blocks_per_plane as f64 * 64.0 * 0.85) as u32 };
    let geometry = Geometry::new(shape);
    let plan = Plan { seed: 1, timing: Timing { read_ns: 25000, program_ns: 200000, erase_ns: 1500000, transfer_ns: 102400, command_ns: 0 }, allocation: Allocation::Striped, service: Service::gc_then_host(),
        gc: GcPlan { scheme: "greedy".into(), trigger: Watermark { soft: Space::Blocks(4), hard: Space::Blocks(1), stop: Space::Blocks(4), inclusive: false, batch: Batch::One }, victim: {
            let sink = flashgc_config::Sink::default(); let tree = flashgc_config::Tree::empty(); let r = flashgc_config::Reader::root(&tree, &sink);
            victim::Settings::read("greedy", &r).unwrap() }, copy: CopyChoice::Copyback { parity: false }, separate_gc: false, hold: HoldChoice { level: Level::Die }, reserve_blocks: 1 },
        arrivals: Arrivals::Closed(64), ordered: false, coalesce: true, geometry };
    let s = SyntheticPlan { requests: reqs, read_share: 0.0, trim_share: 0.0, sizes: vec![Size::Fixed { bytes: 4096, weight: 1.0 }], address: AddressChoice::Uniform, footprint: 1.0, sequential_share: 0.0, align_bytes: 4096, interarrival: None };
    let e = plan.geometry.exported_pages;
    let mut sim = Sim::new(plan, flashgc::verify::Unwatched);
    let t = Instant::now();
    sim.fill(0, e).unwrap();
    println!("fill {:.1} ns/page", t.elapsed().as_nanos() as f64 / e as f64);
    let t = Instant::now();
    let n = e as u64 * 2;
    let m0 = sim.pages_moved();
    sim.overwrite(&mut SyntheticOverwrites::new(&s, e, 4096, 1), n).unwrap();
    let moved = sim.pages_moved() - m0;
    println!("overwrite {:.1} ns/program WA {:.3}  {:.1} M/s", t.elapsed().as_nanos() as f64 / (n + moved) as f64, (n + moved) as f64 / n as f64, (n + moved) as f64 / t.elapsed().as_secs_f64() / 1e6);
    let mut src = Synthetic::new(&s, e, 4096, 1);
    let t = Instant::now();
    sim.start(&mut src).unwrap();
    while !sim.run(&mut src, 1_000_000).unwrap().finished {}
    let el = t.elapsed();
    let r = sim.results();
    let ops = r.counters.array_programs + r.counters.array_reads + r.counters.gc_moved;
    println!("run {:.1} ns/op {:.1} M/s WA {:.3} bytes/page {:.2} p99 {:?}", el.as_nanos() as f64 / ops as f64, ops as f64 / el.as_secs_f64() / 1e6, ops as f64 / r.counters.host_written as f64,
        r.table_bytes as f64 / (gib as f64 * 262144.0), r.write.summary());
}
