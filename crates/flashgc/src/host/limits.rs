//! The limits of jobs: a request of a limited job comes to the device when its limit admits it.
//!
//! A limit is a leaky bucket that holds one request. A request that is admitted takes a time, one
//! over the rate of requests or its bytes over that of bytes, and the next one is admitted when
//! this time is over. So no window admits more than its length allows, and one request. Unused
//! time is lost.

use super::Host;
use super::entrance::Entrance;
use crate::context::Context;
use crate::event::Slot;
use crate::plan::{JobQueues, Limit};
use crate::verify::{Happened, Watch};
use crate::workload::HostRequest;
use std::collections::VecDeque;

/// The limits of all jobs.
#[derive(Clone)]
pub(super) struct Limits {
    of_clone: Vec<u16>,
    queues: Vec<Queue>,
}

/// Of a job.
#[derive(Clone)]
struct Queue {
    limit: Limit,
    /// When the next request is admitted, by the number of requests and by their bytes. In parts of
    /// a ns, as [`Limit::costs`] gives them.
    next: [u128; 2],
    waiting: VecDeque<(u32, HostRequest)>,
}

impl Queue {
    /// When its next request is admitted, in ns.
    fn due_ns(&self) -> u64 {
        let costs = self.limit.costs(0);
        let due = |(next, (_, parts)): (&u128, (u128, u128))| next.div_ceil(parts);
        let due = self.next.iter().zip(costs).map(due).max().unwrap_or(0);
        u64::try_from(due).unwrap_or(u64::MAX)
    }

    fn admits(&mut self, bytes: u64, now_ns: u64) {
        for (next, (cost, parts)) in self.next.iter_mut().zip(self.limit.costs(bytes)) {
            *next = (*next).max(u128::from(now_ns) * parts) + cost;
        }
    }
}

impl Limits {
    /// Of these jobs; `None` where none has a limit.
    pub(super) fn new(jobs: &JobQueues) -> Option<Self> {
        let queue = |&limit: &Limit| Queue { limit, next: [0; 2], waiting: VecDeque::new() };
        jobs.has_limits().then(|| Limits {
            of_clone: jobs.of_clone.clone(),
            queues: jobs.limits.iter().map(queue).collect(),
        })
    }

    /// A request is here. Whether it must wait for the limit of its job.
    fn holds<W: Watch>(
        &mut self,
        id: u32,
        request: HostRequest,
        clone: u16,
        cx: &mut Context<'_, W>,
    ) -> bool {
        let job = usize::from(self.of_clone[usize::from(clone)]);
        let queue = &mut self.queues[job];
        if queue.limit.is_none() {
            return false;
        }
        if queue.waiting.is_empty() && queue.due_ns() <= cx.now_ns {
            queue.admits(request.bytes, cx.now_ns);
            cx.notify(Happened::Admitted { request: id });
            return false;
        }
        queue.waiting.push_back((id, request));
        if queue.waiting.len() == 1 {
            self.post(cx);
        }
        true
    }

    /// The event of the request that is admitted next.
    fn post<W: Watch>(&self, cx: &mut Context<'_, W>) {
        cx.events.clear(Slot::Limit);
        let waits = self.queues.iter().filter(|queue| !queue.waiting.is_empty());
        if let Some(due_ns) = waits.map(Queue::due_ns).min() {
            // A time beyond the limit of time ends the run with an error of its own.
            let at_ns = due_ns.max(cx.now_ns).min(cx.events.time_limit_ns() / 2 + 1);
            cx.events.post(Slot::Limit, at_ns);
        }
    }

    /// The next request that is admitted by now: of several, that of the first job.
    fn next<W: Watch>(&mut self, cx: &mut Context<'_, W>) -> Option<(u32, HostRequest)> {
        let is_due = |queue: &&mut Queue| !queue.waiting.is_empty() && queue.due_ns() <= cx.now_ns;
        let queue = self.queues.iter_mut().find(is_due);
        let next = queue.and_then(|queue| {
            let (id, request) = queue.waiting.pop_front()?;
            queue.admits(request.bytes, cx.now_ns);
            Some((id, request))
        });
        self.post(cx);
        next
    }
}

impl Host {
    /// Whether a request that is here waits for the limit of its job.
    #[inline(always)]
    pub(super) fn is_limited<W: Watch>(
        &mut self,
        id: u32,
        request: HostRequest,
        cx: &mut Context<'_, W>,
    ) -> bool {
        let Some(limits) = &mut self.limits else { return false };
        limits.holds(id, request, self.requests.slab[id as usize].job, cx)
    }

    /// A limit admits the request that has waited for it.
    pub fn limit_admits<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        let next = self.limits.as_mut().and_then(|limits| limits.next(cx));
        let Some((id, request)) = next else { return };
        cx.notify(Happened::Admitted { request: id });
        let clone = self.requests.slab[id as usize].job;
        let comes = |entrance: &mut Entrance| entrance.comes(id, request, clone);
        if self.entrance.as_mut().is_none_or(comes) {
            self.come_in(id, request, cx);
        }
    }
}
