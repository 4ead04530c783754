//! Functions, fields, variables and types are named with verbs of code, not with verbs of people.

use super::{files, none, read, root, short};

/// Verbs of people, and words of code for each.
const VERBS: [(&str, &str); 6] = [
    ("hear hears heard", "pass, take, receive"),
    ("tell tells told", "notify, report, write"),
    ("see sees saw", "observe, count, find"),
    ("ask asks asked", "request, check, query, choose"),
    ("want wants wanted", "need, require, request"),
    ("say says said knock knocks", "log, report, come"),
];

/// The remedy for a name whose first word is a verb of people.
fn remedy(name: &str) -> Option<&'static str> {
    let first = name.split('_').next()?.to_ascii_lowercase();
    let found = VERBS.iter().find(|(words, _)| words.split(' ').any(|word| word == first))?;
    Some(found.1)
}

/// The names in a line of code, without its strings and its comment.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let unquoted =
        line.split('"').step_by(2).take_while(|part| !part.trim_start().starts_with("//"));
    let code = unquoted.map(|part| part.split("//").next().unwrap_or_default());
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.flat_map(move |part| part.split(move |c| !is_part(c))).filter(|name| !name.is_empty())
}

#[test]
fn nothing_is_named_with_verbs_of_people() {
    assert_eq!(remedy("tell_busy"), Some("notify, report, write"));
    assert_eq!(remedy("sequence"), None);
    let line = r#"
        let asked = told("it says", 3); // it asks
    "#;
    assert_eq!(names(line.trim()).collect::<Vec<_>>(), ["let", "asked", "told", "3"]);
    let (mut complaints, mut count) = (Vec::new(), 0);
    for path in files(&root().join("crates"), "rs") {
        let (text, mut is_text) = (read(&path), false);
        for (number, line) in text.lines().enumerate() {
            // Texts of several lines: `r#"` to `"#`, and those whose lines end in a backslash.
            let was_text = is_text;
            is_text = match was_text {
                true => !line.contains("\"#") && !line.trim_end().ends_with(['"', ';', ',', ')']),
                false => {
                    let raw = line.rfind("r#\"").is_some_and(|at| !line[at..].contains("\"#"));
                    raw || line.trim_end().ends_with('\\')
                }
            };
            if was_text {
                continue;
            }
            for name in names(line) {
                count += 1;
                if let Some(remedy) = remedy(name) {
                    let place = format!("{}:{}", short(&path), number + 1);
                    complaints.push(format!("{place}: `{name}`: use another word, as {remedy}"));
                }
            }
        }
    }
    assert!(count > 300_000, "only {count} names");
    none(&complaints);
}
