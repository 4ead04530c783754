//! Why a field is not the number that it has to be, and which numbers are allowed.

use crate::error::FieldError;
use crate::fields::{Field, TimeUnit, digits};

const WITHOUT_EXPONENT: &str = "it has an exponent; write it with digits alone";

/// What a field looks like.
#[derive(PartialEq, Eq)]
enum Shape {
    Empty,
    Negative,
    /// Digits, with a point or without one, and an exponent such as `e-05`.
    Exponent,
    Whole,
    Decimal,
    Other,
}

impl Field<'_> {
    /// The error of a field that is not a whole number.
    #[cold]
    pub(crate) fn not_a_number(&self, expected: &'static str) -> FieldError {
        let error = FieldError::new(self.column, expected);
        match shape(self.bytes) {
            Shape::Empty => error.help("the field is empty"),
            Shape::Negative => error.help("it is negative"),
            Shape::Exponent => error.help(WITHOUT_EXPONENT),
            Shape::Whole => error.help("it is too large"),
            Shape::Decimal => error.help("it must be a whole number"),
            Shape::Other => error,
        }
    }

    /// The error of a field that is not a time in this unit, of 64 bits in ns.
    #[cold]
    pub(crate) fn not_a_time(&self, unit: TimeUnit, expected: &'static str) -> FieldError {
        let most = u64::MAX / unit.ns();
        let range = format!("a time is a number from 0 to {most}, in {unit}, such as 12.5");
        FieldError::new(self.column, expected).help(match shape(self.bytes) {
            Shape::Empty => format!("the field is empty; {range}"),
            Shape::Negative => format!("it is negative; {range}"),
            Shape::Exponent => format!("{WITHOUT_EXPONENT}; {range}"),
            Shape::Whole | Shape::Decimal => format!("it is too large; {range}"),
            Shape::Other => range,
        })
    }
}

fn shape(bytes: &[u8]) -> Shape {
    let (number, exponent) = match bytes.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&bytes[..at], Some(&bytes[at + 1..])),
        None => (bytes, None),
    };
    let is_negative = number.first() == Some(&b'-');
    let number = if is_negative { &number[1..] } else { number };
    let (whole, fraction) = match number.iter().position(|&byte| byte == b'.') {
        Some(at) => (&number[..at], Some(&number[at + 1..])),
        None => (number, None),
    };
    let is_number = !whole.is_empty() && all_digits(whole) && fraction.is_none_or(all_digits);
    match exponent {
        _ if bytes.is_empty() => Shape::Empty,
        _ if !is_number => Shape::Other,
        Some(power) if digits(without_sign(power)).is_none() => Shape::Other,
        _ if is_negative => Shape::Negative,
        Some(_) => Shape::Exponent,
        None if fraction.is_some() => Shape::Decimal,
        None => Shape::Whole,
    }
}

fn without_sign(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        _ => bytes,
    }
}

fn all_digits(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_time_has_the_range_and_the_unit() {
        let range = "a time is a number from 0 to 18446744073, in s, such as 12.5";
        let cases = [
            ("", "the field is empty; "),
            ("-1.5", "it is negative; "),
            ("1e+20", "it has an exponent; write it with digits alone; "),
            ("1.5E-05", "it has an exponent; write it with digits alone; "),
            ("18446744073.709551616", "it is too large; "),
            ("99999999999999999999", "it is too large; "),
            (".5", ""),
            ("1.2.3", ""),
            ("1e", ""),
            ("e5", ""),
            ("nan", ""),
        ];
        for (text, reason) in cases {
            let field = Field { bytes: text.as_bytes(), column: 1 };
            let error = field.time_ns(TimeUnit::S, "a time").unwrap_err();
            assert_eq!(error.help.unwrap(), format!("{reason}{range}"), "{text}");
        }
    }

    #[test]
    fn a_wrong_whole_number_has_its_reason() {
        let cases = [
            ("", Some("the field is empty")),
            ("-4096", Some("it is negative")),
            ("4.0", Some("it must be a whole number")),
            ("1e6", Some(WITHOUT_EXPONENT)),
            ("99999999999999999999", Some("it is too large")),
            ("0x", None),
            ("-", None),
        ];
        for (text, reason) in cases {
            let field = Field { bytes: text.as_bytes(), column: 1 };
            let error = field.whole("a size").unwrap_err();
            assert_eq!(error.help.as_deref(), reason, "{text}");
        }
    }
}
