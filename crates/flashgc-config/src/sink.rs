//! The sink of readers for mistakes, and for the keys that they requested.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Diagnostics};

/// Collects mistakes from all readers of one configuration.
#[derive(Debug, Default)]
pub struct Sink {
    diagnostics: RefCell<Diagnostics>,
    /// Dotted table path to the keys requested, in the order of the requests.
    requested: RefCell<BTreeMap<String, Vec<String>>>,
}

impl Sink {
    /// Returns all diagnostics.
    pub fn into_diagnostics(self) -> Diagnostics {
        self.diagnostics.into_inner()
    }

    /// Whether nothing wrong was found so far.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.borrow().is_empty()
    }

    /// Adds one mistake; an exact repetition is dropped.
    pub fn push(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// Adds a remedy to the mistake noted last.
    pub(crate) fn add_remedy(&self, assignment: String) {
        self.diagnostics.borrow_mut().add_remedy(assignment);
    }

    /// Adds several mistakes.
    pub fn extend(&self, diagnostics: impl Into<Diagnostics>) {
        self.diagnostics.borrow_mut().extend(diagnostics);
    }

    pub(crate) fn note_layers(&self, layers: &[String]) {
        self.diagnostics.borrow_mut().note_layers(layers);
    }

    /// Marks a key of a table as known.
    pub(crate) fn mark_known(&self, table: &str, key: &str) {
        let mut requested = self.requested.borrow_mut();
        let keys = requested.entry(table.to_string()).or_default();
        if !keys.iter().any(|known| known == key) {
            keys.push(key.to_string());
        }
    }

    /// The keys of a table that were requested.
    pub(crate) fn known_keys(&self, table: &str) -> Vec<String> {
        self.requested.borrow().get(table).cloned().unwrap_or_default()
    }
}
