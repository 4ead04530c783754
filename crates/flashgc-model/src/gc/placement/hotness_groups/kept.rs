//! The state that is saved with a drive: which pages are hot, and the block groups.

use super::Policy;
use crate::gc::placement::State;
use std::slice::Iter;

/// The state, for users.
pub const STATE: State = State {
    by: "HotnessGroups",
    name: "hotness counters",
    without: "without known hot pages",
};

/// Appends the state to these numbers.
pub fn keep(policy: &Policy, numbers: &mut Vec<u32>) {
    policy.hotness.keep(numbers);
    numbers.extend(&policy.drawn);
    policy.planes.iter().for_each(|groups| groups.keep(numbers));
}

/// Takes it from the front of these numbers. The groups have the numbers of erased sub-blocks of
/// the drive.
pub fn take_kept(policy: &mut Policy, numbers: &mut Iter<'_, u32>) -> Option<()> {
    policy.hotness.take_kept(numbers)?;
    for drawn in &mut policy.drawn {
        *drawn = *numbers.next().filter(|&&block| block < policy.blocks)?;
    }
    policy.planes.iter_mut().try_for_each(|groups| groups.take_kept(numbers))
}
