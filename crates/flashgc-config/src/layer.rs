//! Keys that a higher layer removes from those below: keys that it excludes, and keys of `--unset`.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::reader::dotted;
use crate::set::split;
use crate::sink::Sink;
use crate::source::{Origin, SourceText};
use crate::suggest;
use crate::tree::{Node, Table, Tree};
use std::sync::Arc;

/// Keys that exclude each other. In one layer that is a mistake; between layers the higher one
/// applies.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // each variant says what its fields are
pub enum Exclusive {
    /// Each of the keys excludes the others.
    OneOf { table: &'static str, keys: &'static [&'static str] },
    /// Any of `given` excludes all of `gone`.
    Instead { table: &'static str, given: &'static [&'static str], gone: &'static [&'static str] },
    /// Any of `given` excludes `gone` in every table of the list `list`.
    InItems {
        table: &'static str,
        given: &'static [&'static str],
        list: &'static str,
        gone: &'static [&'static str],
    },
    /// The key is a value or a table: a table excludes the value. (A value replaces a table.)
    ValueOrTable { key: &'static str },
}

/// The words of a dotted path.
fn words(path: &'static str) -> Vec<&'static str> {
    path.split('.').filter(|word| !word.is_empty()).collect()
}

fn under(table: &'static str, key: &'static str) -> Vec<&'static str> {
    [words(table), words(key)].concat()
}

impl Tree {
    /// Removes the keys that the layer `top`, which is about to be laid over, excludes.
    pub fn give_way(&mut self, top: &Tree, rules: &[Exclusive]) {
        for rule in rules {
            let has = |table, keys: &[&'static str]| keys.iter().any(|k| top.has(&under(table, k)));
            match *rule {
                Exclusive::OneOf { table, keys } if has(table, keys) => {
                    for key in keys.iter().filter(|key| !top.has(&under(table, key))) {
                        self.take_out(&under(table, key));
                    }
                }
                Exclusive::Instead { table, given, gone } if has(table, given) => {
                    gone.iter().for_each(|key| self.take_out(&under(table, key)));
                }
                Exclusive::InItems { table, given, list, gone } if has(table, given) => {
                    self.take_out_of_items(&under(table, list), gone);
                }
                Exclusive::ValueOrTable { key }
                    if top.subtree(&words(key)).is_some()
                        && self.subtree(&words(key)).is_none() =>
                {
                    self.take_out(&words(key));
                }
                _ => {}
            }
        }
    }

    fn take_out(&mut self, path: &[&str]) {
        remove_pruned(&mut self.root, path);
    }

    fn take_out_of_items(&mut self, path: &[&str], keys: &[&str]) {
        let Some((last, parents)) = path.split_last() else { return };
        let mut table = &mut self.root;
        for key in parents {
            match table.entries.iter_mut().find(|entry| entry.key == *key).map(|e| &mut e.node) {
                Some(Node::Table(inner)) => table = inner,
                _ => return,
            }
        }
        let entry = table.entries.iter_mut().find(|entry| entry.key == *last);
        if let Some(Node::Array { items, .. }) = entry.map(|entry| &mut entry.node) {
            for item in items {
                if let Node::Table(item) = item {
                    item.entries.retain(|entry| !keys.contains(&entry.key.as_str()));
                }
            }
        }
    }
}

/// Removes the key, and every table that this leaves empty. Whether it was there.
fn remove_pruned(table: &mut Table, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    let Some(at) = table.entries.iter().position(|entry| entry.key == *first) else {
        return false;
    };
    if rest.is_empty() {
        table.entries.remove(at);
        return true;
    }
    let Node::Table(inner) = &mut table.entries[at].node else { return false };
    let removed = remove_pruned(inner, rest);
    if removed && inner.entries.is_empty() {
        table.entries.remove(at);
    }
    removed
}

/// The name under which keys to unset appear in messages.
const SOURCE: &str = "--unset";

/// A key that is to be removed from all layers below, such as `workload.synthetic.queue_depth`.
#[derive(Clone, Debug)]
pub struct Unset {
    text: Arc<SourceText>,
    /// Each with its byte offset.
    parts: Vec<(usize, String)>,
    was_there: bool,
}

impl Unset {
    /// Reads a dotted key.
    pub fn parse(key: &str) -> Result<Unset, Diagnostics> {
        let text = SourceText::new(SOURCE, key);
        let parts: Vec<_> = split(key).into_iter().map(|(at, word)| (at, word.into())).collect();
        let unset = Unset { text, parts, was_there: false };
        if key.contains('=') {
            let help = "give only the key; `--set KEY=VALUE` sets a value";
            return Err(unset
                .wrong(0..key.len(), "a key to unset cannot have a value", help)
                .into());
        }
        if let Some((start, _)) = unset.parts.iter().find(|(_, word)| word.is_empty()) {
            let help = "write words joined by single dots, as in `workload.synthetic.queue_depth`";
            return Err(unset.wrong(*start..*start, "a part of the key is empty", help).into());
        }
        Ok(unset)
    }

    /// Removes the key from a layer, with every table that this leaves empty.
    pub fn apply(&mut self, tree: &mut Tree) {
        let words: Vec<&str> = self.parts.iter().map(|(_, word)| word.as_str()).collect();
        self.was_there |= remove_pruned(&mut tree.root, &words);
    }

    /// The mistake, if the key was in no layer and no reader requested one of this name.
    pub fn unknown(&self, sink: &Sink) -> Option<Diagnostic> {
        if self.was_there {
            return None;
        }
        let words: Vec<&str> = self.parts.iter().map(|(_, word)| word.as_str()).collect();
        for (depth, (start, word)) in self.parts.iter().enumerate() {
            let requested = sink.known_keys(&dotted(&words[..depth]));
            if requested.is_empty() {
                // No reader was made for this table, so its keys are unknown.
                return None;
            }
            if !requested.contains(word) {
                let valid: Vec<&str> = requested.iter().map(String::as_str).collect();
                let key = dotted(&words[..=depth]);
                let help = match suggest::nearest(word, &valid) {
                    Some(near) => {
                        let near = dotted(&[&words[..depth], &[near]].concat());
                        format!("did you mean `{near}`?")
                    }
                    None => suggest::help(word, &valid, "key"),
                };
                let span = *start..start + word.len();
                return Some(self.wrong(span, &format!("there is no key `{key}`"), &help));
            }
        }
        None
    }

    fn wrong(&self, span: std::ops::Range<usize>, message: &str, help: &str) -> Diagnostic {
        let words: Vec<&str> = self.parts.iter().map(|(_, word)| word.as_str()).collect();
        Diagnostic {
            place: Some(Origin::new(&self.text, span).place()),
            key: Some(dotted(&words)),
            help: Some(help.to_string()),
            ..Diagnostic::new(message)
        }
    }
}
