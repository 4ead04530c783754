//! Layered TOML configuration that remembers where every value came from.
//!
//! The life of a configuration:
//! 1. Each text (a device preset, a run file) becomes a [`Tree`] by [`Tree::parse`].
//! 2. [`Tree::overlay`] lays one tree over another; [`Tree::set`] sets single values. A layer
//!    removes the keys that it excludes from the layers below ([`Tree::give_way`]); [`Unset`]
//!    removes a key.
//! 3. A [`Reader`] returns typed values. A wrong value is noted in the [`Sink`], and reading
//!    continues, so that the user sees all mistakes at once.
//! 4. [`Reader::finish`] names every key that was never read, with the nearest valid one.
//! 5. [`Sink::into_diagnostics`] returns the [`Diagnostics`], which print themselves.
//!
//! There are no files and no environment here: the input is text, the output is values.

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
