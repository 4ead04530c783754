//! The texts of errors, as users see them.

use flashgc_config::{Diagnostic, Diagnostics, Reader, Sink, Tree};

fn read(text: &str, act: impl Fn(&Reader<'_>)) -> String {
    let tree = Tree::parse("run.toml", text).expect("valid TOML");
    let sink = Sink::default();
    act(&Reader::root(&tree, &sink));
    sink.into_diagnostics().to_string()
}

#[test]
fn a_wrong_unit_shows_line_caret_and_help() {
    let lines = "\n".repeat(16);
    let text = format!("{lines}device.timing.read = \"50 uss\"\n");
    let shown = read(&text, |root| {
        root.table("device").table("timing").duration_ns("read");
    });
    let expected = r#"error: `device.timing.read` is not a duration: "50 uss"
  --> run.toml:17:22
   |
17 | device.timing.read = "50 uss"
   |                      ^^^^^^^^
   = help: unknown unit `uss`; write a number and a unit: ns, us, ms, s, min or h, as in "25 us""#;
    assert_eq!(shown, expected);
}

#[test]
fn a_misspelt_key_gets_the_nearest() {
    let shown = read("[device]\nchanels = 8\n", |root| {
        let device = root.table("device");
        device.u32("channels", 1..=64);
        device.u32("dies", 1..=64);
        device.finish();
        root.finish();
    });
    let expected = "\
error: unknown key `chanels` in [device]
 --> run.toml:2:1
  |
2 | chanels = 8
  | ^^^^^^^
  = help: did you mean `channels`?";
    assert_eq!(shown, expected);
}

#[test]
fn a_key_like_no_other_gets_the_list() {
    let shown = read("zebra = 8\n", |root| {
        root.u32("channels", 1..=64);
        root.allow("dies");
        root.finish();
        root.finish();
    });
    assert!(shown.starts_with("error: unknown key `zebra` at the top level\n"), "{shown}");
    assert!(shown.ends_with("= help: valid keys: `channels`, `dies`"), "{shown}");
    let shown = read("zebra = 8\n", |root| root.finish());
    assert!(shown.ends_with("= help: no key is valid here; remove it"), "{shown}");
}

#[test]
fn all_errors_are_shown_in_order_of_the_file() {
    let text = "[a]\nx = \"no\"\ny = 70\n[b]\nz = true\n";
    let shown = read(text, |root| {
        root.table("b").string("z");
        let a = root.table("a");
        a.u64("y", 1..=64);
        a.u64("x", 1..=64);
        a.required("w", a.u64("w", 1..=64), "the number of dies");
        let nowhere = root.table("c");
        nowhere.required("v", nowhere.bool("v"), "true or false");
    });
    let heads: Vec<&str> = shown.lines().filter(|line| line.starts_with("error")).collect();
    let expected = [
        "error: missing key `a.w`",
        "error: `a.x` is not a whole number: \"no\"",
        "error: `a.y` is out of range: 70",
        "error: `b.z` is not a string: true",
        "error: missing key `c.v`",
    ];
    assert_eq!(heads, expected);
    assert!(shown.contains("\n\nerror: `a.y`"), "{shown}");
    assert!(shown.contains("--> run.toml:1:2\n"), "the missing key points at [a]: {shown}");
    assert!(shown.ends_with("error: missing key `c.v`\n  = help: true or false"), "{shown}");
}

#[test]
fn layers_sort_before_lines() {
    let mut tree = Tree::parse("low.toml", "\n\na = 1\nd = 1").expect("valid");
    tree.overlay(Tree::parse("high.toml", "b = 1").expect("valid"));
    tree.set("c=1").expect("valid");
    let sink = Sink::default();
    sink.push(Diagnostic::new("nowhere"));
    let root = Reader::root(&tree, &sink);
    for key in ["c", "b", "d", "a"] {
        root.bool(key);
    }
    let found = sink.into_diagnostics();
    let order: Vec<_> = found.sorted().iter().map(|d| d.key.clone()).collect();
    let names = ["a", "d", "b", "c"].map(|name| Some(name.to_string()));
    assert_eq!(order[..4], names);
    assert_eq!(order[4], None);
    let first = found.iter().next().expect("five errors");
    assert_eq!(first.message, "nowhere");
}

#[test]
fn tabs_micro_signs_and_control_characters_keep_the_caret_in_place() {
    let shown = read("\t\"\u{b5}\" = 'x\u{b5}'\r\n", |root| {
        root.bool("\u{b5}");
    });
    let expected = "\
error: `\"\u{b5}\"` is not true or false: \"x\u{b5}\"
 --> run.toml:1:8
  |
1 | \t\"\u{b5}\" = 'x\u{b5}'
  | \t      ^^^^
  = help: write true or false, without quotes";
    assert_eq!(shown, expected);
    let mut tree = Tree::empty();
    let shown = tree.set("\u{1b}[31m").expect_err("no `=`").to_string();
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn every_syntax_error_is_shown_in_plain_words() {
    let text = "a = 50 us\nb =\nc = 1\nc = 2\nd = \"open\ne = { f = g, h = i }\n";
    let shown = Tree::parse("run.toml", text).expect_err("six mistakes").to_string();
    let places: Vec<&str> = shown.lines().filter(|line| line.contains("-->")).collect();
    let expected = [1, 2, 4, 5, 6, 6].map(|line| format!(" --> run.toml:{line}:"));
    assert_eq!(places.len(), 6, "{shown}");
    for (place, start) in places.iter().zip(expected) {
        assert!(place.starts_with(&start), "{shown}");
    }
    assert!(shown.contains("= help: write \"50 us\""), "{shown}");
    assert!(shown.contains("error: a value is missing here"), "{shown}");
    assert!(shown.contains("error: `c` is given twice"), "{shown}");
    assert!(shown.contains("error: not valid TOML: invalid basic string"), "{shown}");
    // One forgotten bracket confuses the parser five times; one message is enough.
    let open = Tree::parse("run.toml", "x = [1, 2\ny = 3\n").expect_err("an open list");
    assert_eq!(open.len(), 1, "{open}");
}

#[test]
fn garbage_does_not_flood_the_screen() {
    let found = Tree::parse("run.toml", &"= x\n".repeat(5_000)).expect_err("garbage");
    assert_eq!(found.len(), 51);
    assert!(found.to_string().ends_with("error: run.toml: more syntax errors, not shown"));
}

#[test]
fn diagnostics_are_a_list() {
    let mut list = Diagnostics::default();
    assert!(list.is_empty() && list.to_string().is_empty());
    list.push(Diagnostic::new("one"));
    list.push(Diagnostic::new("one"));
    list.extend(vec![Diagnostic::new("two")]);
    list.extend(Diagnostics::from(Diagnostic::new("three")));
    assert_eq!(list.len(), 3);
    assert_eq!(list.to_string(), "error: one\n\nerror: two\n\nerror: three");
    let error: Box<dyn std::error::Error + Send + Sync> = Box::new(list);
    assert!(error.to_string().starts_with("error: one"));
}

#[test]
fn a_line_of_200_kb_is_quoted_in_part_around_its_place() {
    let long = "x".repeat(200_000);
    for text in [
        format!("a = \"{long}\" nonsense\n"),
        format!("{long} = 1\n"),
        format!("a = {long}\n"),
        format!("# {long}\na = [1, 2, \"{long}\n"),
    ] {
        let mut found = match Tree::parse("run.toml", &text) {
            Err(found) => found,
            Ok(tree) => {
                let sink = Sink::default();
                Reader::root(&tree, &sink).finish();
                sink.into_diagnostics()
            }
        };
        found.push(Diagnostic::new("the end"));
        let shown = found.to_string();
        assert!(shown.len() < 2_000, "{} bytes: {}", shown.len(), &shown[..500]);
        assert!(shown.contains('^') && shown.contains('…'), "{shown}");
    }
    let set = Tree::parse("run.toml", "").and_then(|mut tree| tree.set(&long));
    assert!(set.unwrap_err().to_string().len() < 1_000);
}
