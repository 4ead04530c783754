//! Saved drives: the file format of a preconditioned drive.
//!
//! ```text
//! magic "FGCDRIVE" | version, u32 | bytes of the header, u32 | header, JSON | SHA-256 of all that
//! frames of zstd, each with its checksum: map, order, planes, open, sealed_at_ns, erases, and
//!     where the scheme keeps anything beside the drive, kept
//! ```
//!
//! Numbers are little-endian. The header says what made the drive, how many entries each section
//! has, and how long each frame is, so that frames can be unpacked side by side.
//!
//! Reading believes nothing: a file is recognised, its header is checked, what it claims is
//! compared with what the caller's device has, and only then is memory taken. Whether the state
//! makes sense is checked by the engine, when it takes it over (`flashgc::drive::restore`).

mod error;
mod frames;
mod header;
mod read;
mod write;

pub use error::DriveError;
pub use header::{Header, Section, VERSION};
pub use read::{decode, open, Limits, Opened};
pub use write::write;
