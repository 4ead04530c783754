//! The log of requests, for Python: its rows leave as columns, batch by batch.

use crate::columns::packed;
use crate::pulse::Raised;
use flashgc::verify::blame::Part;
use flashgc::verify::{RequestRow, RequestSink};
use flashgc::workload::HostOp;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

/// Passes batches to a function of Python, and keeps its exception.
pub struct Requests {
    raised: Raised,
}

impl Requests {
    /// The function, and the sink for the engine's rows.
    pub fn new(add: Py<PyAny>, has_parts: bool) -> (Requests, RequestSink) {
        let raised = Raised::default();
        let seen = raised.clone();
        let sink = move |rows: &[RequestRow]| {
            let Ok(mut raised) = raised.lock() else { return };
            if raised.is_none() {
                let reported = Python::attach(|py| add.call1(py, (columns(py, rows, has_parts)?,)));
                *raised = reported.err();
            }
        };
        (Requests { raised: seen }, Box::new(sink))
    }

    /// Whether all rows were taken so far.
    pub fn check(&self) -> PyResult<()> {
        let raised = self.raised.lock().ok().and_then(|mut raised| raised.take());
        raised.map_or(Ok(()), Err)
    }
}

/// The kinds of requests by number: the name of each, and whether its latency is split into parts.
pub fn kinds(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, HostOp::ALL.iter().map(|op| (op.name(), op.has_parts())))
}

type Number = fn(&RequestRow) -> u64;

/// The columns by name, in order: 64-bit numbers, and the kind of the request as one byte. The
/// parts of a kind that has none are 0 here.
fn columns<'py>(
    py: Python<'py>,
    rows: &[RequestRow],
    has_parts: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let numbers: [(&str, Number); 9] = [
        ("request", |row| row.request),
        ("job", |row| row.job.into()),
        ("arrival_ns", |row| row.arrival_ns),
        ("offset_bytes", |row| row.offset_bytes),
        ("size_bytes", |row| row.size_bytes),
        ("hint", |row| row.hint.into()),
        ("start_ns", |row| row.start_ns),
        ("end_ns", |row| row.end_ns),
        ("latency_ns", RequestRow::latency_ns),
    ];
    for (name, of) in numbers {
        columns.set_item(name, packed(py, rows.iter().map(of))?)?;
        if name == "arrival_ns" {
            let kinds: Vec<u8> = rows.iter().map(|row| row.op as u8).collect();
            columns.set_item("kind", PyBytes::new(py, &kinds))?;
        }
    }
    if has_parts {
        for part in Part::ALL {
            let of = |row: &RequestRow| row.parts.map_or(0, |parts| parts[part as usize]);
            columns.set_item(part.key(), packed(py, rows.iter().map(of))?)?;
        }
    }
    Ok(columns)
}
