//! Layers, assignments and the origins of values.

use flashgc_config::{Exclusive, Place, Reader, Sink, Tree, Unset};
use serde_json::json;

fn parse(name: &str, text: &str) -> Tree {
    Tree::parse(name, text).expect("valid TOML")
}

fn place(tree: &Tree, table: &str, key: &str) -> Place {
    let sink = Sink::default();
    let place = Reader::root(tree, &sink).table(table).place(key);
    place.expect("a place")
}

#[test]
fn the_top_layer_wins_and_tables_merge() {
    let preset = parse("preset.toml", "name = 'p'\n[timing]\nread = '50 us'\nerase = '3 ms'\n");
    let mut tree = Tree::nested(&["device"], preset);
    tree.overlay(parse("run.toml", "seed = 1\n[device.timing]\nread = '40 us'\n[gc]\nx = [1]"));
    tree.overlay(parse("more.toml", "gc.x = [2, 3]\n"));
    let expected = json!({
        "device": { "name": "p", "timing": { "read": "40 us", "erase": "3 ms" } },
        "seed": 1,
        "gc": { "x": [2, 3] },
    });
    assert_eq!(tree.to_json(), expected);

    let (text, read) = tree.str_at(&["device", "timing", "read"]).expect("a string");
    assert_eq!((text, read.source.as_str(), read.line, read.column), ("40 us", "run.toml", 3, 8));
    assert_eq!((read.length, read.text.as_str()), (7, "read = '40 us'"));
    let (_, erase) = tree.str_at(&["device", "timing", "erase"]).expect("a string");
    assert_eq!((erase.source.as_str(), erase.line), ("preset.toml", 4));
    assert_eq!(place(&tree, "gc", "x").source, "more.toml");
    assert_eq!(place(&tree, "device", "timing").source, "run.toml");
}

#[test]
fn a_value_replaces_a_table_and_the_other_way_round() {
    let mut tree = parse("a", "x.y = 1\nz = 2");
    tree.overlay(parse("b", "x = 3\nz.w = 4"));
    assert_eq!(tree.to_json(), json!({ "x": 3, "z": { "w": 4 } }));
}

#[test]
fn looking_up_cutting_out_and_copying() {
    let mut tree = parse("a", "preset = 'x'\nn = 1\n[t.u]\nk = 2\n");
    assert!(tree.has(&["t", "u", "k"]) && tree.has(&[]) && !tree.has(&["n", "k"]));
    assert!(tree.str_at(&["n"]).is_none() && tree.str_at(&[]).is_none());
    assert_eq!(tree.subtree(&["t", "u"]).map(|t| t.to_json()), Some(json!({ "k": 2 })));
    assert!(tree.subtree(&["n"]).is_none() && tree.subtree(&["none"]).is_none());
    assert_eq!(tree.remove(&["preset"]), Some(json!("x")));
    assert_eq!(tree.remove(&["preset"]), None);
    assert_eq!(tree.remove(&["n", "k"]), None);
    assert_eq!(tree.remove(&["t", "u"]), Some(json!({ "k": 2 })));
    assert_eq!(tree.to_json(), json!({ "n": 1, "t": {} }));
    assert_eq!(Tree::empty().to_json(), json!({}));
}

#[test]
fn json_keeps_what_it_can() {
    let text = "a = 18446744073709551615\nb = -1\nc = 18446744073709551616\nd = nan\ne = 0.5\n";
    let expected = json!({
        "a": u64::MAX, "b": -1, "c": "18446744073709551616", "d": "nan", "e": 0.5,
    });
    assert_eq!(parse("a", text).to_json(), expected);
}

#[test]
fn assignments_take_toml_values_or_bare_strings() {
    let mut tree = Tree::empty();
    let assignments = [
        "a.int=5",
        "a.float = 0.5",
        "a.flag=true",
        "a.quoted=\"5\"",
        "a.list=[1, 'x']",
        "a.table={ x = 1 }",
        "a.table={ y = 2 }",
        "a.bare=4 blocks",
        "a.empty=",
        "a.eq=x=y",
        "a.date=2024-01-01",
        "a.open=[1,",
        " a . spaced = b c ",
    ];
    for assignment in assignments {
        tree.set(assignment).expect(assignment);
    }
    let expected = json!({ "a": {
        "int": 5, "float": 0.5, "flag": true, "quoted": "5", "list": [1, "x"],
        "table": { "y": 2 }, "bare": "4 blocks", "empty": "", "eq": "x=y",
        "date": "2024-01-01", "open": "[1,", "spaced": "b c",
    } });
    assert_eq!(tree.to_json(), expected);
}

#[test]
fn assignments_know_their_place() {
    let mut tree = parse("run.toml", "[gc]\nsoft = '1 block'\n");
    tree.set("gc.soft=4 blocks").expect("valid");
    tree.set("gc.hard = 7").expect("valid");
    let (text, soft) = tree.str_at(&["gc", "soft"]).expect("a string");
    assert_eq!(text, "4 blocks");
    assert_eq!((soft.source.as_str(), soft.line, soft.column, soft.length), ("--set", 1, 9, 8));
    assert_eq!(soft.text, "gc.soft=4 blocks");
    let hard = place(&tree, "gc", "hard");
    assert_eq!((hard.column, hard.length), (11, 1));

    // The header in the file is more helpful for a missing key than the assignment.
    let sink = Sink::default();
    let gc = Reader::root(&tree, &sink).table("gc");
    gc.required("policy", gc.string("policy"), "the name of a policy");
    let found = sink.into_diagnostics();
    let header = found.iter().next().and_then(|d| d.place.clone()).expect("a place");
    assert_eq!((header.source.as_str(), header.line, header.column), ("run.toml", 1, 2));
}

#[test]
fn an_unknown_assigned_key_points_into_the_assignment() {
    let mut tree = Tree::empty();
    tree.set("devise.dies=4").expect("valid");
    let sink = Sink::default();
    let root = Reader::root(&tree, &sink);
    root.table("device");
    root.finish();
    let expected = "\
error: unknown key `devise` at the top level
 --> --set:1:1
  |
1 | devise.dies=4
  | ^^^^^^
  = help: did you mean `device`?";
    assert_eq!(sink.into_diagnostics().to_string(), expected);
}

#[test]
fn bad_assignments_change_nothing() {
    let deep = format!("{}=1", ["a"; 33].join("."));
    let cases = [
        ("seed", "an assignment needs `=`", 1),
        ("=1", "a part of the key is empty", 1),
        ("a..b=1", "a part of the key is empty", 3),
        ("a.=1", "a part of the key is empty", 3),
        ("x.n.k.j=1", "`x.n` is a value, not a table", 3),
        (deep.as_str(), "the key has 33 parts, but at most 32 are allowed", 1),
    ];
    let mut tree = parse("a", "x.n = 1");
    for (assignment, message, column) in cases {
        let found = tree.set(assignment).expect_err(assignment);
        let error = found.iter().next().expect("one error");
        assert_eq!(error.message, message);
        assert!(error.help.is_some());
        assert_eq!(error.place.as_ref().map(|place| place.column), Some(column));
    }
    assert_eq!(tree.to_json(), json!({ "x": { "n": 1 } }));
    let errors = parse("a", "x = 1").set("x.n=2").expect_err("x is a value");
    let help = errors.iter().next().and_then(|error| error.help.clone());
    assert_eq!(help.as_deref(), Some("write a table `[x]` in place of the value, to set its keys"));
}

#[test]
fn a_byte_order_mark_is_no_column() {
    assert_eq!(parse("a", "\u{feff}k = 'x'").str_at(&["k"]).map(|(_, p)| p.column), Some(5));
}

#[test]
fn depth_is_refused_and_not_fatal() {
    let deep = vec!["a"; 100_000].join(".");
    let texts =
        [format!("{deep} = 1"), format!("[{deep}]"), format!("a = {}", "[".repeat(100_000))];
    for text in texts {
        assert!(Tree::parse("deep.toml", &text).is_err());
    }
    let mut tree = Tree::empty();
    assert!(tree.set(&format!("{deep}=1")).is_err());
    assert!(tree.set(&format!("a={}", "[".repeat(100_000))).is_ok());
}

fn given_over(below: &str, sets: &[&str], rules: &[Exclusive]) -> serde_json::Value {
    let (mut tree, mut top) = (parse("a.toml", below), Tree::empty());
    for assignment in sets {
        top.set(assignment).expect("valid");
    }
    tree.give_way(&top, rules);
    tree.overlay(top);
    tree.to_json()
}

#[test]
fn a_layer_takes_out_what_it_excludes_below_and_nothing_else() {
    const ONE: &[Exclusive] = &[Exclusive::OneOf { table: "w.gap", keys: &["a", "b", "c"] }];
    let below = "[w.gap]\na = 1\nb = 2\nother = 3\n[v.gap]\na = 4\n";
    let expected = json!({ "w": { "gap": { "other": 3, "b": 5 } }, "v": { "gap": { "a": 4 } } });
    assert_eq!(given_over(below, &["w.gap.b=5"], ONE), expected);
    // Both in one layer stay: the reader reports the conflict.
    let both = given_over(below, &["w.gap.b=5", "w.gap.c=6"], ONE);
    assert_eq!(both["w"]["gap"], json!({ "other": 3, "b": 5, "c": 6 }));

    const DEPTH: &[Exclusive] = &[
        Exclusive::Instead { table: "w", given: &["depth"], gone: &["gap", "rate"] },
        Exclusive::InItems { table: "w", given: &["depth"], list: "parts", gone: &["gap"] },
    ];
    let below = "[w]\ngap.fixed = 1\nrate = 2\nparts = [{ gap = 1, n = 2 }, { n = 3 }, 4]";
    let expected = json!({ "w": { "parts": [{ "n": 2 }, { "n": 3 }, 4], "depth": 8 } });
    assert_eq!(given_over(below, &["w.depth=8"], DEPTH), expected);
    assert_eq!(given_over(below, &["w.rate=8"], DEPTH)["w"]["gap"], json!({ "fixed": 1 }));

    const EITHER: &[Exclusive] = &[Exclusive::ValueOrTable { key: "w.size" }];
    let table = json!({ "w": { "size": { "mean": 8 } } });
    assert_eq!(given_over("w.size = 4", &["w.size.mean=8"], EITHER), table);
    assert_eq!(given_over("w.size.x = 4", &["w.size=8"], EITHER), json!({ "w": { "size": 8 } }));
    let merged = json!({ "w": { "size": { "x": 4, "mean": 8 } } });
    assert_eq!(given_over("w.size.x = 4", &["w.size.mean=8"], EITHER), merged);
}

/// Removes a key from the text; returns the remaining table, or the error.
fn unset(text: &str, key: &str) -> Result<serde_json::Value, String> {
    let mut unset = Unset::parse(key).map_err(|errors| errors.to_string())?;
    let (mut tree, sink) = (parse("a.toml", text), Sink::default());
    unset.apply(&mut tree);
    let root = Reader::root(&tree, &sink);
    let table = root.table("t");
    table.u64("depth", 1..=9);
    table.table("gap").u64("fixed", 1..=9);
    unset.unknown(&sink).map_or(Ok(tree.to_json()), |error| Err(error.to_string()))
}

#[test]
fn an_unset_key_is_gone_with_the_tables_that_it_leaves_empty() {
    let text = "seed = 1\n[t]\ndepth = 2\n[t.gap]\nfixed = 3\n";
    let left = |key| unset(text, key).expect(key);
    assert_eq!(left("t.gap.fixed"), json!({ "seed": 1, "t": { "depth": 2 } }));
    assert_eq!(left(" t . gap "), json!({ "seed": 1, "t": { "depth": 2 } }));
    assert_eq!(left("t"), json!({ "seed": 1 }));
    // A key that no reader reads can be unset in its table, for example a misspelled one.
    assert_eq!(left("seed")["t"]["depth"], 2);
    // A key that is valid and not there changes nothing.
    assert_eq!(unset("[t]\n", "t.depth"), Ok(json!({ "t": {} })));
}

#[test]
fn an_unknown_key_to_unset_has_its_nearest_name() {
    let wrong = |key| unset("[t]\ndepth = 2\n", key).expect_err(key);
    assert!(wrong("t.dept").contains("there is no key `t.dept`"), "{}", wrong("t.dept"));
    assert!(wrong("t.dept").contains("did you mean `t.depth`?"));
    assert!(wrong("t.gap.fixd").contains("--> --unset:1:7"), "{}", wrong("t.gap.fixd"));
    assert!(wrong("t.depth=3").contains("`--set KEY=VALUE` sets a value"));
    assert!(wrong("t..depth").contains("a part of the key is empty"));
}

#[test]
fn a_mistake_has_remedies() {
    let (tree, sink) = (parse("a.toml", "x = 1\n"), Sink::default());
    let root = Reader::root(&tree, &sink);
    root.error("x", "wrong", "");
    root.remedy("x", "2");
    root.remedy_without("y");
    let errors = sink.into_diagnostics();
    let remedies: Vec<_> = errors.iter().flat_map(|error| error.remedies.clone()).collect();
    assert_eq!(remedies, ["x=2", "y"]);
}
