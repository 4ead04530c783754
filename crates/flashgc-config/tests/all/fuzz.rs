//! No text that a user types may panic.

use flashgc_config::{Reader, Sink, Tree, Unset, units};
use proptest::prelude::*;

/// Text made of the pieces that TOML and quantities are made of.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c]{1,2}",
        "[0-9]{1,25}",
        Just("\u{b5}s".to_string()),
        Just("KiB/s".to_string()),
        Just("\"\"\"".to_string()),
        Just("% of spare".to_string()),
        "[\\[\\]{}=.,'\"#\\\\ \t\r\n_+%/-]",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Reads every key with every getter, and prints the result.
fn read_all(reader: &Reader<'_>, depth: usize) {
    for key in reader.keys() {
        reader.u64(&key, 1..=9);
        reader.f64(&key, 0.0..=1.0);
        reader.string(&key);
        reader.strings(&key);
        reader.choice(&key, &[("a", 1), ("b", 2)]);
        reader.duration_ns(&key);
        reader.bytes(&key);
        reader.rate(&key).map(|rate| rate.ns_for(u64::MAX));
        reader.threshold(&key);
        reader.share(&key).map(|share| share.of(u64::MAX));
        if depth < 3 {
            read_all(&reader.table(&key), depth + 1);
        }
    }
    reader.table("none").finish();
}

fn check(tree: &Tree) {
    let sink = Sink::default();
    let root = Reader::root(tree, &sink);
    root.finish();
    read_all(&root, 0);
    root.unread();
    let _ = tree.to_json();
    let _ = sink.into_diagnostics().to_string();
}

fn try_everything(text: &str) {
    match Tree::parse("fuzz.toml", text) {
        Ok(tree) => check(&tree),
        Err(found) => assert!(found.to_string().starts_with("error: ")),
    }
    match Unset::parse(text) {
        Ok(mut unset) => {
            let mut tree = Tree::parse("base.toml", "a.b = 1\nb = 2").expect("valid");
            unset.apply(&mut tree);
            check(&tree);
            unset.unknown(&Sink::default());
        }
        Err(found) => assert!(found.to_string().starts_with("error: ")),
    }
    for assignment in [text.to_string(), format!("a={text}"), format!("a.b.{text}=1")] {
        let mut tree = Tree::parse("base.toml", "a.b = 1\nb = 2").expect("valid");
        match tree.set(&assignment) {
            Ok(()) => check(&tree),
            Err(found) => assert!(found.to_string().starts_with("error: ")),
        }
    }
    let _ = units::parse_duration_ns(text);
    let _ = units::parse_bytes(text);
    let _ = units::parse_rate(text).map(|rate| rate.ns_for(u64::MAX));
    let _ = units::parse_threshold(text);
    let _ = units::parse_share(text).map(|share| share.of(u64::MAX));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        try_everything(&text);
    }

    #[test]
    fn likely_text_is_survived(text in pieces()) {
        try_everything(&text);
    }

    #[test]
    fn numbers_with_units_are_survived(text in "-?[0-9_.]{0,40} ?(ns|us|KiB|%|ns/B|MB/s|blocks)?") {
        try_everything(&text);
    }

    #[test]
    fn durations_are_exact(us in 0u64..1_000_000_000, ns in 0u64..1_000) {
        let text = format!("{us}.{ns:03} us");
        prop_assert_eq!(units::parse_duration_ns(&text), Ok(us * 1_000 + ns));
    }
}
