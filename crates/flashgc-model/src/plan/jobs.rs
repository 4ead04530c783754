//! The jobs of a workload, as the device tells them apart.

/// The jobs of a workload, as the device tells them apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobQueues {
    /// The job of each clone.
    pub of_clone: Vec<u16>,
    /// Of each job: the requests that come in from its queue in its turn.
    pub weights: Vec<u32>,
    /// Of each job: the most that is admitted from its queue.
    pub limits: Vec<Limit>,
}

impl JobQueues {
    /// Whether any job has a limit.
    pub fn has_limits(&self) -> bool {
        self.limits.iter().any(|limit| !limit.is_none())
    }
}

/// The most that is admitted from the queue of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Limit {
    /// Requests per second.
    pub iops: Option<u64>,
    /// Bytes per time: a number of ns, and the bytes in it.
    pub ns_per_bytes: Option<(u64, u64)>,
}

impl Limit {
    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        *self == Limit::default()
    }

    /// What a request of this size takes of each limit, with the parts of a ns that it is in.
    pub fn costs(&self, bytes: u64) -> [(u128, u128); 2] {
        let by_request = self.iops.map_or((0, 1), |iops| (1_000_000_000, u128::from(iops)));
        let by_bytes = self.ns_per_bytes.map_or((0, 1), |(ns, of_bytes)| {
            (u128::from(bytes) * u128::from(ns), u128::from(of_bytes))
        });
        [by_request, by_bytes]
    }
}
