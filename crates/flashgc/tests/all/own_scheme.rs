//! `docs/schemes/own-scheme.md` and `own-placement.md` are carried out: their files, their words
//! and the preset go into a copy of the sources, which is compiled and run under the checker.
//!
//! The copy holds what the example `run_config` needs and no more, since its first run compiles all
//! of it. It stays in the build folder and only files that differ are written again, so that a
//! second run compiles nothing.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const FILE: &str = "crates/flashgc-model/src/gc/victim/oldest_of_emptiest.rs";
const REGISTRY: &str = "crates/flashgc-model/src/gc/victim/mod.rs";
const PLACEMENT: &str = "crates/flashgc-model/src/gc/placement/generations.rs";
const PLACEMENTS: &str = "crates/flashgc-model/src/gc/placement/mod.rs";
const PRESETS: &str = "crates/flashgc-setup/src/presets.rs";
const PRESET: &str = "schemes/oldest-of-emptiest.toml";
/// The crates of the engine.
const CRATES: [&str; 7] = [
    "crates/flashgc",
    "crates/flashgc-config",
    "crates/flashgc-model",
    "crates/flashgc-setup",
    "crates/flashgc-trace",
    "crates/flashgc-watch",
    "crates/flashgc-workload",
];
/// Folders that no example needs.
const ASIDE: [&str; 3] = ["target", "tests", "benches"];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes a file unless it has this content already.
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
    /// The copy of both pages, compiled once.
    fn of_the_pages() -> &'static Copy {
        static COPY: OnceLock<Copy> = OnceLock::new();
        COPY.get_or_init(|| {
            let copy = Copy::make();
            // Without zstd, whose C code takes longer to compile than all of the engine.
            let options = ["--offline", "--quiet", "--no-default-features"];
            let example = ["-p", "flashgc", "--example", "run_config"];
            copy.run(Command::new(env!("CARGO")).arg("build").args(options).args(example));
            copy
        })
    }

    fn make() -> Copy {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-scheme");
        let (root, target) = (folder.join("sources"), folder.join("target"));
        let page = |name: &str, paths: &[&str]| {
            let text = read(&source.join("docs/schemes").join(name));
            for path in paths {
                assert!(text.contains(path), "{name} does not name {path}");
            }
            text
        };
        let scheme = page("own-scheme.md", &[FILE, REGISTRY, PRESETS, PRESET]);
        let placement = page("own-placement.md", &[PLACEMENT, PLACEMENTS]);
        let mut list = vec!["Cargo.toml".to_string(), "Cargo.lock".to_string()];
        for folder in CRATES.iter().chain(&["devices", "schemes"]) {
            files(&source, folder, &mut list);
        }
        let changed = [REGISTRY, PLACEMENTS, PRESETS];
        for path in list.iter().filter(|path| !changed.contains(&path.as_str())) {
            let content = std::fs::read(source.join(path)).expect("a source");
            match path.ends_with("Cargo.toml") {
                true => write(&root.join(path), lean(&read(&source.join(path))).as_bytes()),
                false => write(&root.join(path), &content),
            }
        }
        let blocks = [
            (FILE, &scheme, "rust"),
            (PRESET, &scheme, "toml preset"),
            ("own-scheme.toml", &scheme, "toml own.toml"),
            (PLACEMENT, &placement, "rust"),
            ("own-placement.toml", &placement, "toml own.toml"),
        ];
        for (path, page, kind) in blocks {
            write(&root.join(path), block(page, kind).as_bytes());
        }
        let words = [
            (REGISTRY, "victims! {", "}", "oldest_of_emptiest"),
            (PLACEMENTS, "placements! {", "}", "generations"),
            (PRESETS, "const SCHEMES", ");", "\"oldest-of-emptiest\""),
        ];
        for (path, list, end, word) in words {
            let text = add_word(&read(&source.join(path)), list, end, word);
            write(&root.join(path), text.as_bytes());
        }
        let copy = Copy { root, target };
        // A file that was removed from the sources must not stay in the copy.
        let mut present = Vec::new();
        files(&copy.root, "crates", &mut present);
        let is_added = |path: &str| [FILE, PLACEMENT].contains(&path);
        for path in present.iter().filter(|path| !list.contains(path) && !is_added(path)) {
            std::fs::remove_file(copy.root.join(path)).expect("an old file can be removed");
        }
        copy
    }

    fn run(&self, command: &mut Command) -> String {
        let output = command
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env("CARGO_PROFILE_DEV_CODEGEN_UNITS", "16")
            .env("CARGO_INCREMENTAL", "0")
            .env("VERIFY", "1")
            .output()
            .expect("the program runs");
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}\n{complaints}");
        assert!(!complaints.contains("warning: "), "{complaints}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs the configuration of a page under the checker.
    fn report(&self, config: &str, sets: &[&str]) -> Value {
        let mut command = Command::new(self.target.join("debug/examples/run_config"));
        let report = self.run(command.arg(config).args(sets));
        serde_json::from_str(&report).expect("a report")
    }
}

/// All results are equal: pages, collections, times and wear.
fn assert_equal(one: &Value, other: &Value) {
    for key in ["erases", "gc", "latency_ns", "wear", "pages", "simulated_ns"] {
        assert_eq!(one[key], other[key], "{key}");
        assert!(!one[key].is_null());
    }
}

#[test]
fn the_page_is_carried_out() {
    let report = |sets: &[&str]| Copy::of_the_pages().report("own-scheme.toml", sets);
    let own = report(&[]);
    assert_eq!(own["config"]["gc"]["scheme"], "greedy");
    assert!(own["gc"]["count"].as_u64() > Some(100), "{own:#}");

    let preset = report(&["gc.scheme=oldest-of-emptiest"]);
    assert_eq!(preset["scheme"], "oldest-of-emptiest");
    // Another name, and otherwise the same: the same happened.
    assert_eq!(preset["result_hash"], own["result_hash"]);
    assert_ne!(preset["config_hash"], own["config_hash"]);

    // With one block to compare it is greedy.
    let one = report(&["gc.victim.oldest-of-emptiest.d=1"]);
    let greedy = report(&["gc.victim.use=greedy"]);
    assert_eq!(greedy["unused_keys"], json!(["gc.victim.oldest-of-emptiest.d"]));
    assert_equal(&one, &greedy);
    assert_ne!(own["pages"], greedy["pages"], "d = 4 changes nothing");
}

fn placed(sets: &[&str]) -> Value {
    Copy::of_the_pages().report("own-placement.toml", sets)
}

#[test]
fn the_placement_of_the_page_is_carried_out() {
    let own = placed(&[]);
    let classes = own["placement"]["classes"].as_array().expect("it has classes");
    assert_eq!(classes.len(), 4);
    for (class, pages) in classes.iter().enumerate() {
        let count = |key: &str| pages[key].as_u64().expect("a number");
        assert_eq!(count("writes") > 0, class == 0, "{class} {pages}");
        assert_eq!(count("copies") > 0, class > 0, "{class} {pages}");
    }

    // Known cases, in time and without a clock.
    for timing in [&[][..], &["engine.timing=none"]] {
        for (classes, known) in [(1, "one-frontier"), (2, "separate-gc")] {
            let classes = format!("gc.placement.generations.classes={classes}");
            let known = format!("gc.placement.use={known}");
            let own = placed(&[timing, &[classes.as_str()]].concat());
            let known = placed(&[timing, &[known.as_str()]].concat());
            assert_eq!(own["result_hash"], known["result_hash"], "{classes} {timing:?}");
        }
    }
    let copies = |report: &Value| report["pages"]["gc_moved"].as_u64().expect("a number");
    let separate = placed(&["gc.placement.use=separate-gc"]);
    assert!(copies(&own) < copies(&separate), "{} {}", copies(&own), copies(&separate));
}

/// The choices of other slots under which its classes must find their blocks.
#[test]
fn the_placement_of_the_page_works_with_other_choices() {
    const SLOTS: [&str; 3] =
        ["device.mapping_unit=4 KiB", "device.page_size=16 KiB", "device.allocation=dynamic"];
    let combinations: [&[&str]; 8] = [
        &["gc.victim.use=oldest-of-emptiest"],
        &["gc.victim.use=cost-benefit", "gc.copy.use=bus"],
        &["gc.victim.use=fifo", "gc.preemption.use=between-copies"],
        &[
            "gc.trigger.use=[\"watermark\", \"idle\"]",
            "gc.pacing.use=time-slices",
            "gc.preemption.use=between-copies",
        ],
        &SLOTS,
        &["device.superblock=drive", "gc.copy.use=bus"],
        &[&SLOTS[..], &["device.superblock=channel", "gc.copy.use=bus"]].concat(),
        &[
            "gc.placement.generations.classes=16",
            "gc.trigger.watermark.soft=18 blocks",
            "device.exported=0.4",
        ],
    ];
    for sets in combinations {
        let report = placed(sets);
        assert!(report["gc"]["count"].as_u64() > Some(100), "{sets:?}: {report:#}");
        let classes = report["placement"]["classes"].as_array().expect("it has classes");
        let used = classes.iter().filter(|pages| pages["copies"].as_u64() > Some(0)).count();
        assert!(used >= 3, "{sets:?}: {classes:?}");
    }
}
