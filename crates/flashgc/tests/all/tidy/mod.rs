//! House style, as a test: sizes of files, the order of the rooms, the engine's forbidden parts of
//! the standard library, and documents that agree with the program.

mod circles;
mod layers;
mod manual;
mod names;
mod rooms;
mod size;

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files of this ending below a folder, in order, without build results.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The crates of the engine, the lowest first, and the name of a room that is a crate by itself.
const CRATES: [(&str, &str); 5] = [
    ("flashgc-model", ""),
    ("flashgc-workload", "workload"),
    ("flashgc-setup", "config"),
    ("flashgc-watch", ""),
    ("flashgc", ""),
];

/// A file of the engine: its path from the sources of its crate, as a module of its room.
struct EngineFile {
    path: PathBuf,
    /// The room first.
    module: Vec<String>,
    /// The number of words in which the room is a crate by itself.
    root: usize,
}

impl EngineFile {
    fn room(&self) -> &str {
        self.module.first().map_or("lib", String::as_str)
    }
}

/// All files of the engine, without the roots of crates that have several rooms.
fn engine() -> Vec<EngineFile> {
    let mut found = Vec::new();
    for (name, room) in CRATES {
        let source = root().join("crates").join(name).join("src");
        let root = usize::from(!room.is_empty());
        for path in files(&source, "rs") {
            let inside = path.strip_prefix(&source).expect("below the source").with_extension("");
            let words = inside.iter().map(|part| part.to_string_lossy().into_owned());
            let words = words.filter(|word| word != "mod" && word != "lib");
            let room = (root > 0).then(|| room.to_string());
            found.push(EngineFile { path, module: room.into_iter().chain(words).collect(), root });
        }
    }
    assert!(found.len() > 300, "only {} files", found.len());
    found
}

fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
