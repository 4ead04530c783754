//! Presets that ship with the program: devices and schemes, each a TOML file with its source.

use flashgc_config::Tree;
use serde_json::{Value, json};

macro_rules! files {
    ($folder:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../", $folder, "/", $name, ".toml")))),*]
    };
}

const DEVICES: &[(&str, &str)] = files!("devices":
    "slc-msr" "disksim-msr" "parallel-gc-slc" "parallel-gc-mlc" "speedup-gc-tlc" "on-demand-gc-slc"
    "preemptible-gc-slc" "pre-gc-2d" "pre-gc-3d" "ssdsim" "mqsim" "enterprise-tlc"
    "enterprise-tlc-1dwpd" "enterprise-tlc-3dwpd");

const SCHEMES: &[(&str, &str)] = files!("schemes":
    "ideal" "greedy" "greedy-msr" "fifo" "random" "d-choices" "cost-benefit" "wear-aware"
    "idle" "idle-pgc" "parallel" "ippbe" "ippbe-original" "parallel-ippbe"
    "pgc" "pgc-merge" "pgc-pipeline" "pgc-both" "pgc-se" "fpgc" "wear-pgc"
    "subblock-baseline" "gsm" "gsm-plus" "pb" "speedup" "speedup-pb"
    "pbgc" "bbgc" "on-demand" "pregc" "gftl" "pregc-gftl" "ssdsim");

fn find(list: &'static [(&str, &str)], name: &str) -> Option<&'static str> {
    list.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

fn names(list: &'static [(&'static str, &str)]) -> Vec<&'static str> {
    list.iter().map(|(name, _)| *name).collect()
}

/// The text of a device preset.
pub fn device(name: &str) -> Option<&'static str> {
    find(DEVICES, name)
}

/// The text of a scheme preset.
pub fn scheme(name: &str) -> Option<&'static str> {
    find(SCHEMES, name)
}

/// The names of the device presets.
pub fn device_names() -> Vec<&'static str> {
    names(DEVICES)
}

/// The names of the scheme presets.
pub fn scheme_names() -> Vec<&'static str> {
    names(SCHEMES)
}

/// Every device preset as data: its name, its text, and its keys.
pub fn devices_json() -> Value {
    list_json(DEVICES)
}

/// Every scheme preset as data: its name, its text, and its keys; and the choices of every slot.
pub fn schemes_json() -> Value {
    json!({ "schemes": list_json(SCHEMES), "slots": super::gc::slots_json() })
}

fn list_json(list: &[(&str, &str)]) -> Value {
    let entries = list.iter().map(|(name, text)| {
        let keys = Tree::parse(name, text).map_or(Value::Null, |tree| tree.to_json());
        json!({ "name": name, "text": text, "keys": keys })
    });
    Value::Array(entries.collect())
}
