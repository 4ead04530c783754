//! The stages that requests and their pages pass on their way, each with at most one pending event.
//!
//! A stage is a file of this room, a row of [`Stage`] and one in each function here. Requests pass
//! the link and the firmware as they come in (`crossings.rs`); page operations pass the write
//! buffer once they are next on their page.

use super::Host;
use super::link::Direction;
use crate::context::Context;
use crate::plan::Stage;
use crate::verify::Watch;

/// The kind of work that continues behind a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Requests, whose pages may be placed.
    Requests,
    /// Page operations that were [released](Host::next_released).
    Operations,
}

/// How a stage was used.
#[derive(Clone, Copy, Debug)]
pub struct StageUse {
    /// Time in which it worked, in ns: of all that it does at once together.
    pub spent_ns: u64,
    /// The number of requests that it serves at once.
    pub at_once: u32,
}

impl Host {
    /// The use of a stage, where there is one and its time is counted.
    pub fn stage_use(&self, stage: Stage, now_ns: u64) -> Option<StageUse> {
        let (spent_ns, at_once) = match stage {
            Stage::Link | Stage::LinkIn | Stage::LinkOut => {
                (self.link.as_ref()?.spent(stage, now_ns)?, 1)
            }
            Stage::Firmware => self.firmware.as_ref()?.spent(now_ns),
            Stage::Buffer => return None,
        };
        Some(StageUse { spent_ns, at_once })
    }

    /// A stage has ended something.
    #[inline]
    pub fn stage_ended<W: Watch>(&mut self, number: u8, cx: &mut Context<'_, W>) -> Passed {
        match Stage::ALL[usize::from(number)] {
            Stage::Link | Stage::LinkIn => self.crossing_ended(Direction::In, cx),
            Stage::LinkOut => self.crossing_ended(Direction::Out, cx),
            Stage::Firmware => self.command_handled(cx),
            Stage::Buffer => {
                self.access_ended(cx);
                return Passed::Operations;
            }
        }
        Passed::Requests
    }

    /// The operations that a stage released have been placed: it takes the next.
    #[inline]
    pub fn stage_goes_on<W: Watch>(&mut self, number: u8, cx: &mut Context<'_, W>) {
        match Stage::ALL[usize::from(number)] {
            Stage::Link | Stage::LinkIn | Stage::LinkOut | Stage::Firmware => {}
            Stage::Buffer => self.access_next(cx),
        }
    }

    /// An operation is next on its page: returns whether a stage holds it, or has served it.
    #[inline]
    pub fn stage_takes<W: Watch>(&mut self, op: u32, cx: &mut Context<'_, W>) -> bool {
        self.buffer_takes(op, cx)
    }
}
