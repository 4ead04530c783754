//! Identities between the metrics of one report.

use super::Tried;
use crate::run::Stop;
use flashgc::config::WorkloadPlan;
use flashgc::workload::length::Length;
use serde_json::Value;

/// A report by pointers.
struct Figures<'a>(&'a Value);

impl Figures<'_> {
    fn of(&self, key: &str) -> u64 {
        self.0.pointer(key).and_then(Value::as_u64).unwrap_or(0)
    }

    fn real(&self, key: &str) -> Option<f64> {
        self.0.pointer(key).and_then(Value::as_f64)
    }
}

/// The identities that do not hold, in words.
#[derive(Default)]
struct Broken(Vec<(&'static str, String)>);

impl Broken {
    fn equal(&mut self, name: &'static str, one: u64, other: u64) {
        self.holds(name, one == other, || format!("{one} and {other}"));
    }

    fn at_most(&mut self, name: &'static str, one: u64, other: u64) {
        self.holds(name, one <= other, || format!("{one} above {other}"));
    }

    fn near(&mut self, name: &'static str, one: f64, other: f64) {
        let is_near = (one - other).abs() <= 1e-9 * other.abs().max(1.0);
        self.holds(name, is_near, || format!("{one} and {other}"));
    }

    fn holds(&mut self, name: &'static str, holds: bool, words: impl FnOnce() -> String) {
        if !holds {
            self.0.push((name, words()));
        }
    }
}

/// Every identity of the report.
pub fn rule(tried: &Tried<'_>) -> Result<bool, Stop> {
    let figures = Figures(&tried.base);
    let mut broken = Broken::default();
    requests(tried, &figures, &mut broken);
    latencies(&figures, &mut broken);
    shares(&figures, &mut broken);
    // A collection that is open when a ramp ends counts as a whole, and its copies do not.
    if !tried.has_ramp() {
        collections(tried, &figures, &mut broken);
        work(tried, &figures, &mut broken);
    }
    match broken.0.first() {
        None => Ok(true),
        Some((name, _)) => {
            let lines = broken.0.iter().map(|(name, words)| format!("{name}: {words}"));
            Err(Stop::failed(*name, lines.collect::<Vec<_>>().join("\n")))
        }
    }
}

fn requests(tried: &Tried<'_>, figures: &Figures<'_>, broken: &mut Broken) {
    let done: u64 =
        ["read", "write", "trim"].map(|op| figures.of(&format!("/requests/{op}"))).iter().sum();
    let length = match &tried.setup.workload {
        WorkloadPlan::Synthetic(workload) => Some(workload.plan.requests),
        WorkloadPlan::Fitted(plan) => Some(plan.requests),
        WorkloadPlan::Jobs(_) | WorkloadPlan::Trace(_) => None,
    };
    // It ends where the drive is read-only.
    let is_read_only = tried.base["failures"]["read_only"] == true;
    match length.filter(|_| !is_read_only) {
        None if is_read_only => {}
        // The bound of a run that ends once it is steady.
        Some(Length::Requests(most)) if tried.setup.until.is_some() => {
            broken.at_most("requests done", done, most);
        }
        Some(Length::Requests(requests)) => broken.equal("requests done", done, requests),
        Some(Length::Written { .. }) => broken.at_most("requests done", 1, done),
        // A row that wraps becomes two, and a trim of pages that nothing touches none.
        None if tried.setup.until.is_some() => {}
        None => {
            let rows = tried.history.rows.iter().flatten();
            let rows = rows.filter(|row| !row.contains(",t,")).count() as u64;
            broken.at_most("requests done", rows, done);
        }
    }
    // Pages of requests that end behind a ramp may have been counted before its end.
    if tried.has_ramp() {
        return;
    }
    for (op, pages) in [("read", "host_read"), ("write", "host_written"), ("trim", "host_trimmed")]
    {
        let least = figures.of(&format!("/requests/{op}"));
        broken.at_most("pages of requests", least, figures.of(&format!("/pages/{pages}")));
    }
}

fn latencies(figures: &Figures<'_>, broken: &mut Broken) {
    let mut sum = 0;
    for op in ["read", "write", "all"] {
        let key = |name: &str| format!("/latency_ns/{op}/{name}");
        let count = figures.of(&key("count"));
        if op != "all" {
            broken.equal("count of latencies", count, figures.of(&format!("/requests/{op}")));
            sum += count;
        }
        if count == 0 {
            continue;
        }
        let (min, max) = (figures.of(&key("min")), figures.of(&key("max")));
        let mean = figures.real(&key("mean")).unwrap_or(-1.0);
        let inside = mean >= min as f64 * 0.999_999 && mean <= max as f64 * 1.000_001;
        broken.holds("mean latency", inside, || format!("{min} {mean} {max}"));
        let names = ["p50", "p90", "p95", "p99", "p99_9", "p99_99"];
        let ranks: Vec<f64> =
            names.iter().map(|name| figures.real(&key(name)).unwrap_or(-1.0)).collect();
        broken.holds("quantiles", ranks.is_sorted(), || format!("{ranks:?}"));
        let ends = ranks[0] >= min as f64 * 0.998 && ranks[5] <= max as f64 * 1.002;
        broken.holds("quantiles and extremes", ends, || format!("{min} {ranks:?} {max}"));
        broken.at_most("latency and length", max, figures.of("/simulated_ns"));
    }
    broken.equal("all latencies", sum, figures.of("/latency_ns/all/count"));
}

fn shares(figures: &Figures<'_>, broken: &mut Broken) {
    if figures.of("/simulated_ns") == 0 {
        return;
    }
    for (name, part) in [("unit", "unit"), ("bus", "bus")] {
        let of = |who: &str| figures.real(&format!("/utilisation/{part}/{who}")).unwrap_or(-9.0);
        let all = [of("host"), of("gc"), of("idle")];
        let inside = all.iter().all(|share| (-1e-9..=1.0 + 1e-9).contains(share));
        broken.holds("shares", inside, || format!("{name} {all:?}"));
        broken.near("sum of shares", all.iter().sum(), 1.0);
    }
    for part in ["host_link", "host_link_in", "host_link_out"] {
        let of = |who: &str| figures.real(&format!("/utilisation/{part}/{who}"));
        let Some(host) = of("host") else { continue };
        let idle = of("idle").unwrap_or(-9.0);
        let inside = [host, idle].iter().all(|share| (-1e-9..=1.0 + 1e-9).contains(share));
        broken.holds("shares of the link", inside, || format!("{host} {idle}"));
        broken.near("sum of shares of the link", host + idle, 1.0);
    }
    let done = (figures.of("/requests/read") + figures.of("/requests/write")) as f64;
    let iops = figures.real("/throughput/iops").unwrap_or(-1.0);
    let counted_ns = figures.of("/simulated_ns") - figures.of("/ramp_ns");
    broken.near("requests a second", iops * counted_ns as f64 / 1e9, done);
}

fn collections(tried: &Tried<'_>, figures: &Figures<'_>, broken: &mut Broken) {
    let gc = |name: &str| figures.of(&format!("/gc/{name}"));
    let in_blocks = tried.setup.plan.gc.sub_blocks.is_none();
    let operations = gc("count") * tried.setup.plan.geometry.erases_of_block();
    // Blocks that are retired are erased in vain, or not at all.
    let retires = tried.setup.plan.failures.is_some();
    match retires {
        false => {
            broken.equal("erase operations and jobs", figures.of("/erase_operations"), operations);
        }
        true => {
            broken.at_most("erase operations", figures.of("/erase_operations"), operations);
        }
    }
    broken.at_most("busy in open jobs", gc("busy_open_ns"), gc("busy_ns"));
    let moved = figures.real("/gc/moved_per_gc").unwrap_or(0.0) * gc("count") as f64;
    let moved = moved.round() as u64;
    broken.at_most("moved in jobs", moved, figures.of("/pages/gc_moved"));
    broken.at_most("steps", gc("copy_steps"), moved);
    // Pages that move before a collection may be wasted as well.
    let copies = figures.of("/pages/gc_moved") + figures.of("/pages/background_moved");
    broken.at_most("wasted", figures.of("/pages/wasted_copies"), copies);
    let victims = if in_blocks { gc("victim_blocks") } else { gc("count") };
    let pairs = tried.base["gc"]["valid_distribution"].as_array().cloned().unwrap_or_default();
    let pair = |pair: &Value, at: usize| pair[at].as_u64().unwrap_or(0);
    let counted = pairs.iter().map(|entry| pair(entry, 1)).sum();
    broken.equal("victims by valid pages", counted, victims);
    let valid: u64 = pairs.iter().map(|entry| pair(entry, 0) * pair(entry, 1)).sum();
    let mean = figures.real("/gc/valid_per_victim").unwrap_or(0.0);
    broken.near("valid pages of victims", mean * victims as f64, valid as f64);
    let blocks = f64::from(tried.setup.plan.geometry.blocks);
    let erases = figures.of("/erases");
    broken.near("wear", figures.real("/wear/mean").unwrap_or(-1.0) * blocks, erases as f64);
    if in_blocks && retires {
        let failed = figures.of("/failures/erase");
        broken.at_most("erases and victims", erases + failed, gc("victim_blocks"));
        broken.at_most("moved and valid", moved, valid);
    } else if in_blocks {
        broken.equal("erases and victims", erases, gc("victim_blocks"));
        let pages = u64::from(tried.setup.plan.geometry.shape.data_pages());
        broken.equal("pages won", gc("reclaimed_pages") + moved, erases * pages);
        broken.at_most("moved and valid", moved, valid);
    }
    if pure(tried) {
        let timing = &tried.setup.plan.collection_timing();
        let expected = gc("copy_steps") * (timing.read_ns + timing.program_ns)
            + figures.of("/erase_operations") * timing.erase_ns;
        broken.equal("array time of jobs", gc("busy_ns") - gc("busy_open_ns"), expected);
    }
}

/// Whether the array time of a collection follows from its steps: copies stay in the plane, and no
/// request preempts it.
fn pure(tried: &Tried<'_>) -> bool {
    let plan = &tried.setup.plan;
    let same = tried.history.get("device.timing.layer_ratio").is_none_or(|ratio| ratio == "1");
    let preset = tried.history.get("device.preset").is_some();
    plan.gc.copy.stays_in_plane()
        && same
        && !preset
        && plan.gc.preemption.is_none()
        && plan.geometry.shape.summary_pages == 0
        && plan.geometry.shape.program_slots == 1
        && plan.timing.read_by_type_ns.is_none()
        && plan.failures.is_none()
}

fn work(tried: &Tried<'_>, figures: &Figures<'_>, broken: &mut Broken) {
    let pages = |name: &str| figures.of(&format!("/pages/{name}"));
    let plan = &tried.setup.plan;
    broken.at_most("erased pages", figures.of("/free_pages_min"), plan.geometry.pages.into());
    broken.at_most("unwritten pages read", pages("unwritten_read"), pages("host_read"));
    let copies = pages("gc_moved") + pages("background_moved");
    if let Some(amplification) = figures.real("/write_amplification") {
        let programs = amplification * pages("host_written") as f64 - copies as f64;
        let programs = programs.round().max(0.0) as u64;
        // A merged write is programmed by the collection, and so is a page that leaves the buffer.
        let by_itself = plan.write_buffer.is_none() && plan.gc.preemption.is_none();
        match by_itself {
            true => broken.equal("programs", programs, pages("host_written")),
            false => {
                let rest = plan.write_buffer.map_or(0, |buffer| u64::from(buffer.pages));
                broken.at_most("programs", programs, pages("host_written") + rest);
            }
        }
    }
}
