//! The configuration: from layers of text to a checked setup, with every error at once.
//!
//! Layers, the later over the earlier: the preset of the device and of the scheme, the file, the
//! assignments of the command line. Each table has a file here that reads it; [`derive`] works out
//! what follows from them together.

mod assist;
mod derive;
mod device;
mod gc;
mod hold;
mod hotness;
mod layers;
mod pace;
mod precondition;
pub mod presets;
mod sub_blocks;
mod trigger;
mod used_space;
mod workload;
mod write_buffer;

pub use precondition::{Fill, PreconditionPlan, Reads};
pub use workload::{SyntheticWorkload, TracePlan, WorkloadPlan};

use crate::device::Shape;
use crate::gc::GcPlan;
use crate::plan::Plan;
use flashgc_config::{Diagnostic, Diagnostics, Reader, Sink, Tree};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};

/// What a run is made from, as text.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The name of the configuration, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
    /// A scheme that replaces `gc.scheme`: a preset's name, or a file's name and its text.
    pub scheme: Option<(String, Option<String>)>,
    /// A device preset that replaces the whole `[device]` table.
    pub device: Option<String>,
    /// Assignments `key.path=value`.
    pub sets: Vec<String>,
    /// Whether a trace was given beside the configuration.
    pub has_trace: bool,
}

/// A checked configuration: what runs, and what people should know of it.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What the simulation runs on.
    pub plan: Plan,
    /// Where requests come from.
    pub workload: WorkloadPlan,
    /// The state in which measuring begins.
    pub precondition: PreconditionPlan,
    /// The scheme that is at work until then, where it is not the run's own.
    pub filler: Option<GcPlan>,
    /// The name of the device preset, or "custom".
    pub device_name: String,
    resolved: Value,
    unused: Vec<String>,
    notes: Vec<String>,
}

impl Setup {
    /// Everything that was resolved, as data.
    pub fn resolved_json(&self) -> &Value {
        &self.resolved
    }

    /// Keys that were given and have no effect, such as parameters of a choice not in use.
    pub fn unused_keys(&self) -> &[String] {
        &self.unused
    }

    /// What people should know of the configuration.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the workload is a trace.
    pub fn needs_trace(&self) -> bool {
        matches!(self.workload, WorkloadPlan::Trace(_))
    }

    /// The trace that the configuration itself names.
    pub fn trace_file(&self) -> Option<&str> {
        match &self.workload {
            WorkloadPlan::Trace(trace) => trace.file.as_deref(),
            WorkloadPlan::Synthetic(_) | WorkloadPlan::Alike(_) => None,
        }
    }

    /// The bytes that the tables of this drive will take, within a few per cent: the caller can
    /// refuse a drive that does not fit its memory.
    pub fn table_bytes_expected(&self) -> u64 {
        let geometry = &self.plan.geometry;
        let pages = u64::from(geometry.pages);
        // Two maps of 4 bytes, two bits in bitmaps; a block has its accounts.
        pages * 8 + pages / 4 + u64::from(geometry.blocks) * 32
    }

    /// What the simulation runs on while the drive is preconditioned.
    pub fn preconditioning_plan(&self) -> Plan {
        let mut plan = self.plan.clone();
        if let Some(filler) = &self.filler {
            plan.gc = filler.clone();
        }
        plan
    }

    /// The drive was preconditioned before, and like this.
    pub(crate) fn preconditioned(&mut self, how: &Value) {
        self.resolved["precondition"] = how.clone();
    }

    /// A hash over everything that was resolved.
    pub fn config_hash(&self) -> String {
        hash_of(&self.resolved)
    }
}

/// The hash of a JSON value, in the order in which its keys are sorted.
pub fn hash_of(value: &Value) -> String {
    let digest = Sha256::digest(value.to_string().as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Reads and checks a configuration.
pub fn prepare(inputs: &Inputs) -> Result<Setup, Diagnostics> {
    let tree = layers(inputs)?;
    let sink = Sink::default();
    let setup = read(&tree, &sink, inputs);
    match setup {
        Some(setup) if sink.is_empty() => Ok(setup),
        _ => Err(sink.into_diagnostics()),
    }
}

/// Puts the layers on top of each other.
fn layers(inputs: &Inputs) -> Result<Tree, Diagnostics> {
    let mut top = Tree::parse(&inputs.name, &inputs.text)?;
    let mut errors = Diagnostics::default();
    if let Some(device) = &inputs.device {
        top.remove(&["device"]);
        top.overlay(named("--device", "device.preset", device)?);
    }
    if let Some((scheme, _)) = &inputs.scheme {
        top.overlay(named("--scheme", "gc.scheme", scheme)?);
    }
    for assignment in &inputs.sets {
        if let Err(error) = top.set(assignment) {
            errors.extend(error);
        }
    }
    let mut tree = Tree::empty();
    if let Some((name, place)) = top.str_at(&["device", "preset"]) {
        match presets::device(name) {
            Some(text) => tree.overlay(Tree::nested(&["device"], preset_tree(name, text)?)),
            None => errors.push(Diagnostic {
                place: Some(place),
                key: Some("device.preset".into()),
                ..unknown_preset("device", name, &presets::device_names())
            }),
        }
    }
    let given = top.str_at(&["gc", "scheme"]).map(|(name, place)| (name.to_string(), Some(place)));
    let (scheme, place) = given.unwrap_or((presets::DEFAULT_SCHEME.into(), None));
    let own_text = inputs.scheme.as_ref().and_then(|(_, text)| text.as_deref());
    match own_text.or_else(|| presets::scheme(&scheme)) {
        Some(text) => tree.overlay(Tree::nested(&["gc"], preset_tree(&scheme, text)?)),
        None => errors.push(Diagnostic {
            place,
            key: Some("gc.scheme".into()),
            ..unknown_preset("scheme", &scheme, &presets::scheme_names())
        }),
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    tree.overlay(top);
    Ok(tree)
}

/// A key that an option of the command line gives, so that an error points at the option.
fn named(option: &str, key: &str, value: &str) -> Result<Tree, Diagnostics> {
    // JSON's escapes are among TOML's.
    Tree::parse(option, &format!("{key} = {}", Value::from(value)))
}

/// A preset's tree without its text about itself.
fn preset_tree(name: &str, text: &str) -> Result<Tree, Diagnostics> {
    let source = if name.ends_with(".toml") { name.to_string() } else { format!("{name}.toml") };
    let mut tree = Tree::parse(&source, text)?;
    tree.remove(&["about"]);
    Ok(tree)
}

fn unknown_preset(kind: &str, name: &str, names: &[&str]) -> Diagnostic {
    let help = match flashgc_config::nearest(name, names) {
        Some(near) => format!("did you mean \"{near}\"? `flashgc {kind}s` lists them all"),
        None => format!("there are: {}", names.join(", ")),
    };
    Diagnostic { help: Some(help), ..Diagnostic::new(format!("there is no {kind} \"{name}\"")) }
}

fn read(tree: &Tree, sink: &Sink, inputs: &Inputs) -> Option<Setup> {
    let root = Reader::root(tree, sink);
    // What a configuration says of itself is for people.
    root.allow("about");
    let seed = root.u64("seed", 0..=u64::MAX).unwrap_or(1);
    let device = device::read(&root.table("device"));
    let registers = device.as_ref().map_or(1, |device| device.shape.registers);
    let gc = gc::read(&root.table("gc"), registers);
    let page_bytes = device.as_ref().map_or(4096, |device| u64::from(device.shape.page_bytes));
    let workload = workload::read(&root.table("workload"), page_bytes, inputs.has_trace);
    let is_generated = !matches!(workload, None | Some(WorkloadPlan::Trace(_)));
    let precondition = precondition::read(&root.table("precondition"), is_generated);
    let engine = root.table("engine");
    let coalesce = engine.bool("coalesce").unwrap_or(true);
    engine.finish();
    root.finish();
    let (device, gc, workload) = (device?, gc?, workload?);
    let precondition = precondition?;
    let plan = derive::plan(&root, seed, &device, &gc, &workload, coalesce)?;
    let filler = filler(&root, &precondition, &device, &plan);
    derive::check_aged(&root.table("precondition"), &precondition, &plan, filler.as_ref());
    derive::check_workload(&root.table("workload"), &workload, &plan);
    let preset = tree.str_at(&["device", "preset"]).map(|(name, _)| name.to_string());
    let mut resolved = json!({
        "seed": seed,
        "device": {
            "preset": preset,
            "shape": device.shape,
            "timing": device.timing,
            "allocation": device.allocation,
            "service": device.service_words,
        },
        "gc": plan.gc,
        "workload": workload,
        "precondition": precondition,
    });
    // What most devices do not have is left out.
    if let Some(pool) = device.pool {
        resolved["device"]["pool"] = json!(pool);
    }
    if let Some(rate) = device.host_link {
        let (ns, bytes) = rate.ns_per_byte();
        resolved["device"]["host_link"] = json!({ "ns": ns, "for_bytes": bytes });
    }
    if let Some(buffer) = device.write_buffer {
        resolved["device"]["write_buffer"] = json!(buffer);
    }
    let mut unused = [&device.unused[..], &gc.unused].concat();
    unused.extend(hold::unused(&gc, &plan.gc));
    unused.extend(workload::unused(&root, inputs.has_trace));
    let notes = derive::notes(&plan, &precondition, &workload);
    let device_name = preset.unwrap_or_else(|| "custom".into());
    Some(Setup { plan, workload, precondition, filler, device_name, resolved, unused, notes })
}

/// The scheme of `precondition.scheme`: the preset as it is, whatever else `[gc]` says.
fn filler(
    root: &Reader<'_>,
    precondition: &PreconditionPlan,
    device: &device::Device,
    plan: &Plan,
) -> Option<GcPlan> {
    let name = precondition.scheme.as_deref()?;
    let sink = Sink::default();
    let tree = presets::scheme(name).map(|text| preset_tree(name, text))?;
    let found = match tree {
        Ok(tree) => {
            let mut tree = Tree::nested(&["gc"], tree);
            // JSON's escapes are among TOML's.
            let named = Tree::parse(name, &format!("gc.scheme = {}", Value::from(name)));
            named.map(|named| tree.overlay(named)).ok()?;
            let root = Reader::root(&tree, &sink);
            gc::read(&root.table("gc"), device.shape.registers)
                .and_then(|scheme| derive::scheme_plan(&root, device, &scheme))
        }
        Err(errors) => {
            sink.extend(errors);
            None
        }
    };
    let Some((shape, gc)) = found else {
        let errors = sink.into_diagnostics();
        let first = errors.iter().next();
        let why = first.map_or(String::new(), |error| format!(": {}", error.message));
        let help = first.and_then(|error| error.help.clone()).unwrap_or_default();
        root.table("precondition").error(
            "scheme",
            format!("the scheme \"{name}\" cannot work on this device{why}"),
            help,
        );
        return None;
    };
    let is_same = |a: &Shape, b: &Shape| {
        (a.sub_blocks, a.isolation_pages) == (b.sub_blocks, b.isolation_pages)
    };
    if shape.extra_blocks != plan.geometry.shape.extra_blocks {
        root.table("precondition").error(
            "scheme",
            format!(
                "\"{name}\" and \"{}\" do not have the same number of blocks, and a drive cannot \
                 change hands between them",
                plan.gc.scheme
            ),
            "leave `precondition.scheme` out, or gc.pace.quanta.extra_space",
        );
        return None;
    }
    if !is_same(&shape, &plan.geometry.shape) {
        root.table("precondition").error(
            "scheme",
            format!(
                "\"{name}\" and \"{}\" do not erase the same parts of a block, and a drive cannot \
                 change hands between them",
                plan.gc.scheme
            ),
            "leave `precondition.scheme` out, or name a scheme with the same `gc.erase`",
        );
        return None;
    }
    Some(gc)
}
