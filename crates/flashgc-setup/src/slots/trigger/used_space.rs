//! The triggers `used-space` and `garbage-share`: their keys, and their values on a device.

use super::watermark::{Hard, Marks};
use crate::slots::erase::Erase;
use crate::slots::pacing;
use crate::slots::slot::choice;
use flashgc_config::Reader;
use flashgc_config::units::{Share, Threshold, counted};
use flashgc_model::device::Shape;
use flashgc_model::gc::choice::{About, Choice, Described, Key, Percent, Word};
use flashgc_model::gc::used_space::{Counted, Measure, SpaceOf, UsedSpace};
use flashgc_model::gc::{Batch, GcPlan, Space};
use flashgc_model::plan::Plan;

/// The declaration by used space.
pub const CHOICE: Choice = Choice {
    name: "used-space",
    about: "blocks with many invalid pages are collected while the share of used pages is above a \
            threshold",
    keys: &[&ON, &OF, &VICTIMS, &FLOOR, &BATCH],
    source: "paper on-demand-gc, sections 4.2 and 5.3",
};

const ON: Percent = Percent {
    name: "on",
    default: SEVENTY,
    about: "the share of pages in use, valid or invalid, at which collection starts",
};
const OF: Word<SpaceOf> = Word {
    name: "of",
    words: &SpaceOf::WORDS,
    default: 0,
    about: About::All("share of the whole device's pages, or of each plane's"),
};
const VICTIMS: Percent = Percent {
    name: "victims",
    default: SEVENTY,
    about: "only blocks with at least this share of invalid pages",
};
const FLOOR: Described = Described(
    "floor",
    "with less free space than this a plane collects any block (default: one block above the \
     reserve)",
);

/// The declaration by the share of garbage.
pub const GARBAGE: Choice = choice(
    "garbage-share",
    "blocks with many invalid pages are collected while the invalid pages of full blocks are more \
     than a share of the pages in use",
    &[&GARBAGE_ON, &GARBAGE_OF, &GARBAGE_VICTIMS, &FLOOR, &BATCH],
);

const GARBAGE_ON: Percent = Percent {
    name: "on",
    default: FIFTEEN,
    about: "with a larger share of invalid pages collection starts",
};
const GARBAGE_OF: Word<SpaceOf> = Word {
    about: About::All("share of the pages in use on the whole device, or in each plane"),
    ..OF
};
const GARBAGE_VICTIMS: Percent = Percent { default: FIFTEEN, ..VICTIMS };
const FIFTEEN: Share = Share { numerator: 3, denominator: 20 };
const SEVENTY: Share = Share { numerator: 7, denominator: 10 };
const BATCH: Word<Batch> = Word {
    name: "batch",
    words: &Batch::WORDS,
    default: 0,
    about: About::All(
        "collect one block per check, blocks until the share is below the threshold, or all that \
         qualify",
    ),
};

/// The trigger as configured.
pub struct UsedSpaceTrigger {
    on: Share,
    of: SpaceOf,
    victims: Share,
    /// `None`: just above the reserve.
    floor: Option<Threshold>,
    is_of_garbage: bool,
}

impl UsedSpaceTrigger {
    /// The free space below which any block is collected.
    pub fn floor(&self, slot: &Reader<'_>, reserve_blocks: u32, shape: &Shape) -> Option<Space> {
        let table = slot.table(self.name());
        pacing::floor(&table, self.floor.as_ref(), shape, reserve_blocks)
    }

    /// The word in the configuration.
    fn name(&self) -> &'static str {
        if self.is_of_garbage { GARBAGE.name } else { CHOICE.name }
    }
}

/// Reads the table of `used-space`.
pub fn read(table: &Reader<'_>) -> Option<(Marks, UsedSpaceTrigger)> {
    read_as(table, [&ON, &VICTIMS], false)
}

/// Reads the table of `garbage-share`.
pub fn read_garbage(table: &Reader<'_>) -> Option<(Marks, UsedSpaceTrigger)> {
    read_as(table, [&GARBAGE_ON, &GARBAGE_VICTIMS], true)
}

/// A plane with less than collection itself needs is short of space in any case.
fn read_as(
    table: &Reader<'_>,
    [on, victims]: [&Percent; 2],
    is_of_garbage: bool,
) -> Option<(Marks, UsedSpaceTrigger)> {
    let (on, victims) = (on.read(table), victims.read(table));
    let of = OF.read(table);
    let batch = BATCH.read(table);
    let floor = table.threshold(FLOOR.name());
    if table.has(FLOOR.name()) && floor.is_none() {
        return None;
    }
    let (on, victims) = (on?, victims?);
    for (key, share) in [(ON.name, on), (VICTIMS.name, victims)] {
        if share.numerator == 0 {
            table.error(
                key,
                format!("`{key}` must be above 0%, got 0%"),
                "write for example \"70%\"",
            );
            return None;
        }
    }
    if on.numerator == on.denominator {
        table.error(
            ON.name,
            "`on` must be below 100%, got 100%: there would be no space to collect",
            "write for example \"70%\"",
        );
        return None;
    }
    let (soft, stop) = (None, None);
    let marks =
        Marks { soft, hard: Hard::Default, stop, inclusive: false, batch, idle_units: true };
    Some((marks, UsedSpaceTrigger { on, of, victims, floor, is_of_garbage }))
}

/// The values of the shares on a drive of this shape.
pub fn plan(
    slot: &Reader<'_>,
    trigger: Option<&UsedSpaceTrigger>,
    erase: &Erase,
    shape: &Shape,
) -> Option<Option<UsedSpace>> {
    let Some(trigger) = trigger else { return Some(None) };
    if erase.sub_blocks().is_some() {
        slot.error(
            "use",
            format!(
                "gc.trigger.use = \"{}\" needs whole-block erase, but this scheme erases \
                 sub-blocks",
                trigger.name()
            ),
            "set gc.erase.use = \"block\" or gc.trigger.use = \"watermark\"",
        );
        return None;
    }
    let data_pages = shape.data_pages();
    let pages = match trigger.of {
        SpaceOf::Plane => shape.data_pages_per_plane(),
        SpaceOf::Device => shape.data_pages_per_plane() * shape.planes(),
    };
    // Whole programs where the last one of a collection is padded.
    let invalid = trigger.victims.at_least(u64::from(data_pages)) as u32;
    let invalid = invalid.next_multiple_of(shape.padded_to);
    let most_valid = (data_pages - invalid).min(shape.most_collected());
    if trigger.is_of_garbage {
        let measure = Measure::Garbage { above: trigger.on, pages };
        return Some(Some(UsedSpace { of: trigger.of, measure, most_valid }));
    }
    let free_pages = pages - trigger.on.at_least(pages);
    if free_pages == 0 {
        let table = slot.table(trigger.name());
        let message = format!("`on` leaves none of {} free", counted(pages, "page"));
        table.error(ON.name, message, "give a smaller share, for example \"70%\"");
        return None;
    }
    Some(Some(UsedSpace { of: trigger.of, measure: Measure::Used { free_pages }, most_valid }))
}

/// There is too little spare space for the space that collection needs for itself.
pub fn refuse_spare(root: &Reader<'_>, gc: &GcPlan, spare_pages: u64, open_blocks: u64) {
    let kept = match gc.trigger.soft {
        Space::Blocks(blocks) => counted(blocks, "erased block"),
        Space::Pages(pages) => counted(pages, "erased page"),
    };
    root.table("device").error(
        "exported",
        format!(
            "a plane has {}, too few for the {kept} that collection keeps free, in addition to \
             open blocks ({open_blocks})",
            counted(spare_pages, "spare page")
        ),
        "set a smaller device.exported, or give each plane more blocks",
    );
}

/// A drive whose user data alone reaches the trigger, or one that cannot reach it.
pub fn note(plan: &Plan) -> Option<String> {
    let rules = plan.gc.used_space?;
    let geometry = &plan.geometry;
    let planes = match rules.of {
        SpaceOf::Device => u64::from(geometry.planes),
        SpaceOf::Plane => 1,
    };
    let all = geometry.shape.data_pages_per_plane() * planes;
    let exported = u64::from(geometry.shape.exported_pages_per_plane) * planes;
    match rules.measure {
        Measure::Used { free_pages } => (exported + free_pages >= all).then(|| {
            "a full drive already exceeds gc.trigger.used-space.on: collection continues as long \
             as blocks qualify, and after that only for planes that run out of erased blocks \
             (gc.fallbacks)"
                .into()
        }),
        Measure::Garbage { .. } => {
            let free = plan.gc.trigger.soft.pages(&geometry.shape) * planes;
            let garbage = all.saturating_sub(free + exported);
            (!rules.measure.is_on(Counted { free, garbage })).then(|| {
                "a full drive comes to its last erased blocks before its share of invalid pages \
                 exceeds gc.trigger.garbage-share.on: planes that run out of erased blocks are \
                 collected (gc.fallbacks counts blocks that do not qualify)"
                    .into()
            })
        }
    }
}
