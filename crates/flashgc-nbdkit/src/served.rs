//! The drive, from nbdkit's first call to its last.

use crate::job::{Job, Masks};
use crate::status::Status;
use flashgc_block::{Drive, DriveError, errno_of};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// A request that failed: its number for the client, and a message for the server's log where it is
/// a new one.
pub struct Failed {
    pub errno: i32,
    pub message: Option<String>,
}

impl Failed {
    fn new(errno: i32) -> Self {
        Failed { errno, message: None }
    }
}

struct Served {
    job: Option<Job>,
    drive: Option<Drive>,
    /// The socket that publishes its state.
    status: Option<Status>,
    /// The time at which it was ready, and the duration of its preparation.
    ready: Option<(Instant, Duration)>,
}

/// Requests read it concurrently; it changes before the first of them and after the last.
static SERVED: RwLock<Served> =
    RwLock::new(Served { job: None, drive: None, status: None, ready: None });

/// Whether the log has the reason why the drive has stopped.
static HAS_SAID_WHY: AtomicBool = AtomicBool::new(false);
/// Whether the log has the reason why clients may not write.
static HAS_SAID_READ_ONLY: AtomicBool = AtomicBool::new(false);

/// Connections that are open.
static CONNECTIONS: AtomicU32 = AtomicU32::new(0);

fn served() -> RwLockReadGuard<'static, Served> {
    SERVED.read().unwrap_or_else(PoisonError::into_inner)
}

fn changed() -> RwLockWriteGuard<'static, Served> {
    SERVED.write().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the request of `flashgc serve`.
pub fn read_job(path: &Path) -> Result<(), String> {
    changed().job = Some(Job::read(path)?);
    Ok(())
}

/// Whether the request has been read.
pub fn has_job() -> bool {
    served().job.is_some()
}

/// Whether requests of one connection are under way together.
pub fn is_parallel() -> bool {
    served().job.as_ref().is_some_and(Job::is_parallel)
}

/// The masks of new files and of sockets.
pub fn masks() -> Option<Masks> {
    served().job.as_ref().map(Job::masks)
}

/// Another client connects. An error where there are too many.
pub fn connects() -> Result<(), String> {
    let most = served().job.as_ref().map_or(u32::MAX, Job::connections);
    let is_free = |open: u32| (open < most).then_some(open + 1);
    let taken = CONNECTIONS.fetch_update(Ordering::AcqRel, Ordering::Acquire, is_free);
    taken.map(|_| ()).map_err(|_| {
        format!("a client was refused: the drive has {most} connections already, and takes no more")
    })
}

/// A client has left.
pub fn leaves() {
    CONNECTIONS.fetch_sub(1, Ordering::AcqRel);
}

/// The pipe whose end is the end of the drive.
pub fn pipe() -> Option<i32> {
    served().job.as_ref().and_then(Job::pipe)
}

/// Makes the drive.
pub fn open() -> Result<(), String> {
    let served = &mut *changed();
    let job = served.job.as_ref().ok_or("error: the plugin needs job=FILE")?;
    let begun = Instant::now();
    match job.open().and_then(|drive| Ok((drive, job.watch()?))) {
        Ok((drive, status)) => {
            (served.drive, served.status) = (Some(drive), status);
            served.ready = Some((Instant::now(), begun.elapsed()));
            Ok(())
        }
        Err(why) => {
            job.write_outcome(Err(why.clone()))?;
            Err(why)
        }
    }
}

/// Answers those who watch the drive, from now on.
pub fn begin_status() -> Result<(), String> {
    match &mut changed().status {
        Some(status) => status.begin().map_err(|error| format!("error: no thread: {error}")),
        None => Ok(()),
    }
}

/// The end: the report is written, or the reason why there is none.
pub fn end() -> Result<(), String> {
    let served = &mut *changed();
    let (Some(job), Some(drive)) = (&served.job, served.drive.take()) else { return Ok(()) };
    served.status = None;
    let mut report = match drive.end() {
        Ok(report) => report,
        Err(why) => return job.write_outcome(Err(why.to_string())),
    };
    if let Some((ready, before)) = served.ready {
        report.set_walls(ready.elapsed().as_secs_f64(), before.as_secs_f64(), None);
    }
    job.write_outcome(Ok(&report))
}

/// The state of the drive; `None` after its end.
pub fn status() -> Result<Option<Value>, String> {
    match &served().drive {
        Some(drive) => drive.status().map_err(|error| error.to_string()),
        None => Ok(None),
    }
}

/// Bytes of the drive, and of a page.
pub fn sizes() -> (u64, u64) {
    served().drive.as_ref().map_or((0, 512), |drive| (drive.bytes(), drive.page_bytes()))
}

/// Serves a request.
pub fn serve(act: impl FnOnce(&Drive) -> Result<(), DriveError>) -> Result<(), Failed> {
    let served = served();
    let drive = served.drive.as_ref().ok_or_else(|| Failed::new(libc::ESHUTDOWN))?;
    act(drive).map_err(|error| match error {
        DriveError::Beyond => Failed::new(libc::EINVAL),
        DriveError::Io(error) => {
            Failed { errno: errno_of(&error), message: Some(error.to_string()) }
        }
        DriveError::ReadOnly => {
            let is_new = !HAS_SAID_READ_ONLY.swap(true, Ordering::Relaxed);
            Failed { errno: libc::EIO, message: is_new.then(|| error.to_string()) }
        }
        DriveError::Stopped(why) => {
            let is_new = !HAS_SAID_WHY.swap(true, Ordering::Relaxed);
            Failed { errno: libc::EIO, message: is_new.then_some(why) }
        }
    })
}
