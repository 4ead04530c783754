//! flashgc: a discrete-event simulator of flash storage for the study of garbage collection.
//!
//! A run is `Config` (as written) -> `Plan` (checked, derived) -> `Sim` -> `Report`. Nothing in
//! this crate reads a clock, the environment or a file, and nothing depends on them: the same
//! input gives the same bytes out, on any machine.

pub mod allocation;
pub mod arbiter;
pub mod background;
pub mod collect;
pub mod config;
pub mod context;
pub mod device;
pub mod drive;
pub mod event;
pub mod flash;
pub mod ftl;
pub mod gc;
pub mod host;
pub mod ids;
pub mod measure;
pub mod memory;
pub mod operation;
pub mod owner;
pub mod plan;
pub mod report;
pub mod rng;
pub mod session;
pub mod sim;
pub mod stats;
pub mod store;
pub mod verify;
pub mod workload;

pub use session::component::{self, Component};
