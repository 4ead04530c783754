//! Watchers of a simulation: the facts that they receive, the checker, the parts of latencies, logs
//! and statistics.
//!
//! A watcher changes nothing, and the engine in the crate `flashgc` works without any.

pub mod stats;
pub mod verify;
