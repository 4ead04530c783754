//! Rate limits of jobs: no window admits more than its length allows, and one request.

use flashgc_model::plan::{Limit, Plan};
use std::collections::VecDeque;

/// The rate-limited jobs, as the checker follows them.
pub(super) struct Limited {
    of_clone: Vec<u16>,
    jobs: Vec<Admitted>,
}

struct Admitted {
    limit: Limit,
    /// Requests that wait, by the order of their arrival, each with its bytes.
    waiting: VecDeque<(u32, u64)>,
    /// The admission time of the last request, in ns, and the cost that remained after it, in parts
    /// of a ns.
    since_ns: u64,
    left: [u128; 2],
}

impl Limited {
    /// The limits of a plan; `None` without any.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let job = |&limit: &Limit| Admitted {
            limit,
            waiting: VecDeque::new(),
            since_ns: 0,
            left: [0; 2],
        };
        plan.jobs.has_limits().then(|| Limited {
            of_clone: plan.jobs.of_clone.clone(),
            jobs: plan.jobs.limits.iter().map(job).collect(),
        })
    }

    /// A request of this clone of a job arrived. Returns whether it waits for a limit.
    pub(super) fn arrived(&mut self, request: u32, clone: u16, bytes: u64) -> bool {
        let job = &mut self.jobs[usize::from(self.of_clone[usize::from(clone)])];
        if !job.limit.is_none() {
            job.waiting.push_back((request, bytes));
        }
        !job.limit.is_none()
    }

    /// A limit admits a request. Returns its job.
    pub(super) fn admitted(&mut self, now_ns: u64, request: u32) -> usize {
        let first = |job: &Admitted| job.waiting.front().is_some_and(|&(one, _)| one == request);
        let Some(number) = self.jobs.iter().position(first) else {
            panic!("at {now_ns} ns a limit admitted a request before an older one of its job");
        };
        let job = &mut self.jobs[number];
        let bytes = job.waiting.pop_front().map_or(0, |(_, bytes)| bytes);
        let passed_ns = u128::from(now_ns - std::mem::replace(&mut job.since_ns, now_ns));
        for (left, (cost, parts)) in job.left.iter_mut().zip(job.limit.costs(bytes)) {
            let unpaid = left.saturating_sub(passed_ns * parts);
            assert_eq!(
                unpaid, 0,
                "at {now_ns} ns the limit of job {number} admitted a request too early"
            );
            *left = cost;
        }
        number
    }

    /// A request is processed by the device: its limit has admitted it.
    pub(super) fn works(&self, now_ns: u64, request: u32) {
        let waits = |job: &Admitted| job.waiting.iter().any(|&(one, _)| one == request);
        assert!(
            !self.jobs.iter().any(waits),
            "at {now_ns} ns a request was at work that its limit had not admitted"
        );
    }
}
