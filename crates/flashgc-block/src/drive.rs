//! A drive that serves requests as they come.

use crate::pages::{Backing, Pages};
use crate::path::{DataPath, Done};
use flashgc::session::live::LiveSession;
use flashgc::session::{Options, Phase, Progress, RunError, SavedDrive, Session, Setup};
use flashgc::verify::{Happened, Listener};
use flashgc::workload::{HostOp, HostRequest};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why a request failed.
#[derive(Debug)]
pub enum DriveError {
    /// It does not lie on the drive.
    Beyond,
    /// Its data could not be read or kept.
    Io(io::Error),
    /// The drive has stopped: the text says why. Nothing works any more.
    Stopped(String),
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DriveError::Beyond => f.write_str("the request ends beyond the end of the drive"),
            DriveError::Io(error) => write!(f, "the backing store: {error}"),
            DriveError::Stopped(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for DriveError {}

/// What a drive is made of.
pub struct Opening {
    /// Its configuration. The workload is a trace: that of the requests that are to come.
    pub setup: Setup,
    /// A saved drive in place of preconditioning, and its name.
    pub saved: Option<(SavedDrive, String)>,
    /// Where the data is kept.
    pub backing: Backing,
    /// Whether the checker watches.
    pub verify: bool,
}

/// A drive that serves requests, one after the other, each at once: time is that of the engine and
/// advances with the requests.
pub struct Drive {
    session: LiveSession,
    path: Arc<Mutex<DataPath>>,
    page_bytes: u64,
    bytes: u64,
    has_served: bool,
    stopped: Option<String>,
}

impl Drive {
    /// Preconditions a drive, or takes a saved one. `goes_on` is told how far that is, and returns
    /// whether it goes on.
    pub fn open(
        opening: Opening,
        goes_on: impl FnMut(&Progress) -> bool,
    ) -> Result<Drive, DriveError> {
        Drive::open_through(opening, goes_on, |listener| listener)
    }

    /// The same, where what the engine reports passes through something on its way to the data: for
    /// tests, which put faults there.
    pub fn open_through(
        opening: Opening,
        mut goes_on: impl FnMut(&Progress) -> bool,
        through: impl FnOnce(Listener) -> Listener,
    ) -> Result<Drive, DriveError> {
        let Opening { setup, saved, backing, verify } = opening;
        let geometry = &setup.plan.geometry;
        let page_bytes = u64::from(geometry.shape.page_bytes);
        let bytes = u64::from(geometry.exported_pages) * page_bytes;
        let pages = Pages::new(geometry, backing).map_err(DriveError::Io)?;
        let path = Arc::new(Mutex::new(DataPath::new(geometry, pages)));
        let heard = Arc::clone(&path);
        let listener: Listener =
            Box::new(move |now_ns, happened: Happened| lock(&heard).see(now_ns, happened));
        let options = Options { verify, listener: Some(through(listener)), ..Options::default() };
        let session = match saved {
            None => Session::new(setup, None, options),
            Some((saved, name)) => Session::with_drive(setup, None, saved, &name, options)?,
        };
        let mut session = LiveSession::new(session)?;
        loop {
            let progress = session.prepare()?;
            if progress.phase == Phase::Run {
                break;
            }
            if !goes_on(&progress) {
                return Err(DriveError::Stopped("the drive was not made to its end".into()));
            }
        }
        Ok(Drive { session, path, page_bytes, bytes, has_served: false, stopped: None })
    }

    /// The bytes that it has for its clients.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of the unit that it maps: smaller writes read the rest of theirs first.
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Why it has stopped, if it has.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    /// Reads the bytes from an offset on.
    pub fn read(&mut self, into: &mut [u8], offset: u64) -> Result<(), DriveError> {
        let data = vec![0; into.len()];
        let found = self.serve(HostOp::Read, offset, data, false)?;
        into.copy_from_slice(&found);
        Ok(())
    }

    /// Writes bytes from an offset on; with `fua` they survive a loss of power as soon as this
    /// returns.
    pub fn write(&mut self, data: &[u8], offset: u64, fua: bool) -> Result<(), DriveError> {
        lock(&self.path).pages().is_short().map_err(DriveError::Io)?;
        self.serve(HostOp::Write, offset, data.to_vec(), fua).map(|_| ())
    }

    /// Discards data. Whole pages read as zeros from now on; a page that is trimmed only in part
    /// keeps its data.
    pub fn trim(&mut self, bytes: u64, offset: u64) -> Result<(), DriveError> {
        self.check(bytes, offset)?;
        match self.whole_pages(bytes, offset) {
            Some((from, to)) => self.serve_trim(from, to),
            None => Ok(()),
        }
    }

    /// Writes zeros. With `may_trim` whole pages are trimmed, and so need no flash.
    pub fn zero(
        &mut self,
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
        self.serve_trim(from, to)?;
        self.write_zeros(to, end, fua)
    }

    /// Zeros, in requests of a size that a client could send.
    fn write_zeros(&mut self, from: u64, to: u64, fua: bool) -> Result<(), DriveError> {
        const MOST: u64 = 1 << 20;
        let mut at = from;
        while at < to {
            let bytes = (to - at).min(MOST);
            self.write(&vec![0; bytes as usize], at, fua)?;
            at += bytes;
        }
        Ok(())
    }

    /// What was written before survives a loss of power as soon as this returns.
    pub fn flush(&mut self) -> Result<(), DriveError> {
        self.is_running()?;
        let request = HostRequest::flush(self.next_ns());
        self.run(request, HostOp::Flush, 0, Vec::new()).map(|_| ())
    }

    /// The whole pages of an extent, as bytes, if it has any.
    fn whole_pages(&self, bytes: u64, offset: u64) -> Option<(u64, u64)> {
        let from = offset.next_multiple_of(self.page_bytes);
        let to = (offset + bytes) / self.page_bytes * self.page_bytes;
        (from < to).then_some((from, to))
    }

    fn serve_trim(&mut self, from: u64, to: u64) -> Result<(), DriveError> {
        self.is_running()?;
        let (at_ns, bytes, page) = (self.next_ns(), to - from, self.page_bytes);
        let request = HostRequest::from_bytes(at_ns, HostOp::Trim, from, bytes, page);
        self.run(request, HostOp::Trim, from, Vec::new()).map(|_| ())
    }

    /// Serves a read or a write. Returns the data of the request.
    fn serve(
        &mut self,
        op: HostOp,
        offset: u64,
        data: Vec<u8>,
        fua: bool,
    ) -> Result<Vec<u8>, DriveError> {
        self.check(data.len() as u64, offset)?;
        self.is_running()?;
        if data.is_empty() {
            return Ok(data);
        }
        let (at_ns, bytes) = (self.next_ns(), data.len() as u64);
        let request = HostRequest::from_bytes(at_ns, op, offset, bytes, self.page_bytes);
        self.run(HostRequest { fua, ..request }, op, offset, data)
    }

    /// When the next request comes: at the beginning, and else right after the one before it.
    fn next_ns(&mut self) -> u64 {
        let at_ns = if self.has_served { self.session.now_ns() + 1 } else { 0 };
        self.has_served = true;
        at_ns
    }

    fn check(&self, bytes: u64, offset: u64) -> Result<(), DriveError> {
        let end = offset.checked_add(bytes).filter(|&end| end <= self.bytes);
        end.map(|_| ()).ok_or(DriveError::Beyond)
    }

    fn is_running(&self) -> Result<(), DriveError> {
        self.stopped.clone().map_or(Ok(()), |why| Err(DriveError::Stopped(why)))
    }

    /// Hands a request to the engine, and lets its time advance until it is done.
    fn run(
        &mut self,
        request: HostRequest,
        op: HostOp,
        offset: u64,
        data: Vec<u8>,
    ) -> Result<Vec<u8>, DriveError> {
        let ticket = lock(&self.path).expect(op, offset, data);
        let session = &mut self.session;
        let ran = catch_unwind(AssertUnwindSafe(|| {
            session.comes(request)?;
            session.run_until_served()
        }));
        match ran {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(self.stop(error.text)),
            Err(panic) => {
                let why = panic.downcast_ref::<String>().map_or("without a word", String::as_str);
                let text = format!("error: flashgc has failed: {why}");
                return Err(self.stop(text));
            }
        }
        let mut path = lock(&self.path);
        path.done().for_each(drop);
        let Done { data, failed, .. } = path.take(ticket).expect("the request is done");
        failed.map_or(Ok(data), |error| Err(DriveError::Io(error)))
    }

    /// Nothing works from now on.
    fn stop(&mut self, why: String) -> DriveError {
        self.stopped = Some(why.clone());
        DriveError::Stopped(why)
    }

    /// No request comes any more: the report of the run.
    pub fn end(self) -> Result<flashgc::report::Report, DriveError> {
        self.is_running()?;
        Ok(self.session.end(&[NOTE.into()])?)
    }
}

/// What every report of a served drive says.
const NOTE: &str = "the drive was served to clients: requests came one after the other, so latencies \
                    are those of a queue depth of 1";

impl From<RunError> for DriveError {
    fn from(error: RunError) -> Self {
        DriveError::Stopped(error.text)
    }
}

/// A fault of the engine is reported where it happens, and the data behind the lock is not used
/// again.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
