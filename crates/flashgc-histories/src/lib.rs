//! Random histories of the engine: drawn, run under rules that hold for every run, and shrunk
//! where one does not.
//!
//! A [`history`] is a configuration, as `flashgc run` takes it. [`draw`] makes legal ones over all
//! choices; [`rules`] runs each in several ways that must agree; [`shrink`] removes the keys that a
//! failure does not need. The program (`make histories`) does so until its time is over.

pub mod choices;
pub mod coverage;
pub mod draw;
mod given;
pub mod history;
pub mod rules;
pub mod run;
pub mod shrink;
