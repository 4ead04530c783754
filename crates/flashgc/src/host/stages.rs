//! The stages that requests and their pages pass on their way, each with at most one pending event.
//!
//! A stage is a file of this room, a row of [`Stage`] and one in each function here. Requests pass
//! the link and the firmware as they come in (`crossings.rs`); page operations pass the write
//! buffer once they are next on their page.

use super::Host;
use crate::context::Context;
use crate::plan::Stage;
use crate::verify::Watch;

/// What goes on when a stage has ended something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Requests, whose pages may be placed.
    Requests,
    /// Page operations that were [released](Host::next_released).
    Operations,
}

impl Host {
    /// A stage has ended something.
    pub fn stage_ended<W: Watch>(&mut self, number: u8, cx: &mut Context<'_, W>) -> Passed {
        match Stage::ALL[usize::from(number)] {
            Stage::Link => self.crossing_ended(cx),
            Stage::Firmware => self.command_handled(cx),
            Stage::Buffer => {
                self.access_ended(cx);
                return Passed::Operations;
            }
        }
        Passed::Requests
    }

    /// The operations that a stage released have been placed: it takes the next.
    pub fn stage_goes_on<W: Watch>(&mut self, number: u8, cx: &mut Context<'_, W>) {
        match Stage::ALL[usize::from(number)] {
            Stage::Link | Stage::Firmware => {}
            Stage::Buffer => self.access_next(cx),
        }
    }

    /// An operation is next on its page: returns whether a stage holds it, or has served it.
    #[inline]
    pub fn stage_takes<W: Watch>(&mut self, op: u32, cx: &mut Context<'_, W>) -> bool {
        self.buffer_takes(op, cx)
    }
}
