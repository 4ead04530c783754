//! `docs/schemes/own-scheme.md` is carried out: its file, its word and its preset go into a copy of
//! the sources, which is compiled and run under the checker.
//!
//! The copy holds what the example `run_config` needs and no more, since its first run compiles all
//! of it. It stays in the build folder and only files that differ are written again, so that a
//! second run compiles nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

const FILE: &str = "crates/flashgc/src/gc/victim/oldest_of_emptiest.rs";
const REGISTRY: &str = "crates/flashgc/src/gc/victim/mod.rs";
const PRESETS: &str = "crates/flashgc/src/config/presets.rs";
const PRESET: &str = "schemes/oldest-of-emptiest.toml";
/// The crates of the engine.
const CRATES: [&str; 3] = ["crates/flashgc", "crates/flashgc-config", "crates/flashgc-trace"];
/// What no example is made of.
const ASIDE: [&str; 3] = ["target", "tests", "benches"];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes a file unless it says the same already.
fn write(path: &Path, content: &[u8]) {
    if std::fs::read(path).is_ok_and(|old| old == content) {
        return;
    }
    let folder = path.parent().expect("a file lies in a folder");
    std::fs::create_dir_all(folder).expect("the folder can be made");
    std::fs::write(path, content).expect("the file can be written");
}

/// The first block of this kind.
fn block(page: &str, kind: &str) -> String {
    let start = format!("```{kind}\n");
    let at = page.find(&start).unwrap_or_else(|| panic!("the page has no block `{kind}`"));
    let rest = &page[at + start.len()..];
    rest[..rest.find("```").expect("a block ends")].to_string()
}

/// A manifest without the tables of tests and benchmarks, with the crates of the engine alone.
fn lean(manifest: &str) -> String {
    let mut tables: Vec<&str> = manifest.split("\n[").collect();
    tables
        .retain(|table| !["dev-dependencies]", "[bench]]"].iter().any(|it| table.starts_with(it)));
    let text = tables.join("\n[");
    let Some((before, after)) = text.split_once("members = [") else { return text };
    let (_, after) = after.split_once(']').expect("the list of members ends");
    format!("{before}members = {CRATES:?}{after}")
}

/// Every file of a folder of the sources, relative to the root, without tests and build results.
fn files(root: &Path, folder: &str, into: &mut Vec<String>) {
    let entries = std::fs::read_dir(root.join(folder)).expect("the folder can be read");
    for entry in entries {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        match entry.file_type().expect("a type") {
            kind if kind.is_dir() && !ASIDE.contains(&name.as_str()) && !name.starts_with('.') => {
                files(root, &path, into);
            }
            kind if kind.is_file() => into.push(path),
            _ => {}
        }
    }
}

/// Puts a word behind the last one of the list that begins with `list` and ends with `end`.
fn add_word(text: &str, list: &str, end: &str, word: &str) -> String {
    let start = text.rfind(list).unwrap_or_else(|| panic!("there is no `{list}`"));
    let end = start + text[start..].find(end).expect("the list ends");
    let (before, after) = (text[..end].trim_end(), &text[end..]);
    format!("{before} {word}{}{after}", if after.starts_with('}') { " " } else { "" })
}

struct Copy {
    root: PathBuf,
    target: PathBuf,
}

impl Copy {
    fn make() -> Copy {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-scheme");
        let (root, target) = (folder.join("sources"), folder.join("target"));
        let page = read(&source.join("docs/schemes/own-scheme.md"));
        let mut list = vec!["Cargo.toml".to_string(), "Cargo.lock".to_string()];
        for folder in CRATES.iter().chain(&["devices", "schemes"]) {
            files(&source, folder, &mut list);
        }
        for path in list.iter().filter(|path| ![REGISTRY, PRESETS].contains(&path.as_str())) {
            let content = std::fs::read(source.join(path)).expect("a source");
            match path.ends_with("Cargo.toml") {
                true => write(&root.join(path), lean(&read(&source.join(path))).as_bytes()),
                false => write(&root.join(path), &content),
            }
        }
        for path in [FILE, REGISTRY, PRESETS, PRESET] {
            assert!(page.contains(path), "the page does not name {path}");
        }
        write(&root.join(FILE), block(&page, "rust").as_bytes());
        write(&root.join(PRESET), block(&page, "toml preset").as_bytes());
        write(&root.join("own.toml"), block(&page, "toml config").as_bytes());
        let registry = read(&source.join(REGISTRY));
        let registry = add_word(&registry, "victims! {", "}", "oldest_of_emptiest");
        write(&root.join(REGISTRY), registry.as_bytes());
        let presets = read(&source.join(PRESETS));
        let presets = add_word(&presets, "const SCHEMES", ");", "\"oldest-of-emptiest\"");
        write(&root.join(PRESETS), presets.as_bytes());
        let copy = Copy { root, target };
        // A file that was removed from the sources must not stay in the copy.
        let mut present = Vec::new();
        files(&copy.root, "crates", &mut present);
        for path in present.iter().filter(|path| !list.contains(path) && *path != FILE) {
            std::fs::remove_file(copy.root.join(path)).expect("an old file can be removed");
        }
        copy
    }

    fn cargo(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env("VERIFY", "1")
            .output()
            .expect("cargo runs");
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}\n{complaints}");
        assert!(!complaints.contains("warning: "), "{complaints}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn report(&self, sets: &[&str]) -> serde_json::Value {
        let example =
            ["run", "--offline", "--quiet", "-p", "flashgc", "--example", "run_config", "--"];
        let arguments = [&example[..], &["own.toml"], sets].concat();
        serde_json::from_str(&self.cargo(&arguments)).expect("a report")
    }
}

#[test]
fn the_page_is_carried_out() {
    let copy = Copy::make();
    let own = copy.report(&[]);
    assert_eq!(own["config"]["gc"]["scheme"], "greedy");
    assert!(own["gc"]["count"].as_u64() > Some(100), "{own:#}");

    let preset = copy.report(&["gc.scheme=oldest-of-emptiest"]);
    assert_eq!(preset["scheme"], "oldest-of-emptiest");
    // Another name, and otherwise the same: the same happened.
    assert_eq!(preset["result_hash"], own["result_hash"]);
    assert_ne!(preset["config_hash"], own["config_hash"]);

    // With one block to compare it is greedy.
    let one = copy.report(&["gc.victim.oldest-of-emptiest.d=1"]);
    let greedy = copy.report(&["gc.victim.use=greedy"]);
    assert_eq!(greedy["unused_keys"], serde_json::json!(["gc.victim.oldest-of-emptiest.d"]));
    for key in ["erases", "gc", "latency_ns", "wear", "pages", "simulated_ns"] {
        assert_eq!(one[key], greedy[key], "{key}");
        assert!(!one[key].is_null());
    }
    assert_ne!(own["pages"], greedy["pages"], "d = 4 changes nothing");
}
