//! A drive on the clock of the machine: each request is done when the model says.
//!
//! The thread of a client hands its request to the engine and waits. A thread of the server sleeps
//! until the next event of the engine is due, lets it happen, and wakes the clients whose requests
//! are done. How late each answer left is recorded: the model's time, and when its client had it.

use crate::drive::DriveError;
use crate::engine::{Engine, answer, lock};
use crate::lateness::Lateness;
use flashgc::report::Report;
use flashgc::workload::HostRequest;
use serde_json::Value;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Clients that wait are woken one by one: by the number of their request.
const BELLS: usize = 256;

struct State {
    engine: Engine,
    /// When the first request came, and the engine's time then.
    begun: Option<(Instant, u64)>,
    has_ended: bool,
    lateness: Lateness,
}

struct Shared {
    state: Mutex<State>,
    /// The next event may be another one than before, or the end has come.
    news: Condvar,
    bells: Vec<Condvar>,
    slowed: f64,
}

/// The server of a drive on the clock of the machine.
pub(crate) struct Server {
    shared: Arc<Shared>,
    /// The thread that lets time pass, from the first request on.
    clock: Mutex<Option<JoinHandle<()>>>,
}

impl Shared {
    /// The time of the engine, in ns.
    fn now_ns(&self, state: &State) -> u64 {
        engine_ns(state, self.slowed)
    }

    /// Wakes the clients whose requests are done, or all where nothing works any more.
    fn ring(&self, state: &mut State) {
        state.engine.done(|ticket| self.bells[ticket as usize % BELLS].notify_all());
        if state.engine.is_running().is_err() {
            self.bells.iter().for_each(Condvar::notify_all);
        }
    }

    fn wait<'a>(&self, bell: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        bell.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass until the end.
    fn tick(&self) {
        wake_in_time();
        let mut state = lock(&self.state);
        while !state.has_ended {
            let now_ns = self.now_ns(&state);
            // Where it fails the clients are told.
            let _ = state.engine.run_to(now_ns);
            self.ring(&mut state);
            let next_ns = state.engine.next_ns().filter(|_| state.engine.is_running().is_ok());
            let Some(next_ns) = next_ns else {
                state = self.wait(&self.news, state);
                continue;
            };
            let left_ns = (next_ns + 1).saturating_sub(self.now_ns(&state)) as f64 * self.slowed;
            let left = Duration::from_nanos(left_ns as u64);
            let waited = self.news.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Server {
    pub(crate) fn new(engine: Engine, slowed: f64) -> Self {
        let state = State { engine, begun: None, has_ended: false, lateness: Lateness::new() };
        let bells = (0..BELLS).map(|_| Condvar::new()).collect();
        let (state, news) = (Mutex::new(state), Condvar::new());
        let shared = Arc::new(Shared { state, news, bells, slowed });
        Server { shared, clock: Mutex::new(None) }
    }

    /// Serves a request: returns when the model says that it is done.
    pub(crate) fn serve(&self, request: HostRequest, data: Vec<u8>) -> Result<Vec<u8>, DriveError> {
        let shared = &*self.shared;
        let mut state = lock(&shared.state);
        if state.begun.is_none() {
            state.begun = Some((Instant::now(), state.engine.now_ns()));
            self.start_clock()?;
        }
        let now_ns = shared.now_ns(&state);
        let came = state.engine.run_to(now_ns);
        let came = came.and_then(|()| state.engine.admits(&request));
        let came = came.and_then(|()| state.engine.comes(request, data, now_ns));
        shared.ring(&mut state);
        let (ticket, came_ns) = came?;
        shared.news.notify_one();
        loop {
            if let Some(done) = state.engine.take(ticket) {
                let late_ns = shared.now_ns(&state).saturating_sub(done.at_ns);
                state.lateness.record(request.op, done.at_ns - came_ns, late_ns);
                return answer(done);
            }
            state.engine.is_running()?;
            state = shared.wait(&shared.bells[ticket as usize % BELLS], state);
        }
    }

    fn start_clock(&self) -> Result<(), DriveError> {
        let mut clock = lock(&self.clock);
        if clock.is_none() {
            let shared = Arc::clone(&self.shared);
            let started = std::thread::Builder::new().name("clock".into());
            *clock = Some(started.spawn(move || shared.tick()).map_err(DriveError::Io)?);
        }
        Ok(())
    }

    /// What the drive does now; none where nobody may watch.
    pub(crate) fn status(&self) -> Result<Option<Value>, DriveError> {
        let mut state = lock(&self.shared.state);
        let now_ns = self.shared.now_ns(&state);
        state.engine.status(now_ns)
    }

    /// No request comes any more.
    pub(crate) fn end(self) -> Result<Report, DriveError> {
        lock(&self.shared.state).has_ended = true;
        self.shared.news.notify_one();
        if let Some(clock) = lock(&self.clock).take() {
            let _ = clock.join();
        }
        let shared = Arc::into_inner(self.shared).expect("the clock has stopped");
        let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let now_ns = engine_ns(&state, shared.slowed);
        let notes = state.lateness.notes(shared.slowed);
        state.engine.end(now_ns, notes)
    }
}

/// The time of the engine, in ns.
fn engine_ns(state: &State, slowed: f64) -> u64 {
    let Some((begun, from_ns)) = state.begun else { return 0 };
    from_ns + (begun.elapsed().as_nanos() as f64 / slowed) as u64
}

/// The kernel wakes a thread up to 50 us late, so as to wake several at once; not this one.
fn wake_in_time() {
    #[cfg(target_os = "linux")]
    // SAFETY: it takes a number, and concerns the calling thread alone.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize);
    }
}
