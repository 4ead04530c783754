//! All tests of the crate in one program, so that it is linked once.

mod fuzz;
mod layers;
mod reader;
mod render;
mod units;
