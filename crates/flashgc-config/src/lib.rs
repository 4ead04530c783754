//! Layered TOML configuration that remembers where every value came from.
//!
//! The life of a configuration:
//! 1. Each text (a device preset, a run file) becomes a [`Tree`] by [`Tree::parse`].
//! 2. Trees are laid over one another by [`Tree::overlay`]; single values by [`Tree::set`].
//!    A layer takes out what it excludes below it ([`Tree::give_way`]); [`Unset`] takes out a key.
//! 3. A [`Reader`] takes typed values out. A wrong value is noted in the [`Sink`], and reading
//!    goes on, so that a person sees all mistakes at once.
//! 4. [`Reader::finish`] names every key that nobody asked for, with the nearest valid one.
//! 5. [`Sink::into_diagnostics`] hands over the [`Diagnostics`], which print themselves.
//!
//! There are no files and no environment here: text goes in, values come out.

mod decimal;
mod diagnostic;
mod layer;
mod parse;
mod quantity;
mod reader;
mod set;
mod sink;
mod source;
mod suggest;
mod tree;
pub mod units;

pub use diagnostic::{Diagnostic, Diagnostics, Place};
pub use layer::{Exclusive, Unset};
pub use reader::Reader;
pub use sink::Sink;
pub use suggest::nearest;
pub use tree::Tree;
pub use units::{Rate, Share, ShareOf, Threshold};
