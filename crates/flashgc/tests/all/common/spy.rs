//! What a test records of a run, through the listener of the engine's own watchers: with a watcher
//! of another type the engine would be compiled once more.

use flashgc::verify::{Happened, InDetail, Watchers};
use std::sync::{Arc, Mutex};

/// What a test records of a run.
pub trait Record: Send + 'static {
    fn observe(&mut self, now_ns: u64, happened: Happened);
}

/// A watcher that passes everything on to these records.
pub fn spied<T: Record>(records: T) -> (Watchers, Arc<Mutex<T>>) {
    let records = Arc::new(Mutex::new(records));
    let reported = Arc::clone(&records);
    let listener = Box::new(move |now_ns, happened| {
        reported.lock().expect("no event has panicked").observe(now_ns, happened);
    });
    (Watchers::from(InDetail { listener: Some(listener), ..InDetail::default() }), records)
}
