//! How a user names the columns of a text file.
//!
//! `time:us, op, offset:512, size:512, device; delimiter=space; read=1; write=0`: columns in
//! order, then settings behind semicolons.

use crate::fields::TimeUnit;
use std::fmt;
use std::str::FromStr;

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Nothing that counts, written `-`.
    Skip,
    /// The time, in this unit.
    Time(TimeUnit),
    /// A word for the operation.
    Op,
    /// The address, in blocks of this number of bytes.
    Offset(u64),
    /// The size, in blocks of this number of bytes.
    Size(u64),
    /// The device's number.
    Device,
    /// A word for whether the request is of high priority.
    Priority,
    /// The placement hint's number.
    Hint,
}

/// The separator of two columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// One such character.
    Char(u8),
    /// A run of blanks and tabs.
    Blanks,
}

/// Whether the first row names the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// It does if its time, offset and size do not begin with a digit.
    Auto,
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// The words for the operation of a row; capitals do not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpWords {
    /// Words for a read.
    pub read: Vec<String>,
    /// Words for a write.
    pub write: Vec<String>,
    /// Words for a trim.
    pub trim: Vec<String>,
    /// Words for rows that are counted and not replayed.
    pub other: Vec<String>,
}

/// The words for a row's priority; capitals do not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorityWords {
    /// Words for high priority.
    pub high: Vec<String>,
    /// Words for any other.
    pub normal: Vec<String>,
}

/// The columns whose numbers are hexadecimal without `0x`, which is understood in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hexadecimal {
    /// The column of the address.
    pub offset: bool,
    /// The column of the size.
    pub size: bool,
    /// The column of the device.
    pub device: bool,
}

/// The layout of a text file, from [`str::parse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvSpec {
    /// The columns from the left; further columns of the file do not count.
    pub columns: Vec<Column>,
    /// The separator; `None`: recognised by the first row.
    pub delimiter: Option<Delimiter>,
    /// Whether there is a header.
    pub header: Header,
    /// The words of the column `op`.
    pub words: OpWords,
    /// The words of the column `priority`.
    pub priorities: PriorityWords,
    /// The columns of hexadecimal numbers.
    pub hexadecimal: Hexadecimal,
}

fn list(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_string()).collect()
}

impl Default for OpWords {
    fn default() -> Self {
        OpWords {
            read: list(&["r", "read", "rd"]),
            write: list(&["w", "write", "wr"]),
            trim: list(&["t", "trim", "d", "discard", "unmap"]),
            other: Vec::new(),
        }
    }
}

impl Default for PriorityWords {
    fn default() -> Self {
        PriorityWords { high: list(&["h", "high"]), normal: list(&["n", "normal", "low"]) }
    }
}

const DELIMITERS: [(&str, Delimiter); 5] = [
    ("comma", Delimiter::Char(b',')),
    ("semicolon", Delimiter::Char(b';')),
    ("tab", Delimiter::Char(b'\t')),
    ("bar", Delimiter::Char(b'|')),
    ("space", Delimiter::Blanks),
];
const HEADERS: [(&str, Header); 3] =
    [("auto", Header::Auto), ("yes", Header::Yes), ("no", Header::No)];

/// The value of a name in a table, or an error that lists the names.
fn look_up<T: Copy>(table: &[(&str, T)], what: &str, name: &str) -> Result<T, String> {
    let found = table.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(known, _)| *known).collect();
        format!("`{name}` is not a {what}; valid: {}", names.join(", "))
    })
}

fn name_of<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name)
}

/// A block size: `512`, `4k`, `4KiB`, `bytes`, `sectors`.
fn parse_block(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    if matches!(lower.as_str(), "b" | "byte" | "bytes") {
        return Ok(1);
    }
    if matches!(lower.as_str(), "sector" | "sectors") {
        return Ok(512);
    }
    let number = lower.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let scale = match &lower[number.len()..] {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        _ => 0,
    };
    let block = number.trim().parse::<u64>().ok().and_then(|count| count.checked_mul(scale));
    block.filter(|block| (1..=1 << 30).contains(block)).ok_or_else(|| {
        format!("`{text}` is not a block size; write a number of bytes, such as 512 or 4k")
    })
}

impl FromStr for Column {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, unit) = match text.split_once(':') {
            Some((name, unit)) => (name.trim(), Some(unit.trim())),
            None => (text.trim(), None),
        };
        match (name.to_ascii_lowercase().as_str(), unit) {
            ("-", None) => Ok(Column::Skip),
            ("time", Some(unit)) => Ok(Column::Time(unit.parse()?)),
            ("time", None) => Err("the time needs its unit, such as `time:us`".into()),
            ("op", None) => Ok(Column::Op),
            ("device", None) => Ok(Column::Device),
            ("priority", None) => Ok(Column::Priority),
            ("hint", None) => Ok(Column::Hint),
            ("offset", unit) => Ok(Column::Offset(unit.map_or(Ok(1), parse_block)?)),
            ("size", unit) => Ok(Column::Size(unit.map_or(Ok(1), parse_block)?)),
            ("-" | "op" | "device" | "priority" | "hint", Some(_)) => {
                Err(format!("the column `{name}` has no unit"))
            }
            _ => Err(format!(
                "`{name}` is not a column; valid columns: time:UNIT, op, offset, size, device, \
                 priority, hint, and - for an ignored one"
            )),
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::Skip => f.write_str("-"),
            Column::Time(unit) => write!(f, "time:{unit}"),
            Column::Op => f.write_str("op"),
            Column::Offset(1) => f.write_str("offset"),
            Column::Offset(block) => write!(f, "offset:{block}"),
            Column::Size(1) => f.write_str("size"),
            Column::Size(block) => write!(f, "size:{block}"),
            Column::Device => f.write_str("device"),
            Column::Priority => f.write_str("priority"),
            Column::Hint => f.write_str("hint"),
        }
    }
}

impl FromStr for CsvSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(';').map(str::trim);
        let columns = parts.next().unwrap_or_default().split(',').map(str::parse);
        let mut spec = CsvSpec {
            columns: columns.collect::<Result<_, _>>()?,
            delimiter: None,
            header: Header::Auto,
            words: OpWords::default(),
            priorities: PriorityWords::default(),
            hexadecimal: Hexadecimal::default(),
        };
        spec.check_columns()?;
        for part in parts.filter(|part| !part.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}` is not a setting; write it as key=value"))?;
            spec.set(key.trim(), value.trim())?;
        }
        spec.check_words()?;
        Ok(spec)
    }
}

impl CsvSpec {
    fn check_columns(&self) -> Result<(), String> {
        let count = |kind: fn(&Column) -> bool| self.columns.iter().filter(|c| kind(c)).count();
        let kinds: [(&str, usize, bool); 7] = [
            ("time", count(|column| matches!(column, Column::Time(_))), false),
            ("op", count(|column| *column == Column::Op), true),
            ("offset", count(|column| matches!(column, Column::Offset(_))), true),
            ("size", count(|column| matches!(column, Column::Size(_))), true),
            ("device", count(|column| *column == Column::Device), false),
            ("priority", count(|column| *column == Column::Priority), false),
            ("hint", count(|column| *column == Column::Hint), false),
        ];
        for (name, count, needed) in kinds {
            if count > 1 {
                return Err(format!("the column `{name}` is named {count} times"));
            }
            if needed && count == 0 {
                return Err(format!("a column `{name}` is needed"));
            }
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let words = || value.split('|').map(|word| word.trim().to_string()).collect();
        match key {
            "delimiter" => self.delimiter = Some(look_up(&DELIMITERS, "delimiter", value)?),
            "header" => self.header = look_up(&HEADERS, "setting of `header`", value)?,
            "read" => self.words.read = words(),
            "write" => self.words.write = words(),
            "trim" => self.words.trim = words(),
            "other" => self.words.other = words(),
            "high" => self.priorities.high = words(),
            "normal" => self.priorities.normal = words(),
            "hex" => {
                for name in value.split('|') {
                    *self.hexadecimal.column(name.trim())? = true;
                }
            }
            _ => {
                return Err(format!(
                    "`{key}` is not a setting; valid settings: delimiter, header, read, write, \
                     trim, other, high, normal, hex"
                ));
            }
        }
        Ok(())
    }

    fn check_words(&self) -> Result<(), String> {
        let CsvSpec { words, priorities, .. } = self;
        each_once("op", &[&words.read, &words.write, &words.trim, &words.other])?;
        each_once("priority", &[&priorities.high, &priorities.normal])
    }
}

impl Hexadecimal {
    fn column(&mut self, name: &str) -> Result<&mut bool, String> {
        match name {
            "offset" => Ok(&mut self.offset),
            "size" => Ok(&mut self.size),
            "device" => Ok(&mut self.device),
            _ => Err(format!("`{name}` cannot be hexadecimal; valid: offset, size, device")),
        }
    }

    /// Whether the numbers of this column are hexadecimal.
    pub(crate) fn is_of(self, column: &Column) -> bool {
        match column {
            Column::Offset(_) => self.offset,
            Column::Size(_) => self.size,
            Column::Device => self.device,
            _ => false,
        }
    }

    /// The setting as text; empty where no column is hexadecimal.
    fn shown(self) -> String {
        let all = [("offset", self.offset), ("size", self.size), ("device", self.device)];
        let names: Vec<&str> = all.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        names.join("|")
    }
}

/// No word of a column has two meanings.
fn each_once(column: &str, lists: &[&Vec<String>]) -> Result<(), String> {
    let mut all: Vec<String> = Vec::new();
    for word in lists.iter().copied().flatten() {
        let word = word.to_ascii_lowercase();
        if word.is_empty() || all.contains(&word) {
            return Err(format!("the word `{word}` for {column} is empty or has two meanings"));
        }
        all.push(word);
    }
    Ok(())
}

impl fmt::Display for CsvSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<String> = self.columns.iter().map(Column::to_string).collect();
        f.write_str(&columns.join(", "))?;
        if let Some(delimiter) = &self.delimiter {
            write!(f, "; delimiter={}", name_of(&DELIMITERS, delimiter))?;
        }
        if self.header != Header::Auto {
            write!(f, "; header={}", name_of(&HEADERS, &self.header))?;
        }
        let (usual, usual_priorities) = (OpWords::default(), PriorityWords::default());
        let lists = [
            ("read", &self.words.read, &usual.read),
            ("write", &self.words.write, &usual.write),
            ("trim", &self.words.trim, &usual.trim),
            ("other", &self.words.other, &usual.other),
            ("high", &self.priorities.high, &usual_priorities.high),
            ("normal", &self.priorities.normal, &usual_priorities.normal),
        ];
        for (key, words, usual) in lists {
            if words != usual {
                write!(f, "; {key}={}", words.join("|"))?;
            }
        }
        match self.hexadecimal.shown() {
            names if names.is_empty() => Ok(()),
            names => write!(f, "; hex={names}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_shows() {
        for text in [
            "time:us, op, offset:512, size:512, device",
            "-, time:100ns, offset, size:4096, op; delimiter=space; header=no; read=1; write=0|2",
            "offset, size, op; delimiter=tab; header=yes; other=x",
            "op, offset, size, priority",
            "op, offset, size, priority; high=1|urgent; normal=0",
            "op, offset, size, hint, priority",
            "op, offset, size, device; read=1; write=0; hex=offset|device",
        ] {
            let spec: CsvSpec = text.parse().unwrap();
            assert_eq!(spec.to_string(), text);
            assert_eq!(spec.to_string().parse(), Ok(spec));
        }
        let spec: CsvSpec = "offset:4k,size:sectors,op".parse().unwrap();
        assert_eq!(spec.columns[..2], [Column::Offset(4096), Column::Size(512)]);
    }

    #[test]
    fn errors_name_the_wrong_part() {
        for (text, part) in [
            ("time, op, offset, size", "needs its unit"),
            ("time:h, op, offset, size", "not a unit of time"),
            ("op, size", "`offset` is needed"),
            ("op, offset, offset, size", "named 2 times"),
            ("op, offset:0, size", "not a block size"),
            ("op, offset:99999999999m, size", "not a block size"),
            ("op, lba, size", "not a column"),
            ("op, offset, size; delimiter=x", "valid: comma"),
            ("op, offset, size; read=r; write=R", "two meanings"),
            ("op, offset, size; high=0; normal=0", "`0` for priority is empty or has two"),
            ("op, offset, size, priority, priority", "named 2 times"),
            ("hint, op, offset, size, hint", "named 2 times"),
            ("op, offset, size, hint:8", "`hint` has no unit"),
            ("op, offset, size; hex=op", "valid: offset, size, device"),
            ("op, offset, size; hello", "key=value"),
            ("", "not a column"),
        ] {
            let error = text.parse::<CsvSpec>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
