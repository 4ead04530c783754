//! `[gc.pacing]`: how a collection is spread over time, and the space that this needs.

use super::slot::{OneOf, choice};
use super::tokens::{self, TokenKeys};
use crate::space::{mark, space};
use flashgc_config::Reader;
use flashgc_config::units::{Share, Threshold, counted};
use flashgc_model::device::Shape;
use flashgc_model::gc::choice::{Choice, Count, Described, Key, Percent, Row};
use flashgc_model::gc::{Space, TimeSlices};
use flashgc_model::plan::Plan;

/// The slot *pacing*: a collection over time, in time slices, by tokens, or at once.
pub struct Pacing;

/// The choice in use; amounts of space still depend on the device.
pub enum PacingKeys {
    AtOnce,
    TimeSlices(TimeSliceKeys),
    Tokens(TokenKeys),
}

impl PacingKeys {
    /// Its time slices, where it has them.
    pub fn time_slices(&self) -> Option<&TimeSliceKeys> {
        match self {
            PacingKeys::TimeSlices(keys) => Some(keys),
            _ => None,
        }
    }
}

impl OneOf for Pacing {
    const NAME: &'static str = "pacing";
    const QUESTION: &'static str = "how is a collection spread over time?";
    type Keys = PacingKeys;
    const CHOICES: &'static [Row<Self::Keys>] = &[
        Row {
            choice: choice("at-once", "a collection runs without pause", &[]),
            read: |_, _| Some(PacingKeys::AtOnce),
        },
        Row {
            choice: Choice {
                name: TIME_SLICES,
                about: "a collection runs in time slices: in the gaps between requests, and after \
                        each write",
                keys: &[&LENGTH, &FLOOR, &PER_GAP, &EXTRA_SPACE],
                source: "GFTL as adapted by paper pre-gc, section 5.1",
            },
            read: |table, _| time_slices(table).map(PacingKeys::TimeSlices),
        },
        Row {
            choice: tokens::CHOICE,
            read: |table, _| tokens::read(table).map(PacingKeys::Tokens),
        },
    ];
}

const TIME_SLICES: &str = "time-slices";

const LENGTH: Described =
    Described("length", "longest turn (default: one erase); one operation always fits");
pub(super) const FLOOR: Described = Described(
    "floor",
    "with less free space a collection runs without pause (default: one block above the reserve)",
);
const PER_GAP: Count = Count {
    name: "per_gap",
    default: 1,
    least: 1,
    most: u32::MAX,
    about: "number of turns in each gap between requests",
};
const EXTRA_SPACE: Percent = Percent {
    name: "extra_space",
    default: Share { numerator: 0, denominator: 1 },
    about: "extra blocks per plane, as a share of the device's blocks; thresholds do not count \
            them",
};

/// The pace `time-slices` as configured; amounts of space still depend on the device.
pub struct TimeSliceKeys {
    length_ns: Option<u64>,
    floor: Option<Threshold>,
    per_gap: u32,
    /// Share of the device's blocks that each plane has beyond them.
    extra_space: Share,
}

fn time_slices(table: &Reader<'_>) -> Option<TimeSliceKeys> {
    let (has_length, has_floor) = (table.has(LENGTH.name()), table.has(FLOOR.name()));
    let length_ns = table.duration_ns(LENGTH.name());
    let floor = table.threshold(FLOOR.name());
    let per_gap = PER_GAP.read(table);
    let extra_space = EXTRA_SPACE.read(table);
    if has_length && length_ns.is_none() || has_floor && floor.is_none() {
        return None;
    }
    let extra_space = extra_space?;
    if length_ns.is_some_and(|ns| ns == 0 || ns > 1_000_000_000_000) {
        let given = length_ns.unwrap_or_default();
        table.error(
            LENGTH.name(),
            format!("length must be above 0 and at most 1000 s, got {given} ns"),
            "write for example length = \"1500 us\"",
        );
        return None;
    }
    Some(TimeSliceKeys { length_ns, floor, per_gap, extra_space })
}

/// The device with the blocks that the scheme adds to each plane.
pub fn with_extra(root: &Reader<'_>, device: &Shape, pacing: &PacingKeys) -> Option<Shape> {
    let Some(keys) = pacing.time_slices() else { return Some(device.clone()) };
    let extra_blocks = keys.extra_space.of(u64::from(device.blocks_per_plane)) as u32;
    let blocks_per_plane = device.blocks_per_plane + extra_blocks;
    let shape = Shape { blocks_per_plane, extra_blocks, ..device.clone() };
    let pages = shape.planes() * shape.pages_per_plane();
    if pages >= u64::from(u32::MAX) {
        root.table("gc").table(Pacing::NAME).table(TIME_SLICES).error(
            EXTRA_SPACE.name,
            format!(
                "with {extra_blocks} extra blocks per plane, the drive exceeds 2^32 - 2 \
                     physical pages"
            ),
            "make gc.pacing.time-slices.extra_space or the drive smaller",
        );
        return None;
    }
    Some(shape)
}

/// The time slices on a device of this shape, where the scheme has them.
pub fn plan(
    root: &Reader<'_>,
    shape: &Shape,
    pacing: &PacingKeys,
    erase_ns: u64,
    reserve_blocks: u32,
) -> Option<Option<TimeSlices>> {
    let Some(keys) = pacing.time_slices() else { return Some(None) };
    let table = root.table("gc").table(Pacing::NAME).table(TIME_SLICES);
    let floor = floor(&table, keys.floor.as_ref(), shape, reserve_blocks)?;
    let length_ns = keys.length_ns.unwrap_or(erase_ns);
    let Shape { extra_blocks, .. } = *shape;
    Some(Some(TimeSlices { length_ns, floor, per_gap: keys.per_gap, extra_blocks }))
}

/// The free space below which a collection runs without a pause.
pub(super) fn floor(
    table: &Reader<'_>,
    given: Option<&Threshold>,
    shape: &Shape,
    reserve_blocks: u32,
) -> Option<Space> {
    let Some(given) = given else { return Some(Space::Blocks(reserve_blocks + 1)) };
    // Shares refer to the device without the space that a scheme adds.
    let floor = space(table, FLOOR.name(), given, &shape.without_extra())?;
    let reserve = u64::from(reserve_blocks) * u64::from(shape.data_pages());
    if floor.pages(shape) <= reserve {
        table.error(
            FLOOR.name(),
            format!(
                "the floor ({}) must be above the reserve ({})",
                counted(floor.pages(shape), "page"),
                counted(reserve, "page")
            ),
            format!(
                "give at least {}; below that, writes and collections could wait for each other",
                mark(shape, reserve_blocks + 1, reserve + 1)
            ),
        );
        return None;
    }
    Some(floor)
}

/// A note for the user, on a drive that has more blocks than the device.
pub fn note(plan: &Plan) -> Option<String> {
    let shape = &plan.geometry.shape;
    (shape.extra_blocks > 0).then(|| {
        format!(
            "the scheme adds spare blocks to each plane ({} to the device's {}), which alone \
             lowers write amplification; gc.pacing.time-slices.extra_space = \"0%\" removes them",
            shape.extra_blocks / shape.sub_blocks,
            (shape.blocks_per_plane - shape.extra_blocks) / shape.sub_blocks
        )
    })
}
