//! The length of a workload: a number of requests, or an amount of work.

use super::{HostOp, HostRequest};
use serde::{Serialize, Serializer};

/// The length of a workload, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// A number of requests.
    Requests(u64),
    /// Until its writes have this number of bytes. The write that reaches them is the last request.
    Written {
        /// In units of the user capacity.
        drive_writes: f64,
        /// The amount in bytes, once the drive is known.
        bytes: u64,
    },
}

impl Length {
    /// This many drive writes, of a drive that is not known yet.
    pub fn drive_writes(drive_writes: f64) -> Length {
        Length::Written { drive_writes, bytes: 0 }
    }

    /// The length on a drive with this user capacity in bytes.
    pub fn on_drive(self, exported_bytes: u64) -> Length {
        match self {
            Length::Requests(_) => self,
            Length::Written { drive_writes, .. } => {
                let bytes = libm::ceil(drive_writes * exported_bytes as f64) as u64;
                Length::Written { drive_writes, bytes: bytes.max(1) }
            }
        }
    }

    /// A share of it, for a phase.
    pub fn share(self, share: f64) -> Length {
        match self {
            Length::Requests(count) => Length::Requests(libm::round(count as f64 * share) as u64),
            Length::Written { drive_writes, .. } => Length::drive_writes(drive_writes * share),
        }
    }

    /// Requests, where they are counted.
    pub fn requests(self) -> Option<u64> {
        match self {
            Length::Requests(count) => Some(count),
            Length::Written { .. } => None,
        }
    }

    /// The amount that is counted down: requests, or bytes of writes.
    pub fn units(self) -> u64 {
        match self {
            Length::Requests(count) => count,
            Length::Written { bytes, .. } => bytes,
        }
    }

    /// The amount that a request takes from it.
    #[inline(always)]
    pub fn taken_by(self, request: &HostRequest) -> u64 {
        match self {
            Length::Requests(_) => 1,
            Length::Written { .. } if request.op == HostOp::Write => request.bytes,
            Length::Written { .. } => 0,
        }
    }
}

/// A number, or `"2 drive writes"`, as in a configuration.
impl Serialize for Length {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Length::Requests(count) => serializer.serialize_u64(*count),
            Length::Written { drive_writes, .. } => {
                serializer.collect_str(&format_args!("{drive_writes} drive writes"))
            }
        }
    }
}
