//! The idle trigger, as the plan has resolved it: collect before space is needed, while the host is
//! idle (paper preemptible-gc, section V-A and Fig. 15;
//! docs/schemes/idle.md#the-wait-before-idle-collection).

use super::Space;
use serde::Serialize;

/// The assumed mean time of a collection before the first one, in ns.
const MEAN_AT_START_NS: u64 = 5_000_000;
/// The weight of the last collection in the moving mean is one divided by this number.
const WEIGHT: i64 = 8;

/// The start and the end of collections in idle units.
#[derive(Clone, Debug, Serialize)]
pub struct Idle {
    /// For how long no request is outstanding before the drive counts as idle.
    pub wait: Wait,
    /// The proactive threshold: planes with less free space than this are collected.
    pub threshold: Space,
}

/// The wait for a request after which the drive counts as idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// The mean time of a collection, so that the lost time is at most twice that of the best
    /// choice (2-competitive: Douglis et al. 1994, as for disks that spin down).
    MeanCollection,
    /// A fixed time, in ns.
    Ns(u64),
}

/// A moving mean of the time of one collection.
#[derive(Clone, Copy, Debug)]
pub struct MeanCollection {
    mean_ns: u64,
}

impl Default for MeanCollection {
    fn default() -> Self {
        MeanCollection { mean_ns: MEAN_AT_START_NS }
    }
}

impl MeanCollection {
    /// Adds the duration of a collection.
    pub fn add(&mut self, ns: u64) {
        // Times fit: a run ends before 2^62 ns.
        let step = (ns as i64 - self.mean_ns as i64) / WEIGHT;
        self.mean_ns = self.mean_ns.saturating_add_signed(step);
    }

    /// The mean, in ns.
    pub fn ns(self) -> u64 {
        self.mean_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_moves_an_eighth_of_the_way() {
        let mut mean = MeanCollection::default();
        assert_eq!(mean.ns(), 5_000_000);
        mean.add(13_000_000);
        assert_eq!(mean.ns(), 6_000_000);
        mean.add(2_000_000);
        assert_eq!(mean.ns(), 5_500_000);
        for _ in 0..200 {
            mean.add(1_500_000);
        }
        // Whole ns truncate towards the mean: it stops within the weight.
        assert!(mean.ns().abs_diff(1_500_000) < 8);
    }
}
