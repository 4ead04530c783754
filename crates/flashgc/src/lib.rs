//! flashgc: a discrete-event simulator of flash storage for the study of garbage collection.
//!
//! A run is `Config` (as written) -> `Plan` (checked, derived) -> `Sim` -> `Report`. Nothing in
//! this crate reads a clock, the environment or a file, and nothing depends on them: the same
//! input gives the same bytes out, on any machine.

pub mod arbiter;
pub mod background;
pub mod collect;
pub mod context;
pub mod host;
pub mod measure;
pub mod operation;
pub mod owner;
pub mod report;
pub mod session;
pub mod sim;
pub mod store;

pub use flashgc_model::{allocation, device, drive, event, flash, ftl, gc, ids, memory, plan, rng};
pub use flashgc_setup as config;
pub use flashgc_watch::{stats, verify};
pub use flashgc_workload as workload;
pub use session::component::{self, Component};
