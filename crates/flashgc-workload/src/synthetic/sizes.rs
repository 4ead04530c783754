//! The sizes of requests: fixed sizes, mixtures, exponential sizes.

use flashgc_model::rng::Random;
use serde::Serialize;

/// One size of a mixture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// Always the same.
    Fixed {
        /// Bytes.
        bytes: u64,
        /// Weight in the mixture.
        weight: f64,
    },
    /// Exponential, rounded up to a multiple of the alignment.
    Exponential {
        /// Mean before rounding, in bytes.
        mean_bytes: u64,
        /// Weight in the mixture.
        weight: f64,
    },
}

impl Size {
    #[inline]
    fn weight(&self) -> f64 {
        match *self {
            Size::Fixed { weight, .. } | Size::Exponential { weight, .. } => weight,
        }
    }

    /// The size, or its mean, in bytes.
    pub fn mean_bytes(&self) -> u64 {
        match *self {
            Size::Fixed { bytes, .. } => bytes,
            Size::Exponential { mean_bytes, .. } => mean_bytes,
        }
    }

    /// Whether every request of this size is whole pages, if it begins with one.
    pub fn is_whole_pages(&self, align_bytes: u64, page_bytes: u64) -> bool {
        let unit = match *self {
            Size::Fixed { bytes, .. } => bytes,
            Size::Exponential { .. } => align_bytes,
        };
        unit.is_multiple_of(page_bytes)
    }
}

/// Draws sizes from a mixture.
#[derive(Clone)]
pub struct Sizes {
    sizes: Vec<Size>,
    weights: f64,
    align_bytes: u64,
}

impl Sizes {
    /// From a mixture of at least one size.
    pub fn new(sizes: &[Size], align_bytes: u64) -> Self {
        let weights = sizes.iter().map(Size::weight).sum();
        Sizes { sizes: sizes.to_vec(), weights, align_bytes }
    }

    /// The smallest size; of exponential ones the alignment.
    pub fn smallest_bytes(&self) -> u64 {
        let smallest = |size: &Size| match *size {
            Size::Fixed { bytes, .. } => bytes,
            Size::Exponential { .. } => self.align_bytes,
        };
        self.sizes.iter().map(smallest).min().unwrap_or(self.align_bytes)
    }

    /// The next size of at most this many bytes, as if others were drawn again; the smallest if all
    /// are larger.
    pub fn next_within(&self, most_bytes: u64, random: &mut Random) -> u64 {
        let fits = |size: &Size| match *size {
            Size::Fixed { bytes, .. } => bytes <= most_bytes,
            Size::Exponential { .. } => true,
        };
        if self.sizes.iter().all(fits) {
            return self.next(random).min(most_bytes);
        }
        let sizes: Vec<Size> = self.sizes.iter().copied().filter(fits).collect();
        if sizes.is_empty() {
            return self.smallest_bytes();
        }
        Sizes::new(&sizes, self.align_bytes).next(random).min(most_bytes)
    }

    /// The next size, in bytes.
    #[inline]
    pub fn next(&self, random: &mut Random) -> u64 {
        let chosen = match self.sizes[..] {
            [only] => only,
            _ => {
                let mut left = random.unit() * self.weights;
                let mut sizes = self.sizes.iter();
                *sizes
                    .find(|size| {
                        left -= size.weight();
                        left < 0.0
                    })
                    .unwrap_or(&self.sizes[0])
            }
        };
        match chosen {
            Size::Fixed { bytes, .. } => bytes,
            Size::Exponential { mean_bytes, .. } => {
                let drawn = libm::ceil(random.exponential() * mean_bytes as f64) as u64;
                drawn.max(1).next_multiple_of(self.align_bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_of_many_sizes_has_its_shares() {
        let sizes: Vec<Size> =
            (1..=40).map(|n| Size::Fixed { bytes: n * 512, weight: n as f64 }).collect();
        let (mixture, mut random) = (Sizes::new(&sizes, 512), Random::named(1, "size"));
        let mut counts = [0u32; 41];
        for _ in 0..820_000 {
            counts[(mixture.next(&mut random) / 512) as usize] += 1;
        }
        for (n, &count) in counts.iter().enumerate().skip(1) {
            let expected = 1000.0 * n as f64;
            assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt(), "{n}: {count}");
        }
    }

    /// Rounded up to multiples of a, exponential sizes of mean m have the mean a / (1 - e^(-a/m)).
    #[test]
    fn exponential_sizes_are_rounded_up() {
        let mean = [Size::Exponential { mean_bytes: 30 << 10, weight: 1.0 }];
        let (sizes, mut random) = (Sizes::new(&mean, 4096), Random::named(1, "size"));
        let sum: u64 = (0..400_000).map(|_| sizes.next(&mut random)).sum();
        let expected = 4096.0 / (1.0 - libm::exp(-4.0 / 30.0));
        assert!((sum as f64 / 4e5 / expected - 1.0).abs() < 0.01, "{sum}");
    }
}
