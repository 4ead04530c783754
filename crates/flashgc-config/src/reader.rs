//! Typed getters over one table; every mistake is noted and reading continues.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::diagnostic::{Diagnostic, Place, brief};
use crate::sink::Sink;
use crate::source::Origin;
use crate::suggest;
use crate::tree::{Entry, Node, Scalar, Table, Tree};

/// A view of one table. Getters return `None` for an absent key and for a wrong value; for a
/// wrong value they also leave an error in the sink.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    sink: &'a Sink,
    table: Option<&'a Table>,
    /// The header of the table, or of the nearest table around it that is written anywhere.
    header: Option<&'a Origin>,
    path: String,
    /// There was a value other than a table here; its own error is enough.
    broken: bool,
}

/// Joins words by dots, quoting those that need it.
pub(crate) fn dotted(words: &[&str]) -> String {
    let quoted = words.iter().map(|word| {
        let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !word.is_empty() && word.chars().all(bare) {
            word.to_string()
        } else {
            format!("{word:?}")
        }
    });
    quoted.collect::<Vec<_>>().join(".")
}

/// The values that a range allows, as text.
pub(crate) fn allowed<T: Display + PartialEq>(range: &RangeInclusive<T>, most: &T) -> String {
    if range.end() == most { format!("{} or more", range.start()) } else { interval(range) }
}

fn interval<T: Display>(range: &RangeInclusive<T>) -> String {
    format!("from {} to {}", range.start(), range.end())
}

/// A finite number.
pub(crate) fn number(node: &Node) -> Option<f64> {
    let number: f64 = match node {
        Node::Leaf { value: Scalar::Float { written }, .. } => written.parse().ok()?,
        Node::Leaf { value: Scalar::Integer { value, .. }, .. } => (*value)? as f64,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// A value in a form that a user recognises.
pub(crate) fn shown(node: &Node) -> String {
    match node {
        Node::Table(_) => "a table".to_string(),
        Node::Array { .. } => "a list".to_string(),
        Node::Leaf { value: Scalar::Text(text), .. } if text.chars().count() > 60 => {
            format!("{:?} and more", text.chars().take(50).collect::<String>())
        }
        Node::Leaf { value: Scalar::Text(text), .. } => format!("{text:?}"),
        Node::Leaf { value: Scalar::Bool(flag), .. } => flag.to_string(),
        Node::Leaf { value: Scalar::Date(written), .. }
        | Node::Leaf { value: Scalar::Float { written }, .. }
        | Node::Leaf { value: Scalar::Integer { written, .. }, .. } => {
            written.chars().take(60).collect()
        }
    }
}

/// The value's own place; for a table, the place of its key.
pub(crate) fn origin(entry: &Entry) -> Option<&Origin> {
    match &entry.node {
        Node::Leaf { origin, .. } | Node::Array { origin, .. } => Some(origin),
        Node::Table(_) => entry.header.as_ref(),
    }
}

impl<'a> Reader<'a> {
    /// A view of the whole tree.
    pub fn root(tree: &'a Tree, sink: &'a Sink) -> Reader<'a> {
        sink.note_layers(&tree.layers);
        let table = Some(&tree.root);
        Reader { sink, table, header: None, path: String::new(), broken: false }
    }

    /// A view of the table under `key`; an empty view if there is none.
    pub fn table(&self, key: &str) -> Reader<'a> {
        let mut reader = Reader { table: None, path: self.dotted(key), ..self.clone() };
        let Some(entry) = self.entry(key) else { return reader };
        match &entry.node {
            Node::Table(table) => {
                reader.table = Some(table);
                reader.header = entry.header.as_ref().or(self.header);
            }
            _ => {
                reader.broken = true;
                let help = format!("write a table `[{}]` with its keys below", reader.path);
                self.wrong::<()>(entry, "a table", &help);
            }
        }
        reader
    }

    /// Whether there is such a table.
    pub fn exists(&self) -> bool {
        self.table.is_some()
    }

    /// Whether the table has `key`. This counts as a request for it.
    pub fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Whether the value under `key` is a table. This counts as a request for it.
    pub fn is_table(&self, key: &str) -> bool {
        matches!(self.entry(key), Some(Entry { node: Node::Table(_), .. }))
    }

    /// The keys in the order of the file, keys of higher layers last.
    pub fn keys(&self) -> Vec<String> {
        self.entries().map(|entry| entry.key.clone()).collect()
    }

    /// The dotted path of the table; empty for the root.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The place of the value at `key`. This does not count as a request for it.
    pub fn place(&self, key: &str) -> Option<Place> {
        self.table?.get(key).and_then(origin).map(Origin::place)
    }

    /// Marks `key` as known because it is read elsewhere.
    pub fn allow(&self, key: &str) {
        self.sink.mark_known(&self.path, key);
    }

    /// Returns `value`; if it is `None` because `key` is absent, notes that as an error.
    pub fn required<T>(&self, key: &str, value: Option<T>, expected: &str) -> Option<T> {
        let absent = self.entry(key).is_none();
        if value.is_none() && absent && !self.broken {
            let message = format!("missing key `{}`", self.dotted(key));
            self.report(key, self.header, message, expected.to_string());
        }
        value
    }

    /// Notes an error at the value of `key`, else at the head of the table.
    pub fn error(&self, key: &str, message: impl Into<String>, help: impl Into<String>) {
        let entry = self.table.and_then(|table| table.get(key));
        let origin = entry.and_then(origin).or(self.header);
        self.sink.push(self.mistake(key, origin, message.into(), help.into()));
    }

    /// Adds to the mistake noted last an assignment that removes it.
    pub fn remedy(&self, key: &str, value: &str) {
        self.sink.add_remedy(format!("{key}={value}"));
    }

    /// Adds to the mistake noted last a key that removes it when it is unset.
    pub fn remedy_without(&self, key: &str) {
        self.sink.add_remedy(key.to_string());
    }

    /// Notes an error for every key of this table that was never read.
    pub fn finish(&self) {
        let requested = self.sink.known_keys(&self.path);
        let valid: Vec<&str> = requested.iter().map(String::as_str).collect();
        for entry in self.entries().filter(|entry| !requested.contains(&entry.key)) {
            let place = match self.path.as_str() {
                "" => "at the top level".to_string(),
                path => format!("in [{path}]"),
            };
            let message = format!("unknown key `{}` {place}", brief(&dotted(&[&entry.key])));
            let help = suggest::help(&entry.key, &valid, "key");
            let header = entry.header.as_ref().or(self.header);
            self.report(&entry.key, header, message, help);
        }
    }

    /// The full dotted keys below this table that were never read, at any depth.
    pub fn unread(&self) -> Vec<String> {
        let mut unread = Vec::new();
        if let Some(table) = self.table {
            self.collect_unread(table, &self.path, &mut unread);
        }
        unread
    }

    fn collect_unread(&self, table: &Table, path: &str, unread: &mut Vec<String>) {
        let requested = self.sink.known_keys(path);
        for entry in &table.entries {
            let key = join(path, &entry.key);
            match &entry.node {
                // A request for a table does not yet read its keys.
                Node::Table(inner) if !inner.entries.is_empty() => {
                    self.collect_unread(inner, &key, unread);
                }
                _ if !requested.contains(&entry.key) => unread.push(key),
                _ => {}
            }
        }
    }

    /// A whole number of 64 bits.
    pub fn u64(&self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        self.integer(key, range, u64::MAX)
    }

    /// A whole number of 32 bits.
    pub fn u32(&self, key: &str, range: RangeInclusive<u32>) -> Option<u32> {
        self.integer(key, range, u32::MAX)
    }

    fn integer<T>(&self, key: &str, range: RangeInclusive<T>, most: T) -> Option<T>
    where
        T: Copy + Display + PartialOrd + TryFrom<i128> + Into<i128>,
    {
        let entry = self.entry(key)?;
        let allowed = allowed(&range, &most);
        let Node::Leaf { value: Scalar::Integer { value, .. }, .. } = &entry.node else {
            let help = format!("write a whole number {allowed}, without quotes");
            return self.wrong(entry, "a whole number", &help);
        };
        let number = value.and_then(|value| T::try_from(value).ok());
        let number = number.filter(|number| range.contains(number));
        // "0 or more" does not tell what a number beyond all of its type is.
        let is_beyond = value.is_none_or(|value| value > most.into());
        let allowed = if is_beyond { interval(&range) } else { allowed };
        number.or_else(|| self.out_of_range(entry, &allowed))
    }

    /// A finite number; a whole number is accepted too.
    pub fn f64(&self, key: &str, range: RangeInclusive<f64>) -> Option<f64> {
        let entry = self.entry(key)?;
        let allowed = allowed(&range, &f64::MAX);
        let Node::Leaf { value: Scalar::Float { .. } | Scalar::Integer { .. }, .. } = &entry.node
        else {
            let help = format!("write a number {allowed}, without quotes");
            return self.wrong(entry, "a number", &help);
        };
        // Adding zero turns -0.0 into 0.0.
        let number = number(&entry.node).filter(|n| range.contains(n)).map(|n| n + 0.0);
        number.or_else(|| self.out_of_range(entry, &allowed))
    }

    /// `true` or `false`.
    pub fn bool(&self, key: &str) -> Option<bool> {
        let entry = self.entry(key)?;
        match &entry.node {
            Node::Leaf { value: Scalar::Bool(flag), .. } => Some(*flag),
            _ => self.wrong(entry, "true or false", "write true or false, without quotes"),
        }
    }

    /// A string.
    pub fn string(&self, key: &str) -> Option<&'a str> {
        let entry = self.entry(key)?;
        match &entry.node {
            Node::Leaf { value: Scalar::Text(text), .. } => Some(text),
            _ => self.wrong(entry, "a string", "write text in quotes, as in \"text\""),
        }
    }

    /// A list of strings.
    pub fn strings(&self, key: &str) -> Option<Vec<String>> {
        let entry = self.entry(key)?;
        let help = "write strings in brackets, as in [\"one\", \"two\"]";
        let Node::Array { items, origin: list } = &entry.node else {
            return self.wrong(entry, "a list of strings", help);
        };
        let mut strings = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let origin = match item {
                Node::Leaf { value: Scalar::Text(text), .. } => {
                    strings.push(text.clone());
                    continue;
                }
                Node::Leaf { origin, .. } | Node::Array { origin, .. } => origin,
                Node::Table(_) => list,
            };
            let name = self.dotted(key);
            let message =
                format!("item {} of `{name}` is not a string: {}", index + 1, shown(item));
            self.report(key, Some(origin), message, help.to_string());
        }
        (strings.len() == items.len()).then_some(strings)
    }

    /// A list of whole numbers, none of them negative.
    pub fn numbers(&self, key: &str) -> Option<Vec<u64>> {
        let help = "write whole numbers in brackets, as in [2, 4, 8]";
        self.list(key, "a list of whole numbers", help, |item| match item {
            Node::Leaf { value: Scalar::Integer { value, .. }, .. } => {
                value.and_then(|number| u64::try_from(number).ok())
            }
            _ => None,
        })
    }

    /// A list of finite numbers.
    pub fn f64s(&self, key: &str) -> Option<Vec<f64>> {
        let help = "write numbers in brackets, as in [0.5, 1, 1.5]";
        self.list(key, "a list of numbers", help, number)
    }

    /// A list whose items are all of one kind.
    pub(crate) fn list<T>(
        &self,
        key: &str,
        what: &str,
        help: &str,
        of: impl Fn(&Node) -> Option<T>,
    ) -> Option<Vec<T>> {
        let entry = self.entry(key)?;
        let items = match &entry.node {
            Node::Array { items, .. } => items.iter().map(of).collect(),
            _ => None,
        };
        items.or_else(|| self.wrong(entry, what, help))
    }

    /// Views of the tables of a list, in order. The path of the second ends in `[2]`.
    pub fn tables(&self, key: &str) -> Option<Vec<Reader<'a>>> {
        let entry = self.entry(key)?;
        let name = self.dotted(key);
        let help = format!("write tables in brackets, as in [{{ ... }}], or `[[{name}]]` for each");
        let Node::Array { items, origin: list } = &entry.node else {
            return self.wrong(entry, "a list of tables", &help);
        };
        let mut tables = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let origin = match item {
                Node::Table(table) => {
                    tables.push(Reader {
                        sink: self.sink,
                        table: Some(table),
                        header: table.origin.as_ref().or(Some(list)),
                        path: format!("{name}[{}]", index + 1),
                        broken: false,
                    });
                    continue;
                }
                Node::Leaf { origin, .. } | Node::Array { origin, .. } => origin,
            };
            let message = format!("item {} of `{name}` is not a table: {}", index + 1, shown(item));
            self.report(key, Some(origin), message, help.clone());
        }
        if items.is_empty() {
            return self.wrong(entry, "a list of one table or more", &help);
        }
        (tables.len() == items.len()).then_some(tables)
    }

    /// Whether the value under `key` is text. This counts as a request for it.
    pub fn is_text(&self, key: &str) -> bool {
        let node = self.entry(key).map(|entry| &entry.node);
        matches!(node, Some(Node::Leaf { value: Scalar::Text(_), .. }))
    }

    /// One of the named options.
    pub fn choice<T: Copy>(&self, key: &str, options: &[(&str, T)]) -> Option<T> {
        let entry = self.entry(key)?;
        let names: Vec<&str> = options.iter().map(|(name, _)| *name).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        let list = format!("valid values: {}", quoted.join(", "));
        let Node::Leaf { value: Scalar::Text(text), .. } = &entry.node else {
            return self.wrong(entry, "one of the valid values", &list);
        };
        if let Some((_, value)) = options.iter().find(|(name, _)| name == text) {
            return Some(*value);
        }
        let help = match suggest::nearest(text, &names) {
            Some(name) => format!("did you mean {name:?}? {list}"),
            None => list,
        };
        self.wrong(entry, "one of the valid values", &help)
    }

    fn entries(&self) -> impl Iterator<Item = &'a Entry> + use<'a> {
        self.table.into_iter().flat_map(|table| &table.entries)
    }

    /// Finds `key` and marks it as requested.
    pub(crate) fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.sink.mark_known(&self.path, key);
        self.table?.get(key)
    }

    fn dotted(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// Notes a wrong value.
    pub(crate) fn wrong<T>(&self, entry: &Entry, what: &str, help: &str) -> Option<T> {
        let key = self.dotted(&entry.key);
        let message = format!("`{key}` is not {what}: {}", shown(&entry.node));
        self.report(&entry.key, origin(entry).or(self.header), message, help.to_string());
        None
    }

    pub(crate) fn out_of_range<T>(&self, entry: &Entry, allowed: &str) -> Option<T> {
        let key = self.dotted(&entry.key);
        let message = format!("`{key}` is out of range: {}", shown(&entry.node));
        let help = format!("write a number {allowed}");
        self.report(&entry.key, origin(entry).or(self.header), message, help);
        None
    }

    /// Notes a value that is wrong by itself.
    fn report(&self, key: &str, origin: Option<&Origin>, message: String, help: String) {
        self.sink.push(Diagnostic { is_form: true, ..self.mistake(key, origin, message, help) });
    }

    fn mistake(
        &self,
        key: &str,
        origin: Option<&Origin>,
        message: String,
        help: String,
    ) -> Diagnostic {
        Diagnostic {
            place: origin.map(Origin::place),
            key: Some(self.dotted(key)),
            help: Some(help).filter(|help| !help.is_empty()),
            ..Diagnostic::new(message)
        }
    }
}

pub(crate) fn join(path: &str, key: &str) -> String {
    let key = dotted(&[key]);
    if path.is_empty() { key } else { format!("{path}.{key}") }
}
