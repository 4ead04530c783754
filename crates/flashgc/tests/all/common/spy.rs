//! One type for all watchers of tests, so that the engine is compiled once for all of them.

use flashgc::verify::{Happened, Watch};
use std::any::Any;

/// What a test records of a run.
pub trait See: Any {
    fn see(&mut self, now_ns: u64, happened: Happened);

    /// As [`Watch::needs_copies`].
    fn needs_copies(&self) -> bool {
        true
    }
}

/// The watcher with what a test records.
pub struct Spy(Box<dyn See>);

impl Spy {
    pub fn new(records: impl See) -> Self {
        Self(Box::new(records))
    }

    /// What the test has recorded, by its type.
    pub fn records<T: See>(&mut self) -> &mut T {
        let records: &mut dyn Any = self.0.as_mut();
        records.downcast_mut().expect("the records of this test")
    }
}

impl Watch for Spy {
    fn needs_copies(&self) -> bool {
        self.0.needs_copies()
    }

    fn see(&mut self, now_ns: u64, happened: Happened) {
        self.0.see(now_ns, happened);
    }
}
