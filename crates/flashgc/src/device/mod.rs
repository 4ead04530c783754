//! The device: geometry, timing, and the units and buses that do the work.
//!
//! The device knows operations as rows of phases (bus, array) and their origin: the host, or
//! garbage collection (`Worker`), whose array and bus time it keeps apart (`Spent`). It knows
//! nothing of logical pages, victims or policies.

pub mod bus;
pub mod geometry;
pub mod layers;
pub mod pools;
pub mod spent;
pub mod timing;
pub mod unit;

pub use bus::Bus;
pub use geometry::{Geometry, Level, Shape};
pub use layers::{LayerMap, LayerSpeed, LayerTimes};
pub use pools::Pools;
pub use spent::Spent;
pub use timing::{Summary, Suspend, Timing};
pub use unit::{Phase, Phases, Unit, Worker};
