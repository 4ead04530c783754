//! The head of a file: its format, its origin, and the sections that follow.

use crate::DriveError;
use flashgc::session::Origin;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};

/// The first bytes of every file.
const MAGIC: [u8; 8] = *b"FGCDRIVE";
/// The newest version of the format that is read. Files of version 1 are read too: they lack the
/// scheme's own state.
pub const VERSION: u32 = 3;
/// The version of a drive without bad blocks, which are new in version 3.
const WITHOUT_BAD_BLOCKS: u32 = 2;
/// A header is shorter than this, in bytes: some 200 for each GiB of tables, and the origin.
const HEADER_BYTES_MAX: u32 = 4 << 20;

/// The head of a saved drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Its origin.
    pub origin: Origin,
    /// The hash over everything that the state depends on.
    pub key: String,
    /// The age clock, in ns.
    pub age_ns: u64,
    /// The settings that the last table, the scheme's own state, depends on; `None` without that
    /// table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_by: Option<String>,
    /// The retired blocks of each plane, where the drive has bad blocks: their numbers are the last
    /// of the plane in the table `order`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<u32>,
    /// Blocks with a failed program that have yet to be retired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<u32>,
    /// Whether the drive takes no further write.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_read_only: bool,
    /// The tables, in their order.
    pub sections: Vec<Section>,
}

/// One table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Its numbers.
    pub entries: u64,
    /// Bytes of each.
    pub entry_bytes: u32,
    /// Bytes of each of its frames in the file.
    pub frames: Vec<u32>,
}

/// By reference, as serialisation needs it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Header {
    /// Bytes of all frames.
    pub fn frame_bytes(&self) -> u64 {
        self.sections.iter().flat_map(|section| &section.frames).map(|&b| u64::from(b)).sum()
    }

    /// Writes the head of a file.
    pub(crate) fn write(&self, to: &mut dyn Write) -> io::Result<u64> {
        let json = serde_json::to_vec(self)?;
        let bytes = u32::try_from(json.len()).ok().filter(|&bytes| bytes <= HEADER_BYTES_MAX);
        let Some(bytes) = bytes else {
            return Err(io::Error::other("the header is too long"));
        };
        let mut head = Vec::with_capacity(json.len() + 16);
        head.extend(MAGIC);
        let is_good = self.retired.is_empty() && self.failing.is_empty() && !self.is_read_only;
        let version = if is_good { WITHOUT_BAD_BLOCKS } else { VERSION };
        head.extend(version.to_le_bytes());
        head.extend(bytes.to_le_bytes());
        head.extend(json);
        to.write_all(&head)?;
        to.write_all(&Sha256::digest(&head))?;
        Ok(head.len() as u64 + 32)
    }

    /// Reads the head of a file; returns its length in bytes too.
    pub(crate) fn read(from: &mut dyn Read) -> Result<(Self, u64), DriveError> {
        let mut head = Vec::new();
        from.take(16).read_to_end(&mut head)?;
        if head.len() < 8 || head[..8] != MAGIC {
            return Err(DriveError::NotADrive);
        }
        let number = |at: usize| {
            let bytes = head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map(u32::from_le_bytes).ok_or_else(|| DriveError::damaged("it is truncated"))
        };
        let (version, bytes) = (number(8)?, number(12)?);
        if version > VERSION {
            return Err(DriveError::Newer { version });
        }
        if version == 0 || bytes > HEADER_BYTES_MAX {
            return Err(DriveError::damaged("its header has an unknown layout"));
        }
        from.take(u64::from(bytes)).read_to_end(&mut head)?;
        let mut sum = [0; 32];
        from.read_exact(&mut sum)?;
        if Sha256::digest(&head)[..] != sum {
            return Err(DriveError::damaged("the checksum of its header is wrong"));
        }
        let header: Header = serde_json::from_slice(&head[16..])
            .map_err(|error| DriveError::damaged(format!("its header: {error}")))?;
        if !header.origin.is_sound() {
            return Err(DriveError::damaged("its header does not name the run that made it"));
        }
        if header.origin.key() != header.key {
            return Err(DriveError::damaged("its key does not match the run that made it"));
        }
        Ok((header, head.len() as u64 + 32))
    }
}
