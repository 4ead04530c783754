//! Every input that is kept goes through its target: the seeds, and what a fuzzer found.
#![allow(clippy::print_stdout)]

use flashgc_fuzz::TARGETS;
use std::fs;
use std::path::Path;

#[test]
fn every_input_comes_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs");
    for (name, target) in TARGETS {
        let mut files: Vec<_> = fs::read_dir(folder.join(name))
            .unwrap_or_else(|error| panic!("there are no inputs for {name}: {error}"))
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "there are no inputs for {name}");
        for file in files {
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
