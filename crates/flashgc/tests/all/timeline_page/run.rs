//! Runs the example that the input blocks of a page describe.

use super::eyes::{Eyes, HostPage, Row};
use super::render;
use super::request::{Requested, parse, range};
use flashgc::config::Fill;
use flashgc::device::{Geometry, Timing};
use flashgc::ids::Lpn;
use flashgc::measure::Results;
use flashgc::plan::{Arrivals, Plan};
use flashgc::session::{Inputs, RunError, Setup, prepare};
use flashgc::sim::Sim;
use flashgc::verify::blame::Parts;
use flashgc::verify::{InDetail, Listener, Watchers};
use flashgc::workload::{HostOp, ListSource, Overwrites, SourceError};
use std::sync::{Arc, Mutex};

/// The input of an example.
#[derive(Clone, Default)]
pub struct Example {
    pub base: String,
    pub sets: Vec<String>,
    pub before: Vec<String>,
    pub requests: Vec<String>,
}

/// The results of a run.
pub struct Seen {
    pub geometry: Geometry,
    pub timing: Timing,
    pub operations: Vec<Row>,
    pub phases: Vec<Row>,
    /// Each request's words, and the time from arrival to its end.
    pub latencies: Vec<(String, Option<u64>)>,
    /// The parts of the latency of the requests that are done.
    pub parts: Vec<(String, Parts)>,
    pub blocks_before: Vec<String>,
    pub blocks: Vec<String>,
    pub error: Option<String>,
    pub results: Results,
}

struct List(std::vec::IntoIter<u32>);

impl Overwrites for List {
    fn next(&mut self) -> Result<Lpn, SourceError> {
        self.0.next().map(Lpn).ok_or_else(|| SourceError("the list is over".into()))
    }
}

/// Most events that an example may take.
pub const EVENTS_MAX: u64 = 100_000;

impl Example {
    /// The errors of the configuration, where it has any.
    pub fn refused(&self) -> Option<String> {
        prepare(&self.inputs()).err().map(|errors| errors.to_string())
    }

    fn inputs(&self) -> Inputs {
        Inputs {
            name: "page".into(),
            text: self.base.clone(),
            sets: self.sets.clone(),
            ..Inputs::default()
        }
    }

    pub fn run(&self) -> Result<Seen, String> {
        let setup = prepare(&self.inputs()).map_err(|errors| errors.to_string())?;
        // Settings of the index and the presets for a choice that the page replaces are allowed.
        let is_own = |key: &&String| self.sets.iter().any(|set| set.starts_with(key.as_str()));
        let unused: Vec<&str> = setup.unused_keys().iter().filter(is_own).map(|k| &**k).collect();
        if !unused.is_empty() {
            return Err(format!("settings without effect: {}", unused.join(", ")));
        }
        run(&setup, numbers(&self.before)?, &self.requested(&setup)?)
    }

    /// The pages that are written before, and the requests.
    pub fn parsed(&self) -> Result<(Setup, Vec<u32>, Vec<Requested>), String> {
        let setup = prepare(&self.inputs()).map_err(|errors| errors.to_string())?;
        let (before, requested) = (numbers(&self.before)?, self.requested(&setup)?);
        Ok((setup, before, requested))
    }

    fn requested(&self, setup: &Setup) -> Result<Vec<Requested>, String> {
        let page_bytes = u64::from(setup.plan.geometry.shape.page_bytes);
        self.requests.iter().map(|line| parse(line, page_bytes)).collect()
    }
}

/// The pages of a `before` block: lines such as `write 0..15` and `write 3 4 5`.
fn numbers(lines: &[String]) -> Result<Vec<u32>, String> {
    let mut numbers = Vec::new();
    for line in lines {
        let Some(rest) = line.trim().strip_prefix("write ") else {
            return Err(format!("`{line}` is not `write` and pages"));
        };
        for word in rest.split_whitespace() {
            let (first, last) = range(word)?;
            numbers.extend(first..=last);
        }
    }
    Ok(numbers)
}

/// A drive that is filled, and overwritten by these pages.
pub fn filled(
    setup: &Setup,
    plan: Plan,
    watchers: InDetail,
    before: Vec<u32>,
) -> Result<Sim<Watchers>, String> {
    let geometry = plan.geometry.clone();
    let mut sim = Sim::new(plan, Watchers::from(watchers));
    let words = |error| RunError::from(error).to_string();
    match setup.precondition.fill {
        Fill::Sequential => sim.untimed().fill(0, geometry.exported_pages).map_err(words)?,
        Fill::ByBlock => {
            sim.untimed().fill_by_block(0, geometry.exported_pages, |_| 0).map_err(words)?
        }
        _ => (),
    }
    let count = before.len() as u64;
    sim.untimed().overwrite(&mut List(before.into_iter()), count).map_err(words)?;
    Ok(sim)
}

fn run(setup: &Setup, before: Vec<u32>, requested: &[Requested]) -> Result<Seen, String> {
    let plan = setup.plan.clone();
    let (geometry, timing) = (plan.geometry.clone(), plan.timing);
    let eyes = Arc::new(Mutex::new(Eyes::new(&plan)));
    let reported = Arc::clone(&eyes);
    let listener =
        move |now_ns, happened| reported.lock().expect("no event failed").observe(now_ns, happened);
    let listener = Some(Box::new(listener) as Listener);
    let mut sim = filled(setup, plan, InDetail { listener, ..InDetail::default() }, before)?;
    let programmed = eyes.lock().expect("nothing has failed").programmed.clone();
    let blocks_before = render::blocks(&geometry, sim.ftl(), &programmed);
    let mut source = ListSource::new(requested.iter().map(|requested| requested.request).collect());
    let mut outcome = sim.start(&mut source);
    if outcome.is_ok() {
        outcome = sim.run(&mut source, EVENTS_MAX).map(|progress| {
            assert!(progress.finished, "the example does not come to its end");
        });
    }
    let results = sim.seen().results();
    let mut eyes = eyes.lock().expect("the run has ended");
    let checker = eyes.checker.take().expect("the checker is there");
    checker.audit(sim.ftl());
    if outcome.is_ok() {
        let programs = results.counters.array_programs + results.flushes_open;
        assert_eq!(checker.host_programs + checker.flushes, programs);
        assert_eq!(checker.erases, results.counters.erases);
        assert!(checker.copies >= results.counters.gc_moved);
    }
    let programmed = eyes.programmed.clone();
    let (mut operations, mut phases) = (eyes.operations.clone(), eyes.phases.clone());
    let is_closed = setup.plan.arrivals != Arrivals::Open;
    let latencies = latencies(requested, &eyes.pages, is_closed);
    let served = latencies.into_iter().zip(&eyes.served).zip(requested);
    // A flush has no pages.
    let latencies = served.map(|(((words, by_pages), &served), requested)| {
        (
            words,
            if requested.request.op == HostOp::Flush || requested.request.fua {
                served
            } else {
                by_pages
            },
        )
    });
    let latencies = latencies.collect();
    let parts = requested.iter().zip(&eyes.parts);
    let parts =
        parts.filter_map(|(requested, parts)| Some((requested.words.clone(), (*parts)?))).collect();
    operations.sort_by_key(|row| (row.from_ns, row.unit, row.to_ns));
    phases.sort_by_key(|row| (row.from_ns, row.unit, row.to_ns));
    let blocks = render::blocks(&geometry, sim.ftl(), &programmed);
    let error = outcome.err().map(|error| RunError::from(error).to_string());
    Ok(Seen {
        geometry,
        timing,
        operations,
        phases,
        latencies,
        parts,
        blocks_before,
        blocks,
        error,
        results,
    })
}

/// Page operations are accepted in the order of the requests that they belong to.
fn latencies(
    requested: &[Requested],
    pages: &[HostPage],
    is_closed: bool,
) -> Vec<(String, Option<u64>)> {
    let mut pages = pages.iter();
    let mut latencies = Vec::new();
    for Requested { words, request } in requested {
        let mut count = request.pages;
        if request.op == HostOp::Trim {
            // Pages trimmed only in part stay, and cause no operation.
            let both = request.pages == 1 && (request.head_partial || request.tail_partial);
            let parts = u32::from(request.head_partial) + u32::from(request.tail_partial);
            count -= if both { 1 } else { parts };
        }
        let own: Vec<&HostPage> = pages.by_ref().take(count as usize).collect();
        // Without times of their own, requests arrive when they are issued.
        let start_ns = own.iter().map(|page| page.accepted_ns).min();
        let start_ns = if is_closed { start_ns } else { start_ns.map(|_| request.at_ns) };
        let ends: Option<Vec<u64>> = own.iter().map(|page| page.done_ns).collect();
        let end_ns = ends.and_then(|ends| ends.into_iter().max());
        let latency = match (start_ns, end_ns) {
            (Some(start), Some(end)) => Some(end - start),
            (None, _) if count == 0 => Some(0),
            _ => None,
        };
        latencies.push((words.clone(), latency));
    }
    latencies
}
