//! The configuration: from layers of text to a checked setup, with every error at once.
//!
//! Layers, the later over the earlier: the preset of the device and of the scheme, the file, the
//! assignments of the command line ([`stack`]). A layer removes the keys that it excludes from
//! those below ([`exclusive`]). Each table has a file here that reads it, and each slot of a scheme
//! has one in [`slots`]; [`derive`] calculates the values that follow from them together.

mod block_list;
mod derive;
mod device;
mod engine;
mod exclusive;
mod filler;
mod fit;
mod fitted;
mod gc;
mod given;
mod inputs;
mod precondition;
mod prepare;
pub mod presets;
mod renamed;
mod setup;
mod slots;
mod space;
mod spare;
mod sprandom;
mod stack;
mod tables_by_name;
mod workload;

pub use fit::fit;
pub use fitted::Fitted;
pub use gc::words_of;
pub use inputs::Inputs;
pub use precondition::{Fill, OverwriteWith, PreconditionPlan, Reads};
pub use prepare::prepare;
pub use setup::{Setup, hash_of};
pub use workload::{JobsWorkload, SyntheticWorkload, TracePlan, WorkloadPlan};
