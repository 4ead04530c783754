//! Traces: what they hold, and from one format into another.

use crate::errors::{guarded, OutputError, TraceError};
use crate::files;
use crate::packed::Target;
use crate::pulse::{raised_or, Raised, SignalReader};
use flashgc_config::units;
use flashgc_trace::{Disorder, Filter, Format, OnBadLine, OpenOptions, TraceReader};
use pyo3::prelude::*;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};

/// An error of the user's, in the shape of all messages.
pub fn wrong(message: impl std::fmt::Display) -> PyErr {
    TraceError::new_err(format!("error: {message}"))
}

/// How a user asked for a trace to be read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Reading {
    name: String,
    path: PathBuf,
    format: Option<String>,
    on_bad_line: String,
    devices: Option<Vec<String>>,
    start: Option<String>,
    length: Option<String>,
    rows: Option<u64>,
}

/// A format by its name; `auto` and nothing mean: by the content.
fn format(name: Option<&str>) -> PyResult<Option<Format>> {
    match name {
        None | Some("auto") => Ok(None),
        Some(name) => name.parse().map(Some).map_err(wrong),
    }
}

impl Reading {
    fn options(&self) -> PyResult<OpenOptions> {
        let on_bad_line = match self.on_bad_line.as_str() {
            "stop" => OnBadLine::Stop,
            "skip" => OnBadLine::Skip,
            other => return Err(wrong(format!("on_bad_line is `stop` or `skip`, not `{other}`"))),
        };
        let time = |what: &str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => units::parse_duration_ns(text)
                .map(Some)
                .map_err(|why| wrong(format!("the {what} `{text}`: {why}"))),
        };
        let device = |text: &String| {
            flashgc_trace::parse_device(text).ok_or_else(|| {
                wrong(format!("the device `{text}` is no number and no `major,minor`"))
            })
        };
        let devices = self.devices.as_ref();
        Ok(OpenOptions {
            format: format(self.format.as_deref())?,
            on_bad_line,
            disorder: Disorder::Ignore,
            filter: Filter {
                devices: devices.map(|list| list.iter().map(device).collect()).transpose()?,
                start_ns: time("start", &self.start)?,
                length_ns: time("length", &self.length)?,
                rows: self.rows,
            },
        })
    }

    pub fn open(&self, raised: &Raised) -> PyResult<TraceReader> {
        let file = files::open(&self.path)
            .map_err(|why| wrong(why.replace(&self.path.display().to_string(), &self.name)))?;
        let data = SignalReader::new(file, raised.clone());
        let reader = flashgc_trace::open(&self.name, Box::new(data), &self.options()?);
        reader.map_err(|error| raised_or(raised, wrong(error)))
    }
}

/// Above plain `csv` stands a line of names, by which it is recognised again.
const CSV_WITH_NAMES: &str = "csv:time:ns, device, op, offset, size; header=yes";

/// The format to write, by its name.
pub fn format_to_write(name: &str) -> PyResult<Format> {
    let name = if name == "csv" { CSV_WITH_NAMES } else { name };
    let missing = || wrong("the format to write has to be named; `auto` is for reading");
    format(Some(name))?.ok_or_else(missing)
}

/// Notes on lines that were skipped.
fn skipped(reader: &TraceReader) -> Vec<String> {
    reader.bad_examples().iter().map(ToString::to_string).collect()
}

/// Reads a whole trace and describes it, as JSON.
#[pyfunction]
pub fn trace_info(py: Python<'_>, reading: Reading) -> PyResult<String> {
    py.detach(|| {
        guarded(|| {
            let raised = Raised::default();
            let reader = reading.open(&raised)?;
            let info = flashgc_trace::info(reader);
            let info = info.map_err(|error| raised_or(&raised, wrong(error)))?;
            Ok(serde_json::to_value(info).unwrap_or(Value::Null).to_string())
        })
    })
}

/// Writes a trace in another format; gives counts, as JSON.
#[pyfunction]
pub fn trace_convert(
    py: Python<'_>,
    reading: Reading,
    target: Option<PathBuf>,
    to: String,
) -> PyResult<String> {
    py.detach(|| guarded(|| convert(&reading, target.as_deref(), &to)))
}

fn convert(reading: &Reading, target: Option<&Path>, to: &str) -> PyResult<String> {
    let to = format_to_write(to)?;
    let raised = Raised::default();
    let mut reader = reading.open(&raised)?;
    let target = Target::create(target).map_err(OutputError::new_err)?;
    let mut writer = flashgc_trace::writer(&to, Box::new(target.clone())).map_err(wrong)?;
    for record in reader.by_ref() {
        let record = record.map_err(|error| raised_or(&raised, wrong(error)))?;
        writer.push(&record).map_err(|error| target.failure(wrong(error)))?;
        if target.is_closed() {
            break;
        }
    }
    let written = writer.finish().map_err(|error| target.failure(wrong(error)))?;
    target.commit().map_err(OutputError::new_err)?;
    Ok(json!({
        "from": reader.format().to_string(),
        "to": to.name(),
        "rows": written.rows,
        "left_out": written.others,
        "bad_rows": reader.bad_rows(),
        "bad_examples": skipped(&reader),
    })
    .to_string())
}

/// The formats and what each says of itself, as JSON.
#[pyfunction]
pub fn trace_formats() -> String {
    let about = |info: &&flashgc_trace::FormatInfo| {
        let names: Vec<&str> = info.names.iter().map(|(name, _)| *name).collect();
        json!({
            "name": info.name,
            "names": names,
            "title": info.title,
            "columns": info.columns,
            "units": info.units,
            "defined": info.defined,
            "lost": info.lost,
            "option": info.option.map(|option| option.what),
        })
    };
    Value::Array(Format::ALL.iter().map(about).collect()).to_string()
}
