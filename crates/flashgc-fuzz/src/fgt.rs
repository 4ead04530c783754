//! Our own trace format. Checksums would hide all but the heads from a fuzzer, so that half of
//! the inputs become frames whose checksums are right.

use crate::trace::reader;

const MAGIC: &[u8; 8] = b"\x89FGT\r\n\x1a\n";
const PLAIN_MAX: usize = 64 * 1024;

/// With an even first byte the rest is a file; with an odd one it is the content of frames.
pub fn fgt(data: &[u8]) {
    let Some((&kind, rest)) = data.split_first() else { return };
    let file = if kind % 2 == 0 { rest.to_vec() } else { file_of(rest) };
    reader(&[b"fgt\n", file.as_slice()].concat());
}

/// A file with a good header, frames that hold these bytes, and a good end.
fn file_of(data: &[u8]) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    let origin = br#"{"origin":"","made_by":""}"#;
    file.extend(1_u32.to_le_bytes());
    file.extend((origin.len() as u32).to_le_bytes());
    file.extend(origin);
    file.extend(crc32fast::hash(&file).to_le_bytes());
    let mut rows = 0_u64;
    let mut rest = data;
    while let Some((head, after)) = rest.split_first_chunk::<4>() {
        let records = u32::from(u16::from_le_bytes([head[0], head[1]]));
        let length = usize::from(u16::from_le_bytes([head[2], head[3]])).min(after.len());
        let (plain, after) = after.split_at(length.min(PLAIN_MAX));
        let Ok(packed) = packed(plain) else { return file };
        frame(&mut file, records, plain.len(), &packed, rows);
        rows += u64::from(records);
        rest = after;
    }
    frame(&mut file, 0, 0, &[], rows);
    file
}

fn packed(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut zstd = zstd::bulk::Compressor::new(1)?;
    zstd.include_checksum(true)?;
    zstd.compress(plain)
}

fn frame(file: &mut Vec<u8>, records: u32, plain: usize, packed: &[u8], first_row: u64) {
    let mut head = Vec::new();
    for number in [records, packed.len() as u32, plain as u32] {
        head.extend(number.to_le_bytes());
    }
    for number in [first_row, 0, u64::MAX] {
        head.extend(number.to_le_bytes());
    }
    file.extend(crc32fast::hash(&head).to_le_bytes());
    file.extend(head);
    file.extend(packed);
}
