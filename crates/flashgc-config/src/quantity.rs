//! Getters for quantities with units.

use crate::reader::Reader;
use crate::tree::{Node, Scalar};
use crate::units::{self, Rate, Share, Threshold};

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

    fn quantity<T>(
        &self,
        key: &str,
        what: &str,
        parse: fn(&str) -> Result<T, String>,
        help: &str,
    ) -> Option<T> {
        let entry = self.entry(key)?;
        // Bare numbers go through the same parser, which knows where a unit may be missing.
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
