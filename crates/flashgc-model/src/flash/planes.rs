//! Reads of single planes, where the planes of a unit read by themselves.
//!
//! 1. The first read takes the unit, which works for none of them alone.
//! 2. The planes read at times of their own, and each waits for the bus by itself: a reader runs a
//!    command as a unit does.
//! 3. The last read to end gives the unit back.

use super::{Class, Command, Flash, Kind, Moved, Phases};
use crate::device::Spent;
use crate::event::Events;
use crate::ids::UnitId;

impl<T: Copy> Flash<T> {
    /// Starts a read on a reader that rests. Its unit is free, or reads in other planes, and
    /// belongs to this owner meanwhile.
    pub fn start_in_plane(
        &mut self,
        reader: UnitId,
        command: Command<T>,
        of_unit: T,
        now_ns: u64,
        events: &mut Events,
    ) -> Moved<T> {
        let unit = self.unit_of_reader[reader.index() - self.reading.len()];
        let reading = &mut self.reading[unit.index()];
        *reading += 1;
        if *reading == 1 {
            let state = &mut self.units[unit.index()];
            debug_assert!(state.owner.is_none(), "unit {} works", unit.0);
            (state.owner, state.class) = (Some(of_unit), Class::Host);
            (state.phases, state.at, state.kind) = (Phases::new(), 0, Kind::Rest);
            (state.since_ns, state.waited) = (now_ns, Spent::default());
        }
        self.start(reader, command, now_ns, events)
    }

    /// The read of a reader has ended.
    pub fn ended_in_plane(&mut self, reader: UnitId, now_ns: u64) {
        let unit = self.unit_of_reader[reader.index() - self.reading.len()];
        let reading = &mut self.reading[unit.index()];
        *reading -= 1;
        if *reading == 0 {
            let state = &mut self.units[unit.index()];
            state.spent.add(false, now_ns - state.since_ns);
            state.owner = None;
        }
    }
}
