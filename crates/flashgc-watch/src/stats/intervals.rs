//! Confidence intervals from batch means.
//!
//! A run is cut into [`GROUPS`] parts of equal length, whose means are nearly independent if the
//! parts are long (Schmeiser, "Batch size effects in the analysis of simulation output", Operations
//! Research 30, 1982: 10 to 30 batches, however long the run). What correlation is left is
//! estimated between neighbours and makes the interval wider, as for an autoregressive process of
//! the first order.

/// Parts of a run whose means are taken.
pub const GROUPS: u64 = 16;
/// Correlation of neighbours at most; a run whose parts agree more than this is one slow drift.
const CORRELATION_MAX: f64 = 0.9;

/// Half the width of the interval in which the mean of these parts lies with this confidence.
/// `None` with fewer than three parts.
pub fn half_width(parts: &[f64], confidence: f64) -> Option<f64> {
    let count = parts.len() as f64;
    if parts.len() < 3 {
        return None;
    }
    let mean = parts.iter().sum::<f64>() / count;
    let squares: f64 = parts.iter().map(|part| (part - mean) * (part - mean)).sum();
    let products: f64 = parts.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum();
    let correlation =
        if squares > 0.0 { (products / squares).clamp(0.0, CORRELATION_MAX) } else { 0.0 };
    let wider = (1.0 + correlation) / (1.0 - correlation);
    let variance = squares / (count - 1.0) / count * wider;
    Some(student(confidence, parts.len() as u32 - 1) * libm::sqrt(variance))
}

/// The quantile of the normal distribution that leaves half of `1 - confidence` above it.
pub fn normal(confidence: f64) -> f64 {
    let outside = 1.0 - confidence.clamp(0.0, 1.0 - 1e-12);
    let (mut low, mut high) = (0.0, 8.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if libm::erfc(middle / core::f64::consts::SQRT_2) > outside {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The quantile of Student's distribution: Fisher's expansion around the normal one, which is right
/// to three digits from 8 degrees of freedom on.
fn student(confidence: f64, degrees: u32) -> f64 {
    let (z, n) = (normal(confidence), f64::from(degrees));
    let (z3, z5, z7) = (z * z * z, z * z * z * z * z, z * z * z * z * z * z * z);
    z + (z3 + z) / (4.0 * n)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n)
}

#[cfg(test)]
mod tests {
    use super::{half_width, normal, student};

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (confidence, z) in [(0.95, 1.959_964), (0.99, 2.575_829), (0.5, 0.674_490)] {
            assert!((normal(confidence) - z).abs() < 1e-5, "{confidence}: {}", normal(confidence));
        }
        for (confidence, degrees, t) in [(0.95, 15, 2.1314), (0.99, 15, 2.9467), (0.95, 8, 2.306)] {
            let found = student(confidence, degrees);
            assert!((found - t).abs() < 2e-3, "{confidence} {degrees}: {found}");
        }
    }

    #[test]
    fn neighbours_that_agree_make_the_interval_wider() {
        let mixed: Vec<f64> = (0..16).map(|at| f64::from(at * 7 % 16)).collect();
        let rising: Vec<f64> = (0..16).map(f64::from).collect();
        let [mixed, rising] = [mixed, rising].map(|parts| half_width(&parts, 0.95).unwrap());
        assert!(rising > 2.0 * mixed, "{mixed} {rising}");
        assert_eq!(half_width(&[1.0; 16], 0.95), Some(0.0));
        assert_eq!(half_width(&[1.0, 2.0], 0.95), None);
    }
}
