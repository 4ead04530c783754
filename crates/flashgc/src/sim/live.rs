//! Requests that come while the simulation runs: the caller has them one by one, and says how far
//! time may advance.
//!
//! The events are those of a run of the same requests from a trace, in the same order.

use super::{Sim, SimError};
use crate::drive::Drive;
use crate::verify::Watch;
use crate::workload::Source;
use crate::workload::live::Live;

/// Waits for the next request of the source, if there is one.
pub fn take<W: Watch>(sim: &mut Sim<W>, source: &mut Live) -> Result<(), SimError> {
    if sim.host.awaits_arrival() || sim.host.source_ended() {
        return Ok(());
    }
    sim.fetch_arrival(source)
}

/// Requests go on when the drive is read-only: the caller refuses writes from then on.
pub fn outlive_writes<W: Watch>(sim: &mut Sim<W>) {
    sim.switches.outlives_writes = true;
}

/// The time of the next event, if there is one.
pub fn next_ns<W: Watch>(sim: &Sim<W>) -> Option<u64> {
    sim.events.next().map(|next| next.at_ns)
}

/// The present time: that of the last event.
pub fn now_ns<W: Watch>(sim: &Sim<W>) -> u64 {
    sim.now_ns
}

/// The state of the drive, before the first request.
pub fn drive<W: Watch>(sim: &Sim<W>) -> Drive {
    sim.store.seen_drive(&sim.plan)
}

/// Whether requests are under way.
pub fn is_busy<W: Watch>(sim: &Sim<W>) -> bool {
    sim.host.outstanding() > 0 || sim.host.awaits_arrival()
}

/// Lets all happen that happens until this time, at most `budget` events. Returns whether nothing
/// is left to happen until then.
pub fn run_to<W: Watch>(
    sim: &mut Sim<W>,
    source: &mut Live,
    to_ns: u64,
    budget: u64,
) -> Result<bool, SimError> {
    for _ in 0..budget {
        match next_ns(sim) {
            Some(at_ns) if at_ns <= to_ns => {}
            // A write that no event lets begin: the drive is full, which the loop finds.
            None if is_busy(sim) => {}
            _ => return Ok(true),
        }
        sim.run(source, 1)?;
    }
    Ok(false)
}

/// Lets time advance until every request that has come is done.
pub fn run_until_served<W: Watch>(sim: &mut Sim<W>, source: &mut Live) -> Result<(), SimError> {
    while is_busy(sim) {
        sim.run(source, 1)?;
    }
    Ok(())
}

/// No further request comes.
pub fn end<W: Watch>(sim: &mut Sim<W>, source: &mut Live) -> Result<(), SimError> {
    source.end();
    take(sim, source)?;
    while !sim.run(source as &mut dyn Source, u64::MAX)?.finished {}
    Ok(())
}
