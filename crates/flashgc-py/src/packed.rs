//! The target of a trace: a file, packed by the ending of its name, or standard output.

use crate::errors::OutputError;
use crate::files::{NewFile, reason};
use flate2::write::GzEncoder;
use pyo3::PyErr;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// zstd's own default.
const ZSTD_LEVEL: i32 = 3;

enum Packer {
    Plain(NewFile),
    Gzip(Box<GzEncoder<NewFile>>),
    Zstd(Box<zstd::stream::write::Encoder<'static, NewFile>>),
    Stdout(io::Stdout),
}

struct Shared {
    packer: Option<Packer>,
    name: String,
    failed: Option<io::Error>,
}

/// A target that can be passed on as a writer and still be finished by its owner.
#[derive(Clone)]
pub struct Target(Arc<Mutex<Shared>>);

impl Target {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` is standard output.
    pub fn create(path: Option<&Path>) -> Result<Target, String> {
        let (packer, name) = match path {
            None => (Packer::Stdout(io::stdout()), "standard output".into()),
            Some(path) => {
                let file = NewFile::create(path).map_err(|why| format!("error: {why}"))?;
                let shown = path.display().to_string();
                let packer = match path.extension().and_then(|end| end.to_str()) {
                    Some("gz") => Packer::Gzip(Box::new(GzEncoder::new(file, Default::default()))),
                    Some("zst") => {
                        let failed = |error| format!("error: {shown}: {error}");
                        let mut encoder =
                            zstd::stream::write::Encoder::new(file, ZSTD_LEVEL).map_err(failed)?;
                        encoder.include_checksum(true).map_err(failed)?;
                        Packer::Zstd(Box::new(encoder))
                    }
                    _ => Packer::Plain(file),
                };
                (packer, shown)
            }
        };
        let shared = Shared { packer: Some(packer), name, failed: None };
        Ok(Target(Arc::new(Mutex::new(shared))))
    }

    /// The error of the target if it has failed, else the one given.
    pub fn failure(&self, other: PyErr) -> PyErr {
        let shared = self.shared();
        match &shared.failed {
            Some(error) => {
                let text = format!("error: {} cannot be written: {}", shared.name, reason(error));
                OutputError::new_err(text)
            }
            None => other,
        }
    }

    /// Standard output is a pipe, and its reader has closed it.
    pub fn is_closed(&self) -> bool {
        self.shared().packer.is_none()
    }

    /// Finishes the packing and gives the file its name.
    pub fn commit(&self) -> Result<(), String> {
        let mut shared = self.shared();
        let name = shared.name.clone();
        let failed =
            |error: io::Error| format!("error: {name} cannot be written: {}", reason(&error));
        let file = match shared.packer.take() {
            None => return Ok(()),
            Some(Packer::Stdout(mut out)) => {
                return match out.flush() {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    other => other.map_err(failed),
                };
            }
            Some(Packer::Plain(file)) => file,
            Some(Packer::Gzip(encoder)) => encoder.finish().map_err(failed)?,
            Some(Packer::Zstd(encoder)) => encoder.finish().map_err(failed)?,
        };
        file.commit().map_err(|why| format!("error: {why}"))
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let shared = &mut *self.shared();
        let result = match &mut shared.packer {
            None => return Ok(bytes.len()),
            Some(Packer::Plain(out)) => out.write(bytes),
            Some(Packer::Gzip(out)) => out.write(bytes),
            Some(Packer::Zstd(out)) => out.write(bytes),
            Some(Packer::Stdout(out)) => out.write(bytes),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                if matches!(shared.packer, Some(Packer::Stdout(_))) {
                    shared.packer = None;
                    return Ok(bytes.len());
                }
                shared.failed = Some(io::ErrorKind::BrokenPipe.into());
                Err(error)
            }
            Err(error) => {
                shared.failed = Some(io::Error::new(error.kind(), error.to_string()));
                Err(error)
            }
            done => done,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
