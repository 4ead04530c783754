//! Unpacks packed files.

use crate::buffer::{Data, Rewound, Stream};
use crate::error::TraceError;
use std::io::{self, Cursor, Read};

/// How a stream is packed.
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
        let decoder = zstd::stream::read::Decoder::new(whole).map_err(|error: io::Error| {
            TraceError::new(source, format!("the zstd stream cannot be decompressed: {error}"))
        })?;
        return Ok((Box::new(Stream(Box::new(decoder))), Packing::Zstd));
    }
    Ok((Box::new(whole), Packing::Plain))
}

/// What a failure of the stream means.
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
