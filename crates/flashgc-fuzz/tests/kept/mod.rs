//! The inputs that are kept for each target.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of a target, in order of their names.
pub fn files(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs").join(target);
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("there are no inputs for {target}: {error}"));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "there are no inputs for {target}");
    files
}
