//! A file that is written during a run.

use crate::errors::OutputError;
use crate::files::{NewFile, reason};
use pyo3::prelude::*;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The file, which the engine writes to and the caller checks. `W` is the writer of its format.
pub struct Streamed<W> {
    /// Its description, for messages.
    what: &'static str,
    path: PathBuf,
    state: Arc<Mutex<State<W>>>,
}

struct State<W> {
    /// The writer, until the file has its name.
    writer: Option<W>,
    failed: Option<io::Error>,
    count: u64,
}

/// Takes the entries of the file.
pub struct Entries<W>(Arc<Mutex<State<W>>>);

impl<W> Entries<W> {
    /// Writes an entry, if all entries before it could be written.
    pub fn add(&self, write: impl FnOnce(&mut W) -> io::Result<()>) {
        let Ok(mut state) = self.0.lock() else { return };
        let State { writer, failed, count } = &mut *state;
        *count += 1;
        if let (Some(writer), None) = (writer, &failed) {
            *failed = write(writer).err();
        }
    }
}

impl<W: Into<NewFile>> Streamed<W> {
    /// A file under a temporary name, and the writer of its format, which may begin it.
    pub fn create(
        path: &Path,
        what: &'static str,
        begin: impl FnOnce(NewFile) -> io::Result<W>,
    ) -> PyResult<Self> {
        let file = NewFile::create(path).map_err(|why| not_written(what, &why))?;
        let writer = begin(file).map_err(|error| not_completed(what, path, &error))?;
        let state = State { writer: Some(writer), failed: None, count: 0 };
        Ok(Streamed { what, path: path.to_path_buf(), state: Arc::new(Mutex::new(state)) })
    }

    /// For the engine.
    pub fn entries(&self) -> Entries<W> {
        Entries(Arc::clone(&self.state))
    }

    /// Number of entries so far.
    pub fn count(&self) -> u64 {
        self.state.lock().map_or(0, |state| state.count)
    }

    /// Whether all entries could be written so far.
    pub fn check(&self) -> PyResult<()> {
        let Ok(state) = self.state.lock() else { return Ok(()) };
        match &state.failed {
            Some(error) => Err(not_completed(self.what, &self.path, error)),
            None => Ok(()),
        }
    }

    /// The file appears under its name.
    pub fn commit(self) -> PyResult<()> {
        self.check()?;
        let writer = self.state.lock().ok().and_then(|mut state| state.writer.take());
        let file: Option<NewFile> = writer.map(W::into);
        file.map_or(Ok(()), |file| file.commit().map_err(|why| not_written(self.what, &why)))
    }
}

/// An error while the file is written, with its name.
fn not_completed(what: &str, path: &Path, error: &io::Error) -> PyErr {
    not_written(what, &format!("{}: {}", path.display(), reason(error)))
}

fn not_written(what: &str, why: &str) -> PyErr {
    OutputError::new_err(format!("error: the {what} cannot be written: {why}"))
}
