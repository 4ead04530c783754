//! Every kept input goes through its target: the seeds, and findings of fuzzers.
#![allow(clippy::print_stdout)]

mod kept;

use flashgc_fuzz::TARGETS;
use std::fs;
use std::path::Path;

#[test]
fn every_input_comes_back() {
    for (name, target) in TARGETS {
        for file in kept::files(name) {
            println!("{}", file.display());
            target(&fs::read(&file).unwrap());
        }
    }
}

#[test]
fn every_target_is_a_fuzz_target() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        let path = format!("fuzz_targets/{name}.rs");
        assert!(manifest.contains(&path), "fuzz/Cargo.toml does not name {path}");
        assert!(fuzz.join(&path).is_file(), "{path}");
    }
}
