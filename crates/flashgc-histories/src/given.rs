//! The policies of the choice `given`.

use flashgc::gc::given::{Given, GivenPlacement, GivenPolicies};
use flashgc::gc::placement::{Copied, Placement, Write};
use flashgc::gc::victim::{Candidates, VictimPolicy};
use flashgc::ids::{BlockId, PlaneId};
use flashgc::rng::Random;

/// Greedy by a scan of the plane.
struct FewestKept;

impl VictimPolicy for FewestKept {
    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        candidates.fewest_kept(plane)
    }
}

/// Three classes by address; one of them for copies alone.
struct ByAddress;

impl Placement for ByAddress {
    fn class_of_write(&mut self, write: Write) -> u8 {
        u8::from(write.is_update && write.lpn.0.is_multiple_of(2))
    }

    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        if copy.lpn.0.is_multiple_of(2) { 2 } else { 0 }
    }
}

/// A victim and a placement, in the slots that have one; a pace would need time slices in every
/// history.
pub fn policies(is_given: impl Fn(&str) -> bool) -> GivenPolicies {
    let victim = Given::new("fewest-kept", |_| Box::new(FewestKept) as Box<dyn VictimPolicy>);
    let policy = Given::new("by-address", |_| Box::new(ByAddress) as Box<dyn Placement>);
    GivenPolicies {
        victim: is_given("victim").then_some(victim),
        placement: is_given("placement").then_some(GivenPlacement { classes: 3, policy }),
        pacer: None,
    }
}
