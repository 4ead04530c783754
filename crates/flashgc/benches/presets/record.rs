//! The table, as it is printed and as it is kept in `benches/runs`.

use std::fs;
use std::path::PathBuf;

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub mib: u64,
    pub scheme: String,
    pub workload: String,
    /// Time of a page operation, in ns.
    pub ns: f64,
    /// The time as a multiple of the kernel's.
    pub to_kernel: f64,
    /// Time of a page in preconditioning, in ns.
    pub precondition_ns: f64,
    /// Bytes of tables for a physical page.
    pub bytes: f64,
}

const KERNEL: &str = "(kernel)";

impl Row {
    /// The row of the kernel.
    pub fn kernel(mib: u64, ns: f64) -> Self {
        let (scheme, workload) = (KERNEL.to_string(), "uniform".to_string());
        Row { mib, scheme, workload, ns, to_kernel: 1.0, precondition_ns: 0.0, bytes: 0.0 }
    }

    /// A line of the table, with its ratio to the last record.
    fn line(&self, last: Option<&Record>) -> String {
        let Row { mib, scheme, workload, ns, to_kernel, precondition_ns, bytes } = self;
        let before = last.and_then(|last| last.same_as(self)).map(|before| before.to_kernel);
        let ratio = before.map_or("-".to_string(), |before| format!("{:.2}", to_kernel / before));
        let gib = *mib as f64 / 1024.0;
        format!(
            "| {gib:>6} | {scheme:<18} | {workload:<8} | {ns:>10.1} | {to_kernel:>8.2} | \
             {ratio:>9} | {bytes:>6.2} | {precondition_ns:>9.1} |"
        )
    }

    /// From such a line; `None` for every other line.
    fn read(line: &str) -> Option<Row> {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [gib, scheme, workload, ns, to_kernel, _, bytes, precondition_ns] = cells[..] else {
            return None;
        };
        Some(Row {
            mib: (gib.parse::<f64>().ok()? * 1024.0) as u64,
            scheme: scheme.into(),
            workload: workload.into(),
            ns: ns.parse().ok()?,
            to_kernel: to_kernel.parse().ok()?,
            precondition_ns: precondition_ns.parse().ok()?,
            bytes: bytes.parse().ok()?,
        })
    }
}

/// The first lines of the table.
pub fn heading(last: Option<&Record>) -> String {
    let last = last.map_or("none yet".to_string(), |last| last.name.clone());
    format!(
        "Processor time of 4 KiB page operations; \"x kernel\" is the ratio to a bare event \
         kernel of\nthe same size on the same machine, and \"x last\" the ratio of that to the \
         last record ({last}).\n\n\
         | GiB    | scheme             | workload | ns for one | x kernel | x last    | B/page | \
         prec., ns |\n|---|---|---|---|---|---|---|---|"
    )
}

/// The rows of one call.
#[derive(Debug, Default)]
pub struct Record {
    name: String,
    rows: Vec<Row>,
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/runs"))
}

impl Record {
    /// The record whose name is last in order; names begin with their date.
    pub fn last() -> Result<Option<Record>, String> {
        let entries = fs::read_dir(folder()).map_err(|error| error.to_string())?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let Some(name) = names.filter(|name| name.ends_with("-presets.md")).max() else {
            return Ok(None);
        };
        let text = fs::read_to_string(folder().join(&name)).map_err(|error| error.to_string())?;
        Ok(Some(Record { name, rows: text.lines().filter_map(Row::read).collect() }))
    }

    fn same_as(&self, row: &Row) -> Option<&Row> {
        let key = |row: &Row| (row.mib, row.scheme.clone(), row.workload.clone());
        self.rows.iter().find(|own| key(own) == key(row))
    }

    /// Adds a row and prints it.
    pub fn add(&mut self, row: Row, last: Option<&Record>) {
        println!("{}", row.line(last));
        self.rows.push(row);
    }

    /// Every row can be read from its line, so that the next call finds it.
    pub fn check(&self) -> Result<(), String> {
        let is_read = |row: &Row| {
            let read = Row::read(&row.line(None));
            read.is_some_and(|read| self.same_as(&read).is_some() && read.ns > 0.0)
        };
        let unread = self.rows.iter().find(|row| !is_read(row));
        unread.map_or(Ok(()), |row| Err(format!("a row cannot be read again: {row:?}")))
    }

    /// Writes the record of this name.
    pub fn write(&self, name: &str, last: Option<&Record>) -> Result<(), String> {
        let lines: Vec<String> = self.rows.iter().map(|row| row.line(last)).collect();
        let text = format!("# {name}: all presets\n\n{}\n{}\n", heading(last), lines.join("\n"));
        let path = folder().join(format!("{name}-presets.md"));
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    }
}
