//! A synthetic workload, written as a trace or counted.

use crate::errors::{ConfigError, OutputError, RunError, guarded};
use crate::packed::Target;
use crate::pulse::{Pulse, Step};
use crate::request::Request;
use crate::trace::{check_name, format_to_write, with_marks_lost, wrong};
use flashgc::config::{SyntheticWorkload, WorkloadPlan};
use flashgc::session::Setup;
use flashgc::workload::fitted::Fitted;
use flashgc::workload::statistics::Counter;
use flashgc::workload::synthetic::Synthetic;
use flashgc::workload::{HostRequest, Source};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Requests between two readings of the clock.
const SLICE: u64 = 10_000;

/// Writes the requests of a synthetic workload; returns counts, as JSON.
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

/// Counts the requests of a synthetic workload; returns its statistics, as JSON.
#[pyfunction]
#[pyo3(signature = (request, progress=None))]
pub fn workload_statistics(
    py: Python<'_>,
    request: Request,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let pulse = Pulse::new(progress);
    py.detach(|| guarded(|| count(&request.prepare()?, pulse)))
}

/// The requests of a configuration with a workload of its own, and their number, where that is
/// known.
fn requests(setup: &Setup) -> PyResult<(Box<dyn Source>, Option<u64>)> {
    let geometry = &setup.plan.geometry;
    let page_bytes = u64::from(geometry.shape.page_bytes);
    let (exported, seed) = (geometry.exported_pages, setup.plan.seed);
    match &setup.workload {
        WorkloadPlan::Synthetic(SyntheticWorkload { plan, .. }) => Ok((
            Box::new(Synthetic::new(plan, exported, page_bytes, seed)),
            plan.requests.requests(),
        )),
        WorkloadPlan::Fitted(plan) => {
            Ok((Box::new(Fitted::new(plan, page_bytes, seed)), plan.requests.requests()))
        }
        WorkloadPlan::Jobs(_) => Err(ConfigError::new_err(
            "error: the workload is jobs, whose requests depend on the drive: they are issued as \
             others are done\n  = help: run it with `flashgc run`, or give a configuration with \
             [workload.synthetic] or [workload.fitted]",
        )),
        WorkloadPlan::Trace(_) => Err(ConfigError::new_err(
            "error: the workload is already a trace\n  = help: give a configuration with \
             [workload.synthetic] or [workload.fitted]",
        )),
    }
}

/// Passes each request and its number, from 1, until the receiver has enough.
fn each(
    (mut source, requests): (Box<dyn Source>, Option<u64>),
    mut pulse: Pulse,
    mut act: impl FnMut(&HostRequest, u64) -> PyResult<ControlFlow<()>>,
) -> PyResult<()> {
    let mut line = 0;
    while let Some(request) = source.next().map_err(|error| RunError::new_err(error.0))? {
        line += 1;
        if act(&request, line)?.is_break() {
            break;
        }
        if line % SLICE == 0 {
            let (total, now_ns) = (requests, request.at_ns);
            pulse.beat(|| Step { phase: "run", done: line, total, now_ns })?;
        }
    }
    Ok(())
}

fn count(setup: &Setup, pulse: Pulse) -> PyResult<String> {
    let geometry = &setup.plan.geometry;
    let drive_bytes = u64::from(geometry.exported_pages) * u64::from(geometry.shape.page_bytes);
    let mut counter = Counter::new(drive_bytes);
    each(requests(setup)?, pulse, |request, _| {
        counter.observe(request);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(serde_json::to_value(counter.statistics()).unwrap_or(Value::Null).to_string())
}

fn generate(setup: &Setup, target: Option<&Path>, name: &str, pulse: Pulse) -> PyResult<String> {
    // Before a file is begun.
    let source = requests(setup)?;
    let to = format_to_write(name)?;
    check_name(target, &to)?;
    let target = Target::create(target).map_err(OutputError::new_err)?;
    let mut writer = flashgc_trace::writer(&to, Box::new(target.clone())).map_err(wrong)?;
    each(source, pulse, |request, line| {
        writer.push(&request.record(line)).map_err(|error| target.failure(wrong(error)))?;
        Ok(match target.is_closed() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    })?;
    let written = writer.finish().map_err(|error| target.failure(wrong(error)))?;
    target.commit().map_err(OutputError::new_err)?;
    Ok(with_marks_lost(json!({ "to": to.name(), "rows": written.rows }), &written))
}
