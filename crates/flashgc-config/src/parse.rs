//! From TOML text to a tree.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Origin, SourceText};
use crate::tree::{Entry, Node, Scalar, Table, Tree};

/// A text that is not TOML at all would fill the screen with errors; more than this do not help.
const SYNTAX_ERRORS_MAX: usize = 50;

/// Reads a whole document.
pub(crate) fn document(source_name: &str, text: &str) -> Result<Tree, Diagnostics> {
    // A byte order mark is not part of the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = SourceText::new(source_name, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let root = Builder { source: &source, shift: 0, weak: false }.table(table.get_ref(), None);
        return Ok(Tree { root, layers: vec![source_name.to_string()] });
    }
    let mut found = Diagnostics::default();
    found.note_layers(&[source_name.to_string()]);
    let mut confused_line = None;
    for error in &errors {
        let diagnostic = syntax_error(&source, text, error);
        let line = diagnostic.place.as_ref().map(|place| place.line);
        // Once the parser has lost its way, the rest of the line only echoes the first error.
        if line.is_some() && line == confused_line {
            continue;
        }
        if diagnostic.help.is_none() {
            confused_line = line;
        }
        if found.len() == SYNTAX_ERRORS_MAX {
            found.push(Diagnostic::new(format!("{source_name}: more syntax errors, not shown")));
            break;
        }
        found.push(diagnostic);
    }
    Err(found)
}

fn syntax_error(source: &Arc<SourceText>, text: &str, error: &toml::de::Error) -> Diagnostic {
    let place = error.span().map(|span| Origin::new(source, span).place());
    let word = error.span().and_then(|span| text.get(span)).unwrap_or_default().trim();
    let rest = error.span().and_then(|span| text.get(span.start..)).unwrap_or_default();
    if rest.starts_with('.') && error.message().starts_with("invalid mantissa") {
        let help = Some("write a digit before the point, as in 0.5".to_string());
        return Diagnostic { place, help, ..Diagnostic::new("a number cannot begin with a point") };
    }
    let (message, help) = explain(error.message(), word);
    Diagnostic { place, help, ..Diagnostic::new(message) }
}

/// The most common mistakes in plain words; the rest in the words of the parser.
fn explain(parser_message: &str, word: &str) -> (String, Option<String>) {
    let awkward = |c: char| c.is_control() || matches!(c, '"' | '\\');
    let one_line = !word.is_empty() && !word.contains(awkward);
    if parser_message.starts_with("string values must be quoted") {
        return if word.is_empty() {
            let help = "write a value, or remove the line";
            ("a value is missing here".to_string(), Some(help.to_string()))
        } else {
            let help = match one_line && word.len() <= 60 {
                true => format!("write \"{word}\""),
                false => "put quotes around it".to_string(),
            };
            ("not a TOML value; text needs quotes".to_string(), Some(help))
        };
    }
    if parser_message == "duplicate key" && one_line && word.len() <= 60 {
        let help = "keep one of them".to_string();
        return (format!("`{word}` is given twice"), Some(help));
    }
    (format!("not valid TOML: {parser_message}"), None)
}

/// Turns parsed values into nodes; `shift` is where the parsed text begins in the source.
pub(crate) struct Builder<'s> {
    pub(crate) source: &'s Arc<SourceText>,
    pub(crate) shift: usize,
    pub(crate) weak: bool,
}

impl Builder<'_> {
    fn origin(&self, span: Range<usize>) -> Origin {
        Origin::new(self.source, span.start + self.shift..span.end + self.shift)
    }

    fn table(&self, table: &DeTable<'_>, origin: Option<Origin>) -> Table {
        let mut pairs: Vec<_> = table.iter().collect();
        // The parser sorts by name; users read in the order of the file.
        pairs.sort_by_key(|(key, _)| key.span().start);
        let entries = pairs.into_iter().map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            header: Some(self.origin(key.span())),
            weak: self.weak,
            node: self.node(value),
        });
        Table { entries: entries.collect(), origin }
    }

    fn array(&self, array: &DeArray<'_>) -> Vec<Node> {
        array.iter().map(|item| self.node(item)).collect()
    }

    pub(crate) fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let origin = self.origin(value.span());
        let value = match value.get_ref() {
            DeValue::Table(table) => return Node::Table(self.table(table, Some(origin))),
            DeValue::Array(array) => return Node::Array { items: self.array(array), origin },
            DeValue::String(text) => Scalar::Text(text.to_string()),
            DeValue::Boolean(flag) => Scalar::Bool(*flag),
            DeValue::Datetime(date) => Scalar::Date(date.to_string()),
            DeValue::Float(float) => Scalar::Float { written: float.as_str().to_string() },
            DeValue::Integer(integer) => Scalar::Integer {
                written: integer.to_string(),
                value: i128::from_str_radix(integer.as_str(), integer.radix()).ok(),
            },
        };
        Node::Leaf { value, origin }
    }
}
