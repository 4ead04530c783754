//! Quantities with units, read exactly.
//!
//! Numbers are plain decimals such as `25`, `1_000` or `0.625`; there is no exponent and no
//! rounding. Each error names the wrong value and then the value to write instead.

use crate::decimal::{Decimal, reduce, split_unit, too_large};

pub(crate) const DURATION_HELP: &str =
    "write a number and a unit: ns, us, ms, s, min or h, as in \"25 us\"";
pub(crate) const BYTES_HELP: &str =
    "write a number and a unit: B, KiB, MiB, GiB, TiB, KB, MB, GB or TB, as in \"4 KiB\"";
pub(crate) const RATE_HELP: &str =
    "write a time per byte or bytes per second, as in \"0.625 ns/B\" or \"1600 MB/s\"";
pub(crate) const THRESHOLD_HELP: &str =
    "write blocks, pages or a share, as in \"4 blocks\", \"256 pages\" or \"5% of spare\"";
pub(crate) const SHARE_HELP: &str = "write a share from 0 to 1, as in \"5%\" or \"0.05\"";

const DURATIONS_NS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

const SIZES_BYTES: [(&str, u64); 10] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

const NS_PER_S: u64 = 1_000_000_000;

/// The time a bus takes per byte, kept as an exact ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    numerator: u64,
    denominator: u64,
}

impl Rate {
    /// The time for `bytes`, rounded to the nearest nanosecond; `u64::MAX` where it does not fit.
    pub fn ns_for(&self, bytes: u64) -> u64 {
        let denominator = u128::from(self.denominator);
        let product = u128::from(bytes) * u128::from(self.numerator);
        u64::try_from((product + denominator / 2) / denominator).unwrap_or(u64::MAX)
    }

    /// Whether transfers take no time at all.
    pub fn is_zero(&self) -> bool {
        self.numerator == 0
    }

    /// Nanoseconds per byte as numerator and denominator in lowest terms.
    pub fn ns_per_byte(&self) -> (u64, u64) {
        (self.numerator, self.denominator)
    }
}

/// An exact share from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The numerator, in lowest terms.
    pub numerator: u64,
    /// The denominator, in lowest terms; never 0.
    pub denominator: u64,
}

impl Share {
    /// The share of `total`, rounded down: 5% of 2048 is 102.
    pub fn of(&self, total: u64) -> u64 {
        let product = u128::from(total) * u128::from(self.numerator);
        // The share is at most 1, so the result is at most `total`.
        u64::try_from(product / u128::from(self.denominator)).unwrap_or(total)
    }

    /// The least whole number that is at least this share of `total`: 70% of 128 is 90.
    pub fn at_least(&self, total: u64) -> u64 {
        let product = u128::from(total) * u128::from(self.numerator);
        u64::try_from(product.div_ceil(u128::from(self.denominator))).unwrap_or(total)
    }
}

/// The base of a share in a [`Threshold`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareOf {
    /// All blocks there are.
    Physical,
    /// All pages there are.
    Pages,
    /// The blocks in excess of the host's.
    Spare,
    /// The soft threshold of the same trigger.
    Soft,
}

/// A threshold of free space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// A number of blocks.
    Blocks(u64),
    /// A number of pages.
    Pages(u64),
    /// A share of an amount.
    Share {
        /// The share.
        share: Share,
        /// The base of the share.
        of: ShareOf,
    },
}

fn with_help<T>(result: Result<T, String>, help: &str) -> Result<T, String> {
    result.map_err(|reason| format!("{reason}; {help}"))
}

/// The factor of `unit`.
fn factor(unit: &str, table: &[(&str, u64)]) -> Result<u64, String> {
    let known = table.iter().find(|(name, _)| *name == unit);
    known.map(|(_, factor)| *factor).ok_or_else(|| unknown_unit(unit, table))
}

/// The reason why `unit` is not accepted; names a unit that differs only in case.
fn unknown_unit(unit: &str, table: &[(&str, u64)]) -> String {
    if unit.is_empty() {
        return "the unit is missing".to_string();
    }
    let short: String = unit.chars().take(20).collect();
    let short = short.escape_debug();
    match table.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) {
        Some((name, _)) => format!("unknown unit `{short}`, did you mean `{name}`?"),
        None => format!("unknown unit `{short}`"),
    }
}

/// Reads a duration such as `50 us` or `1.5 ms` as nanoseconds.
pub fn parse_duration_ns(text: &str) -> Result<u64, String> {
    let read = || {
        let (number, unit) = split_unit(text);
        let number = Decimal::parse(number)?;
        number.times(factor(unit, &DURATIONS_NS)?, "nanoseconds")
    };
    with_help(read(), DURATION_HELP)
}

/// Reads a size such as `4 KiB` or `1 MB` (10^6) as bytes; a bare number is bytes.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let read = || {
        let (number, unit) = split_unit(text);
        let number = Decimal::parse(number)?;
        let unit = if unit.is_empty() { "B" } else { unit };
        number.times(factor(unit, &SIZES_BYTES)?, "bytes")
    };
    with_help(read(), BYTES_HELP)
}

/// Reads a transfer rate such as `25 ns/B` or `1600 MB/s`.
pub fn parse_rate(text: &str) -> Result<Rate, String> {
    with_help(rate(text), RATE_HELP)
}

fn rate(text: &str) -> Result<Rate, String> {
    let (number, unit) = split_unit(text);
    let (digits, scale) = Decimal::parse(number)?.ratio();
    let (above, below) = unit.split_once('/').ok_or_else(|| "the unit needs a `/`".to_string())?;
    let (above, below) = (above.trim_end(), below.trim_start());
    let (numerator, denominator) = if below == "s" {
        let bytes_per_s =
            digits.checked_mul(factor(above, &SIZES_BYTES)?.into()).ok_or_else(too_large)?;
        if bytes_per_s == 0 {
            return Err(
                "a rate of 0 bytes per second is not possible; \"0 ns/B\" means no bus time"
                    .to_string(),
            );
        }
        (scale.checked_mul(NS_PER_S.into()), Some(bytes_per_s))
    } else {
        let time_ns = u128::from(factor(above, &DURATIONS_NS)?);
        let bytes = u128::from(factor(below, &SIZES_BYTES)?);
        (digits.checked_mul(time_ns), scale.checked_mul(bytes))
    };
    let numerator = numerator.ok_or_else(too_large)?;
    let (numerator, denominator) = reduce(numerator, denominator.ok_or_else(too_large)?)?;
    Ok(Rate { numerator, denominator })
}

/// A count with its noun, such as `1 page` and `2 pages`.
pub fn counted(count: impl Into<u64>, one: &str) -> String {
    match count.into() {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    }
}

/// Reads a threshold such as `4 blocks`, `256 pages`, `5%` or `5% of spare`.
pub fn parse_threshold(text: &str) -> Result<Threshold, String> {
    with_help(threshold(text), THRESHOLD_HELP)
}

fn threshold(text: &str) -> Result<Threshold, String> {
    let (number, unit) = split_unit(text);
    let count = Decimal::parse(number)?;
    if let Some(of) = unit.strip_prefix('%') {
        let words: Vec<&str> = of.split_whitespace().collect();
        let of = match words[..] {
            [] | ["of", "physical"] => ShareOf::Physical,
            ["of", "pages"] => ShareOf::Pages,
            ["of", "spare"] => ShareOf::Spare,
            ["of", "soft"] => ShareOf::Soft,
            _ => {
                return Err("a share must be `of physical`, `of pages`, `of spare` or `of soft`"
                    .to_string());
            }
        };
        return Ok(Threshold::Share { share: share_of(count, 100)?, of });
    }
    match unit {
        "block" | "blocks" => Ok(Threshold::Blocks(count.times(1, "blocks")?)),
        "page" | "pages" => Ok(Threshold::Pages(count.times(1, "pages")?)),
        _ => Err(unknown_unit(unit, &[("blocks", 1), ("pages", 1)])),
    }
}

/// Reads a share such as `5%` or `0.05`, exactly.
pub fn parse_share(text: &str) -> Result<Share, String> {
    let read = || {
        let (number, unit) = split_unit(text);
        let number = Decimal::parse(number)?;
        match unit {
            "" => share_of(number, 1),
            _ => share_of(number, factor(unit, &[("%", 100)])?),
        }
    };
    with_help(read(), SHARE_HELP)
}

fn share_of(number: Decimal, whole: u64) -> Result<Share, String> {
    let (digits, scale) = number.ratio();
    let whole = scale.checked_mul(whole.into()).ok_or_else(too_large)?;
    if digits > whole {
        return Err("a share must be at most the whole (100%)".to_string());
    }
    let (numerator, denominator) = reduce(digits, whole)?;
    Ok(Share { numerator, denominator })
}
