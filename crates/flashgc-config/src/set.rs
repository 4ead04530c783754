//! Single assignments from the command line: `gc.trigger.watermark.soft=4 blocks`.

use toml::de::DeValue;

use crate::diagnostic::{Diagnostic, Diagnostics, brief};
use crate::parse::Builder;
use crate::reader::dotted;
use crate::source::{Origin, SourceText};
use crate::tree::{Entry, Node, Scalar, Table, Tree};

/// The name under which assignments appear in messages.
const SOURCE: &str = "--set";

/// Deeper keys would be a mistake, and trees are walked by recursion.
const PARTS_MAX: usize = 32;

impl Tree {
    /// Lays one assignment over the tree, such as `gc.trigger.soft=4 blocks`.
    ///
    /// The value is a TOML number, boolean, quoted string, array or inline table if it reads as
    /// one, else a bare string. An inline table replaces a table already there.
    pub fn set(&mut self, assignment: &str) -> Result<(), Diagnostics> {
        let source = SourceText::new(SOURCE, assignment);
        let fail = |start: usize, end: usize, message: &str, help: &str| Diagnostic {
            place: Some(Origin::new(&source, start..end).place()),
            help: Some(help.to_string()),
            ..Diagnostic::new(message)
        };
        let Some(equals) = assignment.find('=') else {
            let message = "an assignment needs `=`";
            let help = "write a dotted key, `=` and a value, as in `device.channels=4`";
            return Err(fail(0, assignment.len(), message, help).into());
        };
        let parts = split(&assignment[..equals]);
        if let Some((start, part)) = parts.iter().find(|(_, part)| part.is_empty()) {
            let help = "write words joined by single dots, as in `device.channels=4`";
            let message = "a part of the key is empty";
            return Err(fail(*start, start + part.len(), message, help).into());
        }
        if parts.len() > PARTS_MAX {
            let message =
                format!("the key has {} parts, but at most {PARTS_MAX} are allowed", parts.len());
            return Err(fail(0, equals, &message, "no valid key has more parts").into());
        }
        let words: Vec<&str> = parts.iter().map(|(_, part)| *part).collect();
        if let Some(depth) = self.blocked_at(&words) {
            let key = brief(&dotted(&words[..=depth]));
            let (start, part) = parts[depth];
            let message = format!("`{key}` is a value, not a table");
            let help = match depth {
                0 => format!("write a table `[{key}]` in place of the value, to set its keys"),
                _ => format!("set `{key}` itself, or remove the words after it"),
            };
            let mut error = fail(start, start + part.len(), &message, &help);
            error.key = Some(key);
            return Err(error.into());
        }
        let value_start = assignment.len() - assignment[equals + 1..].trim_start().len();
        let mut node = value(&source, value_start, assignment[value_start..].trim_end());
        if matches!(node, Node::Table(_)) {
            self.remove(&words);
        }
        for (start, part) in parts.iter().rev() {
            let header = Some(Origin::new(&source, *start..start + part.len()));
            let entry = Entry { key: part.to_string(), header, weak: true, node };
            node = Node::Table(Table { entries: vec![entry], origin: None });
        }
        if let Node::Table(root) = node {
            self.overlay(Tree { root, layers: vec![SOURCE.to_string()] });
        }
        Ok(())
    }

    /// The index of the first word, not the last, under which there is no table but a value.
    fn blocked_at(&self, words: &[&str]) -> Option<usize> {
        let mut table = &self.root;
        for (depth, word) in words[..words.len() - 1].iter().enumerate() {
            match table.get(word).map(|entry| &entry.node) {
                None => return None,
                Some(Node::Table(inner)) => table = inner,
                Some(_) => return Some(depth),
            }
        }
        None
    }
}

/// The words between dots, trimmed, each with its byte offset.
pub(crate) fn split(key: &str) -> Vec<(usize, &str)> {
    let mut offset = 0;
    let words = key.split('.').map(|word| {
        let start = offset + (word.len() - word.trim_start().len());
        offset += word.len() + 1;
        (start, word.trim())
    });
    words.collect()
}

fn value(source: &std::sync::Arc<SourceText>, shift: usize, text: &str) -> Node {
    if let Ok(parsed) = DeValue::parse(text) {
        // No setting is a date; a name in the form of a date stays a name.
        if !parsed.get_ref().is_datetime() {
            return Builder { source, shift, weak: true }.node(&parsed);
        }
    }
    let origin = Origin::new(source, shift..shift + text.len());
    // TOML needs the digit before the point; an assignment does not.
    let whole = format!("0{text}");
    let value = match text.starts_with('.') && number(&whole) {
        true => Scalar::Float { written: whole },
        false => Scalar::Text(text.to_string()),
    };
    Node::Leaf { value, origin }
}

/// Whether a text is a plain number with a point.
fn number(text: &str) -> bool {
    DeValue::parse(text).is_ok_and(|value| matches!(value.get_ref(), DeValue::Float(_)))
}
