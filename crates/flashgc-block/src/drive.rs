//! A drive that serves requests as they come.

use crate::capture::Capture;
use crate::engine::{Engine, lock};
use crate::opening::{Backing, Making, open};
use crate::real_time;
use crate::recovery::{Recovery, by_sequence};
use flashgc::report::Report;
use flashgc::session::{Progress, SavedDrive, Setup};
use flashgc::verify::Listener;
use flashgc::workload::{HostOp, HostRequest};
use serde_json::Value;
use std::fmt;
use std::io;
use std::sync::Mutex;

/// The failure of a request.
#[derive(Debug)]
pub enum DriveError {
    /// It does not lie on the drive.
    Beyond,
    /// Its data could not be read or kept.
    Io(io::Error),
    /// Too many blocks are bad: it can be read, and takes no further write.
    ReadOnly,
    /// The drive has stopped, for this reason. Every further request fails.
    Stopped(String),
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DriveError::Beyond => f.write_str("the request ends beyond the end of the drive"),
            DriveError::Io(error) => error.fmt(f),
            DriveError::ReadOnly => {
                f.write_str("the drive is read-only: too many of its blocks are bad")
            }
            DriveError::Stopped(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for DriveError {}

/// The clock of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    /// Requests are served one after the other, each at once: time is the engine's and advances
    /// with the requests.
    Off,
    /// A request is done at the time of the model, on the clock of the machine.
    Real {
        /// The factor by which time passes more slowly than the model's, at least 1.
        slowed: f64,
    },
}

/// The parts of a drive.
pub struct Opening {
    /// Its configuration. The workload is a trace, the requests to come.
    pub setup: Setup,
    /// A saved drive in place of preconditioning, and its name.
    pub saved: Option<(SavedDrive, String)>,
    /// The storage of the data.
    pub backing: Backing,
    /// Whether the checker watches.
    pub verify: bool,
    /// The clock.
    pub time: Time,
    /// The file for the requests as a trace.
    pub capture: Option<Capture>,
    /// Whether it can be watched; that costs some time for each request.
    pub watched: bool,
}

/// A drive that serves requests, from any number of threads.
pub struct Drive {
    page_bytes: u64,
    bytes: u64,
    found: Option<Recovery>,
    server: Server,
}

/// The server of the requests.
enum Server {
    AtOnce(Box<Mutex<Engine>>),
    RealTime(real_time::Server),
}

impl Drive {
    /// Preconditions a drive, takes a saved one, or resumes the one in its store. `goes_on`
    /// receives the progress, and returns whether to continue.
    pub fn open(
        opening: Opening,
        goes_on: impl FnMut(&Progress) -> bool,
    ) -> Result<Drive, DriveError> {
        Drive::open_through(opening, goes_on, |listener| listener)
    }

    /// Opens a drive whose listener is wrapped: for tests, which put faults between the engine and
    /// the data.
    pub fn open_through(
        opening: Opening,
        mut goes_on: impl FnMut(&Progress) -> bool,
        through: impl FnOnce(Listener) -> Listener,
    ) -> Result<Drive, DriveError> {
        let geometry = &opening.setup.plan.geometry;
        let page_bytes = u64::from(geometry.shape.page_bytes);
        let bytes = u64::from(geometry.exported_pages) * page_bytes;
        let time = opening.time;
        let through = Box::new(through);
        let making = Making { goes_on: &mut goes_on, through, is_newer: by_sequence };
        let (engine, found) = open(opening, making)?;
        let server = match time {
            Time::Off => Server::AtOnce(Box::new(Mutex::new(engine))),
            Time::Real { slowed } => Server::RealTime(real_time::Server::new(engine, slowed)),
        };
        Ok(Drive { page_bytes, bytes, found, server })
    }

    /// The findings of the recovery of its store, if it was resumed.
    pub fn found(&self) -> Option<Recovery> {
        self.found.clone()
    }

    /// The bytes that it has for its clients.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of the unit that it maps: smaller writes read the rest of theirs first.
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Reads the bytes from an offset on.
    pub fn read(&self, into: &mut [u8], offset: u64) -> Result<(), DriveError> {
        let data = vec![0; into.len()];
        let found = self.serve(HostOp::Read, offset, data, false)?;
        into.copy_from_slice(&found);
        Ok(())
    }

    /// Writes bytes from an offset on; with `fua` they survive a loss of power as soon as this
    /// returns.
    pub fn write(&self, data: &[u8], offset: u64, fua: bool) -> Result<(), DriveError> {
        self.serve(HostOp::Write, offset, data.to_vec(), fua).map(|_| ())
    }

    /// Discards data. Whole pages read as zeros from now on; a page that is trimmed only in part
    /// keeps its data.
    pub fn trim(&self, bytes: u64, offset: u64) -> Result<(), DriveError> {
        self.check(bytes, offset)?;
        match self.whole_pages(bytes, offset) {
            Some((from, to)) => self.serve_trim(from, to, false),
            None => Ok(()),
        }
    }

    /// Writes zeros. With `may_trim` whole pages are trimmed, and so need no flash.
    pub fn zero(
        &self,
        bytes: u64,
        offset: u64,
        fua: bool,
        may_trim: bool,
    ) -> Result<(), DriveError> {
        self.check(bytes, offset)?;
        let end = offset + bytes;
        let whole = self.whole_pages(bytes, offset).filter(|_| may_trim);
        let Some((from, to)) = whole else { return self.write_zeros(offset, end, fua) };
        self.write_zeros(offset, from, fua)?;
        self.serve_trim(from, to, fua)?;
        self.write_zeros(to, end, fua)
    }

    /// Zeros, in requests of a size that a client could send.
    fn write_zeros(&self, from: u64, to: u64, fua: bool) -> Result<(), DriveError> {
        const MOST: u64 = 1 << 20;
        let mut at = from;
        while at < to {
            let bytes = (to - at).min(MOST);
            self.serve(HostOp::Write, at, vec![0; bytes as usize], fua)?;
            at += bytes;
        }
        Ok(())
    }

    /// All earlier writes survive a loss of power as soon as this returns.
    pub fn flush(&self) -> Result<(), DriveError> {
        self.run(HostRequest::flush(0), Vec::new()).map(|_| ())
    }

    /// The whole pages of an extent, as bytes, if it has any.
    fn whole_pages(&self, bytes: u64, offset: u64) -> Option<(u64, u64)> {
        let from = offset.next_multiple_of(self.page_bytes);
        let to = (offset + bytes) / self.page_bytes * self.page_bytes;
        (from < to).then_some((from, to))
    }

    fn serve_trim(&self, from: u64, to: u64, fua: bool) -> Result<(), DriveError> {
        let request = HostRequest::from_bytes(0, HostOp::Trim, from, to - from, self.page_bytes);
        self.run(HostRequest { fua, ..request }, Vec::new()).map(|_| ())
    }

    /// Serves a read or a write. Returns the data of the request.
    fn serve(
        &self,
        op: HostOp,
        offset: u64,
        data: Vec<u8>,
        fua: bool,
    ) -> Result<Vec<u8>, DriveError> {
        let bytes = data.len() as u64;
        self.check(bytes, offset)?;
        if data.is_empty() {
            return Ok(data);
        }
        let request = HostRequest::from_bytes(0, op, offset, bytes, self.page_bytes);
        self.run(HostRequest { fua, ..request }, data)
    }

    fn check(&self, bytes: u64, offset: u64) -> Result<(), DriveError> {
        let end = offset.checked_add(bytes).filter(|&end| end <= self.bytes);
        end.map(|_| ()).ok_or(DriveError::Beyond)
    }

    /// Serves a request, whose time of arrival follows. Returns its data.
    fn run(&self, request: HostRequest, data: Vec<u8>) -> Result<Vec<u8>, DriveError> {
        match &self.server {
            Server::AtOnce(engine) => {
                let mut engine = lock(engine);
                engine.admits(&request)?;
                engine.serve_at_once(request, data)
            }
            Server::RealTime(server) => server.serve(request, data),
        }
    }

    /// The state of the drive: rates, latencies and their parts of the last seconds, and the report
    /// so far. `None` where the drive is not watched.
    pub fn status(&self) -> Result<Option<Value>, DriveError> {
        match &self.server {
            Server::AtOnce(engine) => lock(engine).status(0),
            Server::RealTime(server) => server.status(),
        }
    }

    /// No request comes any more: the report of the run.
    pub fn end(self) -> Result<Report, DriveError> {
        match self.server {
            Server::AtOnce(engine) => {
                let engine = engine.into_inner().unwrap_or_else(|broken| broken.into_inner());
                engine.end(0, vec![AT_ONCE.into()])
            }
            Server::RealTime(server) => server.end(),
        }
    }
}

/// The note of a report on a drive without a clock.
const AT_ONCE: &str = "the drive was served without a clock (--time off): requests came one after \
                       the other, so latencies are those of a queue depth of 1";
