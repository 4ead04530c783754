//! The medium of a store: a file, and in tests a file whose calls fail.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// A file, by the calls that a store makes. Each may fail, and a read or a write may do a part.
pub trait Medium: Send {
    /// Reads from a place on; returns how many bytes.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize>;
    /// Writes from a place on; returns how many bytes.
    fn write_at(&self, from: &[u8], at: u64) -> io::Result<usize>;
    /// Makes all written data survive a failure of this machine.
    fn sync(&self) -> io::Result<()>;
    /// Its length.
    fn bytes(&self) -> io::Result<u64>;
    /// Sets its length, in bytes.
    fn set_bytes(&self, bytes: u64) -> io::Result<()>;
    /// Returns the space of a part to the filesystem, if that can punch holes.
    fn give_back(&self, at: u64, bytes: u64);
    /// Locks it. Returns whether no other process has it open for a drive.
    fn is_alone(&self) -> bool;
}

impl Medium for File {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        FileExt::read_at(self, into, at)
    }

    fn write_at(&self, from: &[u8], at: u64) -> io::Result<usize> {
        FileExt::write_at(self, from, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn bytes(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }

    fn set_bytes(&self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }

    fn give_back(&self, at: u64, bytes: u64) {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let (Ok(at), Ok(bytes)) = (i64::try_from(at), i64::try_from(bytes)) else { return };
        // SAFETY: the descriptor is open while `self` is borrowed, and no memory is passed.
        unsafe { libc::fallocate(self.as_raw_fd(), mode, at, bytes) };
    }

    fn is_alone(&self) -> bool {
        // SAFETY: the descriptor is open while `self` is borrowed, and no memory is passed.
        unsafe { libc::flock(self.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
    }
}

/// Reads all bytes from a place on.
pub fn read_all(medium: &dyn Medium, mut into: &mut [u8], mut at: u64) -> io::Result<()> {
    while !into.is_empty() {
        match medium.read_at(into, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => (into, at) = (&mut into[bytes..], at + bytes as u64),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all bytes from a place on.
pub fn write_all(medium: &dyn Medium, mut from: &[u8], mut at: u64) -> io::Result<()> {
    while !from.is_empty() {
        match medium.write_at(from, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(bytes) => (from, at) = (&from[bytes..], at + bytes as u64),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
