//! The scheme that is active until the measured part begins.

use super::derive;
use super::device::Device;
use super::precondition::PreconditionPlan;
use super::{gc, presets};
use flashgc_config::{Diagnostics, Reader, Sink, Tree};
use flashgc_model::device::{FailurePlan, Geometry, Shape};
use flashgc_model::gc::GcPlan;
use flashgc_model::plan::Plan;
use serde_json::Value;

/// A scheme on the device of a run, with the values derived from both.
#[derive(Clone, Debug)]
pub struct Filler {
    /// Its choices.
    pub gc: GcPlan,
    /// The failures that leave it the space that it needs.
    failures: Option<FailurePlan>,
}

impl Filler {
    /// The plan of a run whose drive it fills.
    pub(super) fn fill(&self, plan: &Plan) -> Plan {
        let mut filling = plan.clone();
        filling.gc = self.gc.clone();
        filling.geometry.shape.padded_programs = self.gc.classes_of_copies();
        filling.failures.clone_from(&self.failures);
        filling
    }
}

/// The scheme of `precondition.scheme`: the preset as it is, whatever else `[gc]` contains.
pub fn filler(
    root: &Reader<'_>,
    precondition: &PreconditionPlan,
    device: &Device,
    plan: &Plan,
) -> Option<Filler> {
    let name = precondition.scheme.as_deref()?;
    match preset_on(device, name)? {
        Ok((shape, filler)) => shares_the_drive(root, name, &shape, plan).map(|()| filler),
        Err(errors) => {
            let first = errors.iter().next();
            let why = first.map_or(String::new(), |error| format!(": {}", error.message));
            let help = first.and_then(|error| error.help.clone()).unwrap_or_default();
            root.table("precondition").error(
                "scheme",
                format!("the scheme \"{name}\" cannot run on this device{why}"),
                help,
            );
            None
        }
    }
}

/// A preset on this device, or the reasons why it cannot run there; `None` where there is no such
/// preset.
fn preset_on(device: &Device, name: &str) -> Option<Result<(Shape, Filler), Diagnostics>> {
    let mut tree = match presets::scheme(name)? {
        Ok(tree) => Tree::nested(&["gc"], tree),
        Err(errors) => return Some(Err(errors)),
    };
    // JSON's escapes are among TOML's.
    let named = Tree::parse(name, &format!("gc.scheme = {}", Value::from(name)));
    named.map(|named| tree.overlay(named)).ok()?;
    let sink = Sink::default();
    let root = Reader::root(&tree, &sink);
    let scheme = gc::read(&root.table("gc"), device.shape.registers);
    let found = scheme.and_then(|scheme| {
        let (shape, gc) = derive::scheme::plan(&root, device, &scheme)?;
        let failures = derive::failures::plan(&root, device, &Geometry::new(shape.clone()), &gc)?;
        Some((shape, Filler { gc, failures }))
    });
    Some(found.ok_or_else(|| sink.into_diagnostics()))
}

/// The run's own scheme takes over the drive, so both must see the same blocks.
fn shares_the_drive(root: &Reader<'_>, name: &str, shape: &Shape, plan: &Plan) -> Option<()> {
    let is_same = |a: &Shape, b: &Shape| (a.sub_blocks, a.kinds) == (b.sub_blocks, b.kinds);
    if shape.extra_blocks != plan.geometry.shape.extra_blocks {
        root.table("precondition").error(
            "scheme",
            format!(
                "\"{name}\" and \"{}\" use different numbers of blocks, so one cannot take over \
                 the other's drive",
                plan.gc.scheme
            ),
            "remove `precondition.scheme` or gc.pacing.time-slices.extra_space",
        );
        return None;
    }
    if !is_same(shape, &plan.geometry.shape) {
        root.table("precondition").error(
            "scheme",
            format!(
                "\"{name}\" and \"{}\" erase different parts of a block, so one cannot take over \
                 the other's drive",
                plan.gc.scheme
            ),
            "remove `precondition.scheme`, or name a scheme with the same `gc.erase`",
        );
        return None;
    }
    Some(())
}
