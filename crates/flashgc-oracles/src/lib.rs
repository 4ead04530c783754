//! Closed forms, and second programs of policies, that the results of the engine are compared with.
//!
//! They share no code with the engine but its random numbers, which a policy may draw.

pub mod chain;
pub mod closed_forms;
pub mod lifetime;
pub mod midas;
pub mod placement;
pub mod separation;
