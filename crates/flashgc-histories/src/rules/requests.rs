//! The log of requests against the report.

use super::{Tried, compare};
use crate::choices::Choices;
use crate::run::{self, Stop};
use flashgc::session::Options;
use flashgc::verify::RequestRow;
use flashgc::verify::story::Choice;
use flashgc::workload::HostOp;
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// Each request has one row, rows add up to the report, and writing them changes no result.
pub fn rule(tried: &Tried<'_>) -> Result<bool, Stop> {
    let rows: Arc<Mutex<Vec<RequestRow>>> = Arc::default();
    let kept = Arc::clone(&rows);
    let mut choices = Choices::new(tried.seed ^ 0x4e9);
    let needs_blame = choices.chance(70);
    let options = Options {
        blame: needs_blame,
        verify: choices.chance(30),
        stories: choices.chance(30).then_some(Choice::Slowest(5, None)),
        request_log: Some(Box::new(move |batch| {
            if let Ok(mut rows) = kept.lock() {
                rows.extend_from_slice(batch);
            }
        })),
        ..Options::default()
    };
    // A story has the parts of its request.
    let blame = options.blame || options.stories.is_some();
    let report = run::whole(tried.setup, tried.history, options)?;
    compare::equal_but(&tried.base, &report, &["blame"])?;
    let mut rows = rows.lock().map_or_else(|_| Vec::new(), |mut rows| std::mem::take(&mut *rows));
    for &op in HostOp::ALL {
        let latencies: Vec<u64> =
            rows.iter().filter(|row| row.op == op).map(RequestRow::latency_ns).collect();
        let (count, own) = of_kind(&report, op);
        equal(op.name(), latencies.len() as u64, &count)?;
        if let (Some(longest), Some(shortest)) = (latencies.iter().max(), latencies.iter().min())
            && !own.is_null()
        {
            equal("longest", *longest, &own["max"])?;
            equal("shortest", *shortest, &own["min"])?;
        }
    }
    if let Some(row) = rows.iter().find(|row| is_wrong(row, blame)) {
        return Err(Stop::failed("row", format!("{row:?}")));
    }
    rows.sort_by_key(|row| row.request);
    let is_in_order = rows.windows(2).all(|pair| pair[0].arrival_ns <= pair[1].arrival_ns);
    let is_complete = rows.iter().map(|row| row.request).eq(0..rows.len() as u64);
    if !(is_in_order && is_complete) {
        return Err(Stop::failed("numbers of requests", format!("{} rows", rows.len())));
    }
    Ok(true)
}

/// The number of requests of a kind in the report, and their latencies, which trims do not have.
fn of_kind(report: &Value, op: HostOp) -> (Value, Value) {
    match op {
        HostOp::Flush => {
            let flush = &report["flush"];
            (flush["requests"].as_u64().unwrap_or(0).into(), flush["latency_ns"].clone())
        }
        HostOp::Read | HostOp::Write | HostOp::Trim => {
            let kind = op.name();
            (report["requests"][kind].clone(), report["latency_ns"][kind].clone())
        }
    }
}

fn is_wrong(row: &RequestRow, blame: bool) -> bool {
    let parts = row.parts.map(|parts| parts.iter().sum::<u64>());
    let expected = (blame && row.op.has_parts()).then(|| row.latency_ns());
    row.arrival_ns > row.start_ns || row.start_ns > row.end_ns || parts != expected
}

fn equal(what: &str, log: u64, own: &Value) -> Result<(), Stop> {
    if own.as_u64() == Some(log) {
        return Ok(());
    }
    Err(Stop::failed("log of requests", format!("{what}: {log}, report {own}")))
}
