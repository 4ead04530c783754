//! The configuration: from layers of text to a checked setup, with every error at once.
//!
//! Layers, the later over the earlier: the preset of the device and of the scheme, the file, the
//! assignments of the command line. A layer removes the keys that it excludes from those below
//! ([`exclusive`]). Each table has a file here that reads it; [`derive`] calculates the values that
//! follow from them together.

mod derive;
mod device;
mod exclusive;
mod fit;
mod gc;
mod layers;
mod precondition;
pub mod presets;
mod renamed;
mod slots;
mod space;
mod spare;
mod workload;
mod write_buffer;

pub use fit::{Fitted, fit};
pub use precondition::{Fill, OverwriteWith, PreconditionPlan, Reads};
pub use workload::{SyntheticWorkload, TracePlan, WorkloadPlan};

use crate::device::Shape;
use crate::gc::GcPlan;
use crate::plan::Plan;
use crate::sim::Until;
use flashgc_config::{Diagnostic, Diagnostics, Reader, Sink, Tree, Unset};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The input of a run, as text.
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
    /// Keys that are removed from all layers below the assignments.
    pub unsets: Vec<String>,
    /// Whether a trace was given in addition to the configuration.
    pub has_trace: bool,
    /// The jobs of the job file that `workload.fio` names, as TOML: the file's name and the text.
    pub jobs: Option<(String, String)>,
    /// The size of the drive, where it was found by [`fit`].
    pub fitted: Option<Fitted>,
}

/// A checked configuration: the plan that runs, and notes for the user.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The plan of the simulation.
    pub plan: Plan,
    /// Where requests come from.
    pub workload: WorkloadPlan,
    /// When the measured part ends by itself, where it does.
    pub until: Option<Until>,
    /// The state in which measuring begins.
    pub precondition: PreconditionPlan,
    /// The scheme that is active until then, where it is not the run's own.
    pub filler: Option<GcPlan>,
    /// The name of the device preset, or "custom".
    pub device_name: String,
    /// The input of the size of the drive, where its trace decides it.
    pub sizing: Option<device::Sizing>,
    /// The size that was found.
    pub fitted: Option<Fitted>,
    /// Program/erase cycles that each block of the device is rated for, where they are known.
    pub rated_cycles: Option<u64>,
    resolved: Value,
    unused: Vec<String>,
    notes: Vec<String>,
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

    /// Whether the workload is a trace.
    pub fn needs_trace(&self) -> bool {
        matches!(self.workload, WorkloadPlan::Trace(_))
    }

    /// Whether the drive has yet to be sized by its trace ([`fit`]).
    pub fn awaits_fit(&self) -> bool {
        self.sizing.is_some() && self.fitted.is_none()
    }

    /// The trace that the configuration itself names.
    pub fn trace_file(&self) -> Option<&str> {
        match &self.workload {
            WorkloadPlan::Trace(trace) => trace.file.as_deref(),
            _ => None,
        }
    }

    /// The bytes that the tables of this drive will take, within a few per cent: the caller can
    /// refuse a drive that does not fit its memory.
    pub fn table_bytes_expected(&self) -> u64 {
        let geometry = &self.plan.geometry;
        let pages = u64::from(geometry.pages);
        // Two maps of 4 bytes, two bits in bitmaps; and the state of each block.
        pages * 8 + pages / 4 + u64::from(geometry.blocks) * 32
    }

    /// The plan of the simulation while the drive is preconditioned.
    pub fn preconditioning_plan(&self) -> Plan {
        let mut plan = self.plan.clone();
        if let Some(filler) = &self.filler {
            plan.gc = filler.clone();
        }
        plan
    }

    /// The drive was preconditioned before, in this way.
    pub(crate) fn preconditioned(&mut self, how: &Value) {
        self.resolved["precondition"] = how.clone();
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

/// Reads and checks a configuration.
pub fn prepare(inputs: &Inputs) -> Result<Setup, Diagnostics> {
    let (tree, unsets) = layers(inputs)?;
    let sink = Sink::default();
    let setup = read(&tree, &sink, inputs);
    unsets.iter().filter_map(|unset| unset.unknown(&sink)).for_each(|error| sink.push(error));
    match setup {
        Some(setup) if sink.is_empty() => Ok(setup),
        _ => {
            let mut mistakes = sink.into_diagnostics();
            renamed::name_new_keys(&mut mistakes);
            Err(mistakes)
        }
    }
}

/// Puts the layers on top of each other, without the keys that are to be unset.
fn layers(inputs: &Inputs) -> Result<(Tree, Vec<Unset>), Diagnostics> {
    let (mut unsets, mut errors) = (Vec::new(), Diagnostics::default());
    for key in &inputs.unsets {
        match Unset::parse(key) {
            Ok(unset) => unsets.push(unset),
            Err(error) => errors.extend(error),
        }
    }
    let top = given(inputs, &mut unsets, &mut errors)?;
    let mut tree = presets_of(inputs, &top, &mut errors)?;
    if !errors.is_empty() {
        return Err(errors);
    }
    unsets.iter_mut().for_each(|unset| unset.apply(&mut tree));
    exclusive::give_way(&mut tree, &top);
    tree.overlay(top);
    Ok((tree, unsets))
}

/// The layers above the presets: the file, the options, and over them the assignments.
fn given(
    inputs: &Inputs,
    unsets: &mut [Unset],
    errors: &mut Diagnostics,
) -> Result<Tree, Diagnostics> {
    let mut top = Tree::parse(&inputs.name, &inputs.text)?;
    if let Some((name, text)) = &inputs.jobs {
        top = with_jobs(top, Tree::parse(name, text)?);
    }
    if let Some(device) = &inputs.device {
        top.remove(&["device"]);
        top.overlay(named("--device", "device.preset", device)?);
    }
    if let Some((scheme, _)) = &inputs.scheme {
        top.overlay(named("--scheme", "gc.scheme", scheme)?);
    }
    unsets.iter_mut().for_each(|unset| unset.apply(&mut top));
    // Alone first, to find the keys that they exclude from the layers below.
    let mut sets = Tree::empty();
    inputs.sets.iter().for_each(|assignment| drop(sets.set(assignment)));
    exclusive::give_way(&mut top, &sets);
    for assignment in &inputs.sets {
        if let Err(error) = top.set(assignment) {
            errors.extend(error);
        }
    }
    // An assignment of the size applies, whatever the file says of the trace.
    let sets = |key: &str| inputs.sets.iter().any(|set| set.trim_start().starts_with(key));
    let has_fit = top.has(&["workload", "trace", "fit"]);
    if has_fit && sets("device.blocks_per_plane") && !sets("workload.trace.fit") {
        top.remove(&["workload", "trace", "fit"]);
    }
    if let Some(fitted) = &inputs.fitted {
        top.overlay(fitted.tree()?);
    }
    Ok(top)
}

/// The file over the jobs of a job file. Jobs that an assignment names replace a workload of the
/// file.
fn with_jobs(mut file: Tree, mut jobs: Tree) -> Tree {
    if !file.has(&["workload", "fio"]) {
        exclusive::give_way(&mut file, &jobs);
    }
    jobs.overlay(file);
    jobs
}

/// The presets that the layers above them name.
fn presets_of(inputs: &Inputs, top: &Tree, errors: &mut Diagnostics) -> Result<Tree, Diagnostics> {
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
    // The table `about` of a configuration is for users.
    root.allow("about");
    let seed = root.u64("seed", 0..=u64::MAX).unwrap_or(1);
    let device = device::read(&root.table("device"));
    let registers = device.as_ref().map_or(1, |device| device.shape.registers);
    let gc = gc::read(&root.table("gc"), registers);
    let page_bytes = device.as_ref().map_or(4096, |device| u64::from(device.shape.page_bytes));
    let (workload, until) = workload::read(&root.table("workload"), page_bytes, inputs.has_trace);
    let is_generated = !matches!(workload, None | Some(WorkloadPlan::Trace(_)));
    let precondition = precondition::read(&root.table("precondition"), is_generated);
    let engine = root.table("engine");
    let coalesce = engine.bool("coalesce").unwrap_or(true);
    engine.finish();
    root.finish();
    let (device, gc, mut workload) = (device?, gc?, workload?);
    let precondition = precondition?;
    let plan = derive::plan(&root, seed, &device, &gc, &workload, coalesce)?;
    let filler = filler(&root, &precondition, &device, &plan);
    derive::aged::check(&root.table("precondition"), &precondition, &plan, filler.as_ref());
    workload.on_drive(u64::from(plan.geometry.exported_pages) * page_bytes);
    derive::capacity::check(&root.table("workload"), &workload, &plan);
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
    if let Some(until) = until {
        resolved["workload"]["until"] = json!(until);
    }
    resolve_rare_parts(&mut resolved["device"], &device);
    let mut unused = [&device.unused[..], &gc.unused].concat();
    unused.extend(gc.blocking.unused(&plan.gc));
    unused.extend(workload::unused(&root, inputs.has_trace));
    let mut notes = derive::notes::notes(&plan, &precondition, &workload);
    let sizing = workload.fit().map(|share| device::Sizing {
        shape: device.shape.clone(),
        exported: device.exported.clone(),
        share,
    });
    let fitted = inputs.fitted.clone();
    notes.extend(fitted.as_ref().map(|fitted| fitted.note(plan.geometry.exported_pages)));
    let device_name = preset.unwrap_or_else(|| "custom".into());
    Some(Setup {
        plan,
        workload,
        until,
        precondition,
        filler,
        device_name,
        sizing,
        fitted,
        rated_cycles: device.rated_cycles,
        resolved,
        unused,
        notes,
    })
}

/// Parts that most devices lack are omitted from the resolved configuration.
fn resolve_rare_parts(resolved: &mut Value, device: &device::Device) {
    if let Some(pool) = device.pool {
        resolved["pool"] = json!(pool);
    }
    if let Some(rate) = device.host_link {
        let (ns, bytes) = rate.ns_per_byte();
        resolved["host_link"] = json!({ "ns": ns, "for_bytes": bytes });
    }
    if let Some(cycles) = device.rated_cycles {
        resolved["rated_cycles"] = json!(cycles);
    }
    if let Some(buffer) = device.write_buffer {
        resolved["write_buffer"] = json!(buffer);
    }
}

/// The scheme of `precondition.scheme`: the preset as it is, whatever else `[gc]` contains.
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
                .and_then(|scheme| derive::scheme::plan(&root, device, &scheme))
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
            format!("the scheme \"{name}\" cannot run on this device{why}"),
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
                "\"{name}\" and \"{}\" use different numbers of blocks, so one cannot take over \
                 the other's drive",
                plan.gc.scheme
            ),
            "remove `precondition.scheme` or gc.pacing.time-slices.extra_space",
        );
        return None;
    }
    if !is_same(&shape, &plan.geometry.shape) {
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
    Some(gc)
}
