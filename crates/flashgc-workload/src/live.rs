//! Requests that come from outside while the simulation runs, each when its caller has one.
//!
//! They wait here in order of time until the simulation takes them. It numbers them in this order,
//! and their callers identify them by tags.

use super::{HostRequest, Source, SourceError};
use std::collections::VecDeque;

/// A request that the simulation has not taken yet.
#[derive(Clone, Copy)]
struct Waiting {
    request: HostRequest,
    tag: u64,
}

/// The tags of the requests that the simulation has taken, by number.
#[derive(Clone, Default)]
struct Tags {
    /// The number of the first.
    first: u64,
    /// None of a request that is done.
    tags: VecDeque<Option<u64>>,
}

/// The requests that the simulation has not taken yet, in order of time, and the tags of those
/// that it has.
#[derive(Clone, Default)]
pub struct Live {
    waiting: VecDeque<Waiting>,
    /// Later ones stay here, in ns.
    until_ns: u64,
    has_ended: bool,
    taken: Tags,
}

impl Live {
    /// A request comes at its time, after all others of this time.
    pub fn push(&mut self, request: HostRequest, tag: u64) {
        let is_last = self.waiting.back().is_none_or(|last| last.request.at_ns <= request.at_ns);
        let waiting = Waiting { request, tag };
        if is_last {
            return self.waiting.push_back(waiting);
        }
        let at = self.waiting.partition_point(|other| other.request.at_ns <= request.at_ns);
        self.waiting.insert(at, waiting);
    }

    /// The simulation may take the requests up to and with this time, in ns.
    pub fn opens_until(&mut self, until_ns: u64) {
        self.until_ns = until_ns;
    }

    /// The time of the next request, in ns.
    pub fn next_ns(&self) -> Option<u64> {
        self.waiting.front().map(|next| next.request.at_ns)
    }

    /// Requests up to and with this time.
    pub fn count_until(&self, until_ns: u64) -> usize {
        self.waiting.partition_point(|waiting| waiting.request.at_ns <= until_ns)
    }

    /// Removes requests of a kind up to and with this time, in their order.
    pub fn remove(
        &mut self,
        until_ns: u64,
        is_one: impl Fn(&HostRequest) -> bool,
        mut removed: impl FnMut(&HostRequest, u64),
    ) {
        let is_removed = |one: &Waiting| one.request.at_ns <= until_ns && is_one(&one.request);
        for one in self.waiting.iter().filter(|one| is_removed(one)) {
            removed(&one.request, one.tag);
        }
        self.waiting.retain(|one| !is_removed(one));
    }

    /// The simulation gives the last requests back that it has taken, in their order.
    pub fn give_back(&mut self, requests: impl Iterator<Item = HostRequest>) {
        let requests: Vec<HostRequest> = requests.collect();
        for request in requests.into_iter().rev() {
            let tag = self.taken.tags.pop_back().flatten().expect("a request that was taken");
            self.waiting.push_front(Waiting { request, tag });
        }
    }

    /// Takes the tag of a request that is done, by its number.
    pub fn tag_of(&mut self, number: u64) -> u64 {
        let Tags { first, tags } = &mut self.taken;
        let tag = tags[(number - *first) as usize].take().expect("a request is done once");
        while let Some(None) = tags.front() {
            tags.pop_front();
            *first += 1;
        }
        tag
    }

    /// No further request comes.
    pub fn end(&mut self) {
        self.has_ended = true;
        self.until_ns = u64::MAX;
    }

    fn take(&mut self) -> Option<HostRequest> {
        if self.next_ns()? > self.until_ns {
            return None;
        }
        let Waiting { request, tag } = self.waiting.pop_front()?;
        self.taken.tags.push_back(Some(tag));
        Some(request)
    }
}

impl Source for Live {
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        Ok(self.take())
    }

    fn draw(&mut self, room: &mut [HostRequest]) -> (usize, Option<Result<(), SourceError>>) {
        for (count, place) in room.iter_mut().enumerate() {
            match self.take() {
                Some(request) => *place = request,
                None => return (count, None),
            }
        }
        (room.len(), None)
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}
