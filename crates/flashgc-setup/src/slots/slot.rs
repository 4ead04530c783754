//! A slot of a scheme: its declaration, and how its table is read.
//!
//! A slot is a type that implements [`OneOf`], or [`Slot`] itself where choices can be combined.
//! Its choices are rows: name, text, keys and source for users, and the reader of the choice's
//! table.

use flashgc_config::Reader;
use flashgc_model::gc::choice::{Choice, Key, Row};
use serde_json::{Value, json};

/// A slot of a scheme.
pub trait Slot {
    /// The name of its table in `[gc]`.
    const NAME: &'static str;
    /// The question that its choices answer.
    const QUESTION: &'static str;
    /// The keys of the choice in use.
    type Keys;

    /// The choices, in the order of the manual.
    fn choices() -> Vec<Choice>;

    /// Reads the table. Errors are noted.
    fn read(gc: &Reader<'_>, registers: u32) -> Option<Taken<Self::Keys>>;
}

/// A slot of which one choice is in use.
pub trait OneOf {
    /// The name of its table in `[gc]`.
    const NAME: &'static str;
    /// The question that its choices answer.
    const QUESTION: &'static str;
    /// The keys of the choice in use.
    type Keys: 'static;
    /// The choices, in the order of the manual.
    const CHOICES: &'static [Row<Self::Keys>];
}

/// A slot that was read.
pub struct Taken<K> {
    /// The choice in use, for users.
    pub name: String,
    pub keys: K,
    /// Parameters of choices that are not in use.
    pub unused: Vec<String>,
}

/// A choice with its source in the manual alone.
pub const fn choice(
    name: &'static str,
    about: &'static str,
    keys: &'static [&'static dyn Key],
) -> Choice {
    Choice { name, about, keys, source: "" }
}

impl<S: OneOf> Slot for S {
    const NAME: &'static str = <S as OneOf>::NAME;
    const QUESTION: &'static str = <S as OneOf>::QUESTION;
    type Keys = <S as OneOf>::Keys;

    fn choices() -> Vec<Choice> {
        S::CHOICES.iter().map(|row| row.choice).collect()
    }

    fn read(gc: &Reader<'_>, registers: u32) -> Option<Taken<Self::Keys>> {
        let table = gc.table(<S as OneOf>::NAME);
        let rows: Vec<(&str, &Row<Self::Keys>)> =
            S::CHOICES.iter().map(|row| (row.choice.name, row)).collect();
        let used = table.choice("use", &rows);
        let unused =
            pass_over(&table, S::CHOICES, |name| used.is_some_and(|row| row.choice.name == name));
        let used = table.required("use", used, REQUIRED);
        let settings = used.map(|row| table.table(row.choice.name));
        table.finish();
        let (row, settings) = (used?, settings?);
        let keys = (row.read)(&settings, registers);
        settings.finish();
        Some(Taken { name: row.choice.name.into(), keys: keys?, unused })
    }
}

const REQUIRED: &str = "set it to a choice of this slot (`flashgc schemes --slots`), or begin the \
                        scheme's file with `base = \"greedy\"`";

/// The choices in use of a slot that may have several, each with the keys of its table.
pub struct Several<P> {
    /// In the order of the declaration. `None`: errors were noted.
    parts: Vec<(&'static str, Option<P>)>,
    /// Parameters of choices that are not in use.
    pub unused: Vec<String>,
}

impl<P> Several<P> {
    /// Whether the choice of this name is in use, even with errors in its table.
    pub fn has(&self, name: &str) -> bool {
        self.parts.iter().any(|(used, _)| *used == name)
    }

    /// The choices in use, for users.
    pub fn name(&self) -> String {
        self.parts.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" + ")
    }

    /// The number of choices in use.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// The keys of their tables; `None` if one of them has errors.
    pub fn parts(self) -> Option<Vec<P>> {
        self.parts.into_iter().map(|(_, part)| part).collect()
    }
}

/// Reads the table of a slot that may have several choices.
pub fn several<P>(
    table: &Reader<'_>,
    rows: &'static [Row<P>],
    registers: u32,
) -> Option<Several<P>> {
    let used = words(table, rows);
    let is_used = |name: &str| used.as_ref().is_some_and(|words| words.contains(&name));
    let unused = pass_over(table, rows, is_used);
    let mut parts = Vec::new();
    for row in rows.iter().filter(|row| is_used(row.choice.name)) {
        let settings = table.table(row.choice.name);
        parts.push((row.choice.name, (row.read)(&settings, registers)));
        settings.finish();
    }
    table.finish();
    used.map(|_| Several { parts, unused })
}

/// One word, or a list of different ones.
fn words<P>(table: &Reader<'_>, rows: &'static [Row<P>]) -> Option<Vec<&'static str>> {
    let options: Vec<(&str, &'static str)> =
        rows.iter().map(|row| (row.choice.name, row.choice.name)).collect();
    if !table.has("use") || table.is_text("use") {
        let used = table.choice("use", &options);
        return table.required("use", used, REQUIRED).map(|used| vec![used]);
    }
    let given = table.strings("use")?;
    let known = |word: &String| options.iter().find(|(name, _)| name == word).map(|(_, n)| *n);
    let used: Vec<&'static str> = given.iter().filter_map(known).collect();
    let is_twice = used.iter().enumerate().any(|(at, word)| used[..at].contains(word));
    if used.len() != given.len() || used.is_empty() || is_twice {
        let names: Vec<String> = options.iter().map(|(name, _)| format!("{name:?}")).collect();
        table.error(
            "use",
            format!("{given:?} is not a list of different choices of this slot"),
            format!("give one or more of {}, each once", names.join(", ")),
        );
        return None;
    }
    Some(used)
}

/// The parameters of the choices that are not in use.
fn pass_over<P>(
    table: &Reader<'_>,
    rows: &[Row<P>],
    is_used: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut unused = Vec::new();
    for name in rows.iter().map(|row| row.choice.name).filter(|name| !is_used(name)) {
        if table.is_table(name) {
            let keys = table.table(name).keys();
            unused.extend(keys.iter().map(|key| format!("{}.{name}.{key}", table.path())));
        } else {
            table.allow(name);
        }
    }
    unused
}

/// A slot and its choices as data.
pub fn described<S: Slot>() -> Value {
    json!({ "name": S::NAME, "question": S::QUESTION, "choices": S::choices() })
}
