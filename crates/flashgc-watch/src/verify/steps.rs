//! The steps of requests under way: the request's own steps, and the steps of its page operation
//! that is done last.

use super::Happened;
use super::requests::Requests;
use super::slab::entry;
use flashgc_model::ids::UnitId;

/// A step of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The limit of its job has admitted it.
    Admitted,
    /// The firmware begins with its command.
    Handles,
    /// The firmware has handled its command.
    Handled,
    /// Its data begins to cross the host's link.
    Crosses,
    /// Its data has crossed the host's link.
    Crossed,
    /// The page operation that was done last is accepted by the drive.
    Accepted,
    /// It waits in the queue of a unit.
    Queued(UnitId),
    /// It waits for any idle unit.
    AwaitsIdle,
    /// It is next in its queue, and finds no page that it may write.
    FindsNoPage,
    /// It has its unit.
    Taken,
    /// It was merged into a page that a collection programs.
    Merged,
    /// It is loaded during a program of a collection.
    Loaded,
    /// The program that has it is suspended for a read.
    Yields,
    /// That program continues.
    GoesOn,
    /// It waits for the write buffer.
    AwaitsBuffer,
    /// It accesses the write buffer.
    AccessesBuffer,
    /// It is done.
    Done,
    /// The pages of a FUA write are in the write buffer, or a flush has come in, and it waits for
    /// flash.
    AwaitsFlash,
}

impl Step {
    /// Its name in results.
    pub(super) fn key(self) -> &'static str {
        match self {
            Step::Admitted => "admitted",
            Step::Handles => "command_begins",
            Step::Handled => "command_handled",
            Step::Crosses => "crosses_link",
            Step::Crossed => "crossed_link",
            Step::Accepted => "accepted",
            Step::Queued(_) => "queued",
            Step::AwaitsIdle => "awaits_idle_unit",
            Step::FindsNoPage => "awaits_space",
            Step::Taken => "starts",
            Step::Merged => "merged",
            Step::Loaded => "loaded",
            Step::Yields => "suspended",
            Step::GoesOn => "resumed",
            Step::AwaitsBuffer => "awaits_buffer",
            Step::AccessesBuffer => "accesses_buffer",
            Step::Done => "done",
            Step::AwaitsFlash => "awaits_flash",
        }
    }
}

/// Steps, each with its time in ns.
pub(super) type Steps = Vec<(u64, Step)>;

/// A request under way.
#[derive(Clone, Default)]
pub(super) struct UnderWay {
    /// Page operations that were accepted.
    pub pages: u32,
    /// Its own steps before its pages are accepted.
    own: usize,
    /// The steps of the request, and of the page operation that was done last, each with its time
    /// in ns.
    pub steps: Steps,
}

/// The steps of requests under way, by place in the slab.
#[derive(Default)]
pub(super) struct RequestSteps {
    under_way: Vec<UnderWay>,
    /// The steps of page operations, by place in the slab.
    steps_of: Vec<Steps>,
}

impl RequestSteps {
    /// Takes an event of the measured part. Returns whether it was a step of a request.
    pub fn observe(&mut self, now_ns: u64, happened: Happened, requests: &Requests) -> bool {
        match happened {
            Happened::Arrived { request, .. } => self.arrives(request),
            Happened::Admitted { request } => self.crosses(request, now_ns, Step::Admitted),
            Happened::Handles { request } => self.crosses(request, now_ns, Step::Handles),
            Happened::Handled { request, .. } => self.crosses(request, now_ns, Step::Handled),
            Happened::Crosses { request } => self.crosses(request, now_ns, Step::Crosses),
            Happened::Crossed { request, .. } => self.crosses(request, now_ns, Step::Crossed),
            Happened::AwaitsFlash { request } | Happened::FlushComes { request } => {
                self.crosses(request, now_ns, Step::AwaitsFlash);
            }
            Happened::Accepted { op, request, .. } => {
                self.under_way[request as usize].pages += 1;
                entry(&mut self.steps_of, op, Steps::new()).clear();
                self.goes_on(op, now_ns, Step::Accepted);
            }
            Happened::Done { op, .. } => {
                self.goes_on(op, now_ns, Step::Done);
                self.done(op, requests.request_of(op));
            }
            _ => {
                let Some((op, step)) = step_of(happened) else { return false };
                self.goes_on(op, now_ns, step);
            }
        }
        true
    }

    /// A request with its steps so far.
    pub fn of(&self, request: u32) -> &UnderWay {
        &self.under_way[request as usize]
    }

    /// A page operation reaches a step.
    fn goes_on(&mut self, op: u32, now_ns: u64, step: Step) {
        let steps = entry(&mut self.steps_of, op, Steps::new());
        // A waiting write is checked for a page repeatedly.
        if steps.last().is_none_or(|&(_, last)| last != step) {
            steps.push((now_ns, step));
        }
    }

    fn arrives(&mut self, request: u32) {
        let entry = entry(&mut self.under_way, request, UnderWay::default());
        entry.steps.clear();
        (entry.pages, entry.own) = (0, 0);
    }

    fn crosses(&mut self, request: u32, now_ns: u64, step: Step) {
        let request = &mut self.under_way[request as usize];
        request.steps.push((now_ns, step));
        if request.pages == 0 {
            request.own = request.steps.len();
        }
    }

    /// A page of a request is done. The steps of the page that is done last are kept.
    fn done(&mut self, op: u32, request: u32) {
        let request = &mut self.under_way[request as usize];
        request.steps.truncate(request.own);
        request.steps.extend_from_slice(&self.steps_of[op as usize]);
    }
}

/// The step of a page operation, if it is one.
fn step_of(happened: Happened) -> Option<(u32, Step)> {
    Some(match happened {
        Happened::Queued { op, unit } => (op, Step::Queued(unit)),
        Happened::AwaitsIdle { op } => (op, Step::AwaitsIdle),
        Happened::Taken { op } => (op, Step::Taken),
        Happened::Merged { op } => (op, Step::Merged),
        Happened::Loaded { op } => (op, Step::Loaded),
        Happened::Yields { op, .. } => (op, Step::Yields),
        Happened::GoesOn { op, .. } => (op, Step::GoesOn),
        Happened::FindsNoPage { op, .. } => (op, Step::FindsNoPage),
        Happened::AwaitsBuffer { op } => (op, Step::AwaitsBuffer),
        Happened::AccessesBuffer { op } => (op, Step::AccessesBuffer),
        _ => return None,
    })
}
