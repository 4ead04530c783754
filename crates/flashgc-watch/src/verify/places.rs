//! The places of the device and its firmware: requests inside, which the checker counts by their
//! stages, and the order in which they come in.

use super::Happened;
use super::limits::Limited;
use super::promises::Promises;
use flashgc_model::plan::{Additions, Firmware, JobQueues, Plan, QueueOrder};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Requests that have begun inside the device and were not served.
pub(super) struct Inside {
    most: Option<u32>,
    /// By place in the slab. Never walked.
    requests: FxHashSet<u32>,
    turns: Option<Turns>,
    firmware: Option<Handling>,
    limited: Option<Limited>,
}

/// Requests that wait for their job's turn, in order of arrival.
struct Turns {
    jobs: JobQueues,
    queues: Vec<Waiting>,
}

#[derive(Clone, Default)]
struct Waiting {
    requests: VecDeque<u32>,
    /// Requests of other jobs that came in since the last of this one did, or since its first one
    /// waits.
    passed: u32,
}

/// The commands that the firmware handles.
struct Handling {
    rules: Firmware,
    /// What each command takes more, drawn by the checker itself.
    jitter: Additions,
    /// Each with the instant at which it has to end, in ns.
    commands: VecDeque<(u64, u32)>,
}

impl Inside {
    /// The requests inside a device with these bounds; `None` without any bound.
    pub(super) fn new(promises: &Promises) -> Option<Self> {
        let Promises { queue_length: most, firmware, limits, .. } = *promises;
        (most.is_some() || firmware.is_some() || limits).then(|| Inside {
            most,
            requests: FxHashSet::default(),
            turns: None,
            limited: None,
            firmware: firmware.map(|rules| Handling {
                rules,
                jitter: rules.additions(promises.seed),
                commands: VecDeque::new(),
            }),
        })
    }

    /// Sets the rate limits of the plan's jobs, and the round robin between them.
    pub(super) fn take_turns(&mut self, plan: &Plan) {
        self.limited = Limited::of(plan);
        let by_turns =
            plan.front.places.is_some_and(|places| places.order == QueueOrder::RoundRobin);
        self.turns = by_turns.then(|| Turns {
            queues: vec![Waiting::default(); plan.jobs.weights.len()],
            jobs: plan.jobs.clone(),
        });
    }

    /// Takes an event of a request.
    pub(super) fn observe(&mut self, now_ns: u64, happened: Happened) {
        match happened {
            Happened::Arrived { request, job, size_bytes, .. } => {
                self.arrived(request, job, size_bytes);
            }
            Happened::Admitted { request } => self.admitted(now_ns, request),
            Happened::ComesIn { request } => self.comes_in(now_ns, request),
            Happened::Handles { request } => self.handles(now_ns, request),
            Happened::Handled { request, .. } => self.handled(now_ns, request),
            Happened::Crosses { request } => self.works(now_ns, request),
            Happened::Accepted { request, .. } => self.accepted(now_ns, request),
            Happened::Served { request, .. } => self.served(now_ns, request),
            _ => {}
        }
    }

    /// A request of this clone of a job arrived.
    fn arrived(&mut self, request: u32, clone: u16, bytes: u64) {
        let limited = self.limited.as_mut();
        let waits = limited.is_some_and(|limited| limited.arrived(request, clone, bytes));
        if let Some(turns) = self.turns.as_mut().filter(|_| !waits) {
            turns.arrived(request, usize::from(turns.jobs.of_clone[usize::from(clone)]));
        }
    }

    /// The limit of a job admits a request.
    fn admitted(&mut self, now_ns: u64, request: u32) {
        let Some(limited) = &mut self.limited else {
            panic!("at {now_ns} ns a request was admitted by a job without limit");
        };
        let job = limited.admitted(now_ns, request);
        if let Some(turns) = &mut self.turns {
            turns.arrived(request, job);
        }
    }

    /// The firmware handles the command of a request, it crosses the host's link, or a page of it
    /// was accepted: it has a place.
    fn works(&mut self, now_ns: u64, request: u32) {
        if !self.requests.insert(request) {
            return;
        }
        if let Some(limited) = &self.limited {
            limited.works(now_ns, request);
        }
        let inside = self.requests.len();
        if let Some(most) = self.most {
            assert!(
                inside <= most as usize,
                "at {now_ns} ns {inside} requests were in the device, which holds {most}"
            );
        }
    }

    /// A request takes a place.
    fn comes_in(&mut self, now_ns: u64, request: u32) {
        if let Some(turns) = &mut self.turns {
            turns.came_in(now_ns, request);
        }
    }

    /// The firmware begins with a command.
    fn handles(&mut self, now_ns: u64, request: u32) {
        self.works(now_ns, request);
        let Some(Handling { rules, jitter, commands }) = &mut self.firmware else {
            panic!("at {now_ns} ns a firmware that takes no time handled a command");
        };
        commands.push_back((now_ns + rules.command_ns + jitter.draw_ns(), request));
        let (busy, cores) = (commands.len(), rules.cores);
        assert!(
            busy <= cores as usize,
            "at {now_ns} ns the {cores} cores of the firmware handled {busy} commands"
        );
    }

    /// The firmware has handled a command.
    fn handled(&mut self, now_ns: u64, request: u32) {
        let Some(Handling { commands, .. }) = &mut self.firmware else { return };
        let at = commands.iter().position(|&(_, other)| other == request);
        let due_ns = at.and_then(|at| commands.remove(at)).map(|(until_ns, _)| until_ns);
        assert_eq!(due_ns, Some(now_ns), "the end of a command of the firmware");
    }

    /// A page of a request was accepted.
    fn accepted(&mut self, now_ns: u64, request: u32) {
        self.works(now_ns, request);
        if let Some(Handling { commands, .. }) = &self.firmware {
            let is_handled = commands.iter().all(|&(_, other)| other != request);
            assert!(is_handled, "at {now_ns} ns a page came before the command of its request");
        }
    }

    /// A request is done.
    fn served(&mut self, now_ns: u64, request: u32) {
        // No page of a trim of parts of pages is accepted.
        self.works(now_ns, request);
        self.requests.remove(&request);
    }
}

impl Turns {
    /// A request waits for its job's turn.
    fn arrived(&mut self, request: u32, job: usize) {
        let queue = &mut self.queues[job];
        if queue.requests.is_empty() {
            queue.passed = 0;
        }
        queue.requests.push_back(request);
    }

    /// Requests of each job come in in order, and while one waits, the other jobs come in at most
    /// as many times as their weights add up to.
    fn came_in(&mut self, now_ns: u64, request: u32) {
        let first = |queue: &Waiting| queue.requests.front() == Some(&request);
        let Some(job) = self.queues.iter().position(first) else {
            panic!("at {now_ns} ns a request came in before an older one of its job");
        };
        self.queues[job].requests.pop_front();
        self.queues[job].passed = 0;
        let all: u32 = self.jobs.weights.iter().sum();
        for (other, queue) in self.queues.iter_mut().enumerate() {
            if other == job || queue.requests.is_empty() {
                continue;
            }
            queue.passed += 1;
            let most = all - self.jobs.weights[other];
            assert!(
                queue.passed <= most,
                "at {now_ns} ns {} requests of other jobs have come in while one of job {other} \
                 waited, and their turns are of {most}",
                queue.passed
            );
        }
    }
}
