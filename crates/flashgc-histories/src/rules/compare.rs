//! Reports that must be equal, and the first metrics that are not.

use crate::run::Stop;
use serde_json::Value;

/// Keys that describe the request of a run, and not its result.
const OF_THE_REQUEST: &[&str] =
    &["config", "config_hash", "table_bytes", "notes", "scheme_changes", "unused_keys"];

/// The metrics of a report.
fn figures(report: &Value) -> Value {
    let mut report = report.clone();
    if let Some(keys) = report.as_object_mut() {
        OF_THE_REQUEST.iter().for_each(|key| {
            keys.remove(*key);
        });
    }
    report["precondition"]["drive"] = Value::Null;
    // Memory by the allocator, as above: an oracle has the fill of the drive or not.
    if let Some(placement) = report["placement"].as_object_mut() {
        placement.remove("table_bytes");
    }
    // Only in runs with blame.
    let rows = report["jobs"].as_array_mut();
    rows.into_iter().flatten().filter_map(Value::as_object_mut).for_each(|row| {
        row.remove("blame");
    });
    report
}

/// Fails where two reports differ in a metric.
pub fn equal(one: &Value, other: &Value) -> Result<(), Stop> {
    equal_but(one, other, &[])
}

/// Compares two values without these keys.
pub fn equal_but(one: &Value, other: &Value, without: &[&str]) -> Result<(), Stop> {
    let [mut one, mut other] = [one, other].map(figures);
    for report in [&mut one, &mut other] {
        if let Some(keys) = report.as_object_mut() {
            without.iter().for_each(|key| {
                keys.remove(*key);
            });
        }
    }
    differ(&differences(&one, &other))
}

/// Fails where there are differences.
pub fn differ(found: &[String]) -> Result<(), Stop> {
    if found.is_empty() {
        return Ok(());
    }
    Err(Stop::failed("differ", found.iter().take(8).cloned().collect::<Vec<_>>().join("\n")))
}

/// Every metric that differs, by its key.
pub fn differences(one: &Value, other: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk("", one, other, &mut |key, one, other| {
        if one != other {
            found.push(format!("{key}: {one} or {other}"));
        }
    });
    found
}

/// Calls this with each pair of leaves of two values.
pub fn walk(at: &str, one: &Value, other: &Value, observe: &mut impl FnMut(&str, &Value, &Value)) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                walk(&join(at, key), value, b.get(key).unwrap_or(&Value::Null), observe);
            }
            for (key, value) in b.iter().filter(|(key, _)| !a.contains_key(*key)) {
                observe(&join(at, key), &Value::Null, value);
            }
        }
        _ => observe(at, one, other),
    }
}

fn join(at: &str, key: &str) -> String {
    if at.is_empty() { key.into() } else { format!("{at}.{key}") }
}
