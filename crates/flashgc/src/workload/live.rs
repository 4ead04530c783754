//! Requests that come from outside while the simulation runs, each when its caller has one.

use super::{HostRequest, Source, SourceError};
use std::collections::VecDeque;

/// The requests that have come and that the simulation has not taken yet, in order of time.
#[derive(Default)]
pub struct Live {
    queue: VecDeque<HostRequest>,
    has_ended: bool,
}

impl Live {
    /// A request comes.
    pub fn push(&mut self, request: HostRequest) {
        self.queue.push_back(request);
    }

    /// No further request comes.
    pub fn end(&mut self) {
        self.has_ended = true;
    }
}

impl Source for Live {
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        Ok(self.queue.pop_front())
    }

    fn draw(&mut self, room: &mut [HostRequest]) -> (usize, Option<Result<(), SourceError>>) {
        let count = room.len().min(self.queue.len());
        for (place, request) in room.iter_mut().zip(self.queue.drain(..count)) {
            *place = request;
        }
        (count, None)
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}
