//! Binary formats: the trait that they implement, and the bytes that they read.

use crate::buffer::Buffer;
use crate::formats::Format;
use crate::record::RawRecord;
use std::io;

/// Reads the records of a binary format.
pub trait BinaryFormat: Send {
    /// The format's name.
    fn name(&self) -> &'static str;

    /// Puts the next records into an empty list, however many come at once; none at the end of
    /// the file.
    fn next_few(
        &mut self,
        bytes: &mut Bytes,
        records: &mut Vec<RawRecord>,
    ) -> Result<(), RecordProblem>;

    /// Receives the first bytes before the first record is read, and may settle an open choice of
    /// the format. A returned format replaces the one that the reader shows.
    fn settle(&mut self, head: &[u8]) -> Option<Format> {
        let _ = head;
        None
    }

    /// Records that [`BinaryFormat::want`] has skipped, unread.
    fn first_row(&self) -> u64 {
        0
    }

    /// Only records from here on are needed, counted from the first one. A format that can skip
    /// others without reading them may do so, except for the very first one.
    fn skip_to(&mut self, start_ns: u64, first_row: u64) {
        let _ = (start_ns, first_row);
    }

    /// The origin that the file names.
    fn origin(&self) -> Option<&str> {
        None
    }
}

/// The reasons why there is no next record.
#[derive(Debug)]
pub enum RecordProblem {
    /// The stream failed.
    Io(io::Error),
    /// The record makes no sense; it has been taken, and the next one can be read.
    Bad(String),
    /// It makes no sense, and nothing behind it can be found.
    Broken(String),
    /// The file ends in the middle of it.
    Cut,
}

/// The bytes of a file, from front to back.
pub struct Bytes {
    buffer: Buffer,
    position: u64,
}

impl Bytes {
    pub(crate) fn new(buffer: Buffer) -> Self {
        Bytes { buffer, position: 0 }
    }

    /// Bytes taken so far: where the file is read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next bytes, this number of them, without taking them; fewer at the end of the file.
    #[inline]
    pub fn peek(&mut self, count: usize) -> Result<&[u8], RecordProblem> {
        if self.buffer.ahead().len() < count {
            self.more(count)?;
        }
        let ahead = self.buffer.ahead();
        Ok(&ahead[..count.min(ahead.len())])
    }

    #[cold]
    fn more(&mut self, count: usize) -> Result<(), RecordProblem> {
        if self.buffer.fill_to(count).len() < count
            && let Some(failure) = self.buffer.take_failure()
        {
            return Err(RecordProblem::Io(failure));
        }
        Ok(())
    }

    /// Takes this number of bytes; `None` if the file ends here, an error if it ends within them.
    #[inline]
    pub fn take<const N: usize>(&mut self) -> Result<Option<[u8; N]>, RecordProblem> {
        let found = self.peek(N)?;
        if found.is_empty() {
            return Ok(None);
        }
        let Ok(taken) = <[u8; N]>::try_from(found) else { return Err(RecordProblem::Cut) };
        self.advance(N);
        Ok(Some(taken))
    }

    /// Takes bytes that were peeked.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        self.buffer.take(count);
        self.position += count as u64;
    }

    /// Takes all of these bytes.
    pub fn fill(&mut self, into: &mut [u8]) -> Result<(), RecordProblem> {
        let read = self.buffer.read_into(into).map_err(RecordProblem::Io)?;
        self.position += read as u64;
        if read < into.len() {
            return Err(RecordProblem::Cut);
        }
        Ok(())
    }

    /// Passes over bytes, without reading them where the file allows it.
    pub fn skip(&mut self, count: u64) -> Result<(), RecordProblem> {
        self.buffer.skip(count).map_err(RecordProblem::Io)?;
        self.position += count;
        Ok(())
    }
}
