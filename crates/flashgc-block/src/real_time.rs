//! A drive on the clock of the machine: each request is done at the time of the model.
//!
//! The thread of a client hands its request to the engine and waits. One of the waiting clients is
//! the timekeeper: it sleeps until shortly before the next event of the engine is due, polls the
//! clock for the rest, runs the event, and wakes the clients whose requests are done. So the only
//! client of a drive is not woken by another thread. While no client waits, a thread of the server
//! is the timekeeper, for background work of the drive. The lateness of each answer is recorded:
//! the difference between the time of the model and the time of the answer.

use crate::drive::DriveError;
use crate::engine::{Engine, answer, lock};
use crate::lateness::Lateness;
use crate::path::Ticket;
use flashgc::report::Report;
use flashgc::workload::HostRequest;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Clients that wait are woken one by one: by the number of their request.
const BELLS: usize = 256;

/// The longest time that a machine takes to wake a thread: the timekeeper does not sleep within
/// this time before an event.
const AWAKE: Duration = Duration::from_micros(80);

/// The interval at which the thread of the server checks for due events: this at least, and ten
/// times this at most. No client waits for these events.
const PAUSE: Duration = Duration::from_millis(1);

struct State {
    engine: Engine,
    /// The time of the first request, on the clock of the machine and in ns of the engine.
    begun: Option<(Instant, u64)>,
    has_ended: bool,
    lateness: Lateness,
    /// The requests whose clients wait.
    waiting: BTreeSet<Ticket>,
    /// The request among them whose client is the timekeeper.
    keeper: Option<Ticket>,
    /// Whether the thread of the server has to be woken for further events.
    is_asleep: bool,
}

struct Shared {
    state: Mutex<State>,
    /// Wakes the timekeeper: the next event may have changed.
    news: Condvar,
    /// The number of such changes, for a timekeeper that polls.
    came: AtomicU64,
    /// Wakes the thread of the server: no client waits, or the end has come.
    idle: Condvar,
    bells: Vec<Condvar>,
    slowed: f64,
}

/// The server of a drive on the clock of the machine.
pub(crate) struct Server {
    shared: Arc<Shared>,
    /// The timekeeper while no client waits, from the first request on.
    clock: Mutex<Option<JoinHandle<()>>>,
}

impl Shared {
    /// The time of the engine, in ns.
    fn now_ns(&self, state: &State) -> u64 {
        engine_ns(state, self.slowed)
    }

    /// Wakes the clients whose requests are done, or all where nothing works any more.
    fn ring(&self, state: &mut State) {
        let State { engine, waiting, keeper, .. } = state;
        engine.done(|ticket| {
            waiting.remove(&ticket);
            if *keeper != Some(ticket) {
                self.bell(ticket).notify_all();
            }
        });
        if state.engine.is_running().is_err() {
            self.bells.iter().for_each(Condvar::notify_all);
        }
    }

    fn bell(&self, ticket: Ticket) -> &Condvar {
        &self.bells[ticket as usize % BELLS]
    }

    /// Runs all due events. Returns the time until the next one; `None` without a next event.
    fn catch_up(&self, state: &mut State) -> Option<Duration> {
        let now_ns = self.now_ns(state);
        // The clients receive its errors.
        let _ = state.engine.run_to(now_ns);
        self.ring(state);
        let next_ns = state.engine.next_ns().filter(|_| state.engine.is_running().is_ok())?;
        let left_ns = (next_ns + 1).saturating_sub(self.now_ns(state)) as f64 * self.slowed;
        Some(Duration::from_nanos(left_ns as u64))
    }

    /// The thread of the server: the timekeeper while no client waits, until the end.
    fn tick(&self) {
        wake_in_time();
        let mut state = lock(&self.state);
        while !state.has_ended {
            let is_kept = state.keeper.is_some();
            let left = if is_kept { Some(PAUSE) } else { self.catch_up(&mut state) };
            state = match left {
                Some(left) => wait_for(&self.idle, state, left.clamp(PAUSE, 10 * PAUSE)),
                None => {
                    state.is_asleep = true;
                    state = wait(&self.idle, state);
                    state.is_asleep = false;
                    state
                }
            };
        }
    }

    /// The client of a request that is not done waits, as the timekeeper if there is none.
    fn stay<'a>(
        &'a self,
        ticket: Ticket,
        mut state: MutexGuard<'a, State>,
    ) -> MutexGuard<'a, State> {
        if state.keeper.is_none() {
            wake_in_time();
            state.keeper = Some(ticket);
        }
        if state.keeper != Some(ticket) {
            return wait(self.bell(ticket), state);
        }
        let Some(left) = self.catch_up(&mut state) else {
            let goes_on = state.waiting.contains(&ticket) && state.engine.is_running().is_ok();
            return if goes_on { wait(&self.news, state) } else { state };
        };
        if !state.waiting.contains(&ticket) {
            return state;
        }
        match left.checked_sub(AWAKE) {
            Some(asleep) if !asleep.is_zero() => wait_for(&self.news, state, asleep),
            _ => {
                let came = self.came.load(Ordering::Acquire);
                drop(state);
                self.stay_awake(left, came);
                lock(&self.state)
            }
        }
    }

    /// Polls the clock until this time has passed or `came` has changed, and yields to other
    /// threads.
    fn stay_awake(&self, left: Duration, came: u64) {
        let begun = Instant::now();
        while begun.elapsed() < left && self.came.load(Ordering::Acquire) == came {
            std::thread::yield_now();
        }
    }

    /// The client of a request waits no longer: another one keeps the time.
    fn leaves(&self, ticket: Ticket, state: &mut State) {
        state.waiting.remove(&ticket);
        if state.keeper == Some(ticket) {
            state.keeper = state.waiting.first().copied();
            if let Some(next) = state.keeper {
                self.bell(next).notify_all();
            }
        }
        if state.keeper.is_none() && state.is_asleep {
            self.idle.notify_one();
        }
    }
}

impl Server {
    pub(crate) fn new(engine: Engine, slowed: f64) -> Self {
        let state = State {
            engine,
            begun: None,
            has_ended: false,
            lateness: Lateness::new(),
            waiting: BTreeSet::new(),
            keeper: None,
            is_asleep: false,
        };
        let bells = (0..BELLS).map(|_| Condvar::new()).collect();
        let shared = Shared {
            state: Mutex::new(state),
            news: Condvar::new(),
            came: AtomicU64::new(0),
            idle: Condvar::new(),
            bells,
            slowed,
        };
        Server { shared: Arc::new(shared), clock: Mutex::new(None) }
    }

    /// Serves a request: returns when it is done by the time of the model.
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
        if let Ok((ticket, _)) = came {
            state.waiting.insert(ticket);
        }
        shared.ring(&mut state);
        let (ticket, came_ns) = came?;
        if state.keeper.is_some() {
            shared.came.fetch_add(1, Ordering::Release);
            shared.news.notify_one();
        }
        let done = loop {
            if let Some(done) = state.engine.take(ticket) {
                break Ok(done);
            }
            if let Err(error) = state.engine.is_running() {
                break Err(error);
            }
            state = shared.stay(ticket, state);
        };
        if let Ok(done) = &done {
            let late_ns = shared.now_ns(&state).saturating_sub(done.at_ns);
            state.lateness.record(request.op, done.at_ns - came_ns, late_ns);
        }
        shared.leaves(ticket, &mut state);
        drop(state);
        answer(done?)
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

    /// The state of the drive now; `None` if it is not watched.
    pub(crate) fn status(&self) -> Result<Option<Value>, DriveError> {
        let mut state = lock(&self.shared.state);
        let now_ns = self.shared.now_ns(&state);
        state.engine.status(now_ns)
    }

    /// No request comes any more.
    pub(crate) fn end(self) -> Result<Report, DriveError> {
        lock(&self.shared.state).has_ended = true;
        self.shared.idle.notify_one();
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

fn wait<'a>(bell: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
    bell.wait(state).unwrap_or_else(PoisonError::into_inner)
}

/// Waits at most this long.
fn wait_for<'a>(
    bell: &Condvar,
    state: MutexGuard<'a, State>,
    most: Duration,
) -> MutexGuard<'a, State> {
    bell.wait_timeout(state, most).unwrap_or_else(PoisonError::into_inner).0
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
