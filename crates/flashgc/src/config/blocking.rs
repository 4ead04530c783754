//! The slot *blocking*, and the choices of other slots that it needs to block single blocks.

use super::gc::Scheme;
use crate::device::{Level, Shape};
use crate::gc::{BlockingChoice, GcPlan, Suspends};
use flashgc_config::Reader;

/// The blocking of the scheme on a device of this shape.
pub fn choice(shape: &Shape, scheme: &Scheme) -> BlockingChoice {
    let level = scheme.blocking.unwrap_or(shape.unit);
    // A unit that erases serves no request.
    let erasing = scheme.blocking_erasing.filter(|_| level < shape.unit);
    let erasing = erasing.map(|erasing| erasing.min(shape.unit));
    BlockingChoice { level, blocks: scheme.blocks_only, erasing }
}

/// The part that is blocked during the erase, where it is smaller than the choice of this name.
pub fn erasing(name: &str, table: &Reader<'_>) -> Option<Level> {
    // The smallest part is a plane.
    let at = Level::WORDS[..3].iter().position(|(word, _)| *word == name)?;
    let erasing = table.choice("erasing", &Level::WORDS[at..]);
    erasing.filter(|&level| level != Level::WORDS[at].1)
}

/// Its key, where it has no effect: the part is never larger than the unit.
pub fn unused(scheme: &Scheme, gc: &GcPlan) -> Option<String> {
    let is_unused = scheme.blocking_erasing.is_some() && gc.blocking.erasing.is_none();
    is_unused.then(|| format!("gc.blocking.{}.erasing", gc.blocking.level.word()))
}

/// A collection that blocks single blocks admits requests between its copies only, never into its
/// register, and its copies never fill a block that the host writes.
pub fn check_blocks(root: &Reader<'_>, gc: &GcPlan) -> Option<()> {
    if !gc.blocking.blocks {
        return Some(());
    }
    let slots = root.table("gc");
    let is_between =
        gc.preemption.is_some_and(|preemption| preemption.suspends == Suspends::Nothing);
    if !is_between {
        slots.table("preemption").error(
            "use",
            "gc.blocking.use = \"blocks\" needs requests that are served between copies",
            "set gc.preemption.use = \"between-copies\", or choose another gc.blocking.use",
        );
        return None;
    }
    for (key, is_on) in [
        ("merge", gc.preemption.is_some_and(|preemption| preemption.merge)),
        ("pipeline", gc.preemption.is_some_and(|preemption| preemption.pipeline)),
    ] {
        if is_on {
            slots.table("preemption").table("between-copies").error(
                key,
                format!(
                    "{key} = true cannot be combined with gc.blocking.use = \"blocks\": requests \
                     for a closed block wait until it is erased"
                ),
                format!("set {key} = false, or gc.blocking.use = \"unit\""),
            );
            return None;
        }
    }
    if gc.sub_blocks.is_some() {
        slots.table("blocking").error(
            "use",
            "gc.blocking.use = \"blocks\" needs whole-block erase, but this scheme erases \
             sub-blocks",
            "set gc.erase.use = \"block\", or choose another gc.blocking.use",
        );
        return None;
    }
    if !gc.separate_gc {
        slots.table("placement").error(
            "use",
            "gc.blocking.use = \"blocks\" closes the block that copies fill, so host writes need a \
             block of their own",
            "set gc.placement.use = \"separate-gc\", or choose another gc.blocking.use",
        );
        return None;
    }
    if gc.copy.parity() {
        slots.table("copy").error(
            "use",
            "gc.blocking.use = \"blocks\" cannot be combined with parity = true: host writes use \
             the odd and even pages that copies leave in the closed block",
            "set parity = false for the copies, or choose another gc.blocking.use",
        );
        return None;
    }
    if gc.copy.is_global() {
        slots.table("copy").table("parallel").error(
            "path",
            "gc.blocking.use = \"blocks\" needs copies within the plane, but path = \"global\"",
            "set path = \"local\", or choose another gc.blocking.use",
        );
        return None;
    }
    Some(())
}
