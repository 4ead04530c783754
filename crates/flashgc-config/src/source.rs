//! The origin of a value: a shared text and a range of bytes in it.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Place;

/// One configuration text with its name and the start of each line.
#[derive(Debug)]
pub(crate) struct SourceText {
    name: String,
    body: String,
    line_starts: Vec<usize>,
}

impl SourceText {
    pub(crate) fn new(name: &str, body: &str) -> Arc<SourceText> {
        let after_newline = body.match_indices('\n').map(|(index, _)| index + 1);
        let line_starts = std::iter::once(0).chain(after_newline).collect();
        Arc::new(SourceText { name: name.to_string(), body: body.to_string(), line_starts })
    }

    /// The largest character boundary at or below `index`.
    fn floor(&self, index: usize) -> usize {
        let mut index = index.min(self.body.len());
        while !self.body.is_char_boundary(index) {
            index -= 1;
        }
        index
    }

    fn place(&self, span: &Range<usize>) -> Place {
        let start = self.floor(span.start);
        let line_index = self.line_starts.partition_point(|&begin| begin <= start) - 1;
        let line_start = self.line_starts[line_index];
        let rest = &self.body[line_start..];
        let line = rest.split('\n').next().unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        // A span may run over several lines; the caret marks only the first.
        let line_end = line_start + line.len();
        let end = self.floor(span.end).clamp(start, line_end.max(start));
        Place {
            source: self.name.clone(),
            line: line_index + 1,
            column: self.body[line_start..start].chars().count() + 1,
            length: self.body[start..end].chars().count().max(1),
            text: line.to_string(),
        }
    }
}

/// A range of bytes in a shared text.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    text: Arc<SourceText>,
    span: Range<usize>,
}

impl Origin {
    pub(crate) fn new(text: &Arc<SourceText>, span: Range<usize>) -> Origin {
        Origin { text: Arc::clone(text), span }
    }

    /// The line and column, calculated only when an error is to be shown.
    pub(crate) fn place(&self) -> Place {
        self.text.place(&self.span)
    }
}
