//! Unpacks packed files.

use crate::buffer::{Data, Rewound, Stream};
use crate::error::TraceError;
use crate::zstd_frames;
use std::io::{self, Cursor, Read};

/// The packing of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Packing {
    /// Its name, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Packing::Plain => "plain",
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }
}

const MAGIC_BYTES: usize = 6;
/// The header of a file in an archive of tar, its name, and the place of its sum.
const TAR_HEADER: usize = 512;
const TAR_NAME: usize = 100;
const TAR_SUM: std::ops::Range<usize> = 148..156;
const FOREIGN: [(&[u8], &str, &str); 5] = [
    (b"BZh", "bzip2", "bunzip2"),
    (b"\xfd7zXZ\0", "xz", "unxz"),
    (b"PK\x03\x04", "zip", "unzip"),
    (b"7z\xbc\xaf\x27\x1c", "7-zip", "7z x"),
    (b"\x04\x22\x4d\x18", "lz4", "unlz4"),
];

/// The bytes of the trace itself.
pub(crate) fn unpack(
    source: &str,
    mut data: Box<dyn Data>,
) -> Result<(Box<dyn Data>, Packing), TraceError> {
    let mut magic = Vec::new();
    let read = data.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut magic);
    if let Err(error) = read {
        return Err(TraceError::new(source, format!("the trace cannot be read: {error}")));
    }
    if magic.is_empty() {
        return Err(TraceError::new(source, "the trace is empty"));
    }
    if let Some((_, name, tool)) = FOREIGN.iter().find(|(head, ..)| magic.starts_with(head)) {
        return Err(TraceError::new(source, format!("the file is compressed with {name}")).help(
            format!(
                "decompress it with `{tool}`; only gzip and zstd are decompressed automatically"
            ),
        ));
    }
    let gzip = magic.starts_with(&[0x1f, 0x8b]);
    let zstd = magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
        || (magic.len() >= 4 && magic[0] & 0xf0 == 0x50 && magic[1..4] == [0x2a, 0x4d, 0x18]);
    let whole = Rewound { head: Cursor::new(magic), data };
    if gzip {
        let unpacked = Box::new(flate2::read::MultiGzDecoder::new(whole));
        return Ok((Box::new(Stream(unpacked)), Packing::Gzip));
    }
    if zstd {
        let decoder = zstd_frames::decoder(whole).map_err(|error: io::Error| {
            TraceError::new(source, format!("the zstd stream cannot be decompressed: {error}"))
        })?;
        return Ok((Box::new(Stream(decoder)), Packing::Zstd));
    }
    Ok((Box::new(whole), Packing::Plain))
}

/// Refuses an archive of tar, whose head is given, and names its first file.
pub(crate) fn not_an_archive(source: &str, head: &[u8]) -> Result<(), TraceError> {
    let Some(member) = first_member(head) else { return Ok(()) };
    Err(TraceError::new(source, "the file is a tar archive").help(format!(
        "list its files with `tar -tf {source}`, extract one with `tar -xf {source} {member}` (its \
         first file), and read that one"
    )))
}

/// The name of the first file of an archive: its header has a sum of all its bytes, in which the
/// bytes of the sum itself count as blanks. The name is padded with zero bytes and the sum is
/// octal, so that the sum of a plain trace is not equal by chance.
fn first_member(head: &[u8]) -> Option<String> {
    let header = head.get(..TAR_HEADER)?;
    let name = &header[..TAR_NAME];
    let name = &name[..name.iter().position(|&byte| byte == 0).unwrap_or(TAR_NAME)];
    let reported = octal(&header[TAR_SUM])?;
    let of = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    let blanks = u32::from(b' ') * TAR_SUM.len() as u32;
    let is_one = !name.is_empty()
        && header.ends_with(&[0])
        && of(header) - of(&header[TAR_SUM]) + blanks == reported;
    is_one.then(|| String::from_utf8_lossy(name).into())
}

/// The number in a field of a header: octal digits, then blanks or zero bytes.
fn octal(field: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(field).ok()?.trim_matches([' ', '\0']);
    u32::from_str_radix(text, 8).ok()
}

/// The error for a failure of the stream.
pub(crate) fn failure(source: &str, packing: Packing, error: &io::Error) -> TraceError {
    let name = packing.name();
    if packing == Packing::Plain {
        return TraceError::new(source, format!("the trace cannot be read further: {error}"));
    }
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return TraceError::new(source, format!("the {name} stream ends too early"))
            .help("the file is truncated, perhaps by an interrupted download; fetch it again");
    }
    TraceError::new(source, format!("the {name} stream cannot be decompressed: {error}"))
        .help("the file is damaged; fetch it again")
}
