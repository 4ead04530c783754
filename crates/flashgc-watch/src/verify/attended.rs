//! Requests from outside: the completed ones, with their times and the parts of their latencies.
//!
//! A request is named by its number in order of arrival, which its submitter can count too.

use super::blame::Parts;
use super::slab::entry;
use crate::stats::ByKind;
use flashgc_workload::HostOp;
use flashgc_workload::jobs::Tally;

/// A request that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its number in order of arrival, from 0.
    pub number: u64,
    /// Its operation.
    pub op: HostOp,
    /// The time of its end, in ns.
    pub at_ns: u64,
    /// From its arrival until then, in ns.
    pub latency_ns: u64,
    /// The parts of its latency, where latencies are split; only reads and writes have parts.
    pub parts: Option<Parts>,
}

/// A request under way.
#[derive(Clone, Copy, Default)]
struct UnderWay {
    number: u64,
    bytes: u64,
}

/// The requests of a tenant.
#[derive(Clone)]
struct Tenant {
    tally: Tally,
    latencies: ByKind,
    in_flight: u32,
    has_begun: bool,
}

/// The requests under way and those that are done.
#[derive(Clone, Default)]
pub struct Attended {
    /// Requests that have arrived.
    arrived: u64,
    /// By place in the slab of requests.
    under_way: Vec<UnderWay>,
    done: Vec<Done>,
    /// By number; empty without tenants.
    tenants: Vec<Tenant>,
}

impl Attended {
    /// Of tenants with these names.
    pub fn of_tenants(names: impl Iterator<Item = String>) -> Self {
        let tenant = |(number, name)| Tenant {
            tally: Tally::of(number, name),
            latencies: ByKind::default(),
            in_flight: 0,
            has_begun: false,
        };
        Attended { tenants: names.enumerate().map(tenant).collect(), ..Attended::default() }
    }

    /// A request of this many bytes came, of a tenant where there are any.
    #[inline]
    pub(super) fn arrived(&mut self, request: u32, tenant: u16, bytes: u64, now_ns: u64) {
        let number = self.arrived;
        *entry(&mut self.under_way, request, UnderWay::default()) = UnderWay { number, bytes };
        self.arrived += 1;
        if let Some(tenant) = self.tenants.get_mut(usize::from(tenant)) {
            tenant.arrived(now_ns);
        }
    }

    /// A request is done: its operation, its latency in ns, and the parts of it if there are any.
    #[inline]
    pub(super) fn served(
        &mut self,
        (request, tenant): (u32, u16),
        (op, latency_ns): (HostOp, u64),
        at_ns: u64,
        parts: Option<Parts>,
    ) {
        let UnderWay { number, bytes } = self.under_way[request as usize];
        self.done.push(Done { number, op, at_ns, latency_ns, parts });
        if let Some(tenant) = self.tenants.get_mut(usize::from(tenant)) {
            tenant.served(op, bytes, latency_ns, at_ns);
        }
    }

    /// The requests that are done since they were cleared, in their order.
    pub fn done(&mut self) -> &mut Vec<Done> {
        &mut self.done
    }

    /// The counts and the latencies of each tenant until now.
    pub fn tenants(&self) -> impl Iterator<Item = (Tally, ByKind)> + '_ {
        self.tenants.iter().map(|tenant| (tenant.tally.clone(), tenant.latencies.clone()))
    }
}

impl Tenant {
    fn arrived(&mut self, now_ns: u64) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.tally.begun_ns = now_ns;
        }
        self.in_flight += 1;
        self.tally.issued(self.in_flight);
    }

    fn served(&mut self, op: HostOp, bytes: u64, latency_ns: u64, now_ns: u64) {
        self.in_flight -= 1;
        self.tally.ended_ns = now_ns;
        self.tally.done(op, bytes, latency_ns);
        self.latencies.record(op, latency_ns);
    }
}
