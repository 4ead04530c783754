//! Errors of the flash: reads that were tried again, programs and erases that failed.

use super::per;
use crate::config::Setup;
use crate::measure::Results;
use serde_json::{Value, json};

/// Flash pages that were read and corrected, by their retries.
pub(super) fn read_retry(setup: &Setup, results: &Results) -> Option<Value> {
    let rules = setup.plan.read_retry.as_ref()?;
    let most = usize::from(rules.times.retries);
    let of = |counts: &[u64]| {
        let count = |at: usize| counts.get(at).copied().unwrap_or(0);
        let reads: u64 = counts.iter().sum();
        let hard: Vec<u64> = (0..=most).map(count).collect();
        let (soft, uncorrectable) = (count(most + 1), count(most + 2));
        let before_soft = most as u64 * (soft + uncorrectable);
        let retries: u64 = hard.iter().enumerate().map(|(at, count)| at as u64 * count).sum();
        json!({
            "page_reads": reads,
            "retried_share": per(reads - hard[0], reads),
            "retries_per_read": per(retries + before_soft, reads),
            "reads_by_retries": hard,
            "soft_decoded": soft,
            "uncorrectable": uncorrectable,
        })
    };
    let [host, collection] = &results.counters.retries;
    Some(json!({ "host": of(host), "collection": of(collection) }))
}

/// Programs and erases that failed, and the blocks that are bad by now.
pub(super) fn failures(results: &Results) -> Option<Value> {
    let bad = results.bad_blocks?;
    Some(json!({
        "program": results.counters.program_failures,
        "erase": results.counters.erase_failures,
        "retired_blocks": bad.retired,
        "failing_blocks": bad.failing,
        "spare_blocks": bad.spare,
        "read_only": bad.is_read_only,
    }))
}
