//! The targets of the fuzzers. Each target takes any bytes and must return: no panic, no endless
//! loop, no memory without bound, and no result that contradicts another one. cargo-fuzz calls them
//! (`fuzz/`), and so does a test, with every input of `inputs/`.

mod config;
mod drive;
mod fgt;
mod trace;

pub use config::config;
pub use drive::drive;
pub use fgt::fgt;
pub use trace::{detect, reader};

/// Takes any bytes.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: &[(&str, Target)] =
    &[("reader", reader), ("detect", detect), ("fgt", fgt), ("config", config), ("drive", drive)];
