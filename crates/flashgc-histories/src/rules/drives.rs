//! Drives that are saved, read back, continued in slices, and continued by another scheme.

use super::{Tried, compare, is_of_another, other_scheme};
use crate::choices::Choices;
use crate::run::{self, Stop};
use flashgc::config::WorkloadPlan;
use flashgc::session::{Options, SavedDrive};
use flashgc::sim::Sim;
use flashgc::verify::Overview;
use flashgc::workload::Source;
use flashgc::workload::fitted::Fitted;
use flashgc::workload::synthetic::Synthetic;
use flashgc_drive::{Limits, decode, write};

/// The drive of this history when measuring begins, written and read back.
fn drive(tried: &Tried<'_>) -> Result<SavedDrive, Stop> {
    let saved = tried.drive()?;
    let mut file = Vec::new();
    write(&mut file, &saved).map_err(|error| Stop::failed("written", error.to_string()))?;
    let limits = Limits::of(&tried.setup.plan.geometry);
    let read = decode(&file, &limits).map_err(|why| Stop::failed("read back", why.to_string()))?;
    if read != saved {
        return Err(Stop::failed("file", "the drive that was read is not the one written"));
    }
    Ok(read)
}

/// On its saved drive a run is the same.
pub fn saved(tried: &Tried<'_>) -> Result<bool, Stop> {
    let drive = drive(tried)?;
    let options = if tried.seed.is_multiple_of(2) { run::watched() } else { Options::default() };
    let on_drive = run::on_drive(tried.setup, tried.history.opener(), drive, options)?;
    // On a saved drive the verdict on the replay of a trace does not count preconditioning.
    let is_trace = matches!(tried.setup.workload, WorkloadPlan::Trace(_));
    compare::equal_but(&tried.base, &on_drive, if is_trace { &["steady"] } else { &[] })?;
    Ok(true)
}

/// The requests of a workload that is not a trace, where no placement receives the future.
pub fn source(tried: &Tried<'_>) -> Option<Box<dyn Source>> {
    if tried.setup.foresees() { None } else { requests(tried) }
}

/// The requests of a workload that is not a trace.
pub fn requests(tried: &Tried<'_>) -> Option<Box<dyn Source>> {
    if tried.setup.until.is_some() {
        // The session ends it.
        return None;
    }
    let plan = &tried.setup.plan;
    let page_bytes = u64::from(plan.geometry.shape.page_bytes);
    match &tried.setup.workload {
        WorkloadPlan::Synthetic(workload) => {
            let pages = plan.geometry.exported_pages;
            Some(Box::new(Synthetic::new(&workload.plan, pages, page_bytes, plan.seed)))
        }
        WorkloadPlan::Fitted(fitted) => Some(Box::new(Fitted::new(fitted, page_bytes, plan.seed))),
        WorkloadPlan::Jobs(_) | WorkloadPlan::Trace(_) => None,
    }
}

/// Cut in slices of any length a run is the same.
pub fn slices(tried: &Tried<'_>) -> Result<bool, Stop> {
    let Some(mut source) = source(tried) else { return Ok(false) };
    let drive = tried.drive()?.state;
    let fault = |why: &dyn std::fmt::Debug| Stop::failed("refused", format!("{why:?}"));
    let plan = tried.setup.plan.clone();
    let taken = Sim::with_drive(plan, drive, Overview::default());
    let (mut sim, _) = taken.map_err(|why| fault(&why.to_string()))?;
    let mut choices = Choices::new(tried.seed ^ 0x51);
    let most = choices.pick(&[1, 3, 50, 2_000]);
    sim.start(&mut *source).map_err(|why| fault(&why))?;
    let mut slices = 0_u64;
    loop {
        let budget = 1 + choices.below(most);
        if sim.run(&mut *source, budget).map_err(|why| fault(&why))?.finished {
            break;
        }
        slices += 1;
        if slices > 50_000_000 {
            return Err(Stop::failed("endless", "no end after 50 million slices"));
        }
    }
    let results = sim.seen().results();
    let hash = sim.seen().result_hash(&results);
    match tried.base["result_hash"] == hash.as_str() {
        true => Ok(true),
        false => Err(Stop::failed("differ", format!("in slices of up to {most} events"))),
    }
}

/// A drawn scheme continues on the drive under the checker, as far as it can.
pub fn takeover(tried: &Tried<'_>) -> Result<bool, Stop> {
    let Some((history, setup)) = other_scheme(tried.history, tried.seed) else { return Ok(false) };
    let drive = tried.drive()?;
    if drive.origin.check_fit(&setup, "saved.drive").is_err() {
        return Ok(false);
    }
    match run::on_drive(&setup, history.opener(), drive, run::watched()) {
        Ok(_) => Ok(true),
        Err(stop) if is_of_another(&stop) => Ok(false),
        Err(Stop::Failed { signature, detail }) => {
            let detail = format!("{detail}\nthe scheme that takes the drive over:\n{}", {
                let keys = history.keys.iter().filter(|(key, _)| key.starts_with("gc."));
                keys.map(|(key, value)| format!("  {key} = {value}\n")).collect::<String>()
            });
            Err(Stop::Failed { signature, detail })
        }
        Err(stop) => Err(stop),
    }
}
