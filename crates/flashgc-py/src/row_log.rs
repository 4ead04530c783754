//! A csv file that receives its rows during a run.

use crate::errors::OutputError;
use crate::files::{NewFile, reason};
use pyo3::prelude::*;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The file, which the engine writes to and the caller checks.
pub struct RowLog {
    /// Its description, for messages.
    what: &'static str,
    file: Arc<Mutex<RowFile>>,
}

struct RowFile {
    file: Option<NewFile>,
    failed: Option<io::Error>,
    rows: u64,
}

impl RowLog {
    /// A file with the names of the columns, which are written even if no row follows.
    pub fn create(path: &Path, what: &'static str, like: &impl Serialize) -> PyResult<RowLog> {
        let file = NewFile::create(path).map_err(|why| not_written(what, &why))?;
        let mut file = RowFile { file: Some(file), failed: None, rows: 0 };
        file.line(cells(like).into_iter().map(|(name, _)| name));
        Ok(RowLog { what, file: Arc::new(Mutex::new(file)) })
    }

    /// Takes the rows.
    pub fn sink<Row: Serialize>(&self) -> Box<dyn FnMut(&Row) + Send> {
        let file = Arc::clone(&self.file);
        Box::new(move |row| {
            if let Ok(mut file) = file.lock() {
                file.rows += 1;
                file.line(cells(row).into_iter().map(|(_, value)| value));
            }
        })
    }

    /// How many rows there are so far.
    pub fn rows(&self) -> u64 {
        self.file.lock().map_or(0, |file| file.rows)
    }

    /// Whether all rows could be written so far.
    pub fn check(&self) -> PyResult<()> {
        match self.file.lock() {
            Ok(file) => match &file.failed {
                Some(error) => Err(not_written(self.what, &reason(error))),
                None => Ok(()),
            },
            Err(_) => Ok(()),
        }
    }

    /// The file appears under its name.
    pub fn commit(self) -> PyResult<()> {
        self.check()?;
        let file = self.file.lock().ok().and_then(|mut file| file.file.take());
        let what = self.what;
        file.map_or(Ok(()), |file| file.commit().map_err(|why| not_written(what, &why)))
    }
}

fn not_written(what: &str, why: &str) -> PyErr {
    OutputError::new_err(format!("error: the {what} cannot be written: {why}"))
}

impl RowFile {
    fn line(&mut self, cells: impl Iterator<Item = String>) {
        let text = cells.collect::<Vec<_>>().join(",");
        if let (Some(file), None) = (&mut self.file, &self.failed) {
            self.failed = writeln!(file, "{text}").err();
        }
    }
}

/// The names and values of a row in the order of its type, which a JSON text keeps: they are all
/// numbers, so that every comma separates two of them. An undefined value is left empty.
fn cells(row: &impl Serialize) -> Vec<(String, String)> {
    let text = serde_json::to_string(row).unwrap_or_default();
    let pairs = text.trim_matches(['{', '}']).split(',').filter_map(|pair| pair.split_once(':'));
    let value = |text: &str| if text == "null" { String::new() } else { text.into() };
    pairs.map(|(name, text)| (name.trim_matches('"').into(), value(text))).collect()
}
