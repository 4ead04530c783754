//! The state of a scheme that is saved with a drive and cannot be derived from it: the class of
//! each open block, the placement's own state, and the history of the blocks.

use super::{Classes, Placement, Policy, STATES, State};
use crate::device::Geometry;
use crate::drive::{DriveFault, Kept};
use crate::ftl::Ftl;
use crate::gc::GcPlan;
use crate::gc::windows::Costs;
use crate::ids::PlaneId;

/// The history of the blocks, where it is kept.
pub const BLOCKS: State = State {
    by: "clock of host writes",
    name: "clock of host writes",
    without: "as if its blocks had been written in the order of their sealing",
};

/// The settings that the saved state of a scheme depends on; `None` if it saves no state.
pub fn kept_by(rules: &GcPlan, costs: Costs) -> Option<String> {
    let placement = rules.placement.as_ref().and_then(|own| own.kept_by(costs));
    let blocks = rules.keeps_stamps().then(|| BLOCKS.by.to_string());
    match (placement, blocks) {
        (Some(placement), Some(blocks)) => Some(format!("{placement}; {blocks}")),
        (placement, blocks) => placement.or(blocks),
    }
}

/// The state to save with a drive that is taken out of a simulation of this scheme.
pub fn keep(
    rules: &GcPlan,
    costs: Costs,
    geometry: &Geometry,
    placement: Option<&Policy>,
    ftl: &Ftl,
) -> Option<Kept> {
    let by = kept_by(rules, costs)?;
    let mut numbers = Vec::new();
    if let Some(placement) = placement {
        let planes = (0..geometry.planes).map(PlaneId);
        numbers.extend(planes.map(|plane| ftl.frontiers.open_classes(plane)));
        placement.keep(&mut numbers);
    }
    if rules.keeps_stamps() {
        ftl.stamps.save(&mut numbers);
    }
    Some(Kept { by, numbers })
}

/// Continues from the saved state. The blocks of the drive are known, and its open ones wait for
/// their classes.
pub fn take_kept(
    rules: &GcPlan,
    kept: &Kept,
    geometry: &Geometry,
    placement: Option<&mut Policy>,
    ftl: &mut Ftl,
) -> Result<(), DriveFault> {
    let mut numbers = kept.numbers.iter();
    let take = || {
        if let Some(placement) = placement {
            for plane in (0..geometry.planes).map(PlaneId) {
                ftl.frontiers.give_to_classes(geometry, plane, *numbers.next()?)?;
            }
            placement.take_kept(&mut numbers)?;
        }
        if rules.keeps_stamps() {
            ftl.stamps.take_saved(&mut numbers, rules.classes())?;
        }
        numbers.next().is_none().then_some(())
    };
    take().ok_or_else(|| DriveFault(format!("its {} are not valid", name_of(&kept.by))))
}

/// A note for the user on the saved state of a scheme, if the run does not continue from it. `own`
/// has the settings that the state of this scheme depends on.
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
