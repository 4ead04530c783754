//! A drive on the clock of the machine: each request is done when the model says.
//!
//! The thread of a client hands its request to the engine and waits. A thread of the server sleeps
//! until the next event of the engine is due, lets it happen, and wakes the clients whose requests
//! are done. How late each answer left is recorded: the model's time, and when its client had it.

use crate::drive::DriveError;
use crate::engine::{Engine, answer, lock};
use flashgc::report::Report;
use flashgc::stats::Latency;
use flashgc::workload::{HostOp, HostRequest};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Clients that wait are woken one by one: by the number of their request.
const BELLS: usize = 256;

/// Above this share of a percentile, lateness blurs it.
const BLURS: f64 = 0.05;

struct State {
    engine: Engine,
    /// When the first request came, and the engine's time then.
    begun: Option<(Instant, u64)>,
    has_ended: bool,
    lateness: Latency,
    /// Latencies of the model: of reads and of writes.
    latencies: [Latency; 2],
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
        let Some((begun, from_ns)) = state.begun else { return 0 };
        from_ns + (begun.elapsed().as_nanos() as f64 / self.slowed) as u64
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
        let (lateness, latencies) = (Latency::new(), [Latency::new(), Latency::new()]);
        let state = State { engine, begun: None, has_ended: false, lateness, latencies };
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
        let came = came.and_then(|()| state.engine.comes(request, data, now_ns));
        shared.ring(&mut state);
        let (ticket, came_ns) = came?;
        shared.news.notify_one();
        loop {
            if let Some(done) = state.engine.take(ticket) {
                let late_ns = shared.now_ns(&state).saturating_sub(done.at_ns);
                state.lateness.record(late_ns);
                if let HostOp::Read | HostOp::Write = request.op {
                    state.latencies[request.op as usize].record(done.at_ns - came_ns);
                }
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

    /// No request comes any more.
    pub(crate) fn end(self) -> Result<Report, DriveError> {
        lock(&self.shared.state).has_ended = true;
        self.shared.news.notify_one();
        if let Some(clock) = lock(&self.clock).take() {
            let _ = clock.join();
        }
        let shared = Arc::into_inner(self.shared).expect("the clock has stopped");
        let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let notes = notes(&state.lateness, &state.latencies, shared.slowed);
        state.engine.end(&notes)
    }
}

/// What the report says of lateness.
fn notes(late: &Latency, latencies: &[Latency; 2], slowed: f64) -> Vec<String> {
    let late = late.summary();
    let (Some(p50), Some(p99), Some(max)) = (late.p50, late.p99, late.max) else {
        return Vec::new();
    };
    let us = |ns: u64| format!("{:.0} us", ns as f64 / 1e3);
    let mut how = "the drive was served in real time".to_string();
    if slowed > 1.0 {
        how = format!("the drive was served {slowed} times slower than its own time");
    }
    let (p50_us, p99_us, max_us) = (us(p50), us(p99), us(max));
    let mut notes = vec![format!(
        "{how}: answers left {p50_us} (p50), {p99_us} (p99) and at most {max_us} after the model's \
         time"
    )];
    let blurred = |(kind, model): (&str, &Latency)| {
        let due = model.summary().p50.filter(|&due| due > 0)?;
        let share = p50 as f64 / due as f64;
        (share > BLURS).then(|| format!("{kind} by {:.0} %", share * 100.0))
    };
    let blurred: Vec<String> =
        ["reads", "writes"].into_iter().zip(latencies).filter_map(blurred).collect();
    if !blurred.is_empty() {
        notes.push(format!(
            "the percentiles that clients measure are blurred, since answers left late: the median \
             of {}; the report has the model's; a larger K of --time scaled=K makes the \
             share smaller",
            blurred.join(" and of ")
        ));
    }
    notes
}

/// The kernel wakes a thread up to 50 us late, so as to wake several at once; not this one.
fn wake_in_time() {
    #[cfg(target_os = "linux")]
    // SAFETY: it takes a number, and concerns the calling thread alone.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize);
    }
}
