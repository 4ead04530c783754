//! Rows of the matrix with other rules for the plane of a write, its completion, or the admission
//! of requests. These rules are not factors, so that the arrays stay the ones that were checked in
//! full.

use super::{ARRAYS, Row, factors, outcome, rows_of_array};

/// The settings of such a row in place of its own.
const WAYS: [&[&str]; 8] = [
    &["device.write_completion=\"loaded\""],
    &["device.queue_length=3"],
    &[
        "device.queue_length=2",
        "device.queue_order=\"address\"",
        "device.write_completion=\"loaded\"",
    ],
    &["device.allocation=\"when-idle\""],
    &[
        "device.allocation=\"when-idle\"",
        "device.write_completion=\"loaded\"",
        "device.queue_length=5",
    ],
    &["device.allocation=\"dynamic\"", "precondition.fill=\"by-block\""],
    &["device.bus_order=\"commands-first\""],
    &[
        "device.completions=\"together\"",
        "device.bus_order=\"commands-first\"",
        "device.queue_length=3",
    ],
];

/// Every eighth row of all arrays, so that each way in meets rows of each.
#[test]
fn rows_run_with_every_way_in() {
    let factors = factors();
    let rows: Vec<Row> = ARRAYS.flat_map(|array| rows_of_array(&factors, array)).collect();
    let ways = WAYS.iter().cycle();
    let outcomes = rows.iter().step_by(8).zip(ways).map(|(row, way)| outcome(&factors, row, way));
    let failed: Vec<String> = outcomes.filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{} rows failed\n\n{}", failed.len(), failed.join("\n\n"));
}
