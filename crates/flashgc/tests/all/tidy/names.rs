//! Functions are named with verbs of code, not with verbs of people.

use super::{files, none, read, root, short};

/// Verbs of people, and a verb of code for each.
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
    let first = name.split('_').next()?;
    let found = VERBS.iter().find(|(words, _)| words.split(' ').any(|word| word == first))?;
    Some(found.1)
}

#[test]
fn functions_are_not_named_with_verbs_of_people() {
    assert_eq!(remedy("tell_busy"), Some("notify, report, write"));
    assert_eq!(remedy("sequence"), None);
    let (mut complaints, mut count) = (Vec::new(), 0);
    for path in files(&root().join("crates"), "rs") {
        let text = read(&path);
        for (number, line) in text.lines().enumerate() {
            let Some((_, declared)) = line.split_once("fn ") else { continue };
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = declared.split(|c| !is_part(c)).next().unwrap_or_default();
            count += usize::from(!name.is_empty());
            if let Some(remedy) = remedy(name).filter(|_| declared.contains('(')) {
                let place = format!("{}:{}", short(&path), number + 1);
                complaints.push(format!("{place}: `{name}`: use another verb, as {remedy}"));
            }
        }
    }
    assert!(count > 5_000, "only {count} functions");
    none(&complaints);
}
