//! A checked configuration.

use super::device::Sizing;
use super::filler::Filler;
use super::fitted::Fitted;
use super::precondition::PreconditionPlan;
use super::workload::WorkloadPlan;
use flashgc_model::gc::GcPlan;
use flashgc_model::gc::expected;
use flashgc_model::gc::placement::Classes;
use flashgc_model::plan::Plan;
use flashgc_model::plan::Until;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A checked configuration: the plan that runs, and notes for the user.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The plan of the simulation.
    pub plan: Plan,
    /// The source of requests.
    pub workload: WorkloadPlan,
    /// The condition that ends the measured part, where it has one.
    pub until: Option<Until>,
    /// The state in which measuring begins.
    pub precondition: PreconditionPlan,
    /// The scheme that is active until then, where it is not the run's own.
    pub filler: Option<Filler>,
    /// The name of the device preset or of the file of the device, or "custom".
    pub device_name: String,
    /// The input of the size of the drive, where its trace decides it.
    pub sizing: Option<Sizing>,
    /// The size that was found.
    pub fitted: Option<Fitted>,
    /// Program/erase cycles that each block of the device is rated for, where they are known.
    pub rated_cycles: Option<u64>,
    /// Values of the scheme that differ from its preset or file, as `victim.use=fifo`.
    pub scheme_changes: Vec<String>,
    pub(super) resolved: Value,
    pub(super) unused: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Setup {
    /// The resolved configuration, as data.
    pub fn resolved_json(&self) -> &Value {
        &self.resolved
    }

    /// Keys that were given and have no effect, such as parameters of a choice not in use.
    pub fn unused_keys(&self) -> &[String] {
        &self.unused
    }

    /// Notes on the configuration for the user.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the workload is a trace, or jobs with one.
    pub fn needs_trace(&self) -> bool {
        self.workload.trace().is_some()
    }

    /// Whether the placement of the run uses the future.
    pub fn foresees(&self) -> bool {
        self.plan.gc.placement.as_ref().is_some_and(Classes::foresees)
    }

    /// Whether the drive is preconditioned by a placement that uses the future.
    pub fn foresees_precondition(&self) -> bool {
        self.filler.is_none() && self.foresees()
    }

    /// Whether the drive has yet to be sized by its trace ([`super::fit`]).
    pub fn awaits_fit(&self) -> bool {
        self.sizing.is_some() && self.fitted.is_none()
    }

    /// The trace that the configuration itself names.
    pub fn trace_file(&self) -> Option<&str> {
        self.workload.trace().and_then(|trace| trace.file.as_deref())
    }

    /// The first replayed row of a trace, counted from 0; `None` where rows are also chosen by
    /// their time or device, so that a number of rows does not divide the trace.
    pub fn trace_first_row(&self) -> Option<u64> {
        let WorkloadPlan::Trace(trace) = &self.workload else { return None };
        let filter = &trace.options.filter;
        let by_rows = filter.start_ns.is_none() && filter.devices.is_none();
        by_rows.then(|| filter.first_row.unwrap_or(0))
    }

    /// The bytes that the tables of this drive will take, within a few per cent: the caller can
    /// refuse a drive that does not fit its memory.
    pub fn table_bytes_expected(&self) -> u64 {
        let geometry = &self.plan.geometry;
        let pages = u64::from(geometry.pages);
        let collector = expected::table_bytes(&self.plan.gc, geometry, self.plan.window_costs());
        // Two maps of 4 bytes, a bit whether a page is valid; and the state of each block.
        let maps = (pages + u64::from(geometry.exported_pages)) * 4 + pages / 8;
        maps + u64::from(geometry.blocks) * 44 + collector
    }

    /// The plan of the simulation while the drive is preconditioned.
    pub fn preconditioning_plan(&self) -> Plan {
        self.filler.as_ref().map_or_else(|| self.plan.clone(), |filler| filler.fill(&self.plan))
    }

    /// The drive was preconditioned before, in this way.
    pub fn preconditioned(&mut self, how: &Value) {
        self.resolved["precondition"] = how.clone();
    }

    /// The scheme that is active while the drive is preconditioned.
    pub fn filling_scheme(&self) -> &GcPlan {
        self.filler.as_ref().map_or(&self.plan.gc, |filler| &filler.gc)
    }

    /// A hash over the resolved configuration.
    pub fn config_hash(&self) -> String {
        hash_of(&self.resolved)
    }
}

/// The hash of a JSON value, in the order in which its keys are sorted.
pub fn hash_of(value: &Value) -> String {
    let digest = Sha256::digest(value.to_string().as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
