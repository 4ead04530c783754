//! The request of `flashgc serve`, in a JSON file, and the outcome, in another.

use crate::status::Status;
use flashgc::report::Report;
use flashgc::session::{Inputs, prepare};
use flashgc_block::{Backing, Capture, Drive, DriveError, Opening, Time, errno_of};
use flashgc_drive::Limits;
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The request.
pub struct Job {
    inputs: Inputs,
    /// A saved drive in place of preconditioning.
    drive: Option<PathBuf>,
    /// The file of the store, which may not exist yet.
    store: Option<PathBuf>,
    /// The socket that publishes the state of the drive.
    status: Option<PathBuf>,
    /// The file for the trace of the requests.
    capture: Option<PathBuf>,
    /// The file for the findings of the recovery of the store.
    found: Option<PathBuf>,
    verify: bool,
    time: Time,
    /// The descriptor of a pipe that closes when the drive is to end.
    pipe: Option<i32>,
    masks: Masks,
    /// The file for the report.
    outcome: PathBuf,
}

/// The bits that are cleared in the modes of new files.
#[derive(Clone, Copy)]
pub struct Masks {
    /// Files: the mask of the process that started the server.
    pub files: u32,
    /// Sockets.
    pub socket: u32,
}

/// Connections of a drive. Where requests are under way together, each has many threads of nbdkit.
const CONNECTIONS: u32 = 256;
const PARALLEL_CONNECTIONS: u32 = 32;

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_string)
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(text).collect()
}

impl Job {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Job, String> {
        let read = fs::read_to_string(path).map_err(|error| error.to_string());
        let parsed = read.and_then(|text| {
            serde_json::from_str::<Value>(&text).map_err(|error| error.to_string())
        });
        let job = parsed.map_err(|why| format!("error: {}: {why}", path.display()))?;
        let pair = |value: &Value| Some((text(&value[0])?, text(&value[1])));
        let inputs = Inputs {
            name: text(&job["name"]).unwrap_or_default(),
            text: text(&job["text"]).unwrap_or_default(),
            scheme: pair(&job["scheme"]),
            device: pair(&job["device"]),
            sets: texts(&job["sets"]),
            unsets: texts(&job["unsets"]),
            has_trace: true,
            jobs: pair(&job["jobs"]).and_then(|(name, text)| Some((name, text?))),
            ..Inputs::default()
        };
        let outcome = text(&job["outcome"]).ok_or("error: the job has no `outcome`")?;
        let time = match &job["slowed"] {
            Value::Null => Time::Off,
            slowed => Time::Real { slowed: slowed.as_f64().unwrap_or(1.0).max(1.0) },
        };
        let number = |value: &Value, default: u32| {
            value.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(default)
        };
        let masks = Masks {
            files: number(&job["umask"], 0o022),
            socket: 0o777 & !number(&job["socket_mode"], 0o600),
        };
        Ok(Job {
            inputs,
            masks,
            time,
            pipe: job["pipe"].as_i64().and_then(|pipe| i32::try_from(pipe).ok()),
            drive: text(&job["drive"]).map(PathBuf::from),
            store: text(&job["store"]).map(PathBuf::from),
            capture: text(&job["capture"]).map(PathBuf::from),
            status: text(&job["status"]).map(PathBuf::from),
            found: text(&job["found"]).map(PathBuf::from),
            verify: job["verify"].as_bool().unwrap_or(false),
            outcome: outcome.into(),
        })
    }

    /// Whether requests of one connection are under way together.
    pub fn is_parallel(&self) -> bool {
        self.time != Time::Off
    }

    /// The masks of new files and of sockets.
    pub fn masks(&self) -> Masks {
        self.masks
    }

    /// Connections that it takes.
    pub fn connections(&self) -> u32 {
        if self.is_parallel() { PARALLEL_CONNECTIONS } else { CONNECTIONS }
    }

    /// The pipe whose end is the end of the drive.
    pub fn pipe(&self) -> Option<i32> {
        self.pipe.filter(|&pipe| pipe > 2)
    }

    /// Makes the drive.
    pub fn open(&self) -> Result<Drive, String> {
        let setup = prepare(&self.inputs).map_err(|errors| errors.to_string())?;
        let saved = match &self.drive {
            None => None,
            Some(path) => {
                let wrong = |why: String| format!("error: {why}\n  --> {}", path.display());
                let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
                let opened = flashgc_drive::open(BufReader::with_capacity(1 << 20, file))
                    .map_err(|error| wrong(error.to_string()))?;
                let name = path.display().to_string();
                let fit = opened.header.origin.check_fit(&setup, &name);
                fit.map_err(|error| error.text)?;
                let limits = Limits::of(&setup.plan.geometry);
                Some((opened.load(&limits).map_err(|error| wrong(error.to_string()))?, name))
            }
        };
        let (backing, is_new) = match &self.store {
            None => (Backing::Memory, false),
            Some(path) => {
                let (file, is_new) = store_file(path)?;
                let name = path.display().to_string();
                (Backing::Store { file: Box::new(file), name }, is_new)
            }
        };
        let capture = match &self.capture {
            None => None,
            Some(path) => Some(Capture::new(path).map_err(|error| not_captured(path, &error))?),
        };
        let (verify, time, watched) = (self.verify, self.time, self.status.is_some());
        let opening = Opening { setup, saved, backing, verify, time, capture, watched };
        let opened = Drive::open(opening, |_| true);
        match (&opened, &self.store) {
            (Ok(drive), _) => self.write_findings(drive)?,
            (Err(_), Some(path)) if is_new => {
                let file = fs::canonicalize(path);
                drop(file.and_then(fs::remove_file));
            }
            _ => {}
        }
        opened.map_err(|error| match error {
            DriveError::Io(error) => self.store_failed(&error),
            other => other.to_string(),
        })
    }

    /// The socket for those who watch the drive, where they may.
    pub fn watch(&self) -> Result<Option<Status>, String> {
        let Some(path) = &self.status else { return Ok(None) };
        let status = Status::bind(path, 0o777 & !self.masks.socket).map_err(|error| {
            format!(
                "error: nobody can watch the drive: {error}\n  --> {}\n  = help: name a new \
                 socket in an existing folder (--status)",
                path.display()
            )
        })?;
        Ok(Some(status))
    }

    /// Writes the findings of the recovery of the store.
    fn write_findings(&self, drive: &Drive) -> Result<(), String> {
        let (Some(found), Some(place)) = (drive.found(), &self.found) else { return Ok(()) };
        let written = fs::write(place, found.to_string());
        written.map_err(|error| format!("error: {}: {error}", place.display()))
    }

    fn store_failed(&self, error: &io::Error) -> String {
        let place = self.store.as_ref().map(|path| path.display().to_string());
        let help = match errno_of(error) {
            libc::ENOSPC | libc::EDQUOT | libc::EFBIG => {
                "it is as long as the drive, with holes; make space on its filesystem, name a file \
                 on another one (--store), or keep the data in memory"
            }
            _ => "name a file on another disk (--store), or keep the data in memory",
        };
        format!(
            "error: the store cannot be used: {error}\n  --> {}\n  = help: {help}",
            place.unwrap_or_default()
        )
    }

    /// Writes the outcome: the report, or the error.
    pub fn write_outcome(&self, outcome: Result<&Report, String>) -> Result<(), String> {
        let reported = match outcome {
            Ok(report) => {
                let (read, write) = report.latency_distribution();
                json!({ "report": report.to_json(), "read": read, "write": write })
            }
            Err(error) => json!({ "error": error }),
        };
        // It appears as a whole.
        let part = self.outcome.with_extension("part");
        let written = fs::write(&part, reported.to_string());
        written
            .and_then(|()| fs::rename(&part, &self.outcome))
            .map_err(|error| format!("error: {}: {error}", self.outcome.display()))
    }
}

fn not_captured(path: &Path, error: &io::Error) -> String {
    format!(
        "error: the requests cannot be kept: {error}\n  --> {}\n  = help: name a file in an \
         existing folder that may be written (--capture)",
        path.display()
    )
}

/// The file of a store, and whether it did not exist before. A new one is readable by its owner
/// alone: it has the data of clients.
fn store_file(path: &Path) -> Result<(File, bool), String> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let opened = match options.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // A link may name a file that is not there yet.
            options.create(true).mode(0o600).open(path).map(|file| (file, true))
        }
        opened => opened.map(|file| (file, false)),
    };
    opened.map_err(|error| {
        let mut what = error.to_string();
        if let Ok(target) = fs::read_link(path) {
            what = format!("{what} (it is a link to {})", target.display());
        }
        format!(
            "error: the store cannot be opened: {what}\n  --> {}\n  = help: name the store of a \
             drive, or a new file in an existing folder that may be written (--store)",
            path.display()
        )
    })
}
