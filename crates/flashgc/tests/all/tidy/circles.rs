//! Circles of files: a file that leads back to itself, by the paths that it names.
//!
//! A file leads to another of its room where a path in it (`super::…`, `crate::…`, a module of its
//! own) ends there. A name that a file only re-exports leads to the file that declares it.

use super::{engine, none, read};
use std::collections::{BTreeMap, BTreeSet};

/// The most files of a circle.
const FILES_MAX: usize = 3;

/// A module, as the words of its path from the root of the crate.
type Module = Vec<String>;

/// The modules of the crate, each with the code of its file.
struct Modules(BTreeMap<Module, Code>);

struct Code {
    /// The words of the path to the root of its crate.
    root: usize,
    /// Without comments, tests and `use`.
    text: String,
    /// The paths of `use`.
    uses: Vec<Vec<String>>,
    /// The names that `pub use` passes on, each with its path.
    exports: BTreeMap<String, Vec<String>>,
}

impl Code {
    fn of(text: &str) -> Code {
        let text = text.split("#[cfg(test)]\nmod ").next().expect("a part");
        let lines = text.lines().map(|line| line.split("//").next().expect("a part"));
        let text = lines.collect::<Vec<_>>().join("\n");
        let (mut uses, mut exports) = (Vec::new(), BTreeMap::new());
        let (mut code, mut left) = (String::new(), text.as_str());
        while let Some(at) = next_use(left) {
            code.push_str(&left[..at]);
            let (statement, after) = left[at..].split_once(';').expect("`use` ends");
            let (visible, tree) = statement.split_once("use ").expect("`use`");
            for path in tree_of(tree) {
                match visible.starts_with("pub") {
                    true => drop(exports.insert(path.last().expect("a word").clone(), path)),
                    false => uses.push(path),
                }
            }
            left = after;
        }
        code.push_str(left);
        Code { root: 0, text: code, uses, exports }
    }

    /// The words between which `::` stands, wherever the code names such a path.
    fn paths(&self) -> Vec<Vec<String>> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let words = self.text.split(|c| !is_part(c)).filter(|word| word.contains("::"));
        words.map(|word| word.split("::").map(String::from).collect()).collect()
    }

    /// The words of the code, without those that declare modules.
    fn words(&self) -> BTreeSet<&str> {
        let lines = self
            .text
            .lines()
            .filter(|line| !line.trim_end().ends_with(';') || !line.contains("mod "));
        lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_')).collect()
    }

    /// The words that macros at the left margin are given, as in a registry.
    fn given_to_macros(&self) -> Vec<String> {
        let mut words = Vec::new();
        for part in self.text.split("! {\n").skip(1) {
            let list = part.split("\n}").next().expect("a part");
            let is_list = list.chars().all(|c| c.is_alphanumeric() || "_ \n,".contains(c));
            if is_list {
                words.extend(list.split([' ', '\n', ',']).map(String::from));
            }
        }
        words
    }
}

/// The position of the next `use`, with its visibility.
fn next_use(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let visible = start.strip_prefix("pub").map_or(start, |rest| {
            rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, r)| r)
        });
        if visible.trim_start().starts_with("use ") {
            return Some(at + line.len() - start.len());
        }
        at += line.len();
    }
    None
}

/// The paths of a tree of `use`.
fn tree_of(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((before, list)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().expect("a part");
        return vec![path.split("::").map(|word| word.trim().to_string()).collect()];
    };
    let list = list.trim_end().strip_suffix('}').expect("a list ends");
    let (mut items, mut depth) = (vec![String::new()], 0);
    for c in list.chars() {
        match c {
            ',' if depth == 0 => items.push(String::new()),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                items.last_mut().expect("an item").push(c);
            }
        }
    }
    let items = items.iter().filter(|item| !item.trim().is_empty());
    let start: Vec<String> =
        before.trim().split("::").filter(|word| !word.is_empty()).map(String::from).collect();
    let whole = |path: Vec<String>| [start.clone(), path].concat();
    let paths = items.flat_map(|item| tree_of(item)).map(whole);
    paths.map(|path| path.into_iter().filter(|word| word != "self").collect()).collect()
}

impl Modules {
    fn of_the_engine() -> Modules {
        let mut modules = BTreeMap::new();
        for file in engine() {
            if file.module.last().is_none_or(|word| word != "tests") {
                let code = Code { root: file.root, ..Code::of(&read(&file.path)) };
                modules.insert(file.module, code);
            }
        }
        Modules(modules)
    }

    /// The module in whose file a path ends.
    fn end(&self, from: &Module, path: &[String]) -> Option<Module> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => from[..self.0.get(from).map_or(0, |code| code.root)].to_vec(),
            "self" => from.clone(),
            "super" => from[..from.len().checked_sub(1)?].to_vec(),
            own => [from.clone(), vec![own.to_string()]].concat(),
        };
        self.0.get(&at)?;
        while let Some((word, after)) = rest.split_first() {
            let next = match word.as_str() {
                "super" => at[..at.len().checked_sub(1)?].to_vec(),
                word => [at.clone(), vec![word.to_string()]].concat(),
            };
            if !self.0.contains_key(&next) {
                let export = self.0[&at].exports.get(word).filter(|_| at != *from);
                return export.map_or(Some(at.clone()), |path| self.end(&at, path));
            }
            (at, rest) = (next, after);
        }
        Some(at)
    }

    /// The files of its own room to which each file leads.
    fn graph(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let leads = |(module, code): (&Module, &Code)| {
            let words = code.words();
            let used = |(name, path): (&String, &Vec<String>)| {
                words.contains(name.as_str()).then(|| path.clone())
            };
            let exported = code.exports.iter().filter_map(used);
            let listed = code.given_to_macros().into_iter().map(|word| vec![word]);
            let paths = code.uses.iter().cloned().chain(exported).chain(listed);
            let ends = paths.chain(code.paths()).filter_map(|path| self.end(module, &path));
            ends.filter(|end| end != module && end.first() == module.first()).collect()
        };
        self.0.iter().map(|entry| (entry.0, leads(entry))).collect()
    }
}

/// The files to which a file leads, directly or through others.
fn reached<'a>(
    graph: &'a BTreeMap<&Module, BTreeSet<Module>>,
    from: &'a Module,
) -> BTreeSet<&'a Module> {
    let (mut found, mut due) = (BTreeSet::new(), vec![from]);
    while let Some(module) = due.pop() {
        due.extend(graph[module].iter().filter(|next| found.insert(*next)));
    }
    found
}

/// The largest circle of each room that has any.
fn circles<'a>(
    graph: &BTreeMap<&'a Module, BTreeSet<Module>>,
) -> BTreeMap<&'a str, Vec<&'a Module>> {
    let all: BTreeMap<&Module, BTreeSet<&Module>> =
        graph.keys().map(|&module| (module, reached(graph, module))).collect();
    let mut largest: BTreeMap<&str, Vec<&Module>> = BTreeMap::new();
    for (&module, reached) in all.iter().filter(|(module, reached)| reached.contains(*module)) {
        let is_in = |other: &&&Module| reached.contains(**other) && all[**other].contains(module);
        let circle: Vec<&Module> = all.keys().filter(is_in).copied().collect();
        let found = largest.entry(module[0].as_str()).or_default();
        if circle.len() > found.len() {
            *found = circle;
        }
    }
    largest
}

#[test]
fn no_room_has_a_large_circle_of_files() {
    let modules = Modules::of_the_engine();
    let graph = modules.graph();
    let edges: usize = graph.values().map(BTreeSet::len).sum();
    assert!(edges > 200, "only {edges} paths from file to file were found");
    let largest = circles(&graph);
    let mut complaints = Vec::new();
    for (room, circle) in &largest {
        let names: Vec<String> = circle.iter().map(|module| module.join("/")).collect();
        if circle.len() > FILES_MAX {
            let (count, names) = (circle.len(), names.join(", "));
            complaints.push(format!("{room}: {count} files lead to each other: {names}"));
        }
    }
    none(&complaints);
}

#[test]
fn circles_of_files_are_found() {
    let module = |path: &str| path.split('/').map(String::from).collect::<Module>();
    let texts = [
        ("room", "pub mod a;\nmod b;\npub use b::Thing;\n"),
        ("room/a", "use super::{Thing, c::deep as other};\nfn f() {}"),
        ("room/b", "pub struct Thing; // super::a\nfn g() { super::a::f(); }"),
        ("room/c", "fn deep() { crate::room::d::h() }"),
        ("room/d", "mod e;\nlist! {\n    e\n}\n"),
        ("room/d/e", "use super::super::c;\n"),
        ("other", "use crate::room::a;\n"),
    ];
    let modules = texts.iter().map(|(path, text)| (module(path), Code::of(text)));
    let modules = Modules(modules.chain([(Module::new(), Code::of(""))]).collect());
    let graph = modules.graph();
    let leads =
        |path: &str| graph[&module(path)].iter().map(|module| module.join("/")).collect::<Vec<_>>();
    assert_eq!(leads("room"), Vec::<String>::new());
    assert_eq!(leads("room/a"), ["room/b", "room/c"]);
    assert_eq!(leads("room/b"), ["room/a"]);
    assert_eq!(leads("room/d"), ["room/d/e"]);
    assert_eq!(leads("other"), Vec::<String>::new());
    let found = circles(&graph);
    let circle: Vec<String> = found["room"].iter().map(|module| module.join("/")).collect();
    assert_eq!(circle, ["room/c", "room/d", "room/d/e"]);
    assert_eq!(found.len(), 1);
}
