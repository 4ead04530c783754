//! The state of a placement that is saved with a drive: the class of each open block, and what the
//! placement itself keeps.

use super::{Classes, Placement, Policy, STATES, Settings};
use crate::device::Geometry;
use crate::drive::{DriveFault, Kept};
use crate::ftl::frontier::Frontiers;
use crate::gc::windows::Costs;
use crate::ids::PlaneId;

/// The state to save with a drive that is taken out of a simulation of this scheme.
pub fn keep(
    placement: &Policy,
    settings: &Settings,
    costs: Costs,
    geometry: &Geometry,
    frontiers: &Frontiers,
) -> Option<Kept> {
    let by = settings.kept_by(costs)?;
    let planes = (0..geometry.planes).map(PlaneId);
    let mut numbers: Vec<u32> = planes.map(|plane| frontiers.open_classes(plane)).collect();
    placement.keep(&mut numbers);
    Some(Kept { by, numbers })
}

/// Continues from the saved state. The blocks of the drive are known, and its open ones wait for
/// their classes.
pub fn take_kept(
    placement: &mut Policy,
    kept: &Kept,
    geometry: &Geometry,
    frontiers: &mut Frontiers,
) -> Result<(), DriveFault> {
    let mut numbers = kept.numbers.iter();
    let mut take = || {
        for plane in (0..geometry.planes).map(PlaneId) {
            frontiers.give_to_classes(geometry, plane, *numbers.next()?)?;
        }
        placement.take_kept(&mut numbers)?;
        numbers.next().is_none().then_some(())
    };
    take().ok_or_else(|| DriveFault(format!("its {} are not valid", name_of(&kept.by))))
}

/// A note for the user on the saved state of a scheme, if the run does not continue from it. `own`
/// is what the state of this scheme depends on.
pub fn note_of_kept(kept: Option<&Kept>, own: Option<&str>) -> Option<String> {
    let result = |own: &str| {
        let without = state(own).map_or("without it", |state| state.without);
        format!(
            "the run starts {without}, and differs from one that preconditions the drive itself"
        )
    };
    match (kept, own) {
        (None, None) => None,
        (Some(kept), Some(own)) if kept.by == own => None,
        (Some(kept), None) => Some(format!(
            "the saved drive contains {} that this scheme does not use; they were dropped",
            name_of(&kept.by)
        )),
        (Some(kept), Some(own)) => Some(format!(
            "the {} of the saved drive do not fit this scheme and were dropped: {}",
            name_of(&kept.by),
            result(own)
        )),
        (None, Some(own)) => Some(format!(
            "the saved drive has no {} (another scheme or an earlier version of flashgc made it): \
             {}",
            name_of(own),
            result(own)
        )),
    }
}

/// The state that depends on these settings.
fn state(by: &str) -> Option<&'static super::State> {
    STATES.iter().find(|state| by.starts_with(state.by))
}

/// Its name for users.
fn name_of(by: &str) -> &'static str {
    state(by).map_or("data of its placement", |state| state.name)
}
