//! A drive as a component of another simulator, which has the clock.
//!
//! 1. It is made from a configuration and preconditioned ([`Component::new`]), or in slices
//!    ([`Making`]). Time is 0 then.
//! 2. Requests are [submitted](Component::submit), each for an instant that is not before the
//!    present, in any order. Nothing happens by that.
//! 3. Time [advances](Component::advance) up to an instant, and the requests that are done until
//!    then are handed out. [`Component::next_event`] is the next instant at which one may be.
//! 4. [`Component::finish`] serves the requests under way, and makes the report of a run: with the
//!    same requests in a trace, `flashgc run` has the same `result_hash`.
//!
//! How often time advances changes no result. What a drive does while no request is under way
//! happens when the next one comes; none of it is counted after the last one, as in a run.
//!
//! ```
//! use flashgc::component::{self, Component, Options, Submitted};
//! use flashgc::session::Inputs;
//! use flashgc::workload::HostOp;
//!
//! let sets = ["device.blocks_per_plane=64", "precondition.overwrite=1"].map(String::from);
//! let device = Some(("slc-msr".into(), None));
//! let inputs = Inputs { device, sets: sets.into(), ..Inputs::default() };
//! let mut drive = Component::new(component::setup(inputs)?, Options::default())?;
//! assert_eq!(drive.submit(0, HostOp::Write, 0, 4096, 1)?, Submitted::Accepted);
//! assert_eq!(drive.submit(5_000, HostOp::Read, 8192, 4096, 2)?, Submitted::Accepted);
//! for done in drive.advance(1_000_000)? {
//!     assert!(done.latency_ns > 0 && done.at_ns <= 1_000_000, "request {}", done.tag);
//! }
//! let report = drive.finish()?;
//! assert_eq!(report.to_json()["requests"]["read"], 1);
//! # Ok::<(), component::Wrong>(())
//! ```

mod making;
mod snapshot;
mod wrong;

pub use crate::verify::blame::{PARTS, Part, Parts};
pub use flashgc_trace::Marks;
pub use making::{Making, Options, setup};
pub use snapshot::Snapshot;
pub use wrong::{Why, Wrong};

use super::live::LiveSession;
use super::{RunError, Setup};
use crate::report::Report;
use crate::sim::SimError;
use crate::workload::{HostOp, HostRequest};
use snapshot::Identity;

/// The outcome of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It comes at its time.
    Accepted,
    /// The drive has its maximum number of requests ([`Options::depth`]): submit it again after the
    /// next one is done.
    Full,
}

/// A request to be submitted.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// When it comes, in ns: not before the present.
    pub at_ns: u64,
    /// Its operation.
    pub op: HostOp,
    /// The first byte; a flush has none.
    pub offset_bytes: u64,
    /// The number of bytes; a flush has none.
    pub bytes: u64,
    /// The submitter's identifier, which comes back with its completion; any number.
    pub tag: u64,
    /// Its priority, forced unit access, and placement hint.
    pub marks: Marks,
    /// The number of its tenant, in the order of `[[workload.tenants]]`; 0 without tenants.
    pub tenant: u16,
}

impl Request {
    /// A request without marks, of the first tenant.
    pub fn new(at_ns: u64, op: HostOp, offset_bytes: u64, bytes: u64, tag: u64) -> Self {
        Request { at_ns, op, offset_bytes, bytes, tag, marks: Marks::NONE, tenant: 0 }
    }
}

/// A request that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The submitter's identifier of the request.
    pub tag: u64,
    /// Its operation.
    pub op: HostOp,
    /// The time of its end, in ns.
    pub at_ns: u64,
    /// From its arrival until then, in ns.
    pub latency_ns: u64,
    /// The parts of the latency, in ns by [`Part`], where latencies are split
    /// (`Options::session.blame`); trims and flushes have no parts.
    pub parts: Option<Parts>,
    /// Whether it is a write or a trim that the drive has not done: it had become read-only.
    pub is_refused: bool,
}

/// A drive on the clock of another simulator.
pub struct Component {
    live: LiveSession,
    identity: Identity,
    /// The present, in ns: the engine may be behind it where nothing was under way.
    now_ns: u64,
    /// Requests that were submitted and have not been handed out.
    under_way: u64,
    depth: u64,
    /// Whether writes are refused once the drive is read-only.
    refuses_writes: bool,
    /// Whether that may come while requests wait for their time.
    may_become_read_only: bool,
    /// The requests that the last call handed out.
    done: Vec<Completion>,
    /// The error that has stopped it.
    stopped: Option<Wrong>,
}

impl Component {
    /// A drive with this configuration ([`setup`]), preconditioned.
    pub fn new(setup: Setup, options: Options) -> Result<Component, Wrong> {
        Making::new(setup, options)?.finish()
    }

    fn made(live: LiveSession, depth: Option<u32>, admits_when_read_only: bool) -> Component {
        let has_failures = live.session.setup.plan.failures.is_some();
        Component {
            live,
            identity: Identity::default(),
            now_ns: 0,
            under_way: 0,
            depth: depth.map_or(u64::MAX, u64::from),
            refuses_writes: !admits_when_read_only,
            may_become_read_only: has_failures && !admits_when_read_only,
            done: Vec::new(),
            stopped: None,
        }
    }

    /// The bytes that the drive has for its host.
    pub fn bytes(&self) -> u64 {
        let exported = self.live.session.setup.plan.geometry.exported_pages;
        u64::from(exported) * self.page_bytes()
    }

    /// The bytes of the unit that it maps: smaller writes read the rest of theirs first.
    pub fn page_bytes(&self) -> u64 {
        self.live.session.page_bytes()
    }

    /// Its configuration.
    pub fn configuration(&self) -> &Setup {
        &self.live.session.setup
    }

    /// The present, in ns.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Requests that were submitted and are not done.
    pub fn under_way(&self) -> u64 {
        self.under_way
    }

    /// Whether the drive takes no further write, since too many of its blocks are bad.
    pub fn is_read_only(&self) -> bool {
        self.live.is_read_only()
    }

    /// The physical page of each logical one at present; `u32::MAX` where nothing is written.
    pub fn map(&self) -> Vec<u32> {
        self.live.map()
    }

    /// Erased blocks that are not open: of the plane with the fewest, and of all planes.
    pub fn free_blocks(&self) -> (u32, u64) {
        self.live.free_blocks()
    }

    /// Submits a request of `bytes` bytes from `offset_bytes` on, for an instant that is not before
    /// the present. Of several for one instant the first comes first. A flush has neither offset
    /// nor bytes. The tag comes back with the [completion](Completion); it may be any number.
    pub fn submit(
        &mut self,
        at_ns: u64,
        op: HostOp,
        offset_bytes: u64,
        bytes: u64,
        tag: u64,
    ) -> Result<Submitted, Wrong> {
        self.submit_request(Request::new(at_ns, op, offset_bytes, bytes, tag))
    }

    /// Submits a request that may be of high priority, with forced unit access, with a placement
    /// hint, or of another tenant than the first.
    pub fn submit_request(&mut self, request: Request) -> Result<Submitted, Wrong> {
        let Request { at_ns, op, offset_bytes, bytes, tag, marks, tenant } = request;
        self.is_running()?;
        self.check_time("a request", at_ns)?;
        self.check_tenant(tenant)?;
        let (high, fua, hint) = (marks.is_high(), marks.is_fua(), marks.hint());
        self.check_extent(op, offset_bytes, bytes)?;
        let request = match op {
            HostOp::Flush => HostRequest::flush(at_ns),
            _ => HostRequest::from_bytes(at_ns, op, offset_bytes, bytes, self.page_bytes()),
        };
        if changes(op) && self.refuses_writes && self.is_read_only() {
            return Err(wrong::read_only(op.name()));
        }
        if self.under_way >= self.depth {
            return Ok(Submitted::Full);
        }
        self.under_way += 1;
        self.live.source.push(HostRequest { high, fua, hint, job: tenant, ..request }, tag);
        Ok(Submitted::Accepted)
    }

    fn check_time(&self, what: &str, at_ns: u64) -> Result<(), Wrong> {
        if at_ns < self.now_ns {
            return Err(wrong::before_the_present(what, at_ns, self.now_ns));
        }
        let limit_ns = self.live.limit_ns();
        if at_ns > limit_ns {
            return Err(wrong::too_late(what, at_ns, limit_ns));
        }
        Ok(())
    }

    fn check_tenant(&self, tenant: u16) -> Result<(), Wrong> {
        let count = self.configuration().workload.tenants().len();
        if usize::from(tenant) < count.max(1) {
            return Ok(());
        }
        Err(wrong::no_tenant(tenant, count))
    }

    /// The names of the tenants, by their numbers.
    pub fn tenants(&self) -> impl Iterator<Item = &str> {
        self.configuration().workload.tenants().iter().map(|tenant| tenant.name.as_str())
    }

    fn check_extent(&self, op: HostOp, offset_bytes: u64, bytes: u64) -> Result<(), Wrong> {
        if op == HostOp::Flush {
            let is_whole = (offset_bytes, bytes) == (0, 0);
            return if is_whole { Ok(()) } else { Err(wrong::flush_of_bytes(offset_bytes, bytes)) };
        }
        if bytes == 0 {
            return Err(wrong::no_bytes(op.name()));
        }
        let drive_bytes = self.bytes();
        match offset_bytes.checked_add(bytes) {
            Some(end) if end <= drive_bytes => Ok(()),
            _ => Err(wrong::beyond_the_end(offset_bytes, bytes, drive_bytes)),
        }
    }

    /// The next instant at which a request may be done, in ns: the owner of the clock advances time
    /// to it at the latest. `None` while no request is under way or to come.
    pub fn next_event(&self) -> Option<u64> {
        let arrival = self.live.source.next_ns();
        if !self.live.is_busy() {
            return arrival;
        }
        // Without any event the next advance returns the error.
        let event = self.live.next_ns().unwrap_or(self.now_ns).max(self.now_ns);
        Some(arrival.map_or(event, |arrival| arrival.min(event)))
    }

    /// Lets time advance to this instant, which is the present from then on. Returns the requests
    /// that were done, in their order.
    ///
    /// Everything that ends at this instant has ended. Requests that are submitted for it now come
    /// after that, as those of a trace would.
    pub fn advance(&mut self, to_ns: u64) -> Result<&[Completion], Wrong> {
        self.is_running()?;
        self.check_time("an advance", to_ns)?;
        self.done.clear();
        self.act(|component| component.serve(to_ns))?;
        self.now_ns = to_ns;
        Ok(&self.done)
    }

    /// Lets time advance until a request is done, and at most to `limit_ns`. Returns the requests
    /// that were done then, if any were. The present is that instant, or `limit_ns` without any.
    ///
    /// Requests that are submitted for this very instant are the answer to the completion: they
    /// come before anything else that happens at it, as those of a closed loop.
    pub fn advance_to_completion(&mut self, limit_ns: u64) -> Result<&[Completion], Wrong> {
        self.is_running()?;
        if self.under_way == 0 {
            return Err(wrong::nothing_under_way());
        }
        let until_ns = limit_ns.min(self.live.limit_ns());
        self.check_time("an advance", until_ns)?;
        self.done.clear();
        self.act(|component| component.serve_one(until_ns))?;
        self.now_ns = self.done.last().map_or(until_ns, |done| done.at_ns);
        Ok(&self.done)
    }

    /// Lets time advance until every request that was submitted is done. Returns those that were
    /// done, in their order; the present is the end of the last one.
    pub fn drain(&mut self) -> Result<&[Completion], Wrong> {
        self.is_running()?;
        self.done.clear();
        let limit_ns = self.live.limit_ns();
        self.act(|component| {
            component.serve(limit_ns)?;
            component.take_done();
            // The end of one lies after the latest instant.
            let is_done = component.under_way == 0;
            if is_done { Ok(()) } else { Err(SimError::TooLong { limit_ns }.into()) }
        })?;
        self.now_ns = self.done.last().map_or(self.now_ns, |done| done.at_ns.max(self.now_ns));
        Ok(&self.done)
    }

    /// Lets the drive do now what it does until the present while no request is under way: it
    /// counts from then on, even if no further request comes. The result is no longer that of a
    /// run, which ends with its last request.
    pub fn rest(&mut self) -> Result<(), Wrong> {
        self.is_running()?;
        let now_ns = self.now_ns;
        self.act(|component| component.live.rest(now_ns))
    }

    /// The time of the last event of the engine, in ns: where no request is under way it may be
    /// before the present.
    pub fn last_event_ns(&self) -> u64 {
        self.live.now_ns()
    }

    /// The time of the next event of the engine, in ns, also of one that concerns no request.
    pub fn next_event_of_engine(&self) -> Option<u64> {
        self.live.next_ns()
    }

    /// The report on everything until now, like a run's, without `result_hash`.
    pub fn statistics(&mut self) -> Result<Report, Wrong> {
        self.is_running()?;
        Ok(self.live.so_far())
    }

    /// No further request comes: those that were submitted are served, and the report is that of a
    /// run that ends with the last of them.
    pub fn finish(self) -> Result<Report, Wrong> {
        self.finish_with(&[])
    }

    /// Finishes the component, with notes in the report.
    pub fn finish_with(mut self, notes: &[String]) -> Result<Report, Wrong> {
        self.is_running()?;
        self.live.end().map_err(|why| Wrong::of_engine(Why::Stopped, why))?;
        Ok(self.live.into_report(notes))
    }

    fn is_running(&self) -> Result<(), Wrong> {
        self.stopped.clone().map_or(Ok(()), Err)
    }

    /// Lets the engine do something. After an error nothing works any more.
    fn act(
        &mut self,
        what: impl FnOnce(&mut Component) -> Result<(), RunError>,
    ) -> Result<(), Wrong> {
        let done = what(self).map_err(|why| Wrong::of_engine(Why::Stopped, why));
        self.stopped = done.clone().err();
        self.take_done();
        done
    }

    fn take_done(&mut self) {
        let Component { live, done, under_way, .. } = self;
        live.take_done(|tag, one| {
            *under_way -= 1;
            done.push(Completion {
                tag,
                op: one.op,
                at_ns: one.at_ns,
                latency_ns: one.latency_ns,
                parts: one.parts,
                is_refused: false,
            });
        });
    }

    fn serve(&mut self, until_ns: u64) -> Result<(), RunError> {
        if self.may_become_read_only {
            while let Some(next_ns) = self.live.source.next_ns().filter(|&at_ns| at_ns <= until_ns)
            {
                self.live.serve(next_ns.saturating_sub(1))?;
                self.refuse_writes(next_ns);
                self.live.serve(next_ns)?;
            }
        }
        self.live.serve(until_ns)
    }

    fn serve_one(&mut self, until_ns: u64) -> Result<(), RunError> {
        if self.may_become_read_only {
            self.refuse_writes(until_ns);
            if !self.done.is_empty() {
                return Ok(());
            }
        }
        self.live.serve_one(until_ns)
    }

    /// Once the drive is read-only, writes and trims up to and with this time are refused, as they
    /// come.
    fn refuse_writes(&mut self, until_ns: u64) {
        if !self.is_read_only() {
            return;
        }
        self.take_done();
        let Component { live, done, under_way, .. } = self;
        live.source.remove(
            until_ns,
            |request| changes(request.op),
            |request, tag| {
                *under_way -= 1;
                let HostRequest { op, at_ns, .. } = *request;
                let parts = None;
                done.push(Completion { tag, op, at_ns, latency_ns: 0, parts, is_refused: true });
            },
        );
    }
}

/// Whether an operation changes stored data.
fn changes(op: HostOp) -> bool {
    matches!(op, HostOp::Write | HostOp::Trim)
}
