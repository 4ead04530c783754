//! The pages of `docs/timelines` are run: their statements on the simulator must be true.
//!
//! `FLASHGC_BLESS=1 cargo test -p flashgc-tests --test all timelines::` rewrites the expected
//! blocks; the difference is then for a human to review.

use crate::timeline_page;

use flashgc::measure::Results;
use std::path::{Path, PathBuf};
use timeline_page::film::films;
use timeline_page::page::{Base, Outcome, check, examples};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/timelines")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn base() -> Base {
    Base::of_readme(&read(&folder().join("README.md")))
}

/// The pages in order of name.
fn pages() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("docs/timelines can be read");
    let mut pages: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    pages
}

#[test]
fn every_page_says_what_happens() {
    let bless = std::env::var_os("FLASHGC_BLESS").is_some();
    let (base, mut wrong, mut examples) = (base(), String::new(), 0);
    for path in pages() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = read(&path);
        let Outcome { errors, blessed, runs } = check(&name, &text, &base);
        examples += runs;
        for error in errors.iter().filter(|error| !bless || !error.blessable) {
            wrong.push_str(&format!("\n{}\n", error.text));
        }
        if bless && blessed != text {
            std::fs::write(&path, blessed).expect("the page can be written");
        }
    }
    assert!(examples >= 20, "only {examples} examples were found");
    assert!(wrong.is_empty(), "{wrong}\nFLASHGC_BLESS=1 writes what happens into the pages");
}

#[test]
fn every_page_is_in_the_index_and_has_a_run() {
    let index = read(&folder().join("README.md"));
    for path in pages() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name == "README.md" {
            continue;
        }
        assert!(index.contains(&format!("]({name})")), "README.md does not link to {name}");
        let runs = check(&name, &read(&path), &base()).runs;
        assert!(runs > 0, "{name} runs nothing");
    }
}

/// The recordings that the site plays agree with the runs that the pages show.
#[test]
fn every_example_has_its_recording() {
    let base = base();
    for path in pages() {
        let (name, text) = (path.display(), read(&path));
        let films = films(&text, &base).unwrap_or_else(|why| panic!("{name}: {why}"));
        for (line, example) in examples(&text, &base) {
            let seen = example.run().unwrap_or_else(|why| panic!("{name}: {why}"));
            let place = format!("{name}:{line}");
            let Some(film) = films.iter().find(|film| film.line == line) else {
                assert!(seen.operations.is_empty(), "{place}");
                continue;
            };
            let counted = |results: &Results| {
                let counters = &results.counters;
                let copies = counters.gc_moved + counters.background_moved;
                (counters.requests, counters.array_programs, copies, counters.erases)
            };
            assert_eq!(counted(&film.results), counted(&seen.results), "{place}");
            let (_, programs, copies, erases) = counted(&seen.results);
            for (key, count) in [("programs", programs), ("copies", copies), ("erases", erases)] {
                assert_eq!(film.head[key], count, "{place}: {key}");
            }
            assert!(!film.bytes.is_empty(), "{place}");
        }
    }
}

const PAGE: &str = "```requests
0 us  write 5
```
```timeline
1      0 us - 305.6 us  die 0  program 5
length 1 = t_transfer + t_program
```
";

/// A checker that passes everything would pass every page too.
#[test]
fn a_wrong_page_is_found() {
    let base = base();
    let errors = |text: &str| check("canary", text, &base).errors.len();
    assert_eq!(errors(PAGE), 0);
    for (right, wrong) in [
        ("305.6 us", "305.7 us"),
        ("program 5", "program 6"),
        ("die 0", "die 1"),
        ("t_transfer +", "t_read +"),
        ("1      0 us", "2      0 us"),
    ] {
        assert!(PAGE.contains(right));
        assert_eq!(errors(&PAGE.replacen(right, wrong, 1)), 1, "{wrong}");
    }
    let blessed = check("canary", &PAGE.replace("305.6", "1"), &base).blessed;
    assert_eq!(blessed, PAGE);
}
