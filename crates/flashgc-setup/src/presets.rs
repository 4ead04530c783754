//! Presets that ship with the program: devices and schemes, each a TOML file with its source.

use super::stack::preset_tree;
use flashgc_config::{Diagnostics, Tree};
use serde_json::{Value, json};
use std::sync::OnceLock;

type Keys = Result<Tree, Diagnostics>;

/// A preset that ships with the program.
struct Preset {
    name: &'static str,
    text: &'static str,
    /// Its keys: a program that runs many short runs reads each preset once.
    tree: &'static OnceLock<Keys>,
}

impl Preset {
    fn tree(&self) -> Keys {
        self.tree.get_or_init(|| preset_tree(self.name, self.text)).clone()
    }
}

macro_rules! files {
    ($folder:literal: $($name:literal)*) => {
        &[$(Preset {
            name: $name,
            text: include_str!(concat!("../../../", $folder, "/", $name, ".toml")),
            tree: {
                static TREE: OnceLock<Keys> = OnceLock::new();
                &TREE
            },
        }),*]
    };
}

const DEVICES: &[Preset] = files!("devices":
    "slc-msr" "disksim-msr" "parallel-gc-slc" "parallel-gc-mlc" "speedup-gc-tlc" "on-demand-gc-slc"
    "preemptible-gc-slc" "pre-gc-2d" "pre-gc-3d" "ssdsim" "mqsim" "enterprise-tlc"
    "enterprise-tlc-1dwpd" "enterprise-tlc-3dwpd" "slc-low-latency" "client-tlc"
    "nvmevirt-970-pro" "nvmevirt-zn540" "enterprise-qlc" "micron-7450-max" "micron-7450-pro"
    "kioxia-cm7-r" "solidigm-d7-p5520" "wd-960gb");

const SCHEMES: &[Preset] = files!("schemes":
    "ideal" "greedy" "greedy-msr" "fifo" "random" "d-choices" "cost-benefit" "wear-aware"
    "levelling"
    "idle" "idle-pgc" "parallel" "ippbe" "ippbe-original" "parallel-ippbe"
    "pgc" "pgc-merge" "pgc-pipeline" "pgc-both" "pgc-se" "fpgc" "wear-pgc"
    "tokens" "tokens-fpgc"
    "subblock-baseline" "gsm" "gsm-plus" "pb" "speedup" "speedup-pb"
    "pbgc" "bbgc" "on-demand" "pregc" "gftl" "pregc-gftl" "ssdsim"
    "sepgc" "dac" "sepbit" "sfs" "multilog" "eti" "autostream" "fadac" "warcip" "midas" "fdp");

fn find(list: &'static [Preset], name: &str) -> Option<&'static Preset> {
    list.iter().find(|preset| preset.name == name)
}

fn names(list: &'static [Preset]) -> Vec<&'static str> {
    list.iter().map(|preset| preset.name).collect()
}

/// The keys of a device preset, without its text about itself.
pub fn device(name: &str) -> Option<Result<Tree, Diagnostics>> {
    find(DEVICES, name).map(Preset::tree)
}

/// The keys of a scheme preset, without its text about itself.
pub fn scheme(name: &str) -> Option<Result<Tree, Diagnostics>> {
    find(SCHEMES, name).map(Preset::tree)
}

/// Whether there is a scheme preset of this name.
pub fn has_scheme(name: &str) -> bool {
    find(SCHEMES, name).is_some()
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

fn list_json(list: &[Preset]) -> Value {
    let entries = list.iter().map(|Preset { name, text, .. }| {
        let keys = Tree::parse(name, text).map_or(Value::Null, |tree| tree.to_json());
        json!({ "name": name, "text": text, "keys": keys })
    });
    Value::Array(entries.collect())
}
