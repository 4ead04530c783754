//! Preconditioning until write amplification is steady.

use crate::common;

use common::{TINY, at, run};
use serde_json::Value;

const STEADY: &[&str] = &["precondition.until=\"steady\"", "precondition.at_most=12"];

/// The last windows must lie within 1 % of their mean. On small drives they seldom do: chance
/// moves write amplification by more.
#[test]
fn a_drive_is_steady_only_where_its_last_windows_agree() {
    let text = TINY.replace("overwrite = 1.0\n", "");
    let mut reached = 0;
    for blocks in [16, 64, 256] {
        for seed in 0..4 {
            let blocks = format!("device.blocks_per_plane={blocks}");
            let seed = format!("seed={seed}");
            let report = run(&text, &[STEADY, &[blocks.as_str(), seed.as_str()]].concat());
            let steady = at(&report, "precondition.steady");
            if steady["reached"] == Value::Bool(false) {
                continue;
            }
            reached += 1;
            let windows = steady["windows"].as_array().expect("a list");
            let windows: Vec<f64> = windows.iter().filter_map(Value::as_f64).collect();
            let mean = windows.iter().sum::<f64>() / windows.len() as f64;
            let agree = |window: &f64| (window - mean).abs() <= 0.01 * mean;
            assert!(windows.len() == 4 && windows.iter().all(agree), "{blocks}: {windows:?}");
        }
    }
    assert!((1..12).contains(&reached), "{reached} of 12 drives were steady");
}
