//! A channel's bus: one transfer at a time, first come first served, never reserved in advance.

use super::Spent;
use crate::ids::UnitId;
use std::collections::VecDeque;

/// The bus of one channel.
#[derive(Default)]
pub struct Bus {
    /// The unit whose transfer is under way.
    pub holder: Option<UnitId>,
    /// Start of that transfer, in ns.
    pub since_ns: u64,
    /// Units that wait, in order of their requests.
    pub waiting: VecDeque<UnitId>,
    /// Time taken by transfers.
    pub spent: Spent,
}
