//! The conditions of the event loop in its hot parts: each follows from the plan, and is derived
//! once.

use super::{Completions, Plan};

/// The answers.
#[derive(Clone, Copy)]
pub struct Switches {
    /// Whether the drive works while the host is idle, or takes writes into a buffer.
    pub rests: bool,
    /// Whether commands go before data, or all ends of an instant before any start.
    pub orders_instants: bool,
    /// Whether copies that no request can preempt run unseen.
    pub runs_unseen: bool,
    /// Whether another unit at the bus may begin a command meanwhile.
    pub shares_bus_unseen: bool,
    /// Whether nothing may start before the last end of an instant, those of unseen copies too.
    pub ends_unseen_together: bool,
    /// Whether something may follow each phase of an operation of the host.
    pub follows_phases: bool,
    /// Whether an operation may begin at a unit that is not free.
    pub begins_beside: bool,
    /// Whether an operation that began in parallel with another one may take over from it.
    pub has_seconds: bool,
    /// Whether writes wait before they are queued.
    pub awaits_places: bool,
    /// Whether a plane has several queues.
    pub names_steps: bool,
    /// Whether requests continue when the drive is read-only, which the caller of a live run sets.
    pub outlives_writes: bool,
}

impl Switches {
    /// Those of a plan; `works_ahead` tells whether there is background work.
    pub fn new(plan: &Plan, works_ahead: bool, runs_unseen: bool) -> Self {
        Switches {
            rests: works_ahead || plan.holds_operations(),
            orders_instants: plan.orders_instants(),
            runs_unseen,
            shares_bus_unseen: runs_unseen
                && plan.gc.preemption.is_none()
                && !plan.gc.blocking.one_collection,
            ends_unseen_together: runs_unseen && plan.front.completions == Completions::Together,
            follows_phases: plan.follows_phases(),
            begins_beside: plan.begins_beside(),
            has_seconds: plan.has_seconds(),
            awaits_places: plan.awaits_places(),
            names_steps: plan.geometry.names_steps(),
            outlives_writes: false,
        }
    }
}
