//! Values with weights, and ages.

use flashgc_model::rng::Random;
use serde::Serialize;

/// Values with their cumulated shares.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Mixture {
    values: Vec<u64>,
    up_to: Vec<f64>,
}

/// Cumulated shares of weights, the last of which is 1.
fn cumulated(weights: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let total: f64 = weights.clone().sum();
    let mut sum = 0.0;
    weights
        .map(|weight| {
            sum += weight / total;
            sum
        })
        .collect()
}

/// The index of a number in [0, 1) among cumulated shares.
#[inline]
fn place(up_to: &[f64], drawn: f64) -> usize {
    up_to.partition_point(|sum| *sum <= drawn).min(up_to.len().saturating_sub(1))
}

impl Mixture {
    /// A mixture of values with weights; `None` without a weight above 0.
    pub fn new(weighted: &[(u64, f64)]) -> Option<Self> {
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        (total > 0.0).then(|| Mixture {
            values: weighted.iter().map(|(value, _)| *value).collect(),
            up_to: cumulated(weighted.iter().map(|(_, weight)| *weight)),
        })
    }

    /// Always the same.
    pub fn only(value: u64) -> Self {
        Mixture { values: vec![value], up_to: vec![1.0] }
    }

    /// One of the values.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        match self.values[..] {
            [] => 0,
            [only] => only,
            _ => self.values[place(&self.up_to, random.unit())],
        }
    }

    /// One of the values as a time in ns, anything from half of it to one and a half times it.
    #[inline]
    pub fn draw_ns(&self, random: &mut Random) -> u64 {
        let value = self.draw(random) as f64;
        (value * (0.5 + random.unit())) as u64
    }
}

/// The ages of places that are written again: ranges of their rank among all, from 0 (the newest)
/// to 1 (the oldest).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ages {
    ends: Vec<f64>,
    up_to: Vec<f64>,
}

impl Ages {
    /// Ages by the upper ends of ranges, rising, with weights; each range begins where the one
    /// before ends. `None` without a weight above 0.
    pub fn new(weighted: &[(f64, f64)]) -> Option<Self> {
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        (total > 0.0).then(|| Ages {
            ends: weighted.iter().map(|(end, _)| *end).collect(),
            up_to: cumulated(weighted.iter().map(|(_, weight)| *weight)),
        })
    }

    /// The rank among `places`, from 0 for the newest. The range that ends with 1 is the oldest.
    #[inline]
    pub fn draw(&self, places: u32, random: &mut Random) -> u32 {
        let oldest = places.saturating_sub(1);
        let at = place(&self.up_to, random.unit());
        let end = self.ends[at];
        if end >= 1.0 {
            return oldest;
        }
        let begin = if at == 0 { 0.0 } else { self.ends[at - 1] };
        let age = begin + (end - begin) * random.unit();
        (libm::round(age * f64::from(oldest)) as u32).min(oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_with_their_weights() {
        let mixture = Mixture::new(&[(1, 2.0), (5, 6.0), (9, 0.0)]).unwrap();
        let mut random = Random::named(1, "test");
        let drawn: Vec<u64> = (0..40_000).map(|_| mixture.draw(&mut random)).collect();
        let fives = drawn.iter().filter(|&&value| value == 5).count();
        assert!((29_500..30_500).contains(&fives), "{fives}");
        assert!(!drawn.contains(&9));
        assert_eq!(Mixture::new(&[(1, 0.0)]), None);
    }

    #[test]
    fn times_vary_and_keep_their_mean() {
        let mut random = Random::named(1, "test");
        let times: Vec<u64> =
            (0..40_000).map(|_| Mixture::only(1000).draw_ns(&mut random)).collect();
        let mean = times.iter().sum::<u64>() as f64 / 40_000.0;
        assert!((990.0..1010.0).contains(&mean), "{mean}");
        assert!(times.iter().all(|time| (500..1500).contains(time)));
    }

    #[test]
    fn the_range_that_ends_with_one_is_the_oldest() {
        let ages = Ages::new(&[(0.1, 1.0), (0.5, 0.0), (1.0, 1.0)]).unwrap();
        let mut random = Random::named(1, "test");
        let drawn: Vec<u32> = (0..10_000).map(|_| ages.draw(101, &mut random)).collect();
        assert!(drawn.iter().all(|&rank| rank <= 10 || rank == 100));
        let oldest = drawn.iter().filter(|&&rank| rank == 100).count();
        assert!((4_800..5_200).contains(&oldest), "{oldest}");
        assert_eq!(ages.draw(1, &mut random), 0);
    }
}
