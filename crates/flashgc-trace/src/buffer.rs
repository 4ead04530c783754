//! A stream, read ahead in one buffer of fixed size.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

const BUFFER_BYTES: usize = 256 * 1024;
/// The number of bytes of the next head.
const STEP_AFTER_SKIP: usize = 64;
const STEP_GROWTH: usize = 8;

/// A stream that can be passed over quickly, if it is a file.
pub(crate) trait Data: Read + Send {
    /// Skips this number of bytes; fewer if the stream ends before.
    fn skip(&mut self, bytes: u64) -> io::Result<()>;
}

/// A stream without seeks.
pub(crate) struct Stream(pub(crate) Box<dyn Read + Send>);

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl Data for Stream {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        io::copy(&mut self.0.by_ref().take(bytes), &mut io::sink()).map(|_| ())
    }
}

/// A file.
pub(crate) struct File<F>(pub(crate) F);

impl<F: Read> Read for File<F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl<F: Read + Seek + Send> Data for File<F> {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        match i64::try_from(bytes) {
            Ok(bytes) => self.0.seek(SeekFrom::Current(bytes)).map(|_| ()),
            Err(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// A stream whose first bytes were examined.
pub(crate) struct Rewound {
    pub(crate) head: Cursor<Vec<u8>>,
    pub(crate) data: Box<dyn Data>,
}

impl Read for Rewound {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.head.read(into)? {
            0 => self.data.read(into),
            count => Ok(count),
        }
    }
}

impl Data for Rewound {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let left = self.head.get_ref().len() as u64 - self.head.position();
        let from_head = bytes.min(left);
        self.head.set_position(self.head.position() + from_head);
        self.data.skip(bytes - from_head)
    }
}

/// The unread part of a stream.
pub(crate) struct Buffer {
    data: Box<dyn Data>,
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
    ended: bool,
    /// Bytes that one read requests: few after a skip, since another skip may follow.
    step: usize,
    /// A failure that was met while reading in advance; it is reported when its place is reached.
    failure: Option<io::Error>,
}

impl Buffer {
    pub(crate) fn new(data: Box<dyn Data>) -> Self {
        Buffer {
            data,
            bytes: vec![0; BUFFER_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            ended: false,
            step: BUFFER_BYTES,
            failure: None,
        }
    }

    /// Bytes that have been read and not been taken.
    #[inline]
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// The bytes that were taken last, until the buffer is filled again.
    #[inline]
    pub(crate) fn taken(&self, count: usize) -> &[u8] {
        &self.bytes[self.start - count..self.start]
    }

    /// Takes bytes that have been read.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) {
        self.start += count;
    }

    /// Drops all bytes that have been read.
    pub(crate) fn clear(&mut self) {
        self.start = self.end;
    }

    /// Whether the stream is over.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// The failure that was met while reading in advance. No bytes come after it.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        let failure = self.failure.take();
        if failure.is_some() {
            self.ended = true;
            self.clear();
        }
        failure
    }

    /// Reads once more. False: nothing more will come, or the buffer is full.
    pub(crate) fn fill(&mut self) -> bool {
        if self.ended || self.failure.is_some() {
            return false;
        }
        if self.end == self.bytes.len() && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.bytes.len() {
            return false;
        }
        let to = self.bytes.len().min(self.end + self.step);
        self.step = BUFFER_BYTES.min(self.step * STEP_GROWTH);
        loop {
            match self.data.read(&mut self.bytes[self.end..to]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => self.failure = Some(error),
            }
            return !self.ended && self.failure.is_none();
        }
    }

    /// Reads until this number of bytes is in the buffer; fewer if the stream ends before.
    pub(crate) fn fill_to(&mut self, count: usize) -> &[u8] {
        while self.end - self.start < count && self.fill() {}
        let count = count.min(self.end - self.start);
        &self.bytes[self.start..self.start + count]
    }

    /// Moves bytes out, however many there are; fewer if the stream ends before.
    pub(crate) fn read_into(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let ahead = into.len().min(self.end - self.start);
        into[..ahead].copy_from_slice(&self.bytes[self.start..self.start + ahead]);
        self.start += ahead;
        let mut done = ahead;
        while done < into.len() && !self.ended && self.failure.is_none() {
            match self.data.read(&mut into[done..]) {
                Ok(0) => self.ended = true,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.failure = Some(error),
            }
        }
        match self.take_failure() {
            Some(failure) if done < into.len() => Err(failure),
            _ => Ok(done),
        }
    }

    /// Passes over bytes; fewer if the stream ends before.
    pub(crate) fn skip(&mut self, count: u64) -> io::Result<()> {
        let ahead = count.min((self.end - self.start) as u64);
        self.start += ahead as usize;
        match self.take_failure() {
            Some(failure) if ahead < count => Err(failure),
            _ if ahead == count => Ok(()),
            _ => {
                self.step = STEP_AFTER_SKIP;
                self.data.skip(count - ahead)
            }
        }
    }
}
