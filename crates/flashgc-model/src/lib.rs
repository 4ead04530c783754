//! The model of a drive: its flash, the tables of its translation layer, and the policies of
//! collection.
//!
//! There are no requests here, and no order of events. The engine in the crate `flashgc` has the
//! loop, and these rooms under their names: `flashgc::gc` is [`gc`].

pub mod allocation;
pub mod device;
pub mod drive;
pub mod event;
pub mod flash;
pub mod ftl;
pub mod gc;
pub mod ids;
pub mod memory;
pub mod plan;
pub mod rng;
