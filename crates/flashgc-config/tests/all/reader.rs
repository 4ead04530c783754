//! Every getter, right and wrong.

use flashgc_config::{Reader, Share, ShareOf, Sink, Threshold, Tree};

/// Runs `act` over `text` and returns its value with the error messages and helps.
fn read<T>(text: &str, act: impl Fn(&Reader<'_>) -> T) -> (T, Vec<String>) {
    let tree = Tree::parse("run.toml", text).expect("valid TOML");
    let sink = Sink::default();
    let value = act(&Reader::root(&tree, &sink));
    let found = sink.into_diagnostics();
    let lines =
        found.iter().map(|d| format!("{} | {}", d.message, d.help.as_deref().unwrap_or("")));
    (value, lines.collect())
}

fn good<T>(text: &str, act: impl Fn(&Reader<'_>) -> Option<T>) -> T {
    let (value, errors) = read(text, act);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    value.expect("a value")
}

/// The one error that `text` gives.
fn bad<T>(text: &str, act: impl Fn(&Reader<'_>) -> Option<T>) -> String {
    let (value, mut errors) = read(text, act);
    assert!(value.is_none(), "{text} was accepted");
    assert_eq!(errors.len(), 1, "{text}: {errors:?}");
    errors.remove(0)
}

#[test]
fn whole_numbers() {
    assert_eq!(good("k = 0x1_0", |r| r.u64("k", 0..=16)), 16);
    assert_eq!(good("k = 18446744073709551615", |r| r.u64("k", 0..=u64::MAX)), u64::MAX);
    assert_eq!(good("k = 4294967295", |r| r.u32("k", 0..=u32::MAX)), u32::MAX);
    assert_eq!(read("", |r| r.u64("k", 0..=1)), (None, vec![]));
    let expected = "`k` is out of range: -1 | write a number from 1 to 64";
    assert_eq!(bad("k = -1", |r| r.u64("k", 1..=64)), expected);
    let expected = "`k` is out of range: 0 | write a number 1 or more";
    assert_eq!(bad("k = 0", |r| r.u32("k", 1..=u32::MAX)), expected);
    for huge in ["18446744073709551616", "99999999999999999999999999999999999999999999"] {
        let error = bad(&format!("k = {huge}"), |r| r.u64("k", 1..=u64::MAX));
        let allowed = "write a number from 1 to 18446744073709551615";
        assert_eq!(error, format!("`k` is out of range: {huge} | {allowed}"));
    }
    let expected =
        "`k` is not a whole number: 1.0 | write a whole number 0 or more, without quotes";
    assert_eq!(bad("k = 1.0", |r| r.u64("k", 0..=u64::MAX)), expected);
    for wrong in ["\"8\"", "true", "[1]", "{ a = 1 }", "2024-01-01"] {
        let error = bad(&format!("k = {wrong}"), |r| r.u32("k", 0..=9));
        assert!(error.starts_with("`k` is not a whole number: "), "{error}");
    }
}

#[test]
fn numbers() {
    assert_eq!(good("k = 0.5", |r| r.f64("k", 0.0..=1.0)), 0.5);
    assert_eq!(good("k = 1", |r| r.f64("k", 0.0..=1.0)), 1.0);
    assert!(good("k = -0.0", |r| r.f64("k", 0.0..=1.0)).is_sign_positive());
    let expected = "`k` is out of range: 1.5 | write a number from 0 to 1";
    assert_eq!(bad("k = 1.5", |r| r.f64("k", 0.0..=1.0)), expected);
    for wrong in ["nan", "inf", "-inf", "1e999"] {
        bad(&format!("k = {wrong}"), |r| r.f64("k", f64::MIN..=f64::MAX));
    }
    let expected = "`k` is not a number: \"x\" | write a number 0.5 or more, without quotes";
    assert_eq!(bad("k = 'x'", |r| r.f64("k", 0.5..=f64::MAX)), expected);
}

#[test]
fn shares_as_numbers_have_a_percentage_too() {
    let part = |text: &str| good(text, |r| r.part("k", 0.0..=1.0));
    assert_eq!(part("k = 0.7"), 0.7);
    assert_eq!(part("k = '70%'"), 0.7);
    assert_eq!(part("k = '.5 %'"), 0.005);
    assert_eq!(part("k = '33.3%'"), 0.333);
    assert_eq!(good("k = '150%'", |r| r.part("k", 0.0..=2.0)), 1.5);
    let expected = "`k` is out of range: \"150%\" | write a number from 0 to 1";
    assert_eq!(bad("k = '150%'", |r| r.part("k", 0.0..=1.0)), expected);
    let expected = "`k` is not a share: \"0.7\" | write a number from 0 to 1, or as in \"70%\"";
    assert_eq!(bad("k = '0.7'", |r| r.part("k", 0.0..=1.0)), expected);
    assert_eq!(good("k = ['20%', 0.3, 1]", |r| r.parts("k")), [0.2, 0.3, 1.0]);
    bad("k = ['20%', '1 MiB']", |r| r.parts("k"));
}

#[test]
fn numbers_may_begin_with_a_point_except_in_toml() {
    let mut tree = Tree::empty();
    for set in ["a=.5", "b=.25", "c=.x", "d=.5 ms"] {
        tree.set(set).unwrap();
    }
    let (sink, root) = (Sink::default(), &tree);
    let reader = Reader::root(root, &sink);
    assert_eq!(reader.f64("a", 0.0..=1.0), Some(0.5));
    assert_eq!(reader.share("b"), Some(Share { numerator: 1, denominator: 4 }));
    assert_eq!(reader.string("c"), Some(".x"));
    assert_eq!(reader.duration_ns("d"), Some(500_000));
    let errors = Tree::parse("run.toml", "k = .5").unwrap_err().to_string();
    assert!(errors.contains("write a digit before the point, as in 0.5"), "{errors}");
}

#[test]
fn flags_strings_and_lists() {
    assert!(good("k = true", |r| r.bool("k")));
    bad("k = 'true'", |r| r.bool("k"));
    assert_eq!(good("k = 'a b'", |r| r.string("k").map(str::to_string)), "a b");
    bad("k = 1", |r| r.string("k").map(str::to_string));
    assert_eq!(good("k = ['a', 'b']", |r| r.strings("k")), ["a", "b"]);
    assert!(good("k = []", |r| r.strings("k")).is_empty());
    bad("k = 'a'", |r| r.strings("k"));
    let (value, errors) = read("k = ['a', 1, [], { x = 1 }]", |r| r.strings("k"));
    assert!(value.is_none());
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors[0].starts_with("item 2 of `k` is not a string: 1 | "), "{errors:?}");
}

#[test]
fn choices() {
    let options = [("greedy", 1), ("cost-benefit", 2), ("fifo", 3)];
    assert_eq!(good("k = 'fifo'", |r| r.choice("k", &options)), 3);
    let list = "valid values: \"greedy\", \"cost-benefit\", \"fifo\"";
    let near = bad("k = 'Cost_benefit'", |r| r.choice("k", &options));
    let expected = "`k` is not one of the valid values: \"Cost_benefit\" | ";
    assert_eq!(near, format!("{expected}did you mean \"cost-benefit\"? {list}"));
    let far = bad("k = 'zebra'", |r| r.choice("k", &options));
    assert_eq!(far, format!("`k` is not one of the valid values: \"zebra\" | {list}"));
    bad("k = 3", |r| r.choice("k", &options));
}

#[test]
fn quantities() {
    assert_eq!(good("k = '0.1 us'", |r| r.duration_ns("k")), 100);
    assert!(bad("k = 5", |r| r.duration_ns("k")).contains("| the unit is missing; write"));
    assert!(bad("k = true", |r| r.duration_ns("k")).contains("not a duration: true | write"));
    assert_eq!(good("k = 4096", |r| r.bytes("k")), 4096);
    assert_eq!(good("k = '4 KiB'", |r| r.bytes("k")), 4096);
    assert!(bad("k = -1", |r| r.bytes("k")).contains("`-1` is negative"));
    assert!(bad("k = 0.5", |r| r.bytes("k")).contains("not a whole number of bytes"));
    assert_eq!(good("k = '25 ns/B'", |r| r.rate("k")).ns_for(4), 100);
    assert!(bad("k = '25 ns'", |r| r.rate("k")).contains("the unit needs a `/`"));
    assert_eq!(good("k = '4 blocks'", |r| r.threshold("k")), Threshold::Blocks(4));
    let share = Share { numerator: 1, denominator: 20 };
    let expected = Threshold::Share { share, of: ShareOf::Spare };
    assert_eq!(good("k = '5% of spare'", |r| r.threshold("k")), expected);
    assert!(bad("k = 4", |r| r.threshold("k")).contains("the unit is missing"));
    assert_eq!(good("k = 0.05", |r| r.share("k")), share);
    assert_eq!(good("k = '5%'", |r| r.share("k")), share);
}

#[test]
fn tables_missing_wrong_and_there() {
    let text = "t.u.x = 1\nn = 5\n";
    let (paths, errors) = read(text, |r| {
        assert_eq!(r.path(), "");
        assert_eq!(r.keys(), ["t", "n"]);
        assert!(r.has("t") && !r.has("x"));
        let (there, missing, wrong) = (r.table("t").table("u"), r.table("m"), r.table("n"));
        assert!(there.exists() && !missing.exists() && !wrong.exists());
        // The table itself is wrong; its keys are not also missing.
        wrong.required("x", wrong.bool("x"), "true or false");
        wrong.finish();
        assert!(there.place("x").is_some_and(|place| place.line == 1 && place.column == 9));
        [there.path().to_string(), missing.path().to_string()]
    });
    assert_eq!(paths, ["t.u", "m"]);
    assert_eq!(errors, ["`n` is not a table: 5 | write a table `[n]` with its keys below"]);
}

#[test]
fn required_reports_once() {
    let required = |r: &Reader<'_>| r.required("k", r.u64("k", 1..=4), "how many");
    assert_eq!(good("k = 3", required), 3);
    assert_eq!(bad("", required), "missing key `k` | how many");
    assert!(bad("k = 9", required).starts_with("`k` is out of range: 9"));
}

#[test]
fn own_errors_find_their_place() {
    let tree = Tree::parse("run.toml", "[t]\nk = 1\n").expect("valid");
    let sink = Sink::default();
    let root = Reader::root(&tree, &sink);
    root.table("t").error("k", "too odd", "choose an even one");
    root.table("t").error("absent", "needed here", "");
    root.error("absent", "needed at the root", "");
    let found: Vec<_> = sink.into_diagnostics().into_iter().collect();
    let at = |index: usize| found[index].place.as_ref().map(|p| (p.line, p.column));
    assert_eq!([at(0), at(1), at(2)], [Some((2, 5)), Some((1, 2)), None]);
    assert_eq!(found[1].key.as_deref(), Some("t.absent"));
    assert_eq!(found[1].help, None);
}

#[test]
fn asking_is_remembered_between_readers() {
    let text = "[a]\nx = 1\ny = 2\n[a.deep]\nz = 3\n[other]\nw = 4\n\"q.r\" = 5\n[empty]\n";
    let (unread, errors) = read(text, |r| {
        r.table("a").u64("x", 0..=9);
        r.table("a").u64("y", 0..=9);
        r.table("a").allow("deep");
        r.table("a").finish();
        assert_eq!(r.table("a").unread(), ["a.deep.z"]);
        assert!(r.table("none").unread().is_empty());
        r.unread()
    });
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(unread, ["a.deep.z", "other.w", "other.\"q.r\"", "empty"]);
}

#[test]
fn lists_of_tables() {
    let sum = |r: &Reader<'_>| {
        let items = r.tables("k")?;
        let values = items.iter().map(|item| {
            let value = item.required("n", item.u64("n", 0..=9), "a number");
            item.finish();
            value
        });
        values.sum::<Option<u64>>()
    };
    assert_eq!(good("[[k]]\nn = 1\n[[k]]\nn = 5", sum), 6);
    assert_eq!(good("k = [{ n = 4 }]", sum), 4);
    assert_eq!(read("", sum), (None, vec![]));
    let error = bad("k = [{ n = 4 }, { n = 10 }]", sum);
    assert_eq!(error, "`k[2].n` is out of range: 10 | write a number from 0 to 9");
    assert!(bad("[[k]]\n[[k]]\nn = 1", sum).starts_with("missing key `k[1].n` | a number"));
    let (_, errors) = read("k = [{ n = 4, m = 1 }]", sum);
    assert!(errors[0].starts_with("unknown key `m` in [k[1]]"), "{errors:?}");
    assert!(bad("k = [{ n = 4 }, 7]", sum).starts_with("item 2 of `k` is not a table: 7"));
    for wrong in ["[]", "{ n = 1 }", "3"] {
        let error = bad(&format!("k = {wrong}"), sum);
        assert!(error.starts_with("`k` is not a list of"), "{error}");
    }
}

/// A table of a list in which a key is missing is shown where it begins.
#[test]
fn a_table_of_a_list_has_a_place() {
    let tree = Tree::parse("run.toml", "[[k]]\nn = 1\n\n[[k]]\n").expect("valid TOML");
    let sink = Sink::default();
    let items = Reader::root(&tree, &sink).tables("k").expect("a list");
    items[1].required("n", items[1].u64("n", 0..=9), "a number");
    let place = sink.into_diagnostics().iter().next().and_then(|found| found.place.clone());
    assert_eq!(place.map(|place| place.line), Some(4));
}

#[test]
fn text_is_distinguished_from_numbers() {
    let is_text = |text: &str| read(text, |r| r.is_text("k")).0;
    assert!(is_text("k = \"4 KiB\""));
    assert!(!is_text("k = 4") && !is_text("k = {}") && !is_text(""));
}
