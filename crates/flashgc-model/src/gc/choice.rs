//! The choices of a slot: one declaration gives users the text and reads their configuration.

use flashgc_config::Reader;
use flashgc_config::units::Share;
use serde::{Serialize, Serializer};
use std::fmt::Debug;

/// The description of a choice for users.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Choice {
    /// The word in the configuration.
    pub name: &'static str,
    /// Its effect, in one sentence.
    pub about: &'static str,
    /// Its keys, each with default and meaning.
    #[serde(serialize_with = "as_pairs")]
    pub keys: &'static [&'static dyn Key],
    /// Its source.
    pub source: &'static str,
}

fn as_pairs<S: Serializer>(keys: &[&dyn Key], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(keys.iter().map(|key| (key.name(), key.text())))
}

/// A choice of a slot, and the reader of its table. The argument is the number of data registers in
/// a plane. Errors are noted; `None` where the choice cannot be made.
#[derive(Debug)]
pub struct Row<K: 'static> {
    /// The declaration.
    pub choice: Choice,
    /// From the table of the choice.
    pub read: fn(&Reader<'_>, u32) -> Option<K>,
}

/// A key of a choice.
pub trait Key: Debug {
    /// The word in the configuration.
    fn name(&self) -> &'static str;

    /// Its default, its values and its meaning, for users.
    fn text(&self) -> String;
}

/// A whole number.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// The word in the configuration.
    pub name: &'static str,
    /// The value where the key is absent.
    pub default: u32,
    /// The smallest value.
    pub least: u32,
    /// The largest value; `u32::MAX` for no limit.
    pub most: u32,
    /// Its meaning; empty where the name is enough.
    pub about: &'static str,
}

impl Count {
    /// The value; the default where the key is absent, and where its value is refused.
    pub fn read(&self, table: &Reader<'_>) -> u32 {
        self.checked(table).unwrap_or(self.default)
    }

    /// The value; `None` where it is refused.
    pub fn checked(&self, table: &Reader<'_>) -> Option<u32> {
        match table.has(self.name) {
            true => table.u32(self.name, self.least..=self.most),
            false => Some(self.default),
        }
    }
}

impl Key for Count {
    fn name(&self) -> &'static str {
        self.name
    }

    fn text(&self) -> String {
        let values = match self.most {
            u32::MAX => format!("{} (default) or more", self.default),
            most => format!("{} (default), {} to {most}", self.default, self.least),
        };
        with_meaning(values, self.about)
    }
}

/// True or false.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// The word in the configuration.
    pub name: &'static str,
    /// The value where the key is absent.
    pub default: bool,
    /// Its meaning.
    pub about: &'static str,
}

impl Flag {
    /// The value; the default where the key is absent, and where its value is refused.
    pub fn read(&self, table: &Reader<'_>) -> bool {
        table.bool(self.name).unwrap_or(self.default)
    }
}

impl Key for Flag {
    fn name(&self) -> &'static str {
        self.name
    }

    fn text(&self) -> String {
        with_meaning(format!("{} (default) or {}", self.default, !self.default), self.about)
    }
}

/// One of several words.
#[derive(Clone, Copy, Debug)]
pub struct Word<T: 'static> {
    /// The word in the configuration.
    pub name: &'static str,
    /// The words, each with its value.
    pub words: &'static [(&'static str, T)],
    /// The place among the words of the one that applies where the key is absent.
    pub default: usize,
    /// Their meaning.
    pub about: About,
}

/// The meaning of words.
#[derive(Clone, Copy, Debug)]
pub enum About {
    /// One text for all words together.
    All(&'static str),
    /// A text for each word, in their order.
    Each(&'static [&'static str]),
}

impl<T: Copy + Debug> Word<T> {
    /// The value; the default where the key is absent, and where its word is refused.
    pub fn read(&self, table: &Reader<'_>) -> T {
        table.choice(self.name, self.words).unwrap_or(self.words[self.default].1)
    }

    /// The words as users read them, the default first.
    fn listed(&self) -> Vec<(usize, String)> {
        let others = (0..self.words.len()).filter(|&at| at != self.default);
        let default = (self.default, format!("{:?} (default)", self.words[self.default].0));
        let others = others.map(|at| (at, format!("{:?}", self.words[at].0)));
        std::iter::once(default).chain(others).collect()
    }
}

impl<T: Copy + Debug> Key for Word<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn text(&self) -> String {
        let listed = self.listed();
        match self.about {
            About::Each(meanings) => {
                let each = listed.iter().map(|(at, word)| format!("{word}: {}", meanings[*at]));
                each.collect::<Vec<_>>().join("; ")
            }
            About::All(about) => {
                let words: Vec<&str> = listed.iter().map(|(_, word)| word.as_str()).collect();
                let [before @ .., last] = &words[..] else { return about.into() };
                with_meaning(format!("{} or {last}", before.join(", ")), about)
            }
        }
    }
}

/// A share in per cent.
#[derive(Clone, Copy, Debug)]
pub struct Percent {
    /// The word in the configuration.
    pub name: &'static str,
    /// The value where the key is absent: whole per cents.
    pub default: Share,
    /// Its meaning.
    pub about: &'static str,
}

impl Percent {
    /// The value; `None` where it is refused.
    pub fn read(&self, table: &Reader<'_>) -> Option<Share> {
        match table.has(self.name) {
            true => table.share(self.name),
            false => Some(self.default),
        }
    }
}

/// A share in the resolved configuration: the number that a configuration can have in its place.
pub fn as_number<S: Serializer>(share: &Share, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(share.numerator as f64 / share.denominator as f64)
}

impl Key for Percent {
    fn name(&self) -> &'static str {
        self.name
    }

    fn text(&self) -> String {
        let per_cent = self.default.of(100);
        with_meaning(format!("\"{per_cent}%\" (default)"), self.about)
    }
}

/// A key with a form or a default of its own, which the choice reads by itself.
#[derive(Clone, Copy, Debug)]
pub struct Described(
    /// The word in the configuration.
    pub &'static str,
    /// Its default, its values and its meaning.
    pub &'static str,
);

impl Key for Described {
    fn name(&self) -> &'static str {
        self.0
    }

    fn text(&self) -> String {
        self.1.into()
    }
}

fn with_meaning(values: String, about: &str) -> String {
    if about.is_empty() { values } else { format!("{values}: {about}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashgc_config::{Sink, Tree};

    #[test]
    fn the_text_of_a_key_has_its_default_first() {
        let count = Count { name: "k", default: 2, least: 1, most: 9, about: "blocks" };
        assert_eq!(count.text(), "2 (default), 1 to 9: blocks");
        assert_eq!(Count { most: u32::MAX, about: "", ..count }.text(), "2 (default) or more");
        let flag = Flag { name: "f", default: true, about: "whether" };
        assert_eq!(flag.text(), "true (default) or false: whether");
        let words = &[("a", 1), ("b", 2), ("c", 3)];
        let word = Word { name: "w", words, default: 1, about: About::All("which") };
        assert_eq!(word.text(), "\"b\" (default), \"a\" or \"c\": which");
        let each = Word { about: About::Each(&["one", "two", "three"]), ..word };
        assert_eq!(each.text(), "\"b\" (default): two; \"a\": one; \"c\": three");
        let seventy = Share { numerator: 7, denominator: 10 };
        let percent = Percent { name: "p", default: seventy, about: "of pages" };
        assert_eq!(percent.text(), "\"70%\" (default): of pages");
    }

    #[test]
    fn a_key_is_read_by_its_declaration() {
        let count = Count { name: "k", default: 2, least: 1, most: 9, about: "" };
        let word =
            Word { name: "w", words: &[("a", 1), ("b", 2)], default: 1, about: About::All("") };
        let read = |text: &str| {
            let (tree, sink) = (Tree::parse("t", text).expect("TOML"), Sink::default());
            let table = flashgc_config::Reader::root(&tree, &sink);
            let values = (count.read(&table), count.checked(&table), word.read(&table));
            (values, sink.into_diagnostics().iter().count())
        };
        assert_eq!(read(""), ((2, Some(2), 2), 0));
        assert_eq!(read("k = 9\nw = \"a\""), ((9, Some(9), 1), 0));
        assert_eq!(read("k = 10\nw = \"c\""), ((2, None, 2), 2));
    }
}
