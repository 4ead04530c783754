//! The request of Python for a run: a configuration, its layers, and a trace.

use crate::errors::{ConfigError, RunError, TraceError};
use crate::files;
use crate::policies::Policies;
use flashgc::ids::PlaneId;
use flashgc::session::{self, Inputs, Kept, Setup, TraceOpener};
use flashgc_config::Diagnostics;
use pyo3::prelude::*;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The size of a drive, for runs on it.
#[pyclass(frozen, from_py_object, module = "flashgc._engine")]
#[derive(Clone)]
pub struct Fitted {
    pub size: session::Fitted,
    /// The records of the trace that gave the size, and its path.
    pub records: Option<(PathBuf, Arc<Kept>)>,
}

/// The input of a run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request {
    name: String,
    text: String,
    scheme: Option<(String, Option<String>)>,
    device: Option<(String, Option<String>)>,
    sets: Vec<String>,
    unsets: Vec<String>,
    trace_name: Option<String>,
    trace_path: Option<PathBuf>,
    jobs: Option<(String, String)>,
    fitted: Option<Fitted>,
    policies: Option<Policies>,
}

impl Request {
    /// The input of the configuration.
    pub fn inputs(&self) -> Inputs {
        Inputs {
            name: self.name.clone(),
            text: self.text.clone(),
            scheme: self.scheme.clone(),
            device: self.device.clone(),
            sets: self.sets.clone(),
            unsets: self.unsets.clone(),
            has_trace: self.trace_path.is_some(),
            is_live: false,
            jobs: self.jobs.clone(),
            fitted: self.fitted.as_ref().map(|fitted| fitted.size.clone()),
            policies: self.policies.as_ref().map(Policies::given).unwrap_or_default(),
        }
    }

    /// The configuration, or every mistake in it.
    pub fn setup(&self) -> Result<Setup, Diagnostics> {
        session::prepare(&self.inputs())
    }

    /// The checked configuration, or every mistake in it.
    pub fn prepare(&self) -> PyResult<Setup> {
        self.setup().map_err(|errors| ConfigError::new_err(errors.to_string()))
    }

    /// The exception of a policy, if one has raised.
    pub fn check_policies(&self) -> PyResult<()> {
        self.policies.as_ref().map_or(Ok(()), Policies::check)
    }

    /// The text of an error; where a plane is full because a function chose none of its blocks, it
    /// says so.
    pub fn explained(&self, text: &str, uncollected: Option<PlaneId>) -> String {
        let own = self.policies.as_ref().zip(uncollected);
        let explained = own.and_then(|(policies, plane)| policies.explained(text, plane));
        explained.unwrap_or_else(|| text.to_string())
    }

    pub fn opener(&self) -> Option<Box<dyn TraceOpener>> {
        let path = self.trace_path.clone()?;
        let name = self.trace_name.clone().unwrap_or_else(|| path.display().to_string());
        Some(Box::new(TraceFile { name, path }))
    }

    /// The file of the trace.
    pub fn trace_path(&self) -> Option<&Path> {
        self.trace_path.as_deref()
    }

    /// The records of the trace, where the drive was sized by it.
    pub fn records(&self) -> Option<Arc<Kept>> {
        let (path, records) = self.fitted.as_ref()?.records.as_ref()?;
        (self.trace_path.as_ref() == Some(path)).then(|| records.clone())
    }

    /// The exception for an error of the engine.
    pub fn failure(&self, error: &session::RunError) -> PyErr {
        let text = self.explained(&error.text, error.uncollected);
        let text = if text.starts_with("error: ") { text } else { format!("error: {text}") };
        if error.in_trace { TraceError::new_err(text) } else { RunError::new_err(text) }
    }
}

/// A trace in a file.
struct TraceFile {
    name: String,
    path: PathBuf,
}

impl TraceOpener for TraceFile {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
        let file = files::open(&self.path).map_err(|why| format!("{why}\n  --> {}", self.name))?;
        Ok(Box::new(file))
    }
}
