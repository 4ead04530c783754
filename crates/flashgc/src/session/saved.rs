//! Drives that outlive their session: their origin, and whether they fit a configuration.

use super::engine::Engine;
use super::error::RunError;
use super::options::Options;
use super::{Session, Stage};
use crate::config::{Fill, OverwriteWith, Setup, WorkloadPlan, hash_of};
use crate::device::Superblock;
use crate::drive::Drive;
use crate::gc::placement::{kept_by, note_of_kept};
use crate::report::VERSION;
use crate::store::Preconditioning;
use crate::workload::records::TraceOpener;
use crate::workload::synthetic::SyntheticOverwrites;
use flashgc_config::units::counted;
use flashgc_trace::Record;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// A drive and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedDrive {
    /// Its origin.
    pub origin: Origin,
    /// Its state.
    pub state: Drive,
}

/// The origin of a drive's state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The version of flashgc that made it.
    pub version: String,
    /// Everything that the state depends on: device, scheme, seed, preconditioning, and the
    /// properties of the workload that preconditioning used.
    pub made_from: Value,
    /// The results of preconditioning, as in the report.
    pub precondition: Preconditioning,
}

impl Origin {
    /// The hash over everything that the state depends on: equal for equal drives.
    pub fn key(&self) -> String {
        hash_of(&self.made_from)
    }

    /// Whether it has the values that a description of a drive shows. A file may hold anything.
    pub fn is_sound(&self) -> bool {
        let made_from = &self.made_from;
        let is_number = |key: &&str| made_from["device"][key].as_u64().is_some_and(|n| n < 1 << 32);
        COUNTS.iter().all(is_number)
            && made_from["seed"].is_u64()
            && made_from["precondition"]["fill"].is_string()
    }

    /// Whether the drive is of the device of this configuration; `name` is its name in messages.
    pub fn check_fit(&self, setup: &Setup, name: &str) -> Result<(), RunError> {
        let differences = differences(&self.made_from, setup);
        if differences.is_empty() {
            return Ok(());
        }
        // A drive that is sized by its trace is seldom the one that was saved.
        let fit = if setup.fitted.is_some() { " (and `--fit none`)" } else { "" };
        let listed: String = differences.iter().map(|line| format!("\n  | {line}")).collect();
        let help = self.extra_space_help(setup).unwrap_or_else(|| {
            format!(
                "make one with `flashgc drive save CONFIG FILE`, or use the device that it was \
                 made with{fit}"
            )
        });
        Err(RunError::new(format!(
            "error: the saved drive was made with another device\n  --> {name}{listed}\n  = help: \
             {help}"
        )))
    }

    /// Blocks of each plane in addition to the device's: for the drive's scheme, and for this one.
    fn extra_blocks(&self, setup: &Setup) -> (u64, u64) {
        let made = self.made_from["gc"]["time_slices"]["extra_blocks"].as_u64().unwrap_or(0);
        (made, u64::from(setup.plan.geometry.shape.extra_blocks))
    }

    /// The remedy where a scheme's own blocks are the only difference.
    fn extra_space_help(&self, setup: &Setup) -> Option<String> {
        let (made, own) = self.extra_blocks(setup);
        let shape = &setup.plan.geometry.shape;
        let of_drive = self.made_from["device"]["blocks_per_plane"].as_u64()?.checked_sub(made)?;
        if made == own || of_drive != u64::from(shape.blocks_per_plane) - own {
            return None;
        }
        let none = "gc.pacing.time-slices.extra_space=\"0%\"";
        Some(if own > 0 {
            format!(
                "the scheme {} adds {} to each plane (gc.pacing.time-slices.extra_space); `--set \
                 {none}` adds none",
                setup.plan.gc.scheme,
                counted(own, "block")
            )
        } else {
            format!(
                "the drive was saved under {}, which adds {} to each plane \
                 (gc.pacing.time-slices.extra_space); save it again with `--set {none}`",
                self.precondition.scheme,
                counted(made, "block")
            )
        })
    }

    /// An assignment with which the drive fits this configuration, where there is one.
    pub fn remedy(&self, setup: &Setup) -> Option<&'static str> {
        let (_, own) = self.extra_blocks(setup);
        (own > 0 && self.extra_space_help(setup).is_some())
            .then_some("gc.pacing.time-slices.extra_space=0%")
    }

    /// For the report of a run on the drive.
    pub(super) fn for_report(&self, name: &str) -> Value {
        json!({
            "file": name,
            "key": self.key(),
            "version": self.version,
            "seed": self.made_from["seed"],
        })
    }
}

/// The properties of a trace that the state of a drive depends on.
#[derive(Clone, Default)]
pub(super) struct TraceFacts {
    requests: u64,
    digest: Sha256,
}

impl TraceFacts {
    pub fn observe(&mut self, record: &Record) {
        let Record { device, op, marks, offset_bytes, size_bytes, .. } = record;
        self.requests += 1;
        let mut bytes = [0; 25];
        bytes[..8].copy_from_slice(&device.to_le_bytes());
        bytes[8..16].copy_from_slice(&offset_bytes.to_le_bytes());
        bytes[16..24].copy_from_slice(&size_bytes.to_le_bytes());
        bytes[24] = *op as u8;
        self.digest.update(bytes);
        // A trace without hints has the digest that it had before there were any.
        if marks.hint() > 0 {
            self.digest.update([marks.hint()]);
        }
    }

    fn json(&self) -> Value {
        let digest = self.digest.clone().finalize();
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        json!({ "requests": self.requests, "sha256": digest })
    }
}

/// The facts of a device that a state is bound to, by the key of the configuration, and those
/// that it only depends on.
fn device_facts(setup: &Setup) -> Value {
    let (shape, plan) = (&setup.plan.geometry.shape.by_planes(), &setup.plan);
    let mut facts = json!({
        "channels": shape.channels,
        "chips_per_channel": shape.chips_per_channel,
        "dies_per_chip": shape.dies_per_chip,
        "planes_per_die": shape.planes_per_die,
        "blocks_per_plane": shape.blocks_per_plane,
        "pages_per_block": shape.pages_per_block / shape.slots,
        "page_size": shape.page_bytes * shape.slots,
        "exported": shape.exported_pages_per_plane,
        "order": shape.order,
        "allocation": plan.allocation,
        "unit": shape.unit,
        "program_ns": plan.timing.program_ns,
    });
    // Keys that most devices do not have are omitted, so that their drives keep their keys.
    if shape.summary_pages > 0 {
        facts["summary.pages"] = json!(shape.summary_pages);
    }
    if let Some(pool) = plan.pool {
        facts["pool"] = json!(pool);
    }
    // In the scheme's units: a drive of whole blocks does not fit sub-blocks.
    if shape.sub_blocks > 1 {
        facts["sub_blocks"] = json!(shape.sub_blocks);
    }
    if shape.slots > 1 {
        facts["mapping_unit"] = json!(shape.page_bytes);
    }
    if shape.pages_per_program > 1 {
        facts["pages_per_program"] = json!(shape.pages_per_program);
    }
    if shape.planes_in_step > 1 {
        facts["multi_plane"] = json!(shape.planes_in_step);
    }
    if shape.superblock != Superblock::Plane {
        facts["superblock"] = json!(shape.superblock.word());
    }
    if !shape.kinds.is_one() {
        facts["isolation"] = json!(shape.kinds.most_lost_pages());
    }
    facts
}

/// The counts among them.
const COUNTS: [&str; 8] = [
    "channels",
    "chips_per_channel",
    "dies_per_chip",
    "planes_per_die",
    "blocks_per_plane",
    "pages_per_block",
    "page_size",
    "exported",
];

/// Keys in which a drive and a configuration may differ: they only scale the age clock.
const FREE: [&str; 2] = ["unit", "program_ns"];

/// The differences between the device of a drive and the configured device, a line for each key.
fn differences(made_from: &Value, setup: &Setup) -> Vec<String> {
    let (made, own) = (&made_from["device"], device_facts(setup));
    let facts = [&own, made].map(|facts| facts.as_object().into_iter().flatten());
    // In the order of the configuration's facts, then the keys that only the drive has.
    let mut keys: Vec<&String> = facts.into_iter().flatten().map(|(key, _)| key).collect();
    let mut seen = BTreeSet::new();
    keys.retain(|key| seen.insert(*key) && !FREE.contains(&key.as_str()));
    keys.retain(|key| made[*key] != own[*key]);
    let shown = |fact: &Value, of: &str| match fact {
        Value::Null => "none".to_string(),
        fact => format!("{fact}{of}"),
    };
    keys.iter()
        .map(|key| {
            let of = match key.as_str() {
                "exported" => " pages of each plane",
                "page_size" | "mapping_unit" => " B",
                "isolation" => " pages between sub-blocks",
                _ => "",
            };
            let (made, own) = (shown(&made[*key], of), shown(&own[*key], of));
            format!("device.{key}: {made} in the drive, {own} in the configuration")
        })
        .collect()
}

impl Session {
    /// A session that begins with a saved drive in place of preconditioning; `name` is its name in
    /// messages and in the report.
    pub fn with_drive(
        setup: Setup,
        trace: Option<Box<dyn TraceOpener>>,
        saved: SavedDrive,
        name: &str,
        options: Options,
    ) -> Result<Session, RunError> {
        let SavedDrive { origin, state } = saved;
        origin.check_fit(&setup, name)?;
        let own = kept_by(&setup.plan.gc, setup.plan.window_costs());
        let how = origin.made_from["precondition"].clone();
        let is_as_configured = is_same(&how, &setup.resolved_json()["precondition"]);
        // A run that preconditions the drive by the other scheme itself begins with the same state.
        let is_by_another = is_as_configured
            && setup.filler.is_some()
            && origin.made_from["gc"] == json!(setup.filling_scheme());
        let note = (!is_by_another).then(|| note_of_kept(state.kept.as_ref(), own.as_deref()));
        let (engine, carried) =
            Engine::with_drive(setup.plan.clone(), state, options).map_err(|why| {
                RunError::new(format!(
                    "error: the saved drive cannot be used: {why}\n  --> {name}\n  = help: make \
                     it again with `flashgc drive save`"
                ))
            })?;
        let mut session = Session::with_engine(setup, trace, engine);
        session.preconditioning = origin.precondition.clone();
        session.preconditioning.carried = carried;
        session.notes.extend(note.flatten());
        if !is_as_configured {
            session.notes.push(
                "the run starts with the saved drive: [precondition] of the configuration has no \
                 effect"
                    .into(),
            );
        }
        session.setup.preconditioned(&how);
        session.given = Some((origin, name.into()));
        Ok(session)
    }

    /// The drive, once it is preconditioned ([`super::Phase::Ready`]) and before it is measured.
    pub fn into_drive(self) -> Result<SavedDrive, RunError> {
        if !matches!(self.stage, Stage::Ready) {
            return Err(RunError::new("error: the drive has not been preconditioned yet"));
        }
        let origin = self.origin();
        Ok(SavedDrive { origin, state: self.engine.into_drive() })
    }

    /// Whether the state of the drive depends on the workload.
    pub(super) fn depends_on_workload(&self) -> bool {
        self.given.is_none() && depends_on_workload(&self.setup)
    }

    pub(super) fn origin(&self) -> Origin {
        if let Some((origin, _)) = &self.given {
            return origin.clone();
        }
        let made_from = made_from(&self.setup, self.trace_facts.as_ref());
        let precondition = self.preconditioning.clone();
        Origin { version: VERSION.into(), made_from, precondition }
    }

    pub(super) fn workload_facts(&self) -> Value {
        workload_facts(&self.setup, self.trace_facts.as_ref())
    }
}

/// Everything that the state of a preconditioned drive depends on, as far as a configuration has
/// it: the requests of a trace are null.
pub fn drive_of(setup: &Setup) -> Value {
    made_from(setup, None)
}

fn made_from(setup: &Setup, trace: Option<&TraceFacts>) -> Value {
    let filler = setup.filling_scheme();
    let mut precondition = setup.resolved_json()["precondition"].clone();
    precondition["scheme"] = json!(filler.scheme);
    json!({
        "device": device_facts(setup),
        "gc": filler,
        "seed": setup.plan.seed,
        "precondition": precondition,
        "workload": depends_on_workload(setup).then(|| workload_facts(setup, trace)),
    })
}

/// Whether the state of a drive that this configuration preconditions depends on the workload.
fn depends_on_workload(setup: &Setup) -> bool {
    let precondition = &setup.precondition;
    let by_trace = precondition.fill == Fill::Trace || !precondition.reads.are_left();
    let by_overwrites =
        precondition.overwrite > 0.0 && precondition.overwrite_with != OverwriteWith::Uniform;
    by_overwrites || by_trace || setup.foresees_precondition() || fills_with_hints(setup)
}

/// Whether pages are filled with hints of the workload, and placement uses them.
fn fills_with_hints(setup: &Setup) -> bool {
    let plan = setup.preconditioning_plan();
    let page_bytes = u64::from(plan.geometry.shape.page_bytes);
    let hints = || setup.workload.fill_hints(plan.geometry.exported_pages, page_bytes);
    plan.gc.placement.is_some() && hints().is_some()
}

fn workload_facts(setup: &Setup, trace: Option<&TraceFacts>) -> Value {
    let is_foreseen = setup.foresees_precondition();
    match &setup.workload {
        // The future of the pages reaches to the end of the run.
        WorkloadPlan::Trace(plan) if is_foreseen => {
            json!({ "foreseen": plan, "trace": trace.map(TraceFacts::json) })
        }
        generated if is_foreseen => json!({ "foreseen": generated }),
        WorkloadPlan::Trace(plan) => json!({
            "address": plan.address,
            "trace": trace.map(TraceFacts::json),
        }),
        WorkloadPlan::Fitted(plan) => json!({ "fitted": plan }),
        WorkloadPlan::Jobs(jobs) => json!({ "jobs": jobs.plan }),
        WorkloadPlan::Synthetic(workload) => {
            json!({ "synthetic": SyntheticOverwrites::made_from(&workload.plan) })
        }
    }
}

/// Whether two ways of preconditioning are the same but for the scheme.
fn is_same(a: &Value, b: &Value) -> bool {
    let without_scheme = |how: &Value| {
        let mut how = how.clone();
        how["scheme"] = Value::Null;
        how
    };
    a.is_object() && b.is_object() && without_scheme(a) == without_scheme(b)
}
