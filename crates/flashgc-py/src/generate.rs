//! A synthetic workload, written as a trace.

use crate::errors::{guarded, ConfigError, OutputError, RunError};
use crate::packed::Target;
use crate::pulse::{Pulse, Step};
use crate::run::Request;
use crate::trace::{format_to_write, wrong};
use flashgc::config::{SyntheticWorkload, WorkloadPlan};
use flashgc::session::Setup;
use flashgc::workload::alike::Alike;
use flashgc::workload::synthetic::Synthetic;
use flashgc::workload::{HostOp, HostRequest, Source};
use flashgc_trace::{Op, Record};
use pyo3::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Requests between two looks at the clock.
const SLICE: u64 = 10_000;

/// Writes the requests of a synthetic workload; gives counts, as JSON.
#[pyfunction]
#[pyo3(signature = (request, target, format, progress=None))]
pub fn trace_generate(
    py: Python<'_>,
    request: Request,
    target: Option<PathBuf>,
    format: String,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let pulse = Pulse::new(progress);
    py.detach(|| guarded(|| generate(&request.prepare()?, target.as_deref(), &format, pulse)))
}

fn generate(
    setup: &Setup,
    target: Option<&Path>,
    name: &str,
    mut pulse: Pulse,
) -> PyResult<String> {
    let to = format_to_write(name)?;
    let geometry = &setup.plan.geometry;
    let page_bytes = u64::from(geometry.shape.page_bytes);
    let exported = geometry.exported_pages;
    let seed = setup.plan.seed;
    let (mut source, requests): (Box<dyn Source>, u64) = match &setup.workload {
        WorkloadPlan::Synthetic(SyntheticWorkload { plan, .. }) => {
            (Box::new(Synthetic::new(plan, exported, page_bytes, seed)), plan.requests)
        }
        WorkloadPlan::Alike(plan) => (Box::new(Alike::new(plan, page_bytes, seed)), plan.requests),
        WorkloadPlan::Trace(_) => {
            return Err(ConfigError::new_err(
                "error: the workload is a trace already\n  \
                 = help: give a configuration with [workload.synthetic] or [workload.alike]",
            ));
        }
    };
    let target = Target::create(target).map_err(OutputError::new_err)?;
    let mut writer = flashgc_trace::writer(&to, Box::new(target.clone())).map_err(wrong)?;
    let mut line = 0;
    while let Some(request) = source.next().map_err(|error| RunError::new_err(error.0))? {
        line += 1;
        let record = record(&request, line);
        writer.push(&record).map_err(|error| target.failure(wrong(error)))?;
        if target.is_closed() {
            break;
        }
        if line % SLICE == 0 {
            let (total, now_ns) = (Some(requests), request.at_ns);
            pulse.beat(|| Step { phase: "run", done: line, total, now_ns })?;
        }
    }
    let written = writer.finish().map_err(|error| target.failure(wrong(error)))?;
    target.commit().map_err(OutputError::new_err)?;
    Ok(json!({ "to": to.name(), "rows": written.rows }).to_string())
}

fn record(request: &HostRequest, line: u64) -> Record {
    Record {
        at_ns: request.at_ns,
        device: 0,
        op: match request.op {
            HostOp::Read => Op::Read,
            HostOp::Write => Op::Write,
            HostOp::Trim => Op::Trim,
        },
        offset_bytes: request.offset_bytes,
        size_bytes: request.bytes,
        line,
    }
}
