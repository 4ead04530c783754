//! `[device.read_retry]`: raw bit errors, and the cost of reading a page again.

use super::timing::at_most_longest;
use crate::block_list::{Listed, UNCORRECTABLE};
use flashgc_config::Reader;
use flashgc_config::units::counted;
use flashgc_model::device::page_times::TYPES_MAX;
use flashgc_model::device::read_errors::RETRIES_MAX;
use flashgc_model::device::{ErrorLaw, LostPage, ReadRetry, RetryTimes};

/// Reads the table, if there is one. Errors are noted; `Some(None)` where reads have no errors.
pub fn read(device: &Reader<'_>, pages_per_block: Option<u32>) -> Option<Option<ReadRetry>> {
    if !device.has("read_retry") {
        return Some(None);
    }
    let table = device.table("read_retry");
    let help = "program/erase cycles of each block before the run, as in `cycles = 1500`";
    let cycles = table.required("cycles", table.u32("cycles", 0..=1_000_000), help);
    let help = "age of the data on the drive at the start, as in `retention_days = 90`";
    let days = table.f64("retention_days", 0.0..=10_000.0);
    let days = table.required("retention_days", days, help);
    let or = |key, range, standard: f64| given_or(&table, key, table.f64(key, range), standard);
    let spread = or("spread", 0.0..=3.0, 0.3);
    let retry_factor =
        given_or(&table, "retry_factor", table.part("retry_factor", 0.01..=0.99), 0.7);
    let soft_gain = or("soft_gain", 1.0..=100.0, 2.0);
    let ecc_bits = given_or(&table, "ecc_bits", table.u32("ecc_bits", 1..=4096), 72);
    let law = law(&table.table("rber"));
    let type_factors = type_factors(&table, pages_per_block);
    let times = times(&table);
    let lost = UNCORRECTABLE.read(&table);
    table.finish();
    let page = |Listed { block, part, erases }| Some(LostPage { block, page: part?, erases });
    Some(Some(ReadRetry {
        cycles: cycles?,
        retention_days: days?,
        rber: law?,
        type_factors: type_factors?,
        spread: spread?,
        ecc_bits: ecc_bits?,
        retry_factor: retry_factor?,
        soft_gain: soft_gain?,
        uncorrectable: lost?.into_iter().map(page).collect::<Option<_>>()?,
        times: times?,
    }))
}

/// The value of a key, or this one where it is not given; `None` where it was wrong.
fn given_or<T>(table: &Reader<'_>, key: &str, value: Option<T>, standard: T) -> Option<T> {
    if table.has(key) { value } else { Some(standard) }
}

fn law(table: &Reader<'_>) -> Option<ErrorLaw> {
    let known = ErrorLaw::TLC_72_LAYERS;
    let or = |key, range, standard: f64| given_or(table, key, table.f64(key, range), standard);
    let law = [
        or("base", 1e-12..=0.5, known.base),
        or("wear", 0.0..=1.0, known.wear),
        or("wear_exponent", 0.0..=10.0, known.wear_exponent),
        or("retention", 0.0..=1.0, known.retention),
        or("retention_wear_exponent", 0.0..=10.0, known.retention_wear_exponent),
        or("retention_exponent", 0.0..=10.0, known.retention_exponent),
    ];
    table.finish();
    let [base, wear, wear_exponent, retention, retention_wear_exponent, retention_exponent] = law;
    Some(ErrorLaw {
        base: base?,
        wear: wear?,
        wear_exponent: wear_exponent?,
        retention: retention?,
        retention_wear_exponent: retention_wear_exponent?,
        retention_exponent: retention_exponent?,
    })
}

/// The error rate of each page type as a multiple.
fn type_factors(table: &Reader<'_>, pages_per_block: Option<u32>) -> Option<Vec<f64>> {
    if !table.has("type_factors") {
        return Some(Vec::new());
    }
    let factors = table.f64s("type_factors")?;
    let is_in_range = factors.iter().all(|factor| (0.001..=1000.0).contains(factor));
    if factors.is_empty() || factors.len() > TYPES_MAX || !is_in_range {
        let message = format!(
            "type_factors must name 1 to {TYPES_MAX} factors from 0.001 to 1000, got {factors:?}"
        );
        table.error("type_factors", message, "write for example `type_factors = [0.5, 1.0, 1.5]`");
        return None;
    }
    let pages = pages_per_block?;
    if !pages.is_multiple_of(factors.len() as u32) {
        let message = format!(
            "type_factors names {}, and device.pages_per_block must be a multiple of that, got \
             {pages}",
            counted(factors.len() as u64, "page type")
        );
        table.error("type_factors", message, "give as many factors as a word line has pages");
        return None;
    }
    Some(factors)
}

fn times(table: &Reader<'_>) -> Option<RetryTimes> {
    let count = |key, standard| {
        let most = u32::from(RETRIES_MAX);
        given_or(table, key, table.u32(key, 0..=most), standard).map(|count| count as u8)
    };
    let time = |key, standard| {
        let help = "a duration, as in \"10 us\"";
        let ns = given_or(table, key, table.duration_ns(key), standard)?;
        at_most_longest(table, key, ns, help)
    };
    let (retries, soft_reads) = (count("retries", 8), count("soft_reads", 2));
    let (decode_ns, soft_decode_ns) = (time("decode", 10_000), time("soft_decode", 50_000));
    Some(RetryTimes {
        retries: retries?,
        decode_ns: decode_ns?,
        soft_reads: soft_reads?,
        soft_decode_ns: soft_decode_ns?,
    })
}
