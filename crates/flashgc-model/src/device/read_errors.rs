//! Raw bit errors of a read: how many times a page is read until its ECC corrects it.
//!
//! The raw bit error rate (RBER) grows with wear and retention by the power law of Kim, Choi and
//! Min (FAST '19), and pages of one age vary around it log-normally. The variation belongs to the
//! page and the erase before it, and not to the read: each read of the same data needs as many
//! retries, in whatever order reads come.

use crate::rng::{Random, mixed, unit_of};
use serde::Serialize;

/// The most retries before soft decoding.
pub const RETRIES_MAX: u8 = 64;
/// Numbers of erases of which the rates are calculated in advance.
const KNOWN: u32 = 4096;

/// The law of the raw bit error rate: base + wear c^k + retention c^m t^n, after c cycles and t
/// days.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErrorLaw {
    /// The rate of a page that is new on flash that is new.
    pub base: f64,
    /// The factor of wear.
    pub wear: f64,
    /// The exponent k of cycles.
    pub wear_exponent: f64,
    /// The factor of retention.
    pub retention: f64,
    /// The exponent m of cycles in it.
    pub retention_wear_exponent: f64,
    /// The exponent n of days.
    pub retention_exponent: f64,
}

impl ErrorLaw {
    /// 72-layer TLC (Kim, Choi and Min, "Design Tradeoffs for SSD Reliability", FAST '19).
    pub const TLC_72_LAYERS: ErrorLaw = ErrorLaw {
        base: 1.48e-3,
        wear: 3.90e-10,
        wear_exponent: 2.05,
        retention: 6.28e-5,
        retention_wear_exponent: 0.14,
        retention_exponent: 0.54,
    };

    /// The rate after this number of cycles and days.
    pub fn rate(&self, cycles: f64, days: f64) -> f64 {
        self.base
            + self.wear * libm::pow(cycles, self.wear_exponent)
            + self.retention
                * libm::pow(cycles, self.retention_wear_exponent)
                * libm::pow(days, self.retention_exponent)
    }
}

/// The rules by which a device reads a page again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadRetry {
    /// Program/erase cycles of each block before the drive was made.
    pub cycles: u32,
    /// The age of the data that is on the drive at the start of the run, in days.
    pub retention_days: f64,
    /// The law of the error rate.
    pub rber: ErrorLaw,
    /// The rate of each page type as a multiple; empty where all are alike.
    pub type_factors: Vec<f64>,
    /// Standard deviation of the logarithm of the rate over pages.
    pub spread: f64,
    /// Raw bit errors in 1 KiB that hard decoding corrects.
    pub ecc_bits: u32,
    /// The error rate of a retry as a share of the rate of the read before it.
    pub retry_factor: f64,
    /// The rate that soft decoding corrects as a multiple of the rate that hard decoding corrects.
    pub soft_gain: f64,
    /// Pages whose data is not corrected in any case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncorrectable: Vec<LostPage>,
    /// Their times.
    #[serde(flatten)]
    pub times: RetryTimes,
}

/// A flash page whose data is not corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LostPage {
    /// The block.
    pub block: u32,
    /// Its number in the block.
    pub page: u32,
    /// The erases of the block before; without them whatever the page holds is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erases: Option<u32>,
}

/// The cost of reading a page again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RetryTimes {
    /// Retries before soft decoding.
    pub retries: u8,
    /// Time until a read is known to be wrong, in ns.
    pub decode_ns: u64,
    /// Reads for the soft information.
    pub soft_reads: u8,
    /// Time of soft decoding, in ns.
    pub soft_decode_ns: u64,
}

impl RetryTimes {
    /// The time that retries add to a read of the array, in ns, and the transfers that they add.
    /// One more than there are retries stands for soft decoding, and more for its failure.
    pub fn added(&self, retries: u8, read_ns: u64) -> (u64, u64) {
        let hard = u64::from(retries.min(self.retries));
        let ns = hard * (self.decode_ns + read_ns);
        if retries <= self.retries {
            return (ns, hard);
        }
        let soft = u64::from(self.soft_reads);
        (ns + self.decode_ns + soft * read_ns + self.soft_decode_ns, hard + soft)
    }
}

/// The retries of each page, by its wear and age.
#[derive(Clone, Debug)]
pub struct ReadErrors {
    rules: ReadRetry,
    /// By number of erases, for the first of these: the logarithm of the error rate as a multiple
    /// of the correctable rate, for new and for old data.
    known: Vec<[f64; 2]>,
    ln_types: Vec<f64>,
    /// The reduction of that logarithm by a retry, and the additional margin of soft decoding.
    step: f64,
    soft: f64,
    key: u64,
    pages_per_block: u32,
}

impl ReadErrors {
    /// Under these rules and this seed, for blocks of this number of flash pages, none of which was
    /// erased more often.
    pub fn new(rules: &ReadRetry, seed: u64, erases_max: u32, pages_per_block: u32) -> Self {
        let mut errors = ReadErrors {
            known: Vec::new(),
            ln_types: rules.type_factors.iter().map(|&factor| libm::log(factor)).collect(),
            step: -libm::log(rules.retry_factor),
            soft: libm::log(rules.soft_gain),
            key: Random::named(seed, "read errors").bits(),
            pages_per_block,
            rules: rules.clone(),
        };
        let known = erases_max.saturating_add(64).min(KNOWN);
        errors.known = (0..known).map(|erases| errors.excess_of(erases)).collect();
        errors
    }

    fn excess_of(&self, erases: u32) -> [f64; 2] {
        let corrected = f64::from(self.rules.ecc_bits) / 8192.0;
        let cycles = f64::from(self.rules.cycles) + f64::from(erases);
        let of = |days| libm::log(self.rules.rber.rate(cycles, days) / corrected);
        [of(0.0), of(self.rules.retention_days)]
    }

    /// The retries of a flash page: their number up to the most, then one more for soft decoding,
    /// and two for data that it does not correct. `place`, the place in the word line, gives the
    /// type of the page.
    pub fn retries(&self, page: u32, place: u32, erases: u32, is_old: bool) -> u8 {
        if self.is_given(page, erases) {
            return self.most() + 1;
        }
        let known = self.known.get(erases as usize).copied();
        let mut excess = known.unwrap_or_else(|| self.excess_of(erases))[usize::from(is_old)];
        if !self.ln_types.is_empty() {
            excess += self.ln_types[place as usize % self.ln_types.len()];
        }
        if self.rules.spread > 0.0 {
            excess += self.rules.spread * normal(unit_of(self.bits(page, erases)));
        }
        if excess <= 0.0 {
            return 0;
        }
        let most = self.rules.times.retries;
        let retries = libm::ceil(excess / self.step);
        if retries <= f64::from(most) {
            return retries as u8;
        }
        let left = excess - f64::from(most) * self.step;
        most + if left <= self.soft { 1 } else { 2 }
    }

    fn is_given(&self, page: u32, erases: u32) -> bool {
        let is_this = |lost: &LostPage| {
            lost.block == page / self.pages_per_block
                && lost.page == page % self.pages_per_block
                && lost.erases.is_none_or(|before| before == erases)
        };
        self.rules.uncorrectable.iter().any(is_this)
    }

    /// The most retries, soft decoding included, that correct data.
    pub fn most(&self) -> u8 {
        self.rules.times.retries + 1
    }

    /// The draw of a page after an erase.
    fn bits(&self, page: u32, erases: u32) -> u64 {
        mixed(self.key ^ (u64::from(page) << 32 | u64::from(erases)))
    }
}

/// The standard normal variate that a share of all lies below (P. J. Acklam's rational
/// approximation; its error is below 1.2e-9 of the value).
fn normal(share: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    const TAIL: f64 = 0.02425;
    let over = |factors: &[f64], x: f64| factors.iter().fold(0.0, |sum, factor| sum * x + factor);
    // The draw has 53 bits: the outermost is half of one away from the end.
    let tail = share.min(1.0 - share).max(0.5 / (1u64 << 53) as f64);
    if tail >= TAIL {
        let q = share - 0.5;
        return over(&A, q * q) * q / over(&B, q * q);
    }
    let q = libm::sqrt(-2.0 * libm::log(tail));
    let below = over(&C, q) / over(&D, q);
    if share < 0.5 { below } else { -below }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variates_are_those_of_the_tables() {
        for (share, variate) in [
            (0.5, 0.0),
            (0.841_344_746_068_543, 1.0),
            (0.022_750_131_948_179, -2.0),
            (0.998_650_101_968_370, 3.0),
            (1e-9, -5.997_807_015_008),
        ] {
            assert!((normal(share) - variate).abs() < 1e-7, "{share}: {}", normal(share));
        }
        assert!(normal(0.0) < -8.0 && normal(1.0) > 8.0);
    }

    #[test]
    fn the_law_gives_the_published_rates() {
        let law = ErrorLaw::TLC_72_LAYERS;
        // 3,000 cycles: 1.48e-3 of the base and 5.2e-3 of wear; a year adds 4.7e-3.
        assert!((law.rate(0.0, 365.0) - 1.48e-3).abs() < 1e-9);
        assert!((law.rate(3000.0, 0.0) - 6.72e-3).abs() < 5e-5, "{}", law.rate(3000.0, 0.0));
        assert!((law.rate(3000.0, 365.0) - 1.138e-2).abs() < 5e-5, "{}", law.rate(3000.0, 365.0));
    }
}
