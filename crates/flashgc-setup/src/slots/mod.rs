//! The slots of a scheme, a file for each: its choices, their keys, and their requirements on the
//! device and on the choices of other slots.

pub mod background;
pub mod blocking;
pub mod copy;
pub mod erase;
pub mod pacing;
pub mod placement;
pub mod preemption;
pub mod slot;
pub mod tokens;
pub mod trigger;
pub mod victim;
