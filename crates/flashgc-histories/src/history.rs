//! A history: a configuration as assignments, in the form that `flashgc run` takes, and the rows
//! of its trace, where it has one.

use crate::given;
use flashgc::config::{Inputs, Setup, prepare};
use flashgc::session::TraceOpener;
use std::io::{Cursor, Read};

/// The format of the rows of a trace in a file.
pub const TRACE_FORMAT: &str = "csv:time:ns, op, offset, size, priority, hint; high=1; normal=0";

/// One history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Dotted keys and their values as TOML, in the order of the draw.
    pub keys: Vec<(String, String)>,
    /// The rows of the trace, where the workload is one.
    pub rows: Option<Vec<String>>,
    /// Keys and words that were drawn, for the counts.
    pub words: Vec<(String, String)>,
}

impl History {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// Sets a key, at its place or at the end.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        match self.keys.iter_mut().find(|(own, _)| own == key) {
            Some((_, own)) => *own = value,
            None => self.keys.push((key.into(), value)),
        }
    }

    /// Removes the key and all below it.
    pub fn remove(&mut self, key: &str) {
        let below = format!("{key}.");
        self.keys.retain(|(own, _)| own != key && !own.starts_with(&below));
    }

    /// The configuration as a file.
    pub fn text(&self) -> String {
        self.keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
    }

    /// From a file of assignments, one a line.
    pub fn parse(text: &str) -> History {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let pairs = lines.filter_map(|line| line.split_once('='));
        let keys = pairs.map(|(key, value)| (key.trim().into(), value.trim().into())).collect();
        History { keys, ..History::default() }
    }

    /// The checked configuration, or why it cannot run.
    pub fn prepare(&self) -> Result<Setup, String> {
        let (name, text) = ("history.toml".into(), self.text());
        let policies = given::policies(|slot| self.is_given(slot));
        let inputs = Inputs { name, text, policies, ..Inputs::default() };
        prepare(&inputs).map_err(|errors| errors.to_string())
    }

    /// Whether a function is in this slot.
    fn is_given(&self, slot: &str) -> bool {
        let key = format!("gc.{slot}.use");
        self.keys.iter().any(|(name, value)| *name == key && value == "\"given\"")
    }

    /// The seed in a file of a failure, for the draws of its rule.
    pub fn seed_in(text: &str) -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix("# seed "))?;
        line.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    /// The trace as a file.
    pub fn trace_text(&self) -> Option<String> {
        self.rows.as_ref().map(|rows| rows.iter().map(|row| format!("{row}\n")).collect())
    }

    /// The trace for a session.
    pub fn opener(&self) -> Option<Box<dyn TraceOpener>> {
        let bytes = self.trace_text()?.into_bytes();
        Some(Box::new(MemoryTrace(bytes)))
    }
}

/// A trace in memory.
pub struct MemoryTrace(pub Vec<u8>);

impl TraceOpener for MemoryTrace {
    fn name(&self) -> String {
        "history.trace".into()
    }

    fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
        Ok(Box::new(Cursor::new(self.0.clone())))
    }
}
