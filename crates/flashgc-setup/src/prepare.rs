//! From layers of text to a checked setup.

use super::device::{self, Device, Sizing};
use super::engine::Engine;
use super::filler::filler;
use super::gc::{self, Scheme};
use super::inputs::Inputs;
use super::precondition::{self, Planes, PreconditionPlan};
use super::setup::Setup;
use super::workload::{self, WorkloadPlan};
use super::{derive, given, renamed, stack};
use flashgc_config::{Diagnostics, Reader, Sink, Tree};
use flashgc_model::device::BusOrder;
use flashgc_model::plan::{Completions, Duplex, Plan, Until};
use serde_json::{Value, json};

/// Reads and checks a configuration.
pub fn prepare(inputs: &Inputs) -> Result<Setup, Diagnostics> {
    let stack::Layers { tree, unsets, changes } = stack::layers(inputs)?;
    let sink = Sink::default();
    let setup = checked(&tree, &sink, inputs);
    unsets.iter().filter_map(|unset| unset.unknown(&sink)).for_each(|error| sink.push(error));
    match setup {
        Some(setup) if sink.is_empty() => Ok(Setup { scheme_changes: changes, ..setup }),
        _ => {
            let mut mistakes = sink.into_diagnostics();
            renamed::name_new_keys(&mut mistakes);
            Err(mistakes)
        }
    }
}

/// The tables of a configuration, each by itself.
struct Tables {
    seed: u64,
    device: Device,
    scheme: Scheme,
    workload: WorkloadPlan,
    until: Option<Until>,
    precondition: PreconditionPlan,
    engine: Engine,
}

/// Reads all tables. Errors are noted.
fn tables(root: &Reader<'_>, inputs: &Inputs) -> Option<Tables> {
    // The table `about` of a configuration is for users.
    root.table("about");
    let seed = root.u64("seed", 0..=u64::MAX).unwrap_or(1);
    let device = device::read(&root.table("device"));
    let registers = device.as_ref().map_or(1, |device| device.shape.registers);
    let mut scheme = gc::read(&root.table("gc"), registers);
    if let Some(scheme) = &mut scheme {
        given::take(root, scheme, &inputs.policies)?;
    }
    let page_bytes = device.as_ref().map_or(4096, |device| u64::from(device.shape.page_bytes));
    let (workload, until) = workload::read(&root.table("workload"), page_bytes, inputs.given());
    let is_generated = !matches!(workload, None | Some(WorkloadPlan::Trace(_)));
    let precondition = precondition::read(&root.table("precondition"), is_generated);
    let engine = Engine::read(&root.table("engine"));
    root.finish();
    let (device, scheme, workload) = (device?, scheme?, workload?);
    let precondition = precondition?;
    Some(Tables { seed, device, scheme, workload, until, precondition, engine })
}

/// The setup, or `None` where errors prevent one. Other errors are noted too.
fn checked(tree: &Tree, sink: &Sink, inputs: &Inputs) -> Option<Setup> {
    let root = Reader::root(tree, sink);
    let mut tables = tables(&root, inputs)?;
    let Tables { seed, device, scheme, workload, until, precondition, engine } = &mut tables;
    let mut plan = derive::plan(&root, *seed, device, scheme, workload, *engine)?;
    plan.untimed_by_erased = precondition.planes == Planes::MostErased;
    derive::untimed::check(&root, &plan, workload, until.is_some())?;
    let filler = filler(&root, precondition, device, &plan);
    derive::foresight::check(&root, &plan, workload, precondition, filler.is_some())?;
    let filling = filler.as_ref().map(|filler| &filler.gc);
    derive::aged::check(&root.table("precondition"), precondition, &plan, filling);
    derive::sprandom::take(&root.table("precondition"), precondition, &plan.geometry);
    let page_bytes = u64::from(device.shape.page_bytes);
    workload.on_drive(u64::from(plan.geometry.exported_pages) * page_bytes);
    derive::capacity::check(&root.table("workload"), workload, &plan);
    let mut unused = [&device.unused[..], &scheme.unused].concat();
    unused.extend(scheme.blocking.unused(&plan.gc));
    unused.extend(precondition::unused(&root.table("precondition"), &plan));
    unused.extend(workload::unused(&root, inputs.has_trace));
    let mut notes = derive::notes::notes(&plan, precondition, workload);
    let fitted = inputs.fitted.clone();
    notes.extend(fitted.as_ref().map(|fitted| fitted.note(plan.geometry.exported_pages)));
    let preset = tree.str_at(&["device", "preset"]).map(|(name, _)| name.to_string());
    let resolved = resolved(&tables, preset.as_deref(), &plan);
    let Tables { device, workload, until, precondition, .. } = tables;
    let sizing = workload.fit().map(|share| Sizing {
        shape: device.shape,
        exported: device.exported,
        share,
    });
    Some(Setup {
        plan,
        workload,
        until,
        precondition,
        filler,
        device_name: inputs.device_file().or(preset).unwrap_or_else(|| "custom".into()),
        sizing,
        fitted,
        scheme_changes: Vec::new(),
        rated_cycles: device.rated_cycles,
        resolved,
        unused,
        notes,
    })
}

/// The resolved configuration, as data.
fn resolved(tables: &Tables, preset: Option<&str>, plan: &Plan) -> Value {
    let Tables { device, workload, .. } = tables;
    let mut resolved = json!({
        "seed": tables.seed,
        "device": {
            "preset": preset,
            "shape": device.shape.by_planes(),
            "timing": device.timing,
            "allocation": device.allocation,
            "service": device.service_words,
        },
        "gc": plan.gc,
        "workload": workload,
        "precondition": tables.precondition,
    });
    if let Some(until) = tables.until {
        resolved["workload"]["until"] = json!(until);
    }
    if plan.untimed {
        resolved["engine"] = json!({ "timing": "none" });
    }
    resolve_rare_parts(&mut resolved["device"], device);
    resolved
}

/// Parts that most devices lack are omitted from the resolved configuration.
fn resolve_rare_parts(resolved: &mut Value, device: &Device) {
    if let Some(pool) = device.pool {
        resolved["pool"] = json!(pool);
    }
    if let Some(link) = device.front.host_link {
        let (ns, bytes) = link.rate.ns_per_byte();
        resolved["host_link"] = json!({ "ns": ns, "for_bytes": bytes });
        if link.duplex != Duplex::default() {
            resolved["host_link"]["duplex"] = json!(link.duplex);
        }
        if !link.jitter.is_nothing() {
            resolved["host_link"]["jitter"] = json!(link.jitter);
        }
    }
    if let Some(places) = device.front.places {
        resolved["queue_length"] = json!(places.count);
        resolved["queue_order"] = json!(places.order);
    }
    if let Some(firmware) = device.front.firmware {
        resolved["firmware"] = json!(firmware);
    }
    if let Some(retry) = &device.read_retry {
        resolved["read_retry"] = json!(retry);
    }
    if let Some(failures) = &device.failures {
        resolved["failures"] = json!(failures);
    }
    if device.cache.is_some() {
        resolved["cache_operations"] = json!(device.cache);
    }
    if !device.front.write_completion.is_default() {
        resolved["write_completion"] = json!(device.front.write_completion);
    }
    if device.front.bus_order != BusOrder::default() {
        resolved["bus_order"] = json!(device.front.bus_order);
    }
    if device.front.completions != Completions::default() {
        resolved["completions"] = json!(device.front.completions);
    }
    if let Some(cycles) = device.rated_cycles {
        resolved["rated_cycles"] = json!(cycles);
    }
    if let Some(buffer) = device.write_buffer {
        resolved["write_buffer"] = json!(buffer);
    }
}
