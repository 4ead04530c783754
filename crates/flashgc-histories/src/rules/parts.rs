//! The parts of each latency, request by request: in the log of requests, in the blame of the
//! report and in stories.

use super::{Tried, compare};
use crate::run::{self, Stop};
use flashgc::session::{Options, Phase, Session};
use flashgc::verify::RequestRow;
use flashgc::verify::blame::Part;
use flashgc::verify::story::{Choice, Story};
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// Stories of each run.
const STORIES: usize = 50;

/// No part of a latency is below zero or above the whole, and its parts add up to it. The steps of
/// a request lie between its arrival and its end, one after the other.
pub fn rule(tried: &Tried<'_>) -> Result<bool, Stop> {
    let rows: Arc<Mutex<Vec<RequestRow>>> = Arc::default();
    let kept = Arc::clone(&rows);
    let options = Options {
        blame: true,
        stories: Some(Choice::Slowest(STORIES, None)),
        request_log: Some(Box::new(move |batch| {
            if let Ok(mut rows) = kept.lock() {
                rows.extend_from_slice(batch);
            }
        })),
        ..Options::default()
    };
    let mut session = Session::new(tried.setup.clone(), tried.history.opener(), options);
    run::until(&mut session, Phase::Done)?;
    let stories = session.stories().map_or_else(Vec::new, |stories| stories.stories().to_vec());
    let report = session.report().to_json();
    compare::equal_but(&tried.base, &report, &["blame"])?;
    let rows = rows.lock().map_or_else(|_| Vec::new(), |mut rows| std::mem::take(&mut *rows));
    if let Some(row) = rows.iter().find(|row| !is_right(row)) {
        return Err(Stop::failed("parts of a request", format!("{row:?}\n{}", signed(row))));
    }
    if let Some(story) = stories.iter().find(|story| !is_in_order(story)) {
        return Err(Stop::failed("steps of a request", format!("{story:?}")));
    }
    let above = above_the_whole(&report);
    if above.is_empty() { Ok(true) } else { Err(Stop::failed("parts of the report", above)) }
}

/// A part that is below zero has wrapped, and is above the whole.
fn is_right(row: &RequestRow) -> bool {
    if row.arrival_ns > row.start_ns || row.start_ns > row.end_ns {
        return false;
    }
    let latency_ns = row.latency_ns();
    match row.parts {
        None => !row.op.has_parts(),
        Some(parts) => {
            let sum: u128 = parts.iter().map(|&ns| u128::from(ns)).sum();
            parts.iter().all(|&ns| ns <= latency_ns) && sum == u128::from(latency_ns)
        }
    }
}

fn signed(row: &RequestRow) -> String {
    let parts = Part::ALL.into_iter().zip(row.parts.unwrap_or_default());
    parts.map(|(part, ns)| format!("{} {} ", part.key(), ns.cast_signed())).collect()
}

fn is_in_order(story: &Story) -> bool {
    let ends = [(story.row.arrival_ns, story.row.end_ns)];
    let within = |at_ns: u64| ends.iter().all(|&(from, to)| (from..=to).contains(&at_ns));
    is_right(&story.row)
        && story.steps.iter().all(|&(at_ns, _)| within(at_ns))
        && story.steps.windows(2).all(|pair| pair[0].0 <= pair[1].0)
}

/// The parts of the mean and of percentiles that are above these.
fn above_the_whole(report: &Value) -> String {
    let mut above = String::new();
    for kind in ["read", "write"] {
        for name in ["mean", "p50", "p99", "p99_9", "p99_99"] {
            let whole = report["latency_ns"][kind][name].as_f64().unwrap_or(0.0);
            let parts = report["blame"][kind][name].as_object();
            let times = parts.into_iter().flatten().filter(|(part, _)| part.ends_with("_ns"));
            for (part, ns) in times {
                // Means are rounded.
                let ns = ns.as_f64().unwrap_or(0.0);
                if !(0.0..=whole * (1.0 + 1e-9)).contains(&ns) {
                    above.push_str(&format!("{kind} {name}: {part} {ns} of {whole}\n"));
                }
            }
        }
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashgc::workload::HostOp;

    fn row(parts: [i64; 3]) -> RequestRow {
        let mut all = [0; Part::ALL.len()];
        for (own, ns) in all.iter_mut().zip(parts) {
            *own = ns.cast_unsigned();
        }
        RequestRow {
            request: 263,
            job: 0,
            op: HostOp::Read,
            offset_bytes: 4_997_120,
            size_bytes: 16_384,
            hint: 0,
            arrival_ns: 51_032_601,
            start_ns: 51_098_574,
            end_ns: 51_098_574,
            parts: Some(all),
        }
    }

    /// The row of a read whose service time was below zero, as the engine once gave it: its parts
    /// add up.
    #[test]
    fn a_part_below_zero_is_found_though_they_add_up() {
        let wrong = row([-97_867, 163_840, 0]);
        let sum =
            wrong.parts.unwrap_or_default().iter().fold(0, |sum: u64, ns| sum.wrapping_add(*ns));
        assert_eq!(sum, wrong.latency_ns());
        assert!(!is_right(&wrong));
        assert!(signed(&wrong).contains("service_ns -97867"));
        assert!(is_right(&row([65_973, 0, 0])));
        assert!(is_right(&row([0, 65_000, 973])));
        assert!(!is_right(&row([0, 65_000, 974])));
        assert!(!is_right(&RequestRow { start_ns: 1, ..row([65_973, 0, 0]) }));
    }

    #[test]
    fn a_part_above_the_whole_is_found_in_the_report() {
        let report = |ns: f64| {
            let blame = serde_json::json!({ "read": { "mean": { "service_ns": ns } } });
            serde_json::json!({ "latency_ns": { "read": { "mean": 382.5 } }, "blame": blame })
        };
        assert_eq!(above_the_whole(&report(382.5)), "");
        assert!(!above_the_whole(&report(1.4e17)).is_empty());
        assert!(!above_the_whole(&report(-1.0)).is_empty());
    }
}
