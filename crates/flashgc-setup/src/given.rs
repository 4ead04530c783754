//! The policies that a program passes in, for slots with `use = "given"`.

use super::gc::Scheme;
use super::slots::placement::Placement;
use flashgc_config::Reader;
use flashgc_model::gc::given::GivenPolicies;
use flashgc_model::gc::{placement, victim};

/// Puts the policies into their slots. An error if a slot has `use = "given"` without a policy, or
/// if a policy has no such slot: the run would be that of another one under its name.
pub fn take(root: &Reader<'_>, scheme: &mut Scheme, given: &GivenPolicies) -> Option<()> {
    let GivenPolicies { victim, placement, pacer } = given;
    let gc = root.table("gc");
    let missing = |slot: &str| {
        let message = format!("gc.{slot}.use = \"given\" takes a function, and none was given");
        let help = format!("in Python, give it with flashgc.scheme({slot}=...)");
        gc.table(slot).error("use", message, help);
        None
    };
    let replaced = |slot: &str| {
        let message = format!("a function for the {slot} was given, and another {slot} is set");
        let help = format!("remove the settings of gc.{slot}, or the function");
        gc.table(slot).error("use", message, help);
        None
    };
    match (&mut scheme.victim, victim) {
        (victim::Settings::given(settings), Some(_)) => settings.0.clone_from(victim),
        (victim::Settings::given(_), None) => return missing("victim"),
        (_, Some(_)) => return replaced("victim"),
        (_, None) => (),
    }
    match (&mut scheme.placement, placement) {
        (Placement::Classes(placement::Settings::given(settings)), Some(_)) => {
            settings.0.clone_from(placement);
        }
        (Placement::Classes(placement::Settings::given(_)), None) => return missing("placement"),
        (_, Some(_)) => return replaced("placement"),
        (_, None) => (),
    }
    if pacer.is_some() && scheme.pacing.time_slices().is_none() {
        let message = "a function for the pacing needs time slices, but this scheme has none";
        let help = "set gc.pacing.use = \"time-slices\"";
        gc.table("pacing").error("use", message, help);
        return None;
    }
    scheme.pacer.clone_from(pacer);
    Some(())
}
