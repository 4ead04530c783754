//! Exact decimal numbers: no rounding on the way from text to integer.

/// `digits / 10^scale`, without trailing zeros after the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: u128,
    scale: u32,
}

/// Enough for any quantity, and few enough that `10^scale` fits in 128 bits.
const DIGITS_MAX: usize = 30;

impl Decimal {
    /// Reads a plain decimal such as `12`, `1_000`, `0.625` or `.5`.
    pub(crate) fn parse(text: &str) -> Result<Decimal, String> {
        if text.is_empty() {
            return Err("the number is missing".to_string());
        }
        if text.starts_with('-') {
            return Err(format!("`{text}` is negative"));
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        // `.5` is 0.5, but `.` is not a number.
        let whole = if whole.is_empty() && !fraction.is_empty() { "0" } else { whole };
        let whole = digits(whole).ok_or_else(|| not_plain(text))?;
        let fraction = digits(fraction).ok_or_else(|| not_plain(text))?;
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        if whole.len() + fraction.len() > DIGITS_MAX {
            return Err(format!("the number has more than {DIGITS_MAX} digits"));
        }
        let all = format!("0{whole}{fraction}");
        let digits = all.parse().map_err(|_| not_plain(text))?;
        let scale = u32::try_from(fraction.len()).map_err(|_| not_plain(text))?;
        Ok(Decimal { digits, scale })
    }

    /// The value times `factor`, if that is a whole number of 64 bits.
    pub(crate) fn times(self, factor: u64, unit: &str) -> Result<u64, String> {
        let (numerator, denominator) = self.ratio();
        let product = numerator.checked_mul(u128::from(factor)).ok_or_else(too_large)?;
        if !product.is_multiple_of(denominator) {
            return Err(format!("it is not a whole number of {unit}"));
        }
        u64::try_from(product / denominator).map_err(|_| too_large())
    }

    /// The nearest number to a hundredth of it.
    pub(crate) fn hundredth(self) -> Option<f64> {
        format!("{}e-{}", self.digits, self.scale + 2).parse().ok()
    }

    /// Numerator and denominator, not reduced.
    pub(crate) fn ratio(self) -> (u128, u128) {
        (self.digits, 10u128.pow(self.scale))
    }
}

pub(crate) fn too_large() -> String {
    "the number is too large".to_string()
}

fn not_plain(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("`{}` is not a plain decimal number", short.escape_debug())
}

/// The digits without single underscores between them; `None` if anything else is there.
fn digits(text: &str) -> Option<String> {
    let tidy =
        text.split('_').all(|run| !run.is_empty() && run.bytes().all(|b| b.is_ascii_digit()));
    tidy.then(|| text.replace('_', ""))
}

/// Splits `4 KiB` into `4` and `KiB`; the space is optional.
pub(crate) fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(_, c)| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | '+')))
        .map_or(text.len(), |(index, _)| index);
    (&text[..end], text[end..].trim())
}

/// The greatest common divisor.
fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The ratio in lowest terms, if both parts fit in 64 bits.
pub(crate) fn reduce(numerator: u128, denominator: u128) -> Result<(u64, u64), String> {
    let divisor = gcd(numerator, denominator).max(1);
    let fits = |part: u128| u64::try_from(part / divisor);
    match (fits(numerator), fits(denominator)) {
        (Ok(numerator), Ok(denominator)) => Ok((numerator, denominator)),
        _ => Err("the number has too many digits".to_string()),
    }
}
