//! The drive as a component of another simulator, for C and C++: `include/flashgc.h` is made from
//! this crate, and the manual is docs/component.md.
//!
//! Handles are numbers. A table knows those that are in use, so that any other number is an error
//! and no more. No panic leaves a function: it is an error of the component that it is about.
//!
//! A function returns a status, and [`flashgc_error`] has the text of an error, as the command
//! line would.

#![allow(non_camel_case_types, reason = "the names are those of C")]

mod calls;
mod guard;
mod inputs;
mod lock;
mod results;
mod table;
mod types;

pub use calls::*;
pub use results::*;
pub use types::*;
