//! What a physical page says of itself, beside its data: the out-of-band record.

/// Bytes of a record in the store.
pub const RECORD_BYTES: usize = 32;

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Data that a client wrote.
    Data,
    /// No data: the page is one of preconditioning, and reads as zeros.
    Zeros,
    /// Nothing: the page completes a program with others.
    Padding,
    /// Data that could not be read when it was moved here.
    Unreadable,
}

/// The record of a physical page that was programmed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Whose data it is.
    pub lpn: u32,
    /// What it is.
    pub content: Content,
    /// Whether a collection programmed it, and not a write.
    pub by_copy: bool,
    /// The number of the write, in the order of all writes. A copy has that of its source.
    pub sequence: u64,
    /// When it was programmed, on the age clock, in ns.
    pub at_ns: u64,
    /// The checksum of the data.
    pub check: u32,
}

/// What the place of a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The page is erased.
    Erased,
    /// Its program was cut.
    Torn,
    /// It was programmed.
    Record(Record),
}

const IS_THERE: u32 = 1 << 31;
const BY_COPY: u32 = 1 << 8;

impl Record {
    /// A page without data.
    pub fn empty(lpn: u32, content: Content, sequence: u64, at_ns: u64) -> Self {
        Record { lpn, content, by_copy: false, sequence, at_ns, check: 0 }
    }

    /// The bytes in the store.
    pub fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let flags = IS_THERE | self.content as u32 | if self.by_copy { BY_COPY } else { 0 };
        let mut bytes = [0; RECORD_BYTES];
        bytes[..4].copy_from_slice(&self.lpn.to_le_bytes());
        bytes[4..8].copy_from_slice(&flags.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.at_ns.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.check.to_le_bytes());
        let check = checksum(&bytes[..28]);
        bytes[28..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// What these bytes say.
    pub fn find(bytes: &[u8]) -> Found {
        if bytes.iter().all(|&byte| byte == 0) {
            return Found::Erased;
        }
        let flags = word(bytes, 4);
        let contents = [Content::Data, Content::Zeros, Content::Padding, Content::Unreadable];
        let content = contents.get((flags & 0xFF) as usize).copied();
        let content = content.filter(|_| word(bytes, 28) == checksum(&bytes[..28]));
        let Some(content) = content else { return Found::Torn };
        let long = |at| u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32;
        Found::Record(Record {
            lpn: word(bytes, 0),
            content,
            by_copy: flags & BY_COPY > 0,
            sequence: long(8),
            at_ns: long(16),
            check: word(bytes, 24),
        })
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The checksum of data or of a record.
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_what_was_written_or_torn() {
        for content in [Content::Data, Content::Zeros, Content::Padding, Content::Unreadable] {
            let record = Record {
                lpn: 7,
                content,
                by_copy: content == Content::Zeros,
                sequence: u64::MAX - 3,
                at_ns: 1 << 40,
                check: 9,
            };
            let bytes = record.to_bytes();
            assert_eq!(Record::find(&bytes), Found::Record(record));
            for at in 0..RECORD_BYTES {
                let mut torn = bytes;
                torn[at] ^= 0x10;
                assert_eq!(Record::find(&torn), Found::Torn, "byte {at}");
            }
        }
        assert_eq!(Record::find(&[0; RECORD_BYTES]), Found::Erased);
    }
}
