//! Cuts a stream into lines.

use crate::LINE_BYTES_MAX;
use crate::buffer::Buffer;
use memchr::memchr;
use std::io;

/// The reasons why there is no next line.
#[derive(Debug)]
pub(crate) enum LineProblem {
    /// The stream failed.
    Io(io::Error),
    /// The line is longer than allowed; this part of its beginning can be shown.
    TooLong(Vec<u8>),
}

/// Bytes that are kept of a line that is too long.
const SHOWN_BYTES: usize = 200;

/// True if there is nothing on the line, or only a comment.
#[inline]
pub(crate) fn is_without_data(line: &[u8]) -> bool {
    let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
    first.is_none_or(|&byte| byte == b'#')
}

/// Lines of a stream.
pub(crate) struct Lines {
    buffer: Buffer,
    /// The rest of a line that was too long is still to be thrown away.
    skipping: bool,
    line: u64,
}

/// The place of a line: the number of bytes taken last, and how many of them are its own.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    taken: usize,
    length: usize,
}

impl Lines {
    pub(crate) fn new(buffer: Buffer) -> Self {
        Lines { buffer, skipping: false, line: 0 }
    }

    /// Number of the line that was given last.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The bytes of a line that was given, until the next call.
    #[inline]
    pub(crate) fn bytes(&self, line: Line) -> &[u8] {
        &self.buffer.taken(line.taken)[..line.length]
    }

    /// The next line, without its end. `None` at the end of the stream.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Line>, LineProblem> {
        if self.skipping {
            self.skip_rest();
        }
        let mut searched = 0;
        loop {
            let ahead = self.buffer.ahead();
            if let Some(at) = memchr(b'\n', &ahead[searched..]) {
                return self.give(searched + at, searched + at + 1);
            }
            searched = ahead.len();
            if searched > LINE_BYTES_MAX {
                self.skipping = true;
                return self.give(searched, searched);
            }
            if !self.buffer.fill() {
                return self.last();
            }
        }
    }

    /// Takes a line with its end.
    #[inline]
    fn give(&mut self, length: usize, taken: usize) -> Result<Option<Line>, LineProblem> {
        self.line += 1;
        self.buffer.take(taken);
        let line = &self.buffer.taken(taken)[..length];
        if length > LINE_BYTES_MAX {
            return Err(LineProblem::TooLong(line[..SHOWN_BYTES].to_vec()));
        }
        let length = length - usize::from(line.last() == Some(&b'\r'));
        Ok(Some(Line { taken, length }))
    }

    /// The text after the last line end.
    fn last(&mut self) -> Result<Option<Line>, LineProblem> {
        if let Some(error) = self.buffer.take_failure() {
            return Err(LineProblem::Io(error));
        }
        match self.buffer.ahead().len() {
            0 => Ok(None),
            rest => self.give(rest, rest),
        }
    }

    fn skip_rest(&mut self) {
        self.skipping = false;
        loop {
            if let Some(at) = memchr(b'\n', self.buffer.ahead()) {
                self.buffer.take(at + 1);
                return;
            }
            self.buffer.clear();
            if !self.buffer.fill() {
                return;
            }
        }
    }

    /// The first `count` lines with content, without taking them; fewer if the stream or the buffer
    /// ends first.
    pub(crate) fn peek(&mut self, count: usize) -> Vec<&[u8]> {
        let mut full = 0;
        // Counted from the first unread byte, since reading may move the bytes in the buffer.
        let mut searched = 0;
        while full < count {
            let rest = &self.buffer.ahead()[searched..];
            if let Some(length) = memchr(b'\n', rest) {
                full += usize::from(!is_without_data(&rest[..length]));
                searched += length + 1;
            } else if !self.buffer.fill() {
                break;
            }
        }
        let ahead = self.buffer.ahead();
        let known = if self.buffer.ended() { ahead } else { &ahead[..searched] };
        let lines = known.split(|&byte| byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.filter(|line| !is_without_data(line)).take(count).collect()
    }

    /// The first bytes, without taking them.
    pub(crate) fn head(&self) -> &[u8] {
        self.buffer.ahead()
    }

    /// Takes bytes before the first line.
    pub(crate) fn skip(&mut self, count: usize) {
        self.buffer.take(count);
    }

    /// The failure that was met while reading in advance.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        self.buffer.take_failure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Stream;
    use std::io::Read;

    /// Returns a few bytes at a time.
    struct Drip(Vec<u8>, usize, usize);

    impl Read for Drip {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(out.len()).min(self.0.len() - self.2);
            out[..count].copy_from_slice(&self.0[self.2..self.2 + count]);
            self.2 += count;
            Ok(count)
        }
    }

    fn all(data: &[u8], step: usize) -> Vec<Vec<u8>> {
        let mut lines =
            Lines::new(Buffer::new(Box::new(Stream(Box::new(Drip(data.to_vec(), step, 0))))));
        lines.peek(3);
        let mut found = Vec::new();
        loop {
            match lines.next() {
                Ok(Some(range)) => found.push(lines.bytes(range).to_vec()),
                Ok(None) => return found,
                Err(LineProblem::TooLong(range)) => {
                    let kept = &range[..3];
                    found.push(format!("long {}", String::from_utf8_lossy(kept)).into_bytes());
                }
                Err(LineProblem::Io(error)) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn cuts_lines_however_the_bytes_arrive() {
        let mut data = b"a\r\n\nbb\n".to_vec();
        data.extend(vec![b'x'; 300_000]);
        data.extend_from_slice(b"\ncc\n");
        data.extend(vec![b'y'; LINE_BYTES_MAX]);
        data.extend_from_slice(b"\nend");
        for step in [1, 7, 4096, 1 << 20] {
            let found = all(&data, step);
            assert_eq!(found.len(), 7, "{step}");
            assert_eq!(found[0], b"a");
            assert_eq!(found[1], b"");
            assert_eq!(found[3], b"long xxx");
            assert_eq!(found[4], b"cc");
            assert_eq!(found[5].len(), LINE_BYTES_MAX);
            assert_eq!(found[6], b"end");
        }
    }
}
