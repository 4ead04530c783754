//! The description of a format, and the trait that it implements.

use crate::error::FieldError;
use crate::formats::Format;
use crate::record::{RawRecord, Record};
use std::fmt;
use std::str::FromStr;

/// Reads the lines of one format.
pub trait LineFormat: Send {
    /// The format's name, without options.
    fn name(&self) -> &'static str;

    /// Receives the first lines before the first of them is parsed, and may settle an open choice
    /// of the format. A returned format replaces the one that the reader shows.
    fn settle(&mut self, sample: &[&[u8]]) -> Option<Format> {
        let _ = sample;
        None
    }

    /// One line without its end. `None` is a header, or an event that was not requested.
    /// Lines that are empty or begin with `#` are not passed to it.
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError>;

    /// Whether a line that could not be parsed is correct after all, given the lines that follow
    /// it.
    fn passes_over(&mut self, line: &[u8], ahead: &[&[u8]]) -> bool {
        let _ = (line, ahead);
        false
    }
}

/// Writes the lines of one format.
pub trait LineWriter: Send {
    /// The header before the first record, each line with its end.
    fn header(&self, line: &mut Vec<u8>) {
        let _ = line;
    }

    /// Whether it has a place for marks of high priority. Where it has none they are lost.
    fn keeps_priority(&self) -> bool {
        false
    }

    /// Whether it has a place for placement hints. Where it has none they are lost.
    fn keeps_hints(&self) -> bool {
        false
    }

    /// Appends a record without the line's end, or returns why the format cannot hold it.
    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String>;
}

/// The degree to which some lines fit a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not this format.
    No,
    /// It would fit, as others might.
    Fits,
    /// By its shape it is this one and no other.
    Sure,
}

/// The rule by which a format is recognised from the beginning of a file.
#[derive(Clone, Copy, Debug)]
pub enum Look {
    /// By the first lines (those that are not empty).
    Lines(fn(&[&[u8]]) -> Verdict),
    /// By the first bytes, for a binary format.
    Head(fn(&[u8]) -> bool),
}

/// An option that a format takes behind its name: `name:option`.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// Its meaning, in one line.
    pub what: &'static str,
    /// Makes a format of it.
    pub parse: fn(&str) -> Result<Format, String>,
}

/// A name and its format.
pub type NamedFormat = (&'static str, fn() -> Format);

/// The description of a format: for `--help`, for detection and for the manual.
#[derive(Clone, Copy, Debug)]
pub struct FormatInfo {
    /// The name.
    pub name: &'static str,
    /// Every name that a user can write for it, with the format of each.
    pub names: &'static [NamedFormat],
    /// A description in one line.
    pub title: &'static str,
    /// The columns, in order.
    pub columns: &'static str,
    /// The units of time, address and size.
    pub units: &'static str,
    /// The definition of the format.
    pub defined: &'static str,
    /// The information that is lost when a trace is written so; empty if it cannot be written.
    pub lost: &'static str,
    /// An option behind the name.
    pub option: Option<OptionInfo>,
    /// Recognises the format by the beginning of a file.
    pub looks_like: Look,
}

impl Format {
    /// The name that a user writes for it, without the option.
    pub fn name(&self) -> &'static str {
        let info = self.info();
        let named = info.names.iter().find(|(_, make)| make() == *self);
        named.map_or(info.name, |(name, _)| name)
    }

    /// Every name that a user can write.
    pub fn all_names() -> Vec<&'static str> {
        Format::ALL.iter().flat_map(|info| info.names).map(|(name, _)| *name).collect()
    }

    /// The names of the formats in which traces can be written.
    pub fn names_to_write() -> Vec<&'static str> {
        let written = Format::ALL.iter().filter(|info| !info.lost.is_empty());
        written.flat_map(|info| info.names).map(|(name, _)| *name).collect()
    }

    /// Whether there is a format of this name, with or without an option.
    pub fn is_known(text: &str) -> bool {
        let name = text.split(':').next().unwrap_or_default().trim();
        Format::all_names().contains(&name)
    }
}

impl FromStr for Format {
    type Err = String;

    /// A name, or a name with an option: `spc`, `blkparse:Q`, `csv:time:us, op, offset, size`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, option) = match text.split_once(':') {
            Some((name, option)) => (name.trim(), Some(option.trim())),
            None => (text.trim(), None),
        };
        for info in Format::ALL {
            if let Some((_, make)) = info.names.iter().find(|(known, _)| *known == name) {
                return match (option, info.option) {
                    (None, _) => Ok(make()),
                    (Some(option), Some(taker)) => (taker.parse)(option),
                    (Some(_), None) => Err(format!("the format `{name}` has no options")),
                };
            }
        }
        Err(format!("unknown format `{name}`; valid formats: {}", Format::all_names().join(", ")))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self.option_text() {
            Some(option) => write!(f, ":{option}"),
            None => Ok(()),
        }
    }
}

/// True if at least half of the lines with any content are records of this format. A few spoiled
/// lines must not hide the format of a file.
pub(crate) fn fits_most(mut format: Box<dyn LineFormat>, sample: &[&[u8]]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for line in sample {
        match format.parse(line) {
            Ok(Some(_)) => good += 1,
            Ok(None) => {}
            Err(_) => bad += 1,
        }
    }
    good > 0 && good >= bad
}
