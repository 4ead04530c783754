//! The report of a run without a clock has no metric of time.

use serde_json::{Map, Value, json};

/// Metrics of time, and metrics derived from them.
const OF_TIME: [&str; 5] = ["saturated", "latency_ns", "throughput", "utilisation", "simulated_ns"];
/// Metrics of the interruption of collections, which never happens without a clock.
const OF_GC: [&str; 4] = ["preempted", "suspended", "merged", "pipelined"];

/// Removes every metric that needs a clock from an untimed report, and marks it as untimed.
pub(super) fn leave_out_times(untimed: bool, keys: &mut Map<String, Value>) {
    if !untimed {
        return;
    }
    keys.retain(|key, _| !OF_TIME.contains(&key.as_str()));
    if let Some(gc) = keys.get_mut("gc").and_then(Value::as_object_mut) {
        gc.retain(|key, _| !key.ends_with("_ns") && !OF_GC.contains(&key.as_str()));
    }
    keys.insert("untimed".into(), json!(true));
}
