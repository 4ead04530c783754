//! The timeline against the report.

use super::{Tried, compare};
use crate::choices::Choices;
use crate::run::{self, Stop};
use flashgc::session::Options;
use flashgc::verify::timeline::{Entry, Stretch, TimelineRequest};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The sums over the entries.
#[derive(Default)]
struct Sums {
    /// Units, buses and arrays, each working for the host and for collection, in ns.
    spent_ns: [[u64; 2]; 3],
    requests: u64,
    /// By unit: when at least one plane read by itself, in ns; the latest last.
    reads_ns: BTreeMap<u32, Vec<(u64, u64)>>,
    /// Entries with each link.
    ends: BTreeMap<u64, [u32; 2]>,
}

impl Sums {
    fn add(&mut self, stretch: &Stretch<'_>) {
        let length_ns = stretch.to_ns - stretch.from_ns;
        let is_request = matches!(stretch.entry, Entry::Request { .. });
        for link in stretch.links {
            self.ends.entry(*link).or_default()[usize::from(is_request)] += 1;
        }
        let (at, gc) = match stretch.entry {
            Entry::Operation(work) if work.plane.is_some() => {
                return self.add_read(work.unit.0, (stretch.from_ns, stretch.to_ns));
            }
            Entry::Operation(work) => (0, work.gc),
            Entry::Transfer { gc, .. } => (1, gc),
            Entry::Array { gc, .. } => (2, gc),
            _ => {
                self.requests += u64::from(is_request);
                return;
            }
        };
        self.spent_ns[at][usize::from(gc)] += length_ns;
    }

    /// Reads of planes of a unit overlap, and come in the order of their ends.
    fn add_read(&mut self, unit: u32, (mut from_ns, to_ns): (u64, u64)) {
        let spans = self.reads_ns.entry(unit).or_default();
        while let Some((since_ns, _)) = spans.pop_if(|(_, until_ns)| *until_ns > from_ns) {
            from_ns = from_ns.min(since_ns);
        }
        spans.push((from_ns, to_ns));
    }
}

/// Entries add up to the busy times of the report, each link has two ends, and recording changes no
/// result.
pub fn rule(tried: &Tried<'_>) -> Result<bool, Stop> {
    let sums: Arc<Mutex<Sums>> = Arc::default();
    let kept = Arc::clone(&sums);
    let mut choices = Choices::new(tried.seed ^ 0x71e);
    let sink = Box::new(move |stretch: Stretch<'_>| {
        if let Ok(mut sums) = kept.lock() {
            sums.add(&stretch);
        }
    });
    let (from_ns, to_ns, entries_max) = (0, u64::MAX, u64::MAX);
    let request = TimelineRequest { from_ns, to_ns, units: None, entries_max, sink };
    let verify = choices.chance(30);
    let options = Options { verify, timeline: Some(request), ..Options::default() };
    let report = run::whole(tried.setup, tried.history, options)?;
    compare::equal(&tried.base, &report)?;
    let sums = sums.lock().map_or_else(|_| Sums::default(), |mut sums| std::mem::take(&mut *sums));
    let reads = sums.reads_ns.values().flatten();
    let reads_ns: u64 = reads.map(|(from_ns, to_ns)| to_ns - from_ns).sum();
    let geometry = &tried.setup.plan.geometry;
    let parts = [("unit", geometry.units), ("bus", geometry.shape.channels)];
    for (at, (part, count)) in parts.into_iter().enumerate() {
        for (gc, class) in ["host", "gc"].into_iter().enumerate() {
            let own = &report["utilisation"][part][class];
            let reported_ns = sums.spent_ns[at][gc] + if (at, gc) == (0, 0) { reads_ns } else { 0 };
            let reported = share(reported_ns, count, &report);
            equal(&format!("{part} {class}"), own.as_f64() == Some(reported), reported, own)?;
        }
    }
    let (reported, own) = (sums.spent_ns[2][1], &report["gc"]["total_busy_ns"]);
    equal("array", own.as_u64() == Some(reported), reported, own)?;
    let requests = ["read", "write", "trim"].map(|kind| report["requests"][kind].as_u64());
    let flushes = report["flush"]["requests"].as_u64().unwrap_or(0);
    let own = requests.iter().flatten().sum::<u64>() + flushes;
    equal("requests", own == sums.requests, sums.requests, &own.into())?;
    match sums.ends.iter().find(|(_, ends)| **ends != [1, 1]) {
        Some((link, ends)) => {
            Err(Stop::failed("links of the timeline", format!("link {link}: {ends:?}")))
        }
        None => Ok(true),
    }
}

/// The share of the time as a report computes it.
fn share(spent_ns: u64, parts: u32, report: &Value) -> f64 {
    match report["simulated_ns"].as_u64().unwrap_or(0) {
        0 => 0.0,
        simulated_ns => spent_ns as f64 / (u64::from(parts) * simulated_ns) as f64,
    }
}

fn equal(
    what: &str,
    holds: bool,
    reported: impl std::fmt::Display,
    own: &Value,
) -> Result<(), Stop> {
    if holds {
        return Ok(());
    }
    Err(Stop::failed("timeline", format!("{what}: {reported}, report {own}")))
}
