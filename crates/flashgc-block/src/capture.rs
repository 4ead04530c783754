//! The requests of a drive as a trace in flashgc's own format, with the engine's times.
//!
//! `flashgc run` on such a trace is the run of the drive once more. The file has a temporary name
//! until the drive ends.

use flashgc::workload::HostRequest;
use flashgc_trace::{Format, TraceWriter, writer_with};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A trace that is being written.
pub struct Capture {
    path: PathBuf,
    part: PathBuf,
    /// `None` once a row could not be written, for the reason `failed`.
    writer: Option<TraceWriter>,
    failed: Option<String>,
    rows: u64,
}

impl Capture {
    /// A trace without rows. Its temporary file is in the folder of the final one.
    pub fn new(path: &Path) -> io::Result<Capture> {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().ok_or(io::ErrorKind::InvalidFilename)?);
        name.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(name);
        let file = File::create(&part)?;
        let writer = writer_with(&Format::Fgt, "flashgc serve", Box::new(file));
        let writer = writer.map_err(|error| io::Error::other(error.message))?;
        let (path, rows) = (path.to_path_buf(), 0);
        Ok(Capture { path, part, writer: Some(writer), failed: None, rows })
    }

    /// A request has come.
    pub(crate) fn add(&mut self, request: &HostRequest) {
        let Some(writer) = &mut self.writer else { return };
        self.rows += 1;
        if let Err(error) = writer.push(&request.record(self.rows)) {
            self.fail(error.message);
        }
    }

    /// A trace without its end is of no use, and the disk may be full because of it.
    fn fail(&mut self, why: String) {
        self.failed = Some(why);
        self.writer = None;
        let _ = fs::remove_file(&self.part);
    }

    /// Ends the trace: the file gets its name. Returns the note for the report.
    pub(crate) fn end(mut self) -> String {
        if let Some(writer) = self.writer.take() {
            let finished = writer.finish().map_err(|error| error.message);
            let named = finished.and_then(|_| {
                fs::rename(&self.part, &self.path).map_err(|error| error.to_string())
            });
            named.unwrap_or_else(|why| self.fail(why));
        }
        let path = self.path.display();
        match self.failed.take() {
            None if self.rows == 1 => format!("1 request is in {path}"),
            None => format!("{} requests are in {path}", self.rows),
            Some(why) => format!("{path} was not written: {why}"),
        }
    }
}

impl Drop for Capture {
    /// A drive that stopped leaves no half of a trace.
    fn drop(&mut self) {
        if self.writer.is_some() {
            let _ = fs::remove_file(&self.part);
        }
    }
}
