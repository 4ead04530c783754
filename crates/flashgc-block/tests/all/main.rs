//! The drive as its clients see it: every byte that is read is the one that was written last.

mod captures;
mod common;
mod cuts;
mod failing;
mod faults;
mod hunts;
mod model;
mod real_time;
mod stores;
mod versions;
mod virtual_time;
