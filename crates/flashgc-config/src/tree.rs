//! A table of values, each with its origin.

use serde_json::{Map, Number, Value};

use crate::diagnostic::{Diagnostic, Diagnostics, Place};
use crate::parse;
use crate::reader::{origin, shown};
use crate::source::Origin;

/// A value that is neither an array nor a table, as it was written.
#[derive(Clone, Debug)]
pub(crate) enum Scalar {
    Text(String),
    /// `None` when not even 128 bits hold it.
    Integer {
        written: String,
        value: Option<i128>,
    },
    Float {
        written: String,
    },
    Bool(bool),
    Date(String),
}

/// A value of any kind.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Leaf { value: Scalar, origin: Origin },
    Array { items: Vec<Node>, origin: Origin },
    Table(Table),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// The place of the key; a path made by the program has none.
    pub(crate) header: Option<Origin>,
    /// A header from a file replaces one from `--set`.
    pub(crate) weak: bool,
    pub(crate) node: Node,
}

/// Entries in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
    /// Its place; only the tables of a list need it.
    pub(crate) origin: Option<Origin>,
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    fn overlay(&mut self, top: Table) {
        for above in top.entries {
            let Some(below) = self.entries.iter_mut().find(|entry| entry.key == above.key) else {
                self.entries.push(above);
                continue;
            };
            match (&mut below.node, above.node) {
                (Node::Table(below_table), Node::Table(above_table)) => {
                    below_table.overlay(above_table);
                    let firm = above.header.is_some() && !above.weak;
                    if firm || below.header.is_none() {
                        below.header = above.header;
                        below.weak = above.weak;
                    }
                }
                (_, node) => *below = Entry { node, ..above },
            }
        }
    }
}

/// A table of keys and values, each with its place in the text.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(crate) root: Table,
    /// Names of the texts, lowest layer first.
    pub(crate) layers: Vec<String>,
}

impl Tree {
    /// A tree without keys.
    pub fn empty() -> Tree {
        Tree::default()
    }

    /// Reads a TOML text. All syntax errors that the parser can distinguish are reported.
    pub fn parse(source_name: &str, text: &str) -> Result<Tree, Diagnostics> {
        parse::document(source_name, text)
    }

    /// Lays `top` over this tree: tables merge, anything else of `top` replaces.
    pub fn overlay(&mut self, top: Tree) {
        self.root.overlay(top.root);
        for layer in top.layers {
            if !self.layers.contains(&layer) {
                self.layers.push(layer);
            }
        }
    }

    /// A tree that holds `inner` under `path`, such as a preset under `["device"]`.
    pub fn nested(path: &[&str], inner: Tree) -> Tree {
        let Tree { mut root, layers } = inner;
        for key in path.iter().rev() {
            let key = key.to_string();
            let node = Node::Table(root);
            let entries = vec![Entry { key, header: None, weak: true, node }];
            root = Table { entries, origin: None };
        }
        Tree { root, layers }
    }

    fn entry(&self, path: &[&str]) -> Option<&Entry> {
        let (last, parents) = path.split_last()?;
        self.table(parents)?.get(last)
    }

    fn table(&self, path: &[&str]) -> Option<&Table> {
        path.iter().try_fold(&self.root, |table, key| match &table.get(key)?.node {
            Node::Table(inner) => Some(inner),
            _ => None,
        })
    }

    /// The string at `path` with its place; `None` if absent or not a string.
    pub fn str_at(&self, path: &[&str]) -> Option<(&str, Place)> {
        match &self.entry(path)?.node {
            Node::Leaf { value: Scalar::Text(text), origin } => Some((text, origin.place())),
            _ => None,
        }
    }

    /// The name at `path` with its place; an error where a value of another kind is there.
    pub fn name_at(&self, path: &[&str]) -> Result<Option<(&str, Place)>, Diagnostics> {
        let found = self.str_at(path);
        let Some(entry) = self.entry(path).filter(|_| found.is_none()) else { return Ok(found) };
        let key = path.join(".");
        Err(Diagnostic {
            place: origin(entry).map(Origin::place),
            help: Some("write text in quotes, as in \"text\"".into()),
            ..Diagnostic::new(format!("`{key}` is not a string: {}", shown(&entry.node)))
        }
        .into())
    }

    /// Whether there is a value or a table at `path`.
    pub fn has(&self, path: &[&str]) -> bool {
        path.is_empty() || self.entry(path).is_some()
    }

    /// Takes the value at `path` out and returns it as plain data.
    pub fn remove(&mut self, path: &[&str]) -> Option<Value> {
        let (last, parents) = path.split_last()?;
        let mut table = &mut self.root;
        for key in parents {
            let entry = table.entries.iter_mut().find(|entry| entry.key == *key)?;
            let Node::Table(inner) = &mut entry.node else { return None };
            table = inner;
        }
        let index = table.entries.iter().position(|entry| entry.key == *last)?;
        Some(node_json(&table.entries.remove(index).node))
    }

    /// A copy of the table at `path`; `None` if absent or not a table.
    pub fn subtree(&self, path: &[&str]) -> Option<Tree> {
        let root = self.table(path)?.clone();
        Some(Tree { root, layers: self.layers.clone() })
    }

    /// The dotted keys that are not tables, in order, with their values as an assignment has them.
    pub fn values(&self) -> Vec<(String, String)> {
        // A list of tables still to be walked, the next one last: trees may be deep.
        let mut left = vec![(String::new(), &self.root)];
        let mut found = Vec::new();
        while let Some((path, table)) = left.pop() {
            for entry in &table.entries {
                let key = crate::reader::join(&path, &entry.key);
                match &entry.node {
                    Node::Table(inner) => left.push((key, inner)),
                    node => found.push((key, assigned(node))),
                }
            }
        }
        found.sort();
        found
    }

    /// Plain values without origins.
    ///
    /// What JSON cannot hold (huge integers, infinities, dates) becomes a string.
    pub fn to_json(&self) -> Value {
        table_json(&self.root)
    }
}

fn table_json(table: &Table) -> Value {
    let pairs = table.entries.iter().map(|entry| (entry.key.clone(), node_json(&entry.node)));
    Value::Object(pairs.collect::<Map<_, _>>())
}

fn node_json(node: &Node) -> Value {
    match node {
        Node::Table(table) => table_json(table),
        Node::Array { items, .. } => Value::Array(items.iter().map(node_json).collect()),
        Node::Leaf { value, .. } => scalar_json(value),
    }
}

/// A value as an assignment has it: text without its quotes.
fn assigned(node: &Node) -> String {
    match node_json(node) {
        Value::String(text) => text,
        value => value.to_string(),
    }
}

fn scalar_json(value: &Scalar) -> Value {
    match value {
        Scalar::Text(text) | Scalar::Date(text) => Value::String(text.clone()),
        Scalar::Bool(flag) => Value::Bool(*flag),
        Scalar::Integer { written, value } => {
            let unsigned = value.and_then(|v| u64::try_from(v).ok()).map(Value::from);
            let signed = value.and_then(|v| i64::try_from(v).ok()).map(Value::from);
            unsigned.or(signed).unwrap_or_else(|| Value::String(written.clone()))
        }
        Scalar::Float { written } => {
            let number = written.parse().ok().and_then(Number::from_f64);
            number.map_or_else(|| Value::String(written.clone()), Value::Number)
        }
    }
}
