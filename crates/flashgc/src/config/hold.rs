//! The slot *hold*, and what the hold of single blocks asks of the other slots.

use super::gc::Scheme;
use crate::device::{Level, Shape};
use crate::gc::{GcPlan, HoldChoice, Suspends};
use flashgc_config::Reader;

/// The hold of the scheme on a device of this shape.
pub fn choice(shape: &Shape, scheme: &Scheme) -> HoldChoice {
    let level = scheme.hold.unwrap_or(shape.unit);
    // A unit that erases serves nobody.
    let erasing = scheme.hold_erasing.filter(|_| level < shape.unit);
    let erasing = erasing.map(|erasing| erasing.min(shape.unit));
    HoldChoice { level, blocks: scheme.holds_blocks, erasing }
}

/// The part that is held in the erase, where it is smaller than the choice of this name.
pub fn erasing(name: &str, table: &Reader<'_>) -> Option<Level> {
    // The smallest part is a plane.
    let at = Level::WORDS[..3].iter().position(|(word, _)| *word == name)?;
    let erasing = table.choice("erasing", &Level::WORDS[at..]);
    erasing.filter(|&level| level != Level::WORDS[at].1)
}

/// The key of it, where it has no effect: no part is held that is larger than the unit.
pub fn unused(scheme: &Scheme, gc: &GcPlan) -> Option<String> {
    let is_unused = scheme.hold_erasing.is_some() && gc.hold.erasing.is_none();
    is_unused.then(|| format!("gc.hold.{}.erasing", gc.hold.level.word()))
}

/// A job that closes blocks only lets requests in between its copies, never into its register, and
/// the block that copies fill is none that the host writes.
pub fn check_blocks(root: &Reader<'_>, gc: &GcPlan) -> Option<()> {
    if !gc.hold.blocks {
        return Some(());
    }
    let slots = root.table("gc");
    let is_between = gc.enter.is_some_and(|enter| enter.suspends == Suspends::Nothing);
    if !is_between {
        slots.table("enter").error(
            "use",
            "a job that holds only blocks lets requests in between its copies",
            "set gc.enter.use = \"between-copies\", or another gc.hold.use",
        );
        return None;
    }
    for (key, is_on) in [
        ("merge", gc.enter.is_some_and(|enter| enter.merge)),
        ("pipeline", gc.enter.is_some_and(|enter| enter.pipeline)),
    ] {
        if is_on {
            slots.table("enter").table("between-copies").error(
                key,
                "a request for a page of a block that is held waits, and is not served from the \
                 register of the job or beside it",
                format!("set {key} = false, or gc.hold.use = \"unit\""),
            );
            return None;
        }
    }
    if gc.sub_blocks.is_some() {
        slots.table("hold").error(
            "use",
            "whole blocks are held, and the scheme erases parts of them",
            "set gc.erase.use = \"block\", or another gc.hold.use",
        );
        return None;
    }
    if !gc.separate_gc {
        slots.table("placement").error(
            "use",
            "the block that copies fill is held, and the host would write to the same one",
            "set gc.placement.use = \"separate-gc\", or another gc.hold.use",
        );
        return None;
    }
    if gc.copy.parity() {
        slots.table("copy").error(
            "use",
            "under the odd/even rule the host takes the pages that copies leave in their block, \
             and this hold closes that block",
            "copy without the rule (parity = false), or set another gc.hold.use",
        );
        return None;
    }
    if gc.copy.is_global() {
        slots.table("copy").table("parallel").error(
            "path",
            "blocks are held in the plane that is collected, and these copies leave it",
            "set path = \"local\", or another gc.hold.use",
        );
        return None;
    }
    Some(())
}
