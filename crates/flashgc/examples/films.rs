//! The recordings of the pages of `docs/timelines`, as JSON, for the site: `scripts/films`.
#![allow(clippy::print_stdout, dead_code)]

#[path = "../tests/all/timeline_page/mod.rs"]
mod timeline_page;

use serde_json::{Map, Value, json};
use std::path::Path;
use timeline_page::film::films;
use timeline_page::page::Base;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/timelines");
    let base = Base::of_readme(&std::fs::read_to_string(folder.join("README.md"))?);
    let mut pages = Map::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == "README.md" || !name.ends_with(".md") {
            continue;
        }
        let films = films(&std::fs::read_to_string(&path)?, &base)?;
        let all = films.iter().map(|film| {
            let hex: String = film.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "line": film.line, "head": film.head, "film": hex })
        });
        pages.insert(name, Value::from_iter(all));
    }
    println!("{}", Value::Object(pages));
    Ok(())
}
