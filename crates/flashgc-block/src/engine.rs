//! The engine of a drive and the path of its data, in step.

use crate::capture::Capture;
use crate::drive::DriveError;
use crate::path::{DataPath, Done, Ticket};
use crate::recovery::Recovery;
use crate::watching::Watching;
use flashgc::component::{Component, Marks, Request, Submitted, Wrong};
use flashgc::report::Report;
use flashgc::workload::{HostOp, HostRequest};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Observers of the requests of a drive.
pub(crate) struct Onlookers {
    /// Records the requests as a trace.
    pub(crate) capture: Option<Capture>,
    /// Publishes the state of the drive.
    pub(crate) watching: Option<Watching>,
}

/// The engine of a drive and the path of its data. The caller has the clock.
pub struct Engine {
    component: Component,
    path: Arc<Mutex<DataPath>>,
    onlookers: Onlookers,
    has_served: bool,
    /// The findings of the recovery of the store.
    found: Option<Recovery>,
    /// The reason for the stop, after which every call fails.
    stopped: Option<String>,
}

impl Engine {
    /// A drive that is ready for requests.
    pub(crate) fn new(
        component: Component,
        path: Arc<Mutex<DataPath>>,
        onlookers: Onlookers,
        found: Option<Recovery>,
    ) -> Self {
        Engine { component, path, onlookers, has_served: false, found, stopped: None }
    }

    /// The physical page of each logical one at present; `u32::MAX` where nothing is written.
    pub fn map(&self) -> Vec<u32> {
        self.component.map()
    }

    /// The time of the last event, in ns.
    pub fn now_ns(&self) -> u64 {
        self.component.last_event_ns()
    }

    /// The page of the write buffer in this place of the store was written again.
    pub(crate) fn forget_saved(&mut self, slot: u32) {
        lock(&self.path).forget_saved(slot);
    }

    /// An error where the drive has stopped.
    pub fn is_running(&self) -> Result<(), DriveError> {
        self.stopped.clone().map_or(Ok(()), |why| Err(DriveError::Stopped(why)))
    }

    /// An error where the drive takes no further write, and this is one.
    pub fn admits(&self, request: &HostRequest) -> Result<(), DriveError> {
        if !matches!(request.op, HostOp::Write | HostOp::Trim) {
            return Ok(());
        }
        if let Some(failure) = lock(&self.path).failure() {
            return Err(DriveError::Io(failure.clone().into()));
        }
        if self.component.is_read_only() { Err(DriveError::ReadOnly) } else { Ok(()) }
    }

    /// Lets the engine do something. A fault in it stops the drive.
    fn attempt<T>(
        &mut self,
        act: impl FnOnce(&mut Component) -> Result<T, Wrong>,
    ) -> Result<T, DriveError> {
        self.is_running()?;
        let component = &mut self.component;
        let why = match catch_unwind(AssertUnwindSafe(|| act(component))) {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(error)) => error.text,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or(panic.downcast_ref::<&str>().copied());
                format!("error: flashgc has failed: {}", text.unwrap_or("without a message"))
            }
        };
        self.stopped = Some(why.clone());
        Err(DriveError::Stopped(why))
    }

    /// A request comes now, or as soon after `now_ns` as it can: after all that has happened.
    /// Returns when it came as well.
    pub fn comes(
        &mut self,
        request: HostRequest,
        data: Vec<u8>,
        now_ns: u64,
    ) -> Result<(Ticket, u64), DriveError> {
        self.brings(request, Some(data), now_ns)
    }

    /// Submits a request; without its data, a write leaves pages that cannot be read.
    fn brings(
        &mut self,
        request: HostRequest,
        data: Option<Vec<u8>>,
        now_ns: u64,
    ) -> Result<(Ticket, u64), DriveError> {
        self.is_running()?;
        let (ticket, request) = self.expect(request, data, now_ns);
        let at_ns = request.at_ns;
        self.attempt(|component| {
            submit(component, &request)?;
            let_pass(component, at_ns)
        })?;
        Ok((ticket, at_ns))
    }

    /// The request with the time when it comes. Time begins with the first one.
    fn expect(
        &mut self,
        request: HostRequest,
        data: Option<Vec<u8>>,
        now_ns: u64,
    ) -> (Ticket, HostRequest) {
        let free_ns = self.component.now_ns().max(self.component.last_event_ns() + 1);
        let at_ns = if self.has_served { now_ns.max(free_ns) } else { 0 };
        self.has_served = true;
        let ticket = lock(&self.path).expect(&request, data);
        // A trim takes no flash: that it lasts is a matter of the store.
        let fua = request.fua && request.op == HostOp::Write;
        let request = HostRequest { at_ns, fua, ..request };
        if let Some(capture) = &mut self.onlookers.capture {
            capture.add(&request);
        }
        (ticket, request)
    }

    /// Lets everything happen that happens until this time.
    pub fn run_to(&mut self, now_ns: u64) -> Result<(), DriveError> {
        if !self.has_served {
            // Time begins with the first request.
            return self.is_running();
        }
        self.attempt(|component| let_pass(component, now_ns))
    }

    /// The time of the next event, if there is one.
    pub fn next_ns(&self) -> Option<u64> {
        self.component.next_event_of_engine()
    }

    /// Serves a request at once: time advances until it is done.
    pub fn serve_at_once(
        &mut self,
        request: HostRequest,
        data: Vec<u8>,
    ) -> Result<Vec<u8>, DriveError> {
        self.serve_now(request, Some(data))
    }

    /// A saved page of the write buffer is written again; without its data it cannot be read from
    /// now on. Where the store can take nothing it stays in memory.
    pub(crate) fn write_again(
        &mut self,
        request: HostRequest,
        data: Option<Vec<u8>>,
    ) -> Result<(), DriveError> {
        let written = self.serve_now(request, data);
        let has_failed = lock(&self.path).failure().is_some();
        written.map(|_| ()).or_else(|error| if has_failed { Ok(()) } else { Err(error) })
    }

    fn serve_now(
        &mut self,
        request: HostRequest,
        data: Option<Vec<u8>>,
    ) -> Result<Vec<u8>, DriveError> {
        let (ticket, _) = self.brings(request, data, 0)?;
        self.attempt(|component| component.drain().map(|_| ()))?;
        self.done(|_| {});
        let done = self.take(ticket).expect("the request is done");
        answer(done)
    }

    /// The state of the drive at this time or later; `None` if it is not watched.
    pub(crate) fn status(&mut self, now_ns: u64) -> Result<Option<Value>, DriveError> {
        let Some(watching) = self.onlookers.watching.clone() else { return Ok(None) };
        let now_ns = now_ns.max(self.component.last_event_ns());
        let (so_far, free_blocks) =
            self.attempt(|component| Ok((component.statistics()?, component.free_blocks())))?;
        Ok(Some(watching.status(&so_far, free_blocks, now_ns)))
    }

    /// Hands out the requests that are done since the last call.
    pub fn done(&mut self, each: impl FnMut(Ticket)) {
        lock(&self.path).done().for_each(each);
    }

    /// Takes a request, if it is done.
    pub fn take(&mut self, ticket: Ticket) -> Option<Done> {
        lock(&self.path).take(ticket)
    }

    /// No request comes any more, and the store has everything: the drive is flushed, as by a host
    /// that switches one off. Idle drives work too, so that the end is a request: the run of the
    /// same requests ends there as well.
    pub fn end(mut self, now_ns: u64, notes: Vec<String>) -> Result<Report, DriveError> {
        self.is_running()?;
        let flush = HostRequest::flush(0);
        if self.has_served {
            let (_, last) = self.expect(flush, Some(Vec::new()), now_ns);
            submit(&mut self.component, &last)?;
        }
        let found = self
            .found
            .as_ref()
            .map(|found| format!("the drive was resumed from its store: {found}"));
        let kept = self.onlookers.capture.map(Capture::end);
        let notes: Vec<String> = found.into_iter().chain(notes).chain(kept).collect();
        let mut report = self.component.finish_with(&notes)?;
        if let Err(failure) = lock(&self.path).stop() {
            report.add_note(format!("{failure}; writes and flushes since then are errors"));
        }
        Ok(report)
    }
}

/// A request comes at its time. The data path identifies it by a ticket, not by its tag.
fn submit(component: &mut Component, request: &HostRequest) -> Result<(), Wrong> {
    let &HostRequest { at_ns, op, offset_bytes, bytes, fua, .. } = request;
    let marks = if fua { Marks::FUA } else { Marks::NONE };
    let request = Request::new(at_ns, op, offset_bytes, bytes, 0);
    let submitted = component.submit_request(Request { marks, ..request })?;
    debug_assert_eq!(submitted, Submitted::Accepted, "a served drive has no depth");
    Ok(())
}

/// Runs all events until this time, including the background work of an idle drive: its data lies
/// in a store, and its clients have a clock.
fn let_pass(component: &mut Component, to_ns: u64) -> Result<(), Wrong> {
    component.advance(to_ns.max(component.now_ns()))?;
    component.rest()
}

/// The result of a request that is done.
pub(crate) fn answer(done: Done) -> Result<Vec<u8>, DriveError> {
    done.failed.map_or(Ok(done.data), |error| Err(DriveError::Io(error)))
}

/// A panic of the engine is reported where it happens, and the data behind the lock is not used
/// afterwards.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
