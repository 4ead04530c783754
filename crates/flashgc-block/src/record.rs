//! The record of a physical page, next to its data: the out-of-band area.

use crate::kept::Held;

/// Bytes of a record's content; its checksum follows.
pub const CONTENT_BYTES: usize = 28;

/// The kind of content of a page.
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
    /// The logical page.
    pub lpn: u32,
    /// The kind of content.
    pub content: Content,
    /// Whether a collection programmed it, and not a write.
    pub by_copy: bool,
    /// The number of the write, in the order of all writes. A copy has the number of its source.
    pub sequence: u64,
    /// The time of its program, on the age clock, in ns.
    pub at_ns: u64,
    /// The checksum of the data.
    pub check: u32,
    /// The place of the data: the exclusive or of its number and the number of the page. So it is 0
    /// where both are the same, as in stores without places.
    pub moved: u32,
}

/// The content at the place of a record.
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
/// The lower bits of `moved` lie between the bits of the flags, and the upper ones above the number
/// of the write.
const MOVED_AT: u32 = 9;
const MOVED_LOW: u32 = (1 << 22) - 1;
const SEQUENCE: u64 = (1 << 54) - 1;

impl Record {
    /// A page without data.
    pub fn empty(lpn: u32, content: Content, sequence: u64, at_ns: u64) -> Self {
        Record { lpn, content, by_copy: false, sequence, at_ns, check: 0, moved: 0 }
    }

    /// The record of a page with this data.
    pub fn of_data(self, page: u32, held: Held) -> Self {
        Record { check: held.check, moved: held.place ^ page, ..self }
    }

    /// The data of this page, if it has some.
    pub fn held(&self, page: u32) -> Held {
        match self.content {
            Content::Data => Held { place: self.moved ^ page, check: self.check },
            _ => Held::NOTHING,
        }
    }

    /// The content of the record, without a checksum of its own.
    pub fn to_bytes(self) -> [u8; CONTENT_BYTES] {
        let flags = IS_THERE | self.content as u32 | if self.by_copy { BY_COPY } else { 0 };
        let flags = flags | (self.moved & MOVED_LOW) << MOVED_AT;
        let sequence = self.sequence & SEQUENCE | u64::from(self.moved & !MOVED_LOW) << 32;
        let mut bytes = [0; CONTENT_BYTES];
        bytes[..4].copy_from_slice(&self.lpn.to_le_bytes());
        bytes[4..8].copy_from_slice(&flags.to_le_bytes());
        bytes[8..16].copy_from_slice(&sequence.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.at_ns.to_le_bytes());
        bytes[24..].copy_from_slice(&self.check.to_le_bytes());
        bytes
    }

    /// The record that these bytes are.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let flags = word(bytes, 4);
        let contents = [Content::Data, Content::Zeros, Content::Padding, Content::Unreadable];
        let content = *contents.get((flags & 0xFF) as usize)?;
        let long = |at| u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32;
        let high = (long(8) >> 32) as u32 & !MOVED_LOW;
        Some(Record {
            lpn: word(bytes, 0),
            content,
            by_copy: flags & BY_COPY > 0,
            sequence: long(8) & SEQUENCE,
            at_ns: long(16),
            check: word(bytes, 24),
            moved: high | flags >> MOVED_AT & MOVED_LOW,
        })
    }

    /// The record of a store before version 3: once, with its checksum.
    pub fn find_alone(bytes: &[u8]) -> Found {
        if bytes.iter().all(|&byte| byte == 0) {
            return Found::Erased;
        }
        let (content, check) = bytes.split_at(CONTENT_BYTES);
        let is_whole = check == checksum(content).to_le_bytes();
        let record = is_whole.then(|| Record::of_bytes(content)).flatten();
        record.map_or(Found::Torn, Found::Record)
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The checksum of data.
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The checksum of parts that follow each other.
pub fn checksum_of(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
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
                sequence: SEQUENCE - 3,
                at_ns: 1 << 40,
                check: 9,
                moved: 0xA5F0_3C3D,
            };
            let content = record.to_bytes();
            assert_eq!(Record::of_bytes(&content), Some(record));
            let bytes = [&content[..], &checksum(&content).to_le_bytes()].concat();
            assert_eq!(Record::find_alone(&bytes), Found::Record(record));
            for at in 0..bytes.len() {
                let mut torn = bytes.clone();
                torn[at] ^= 0x10;
                assert_eq!(Record::find_alone(&torn), Found::Torn, "byte {at}");
            }
        }
        assert_eq!(Record::find_alone(&[0; 32]), Found::Erased);
    }
}
