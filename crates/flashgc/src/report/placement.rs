//! The keys of placement: the pages of classes, and the bytes of placement handles as an FDP drive
//! logs them.

use crate::config::Setup;
use crate::gc::placement::ClassPages;
use crate::measure::Results;
use serde_json::{Value, json};

/// The section, where pages have classes.
pub(super) fn section(setup: &Setup, results: &Results) -> Option<Value> {
    let counts = results.placement.as_ref()?;
    let mut section = json!(counts);
    if let Some(handles) = &counts.handles {
        let shape = &setup.plan.geometry.shape;
        let block_bytes = u64::from(shape.page_bytes) * u64::from(shape.pages_per_block);
        let page_bytes = u64::from(shape.page_bytes);
        let each = handles.pages.iter().zip(&handles.available);
        let each: Vec<Value> =
            each.map(|(pages, available)| handle(pages, *available, page_bytes)).collect();
        section["handles"] = json!(each);
        section["erased_bytes"] = json!(results.counters.erases * block_bytes);
        let moved: u64 = handles.pages.iter().map(|pages| pages.copies).sum();
        section["events"] = json!({
            "invalid_placement_identifier": handles.invalid,
            "media_reallocated": handles.reallocated,
            "reallocated_bytes": moved * page_bytes,
        });
    }
    Some(section)
}

/// The bytes that the host wrote with a handle, and those that flash took for it: copies count for
/// the handle of their page. And the bytes that are left in its open blocks.
fn handle(pages: &ClassPages, available: u64, page_bytes: u64) -> Value {
    let media = pages.writes + pages.copies;
    json!({
        "host_bytes": pages.writes * page_bytes,
        "media_bytes": media * page_bytes,
        "available_bytes": available * page_bytes,
        "write_amplification": (pages.writes > 0).then(|| media as f64 / pages.writes as f64),
    })
}
