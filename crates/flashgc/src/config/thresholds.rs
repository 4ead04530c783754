//! The thresholds of free space, and their order among each other and with the reserve.

use super::derive::space;
use super::gc::Scheme;
use super::sub_blocks;
use super::trigger::Hard;
use crate::device::Shape;
use crate::gc::{Idle, Space};
use flashgc_config::Reader;
use flashgc_config::units::{Share, ShareOf, Threshold};

/// The reserve lies below the hard threshold, that below the soft threshold, and that below the
/// stop.
pub(super) fn check(
    marks: &Reader<'_>,
    [soft, hard, stop]: [Space; 3],
    given: &Hard,
    reserve_blocks: u32,
    shape: &Shape,
) -> Option<()> {
    let is_given = matches!(given, Hard::At(_));
    let pages = |space: Space| space.pages(shape);
    let reserve = u64::from(reserve_blocks) * u64::from(shape.data_pages());
    if pages(soft) <= reserve {
        marks.error(
            "soft",
            format!(
                "the soft threshold ({} pages) must be above the reserve ({reserve} pages)",
                pages(soft)
            ),
            format!(
                "collection reserves {reserve_blocks} erased {} of each plane: give at least {}",
                sub_blocks::word(shape, reserve_blocks.into()),
                sub_blocks::mark(shape, reserve_blocks + 1, reserve + 1)
            ),
        );
        return None;
    }
    if is_given && pages(hard) < reserve {
        marks.error(
            "hard",
            format!(
                "the hard threshold ({} pages) is below the reserve ({reserve} pages)",
                pages(hard)
            ),
            format!("give at least {}", sub_blocks::mark(shape, reserve_blocks, reserve)),
        );
        return None;
    }
    if is_given && pages(hard) > pages(soft) {
        let message = format!(
            "the hard threshold ({} pages) is above the soft threshold ({} pages)",
            pages(hard),
            pages(soft)
        );
        marks.error("hard", message, format!("give at most \"{} pages\"", pages(soft)));
        return None;
    }
    if pages(stop) < pages(soft) {
        marks.error(
            "stop",
            format!(
                "the stop threshold ({} pages) is below the soft threshold ({} pages)",
                pages(stop),
                pages(soft)
            ),
            format!("give at least \"{} pages\"", pages(soft)),
        );
        return None;
    }
    Some(())
}

/// The hard threshold, or the one that there would be.
pub(super) fn hard(
    marks: &Reader<'_>,
    hard: &Hard,
    soft: Space,
    reserve_blocks: u32,
    shape: &Shape,
) -> Option<Space> {
    let lowest = Space::Blocks(reserve_blocks + 1);
    match hard {
        Hard::Default | Hard::None => Some(lowest),
        Hard::At(Threshold::Share { share, of: ShareOf::Soft }) => {
            Some(share_of_soft(share, soft, lowest, shape))
        }
        Hard::At(hard) => space(marks, "hard", hard, shape),
    }
}

/// A hard threshold that is a share of the soft one, and no lower than the lowest that can be
/// reached.
fn share_of_soft(share: &Share, soft: Space, lowest: Space, shape: &Shape) -> Space {
    let mark = match soft {
        Space::Blocks(blocks) => Space::Blocks(share.of(u64::from(blocks)) as u32),
        Space::Pages(pages) => Space::Pages(share.of(u64::from(pages)) as u32),
    };
    let pages = |space: Space| space.pages(shape);
    let least = if pages(lowest) > pages(soft) { soft } else { lowest };
    if pages(mark) < pages(least) { least } else { mark }
}

/// The idle trigger, if the scheme has it: its threshold is twice the soft threshold unless it is
/// given.
pub(super) fn idle(
    root: &Reader<'_>,
    shape: &Shape,
    scheme: &Scheme,
    soft: Space,
) -> Option<Option<Idle>> {
    let Some(idle) = &scheme.trigger.idle else { return Some(None) };
    let table = root.table("gc").table("trigger").table("idle");
    let threshold = match &idle.threshold {
        Some(threshold) => space(&table, "threshold", threshold, shape)?,
        None => soft.twice(),
    };
    if threshold.pages(shape) < soft.pages(shape) {
        table.error(
            "threshold",
            format!(
                "the proactive threshold ({} pages) is below the soft threshold ({} pages)",
                threshold.pages(shape),
                soft.pages(shape)
            ),
            format!(
                "give at least \"{} pages\", or remove it for the default of twice the soft \
                 threshold",
                soft.pages(shape)
            ),
        );
        return None;
    }
    Some(Some(Idle { wait: idle.wait, threshold }))
}
