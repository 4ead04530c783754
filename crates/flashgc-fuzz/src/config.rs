//! Configurations: whatever is typed is an error with words, or a plan; and a small plan runs.

use flashgc::config::{prepare, Inputs, WorkloadPlan};
use flashgc::session::{Options, Phase, Session};

/// A larger drive would take too long.
const PAGES_MAX: u32 = 1 << 14;
const REQUESTS_MAX: u64 = 2_000;
const DRIVE_WRITES_MAX: f64 = 2.0;
const SLICES_MAX: u32 = 50;

/// The bytes are a configuration; a line `>>> key=value` is an assignment over it.
pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let is_set = |line: &&str| line.starts_with(">>> ");
    let sets = text.lines().filter(is_set).map(|line| line[4..].to_string()).collect();
    let text = text.lines().filter(|line| !is_set(line)).collect::<Vec<_>>().join("\n");
    let inputs = Inputs { name: "input.toml".into(), text, sets, ..Inputs::default() };
    let setup = match prepare(&inputs) {
        Ok(setup) => setup,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(!setup.config_hash().is_empty());
    let requests = match &setup.workload {
        WorkloadPlan::Synthetic(workload) => workload.plan.requests,
        WorkloadPlan::Alike(plan) => plan.requests,
        WorkloadPlan::Trace(_) => return,
    };
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
