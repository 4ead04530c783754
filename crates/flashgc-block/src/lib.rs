//! A simulated drive that keeps the data it is given. It takes reads, writes, trims and flushes as
//! they come.
//!
//! The engine decides where each page lies. The data lies in *physical* pages ([`pages`]): a write
//! puts it into the page that the engine took, a copy of a collection moves it from page to page,
//! an erase discards it, and a read returns the page that the translation layer names ([`path`]).
//! So a mistake of the translation layer or of a collection returns wrong data, as in a drive.
//!
//! A store outlives its server: each page that is programmed has a record next to its data, and the
//! map is rebuilt from the records ([`recovery`]) after a stop and after a loss of power alike.
//!
//! Nothing here knows of a network: `flashgc-nbdkit` serves a [`Drive`] to clients.

mod buffered;
mod capture;
pub mod drive;
mod engine;
mod head;
mod kept;
mod lateness;
mod layout;
pub mod medium;
mod opening;
pub mod pages;
pub mod path;
mod places;
pub mod power;
mod real_time;
mod record;
pub mod recovery;
mod sealed;
mod store;
mod tables;
mod watching;

pub use capture::Capture;
pub use drive::{Drive, DriveError, Opening, Time};
pub use engine::Engine;
pub use opening::{Backing, Making, cut, open};
pub use store::{StoreError, errno_of};
