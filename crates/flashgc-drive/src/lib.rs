//! Saved drives: the file format of a preconditioned drive.
//!
//! ```text
//! magic "FGCDRIVE" | version, u32 | bytes of the header, u32 | header, JSON | SHA-256 of all that
//! frames of zstd, each with its checksum: map, order, planes, open, sealed_at_ns, erases, and
//!     where the scheme keeps anything beside the drive, kept
//! ```
//!
//! Numbers are little-endian. The header has the origin of the drive, the number of entries of each
//! section, and the length of each frame, so that frames can be unpacked in parallel.
//!
//! Reading trusts nothing: a file is recognised, its header is checked, the claims of the header
//! are compared with the caller's device, and only then is memory allocated. The engine checks that
//! the state is consistent when it restores it (`flashgc::drive::restore`).

mod error;
mod frames;
mod header;
mod read;
mod write;

pub use error::DriveError;
pub use header::{Header, Section, VERSION};
pub use read::{Limits, Opened, decode, open};
pub use write::write;
