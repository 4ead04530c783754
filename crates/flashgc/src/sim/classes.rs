//! Classes: pages go where placement puts them by what it knows of them.

use super::Sim;
use crate::ftl::{Parity, Stream, Taken};
use crate::ids::{Lpn, PlaneId};
use crate::verify::Watch;

impl<W: Watch> Sim<W> {
    /// The stream of a write by the host; a write of a page that holds data is an update.
    #[inline(never)]
    pub(super) fn stream_of_write(&mut self, lpn: Lpn) -> Stream {
        let is_update = self.ftl.map.ppn_of(lpn).is_some();
        match &mut self.gc.placement {
            Some(placement) => Stream::Class(placement.class_of_write(lpn, is_update)),
            None => Stream::Host,
        }
    }

    /// The stream of a page that a job moves.
    #[inline(always)]
    pub(super) fn stream_of_copy(&self, lpn: Lpn) -> Stream {
        match &self.gc.placement {
            None => Stream::Gc,
            Some(placement) => Stream::CopyOfClass(placement.class_of_copy(lpn)),
        }
    }

    /// Opens the erased block that placement chooses for a class. At the reserve, which is for
    /// copies, a page goes to the nearest class that has one open.
    #[cold]
    pub(super) fn take_from_chosen(&mut self, plane: PlaneId, stream: Stream) -> Option<Taken> {
        let (class, is_copy) = match stream {
            Stream::Class(class) => (class, false),
            Stream::CopyOfClass(class) => (class, true),
            Stream::Host | Stream::Gc => return None,
        };
        let frontiers = &mut self.ftl.frontiers;
        if !is_copy && !frontiers.is_above_reserve(plane) {
            let nearest = Stream::Class(frontiers.class_with_room(plane, class)?);
            return frontiers.take(&self.plan.geometry, plane, nearest, Parity::Any);
        }
        let candidates = candidates!(self);
        let placement = self.gc.placement.as_mut()?;
        let chosen = placement.choose(plane, class, &self.ftl, &candidates);
        let block = chosen.or_else(|| self.ftl.frontiers.free_list(plane).next())?;
        Some(self.ftl.frontiers.take_chosen(&self.plan.geometry, plane, class, block))
    }
}
