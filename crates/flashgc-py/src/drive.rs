//! Saved drives: made, inspected, and used as the start of a run.

use crate::errors::{DriveError, OutputError, guarded};
use crate::files::{self, NewFile};
use crate::memory;
use crate::pulse::{Pulse, Step};
use crate::request::Request;
use flashgc::session::{Options, Phase, SavedDrive, Session, Setup, TraceOpener};
use flashgc_drive::{Limits, Opened};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// An error of a file, in the form of all messages.
fn wrong(path: &Path, why: impl std::fmt::Display) -> PyErr {
    DriveError::new_err(format!(
        "error: {why}\n  --> {}\n  = help: `flashgc drive save CONFIG FILE` makes one",
        path.display()
    ))
}

fn open(path: &Path) -> PyResult<Opened<BufReader<File>>> {
    let file = files::open(path).map_err(|why| DriveError::new_err(format!("error: {why}")))?;
    flashgc_drive::open(BufReader::with_capacity(1 << 20, file)).map_err(|why| wrong(path, why))
}

/// A session that begins with the drive in a file.
pub fn session(
    setup: Setup,
    trace: Option<Box<dyn TraceOpener>>,
    path: &Path,
    options: Options,
) -> PyResult<Session> {
    let (saved, name) = saved(&setup, path)?;
    let session = Session::with_drive(setup, trace, saved, &name, options);
    session.map_err(|error| DriveError::new_err(error.text))
}

/// The drive in a file, which fits a configuration, and its name.
pub fn saved(setup: &Setup, path: &Path) -> PyResult<(SavedDrive, String)> {
    let name = path.display().to_string();
    let opened = open(path)?;
    // The error names the keys that differ, before the sizes of tables disagree.
    let fit = opened.header.origin.check_fit(setup, &name);
    fit.map_err(|error| DriveError::new_err(error.text))?;
    let saved = opened.load(&Limits::of(&setup.plan.geometry)).map_err(|why| wrong(path, why))?;
    Ok((saved, name))
}

/// The misfit of a saved drive and a configuration, as an object in the list of `problems`.
pub fn problem(setup: &Setup, path: &Path) -> PyResult<Option<Value>> {
    let origin = open(path)?.header.origin;
    let fit = origin.check_fit(setup, &path.display().to_string());
    Ok(fit.err().map(|error| {
        json!({
            "text": error.text,
            "message": error.text.lines().next().unwrap_or("").trim_start_matches("error: "),
            "key": null,
            "help": error.text.rsplit_once("= help: ").map(|(_, help)| help),
            "remedies": origin.remedy(setup).into_iter().collect::<Vec<_>>(),
        })
    }))
}

/// Preconditions a drive and saves it; returns its description as JSON.
#[pyfunction]
#[pyo3(signature = (request, target, verify=false, progress=None))]
pub fn drive_save(
    py: Python<'_>,
    request: Request,
    target: PathBuf,
    verify: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let pulse = Pulse::new(progress);
    py.detach(|| guarded(|| save(&request, &target, verify, pulse)))
}

fn save(request: &Request, target: &Path, verify: bool, mut pulse: Pulse) -> PyResult<String> {
    let failed =
        |why: String| OutputError::new_err(format!("error: the drive cannot be saved: {why}"));
    let setup = request.prepare()?;
    memory::check(&setup)?;
    let mut file = NewFile::create(target).map_err(failed)?;
    let mut session =
        Session::new(setup, request.opener(), Options { verify, ..Options::default() });
    loop {
        let progress = session.advance();
        request.check_policies()?;
        let progress = progress.map_err(|error| request.failure(&error))?;
        if progress.phase == Phase::Ready {
            pulse.last(Step::from(&progress))?;
            break;
        }
        pulse.beat(|| Step::from(&progress))?;
    }
    let saved = session.into_drive().map_err(|error| request.failure(&error))?;
    let bytes = flashgc_drive::write(&mut file, &saved)
        .map_err(|error| failed(format!("{}: {}", target.display(), files::reason(&error))))?;
    file.commit().map_err(failed)?;
    let origin = &saved.origin;
    let reported = json!({
        "key": origin.key(),
        "bytes": bytes,
        "version": origin.version,
        "made_from": origin.made_from,
        "precondition": origin.precondition,
    });
    Ok(reported.to_string())
}

/// The description of a saved drive, as JSON. Its tables are not read.
#[pyfunction]
pub fn drive_info(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    py.detach(|| guarded(|| info(&path)))
}

fn info(path: &Path) -> PyResult<String> {
    let opened = open(path)?;
    let bytes = opened.file_bytes();
    let about = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
    if about.is_some_and(|about| about.len() != bytes) {
        return Err(wrong(
            path,
            format!("the saved drive is damaged: it should have {bytes} bytes"),
        ));
    }
    let origin = &opened.header.origin;
    let reported = json!({
        "key": opened.header.key,
        "bytes": bytes,
        "version": origin.version,
        "made_from": origin.made_from,
        "precondition": origin.precondition,
    });
    Ok(reported.to_string())
}
