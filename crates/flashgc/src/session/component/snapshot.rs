//! Snapshots: a component returns to an earlier instant, as optimistic simulators require.

use super::{Component, Wrong, wrong};
use crate::session::engine::Engine;
use crate::workload::live::Live;
use std::sync::Arc;

/// The component that a snapshot belongs to.
#[derive(Clone, Default)]
pub(super) struct Identity(Arc<()>);

/// The state of a component at an instant, in memory. It has the size of the component itself.
pub struct Snapshot {
    engine: Engine,
    source: Live,
    identity: Identity,
    now_ns: u64,
    under_way: u64,
}

impl Component {
    /// A copy of the present state, with the requests under way and to come. Drives that a checker
    /// or a log watches, and those with a policy of the program that runs the engine, cannot be
    /// copied.
    pub fn snapshot(&self) -> Result<Snapshot, Wrong> {
        self.is_running()?;
        let gc = &self.live.session.setup.plan.gc;
        if let Some((slot, name)) = gc.given() {
            return Err(wrong::no_snapshot(
                &format!("the state of its {slot}, \"{name}\", is that of the program"),
                "use a policy of the engine",
            ));
        }
        let engine = self.live.session.engine.copy().ok_or_else(|| {
            wrong::no_snapshot("it is watched", "leave the checker, logs and listeners off")
        })?;
        Ok(Snapshot {
            engine,
            source: self.live.source.clone(),
            identity: self.identity.clone(),
            now_ns: self.now_ns,
            under_way: self.under_way,
        })
    }

    /// Goes back to a snapshot, or forward to one. It can be restored any number of times, and
    /// after an error of the engine too.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), Wrong> {
        if !Arc::ptr_eq(&self.identity.0, &snapshot.identity.0) {
            return Err(wrong::another_component());
        }
        let engine = snapshot.engine.copy();
        self.live.session.engine = engine.expect("the engine of a snapshot can be copied");
        self.live.source = snapshot.source.clone();
        (self.now_ns, self.under_way) = (snapshot.now_ns, snapshot.under_way);
        self.done.clear();
        self.stopped = None;
        Ok(())
    }
}
