//! Requests that were drawn before they come.
//!
//! The entries of tables that a request needs lie in no cache if the drive is large. So requests
//! are drawn in advance, which changes none of them: the entry of the map is asked for as a request
//! is drawn, and the accounts of the page that it will leave some requests later, when that entry
//! has come.

use crate::ids::Lpn;
use crate::plan::{Arrivals, Plan};
use crate::workload::{HostOp, HostRequest, Source, SourceError};

/// Requests that are drawn at once, when as many are left.
const BATCH: usize = 16;
/// Places for them.
const PLACES: usize = 2 * BATCH;
/// Requests between asking for the accounts that one needs, and that one.
const BETWEEN: usize = BATCH / 2;

/// Requests at each unit of a closed loop from which on one is queued behind another, as a rule.
const REQUESTS_AT_A_UNIT: u32 = 4;

/// The tables that a request needs.
pub trait Tables {
    /// Brings into the cache what depends on the number of a logical page alone.
    fn prefetch(&self, lpn: Lpn);

    /// Brings the accounts of the page that a logical page will leave into the cache.
    fn prefetch_old(&self, plan: &Plan, lpn: Lpn);
}

/// The requests of a source, some of them in advance.
#[derive(Clone)]
pub(super) struct Ahead {
    requests: Box<[HostRequest; PLACES]>,
    /// Requests handed out, and requests drawn.
    out: usize,
    drawn: usize,
    /// Whether accounts are asked for here. Where many requests wait in the queues of the units,
    /// the accounts of one are asked for as the request before it starts.
    needs_accounts: bool,
    /// How the source has ended.
    end: Option<Result<(), SourceError>>,
}

impl Ahead {
    /// Nothing drawn yet.
    pub(super) fn new(plan: &Plan) -> Self {
        let are_many = |depth| depth / REQUESTS_AT_A_UNIT >= plan.geometry.units;
        let needs_accounts = !matches!(plan.arrivals, Arrivals::Closed(depth) if are_many(depth));
        let none = HostRequest::from_bytes(0, HostOp::Read, 0, 0, 1);
        Ahead { requests: Box::new([none; PLACES]), out: 0, drawn: 0, needs_accounts, end: None }
    }

    /// The next request, or `None` at the end.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        source: &mut dyn Source,
        tables: &impl Tables,
        plan: &Plan,
    ) -> Result<Option<HostRequest>, SourceError> {
        let left = self.drawn - self.out;
        if left <= BATCH && self.end.is_none() {
            self.draw(source, tables);
        }
        if self.out == self.drawn {
            return self.ended();
        }
        if self.needs_accounts && left > BETWEEN {
            let later = &self.requests[(self.out + BETWEEN) % PLACES];
            tables.prefetch_old(plan, later.first);
        }
        let request = self.requests[self.out % PLACES];
        self.out += 1;
        Ok(Some(request))
    }

    /// Takes back the requests that were drawn and not handed out, in their order.
    pub(super) fn take_back(&mut self) -> impl Iterator<Item = HostRequest> {
        let from = std::mem::replace(&mut self.out, self.drawn);
        (from..self.drawn).map(|at| self.requests[at % PLACES])
    }

    #[inline(never)]
    fn draw(&mut self, source: &mut dyn Source, tables: &impl Tables) {
        // Batch after batch until the end, so that the places of one are contiguous.
        let from = self.drawn % PLACES;
        let room = &mut self.requests[from..PLACES.min(from + BATCH)];
        let count;
        (count, self.end) = source.draw(room);
        for request in &room[..count] {
            tables.prefetch(request.first);
        }
        self.drawn += count;
    }

    #[cold]
    fn ended(&self) -> Result<Option<HostRequest>, SourceError> {
        self.end.clone().unwrap_or(Ok(())).map(|()| None)
    }
}
