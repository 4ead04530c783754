//! All tests of the crate in one program, so that it is linked once.

mod binary;
mod describing;
mod fgt;
mod merging;
mod reading;
mod real_traces;
mod robust;
mod round_trip;
