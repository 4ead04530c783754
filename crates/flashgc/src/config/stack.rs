//! The layers of a configuration: presets, the file, the options and assignments.

use super::gc::DEFAULT_SCHEME;
use super::inputs::Inputs;
use super::{exclusive, presets};
use flashgc_config::{Diagnostic, Diagnostics, Tree, Unset};
use serde_json::Value;

/// Puts the layers on top of each other, without the keys that are to be unset.
pub fn layers(inputs: &Inputs) -> Result<(Tree, Vec<Unset>), Diagnostics> {
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
            Some(preset) => tree.overlay(Tree::nested(&["device"], preset?)),
            None => errors.push(Diagnostic {
                place: Some(place),
                key: Some("device.preset".into()),
                ..unknown_preset("device", name, &presets::device_names())
            }),
        }
    }
    let given = top.str_at(&["gc", "scheme"]).map(|(name, place)| (name.to_string(), Some(place)));
    let (scheme, place) = given.unwrap_or((DEFAULT_SCHEME.into(), None));
    let own_text = inputs.scheme.as_ref().and_then(|(_, text)| text.as_deref());
    let own = own_text.map(|text| preset_tree(&scheme, text));
    match own.or_else(|| presets::scheme(&scheme)) {
        Some(preset) => tree.overlay(Tree::nested(&["gc"], preset?)),
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
pub fn preset_tree(name: &str, text: &str) -> Result<Tree, Diagnostics> {
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
