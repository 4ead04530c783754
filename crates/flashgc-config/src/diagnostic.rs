//! Mistakes: the message, the place, and the help.

use std::error::Error;
use std::fmt;

/// A stretch of one line of a configuration text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the text: a file name, or `--set`.
    pub source: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// Number of characters to underline; at least 1.
    pub length: usize,
    /// The line itself.
    pub text: String,
}

/// One mistake in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The message.
    pub message: String,
    /// Its place in a text, if it has one.
    pub place: Option<Place>,
    /// The dotted key it is about.
    pub key: Option<String>,
    /// The remedy.
    pub help: Option<String>,
    /// Assignments `key=value`, and keys to unset; any of them removes this mistake, and there may
    /// be another behind it.
    pub remedies: Vec<String>,
    /// Whether the value itself is wrong, unknown or missing, whatever the other values are.
    pub is_form: bool,
}

impl Diagnostic {
    /// A diagnostic with a message only.
    pub fn new(message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            place: None,
            key: None,
            help: None,
            remedies: Vec::new(),
            is_form: false,
        }
    }
}

/// Terminal control characters in a configuration must not reach the terminal.
fn printable(c: char) -> char {
    if c.is_control() && c != '\t' { '\u{fffd}' } else { c }
}

/// A longer line is shown in part.
const SHOWN_CHARS: usize = 160;
/// Characters of a long line that are shown before the place.
const SHOWN_BEFORE: usize = 40;

/// The visible part of a line, the characters before the carets, and the number of carets.
fn excerpt(place: &Place) -> (String, usize, usize) {
    let at = place.column.saturating_sub(1);
    let count = place.text.chars().count();
    let is_long = count > SHOWN_CHARS;
    let from = if is_long && at > SHOWN_BEFORE { at - SHOWN_BEFORE } else { 0 };
    let mut text = String::from(if from > 0 { "…" } else { "" });
    let before = at - from + usize::from(from > 0);
    text.extend(place.text.chars().skip(from).take(SHOWN_CHARS).map(printable));
    let shown = text.chars().count();
    if count > from + SHOWN_CHARS {
        text.push('…');
    }
    // Carets end where the excerpt does; behind the end of a line there is one.
    let most = if is_long { shown.saturating_sub(before) } else { usize::MAX };
    (text, before, place.length.min(most).max(1))
}

/// A word as it is shown in a message: a long one is cut.
pub(crate) fn brief(text: &str) -> String {
    const WORD_CHARS: usize = 80;
    match text.char_indices().nth(WORD_CHARS) {
        None => text.to_string(),
        Some((cut, _)) => format!("{}…", &text[..cut]),
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        let mut width = 1;
        if let Some(place) = &self.place {
            width = place.line.to_string().len();
            let (text, before, length) = excerpt(place);
            // Tabs are kept, so that the caret stays under its word.
            let indent: String = text
                .chars()
                .chain(std::iter::repeat(' '))
                .take(before)
                .map(|c| if c == '\t' { c } else { ' ' })
                .collect();
            let carets = "^".repeat(length);
            let source: String = place.source.chars().map(printable).collect();
            write!(f, "\n{:width$}--> {source}:{}:{}", "", place.line, place.column)?;
            write!(f, "\n{:width$} |", "")?;
            write!(f, "\n{} | {text}", place.line)?;
            write!(f, "\n{:width$} | {indent}{carets}", "")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n{:width$} = help: {help}", "")?;
        }
        Ok(())
    }
}

impl Error for Diagnostic {}

/// All mistakes found, in the order they were found.
///
/// Printing sorts them by layer, line and column; those without a place come last.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// Names of the texts, lowest layer first.
    layers: Vec<String>,
}

impl Diagnostics {
    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Number of mistakes.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The mistakes in the order they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The mistakes, for additions to their text.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Diagnostic> {
        self.list.iter_mut()
    }

    /// Adds one; an exact repetition is dropped.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !self.list.contains(&diagnostic) {
            self.list.push(diagnostic);
        }
    }

    pub(crate) fn add_remedy(&mut self, assignment: String) {
        if let Some(last) = self.list.last_mut() {
            last.remedies.push(assignment);
        }
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: impl Into<Diagnostics>) {
        let other = other.into();
        self.note_layers(&other.layers);
        for diagnostic in other.list {
            self.push(diagnostic);
        }
    }

    /// Remembers the order of layers for sorting.
    pub(crate) fn note_layers(&mut self, layers: &[String]) {
        for layer in layers {
            if !self.layers.contains(layer) {
                self.layers.push(layer.clone());
            }
        }
    }

    /// The mistakes in the order in which users read them.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut layers: Vec<&str> = self.layers.iter().map(String::as_str).collect();
        for place in self.list.iter().filter_map(|d| d.place.as_ref()) {
            if !layers.contains(&place.source.as_str()) {
                layers.push(&place.source);
            }
        }
        let mut sorted: Vec<&Diagnostic> = self.list.iter().collect();
        sorted.sort_by_key(|diagnostic| match &diagnostic.place {
            Some(place) => {
                let layer = layers.iter().position(|name| *name == place.source);
                (layer.unwrap_or(usize::MAX), place.line, place.column)
            }
            None => (usize::MAX, usize::MAX, usize::MAX),
        });
        sorted
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.sorted().into_iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl Error for Diagnostics {}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics { list: vec![diagnostic], layers: Vec::new() }
    }
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(list: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics { list, layers: Vec::new() }
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
