//! The slot *copy*: how valid pages are moved.
//!
//! A mode is one file in this folder, which implements [`CopyMode`], and one line in each list of
//! this file: the modules, [`CopyChoice`] and `in_use`. Its word and its keys for users are rows in
//! `config::slots::copy`.

mod bus;
mod copyback;
mod instant;
mod mode;
mod parallel;
mod stripe;

use crate::flash::Op;
use serde::Serialize;

pub use bus::Bus;
pub use copyback::Copyback;
pub use instant::Instant;
pub use mode::{CopyMode, Reach};
pub use parallel::{CopyPath, ListOf, Parallel};
pub use stripe::Stripe;

/// The mode in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyChoice {
    /// Read to the controller and written back over the bus.
    Bus(#[serde(skip)] Bus),
    /// Inside the plane, without the bus.
    Copyback(Copyback),
    /// Inside the plane, in no time.
    Instant(#[serde(skip)] Instant),
    /// Several pages of a plane in parallel, one in each of its data registers.
    Parallel(Parallel),
    /// Over the bus, where planes share their blocks.
    #[serde(rename = "bus")]
    Stripe(#[serde(skip)] Stripe),
}

/// Asks the mode in use, without indirection.
macro_rules! in_use {
    ($choice:ident.$question:ident()) => {
        match $choice {
            CopyChoice::Bus(mode) => mode.$question(),
            CopyChoice::Copyback(mode) => mode.$question(),
            CopyChoice::Instant(mode) => mode.$question(),
            CopyChoice::Parallel(mode) => mode.$question(),
            CopyChoice::Stripe(mode) => mode.$question(),
        }
    };
}

/// The answers of [`CopyMode`], of the mode in use.
impl CopyChoice {
    /// See [`CopyMode::reach`].
    #[inline(always)]
    pub fn reach(self) -> Reach {
        in_use!(self.reach())
    }

    /// See [`CopyMode::step_op`].
    #[inline(always)]
    pub fn step_op(self) -> Op {
        in_use!(self.step_op())
    }

    /// See [`CopyMode::read_op`].
    #[inline(always)]
    pub fn read_op(self) -> Op {
        in_use!(self.read_op())
    }

    /// See [`CopyMode::program_op`].
    #[inline(always)]
    pub fn program_op(self) -> Op {
        in_use!(self.program_op())
    }

    /// See [`CopyMode::page_op`].
    #[inline(always)]
    pub fn page_op(self) -> Op {
        in_use!(self.page_op())
    }

    /// See [`CopyMode::parity`].
    #[inline(always)]
    pub fn parity(self) -> bool {
        in_use!(self.parity())
    }

    /// See [`CopyMode::at_once`].
    #[inline(always)]
    pub fn at_once(self) -> u32 {
        in_use!(self.at_once())
    }

    /// See [`CopyMode::takes_time`].
    #[inline(always)]
    pub fn takes_time(self) -> bool {
        in_use!(self.takes_time())
    }

    /// See [`CopyMode::lists_by_block`].
    #[inline(always)]
    pub fn lists_by_block(self) -> bool {
        in_use!(self.lists_by_block())
    }

    /// Whether copies go to other units.
    #[inline(always)]
    pub fn is_global(self) -> bool {
        self.reach() == Reach::Units
    }

    /// Whether a collection works in all units of a block whose planes share it.
    #[inline(always)]
    pub fn is_shared(self) -> bool {
        self.reach() == Reach::Lanes
    }

    /// Whether a copy is read in one unit and then waits to be programmed, maybe in another.
    #[inline(always)]
    pub fn is_sent(self) -> bool {
        matches!(self.reach(), Reach::Units | Reach::Lanes)
    }

    /// Whether copies stay in their plane's registers and need the bus for commands only.
    #[inline(always)]
    pub fn stays_in_plane(self) -> bool {
        self.reach() == Reach::Plane
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports and result hashes contain this form.
    #[test]
    fn a_mode_is_written_as_its_word_with_its_settings_below() {
        let written = |choice: CopyChoice| serde_json::to_string(&choice).expect("JSON");
        assert_eq!(written(CopyChoice::Bus(Bus)), r#""bus""#);
        assert_eq!(written(CopyChoice::Instant(Instant)), r#""instant""#);
        let copyback = CopyChoice::Copyback(Copyback { parity: true });
        assert_eq!(written(copyback), r#"{"copyback":{"parity":true}}"#);
        let (path, list) = (CopyPath::Global, ListOf::Extent);
        let parallel = Parallel { workers: 4, parity: false, path, list };
        assert_eq!(
            written(CopyChoice::Parallel(parallel)),
            r#"{"parallel":{"workers":4,"parity":false,"path":"global","list":"extent"}}"#
        );
    }

    #[test]
    fn the_operations_of_a_mode_are_those_of_its_path() {
        let parallel = |path| {
            CopyChoice::Parallel(Parallel { workers: 2, parity: false, path, list: ListOf::Block })
        };
        let copyback = CopyChoice::Copyback(Copyback { parity: false });
        let ops =
            |mode: CopyChoice| (mode.step_op(), mode.read_op(), mode.program_op(), mode.page_op());
        let in_plane = (Op::Copyback, Op::ReadRegisters, Op::ProgramRegisters, Op::Copyback);
        assert_eq!(ops(copyback), in_plane);
        assert_eq!(ops(parallel(CopyPath::Local)), in_plane);
        let bus = CopyChoice::Bus(Bus);
        assert_eq!(ops(bus), (Op::CopyOverBus, Op::Read, Op::Program, Op::CopyOverBus));
        let global = parallel(CopyPath::Global);
        assert_eq!(ops(global), (Op::Read, Op::Read, Op::Program, Op::CopyOverBus));
        assert_eq!(ops(CopyChoice::Stripe(Stripe)), ops(global));
        assert!(global.is_global() && !global.stays_in_plane() && !bus.is_global());
    }
}
