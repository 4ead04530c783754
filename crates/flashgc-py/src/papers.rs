//! The reproduced papers that ship with the program: each a folder of `papers/` at the root of the
//! repository, with four files. The Python package interprets them.

use pyo3::prelude::*;
use serde_json::json;

struct Paper {
    name: &'static str,
    experiment: &'static str,
    claims: &'static str,
    readme: &'static str,
    measured: &'static str,
}

macro_rules! papers {
    ($($name:literal)*) => {
        &[$(Paper {
            name: $name,
            experiment: include_str!(concat!("../../../papers/", $name, "/experiment.toml")),
            claims: include_str!(concat!("../../../papers/", $name, "/claims.toml")),
            readme: include_str!(concat!("../../../papers/", $name, "/README.md")),
            measured: include_str!(concat!("../../../papers/", $name, "/measured.toml")),
        }),*]
    };
}

const PAPERS: &[Paper] = papers!(
    "fdp-cache" "midas" "on-demand-gc" "parallel-gc" "pre-gc" "preemptible-gc" "sepbit" "speedup-gc"
    "ssd-iq" "warp"
);

/// Every paper: its name and its four files as text.
#[pyfunction]
pub fn papers() -> String {
    let list = PAPERS.iter().map(|paper| {
        let Paper { name, experiment, claims, readme, measured } = paper;
        json!({
            "name": name, "experiment": experiment, "claims": claims, "readme": readme,
            "measured": measured
        })
    });
    serde_json::Value::Array(list.collect()).to_string()
}
