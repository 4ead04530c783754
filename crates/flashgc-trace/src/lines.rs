//! Cuts a stream into lines, in one buffer of fixed size.

use crate::LINE_BYTES_MAX;
use memchr::memchr;
use std::io::{self, Read};
use std::ops::Range;

const BUFFER_BYTES: usize = 256 * 1024;

/// Why there is no next line.
#[derive(Debug)]
pub(crate) enum LineProblem {
    /// The stream failed.
    Io(io::Error),
    /// The line is longer than allowed; its beginning is in the buffer.
    TooLong(Range<usize>),
}

/// True if there is nothing on the line, or only a comment.
#[inline]
pub(crate) fn says_nothing(line: &[u8]) -> bool {
    let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
    first.is_none_or(|&byte| byte == b'#')
}

/// Lines of a stream.
pub(crate) struct Lines {
    data: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    ended: bool,
    /// A failure that was met while looking ahead; it is told when its turn comes.
    failure: Option<io::Error>,
    /// The rest of a line that was too long is still to be thrown away.
    skipping: bool,
    line: u64,
}

impl Lines {
    pub(crate) fn new(data: Box<dyn Read + Send>) -> Self {
        Lines {
            data,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            ended: false,
            failure: None,
            skipping: false,
            line: 0,
        }
    }

    /// Number of the line that was given last.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The bytes of a range that was given, until the next call.
    pub(crate) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// Reads once more. False: nothing more will come.
    fn fill(&mut self) -> bool {
        if self.ended || self.failure.is_some() {
            return false;
        }
        if self.end == self.buffer.len() && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            return false;
        }
        loop {
            match self.data.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => self.failure = Some(error),
            }
            return !self.ended && self.failure.is_none();
        }
    }

    /// The next line, without its end. `None` at the end of the stream.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Range<usize>>, LineProblem> {
        if self.skipping {
            self.skip_rest()?;
        }
        let mut searched = self.start;
        loop {
            if let Some(length) = memchr(b'\n', &self.buffer[searched..self.end]) {
                let (from, to) = (self.start, searched + length);
                self.start = to + 1;
                self.line += 1;
                if to - from > LINE_BYTES_MAX {
                    return Err(LineProblem::TooLong(from..from + LINE_BYTES_MAX));
                }
                return Ok(Some(from..self.without_return(from, to)));
            }
            if self.end - self.start > LINE_BYTES_MAX {
                let from = self.start;
                self.start = self.end;
                self.skipping = true;
                self.line += 1;
                return Err(LineProblem::TooLong(from..from + LINE_BYTES_MAX));
            }
            let known = self.end - self.start;
            if !self.fill() {
                return self.last();
            }
            searched = self.start + known;
        }
    }

    /// What follows the last line end.
    fn last(&mut self) -> Result<Option<Range<usize>>, LineProblem> {
        if let Some(error) = self.failure.take() {
            self.ended = true;
            self.start = self.end;
            return Err(LineProblem::Io(error));
        }
        if self.start == self.end {
            return Ok(None);
        }
        let (from, to) = (self.start, self.end);
        self.start = to;
        self.line += 1;
        Ok(Some(from..self.without_return(from, to)))
    }

    fn without_return(&self, from: usize, to: usize) -> usize {
        to - usize::from(to > from && self.buffer[to - 1] == b'\r')
    }

    fn skip_rest(&mut self) -> Result<(), LineProblem> {
        loop {
            if let Some(length) = memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += length + 1;
                self.skipping = false;
                return Ok(());
            }
            self.start = 0;
            self.end = 0;
            if !self.fill() {
                self.skipping = false;
                return Ok(());
            }
        }
    }

    /// The first `count` lines that say something, without taking them; fewer if the stream or
    /// the buffer ends first.
    pub(crate) fn peek(&mut self, count: usize) -> Vec<&[u8]> {
        let mut full = 0;
        // Counted from `start`, since reading may move what is in the buffer.
        let mut searched = 0;
        while full < count {
            let rest = &self.buffer[self.start + searched..self.end];
            if let Some(length) = memchr(b'\n', rest) {
                full += usize::from(!says_nothing(&rest[..length]));
                searched += length + 1;
            } else if !self.fill() {
                break;
            }
        }
        let to = if self.ended { self.end } else { self.start + searched };
        let lines = self.buffer[self.start..to].split(|&byte| byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.filter(|line| !says_nothing(line)).take(count).collect()
    }

    /// The first bytes, without taking them.
    pub(crate) fn head(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Takes bytes that stand before the first line.
    pub(crate) fn skip(&mut self, count: usize) {
        self.start += count;
    }

    /// The failure that was met while looking ahead.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
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
        let mut lines = Lines::new(Box::new(Drip(data.to_vec(), step, 0)));
        lines.peek(3);
        let mut found = Vec::new();
        loop {
            match lines.next() {
                Ok(Some(range)) => found.push(lines.bytes(range).to_vec()),
                Ok(None) => return found,
                Err(LineProblem::TooLong(range)) => {
                    let kept = &lines.bytes(range)[..3];
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
