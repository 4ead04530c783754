//! A queue for each job, served by turns: weighted round robin.
//!
//! The queue whose turn it is gives as many requests as its weight says, or all that it has, and
//! the turn passes to the next queue that has any.

use crate::plan::JobQueues;
use crate::workload::HostRequest;
use std::collections::VecDeque;

/// The queues, and whose turn it is.
#[derive(Clone)]
pub(super) struct Turns {
    of_clone: Vec<u16>,
    queues: Vec<Queue>,
    turn: usize,
    /// Requests that the queue may still give in this turn.
    left: u32,
    waiting: usize,
}

#[derive(Clone)]
struct Queue {
    weight: u32,
    requests: VecDeque<(u32, HostRequest)>,
}

impl Turns {
    /// Empty queues. The first job has the first turn.
    pub(super) fn new(jobs: &JobQueues) -> Self {
        let queue = |&weight: &u32| Queue { weight, requests: VecDeque::new() };
        Turns {
            of_clone: jobs.of_clone.clone(),
            queues: jobs.weights.iter().map(queue).collect(),
            turn: 0,
            left: jobs.weights.first().copied().unwrap_or(1),
            waiting: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// A request of this clone of a job waits.
    pub(super) fn add(&mut self, id: u32, request: HostRequest, clone: u16) {
        let job = self.of_clone[usize::from(clone)];
        self.queues[usize::from(job)].requests.push_back((id, request));
        self.waiting += 1;
    }

    /// The next request in turn.
    pub(super) fn next(&mut self) -> Option<(u32, HostRequest)> {
        if self.waiting == 0 {
            return None;
        }
        while self.left == 0 || self.queues[self.turn].requests.is_empty() {
            self.turn = (self.turn + 1) % self.queues.len();
            self.left = self.queues[self.turn].weight;
        }
        self.left -= 1;
        self.waiting -= 1;
        self.queues[self.turn].requests.pop_front()
    }
}
