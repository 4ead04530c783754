//! In logical time the same pages move as in a timed run whose requests come one by one.

use super::compare::{differ, walk};
use super::{Tried, drives};
use crate::history::History;
use crate::run::{self, Stop};
use flashgc::config::Setup;
use flashgc::drive::Drive;
use flashgc::gc::foresight::{Foreseer, Foresight, TooMany};
use flashgc::gc::placement::Classes;
use flashgc::ids::{BlockId, Lpn};
use flashgc::plan::{Arrivals, Plan, Served};
use flashgc::session::Options;
use flashgc::sim::{Sim, SimError};
use flashgc::verify::Overview;
use flashgc::workload::{HostOp, HostRequest, ListSource, Source};
use serde_json::{Value, json};
use std::sync::Arc;

/// Between two requests every collection comes to its end.
const APART_NS: u64 = 1_000_000_000_000;
/// Slices after which a small history counts as endless.
const SLICES_MAX: u64 = 4_000;
const EVENTS: u64 = 100_000;

/// Settings that need a clock, and their replacement.
const REPLACED: &[(&str, &str)] = &[
    ("gc.preemption.use", "\"never\""),
    ("gc.pacing.use", "\"at-once\""),
    ("gc.background.use", "\"nothing\""),
    ("gc.victim.cost-benefit.form", "\"sqrt-age\""),
    ("device.allocation", "\"striped\""),
];
const REMOVED: &[&str] = &[
    "device.pool",
    "device.write_buffer",
    "device.read_retry",
    "gc.preemption.suspend",
    "gc.preemption.between-copies",
    "gc.pacing.time-slices",
    "gc.pacing.tokens",
    "gc.trigger.watermark.idle_units",
    "workload.until",
    "workload.within",
];

/// The history without settings that need a clock, if there is such.
fn without_clock(history: &History) -> Option<(History, Setup)> {
    let mut history = history.clone();
    history.set("engine.timing", "\"none\"");
    // Planes that another scheme left short are collected together where there is time.
    history.remove("precondition.scheme");
    for _ in 0..=REPLACED.len() + REMOVED.len() + 1 {
        match history.prepare() {
            Ok(setup) => return Some((history, setup)),
            Err(why) => {
                let named = |key: &&str| why.contains(&format!("set {key} ="));
                let key = REPLACED.iter().find(|(key, _)| named(key));
                let gone = REMOVED.iter().find(|key| why.contains(&format!("remove {key}")));
                match (key, gone) {
                    (Some((key, value)), _) => history.set(key, *value),
                    (None, Some(key)) => history.remove(key),
                    (None, None) => return None,
                }
            }
        }
    }
    None
}

/// Whether the planes share state, so that the order of their work matters.
fn is_shared(plan: &Plan) -> bool {
    let gc = &plan.gc;
    let is_drawn = ["random", "d-choices"].contains(&gc.slots["victim"].as_str());
    let books = gc.placement.is_some() || gc.used_space.is_some() || gc.keeps_stamps();
    books || is_drawn || plan.geometry.has_superblocks()
}

/// Whether writes of other planes are served while a collection erases, and other collections
/// wait for it: they find more invalid pages than where each begins as it is due.
fn is_open_while_it_erases(plan: &Plan) -> bool {
    let blocking = &plan.gc.blocking;
    blocking.erasing.is_some() && blocking.one_collection
}

/// The requests one by one; each of one page where planes share state, where a request could find a
/// collection open, or where the pages of a request could pass each other.
fn requests(setup: &Setup, source: &mut dyn Source) -> Result<Vec<HostRequest>, Stop> {
    let page_bytes = u64::from(setup.plan.geometry.shape.page_bytes);
    let service = &setup.plan.service;
    let in_order = service.order[0] == Served::Gc && !service.splits_host();
    let is_cut = is_shared(&setup.plan) || !in_order || is_open_while_it_erases(&setup.plan);
    let read = |at_ns| HostRequest::from_bytes(at_ns, HostOp::Read, 0, page_bytes, page_bytes);
    // Collections that are due from the start end before the first write.
    let mut all = vec![read(0)];
    let fault = |why: String| Stop::failed("the source fails", why);
    while let Some(request) = source.next().map_err(|error| fault(error.0))? {
        let pages = if is_cut { request.pages } else { 1 };
        for at in 0..pages {
            let first = Lpn(request.first.0 + at);
            let own = HostRequest {
                first,
                pages: 1,
                offset_bytes: u64::from(first.0) * page_bytes,
                bytes: page_bytes,
                head_partial: at == 0 && request.head_partial,
                tail_partial: at + 1 == pages && request.tail_partial,
                ..request
            };
            let at_ns = all.len() as u64 * APART_NS;
            all.push(HostRequest { at_ns, ..if is_cut { own } else { request } });
        }
    }
    // The last collection ends before this one comes.
    all.push(read(all.len() as u64 * APART_NS));
    Ok(all)
}

/// The changes of each page by these requests.
fn future(sim: &Sim<Overview>, requests: &[HostRequest]) -> Result<Arc<Foresight>, TooMany> {
    let pages = sim.plan().geometry.exported_pages;
    let mut future = Foreseer::new(pages, |lpn| sim.ftl().map.ppn_of(lpn).is_some());
    for request in requests {
        for at in 0..request.pages {
            let lpn = Lpn(request.first.0 + at);
            let is_head = at == 0 && request.head_partial;
            let is_partial = is_head || (at + 1 == request.pages && request.tail_partial);
            match request.op {
                HostOp::Write => future.written(lpn)?,
                HostOp::Trim if !is_partial => future.trimmed(lpn)?,
                HostOp::Trim | HostOp::Read | HostOp::Flush => {}
            }
        }
    }
    Ok(future.finish())
}

/// All counts, and the place of each page; `None` where the drive is full.
fn counted(plan: Plan, drive: Drive, requests: &[HostRequest]) -> Result<Option<Value>, Stop> {
    let fault = |why: &dyn std::fmt::Debug| Stop::failed("refused", format!("{why:?}"));
    let taken = Sim::with_drive(plan, drive, Overview::default());
    let (mut sim, _) = taken.map_err(|why| fault(&why.to_string()))?;
    if sim.plan().gc.placement.as_ref().is_some_and(Classes::foresees) {
        let foresight = future(&sim, requests).map_err(|why| fault(&why))?;
        sim.untimed().foresee(&foresight);
    }
    let mut source = ListSource::new(requests.to_vec());
    let mut run = || -> Result<bool, SimError> {
        sim.start(&mut source)?;
        for _ in 0..SLICES_MAX {
            if sim.run(&mut source, EVENTS)?.finished {
                return Ok(true);
            }
        }
        Ok(false)
    };
    match run() {
        Ok(true) => {}
        Ok(false) => return Err(Stop::failed("endless", "no end")),
        Err(SimError::Full { .. } | SimError::TooLong { .. }) => return Ok(None),
        Err(other) => return Err(fault(&other)),
    }
    // A drive that becomes read-only ends a run, and a timed one in the middle of a collection.
    if sim.ftl().is_read_only() {
        return Ok(None);
    }
    let results = sim.seen().results();
    let counters = &results.counters;
    let (ftl, geometry) = (sim.ftl(), &sim.plan().geometry);
    let places: Vec<u32> =
        (0..geometry.exported_pages).map(|lpn| ftl.map.ppn_of(Lpn(lpn)).0).collect();
    let valid: Vec<u32> =
        (0..geometry.blocks).map(|block| ftl.blocks.valid(BlockId(block))).collect();
    Ok(Some(json!({
        "open": results.jobs_open,
        "requests": counters.requests,
        "bytes": counters.bytes,
        "host": [counters.host_read, counters.host_written, counters.host_trimmed],
        "reads": [counters.unwritten_read, counters.rest_read, counters.array_reads],
        "programs": counters.array_programs,
        "moved": [counters.gc_moved, counters.moved_in_jobs, counters.copy_steps],
        "wasted": [counters.wasted_copies, counters.background_moved],
        "overhead": counters.overhead,
        "erases": [counters.erases, counters.erase_operations],
        "collections": [counters.jobs, counters.fallbacks, counters.victim_blocks],
        "valid": [counters.victim_valid, counters.neighbours_moved, counters.reclaimed_pages],
        "by_valid": counters.victims_by_valid,
        "selections": counters.selections,
        "free_pages_min": counters.free_pages_min,
        "placement": results.placement,
        "hotness": results.hotness.map(|found| [found.updates, found.hot_updates, found.decays]),
        "wear": ftl.blocks.measured_erases().collect::<Vec<_>>(),
        "valid_by_block": valid,
        "places": places,
    })))
}

/// Every count equals the count of the timed engine.
pub fn rule(tried: &Tried<'_>) -> Result<bool, Stop> {
    let Some((history, setup)) = without_clock(tried.history) else { return Ok(false) };
    let own = Tried {
        history: &history,
        seed: tried.seed,
        setup: &setup,
        base: Value::Null,
        drive: std::cell::OnceCell::new(),
    };
    // Where there is time, planes that are due together by their lists are collected together.
    if setup.plan.gc.used_space.is_some() && setup.plan.geometry.planes > 1 {
        return whole(&own).map(|_| false);
    }
    // Where there is time, the units of a superblock copy in parallel, in no order of their pages.
    let geometry = &setup.plan.geometry;
    if geometry.has_superblocks() && geometry.units > geometry.planes {
        return whole(&own).map(|_| false);
    }
    let Some(mut source) = drives::requests(&own) else { return whole(&own).map(|_| false) };
    let drive = match own.drive() {
        Ok(drive) => drive.state,
        Err(Stop::Full(_) | Stop::ReadOnly) => return Ok(false),
        Err(other) => return Err(other),
    };
    let requests = requests(&setup, &mut *source)?;
    let untimed = counted(setup.plan.clone(), drive.clone(), &requests)?;
    let timed = Plan { untimed: false, arrivals: Arrivals::Open, ..setup.plan.clone() };
    let timed = counted(timed, drive, &requests)?;
    let (Some(mut untimed), Some(timed)) = (untimed, timed) else { return Ok(false) };
    if requests.iter().any(|request| request.pages > 1) {
        // Timed, the pages of a request are taken in several units before the first collection.
        untimed["free_pages_min"] = timed["free_pages_min"].clone();
    }
    let mut wrong = Vec::new();
    walk("", &untimed, &timed, &mut |key, untimed, timed| {
        if untimed != timed {
            let short = |value: &Value| value.to_string().chars().take(200).collect::<String>();
            wrong.push(format!("{key}: {} untimed, {} timed", short(untimed), short(timed)));
        }
    });
    differ(&wrong)?;
    whole(&own)
}

/// The whole run in logical time, under the checker.
fn whole(own: &Tried<'_>) -> Result<bool, Stop> {
    let options = || Options { verify: true, ..Options::default() };
    match run::whole(own.setup, own.history, options()) {
        Ok(_) => Ok(true),
        Err(Stop::Full(_) | Stop::ReadOnly | Stop::TooLong | Stop::TraceTooLarge) => Ok(false),
        Err(other) => Err(other),
    }
}
