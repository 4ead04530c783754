//! A file whose calls fail on request.

use flashgc_block::medium::Medium;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};

/// The kinds of failures of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full.
    Space,
    /// The disk is broken.
    Io,
    /// A part is written, and then the disk is full.
    Short,
    /// The data does not reach the disk.
    Sync,
}

pub const FAULTS: [Fault; 4] = [Fault::Space, Fault::Io, Fault::Short, Fault::Sync];

/// The calls of a file, and which of them fails.
#[derive(Debug)]
pub struct Calls {
    pub fault: Fault,
    /// The number of the call that fails.
    pub at: u64,
    /// Whether all later ones fail as well.
    pub lasts: bool,
    /// Calls that write, and those that synchronise.
    pub writes: u64,
    pub syncs: u64,
    pub has_failed: bool,
}

impl Calls {
    pub fn new(fault: Fault, at: u64, lasts: bool) -> Arc<Mutex<Calls>> {
        let (writes, syncs, has_failed) = (0, 0, false);
        Arc::new(Mutex::new(Calls { fault, at, lasts, writes, syncs, has_failed }))
    }

    /// The error of this call, or the number of bytes that it writes.
    fn writes(&mut self, bytes: usize) -> Result<usize, io::Error> {
        self.writes += 1;
        if self.fault == Fault::Sync {
            return Ok(bytes);
        }
        let is_short = self.fault == Fault::Short && bytes > 1;
        match self.writes {
            now if now < self.at => Ok(bytes),
            now if now == self.at && is_short => Ok(1 + (now as usize * 13) % (bytes - 1)),
            // The rest of a short write does not fit.
            now if now > self.at + u64::from(is_short) && !self.lasts => Ok(bytes),
            _ => {
                self.has_failed = true;
                let is_io = self.fault == Fault::Io;
                Err(io::Error::from_raw_os_error(if is_io { libc::EIO } else { libc::ENOSPC }))
            }
        }
    }
}

pub struct Failing {
    pub file: File,
    pub calls: Arc<Mutex<Calls>>,
}

impl Medium for Failing {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        Medium::read_at(&self.file, into, at)
    }

    fn write_at(&self, from: &[u8], at: u64) -> io::Result<usize> {
        let bytes = self.calls.lock().expect("calls").writes(from.len())?;
        Medium::write_at(&self.file, &from[..bytes], at)
    }

    fn sync(&self) -> io::Result<()> {
        let mut calls = self.calls.lock().expect("calls");
        calls.syncs += 1;
        if calls.fault == Fault::Sync && calls.syncs == calls.at {
            calls.has_failed = true;
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        Ok(())
    }

    fn bytes(&self) -> io::Result<u64> {
        Medium::bytes(&self.file)
    }

    fn set_bytes(&self, bytes: u64) -> io::Result<()> {
        self.calls.lock().expect("calls").writes(1)?;
        Medium::set_bytes(&self.file, bytes)
    }

    fn give_back(&self, at: u64, bytes: u64) {
        Medium::give_back(&self.file, at, bytes);
    }

    fn is_alone(&self) -> bool {
        self.file.is_alone()
    }
}
