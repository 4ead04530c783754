//! The slots of a scheme, a file for each: its choices, their keys, and what they need of the
//! device and of the choices of other slots.

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
