//! Counts of the choices drawn, and of those that the plan accepted.

use crate::history::History;
use flashgc::config::{Setup, presets};
use serde_json::Value;
use std::collections::BTreeMap;

/// Counts by key and word: drawn, and accepted.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    words: BTreeMap<(String, String), [u64; 2]>,
}

impl Coverage {
    /// Counts the words of a history, and the choice of each slot of a plan.
    pub fn add(&mut self, history: &History, setup: Option<&Setup>) {
        for word in &history.words {
            let counts = self.words.entry(word.clone()).or_default();
            counts[0] += 1;
            counts[1] += u64::from(setup.is_some());
        }
    }

    /// Adds the counts of another thread.
    pub fn join(&mut self, other: &Coverage) {
        for (word, counts) in &other.words {
            let own = self.words.entry(word.clone()).or_default();
            own[0] += counts[0];
            own[1] += counts[1];
        }
    }

    /// Lines of key and words, each with its counts.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for ((key, word), [drawn, accepted]) in &self.words {
            let entry = format!("{word} {accepted}/{drawn}");
            lines.entry(key).or_default().push(entry);
        }
        lines.into_iter().map(|(key, words)| format!("{key}: {}", words.join(", "))).collect()
    }

    /// Choices of slots and schemes that no accepted history had.
    pub fn missing(&self) -> Vec<String> {
        let known = presets::schemes_json();
        let mut expected: Vec<(String, String)> = Vec::new();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        for slot in list(&known["slots"]) {
            let key = format!("gc.{}.use", slot["name"].as_str().unwrap_or_default());
            for choice in list(&slot["choices"]) {
                let word = choice["name"].as_str().unwrap_or_default();
                expected.push((key.clone(), word.into()));
            }
        }
        for name in presets::scheme_names() {
            expected.push(("gc.scheme".into(), name.into()));
        }
        let drawn = self.words.iter().filter(|(_, counts)| counts[1] == 0);
        let mut missing: Vec<(String, String)> = drawn.map(|(word, _)| word.clone()).collect();
        missing.extend(expected.into_iter().filter(|word| !self.words.contains_key(word)));
        missing.sort();
        missing.into_iter().map(|(key, word)| format!("{key} = {word}")).collect()
    }
}
