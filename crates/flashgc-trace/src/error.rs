//! Errors with a message, a place and a remedy.

use std::borrow::Cow;
use std::fmt;

/// The problem of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// Name of the trace.
    pub source: Box<str>,
    /// Line, from 1; a record, in a binary file.
    pub line: Option<u64>,
    /// The number of bytes that were read of a binary file.
    pub at_byte: Option<u64>,
    /// Character in the line, from 1.
    pub column: Option<u64>,
    /// The line itself.
    pub text: Option<Box<str>>,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: Option<Box<str>>,
}

/// The problem of a field; the reader turns it into a [`TraceError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Byte in the line, from 1; 0 means the line as a whole.
    pub column: u64,
    /// The expected text.
    pub expected: Cow<'static, str>,
    /// The remedy.
    pub help: Option<Cow<'static, str>>,
}

impl FieldError {
    /// At this byte of the line (from 1), this was expected.
    pub fn new(column: u64, expected: impl Into<Cow<'static, str>>) -> Self {
        FieldError { column, expected: expected.into(), help: None }
    }

    /// Adds advice for the user.
    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The largest part of a line that is shown.
const SHOWN_CHARS: usize = 120;
/// The part of it before the caret, if the line is long.
const SHOWN_BEFORE_CARET: usize = 60;

impl TraceError {
    pub(crate) fn new(source: &str, message: impl Into<String>) -> Self {
        TraceError {
            source: source.into(),
            line: None,
            at_byte: None,
            column: None,
            text: None,
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<Box<str>>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Points at a line, and at a byte of it if that is not 0.
    pub(crate) fn at(mut self, line: u64, text: &[u8], byte_column: u64) -> Self {
        self.line = Some(line);
        self.text = Some(String::from_utf8_lossy(text).into());
        if byte_column > 0 {
            let before = text.get(..byte_column as usize - 1).unwrap_or(text);
            self.column = Some(String::from_utf8_lossy(before).chars().count() as u64 + 1);
        }
        self
    }

    pub(crate) fn on_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The part of the line that is shown, and the place of the caret under it.
    fn shown(&self) -> Option<(String, usize)> {
        let text = self.text.as_ref()?;
        let caret = self.column.unwrap_or(1) as usize - 1;
        let from = if caret + 20 > SHOWN_CHARS { caret - SHOWN_BEFORE_CARET } else { 0 };
        let mut shown = String::from(if from > 0 { "…" } else { "" });
        let mut caret_at = shown.chars().count();
        let mut width = caret_at;
        for (index, char) in text.chars().enumerate().skip(from) {
            if index == caret {
                caret_at = width;
            }
            if width >= SHOWN_CHARS {
                shown.push('…');
                return Some((shown, caret_at));
            }
            let before = shown.len();
            if char.is_control() || ('\u{200b}'..='\u{202e}').contains(&char) {
                shown.extend(char.escape_default());
            } else {
                shown.push(char);
            }
            width += shown[before..].chars().count();
        }
        Some((shown, if caret >= text.chars().count() { width } else { caret_at }))
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        let number = self.line.map(|line| line.to_string()).unwrap_or_default();
        let margin = " ".repeat(number.len());
        write!(f, "\n{margin}--> {}", self.source)?;
        match (self.line, self.at_byte) {
            (Some(record), Some(at_byte)) => write!(f, ": record {record}, byte {at_byte}")?,
            (Some(line), None) => write!(f, ":{line}")?,
            (None, _) => {}
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        if let Some((shown, caret)) = self.shown() {
            write!(f, "\n{margin} |\n{number} | {shown}")?;
            if self.column.is_some() {
                write!(f, "\n{margin} | {}^", " ".repeat(caret))?;
            }
        }
        if let Some(help) = &self.help {
            write!(f, "\n{margin} = help: {}", help.replace('\n', &format!("\n{margin}   ")))?;
        }
        Ok(())
    }
}

impl std::error::Error for TraceError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_like_a_compiler_error() {
        let error = TraceError::new("a.csv", "expected a number")
            .at(12, b"1\t2,x,3", 5)
            .help("count\nagain");
        let expected = "expected a number\n  --> a.csv:12:5\n   |\n12 | 1\\t2,x,3\n   |      ^\n   \
                        = help: count\n     again";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn cuts_a_long_line_around_the_caret() {
        let mut line = vec![b'a'; 1000];
        line[500] = b'X';
        let (shown, caret) = TraceError::new("t", "m").at(1, &line, 501).shown().unwrap();
        assert!(shown.chars().count() <= SHOWN_CHARS + 1);
        assert_eq!(shown.chars().nth(caret), Some('X'));
    }

    #[test]
    fn points_behind_the_end_of_a_short_line() {
        let error = TraceError::new("t", "m").at(1, b"abc", 4);
        assert_eq!(error.shown(), Some(("abc".into(), 3)));
    }
}
