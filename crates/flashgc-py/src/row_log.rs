//! A csv file that receives its rows during a run.

use crate::files::NewFile;
use crate::streamed::Streamed;
use pyo3::prelude::*;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// The file.
pub type RowLog = Streamed<NewFile>;

impl RowLog {
    /// A file with the names of the columns, which are written even if no row follows.
    pub fn with_head(path: &Path, what: &'static str, like: &impl Serialize) -> PyResult<RowLog> {
        Streamed::create(path, what, |mut file| {
            line(&mut file, cells(like).into_iter().map(|(name, _)| name))?;
            Ok(file)
        })
    }

    /// Takes the rows.
    pub fn sink<Row: Serialize>(&self) -> Box<dyn FnMut(&Row) + Send> {
        let rows = self.entries();
        Box::new(move |row| {
            rows.add(|file| line(file, cells(row).into_iter().map(|(_, value)| value)));
        })
    }
}

fn line(file: &mut NewFile, cells: impl Iterator<Item = String>) -> io::Result<()> {
    writeln!(file, "{}", cells.collect::<Vec<_>>().join(","))
}

/// The names and values of a row in the order of its type, which a JSON text keeps: they are all
/// numbers, so that every comma separates two of them. An undefined value is left empty.
fn cells(row: &impl Serialize) -> Vec<(String, String)> {
    let text = serde_json::to_string(row).unwrap_or_default();
    let pairs = text.trim_matches(['{', '}']).split(',').filter_map(|pair| pair.split_once(':'));
    let value = |text: &str| if text == "null" { String::new() } else { text.into() };
    pairs.map(|(name, text)| (name.trim_matches('"').into(), value(text))).collect()
}
