//! The trigger `used-space`: its keys, and their values on a device.

use super::gc::Scheme;
use super::trigger::{Hard, Trigger};
use crate::device::Shape;
use crate::gc::used_space::{SpaceOf, UsedSpace};
use crate::gc::victim::Choice;
use crate::gc::{Batch, GcPlan};
use crate::plan::Plan;
use flashgc_config::Reader;
use flashgc_config::units::Share;

/// The word of the configuration.
pub const USED_SPACE: &str = "used-space";

/// The description for users.
pub const CHOICE: Choice = Choice {
    name: USED_SPACE,
    about: "blocks with many invalid pages are collected while the share of used pages is above a \
            threshold",
    keys: &[
        (
            "on",
            "\"70%\" (default): the share of pages in use, valid or invalid, at which collection \
             starts",
        ),
        (
            "of",
            "\"device\" (default) or \"plane\": share of the whole device's pages, or of each \
             plane's",
        ),
        ("victims", "\"70%\" (default): only blocks with at least this share of invalid pages"),
        (
            "batch",
            "\"one\" (default), \"until-stop\" or \"list\": collect one block per check, blocks \
             until the share is below the threshold, or all that qualify",
        ),
    ],
    source: "paper on-demand-gc, sections 4.2 and 5.3",
};

/// The trigger as configured.
pub struct UsedSpaceTrigger {
    on: Share,
    of: SpaceOf,
    victims: Share,
}

/// Reads the table. A plane with less than collection itself needs is short of space in any case.
pub fn read(table: &Reader<'_>) -> Option<Trigger> {
    let seventy = Share { numerator: 7, denominator: 10 };
    let share = |key: &str| if table.has(key) { table.share(key) } else { Some(seventy) };
    let (on, victims) = (share("on"), share("victims"));
    let of = table.choice("of", &SpaceOf::WORDS).unwrap_or(SpaceOf::Device);
    let batch = table.choice("batch", &Batch::WORDS).unwrap_or(Batch::One);
    table.finish();
    let (on, victims) = (on?, victims?);
    for (key, share) in [("on", on), ("victims", victims)] {
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
            "on",
            "`on` must be below 100%, got 100%: there would be no space to collect",
            "write for example \"70%\"",
        );
        return None;
    }
    Some(Trigger {
        soft: None,
        hard: Hard::Default,
        stop: None,
        inclusive: false,
        batch,
        idle_units: true,
        used_space: Some(UsedSpaceTrigger { on, of, victims }),
        idle: None,
    })
}

/// The values of the shares on a drive of this shape.
pub fn plan(root: &Reader<'_>, shape: &Shape, scheme: &Scheme) -> Option<Option<UsedSpace>> {
    let Some(trigger) = &scheme.trigger.used_space else { return Some(None) };
    if scheme.sub_blocks.is_some() {
        root.table("gc").table("trigger").error(
            "use",
            "gc.trigger.use = \"used-space\" needs whole-block erase, but this scheme erases \
             sub-blocks",
            "set gc.erase.use = \"block\" or gc.trigger.use = \"watermark\"",
        );
        return None;
    }
    let data_pages = shape.data_pages();
    let pages = match trigger.of {
        SpaceOf::Plane => shape.data_pages_per_plane(),
        SpaceOf::Device => shape.data_pages_per_plane() * shape.planes(),
    };
    let invalid = trigger.victims.at_least(u64::from(data_pages)) as u32;
    let free_pages = pages - trigger.on.at_least(pages);
    if free_pages == 0 {
        let table = root.table("gc").table("trigger").table(USED_SPACE);
        let message = format!("`on` leaves none of {pages} pages free");
        table.error("on", message, "give a smaller share, for example \"70%\"");
        return None;
    }
    Some(Some(UsedSpace { of: trigger.of, free_pages, most_valid: data_pages - invalid }))
}

/// Whether there is a threshold below which no write is served. By used space there is one, just
/// above the reserve, but not where only single blocks are blocked: there a write waits for a page
/// only.
pub fn has_hard_mark(scheme: &Scheme) -> bool {
    let trigger = &scheme.trigger;
    !matches!(trigger.hard, Hard::None) && (trigger.used_space.is_none() || !scheme.blocks_only)
}

/// There is too little spare space for the space that collection needs for itself.
pub fn refuse_spare(root: &Reader<'_>, gc: &GcPlan, spare_pages: u64, open_blocks: u64) {
    root.table("device").error(
        "exported",
        format!(
            "a plane has {spare_pages} spare pages, too few for the {} erased blocks that \
             collection keeps free, in addition to open blocks ({open_blocks})",
            gc.reserve_blocks + 1
        ),
        "set a smaller device.exported, or give each plane more blocks",
    );
}

/// A drive whose user data alone reaches the trigger.
pub fn note(plan: &Plan) -> Option<String> {
    let rules = plan.gc.used_space?;
    let geometry = &plan.geometry;
    let all = geometry.shape.data_pages_per_plane();
    let exported = u64::from(geometry.shape.exported_pages_per_plane);
    let planes = match rules.of {
        SpaceOf::Device => u64::from(geometry.planes),
        SpaceOf::Plane => 1,
    };
    (exported * planes + rules.free_pages >= all * planes).then(|| {
        "a full drive already exceeds gc.trigger.used-space.on: collection continues as long as \
         blocks qualify, and after that only for planes that run out of erased blocks \
         (gc.fallbacks)"
            .into()
    })
}
