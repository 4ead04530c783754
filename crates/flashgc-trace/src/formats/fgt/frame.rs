//! The heads of the file and of its frames.

use serde::{Deserialize, Serialize};

/// Spoiled by any transfer that takes the file for text.
pub(super) const MAGIC: [u8; 8] = *b"\x89FGT\r\n\x1a\n";
pub(super) const VERSION: u32 = 1;
/// An origin is a few words.
pub(super) const ORIGIN_BYTES_MAX: u32 = 64 * 1024;
/// Records of a frame: its columns fit into a core's own cache.
pub(super) const FRAME_RECORDS: usize = 8 * 1024;
/// A reader takes no larger ones.
pub(super) const FRAME_RECORDS_MAX: u32 = 64 * 1024;
pub(super) const HEAD_BYTES: usize = 40;
pub(super) const COLUMNS: usize = 5;
/// Operations. In their column the marks of a record come on top, in units of this.
pub(super) const OPS: u64 = 4;

/// The origin of the records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) origin: String,
    pub(super) made_by: String,
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// 0: the end of the file.
    pub(super) records: u32,
    pub(super) packed_bytes: u32,
    pub(super) plain_bytes: u32,
    /// Rows before it.
    pub(super) first_row: u64,
    pub(super) earliest_ns: u64,
    pub(super) latest_ns: u64,
}

impl Head {
    pub(super) fn to_bytes(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[4..8].copy_from_slice(&self.records.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.packed_bytes.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.plain_bytes.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first_row.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.earliest_ns.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.latest_ns.to_le_bytes());
        let crc = crc32fast::hash(&bytes[4..]);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// `None` if the checksum is wrong.
    pub(super) fn from_bytes(bytes: &[u8; HEAD_BYTES]) -> Option<Head> {
        let number = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let long = |at: usize| u64::from(number(at)) | u64::from(number(at + 4)) << 32;
        (number(0) == crc32fast::hash(&bytes[4..])).then(|| Head {
            records: number(4),
            packed_bytes: number(8),
            plain_bytes: number(12),
            first_row: long(16),
            earliest_ns: long(24),
            latest_ns: long(32),
        })
    }
}
