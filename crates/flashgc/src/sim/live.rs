//! Requests that come while the simulation runs: the caller has them one by one, and says how far
//! time may advance.
//!
//! The events are those of a run of the same requests from a trace, in the same order; and if the
//! caller answers the end of each request at once with another one, those of a closed loop.
//!
//! A run ends with its last request, and nothing else starts then. Whether a request was the last
//! one is not known here before the next one comes. So the end of a request after which none is
//! under way is a pause: work that would start continues when the next request comes, or time is
//! let advance all the same.

use super::{Sim, SimError};
use crate::drive::Drive;
use crate::host::Pauses;
use crate::verify::Watch;
use crate::workload::live::Live;

/// Requests continue when the drive is read-only: the caller refuses writes from then on.
pub fn outlive_writes<W: Watch>(sim: &mut Sim<W>) {
    sim.switches.outlives_writes = true;
}

/// The time of the next event, if there is one.
pub fn next_ns<W: Watch>(sim: &Sim<W>) -> Option<u64> {
    sim.events.next_ns()
}

/// The present time: that of the last event.
pub fn now_ns<W: Watch>(sim: &Sim<W>) -> u64 {
    sim.now_ns
}

/// The latest instant that can be simulated, in ns.
pub fn limit_ns<W: Watch>(sim: &Sim<W>) -> u64 {
    sim.events.time_limit_ns() / 2
}

/// The state of the drive, before the first request.
pub fn drive<W: Watch>(sim: &Sim<W>) -> Drive {
    sim.store.seen_drive(&sim.plan)
}

/// Whether requests have come that are not done.
pub fn is_busy<W: Watch>(sim: &Sim<W>) -> bool {
    sim.host.outstanding() > 0
}

/// The same simulation, if its watcher can be copied.
pub fn copy<W: Watch + Clone>(sim: &Sim<W>, is_copied: impl Fn(&W) -> bool) -> Option<Sim<W>> {
    is_copied(&sim.watch).then(|| sim.clone())
}

/// What collections have moved unseen is counted.
pub fn count_unseen<W: Watch>(sim: &mut Sim<W>) {
    sim.look_into_all();
}

/// The measured part begins, with a pause: there is no request yet.
pub fn start<W: Watch>(sim: &mut Sim<W>, source: &mut Live) -> Result<(), SimError> {
    sim.start(source)?;
    sim.host.goes_on(Pauses::Always, 1);
    Ok(())
}

/// Serves the requests up to and with this time, and lets time advance as long as any is under way.
pub fn serve<W: Watch>(sim: &mut Sim<W>, source: &mut Live, until_ns: u64) -> Result<(), SimError> {
    if !is_busy(sim) && source.next_ns().is_none_or(|next_ns| next_ns > until_ns) {
        return Ok(());
    }
    go_on(sim, Pauses::AtRest)?;
    serve_until(sim, source, until_ns)?;
    // A request that took no time was done before the next one was known: that was no rest.
    while sim.host.may_issue() && sim.host.awaits_arrival() {
        go_on(sim, Pauses::AtRest)?;
        sim.run_until(source, u64::MAX, until_ns)?;
    }
    Ok(())
}

/// The same, but time stops with the end of a request. The requests of this very instant that have
/// come in a pause are issued before anything else happens, as by a closed loop.
pub fn serve_one<W: Watch>(
    sim: &mut Sim<W>,
    source: &mut Live,
    until_ns: u64,
) -> Result<(), SimError> {
    if !is_busy(sim) && source.next_ns().is_none_or(|next_ns| next_ns > until_ns) {
        return Ok(());
    }
    let now_ns = sim.now_ns;
    let is_pause = sim.host.may_issue();
    let answers = if is_pause { source.count_until(now_ns) as u32 } else { 0 };
    if answers > 0 {
        sim.host.goes_on(Pauses::Always, answers);
        source.opens_until(now_ns);
        while sim.host.answers() > 0 {
            sim.run_until(source, 1, now_ns)?;
        }
        if sim.host.may_issue() {
            return Ok(());
        }
    } else {
        go_on(sim, Pauses::Always)?;
    }
    serve_until(sim, source, until_ns)?;
    source.give_back(sim.host.take_back(&mut context!(sim)));
    Ok(())
}

/// The pause, if there is one, is over.
fn go_on<W: Watch>(sim: &mut Sim<W>, pauses: Pauses) -> Result<(), SimError> {
    // At the beginning nothing has been put off.
    let has_to_start = sim.host.may_issue() && sim.host.requests_done() > 0;
    sim.host.goes_on(pauses, 0);
    if has_to_start { sim.settle() } else { Ok(()) }
}

fn serve_until<W: Watch>(
    sim: &mut Sim<W>,
    source: &mut Live,
    until_ns: u64,
) -> Result<(), SimError> {
    source.opens_until(until_ns);
    if !sim.host.awaits_arrival() {
        sim.fetch_arrival(source)?;
    }
    sim.run_until(source, u64::MAX, until_ns)?;
    Ok(())
}

/// Lets everything happen that happens until this time, also what the drive does while it is idle.
/// Every request up to then has been [served](serve) or is under way.
pub fn rest<W: Watch>(sim: &mut Sim<W>, source: &mut Live, until_ns: u64) -> Result<(), SimError> {
    go_on(sim, Pauses::Never)?;
    source.opens_until(0);
    while next_ns(sim).is_some_and(|at_ns| at_ns <= until_ns) {
        sim.run_until(source, 1, until_ns)?;
    }
    Ok(())
}

/// No further request comes: those that have come are served, and time stops with the last of them.
pub fn end<W: Watch>(sim: &mut Sim<W>, source: &mut Live) -> Result<(), SimError> {
    source.end();
    sim.host.goes_on(Pauses::Never, 0);
    if !sim.host.awaits_arrival() {
        sim.fetch_arrival(source)?;
    }
    sim.settle()?;
    while !sim.run_events(source, u64::MAX)?.finished {}
    Ok(())
}
