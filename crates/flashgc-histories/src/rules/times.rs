//! A workload replayed from its own trace, and all times three times as long.

use super::compare::{differ, equal_but, walk};
use super::{Tried, drives};
use crate::history::History;
use crate::run::{self, Stop};
use flashgc::config::{Setup, WorkloadPlan};
use flashgc::plan::{Arrivals, Jitter};
use flashgc::session::Options;
use flashgc_trace::{Format, writer};
use serde_json::Value;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// The rows of a trace that a workload makes.
fn rows(tried: &Tried<'_>) -> Result<Option<Vec<u8>>, Stop> {
    let Some(mut source) = drives::source(tried) else { return Ok(None) };
    let shared = Shared::default();
    let fault = |why: String| Stop::failed("the trace cannot be written", why);
    let opened = writer(&Format::Fgt, Box::new(shared.clone()));
    let mut writer = opened.map_err(|error| fault(error.to_string()))?;
    let mut line = 0;
    while let Some(request) = source.next().map_err(|error| fault(error.0))? {
        line += 1;
        writer.push(&request.record(line)).map_err(|error| fault(error.to_string()))?;
    }
    writer.finish().map_err(|error| fault(error.to_string()))?;
    let bytes = shared.0.lock().map(|mut bytes| std::mem::take(&mut *bytes));
    Ok(bytes.ok())
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Ok(mut own) = self.0.lock() {
            own.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The configuration that replays the trace made from its own workload.
fn replaying(history: &History, setup: &Setup, scale: u32) -> Option<(History, Setup)> {
    let mut replaying = history.clone();
    replaying.remove("workload");
    // The drive is given.
    replaying.remove("precondition");
    replaying.set("workload.trace.format", "\"fgt\"");
    replaying.set("workload.trace.time_scale", format!("{scale}.0"));
    if let Arrivals::Closed(depth) = setup.plan.arrivals {
        replaying.set("workload.trace.queue_depth", depth.to_string());
    }
    let prepared = replaying.prepare().ok()?;
    Some((replaying, prepared))
}

/// The metrics of a replay on the drive of the history.
fn replayed(tried: &Tried<'_>, bytes: &[u8]) -> Result<Option<Value>, Stop> {
    let Some((_, setup)) = replaying(tried.history, tried.setup, 1) else { return Ok(None) };
    let drive = tried.drive()?;
    run::on_drive(&setup, run::opener(bytes), drive, Options::default()).map(Some)
}

/// A workload and the replay of its trace are the same.
pub fn trace(tried: &Tried<'_>) -> Result<bool, Stop> {
    let Some(bytes) = rows(tried)? else { return Ok(false) };
    let Some(replayed) = replayed(tried, &bytes)? else { return Ok(false) };
    // The verdict on the run counts preconditioning by the same workload only.
    equal_but(&tried.base, &replayed, &["precondition", "steady"])?;
    Ok(true)
}

/// Keys of durations and rates; interarrivals are in the trace.
const TIMED: &[&str] = &[
    "device.timing.read",
    "device.timing.copy_read",
    "device.timing.program",
    "device.timing.erase",
    "device.timing.command",
    "device.timing.transfer",
    "device.firmware.command",
    "device.firmware.jitter.fixed",
    "device.read_retry.decode",
    "device.read_retry.soft_decode",
    "device.host_link.transfer",
    "device.host_link.jitter.fixed",
    "device.write_buffer.access",
    "device.suspend.suspend",
    "device.suspend.resume",
    "device.suspend.host_min_left",
    "gc.trigger.idle.wait",
    "gc.pacing.time-slices.length",
    "gc.preemption.between-copies.poll",
    "gc.preemption.suspend.poll",
];

/// The history with all times three times as long, where that is exact.
fn thrice(tried: &Tried<'_>) -> Option<History> {
    let mut history = tried.history.clone();
    let layered = history.get("device.timing.layer_ratio").is_some_and(|ratio| ratio != "1");
    let gc = &tried.setup.plan.gc;
    let waits = history.get("gc.trigger.idle.wait").unwrap_or("\"mean-collection\"");
    let by_mean = gc.idle.is_some() && waits.contains("mean");
    // Without a key the access of the buffer follows from the page size.
    let own_access = tried.setup.plan.write_buffer.is_some()
        && history.get("device.write_buffer.access").is_none();
    let has_preset = history.get("device.preset").is_some();
    // A rate is a division, whose rounding does not scale.
    let by_rate = gc.slots["victim"] == "invalidation-rate";
    let filled_by_rate = tried.setup.filler.is_some();
    // The clock of preconditioning advances by a program time per unit, in whole ns.
    let units = u64::from(tried.setup.plan.geometry.units);
    let by_age = gc.slots["victim"] == "cost-benefit"
        && !tried.setup.plan.timing.program_ns.is_multiple_of(units);
    // Drawn times are rounded.
    let front = &tried.setup.plan.front;
    let jitters = [front.firmware.map(|it| it.jitter), front.host_link.map(|it| it.jitter)];
    let are_drawn = jitters.into_iter().flatten().any(|of| !matches!(of, Jitter::Fixed { .. }));
    // Job rows mix times, counts and rates.
    let has_jobs = matches!(tried.setup.workload, WorkloadPlan::Jobs(_));
    if has_jobs
        || layered
        || by_mean
        || has_preset
        || by_rate
        || filled_by_rate
        || by_age
        || are_drawn
        || own_access
    {
        return None;
    }
    for (key, value) in &mut history.keys {
        if TIMED.contains(&key.as_str()) {
            let times: Option<Vec<_>> =
                value.trim_matches(['[', ']']).split(", ").map(longer).collect();
            *value = match times?.as_slice() {
                [time] => time.clone(),
                times => format!("[{}]", times.join(", ")),
            };
        }
    }
    Some(history)
}

/// A duration or a rate, three times as long.
fn longer(value: &str) -> Option<String> {
    let (number, unit) = value.trim_matches('"').split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    Some(format!("\"{} {unit}\"", (number * 300.0).round() / 100.0))
}

/// With all times three times as long, times are, and nothing else changes.
pub fn scaled(tried: &Tried<'_>) -> Result<bool, Stop> {
    if matches!(tried.setup.workload, WorkloadPlan::Trace(_)) {
        return Ok(false);
    }
    let Some(slow) = thrice(tried) else { return Ok(false) };
    let Some(bytes) = rows(tried)? else { return Ok(false) };
    let slow_setup =
        slow.prepare().map_err(|why| Stop::failed("the scaled configuration is refused", why))?;
    let Some((_, setup)) = replaying(&slow, &slow_setup, 3) else { return Ok(false) };
    let drive = run::preconditioned(&slow_setup, &slow)?;
    let slow = run::on_drive(&setup, run::opener(&bytes), drive, Options::default())?;
    let Some(own) = replayed(tried, &bytes)? else { return Ok(false) };
    let mut wrong = Vec::new();
    walk("", &own, &slow, &mut |key, own, slow| {
        let first = key.split('.').next().unwrap_or(key);
        let skipped =
            ["config", "config_hash", "result_hash", "notes", "scheme_changes", "unused_keys"];
        if !skipped.contains(&first) && !key.starts_with("precondition") && !fits(key, own, slow) {
            wrong.push(format!("{key}: {own}, and {slow} with times three times as long"));
        }
    });
    differ(&wrong)?;
    Ok(true)
}

/// Whether the metric of the slowed run has the expected value.
fn fits(key: &str, own: &Value, slow: &Value) -> bool {
    let near = |factor: f64, share: f64| match (own.as_f64(), slow.as_f64()) {
        (Some(own), Some(slow)) => (own * factor - slow).abs() <= share * slow.abs() + 1e-9,
        _ => own == slow,
    };
    let last = key.rsplit('.').next().unwrap_or(key);
    if key.starts_with("latency_ns.") {
        return match last {
            "count" => own == slow,
            "min" | "max" => near(3.0, 0.0),
            "mean" | "stddev" => near(3.0, 1e-9),
            _ => near(3.0, 4e-3),
        };
    }
    if last.ends_with("_ns") {
        return near(3.0, 0.0);
    }
    match key.split('.').next() {
        Some("throughput") => near(1.0 / 3.0, 1e-9),
        Some("utilisation") => near(1.0, 1e-9),
        _ => own == slow,
    }
}
