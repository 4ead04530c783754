//! Programs whose data the controller has.

use super::{Frontier, Frontiers, Parity, Stream, Taken};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId, Ppn};

impl Frontiers {
    /// Programs of a plane between the two passes of one; 0 where programs have one pass.
    pub fn lag(&self) -> u32 {
        self.rules.lag
    }

    /// The next page of each program that is begun.
    pub fn next_of_begun(&self, program_slots: u32) -> impl Iterator<Item = Ppn> + '_ {
        let own = self.frontiers.iter().filter(|own| own.next < own.end).map(|own| own.next);
        let started = self.started.iter().flatten().map(|open| open.next);
        own.chain(started).filter(move |next| !next.is_multiple_of(program_slots)).map(Ppn)
    }

    /// The slots of a stream's next program that are taken: 0 where none is begun.
    #[inline]
    pub fn begun(&self, geometry: &Geometry, plane: PlaneId, stream: Stream) -> u32 {
        let Frontier { next, end, .. } = self.frontiers[self.index(plane, stream)];
        let started = || self.started[plane.index()].front().map_or(0, |open| open.next);
        let next = if next < end { next } else { started() };
        next % geometry.shape.program_slots
    }

    /// Hands out the next slot of a program that is begun in a plane: of this stream, or of any
    /// open block.
    pub fn take_begun(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Option<Stream>,
    ) -> Option<Taken> {
        if let Some(stream) = stream {
            let is_begun = self.begun(geometry, plane, stream) > 0;
            return is_begun.then(|| self.take(geometry, plane, stream, Parity::Any)).flatten();
        }
        let slots = geometry.shape.program_slots;
        let first = plane.index() * self.streams;
        let mut own = self.frontiers[first..first + self.streams].iter_mut();
        let own = own.find(|own| own.next < own.end && !own.next.is_multiple_of(slots));
        let started = &mut self.started[plane.index()];
        let at = started.iter().position(|open| !open.next.is_multiple_of(slots));
        let (ppn, is_full) = match (own, at) {
            (Some(own), _) => (Ppn(own.hand_out()), own.next == own.end),
            (None, Some(at)) => {
                let open = &mut started[at];
                let end = geometry.first_page(open.block).0 + geometry.data_pages_of(open.block);
                open.next += 1;
                (Ppn(open.next - 1), open.next == end)
            }
            (None, None) => return None,
        };
        let filled = if is_full { geometry.block_of(ppn) } else { BlockId::NONE };
        started.retain(|open| open.block != filled);
        self.one_is_taken(plane);
        Some(Taken { ppn, filled, opened: BlockId::NONE })
    }

    /// Whether an open block without a frontier has its next page at the start of a program.
    pub fn has_whole_started(&self, plane: PlaneId, program_slots: u32) -> bool {
        self.whole_started(plane, program_slots).is_some()
    }

    fn whole_started(&self, plane: PlaneId, program_slots: u32) -> Option<usize> {
        self.started[plane.index()].iter().position(|open| open.next.is_multiple_of(program_slots))
    }

    /// A full frontier continues with a whole program: in an open block, or in an erased one.
    /// Returns the block, and whether it was erased.
    pub fn continue_whole(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
    ) -> Option<(BlockId, bool)> {
        let open = self.whole_started(plane, geometry.shape.program_slots);
        let open = open.and_then(|at| self.started[plane.index()].remove(at));
        self.begin_next(geometry, plane, self.index(plane, stream), open)
    }

    /// Whether a slot that was written belongs to a program that is begun, or that has its fine
    /// pass to come: the controller has its data.
    pub fn is_begun(&self, geometry: &Geometry, slot: Ppn) -> bool {
        let (slots, lanes) = (geometry.shape.program_slots, geometry.lanes());
        let block_end =
            geometry.first_page(geometry.block_of(slot)).0 + geometry.shape.pages_per_block;
        // The last program of its plane makes all fine passes that are left.
        let last = block_end / slots - lanes + geometry.lane_of(slot);
        let due = (slot.0 / slots + self.rules.lag * lanes).min(last);
        let is_it = |next: u32| slot.0 < next && next / slots <= due;
        let plane = geometry.plane_of(slot).index();
        let own = &self.frontiers[plane * self.streams..(plane + 1) * self.streams];
        let started = &self.started[plane];
        // There are mostly none, and to walk a queue costs more than this question.
        own.iter().any(|own| own.next < own.end && is_it(own.next))
            || !started.is_empty() && started.iter().any(|open| is_it(open.next))
    }
}
