//! The layers of a configuration: presets, the file, the options and assignments.

use super::gc::DEFAULT_SCHEME;
use super::inputs::Inputs;
use super::{exclusive, presets, tables_by_name};
use flashgc_config::{Diagnostic, Diagnostics, Tree, Unset};
use serde_json::Value;

/// The layers on top of each other.
pub struct Layers {
    pub tree: Tree,
    pub unsets: Vec<Unset>,
    /// The differences of the scheme from its preset or file.
    pub changes: Vec<String>,
}

/// Puts the layers on top of each other, without the keys that are to be unset.
pub fn layers(inputs: &Inputs) -> Result<Layers, Diagnostics> {
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
    let named = tree.subtree(GC).unwrap_or_default();
    unsets.iter_mut().for_each(|unset| unset.apply(&mut tree));
    exclusive::give_way(&mut tree, &top);
    tree.overlay(top);
    let changes = changes(named, tree.subtree(GC).unwrap_or_default());
    Ok(Layers { tree, unsets, changes })
}

const GC: &[&str] = &["gc"];
const DEVICE: &[&str] = &["device"];

/// The values of a scheme that differ from its preset or file, as `victim.use=fifo`, and then the
/// keys that were removed, as `no trigger.watermark.hard`.
fn changes(named: Tree, mut run: Tree) -> Vec<String> {
    run.remove(&["scheme"]);
    let (named, run) = (named.values(), run.values());
    let had = |pair: &(String, String)| named.contains(pair);
    let has = |(key, _): &&(String, String)| !run.iter().any(|(own, _)| own == key);
    let changed = run.iter().filter(|pair| !had(pair)).map(|(key, value)| format!("{key}={value}"));
    changed.chain(named.iter().filter(has).map(|(key, _)| format!("no {key}"))).collect()
}

/// The layers above the presets: the file, the options, and over them the assignments.
fn given(
    inputs: &Inputs,
    unsets: &mut [Unset],
    errors: &mut Diagnostics,
) -> Result<Tree, Diagnostics> {
    let mut top = Tree::parse(&inputs.name, &inputs.text)?;
    if let Some((name, text)) = &inputs.jobs {
        top = with_jobs(top, Tree::parse(&format!("{name} as TOML"), text)?);
    }
    if let Some((device, text)) = &inputs.device {
        top.remove(DEVICE);
        top.overlay(match text {
            Some(text) => own_device(device, text)?,
            None => named("--device", "device.preset", device)?,
        });
    }
    if let Some((scheme, _)) = &inputs.scheme {
        top.overlay(named("--scheme", "gc.scheme", scheme)?);
    }
    unsets.iter_mut().for_each(|unset| unset.apply(&mut top));
    // Alone first, to find the keys that they exclude from the layers below.
    let mut sets = Tree::empty();
    inputs.sets.iter().for_each(|assignment| drop(sets.set(assignment)));
    exclusive::give_way(&mut top, &sets);
    for assignment in inputs.sets.iter().filter(|set| !is_overruled(set, inputs)) {
        if let Err(error) = top.set(assignment) {
            errors.extend(error);
        }
    }
    // An assignment of the size applies, whatever the file sets for the trace.
    let sets = |key: &str| inputs.sets.iter().any(|set| set.trim_start().starts_with(key));
    let has_fit = top.has(&["workload", "trace", "fit"]);
    let sizes = sets("device.blocks_per_plane") || sets("device.user_capacity");
    if has_fit && sizes && !sets("workload.trace.fit") {
        top.remove(&["workload", "trace", "fit"]);
    }
    if let Some(fitted) = &inputs.fitted {
        top.remove(&["device", "user_capacity"]);
        top.overlay(fitted.tree()?);
    }
    Ok(top)
}

/// Whether an assignment names a scheme or a device where the request has one of its own: that of
/// an option, a point of a search or a choice of a sweep, which goes by its name.
fn is_overruled(assignment: &str, inputs: &Inputs) -> bool {
    match assignment.split_once('=').map(|(key, _)| key.trim()) {
        Some("gc.scheme") => inputs.scheme.is_some(),
        Some("device.preset") => inputs.device.is_some(),
        _ => false,
    }
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
    tables_by_name::check(top)?;
    let mut tree = Tree::empty();
    if let Some((name, place)) = top.name_at(&["device", "preset"])? {
        match presets::device(name) {
            Some(preset) => tree.overlay(Tree::nested(DEVICE, preset?)),
            None => errors.push(Diagnostic {
                place: Some(place),
                key: Some("device.preset".into()),
                ..unknown_preset("device", name, &presets::device_names())
            }),
        }
    }
    let given =
        top.name_at(&["gc", "scheme"])?.map(|(name, place)| (name.to_string(), Some(place)));
    let (scheme, place) = given.unwrap_or((DEFAULT_SCHEME.into(), None));
    let own_text = inputs.scheme.as_ref().and_then(|(_, text)| text.as_deref());
    let own = own_text.map(|text| own_scheme(&scheme, text));
    let preset = || presets::scheme(&scheme).map(|preset| Ok(Tree::nested(GC, preset?)));
    match own.or_else(preset) {
        Some(scheme) => tree.overlay(scheme?),
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

/// The device of a file: its table `device`, which a whole configuration has too, or all its keys.
fn own_device(name: &str, text: &str) -> Result<Tree, Diagnostics> {
    let own = preset_tree(name, text)?;
    let mut device = own.subtree(DEVICE).unwrap_or(own);
    device.remove(&["about"]);
    Ok(Tree::nested(DEVICE, device))
}

/// The scheme of a file: all its keys, or those in which it differs from the preset `base`.
fn own_scheme(name: &str, text: &str) -> Result<Tree, Diagnostics> {
    let mut own = preset_tree(name, text)?;
    if own.has(&["scheme"]) {
        let message = "a scheme file has no key `scheme`: it is the scheme itself";
        let help = "to begin with another one write base = \"greedy\", or remove the key";
        // The mistake of a configuration in its scheme: no other scheme has to be tried.
        let key = Some("gc.scheme".into());
        return Err(Diagnostic { help: Some(help.into()), key, ..Diagnostic::new(message) }.into());
    }
    let Some((base, place)) = own.name_at(&["base"])? else { return Ok(Tree::nested(GC, own)) };
    let Some(preset) = presets::scheme(base) else {
        let unknown = unknown_preset("scheme", base, &presets::scheme_names());
        let key = Some("gc.scheme".into());
        return Err(Diagnostic { place: Some(place), key, ..unknown }.into());
    };
    let mut tree = Tree::nested(GC, preset?);
    own.remove(&["base"]);
    let own = Tree::nested(GC, own);
    exclusive::give_way(&mut tree, &own);
    tree.overlay(own);
    Ok(tree)
}

/// A preset's tree without its text about itself.
pub fn preset_tree(name: &str, text: &str) -> Result<Tree, Diagnostics> {
    let is_file = name.contains(['.', '/', '\\']);
    let source = if is_file { name.to_string() } else { format!("{name}.toml") };
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
