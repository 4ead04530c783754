//! Configurations: whatever is typed is an error with words, or a plan; and a small plan runs.

use flashgc::config::{Inputs, prepare};
use flashgc::session::{Options, Phase, Session};
use flashgc::workload::length::Length;

/// A larger drive would take too long.
const PAGES_MAX: u32 = 1 << 14;
const REQUESTS_MAX: u64 = 2_000;
const DRIVE_WRITES_MAX: f64 = 2.0;
const SLICES_MAX: u32 = 50;

/// The bytes are a configuration; a line `>>> key=value` is an assignment over it, and a line
/// `<<< key` a key to unset.
pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let is_set = |line: &&str| line.starts_with(">>> ");
    let is_unset = |line: &&str| line.starts_with("<<< ");
    let sets = text.lines().filter(is_set).map(|line| line[4..].to_string()).collect();
    let unsets = text.lines().filter(is_unset).map(|line| line[4..].to_string()).collect();
    let is_text = |line: &&str| !is_set(line) && !is_unset(line);
    let text = text.lines().filter(is_text).collect::<Vec<_>>().join("\n");
    let inputs = Inputs { name: "input.toml".into(), text, sets, unsets, ..Inputs::default() };
    let setup = match prepare(&inputs) {
        Ok(setup) => setup,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(!setup.config_hash().is_empty());
    if setup.needs_trace() {
        return;
    }
    let requests = setup.workload.length().and_then(Length::requests).unwrap_or(u64::MAX);
    let small = setup.plan.geometry.pages <= PAGES_MAX
        && requests <= REQUESTS_MAX
        && setup.precondition.overwrite <= DRIVE_WRITES_MAX;
    if !small {
        return;
    }
    let mut session = Session::new(setup, None, Options { verify: true, ..Options::default() });
    for _ in 0..SLICES_MAX {
        match session.advance() {
            Ok(progress) if progress.phase == Phase::Done => break,
            Ok(_) => {}
            Err(error) => {
                assert!(!error.text.is_empty());
                return;
            }
        }
    }
}
