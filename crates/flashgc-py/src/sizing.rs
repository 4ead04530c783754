//! Drives that are sized by their trace.

use crate::errors::{ConfigError, guarded};
use crate::pulse::{Pulse, Step};
use crate::request::{Fitted, Request};
use flashgc::session::{self, FitScan};
use pyo3::prelude::*;
use std::path::Path;

/// Reads the trace of these requests, which differ in their schemes, and returns the size of the
/// drive that they share; `None` where the configuration does not size its drive by a trace.
#[pyfunction]
#[pyo3(signature = (requests, progress=None))]
pub fn fit(
    py: Python<'_>,
    requests: Vec<Request>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<Fitted>> {
    let pulse = Pulse::new(progress);
    py.detach(|| guarded(|| fit_detached(&requests, pulse)))
}

fn fit_detached(requests: &[Request], mut pulse: Pulse) -> PyResult<Option<Fitted>> {
    // A scheme that cannot work on the device is reported when it is run.
    let setups = requests.iter().filter_map(|request| Some((request, request.prepare().ok()?)));
    let mut awaiting = setups.filter(|(_, setup)| setup.awaits_fit());
    let Some((request, setup)) = awaiting.next() else { return Ok(None) };
    let Some(mut opener) = request.opener() else { return Ok(None) };
    let failed = |error: session::RunError| request.failure(&error);
    let mut scan = FitScan::new(&setup, &mut *opener).map_err(failed)?;
    let step = |rows| Step { phase: "scan", done: rows, total: None, now_ns: 0 };
    let pages = loop {
        if let Some(pages) = scan.advance().map_err(failed)? {
            break pages;
        }
        pulse.beat(|| step(scan.rows()))?;
    };
    pulse.last(step(scan.rows()))?;
    let inputs: Vec<_> = requests.iter().map(Request::inputs).collect();
    let fitted = session::fit(&inputs, pages);
    let size = fitted.map_err(|errors| ConfigError::new_err(errors.to_string()))?;
    let path = request.trace_path().map(Path::to_path_buf);
    Ok(Some(Fitted { size, records: path.zip(scan.into_kept()) }))
}
