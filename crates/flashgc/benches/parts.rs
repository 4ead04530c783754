//! Parts of a run, one by one.

use divan::Bencher;
use flashgc::event::{Events, Slot, Slots};
use flashgc::ids::UnitId;
use flashgc::rng::Random;
use flashgc::stats::Latency;
use flashgc::workload::address::{AddressChoice, Addresses};
use flashgc::workload::ranked::ZipfChoice;

fn main() {
    divan::main();
}

/// One post and one pop, with every unit busy.
#[divan::bench(args = [8, 32, 128, 1024])]
fn event_queue(bencher: Bencher<'_, '_>, units: u32) {
    let mut events = Events::new(Slots::new(units, 0, &[], [false; 3]));
    let mut random = Random::named(1, "bench");
    for unit in 0..units {
        events.post(Slot::Unit(UnitId(unit)), random.below(1000));
    }
    bencher.bench_local(|| {
        let next = events.peek()?;
        let slot = events.take(next);
        events.post(slot, next.at_ns + random.below(1000));
        Some(next.at_ns)
    });
}

/// One latency sample.
#[divan::bench]
fn latency_sample(bencher: Bencher<'_, '_>) {
    let mut latency = Latency::new();
    let mut random = Random::named(1, "bench");
    bencher.bench_local(|| latency.record(300_000 + random.below(1 << 24)));
}

/// One address.
#[divan::bench(args = ["uniform", "zipf", "hot-cold"])]
fn address(bencher: Bencher<'_, '_>, name: &str) {
    let choice = match name {
        "uniform" => AddressChoice::Uniform,
        "zipf" => AddressChoice::Zipf(ZipfChoice::new(0.99)),
        _ => AddressChoice::HotCold { f: 0.2, r: 0.8 },
    };
    let addresses = Addresses::new(&choice, 1 << 24);
    let mut random = Random::named(1, "address");
    bencher.bench_local(|| addresses.next(&mut random));
}
