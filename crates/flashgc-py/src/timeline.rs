//! The timeline of a run, in a file for Perfetto.

use crate::errors::ConfigError;
use crate::files::NewFile;
use crate::streamed::Streamed;
use flashgc::device::Geometry;
use flashgc::plan::Plan;
use flashgc::verify::timeline::{Stretch, TimelineRequest};
use flashgc_config::units;
use flashgc_timeline::Trace;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Slices and values of a file at most: Perfetto shows larger files slowly.
const ENTRIES_MAX: u64 = 4_000_000;

/// The requested timeline.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TimelineLog {
    path: PathBuf,
    /// From when until when, in the form that users write.
    window: Option<String>,
    units: Option<Vec<u32>>,
}

/// The file.
pub type TimelineFile = Streamed<Trace<NewFile>>;

impl From<Trace<NewFile>> for NewFile {
    fn from(trace: Trace<NewFile>) -> NewFile {
        trace.into_inner()
    }
}

impl TimelineLog {
    /// Begins the file.
    pub fn open(&self, plan: &Plan) -> PyResult<(TimelineFile, TimelineRequest)> {
        let (from_ns, to_ns) = match &self.window {
            Some(window) => window_ns("the timeline window", window)?,
            None => (0, u64::MAX),
        };
        check_units("the timeline", self.units.as_deref(), &plan.geometry)?;
        let begin = |file| Trace::new(file, plan, self.units.as_deref());
        let file = TimelineFile::create(&self.path, "timeline", begin)?;
        let entries = file.entries();
        let sink = Box::new(move |stretch: Stretch<'_>| entries.add(|trace| trace.add(&stretch)));
        let (units, entries_max) = (self.units.clone(), ENTRIES_MAX);
        let request = TimelineRequest { from_ns, to_ns, units, entries_max, sink };
        Ok((file, request))
    }
}

/// Refuses units that the device does not have; `what` cannot show them.
pub fn check_units(what: &str, units: Option<&[u32]>, geometry: &Geometry) -> PyResult<()> {
    let last = geometry.units - 1;
    match units.unwrap_or_default().iter().find(|&&unit| unit > last) {
        Some(unit) => Err(ConfigError::new_err(format!(
            "error: {what} cannot show unit {unit}: the device has units 0 to {last}\n  = help: \
             give some of these, such as `0` or `0,{last}`"
        ))),
        None => Ok(()),
    }
}

/// From when until when, in ns: `1 s..1.2 s`, where either may be missing.
pub fn window_ns(what: &str, text: &str) -> PyResult<(u64, u64)> {
    let wrong = |why: &str| {
        ConfigError::new_err(format!(
            "error: {what} `{text}`: {why}\n  = help: give two times of the run, such \
             as `1 s..1.2 s`; without the first it begins with the run, without the second it ends \
             with it"
        ))
    };
    let Some((from, to)) = text.split_once("..") else {
        return Err(wrong("`..` between two times is missing"));
    };
    let time = |text: &str, default_ns: u64| match text.trim() {
        "" => Ok(default_ns),
        text => units::parse_duration_ns(text).map_err(|why| wrong(&why)),
    };
    let (from_ns, to_ns) = (time(from, 0)?, time(to, u64::MAX)?);
    if from_ns >= to_ns {
        return Err(wrong("it must end after its beginning"));
    }
    Ok((from_ns, to_ns))
}

/// Refuses a text that names no part of a run.
#[pyfunction]
pub fn check_window(text: &str) -> PyResult<()> {
    window_ns("the window", text).map(drop)
}
