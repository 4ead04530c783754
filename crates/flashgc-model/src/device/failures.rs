//! Program and erase failures: which operations of which blocks fail.
//!
//! An outcome belongs to the block, its erases and the page, and not to the order of operations: a
//! run without a clock, a timed one and one that is continued draw the same.

use crate::rng::{Random, mixed, unit_of};
use serde::Serialize;

/// The rules by which programs and erases fail.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureRules {
    /// The share of programs that fail on new flash.
    pub program: f64,
    /// The share of erases that fail on new flash.
    pub erase: f64,
    /// Number of erases of a block after which both shares have doubled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubling_cycles: Option<u32>,
    /// Operations that fail in any case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<FailureAt>,
}

/// An operation that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FailureAt {
    /// The block.
    pub block: u32,
    /// The number of its earlier erases.
    pub erases: u32,
    /// The program that fails, by its number in the block; without one the next erase does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<u32>,
}

impl FailureRules {
    /// Whether a program can fail.
    pub fn programs_fail(&self) -> bool {
        self.program > 0.0 || self.at.iter().any(|at| at.program.is_some())
    }
}

/// The failures of a device with a scheme.
#[derive(Clone, Debug)]
pub struct FailurePlan {
    /// The rules by which operations fail.
    pub rules: FailureRules,
    /// Blocks of a plane that collection can do without.
    pub spare_blocks: u32,
    /// Erased blocks of a plane that collection needs.
    pub least_blocks: u32,
    /// Erased pages of a plane that collection needs, where these are counted.
    pub least_pages: u32,
}

/// The outcome of every program and erase.
#[derive(Clone, Debug)]
pub struct Failures {
    rules: FailureRules,
    keys: [u64; 2],
}

impl Failures {
    /// Under these rules and this seed.
    pub fn new(rules: &FailureRules, seed: u64) -> Self {
        let keys = ["program failures", "erase failures"];
        Failures { keys: keys.map(|key| Random::named(seed, key).bits()), rules: rules.clone() }
    }

    /// Whether this program of a block fails, which was erased as often.
    pub fn program_fails(&self, block: u32, program: u32, erases: u32) -> bool {
        let place = u64::from(block) << 32 | u64::from(program);
        self.is_drawn(self.rules.program, self.keys[0] ^ mixed(place), erases)
            || self.is_given(block, erases, Some(program))
    }

    /// Whether the next erase of a block fails, which was erased as often.
    pub fn erase_fails(&self, block: u32, erases: u32) -> bool {
        self.is_drawn(self.rules.erase, self.keys[1] ^ mixed(block.into()), erases)
            || self.is_given(block, erases, None)
    }

    fn is_drawn(&self, new: f64, key: u64, erases: u32) -> bool {
        if new == 0.0 {
            return false;
        }
        let worn = |cycles| libm::exp2(f64::from(erases) / f64::from(cycles));
        let share = new * self.rules.doubling_cycles.map_or(1.0, worn);
        unit_of(mixed(key ^ u64::from(erases))) < share
    }

    fn is_given(&self, block: u32, erases: u32, program: Option<u32>) -> bool {
        self.rules.at.contains(&FailureAt { block, erases, program })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_met_and_double_with_wear() {
        let rules =
            FailureRules { program: 0.01, erase: 0.02, doubling_cycles: Some(10), at: Vec::new() };
        let failures = Failures::new(&rules, 7);
        let programs = |erases| {
            let fails = |page: &u32| failures.program_fails(page / 256, page % 256, erases);
            (0..100_000).filter(fails).count()
        };
        let erases = |erases| (0..100_000).filter(|&b| failures.erase_fails(b, erases)).count();
        // Four standard deviations of the binomial distribution.
        let near = |found: usize, share: f64| {
            let expected = 100_000.0 * share;
            (found as f64 - expected).abs() < 4.0 * libm::sqrt(expected)
        };
        assert!(near(programs(0), 0.01) && near(erases(0), 0.02));
        assert!(near(programs(20), 0.04) && near(erases(10), 0.04));
    }

    #[test]
    fn given_operations_fail_once() {
        let at = vec![
            FailureAt { block: 3, erases: 2, program: None },
            FailureAt { block: 4, erases: 0, program: Some(9) },
        ];
        let rules = FailureRules { program: 0.0, erase: 0.0, doubling_cycles: None, at };
        let failures = Failures::new(&rules, 1);
        assert!(failures.erase_fails(3, 2) && !failures.erase_fails(3, 1));
        assert!(failures.program_fails(4, 9, 0) && !failures.program_fails(4, 9, 1));
        assert!(!failures.erase_fails(4, 0) && !failures.program_fails(3, 0, 2));
    }
}
