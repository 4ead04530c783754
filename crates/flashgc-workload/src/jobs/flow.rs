//! Flows: jobs that keep their requests in proportion to each other. A clone waits while its share
//! of the requests of its flow is above its share of the weights.

use super::{FlowPlan, JobPlan, Span};

/// A clone that waits, with the entry by which it ends meanwhile.
struct Waiting {
    clone: u16,
    ends: Option<Entry>,
}

/// An entry in the order of clones: time, place, clone.
pub type Entry = (u64, u64, u16);

/// The clones of one flow that have not ended.
#[derive(Default)]
struct Flow {
    id: u32,
    weight: u64,
    requests: u64,
    waiting: Vec<Waiting>,
}

/// A clone in its flow.
#[derive(Clone, Copy)]
struct Member {
    flow: usize,
    weight: u64,
    requests: u64,
}

/// The flows of all jobs.
pub struct Flows {
    flows: Vec<Flow>,
    /// By clone.
    members: Vec<Option<Member>>,
}

impl Flows {
    /// The flows of these clones.
    pub fn new(jobs: &[JobPlan], spans: &[Span]) -> Self {
        let mut flows: Vec<Flow> = Vec::new();
        let member = |span: &Span| {
            let FlowPlan { id, weight } = jobs[span.job].flow?;
            let at = flows.iter().position(|flow| flow.id == id).unwrap_or_else(|| {
                flows.push(Flow { id, ..Flow::default() });
                flows.len() - 1
            });
            flows[at].weight += u64::from(weight);
            Some(Member { flow: at, weight: weight.into(), requests: 0 })
        };
        let members = spans.iter().map(member).collect();
        Flows { flows, members }
    }

    /// Whether a clone is above its share.
    pub fn holds(&self, clone: u16) -> bool {
        self.members[usize::from(clone)].is_some_and(|member| self.is_ahead(member))
    }

    fn is_ahead(&self, Member { flow, weight, requests }: Member) -> bool {
        let flow = &self.flows[flow];
        u128::from(requests) * u128::from(flow.weight)
            > u128::from(weight) * u128::from(flow.requests)
    }

    /// A clone waits, up to this entry if it has an end.
    pub fn wait(&mut self, clone: u16, ends: Option<Entry>) {
        if let Some(member) = self.members[usize::from(clone)] {
            self.flows[member.flow].waiting.push(Waiting { clone, ends });
        }
    }

    /// A clone waits no longer.
    pub fn forget(&mut self, clone: u16) {
        if let Some(member) = self.members[usize::from(clone)] {
            self.flows[member.flow].waiting.retain(|one| one.clone != clone);
        }
    }

    /// A clone has issued a request.
    pub fn issued(&mut self, clone: u16) {
        if let Some(member) = &mut self.members[usize::from(clone)] {
            member.requests += 1;
            self.flows[member.flow].requests += 1;
        }
    }

    /// A clone has ended: it is no longer a part of its flow, with all its requests.
    pub fn leave(&mut self, clone: u16) {
        if let Some(member) = self.members[usize::from(clone)] {
            let flow = &mut self.flows[member.flow];
            flow.weight -= member.weight;
            flow.requests -= member.requests;
            // Its flow stays, since others of it may wait.
            self.members[usize::from(clone)] = Some(Member { weight: 0, requests: 0, ..member });
        }
    }

    /// The clones of the flow of this one that wait no longer, each with the entry by which it
    /// would have ended.
    pub fn released(&mut self, clone: u16) -> Vec<(u16, Option<Entry>)> {
        let Some(Member { flow, .. }) = self.members[usize::from(clone)] else { return Vec::new() };
        let waiting = std::mem::take(&mut self.flows[flow].waiting);
        let (held, free): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|one| self.holds(one.clone));
        self.flows[flow].waiting = held;
        free.into_iter().map(|one| (one.clone, one.ends)).collect()
    }

    /// None waits any more.
    pub fn stop(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.waiting.clear());
    }
}
