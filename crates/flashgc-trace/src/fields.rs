//! Fields of a line and the numbers in them. Bytes in, integers out: no text, no floats.

use crate::error::FieldError;
use memchr::memrchr2;
use std::fmt;
use std::str::FromStr;

/// The unit of a time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Ticks of 100 ns.
    Ticks100Ns,
    /// Nanoseconds.
    Ns,
    /// Picoseconds; fractions of a nanosecond are cut off.
    Ps,
}

const UNIT_NAMES: [(&str, TimeUnit); 6] = [
    ("s", TimeUnit::S),
    ("ms", TimeUnit::Ms),
    ("us", TimeUnit::Us),
    ("100ns", TimeUnit::Ticks100Ns),
    ("ns", TimeUnit::Ns),
    ("ps", TimeUnit::Ps),
];

impl TimeUnit {
    /// Decimal places of one unit in ns; for ps there are none.
    fn places(self) -> u32 {
        match self {
            TimeUnit::S => 9,
            TimeUnit::Ms => 6,
            TimeUnit::Us => 3,
            TimeUnit::Ticks100Ns => 2,
            TimeUnit::Ns | TimeUnit::Ps => 0,
        }
    }

    /// One unit in ns, at least 1.
    pub fn ns(self) -> u64 {
        10_u64.pow(self.places())
    }

    /// Writes a time as a whole number of this unit; the rest is cut off.
    pub(crate) fn write_whole(self, at_ns: u64, line: &mut Vec<u8>) {
        write_u64(at_ns / self.ns(), line);
        if self == TimeUnit::Ps {
            line.extend_from_slice(b"000");
        }
    }

    /// Writes a time to the nanosecond, with decimals where the unit is coarser.
    pub(crate) fn write_exact(self, at_ns: u64, line: &mut Vec<u8>) {
        self.write_whole(at_ns, line);
        let places = self.places() as usize;
        if places > 0 {
            line.push(b'.');
            let digits = format!("{:0places$}", at_ns % self.ns());
            line.extend_from_slice(digits.as_bytes());
        }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = UNIT_NAMES.iter().find(|(_, unit)| unit == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

impl FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = UNIT_NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        let unknown = || format!("`{text}` is not a unit of time; use s, ms, us, 100ns, ns or ps");
        named.map(|(_, unit)| *unit).ok_or_else(unknown)
    }
}

/// A part of a line, and the byte where it begins (from 1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) column: u64,
}

/// Cuts a line into fields, from left to right.
pub(crate) struct Fields<'a> {
    line: &'a [u8],
    at: usize,
    ended: bool,
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

impl<'a> Fields<'a> {
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Fields { line, at: 0, ended: false }
    }

    /// The text before the next delimiter, without blanks around it.
    #[inline(always)]
    pub(crate) fn cut(&mut self, delimiter: u8) -> Option<Field<'a>> {
        if self.ended {
            return None;
        }
        let rest = &self.line[self.at..];
        let length = rest.iter().position(|&byte| byte == delimiter);
        let (mut from, mut to) = (self.at, self.at + length.unwrap_or(rest.len()));
        self.ended = length.is_none();
        self.at = to + usize::from(!self.ended);
        while from < to && is_blank(self.line[from]) {
            from += 1;
        }
        while from < to && is_blank(self.line[to - 1]) {
            to -= 1;
        }
        Some(Field { bytes: &self.line[from..to], column: from as u64 + 1 })
    }

    /// The next word between blanks.
    #[inline]
    pub(crate) fn word(&mut self) -> Option<Field<'a>> {
        let mut from = self.at;
        while from < self.line.len() && is_blank(self.line[from]) {
            from += 1;
        }
        let mut to = from;
        while to < self.line.len() && !is_blank(self.line[to]) {
            to += 1;
        }
        self.at = to;
        (from < to).then(|| Field { bytes: &self.line[from..to], column: from as u64 + 1 })
    }

    /// As [`Fields::cut`], where the line must not end yet.
    #[inline(always)]
    pub(crate) fn need_cut(
        &mut self,
        delimiter: u8,
        expected: &'static str,
    ) -> Result<Field<'a>, FieldError> {
        self.cut(delimiter).ok_or_else(|| self.ends(expected))
    }

    /// As [`Fields::word`], where the line must not end yet.
    #[inline]
    pub(crate) fn need_word(&mut self, expected: &'static str) -> Result<Field<'a>, FieldError> {
        self.word().ok_or_else(|| self.ends(expected))
    }

    /// The number of blocks before the next delimiter, in bytes. The usual case is read in one go.
    #[inline]
    pub(crate) fn cut_blocks(
        &mut self,
        delimiter: u8,
        block: u64,
        expected: &'static str,
    ) -> Result<u64, FieldError> {
        match self.quick_blocks(delimiter, block) {
            Some(bytes) => Ok(bytes),
            None => self.need_cut(delimiter, expected)?.blocks(block, expected),
        }
    }

    /// Takes a plain number that reaches to the next delimiter or to the end, or takes nothing.
    #[inline]
    pub(crate) fn quick_blocks(&mut self, delimiter: u8, block: u64) -> Option<u64> {
        let (value, length) = leading_digits(&self.line[self.at..]);
        let next = self.line.get(self.at + length);
        if !(1..=19).contains(&length) || next.is_some_and(|&byte| byte != delimiter) {
            return None;
        }
        let bytes = value.checked_mul(block)?;
        self.ended = next.is_none();
        self.at += length + usize::from(!self.ended);
        Some(bytes)
    }

    /// As [`Fields::cut_blocks`], for the next word between blanks.
    #[inline]
    pub(crate) fn word_blocks(
        &mut self,
        block: u64,
        expected: &'static str,
    ) -> Result<u64, FieldError> {
        match self.quick_word_blocks(block) {
            Some(bytes) => Ok(bytes),
            None => self.need_word(expected)?.blocks(block, expected),
        }
    }

    /// As [`Fields::quick_blocks`], for the next word between blanks.
    #[inline]
    pub(crate) fn quick_word_blocks(&mut self, block: u64) -> Option<u64> {
        let mut from = self.at;
        while self.line.get(from).is_some_and(|&byte| is_blank(byte)) {
            from += 1;
        }
        let (value, length) = leading_digits(&self.line[from..]);
        let ends = self.line.get(from + length).is_none_or(|&byte| is_blank(byte));
        if !(1..=19).contains(&length) || !ends {
            return None;
        }
        let bytes = value.checked_mul(block)?;
        self.at = from + length;
        Some(bytes)
    }

    /// The last word, which is taken off the end of the line.
    #[inline]
    pub(crate) fn last_word(&mut self) -> Option<Field<'a>> {
        let mut to = self.line.len();
        while to > self.at && is_blank(self.line[to - 1]) {
            to -= 1;
        }
        let rest = &self.line[self.at..to];
        let from = self.at + memrchr2(b' ', b'\t', rest).map_or(0, |at| at + 1);
        self.line = &self.line[..from];
        (from < to).then(|| Field { bytes: &rest[from - self.at..], column: from as u64 + 1 })
    }

    /// As [`Fields::last_word`], where a word must be left.
    #[inline]
    pub(crate) fn need_last_word(
        &mut self,
        expected: &'static str,
    ) -> Result<Field<'a>, FieldError> {
        self.last_word().ok_or_else(|| FieldError::new(self.at as u64 + 1, expected))
    }

    /// Nothing may follow.
    #[inline]
    pub(crate) fn no_more_words(&mut self) -> Result<(), FieldError> {
        match self.word() {
            None => Ok(()),
            Some(field) => Err(FieldError::new(field.column, "the end of the line")),
        }
    }

    #[cold]
    fn ends(&self, expected: &'static str) -> FieldError {
        FieldError::new(self.line.len() as u64 + 1, format!("{expected}; the line ends"))
    }
}

/// The number at the front and how many digits it has; meaningless beyond 19 of them.
#[inline]
fn leading_digits(bytes: &[u8]) -> (u64, usize) {
    let mut value = 0_u64;
    for (length, &byte) in bytes.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (value, length);
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    (value, bytes.len())
}

/// Digits to a number: `None` if there is no digit, another character or an overflow.
#[inline]
pub(crate) fn digits(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() {
        return None;
    }
    let mut value = 0_u64;
    // Nineteen digits always fit, so only more of them need the checks.
    let (quick, slow) = bytes.split_at(bytes.len().min(19));
    for &byte in quick {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    for &byte in slow {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// Hexadecimal digits, with or without `0x` before them, to a number.
#[inline]
pub(crate) fn hexadecimal(bytes: &[u8]) -> Option<u64> {
    let bytes = match bytes {
        [b'0', b'x' | b'X', digits @ ..] => digits,
        _ => bytes,
    };
    if !(1..=16).contains(&bytes.len()) {
        return None;
    }
    let mut value = 0_u64;
    for &byte in bytes {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return None,
        };
        value = value << 4 | u64::from(digit);
    }
    Some(value)
}

impl Field<'_> {
    /// An error that points here.
    #[cold]
    pub(crate) fn wrong(&self, expected: &'static str) -> FieldError {
        FieldError::new(self.column, expected)
    }

    /// A whole number.
    #[inline]
    pub(crate) fn whole(&self, expected: &'static str) -> Result<u64, FieldError> {
        digits(self.bytes).ok_or_else(|| self.not_a_number(expected))
    }

    /// A whole number of blocks, in bytes.
    #[inline]
    pub(crate) fn blocks(&self, block: u64, expected: &'static str) -> Result<u64, FieldError> {
        let count = self.whole(expected)?;
        count.checked_mul(block).ok_or_else(|| self.not_a_number(expected))
    }

    /// A whole number, hexadecimal if it begins with `0x`.
    #[inline]
    pub(crate) fn whole_or_hex(&self, expected: &'static str) -> Result<u64, FieldError> {
        if self.has_hexadecimal_mark() {
            return self.hexadecimal(expected);
        }
        self.whole(expected)
    }

    /// Whether it begins with `0x`.
    #[inline]
    pub(crate) fn has_hexadecimal_mark(&self) -> bool {
        self.bytes.starts_with(b"0x") || self.bytes.starts_with(b"0X")
    }

    /// A hexadecimal number, with or without `0x`.
    #[inline]
    pub(crate) fn hexadecimal(&self, expected: &'static str) -> Result<u64, FieldError> {
        hexadecimal(self.bytes).ok_or_else(|| self.wrong(expected))
    }

    /// A time, with or without decimals, in ns; fractions of a nanosecond are cut off.
    #[inline]
    pub(crate) fn time_ns(&self, unit: TimeUnit, what: &'static str) -> Result<u64, FieldError> {
        parse_time(self.bytes, unit).ok_or_else(|| self.not_a_time(unit, what))
    }
}

#[inline]
fn parse_time(bytes: &[u8], unit: TimeUnit) -> Option<u64> {
    let point = bytes.iter().position(|&byte| byte == b'.');
    let whole = digits(&bytes[..point.unwrap_or(bytes.len())])?;
    if unit == TimeUnit::Ps {
        return point.is_none_or(|at| all_digits(&bytes[at + 1..])).then_some(whole / 1000);
    }
    let mut value = whole.checked_mul(unit.ns())?;
    if let Some(at) = point {
        let fraction = &bytes[at + 1..];
        let used = fraction.len().min(unit.places() as usize);
        if used > 0 {
            let scale = 10_u64.pow(unit.places() - used as u32);
            value = value.checked_add(digits(&fraction[..used])? * scale)?;
        }
        if !all_digits(&fraction[used..]) {
            return None;
        }
    }
    Some(value)
}

fn all_digits(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_digit)
}

/// Appends a number.
pub(crate) fn write_u64(mut value: u64, line: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        let cases: [(&str, TimeUnit, Option<u64>); 14] = [
            ("0.000023289", TimeUnit::S, Some(23_289)),
            ("28.442623948", TimeUnit::S, Some(28_442_623_948)),
            ("7961.833", TimeUnit::Ms, Some(7_961_833_000)),
            ("3.", TimeUnit::Us, Some(3_000)),
            ("1.23456", TimeUnit::Us, Some(1_234)),
            ("1.5", TimeUnit::Ns, Some(1)),
            ("1999", TimeUnit::Ps, Some(1)),
            ("128166385295514663", TimeUnit::Ticks100Ns, Some(12_816_638_529_551_466_300)),
            ("18446744073709551615", TimeUnit::Ns, Some(u64::MAX)),
            ("18446744073709551616", TimeUnit::Ns, None),
            ("18446744073.709551616", TimeUnit::S, None),
            (".5", TimeUnit::S, None),
            ("1.2.3", TimeUnit::S, None),
            ("-1", TimeUnit::S, None),
        ];
        for (text, unit, expected) in cases {
            assert_eq!(parse_time(text.as_bytes(), unit), expected, "{text} {unit}");
        }
    }

    #[test]
    fn fields_know_their_columns() {
        let mut fields = Fields::new(b" a ,, b");
        let field = fields.cut(b',').unwrap();
        assert_eq!((field.bytes, field.column), (b"a".as_slice(), 2));
        assert_eq!(fields.cut(b',').unwrap().bytes, b"");
        assert_eq!(fields.cut(b',').unwrap().column, 7);
        assert!(fields.cut(b',').is_none());
        let mut words = Fields::new(b"  8,16 \t x");
        assert_eq!(words.word().unwrap().column, 3);
        assert_eq!(words.word().unwrap().bytes, b"x");
        assert!(words.word().is_none());
    }

    #[test]
    fn words_are_taken_from_the_end_too() {
        let mut words = Fields::new(b"7 a b\t 12  34 ");
        assert_eq!(words.word().unwrap().bytes, b"7");
        let last = words.last_word().unwrap();
        assert_eq!((last.bytes, last.column), (b"34".as_slice(), 12));
        assert_eq!(words.last_word().unwrap().bytes, b"12");
        assert_eq!(words.last_word().unwrap().bytes, b"b");
        assert_eq!(words.last_word().unwrap().column, 3);
        assert!(words.last_word().is_none() && words.word().is_none());
        assert_eq!(words.need_last_word("a word").unwrap_err().column, 2);
    }

    #[test]
    fn hexadecimal_numbers() {
        let cases: [(&[u8], Option<u64>); 6] = [
            (b"0x018f0b8000", Some(0x1_8f0b_8000)),
            (b"2A", Some(42)),
            (b"ffffffffffffffff", Some(u64::MAX)),
            (b"11111111111111111", None),
            (b"0x", None),
            (b"g1", None),
        ];
        for (text, expected) in cases {
            assert_eq!(hexadecimal(text), expected);
        }
    }
}
