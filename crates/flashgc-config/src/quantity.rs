//! Getters for quantities with units.

use crate::decimal::{Decimal, split_unit};
use crate::reader::{Reader, allowed, number};
use crate::tree::{Node, Scalar};
use crate::units::{self, Rate, Share, Threshold};
use std::ops::RangeInclusive;

impl Reader<'_> {
    /// A duration such as `"50 us"`, in nanoseconds.
    pub fn duration_ns(&self, key: &str) -> Option<u64> {
        self.quantity(key, "a duration", units::parse_duration_ns, units::DURATION_HELP)
    }

    /// A duration, or a list of durations such as `["50 us", "80 us"]`, in nanoseconds. A single
    /// one is a list of one.
    pub fn durations_ns(&self, key: &str) -> Option<Vec<u64>> {
        let entry = self.entry(key)?;
        let Node::Array { items, .. } = &entry.node else {
            return self.duration_ns(key).map(|ns| vec![ns]);
        };
        let duration = |item: &Node| match item {
            Node::Leaf { value: Scalar::Text(text), .. } => units::parse_duration_ns(text).ok(),
            _ => None,
        };
        let durations: Option<Vec<u64>> = items.iter().map(duration).collect();
        let help = "write durations with units in brackets, as in [\"50 us\", \"80 us\"]";
        durations.or_else(|| self.wrong(entry, "a list of durations", help))
    }

    /// A size such as `"4 KiB"` in bytes; a bare whole number is bytes.
    pub fn bytes(&self, key: &str) -> Option<u64> {
        self.quantity(key, "a size", units::parse_bytes, units::BYTES_HELP)
    }

    /// A transfer rate such as `"0.625 ns/B"` or `"1600 MB/s"`.
    pub fn rate(&self, key: &str) -> Option<Rate> {
        self.quantity(key, "a transfer rate", units::parse_rate, units::RATE_HELP)
    }

    /// A threshold such as `"4 blocks"`, `"256 pages"` or `"5% of spare"`.
    pub fn threshold(&self, key: &str) -> Option<Threshold> {
        self.quantity(key, "a threshold", units::parse_threshold, units::THRESHOLD_HELP)
    }

    /// A share such as `"5%"`, `"0.05"` or `0.05`, kept exact.
    pub fn share(&self, key: &str) -> Option<Share> {
        self.quantity(key, "a share", units::parse_share, units::SHARE_HELP)
    }

    /// A share as the nearest number: `0.7` or `"70%"`.
    pub fn part(&self, key: &str, range: RangeInclusive<f64>) -> Option<f64> {
        if !self.is_text(key) {
            return self.f64(key, range);
        }
        let entry = self.entry(key)?;
        let allowed = allowed(&range, &f64::MAX);
        match percentage(&entry.node) {
            Some(part) if range.contains(&part) => Some(part),
            Some(_) => self.out_of_range(entry, &allowed),
            None => {
                self.wrong(entry, "a share", &format!("write a number {allowed}, or as in \"70%\""))
            }
        }
    }

    /// A list of shares, each as [`Reader::part`] reads it.
    pub fn parts(&self, key: &str) -> Option<Vec<f64>> {
        let help = "write shares in brackets, as in [0.5, 0.5] or [\"50%\", \"50%\"]";
        self.list(key, "a list of shares", help, |item| number(item).or_else(|| percentage(item)))
    }

    /// Whether the value under `key` is text with `%` at its end, and so a share and not a size.
    pub fn is_percentage(&self, key: &str) -> bool {
        let text = |node: &Node| match node {
            Node::Leaf { value: Scalar::Text(text), .. } => text.trim_end().ends_with('%'),
            _ => false,
        };
        self.entry(key).is_some_and(|entry| text(&entry.node))
    }

    fn quantity<T>(
        &self,
        key: &str,
        what: &str,
        parse: fn(&str) -> Result<T, String>,
        help: &str,
    ) -> Option<T> {
        let entry = self.entry(key)?;
        // Bare numbers go through the same parser, which decides where a unit may be missing.
        let parsed = match &entry.node {
            Node::Leaf { value: Scalar::Text(text), .. } => parse(text),
            Node::Leaf { value: Scalar::Integer { value: Some(number), .. }, .. } => {
                parse(&number.to_string())
            }
            Node::Leaf { value: Scalar::Float { written }, .. } => parse(written),
            _ => Err(help.to_string()),
        };
        match parsed {
            Ok(value) => Some(value),
            Err(help) => self.wrong(entry, what, &help),
        }
    }
}

/// The share of a text such as `70%`.
fn percentage(node: &Node) -> Option<f64> {
    let Node::Leaf { value: Scalar::Text(text), .. } = node else { return None };
    let (number, unit) = split_unit(text);
    let number = Decimal::parse(number).ok()?;
    if unit == "%" { number.hundredth() } else { None }
}
