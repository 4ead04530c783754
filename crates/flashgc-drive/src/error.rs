//! Errors in a file.

use std::fmt;
use std::io;

/// The reasons why no drive could be read from a file. The text does not name the file: the caller
/// does.
#[derive(Debug)]
pub enum DriveError {
    /// The file has another format.
    NotADrive,
    /// Its format is newer than this program.
    Newer {
        /// The version of the format.
        version: u32,
    },
    /// It is cut off, changed, or longer than the length in its header.
    Damaged {
        /// The error.
        what: String,
    },
    /// It cannot be read.
    Io(io::Error),
}

impl DriveError {
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        DriveError::Damaged { what: what.into() }
    }
}

impl From<io::Error> for DriveError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => DriveError::damaged("it is truncated"),
            _ => DriveError::Io(error),
        }
    }
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DriveError::NotADrive => f.write_str("this is not a saved drive"),
            DriveError::Newer { version } => write!(
                f,
                "the saved drive has format version {version}, but this flashgc reads version {}",
                crate::VERSION
            ),
            DriveError::Damaged { what } => write!(f, "the saved drive is damaged: {what}"),
            DriveError::Io(error) => write!(f, "the saved drive cannot be read: {error}"),
        }
    }
}

impl std::error::Error for DriveError {}
