//! Parts of a run, one by one.

use divan::Bencher;
use flashgc::event::Events;
use flashgc::rng::Random;
use flashgc::stats::Latency;
use flashgc::workload::address::{AddressChoice, Addresses};

fn main() {
    divan::main();
}

/// One post and one pop, with every slot busy.
#[divan::bench(args = [8, 32, 128, 1024])]
fn event_queue(bencher: Bencher<'_, '_>, slots: usize) {
    let mut events = Events::new(slots);
    let mut random = Random::named(1, "bench");
    for slot in 0..slots {
        events.post(slot, random.below(1000));
    }
    bencher.bench_local(|| {
        let (at_ns, slot) = events.peek().unwrap_or((0, 0));
        events.clear(slot);
        events.post(slot, at_ns + random.below(1000));
        at_ns
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
        "zipf" => AddressChoice::Zipf { theta: 0.99 },
        _ => AddressChoice::HotCold { f: 0.2, r: 0.8 },
    };
    let addresses = Addresses::new(&choice, 1 << 24);
    let mut random = Random::named(1, "address");
    bencher.bench_local(|| addresses.next(&mut random));
}
