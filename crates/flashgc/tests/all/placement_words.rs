//! A placement of several classes with every victim, trigger, preemption and pacing, under the
//! checker on a tiny drive. The combinations that the configuration refuses are listed with their
//! reasons, so that a new one is a failure.

use crate::common::{TINY, finish, inputs, whole};
use crate::faults_of_histories::{on_saved, saved};
use flashgc::config::{prepare, presets};
use serde_json::Value;

const DEVICE: [&str; 8] = [
    "device.blocks_per_plane=24",
    "device.exported=0.3",
    "device.suspend.suspend=\"20 us\"",
    "gc.trigger.watermark.soft=\"9 blocks\"",
    "workload.synthetic.requests=500",
    "workload.synthetic.address.zipf=1.0",
    "workload.synthetic.trim_share=0.05",
    "precondition.overwrite=1.0",
];

/// Each trigger, by itself and with idle collection.
const TRIGGERS: [&str; 3] = ["watermark", "used-space", "garbage-share"];

/// Words that cannot be used here, or not together, and the part of the message with the reason.
const REFUSED: &[(&[(&str, &str)], &str)] = &[
    (&[("victim", "given")], "takes a function, and none was given"),
    (&[("trigger", "used-space"), TOKENS], BY_SOFT),
    (&[("trigger", "used-space, idle"), TOKENS], BY_SOFT),
    (&[("trigger", "garbage-share"), TOKENS], BY_SOFT),
    (&[("trigger", "garbage-share, idle"), TOKENS], BY_SOFT),
    (&[("trigger", "watermark, idle"), TOKENS], "but tokens are paid by the writes of the host"),
];
const TOKENS: (&str, &str) = ("pacing", "tokens");
const BY_SOFT: &str = "no soft threshold in a plane, from which tokens are counted";

/// The words of a slot.
fn words(slot: &str) -> Vec<String> {
    let known = presets::schemes_json();
    let list = |value: &Value| value.as_array().cloned().expect("a list");
    let slots = list(&known["slots"]);
    let own = slots.iter().find(|own| own["name"] == slot).expect("a slot");
    let name = |choice: &Value| choice["name"].as_str().expect("a name").to_string();
    list(&own["choices"]).iter().map(name).collect()
}

/// Every combination: slots and their words.
fn combinations() -> Vec<Vec<(&'static str, String)>> {
    let mut triggers: Vec<String> = TRIGGERS.map(String::from).to_vec();
    triggers.extend(TRIGGERS.map(|own| format!("{own}, idle")));
    let mut known: Vec<&str> = TRIGGERS.to_vec();
    known.push("idle");
    known.sort_unstable();
    let mut found = words("trigger");
    found.sort_unstable();
    assert_eq!(found, known, "triggers");
    let slots = [
        ("victim", words("victim")),
        ("trigger", triggers),
        ("preemption", words("preemption")),
        ("pacing", words("pacing")),
    ];
    slots.into_iter().fold(vec![Vec::new()], |all, (slot, words)| {
        let with = |before: &Vec<(&'static str, String)>| {
            let with = |word: &String| [&before[..], &[(slot, word.clone())]].concat();
            words.iter().map(with).collect::<Vec<_>>()
        };
        all.iter().flat_map(with).collect()
    })
}

fn assignment((slot, word): &(&str, String)) -> String {
    match word.split_once(", ") {
        Some((one, other)) => format!("gc.{slot}.use=[\"{one}\",\"{other}\"]"),
        None => format!("gc.{slot}.use=\"{word}\""),
    }
}

fn every_word_runs_with(placement: &str) {
    let placement = format!("gc.placement.use=\"{placement}\"");
    let (mut refused, mut runs) = (vec![0; REFUSED.len()], 0);
    let mut unknown = Vec::new();
    for combination in combinations() {
        let own: Vec<String> = combination.iter().map(assignment).collect();
        let sets: Vec<&str> = own.iter().map(String::as_str).chain([placement.as_str()]).collect();
        let sets = [&DEVICE[..], &sets].concat();
        let is_in =
            |word: &(&str, &str)| combination.iter().any(|it| (it.0, it.1.as_str()) == *word);
        let rows = REFUSED.iter().enumerate();
        let rows: Vec<_> = rows.filter(|(_, row)| row.0.iter().all(is_in)).collect();
        match prepare(&inputs(TINY, &sets)) {
            Ok(setup) => {
                let report =
                    finish(setup, None, true).unwrap_or_else(|why| panic!("{sets:?}: {why}"));
                assert!(whole(&report, "gc.count") > 0, "{sets:?}");
                if !rows.is_empty() {
                    unknown.push(format!("{combination:?} is accepted: {rows:?}"));
                }
                runs += 1;
            }
            Err(errors) => {
                let text = errors.to_string();
                match rows.iter().find(|(_, row)| text.contains(row.1)) {
                    Some((at, _)) => refused[*at] += 1,
                    None => unknown.push(format!("{combination:?} is refused: {text}")),
                }
            }
        }
    }
    unknown.truncate(30);
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert!(refused.iter().all(|&count| count > 0), "{refused:?}");
    assert_eq!(runs, 13 * (3 * 3 + 5 * 2 * 3), "combinations");
}

#[test]
fn every_word_runs_with_sepbit() {
    every_word_runs_with("sepbit");
}

#[test]
fn every_word_runs_with_dac() {
    every_word_runs_with("dac");
}

#[test]
fn every_word_runs_with_fdp() {
    every_word_runs_with("fdp");
}

/// The levels of pages are numbers among as many classes as the scheme has.
#[test]
fn what_a_placement_kept_is_dropped_where_it_has_another_number_of_classes() {
    for placement in ["dac", "fadac", "multilog"] {
        let word = format!("gc.placement.use=\"{placement}\"");
        let with = |classes: &str| -> Vec<String> {
            let own = [word.clone(), format!("gc.placement.{placement}.classes={classes}")];
            DEVICE.iter().map(|set| set.to_string()).chain(own).collect()
        };
        let notes = |classes: &str| {
            let [kept, own] = [with("4"), with(classes)];
            let [kept, own] = [&kept, &own].map(|sets| sets.iter().map(String::as_str).collect());
            let (kept, own): (Vec<&str>, Vec<&str>) = (kept, own);
            on_saved(TINY, &own, saved(TINY, &kept))["notes"].to_string()
        };
        assert!(!notes("4").contains("do not fit this scheme"), "{placement}: {}", notes("4"));
        assert!(notes("5").contains("do not fit this scheme"), "{placement}: {}", notes("5"));
    }
}
