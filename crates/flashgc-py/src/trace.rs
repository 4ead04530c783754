//! Traces: their content, and conversion between formats.

use crate::errors::{OutputError, TraceError, guarded};
use crate::files;
use crate::packed::Target;
use crate::pulse::{Raised, SignalReader, raised_or};
use flashgc_config::units;
use flashgc_trace::{
    Disorder, Filter, Format, MergeOptions, OnBadLine, OpenOptions, Record, TraceReader, Written,
};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A mistake of the user, in the form of all messages.
pub fn wrong(message: impl std::fmt::Display) -> PyErr {
    TraceError::new_err(format!("error: {message}"))
}

/// The user's options for reading a trace.
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
    first_row: Option<u64>,
    rows: Option<u64>,
    sort_window: Option<String>,
}

/// The ending of file names in our own format.
const OURS: &str = "fgt";

/// A format by its name; `auto` or no name: by the content.
fn format(name: Option<&str>) -> PyResult<Option<Format>> {
    match name {
        None | Some("auto") => Ok(None),
        Some(name) => name.parse().map(Some).map_err(wrong),
    }
}

impl Reading {
    /// The name without its folders, which are of no use to others.
    fn shown(&self) -> String {
        let name = Path::new(&self.name).file_name();
        name.map_or_else(|| self.name.clone(), |name| name.to_string_lossy().into_owned())
    }

    /// Without a window, rows that are out of order are handled by `disorder`.
    fn options(&self, disorder: Disorder) -> PyResult<OpenOptions> {
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
                wrong(format!("the device `{text}` is neither a number nor `major,minor`"))
            })
        };
        let devices = self.devices.as_ref();
        Ok(OpenOptions {
            format: format(self.format.as_deref())?,
            on_bad_line,
            disorder: time("sort window", &self.sort_window)?.map_or(disorder, Disorder::Window),
            filter: Filter {
                devices: devices.map(|list| list.iter().map(device).collect()).transpose()?,
                start_ns: time("start", &self.start)?,
                length_ns: time("length", &self.length)?,
                first_row: self.first_row,
                rows: self.rows,
            },
        })
    }

    pub fn open(&self, raised: &Raised, disorder: Disorder) -> PyResult<TraceReader> {
        let file = files::open(&self.path)
            .map_err(|why| wrong(why.replace(&self.path.display().to_string(), &self.name)))?;
        let data = SignalReader::new(file, raised.clone());
        let reader = flashgc_trace::open_file(&self.name, data, &self.options(disorder)?);
        reader.map_err(|error| raised_or(raised, wrong(error)))
    }
}

/// Plain `csv` is written with a line of names, by which it is recognised again.
const CSV_WITH_NAMES: &str = "csv:time:ns, device, op, offset, size; header=yes";

/// The format to write, by its name.
pub fn format_to_write(name: &str) -> PyResult<Format> {
    let name = if name == "csv" { CSV_WITH_NAMES } else { name };
    if name != "auto" && !Format::is_known(name) {
        let names = Format::names_to_write().join(", ");
        return Err(wrong(format!(
            "unknown format `{name}`; formats that can be written: {names}"
        )));
    }
    let missing = || wrong("the output format must be named; `auto` is for reading");
    format(Some(name))?.ok_or_else(missing)
}

/// Notes on lines that were skipped.
fn skipped(reader: &TraceReader) -> Vec<String> {
    reader.bad_examples().iter().map(ToString::to_string).collect()
}

/// Refuses a text that cannot be read as a duration.
#[pyfunction]
pub fn check_duration(text: &str) -> PyResult<()> {
    units::parse_duration_ns(text).map(drop).map_err(wrong)
}

/// Refuses a text that is neither a share, of a drive that its trace fills, nor `none`.
#[pyfunction]
pub fn check_fit(text: &str) -> PyResult<()> {
    if text == "none" {
        return Ok(());
    }
    match units::parse_share(text).map_err(wrong)?.numerator {
        0 => Err(wrong(
            "the share must be above 0% and at most 100%\n  = help: write for example 90%, \
                        or none",
        )),
        _ => Ok(()),
    }
}

/// Refuses a text that names no format to read.
#[pyfunction]
pub fn check_format(text: &str) -> PyResult<()> {
    format(Some(text)).map(drop)
}

/// Refuses a text that names no format to write.
#[pyfunction]
pub fn check_format_to_write(text: &str) -> PyResult<()> {
    format_to_write(text).map(drop)
}

/// Reads a whole trace and describes it, as JSON.
#[pyfunction]
pub fn trace_info(py: Python<'_>, reading: Reading) -> PyResult<String> {
    py.detach(|| {
        guarded(|| {
            let raised = Raised::default();
            let reader = reading.open(&raised, Disorder::Ignore)?;
            let info = flashgc_trace::info(reader);
            let info = info.map_err(|error| raised_or(&raised, wrong(error)))?;
            Ok(serde_json::to_value(info).unwrap_or(Value::Null).to_string())
        })
    })
}

/// The format to write: as named, by the end of the target's name, or as the source.
fn target_format(
    name: Option<&str>,
    target: Option<&Path>,
    source: Option<&Format>,
) -> PyResult<Format> {
    let ours = target.and_then(Path::extension).is_some_and(|end| end == OURS);
    let to = match (name, source) {
        (Some(name), _) => format_to_write(name)?,
        (None, _) if ours => Format::Fgt,
        (None, Some(source)) => source.clone(),
        (None, None) => {
            return Err(wrong(
                "the output format is not named\n  = help: name it with `--to`, or write to a \
                 file that ends in .fgt",
            ));
        }
    };
    check_name(target, &to)?;
    Ok(to)
}

/// Refuses a name that ends as one of another format, compressed or not.
pub fn check_name(target: Option<&Path>, to: &Format) -> PyResult<()> {
    let Some(target) = target else { return Ok(()) };
    let is_packed = target.extension().is_some_and(|end| end == "gz" || end == "zst");
    let plain = if is_packed { target.with_extension("") } else { target.to_path_buf() };
    let end = plain.extension().unwrap_or_default();
    let is_other = if *to == Format::Fgt { end == "csv" } else { end == OURS };
    if !is_other {
        return Ok(());
    }
    let named = plain.with_extension(to.name());
    let (target, end, named) = (target.display(), end.display(), named.display());
    Err(OutputError::new_err(format!(
        "error: {target} ends in .{end}, and the format to write is {}\n  = help: name it {named}, \
         or name another format",
        to.name(),
    )))
}

/// Writes a trace in another format, or in its own if none is named and `keep` is set; returns
/// counts, as JSON.
#[pyfunction]
pub fn trace_convert(
    py: Python<'_>,
    reading: Reading,
    target: Option<PathBuf>,
    to: Option<String>,
    keep: bool,
) -> PyResult<String> {
    py.detach(|| guarded(|| convert(&reading, target.as_deref(), to.as_deref(), keep)))
}

fn convert(
    reading: &Reading,
    target: Option<&Path>,
    to: Option<&str>,
    keep: bool,
) -> PyResult<String> {
    let raised = Raised::default();
    let mut reader = reading.open(&raised, Disorder::Ignore)?;
    let to = target_format(to, target, keep.then(|| reader.format()))?;
    let origin = match reader.origin() {
        Some(origin) => origin.to_string(),
        None => format!("{} ({})", reading.shown(), reader.format()),
    };
    let written = write_all(&mut reader, &to, &origin, target, &raised)?;
    let done = json!({
        "from": reader.format().to_string(),
        "to": to.name(),
        "rows": written.rows,
        "left_out": written.others,
        "bad_rows": reader.bad_rows(),
        "bad_examples": skipped(&reader),
        "out_of_order": if reading.sort_window.is_some() { 0 } else { reader.out_of_order() },
    });
    Ok(with_marks_lost(done, &written))
}

/// Counts as JSON, with the marks of high priority and the hints that the format cannot hold, if
/// any.
pub fn with_marks_lost(mut done: Value, written: &Written) -> String {
    if written.marks_lost > 0 {
        done["marks_lost"] = written.marks_lost.into();
    }
    if written.hints_lost > 0 {
        done["hints_lost"] = written.hints_lost.into();
    }
    if written.flushes_lost > 0 {
        done["flushes_lost"] = written.flushes_lost.into();
    }
    done.to_string()
}

/// Writes records to a target, which appears whole or not at all.
fn write_all(
    records: &mut dyn Iterator<Item = Result<Record, flashgc_trace::TraceError>>,
    to: &Format,
    origin: &str,
    target: Option<&Path>,
    raised: &Raised,
) -> PyResult<Written> {
    let target = Target::create(target).map_err(OutputError::new_err)?;
    let out = Box::new(target.clone());
    let mut writer = flashgc_trace::writer_with(to, origin, out).map_err(wrong)?;
    for record in records {
        let record = record.map_err(|error| raised_or(raised, wrong(error)))?;
        writer.push(&record).map_err(|error| target.failure(wrong(error)))?;
        if target.is_closed() {
            break;
        }
    }
    let written = writer.finish().map_err(|error| target.failure(wrong(error)))?;
    target.commit().map_err(OutputError::new_err)?;
    Ok(written)
}

/// Writes several traces as one, in order of time; returns counts, as JSON.
#[pyfunction]
pub fn trace_merge(
    py: Python<'_>,
    readings: Vec<Reading>,
    target: Option<PathBuf>,
    to: Option<String>,
    renumber: bool,
    align: bool,
) -> PyResult<String> {
    let options = MergeOptions { renumber, align };
    py.detach(|| guarded(|| merge(&readings, target.as_deref(), to.as_deref(), options)))
}

fn merge(
    readings: &[Reading],
    target: Option<&Path>,
    to: Option<&str>,
    options: MergeOptions,
) -> PyResult<String> {
    let raised = Raised::default();
    let mut readers = Vec::new();
    for reading in readings {
        readers.push(reading.open(&raised, Disorder::Refuse)?);
    }
    let formats: Vec<&Format> = readers.iter().map(TraceReader::format).collect();
    let same = formats.first().copied().filter(|first| formats.iter().all(|it| it == first));
    let to = target_format(to, target, same)?;
    let names: Vec<String> = readings.iter().map(Reading::shown).collect();
    let reported = |error| raised_or(&raised, wrong(error));
    let mut merged = flashgc_trace::merge(readers, options).map_err(reported)?;
    let origin = origin_of_all(&names);
    let written = write_all(&mut merged, &to, &origin, target, &raised)?;
    let done = json!({
        "to": to.name(),
        "rows": written.rows,
        "left_out": written.others,
        "bad_rows": merged.bad_rows(),
        "traces": names.len(),
    });
    Ok(with_marks_lost(done, &written))
}

/// The most names of merged traces that are kept.
const NAMES_MAX: usize = 16;

fn origin_of_all(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMES_MAX)].join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => format!("merged from {shown}"),
        more => format!("merged from {shown} and {more} more"),
    }
}

/// The formats and their descriptions, as JSON.
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
