//! The writes of such a workload for ever: how a drive is preconditioned.

use super::{Fitted, FittedPlan};
use crate::{HostOp, Overwrites, SourceError};
use flashgc_model::ids::Lpn;

/// Pages for preconditioning: the writes of the measured part, again and again, just as the writes
/// of a trace are replayed. If they were drawn anew, the order in which places were last written
/// would break where the measured part begins. A workload that never writes has the pages of its
/// reads overwritten.
pub struct FittedOverwrites {
    plan: FittedPlan,
    page_bytes: u64,
    seed: u64,
    requests: Fitted,
    writes_only: bool,
    next: u32,
    end: u32,
}

impl FittedOverwrites {
    /// On a drive with pages of this size.
    pub fn new(plan: &FittedPlan, page_bytes: u64, seed: u64) -> Self {
        let mut first = Fitted::new(plan, page_bytes, seed);
        // A workload whose length is an amount of writes has some.
        let writes_only = plan
            .requests
            .requests()
            .is_none_or(|requests| (0..requests).any(|_| first.next_request().op == HostOp::Write));
        FittedOverwrites {
            plan: plan.clone(),
            page_bytes,
            seed,
            requests: Fitted::new(plan, page_bytes, seed),
            writes_only,
            next: 0,
            end: 0,
        }
    }
}

impl Overwrites for FittedOverwrites {
    fn next(&mut self) -> Result<Lpn, SourceError> {
        while self.next == self.end {
            if self.requests.left == 0 {
                self.requests = Fitted::new(&self.plan, self.page_bytes, self.seed);
            }
            let request = self.requests.next_request();
            if request.op == HostOp::Write || !self.writes_only {
                self.next = request.first.0;
                self.end = request.first.0 + request.pages;
            }
        }
        self.next += 1;
        Ok(Lpn(self.next - 1))
    }
}
