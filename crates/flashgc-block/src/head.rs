//! The head of a store: the description of its drive. A store without a head is incomplete.

use crate::layout::{CONTINUED, HEAD_BYTES, VERSION};
use crate::medium::{Medium, read_all};
use crate::record::{checksum, checksum_of};
use std::io;

const MAGIC: &[u8; 8] = b"FGCSTORE";
/// Bytes before the text: the word above, the version, the length of the text and a checksum.
const BEFORE: usize = 20;
/// Bytes that the text may have: the state of the drive follows.
const MOST: usize = (HEAD_BYTES as usize) - BEFORE - 64;

/// A head that was found.
pub struct Head {
    pub text: String,
    pub version: u32,
    /// The position and the content of the copy to write again, if one copy was damaged.
    pub damaged: Option<(u64, Vec<u8>)>,
}

/// A copy of a head.
enum Copy {
    Whole(String, u32),
    Later(u32),
    Damaged,
    None,
}

/// The bytes of a head, of which a store has two copies.
pub fn head_bytes(text: &str) -> io::Result<Vec<u8>> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    let check = checksum_of(&[&bytes, text.as_bytes()]);
    bytes.extend_from_slice(&check.to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    if text.len() > MOST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "its head is too long"));
    }
    Ok(bytes)
}

/// The places of the copies.
pub const COPIES: [u64; 2] = [0, HEAD_BYTES];

/// The head of a store; `None` for an empty file. An error describes the content of any other file.
pub fn find(disk: &dyn Medium) -> Result<Option<Head>, String> {
    if disk.bytes().map_err(|error| error.to_string())? == 0 {
        return Ok(None);
    }
    let damaged = |text: &str, at: u64| Some((at, head_bytes(text).unwrap_or_default()));
    match COPIES.map(|at| copy(disk, at)) {
        [Copy::Whole(text, version), other] => {
            let is_whole = version != VERSION || matches!(other, Copy::Whole(..));
            let damaged = if is_whole { None } else { damaged(&text, COPIES[1]) };
            Ok(Some(Head { damaged, text, version }))
        }
        [_, Copy::Whole(text, version @ VERSION)] => {
            Ok(Some(Head { damaged: damaged(&text, COPIES[0]), text, version }))
        }
        [Copy::Later(version), _] => Err(format!(
            "it is a store of version {version}, and this flashgc reads versions 1 to {CONTINUED}"
        )),
        [Copy::Damaged, _] => Err("its head is damaged (bytes 0 to 65,536)".into()),
        [Copy::None, _] => Err("it is not the store of a drive, or was not made to its end".into()),
    }
}

fn copy(disk: &dyn Medium, at: u64) -> Copy {
    let mut before = [0; BEFORE];
    if read_all(disk, &mut before, at).is_err() || &before[..8] != MAGIC {
        return Copy::None;
    }
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| before[at + byte]));
    let (version, length, check) = (word(8), word(12) as usize, word(16));
    let mut text = vec![0; length.min(MOST)];
    if read_all(disk, &mut text, at + BEFORE as u64).is_err() {
        return Copy::Damaged;
    }
    let is_whole = match version {
        1 | 2 | CONTINUED => checksum(&text) == check,
        _ => checksum_of(&[&before[..16], &text]) == check,
    };
    match String::from_utf8(text) {
        Ok(text) if is_whole && (1..=CONTINUED).contains(&version) => Copy::Whole(text, version),
        _ if version > CONTINUED => Copy::Later(version),
        _ => Copy::Damaged,
    }
}
