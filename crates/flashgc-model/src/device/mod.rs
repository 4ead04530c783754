//! The device as it is described: geometry, superblocks, timing, layers, page types, read errors,
//! failures, the order of service of the buses, and the pools of planes.

mod bus_order;
pub mod failures;
pub mod geometry;
pub mod kinds;
pub mod layers;
mod padding;
pub mod page_times;
pub mod pools;
pub mod read_errors;
mod readers;
pub mod spent;
pub mod superblocks;
pub mod timing;
mod views;

pub use bus_order::{BusOrder, BusRules};
pub use failures::{FailureAt, FailurePlan, FailureRules, Failures};
pub use geometry::is_one;
pub use geometry::{Geometry, Level, Shape};
pub use kinds::Kinds;
pub use layers::{LayerMap, LayerSpeed};
pub use page_times::{PageTimes, ReadTimes};
pub use pools::Pools;
pub use read_errors::{ErrorLaw, LostPage, ReadErrors, ReadRetry, RetryTimes};
pub use spent::Spent;
pub use superblocks::Superblock;
pub use timing::{HostPrograms, Passes, Summary, Suspend, Timing};
