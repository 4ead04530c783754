//! The size of files, lines and functions.

use super::{files, none, read, root, short};

const LINES_MAX: usize = 500;
const COLUMNS_MAX: usize = 100;
/// A function has fewer lines than this.
const FUNCTION_LINES: usize = 70;

#[test]
fn rust_files_are_short_and_narrow() {
    let mut complaints = Vec::new();
    for path in files(&root().join("crates"), "rs") {
        let (name, text) = (short(&path), read(&path));
        let lines = text.lines().count();
        if lines > LINES_MAX {
            complaints.push(format!("{name}: {lines} lines, more than {LINES_MAX}"));
        }
        for (at, line) in text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > COLUMNS_MAX {
                complaints.push(format!("{name}:{}: {columns} columns", at + 1));
            }
        }
    }
    none(&complaints);
}

/// Examples in documentation are compiled in crates that have some; a search for them takes seconds
/// each. A block of another language names it.
#[test]
fn no_example_of_documentation_is_passed_over() {
    let mut complaints = Vec::new();
    for path in files(&root().join("crates"), "toml") {
        let (source, text) = (path.with_file_name("src"), read(&path));
        if !text.contains("doctest = false") || !source.is_dir() {
            continue;
        }
        for file in files(&source, "rs") {
            if has_example(&read(&file)) {
                complaints.push(format!("{}: {} has examples", short(&path), short(&file)));
            }
        }
    }
    none(&complaints);
}

/// Whether documentation has a block of code without another language.
fn has_example(text: &str) -> bool {
    let comments = text.lines().map(str::trim_start);
    let mut fences = comments.filter_map(|line| {
        let words = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        words.trim_start().strip_prefix("```")
    });
    // Each second one ends a block.
    std::iter::from_fn(|| {
        let language = fences.next()?;
        fences.next();
        Some(language)
    })
    .any(|language| !language.starts_with("text"))
}

#[test]
fn an_example_is_found() {
    assert!(has_example("/// ```text\n/// a\n/// ```\n/// ```\n/// b();\n/// ```\n"));
    assert!(!has_example("//! ```text\n//! a\n//! ```\nlet a = \"```\";\n"));
}

/// The engine is compiled once more for each type that watches it.
#[test]
fn tests_have_no_watchers_of_their_own() {
    let tests = root().join("crates/flashgc/tests/all");
    let watches = ["impl Watch ", "for "].join("");
    let found = files(&tests, "rs").into_iter().filter(|path| read(path).contains(&watches));
    none(&found.map(|path| format!("{}: use common::spy", short(&path))).collect::<Vec<_>>());
}

/// The functions of a text in the shape that rustfmt gives it: the first line of each, counted from
/// 1, its name and its number of lines. A function ends with the brace, or the semicolon, that
/// stands as far to the right as its first line.
pub fn functions(text: &str) -> Vec<(usize, &str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function(line) else { continue };
        let indent = line.len() - line.trim_start().len();
        let ends = |line: &&str| {
            let (before, rest) = line.split_at(indent.min(line.len()));
            let is_here = before.trim().is_empty() && !rest.starts_with(' ');
            is_here && (rest == "}" || rest.ends_with(';'))
        };
        let is_one_line = line.ends_with('}') || line.ends_with(';');
        let more = lines[at..].iter().position(ends).filter(|_| !is_one_line).unwrap_or(0);
        found.push((at + 1, name, more + 1));
    }
    found
}

/// The name of the function that begins in this line.
fn function(line: &str) -> Option<&str> {
    const BEFORE: [&str; 6] = ["pub", "const", "unsafe", "async", "extern", "\"C\""];
    let (before, rest) = line.split_once("fn ")?;
    let is_before = |word: &str| BEFORE.contains(&word) || word.starts_with("pub(");
    let is_declared = before.split_whitespace().all(|word| is_before(word) || word.ends_with(')'));
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    (is_declared && end > 0).then(|| &rest[..end])
}

#[test]
fn functions_are_short() {
    let mut complaints = Vec::new();
    let mut count = 0;
    for path in files(&root().join("crates"), "rs") {
        let text = read(&path);
        for (line, name, lines) in functions(&text) {
            count += 1;
            if lines >= FUNCTION_LINES {
                complaints.push(format!("{}:{line}: `{name}` has {lines} lines", short(&path)));
            }
        }
    }
    assert!(count > 2000, "only {count} functions were found");
    none(&complaints);
}

#[test]
fn the_lines_of_a_function_are_counted() {
    let text = "\
fn one() {}
pub(super) const fn two(
    a: u32,
) -> u32 {
    if a > 0 {
    }
    a
}
trait Three {
    fn four(&self) -> u32;

    fn five(
        &self,
    );
    unsafe fn six() {
        // fn seven
    }
}
";
    let expected = [(1, "one", 1), (2, "two", 7), (10, "four", 1), (12, "five", 3), (15, "six", 3)];
    assert_eq!(functions(text), expected);
}

/// The type of an `impl` that is not of a trait.
pub fn own_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(_) => rest.split_once("> ")?.1,
        None => rest.strip_prefix(' ')?,
    };
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (!rest.contains(" for ") && !name.is_empty()).then_some(name)
}

#[test]
fn the_type_of_an_impl_is_found() {
    for (line, name) in [
        ("impl Host {", Some("Host")),
        ("impl<W: Watch> Sim<W> {", Some("Sim")),
        ("impl Seen<'_> {", Some("Seen")),
        ("impl<W: Watch> Task<W> for Flush {", None),
        ("impl From<A> for B {", None),
        ("struct Host {", None),
    ] {
        assert_eq!(own_type(line), name, "{line}");
    }
}
