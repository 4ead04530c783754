//! `[gc.background]`: the work that is done before any collection. The slot takes one choice, or a
//! list of several.

use super::gc::{choice, joined_words, pass_over};
use crate::device::Shape;
use crate::gc::pre_migration::{PreMigration, Stop};
use crate::gc::victim::Choice;
use flashgc_config::Reader;
use flashgc_config::units::{Share, ShareOf, Threshold};

const NOTHING: &str = "nothing";
const FLUSH_BUFFER: &str = "flush-buffer";
const PRE_MIGRATION: &str = "pre-migration";
const BOTH: &str = "flush-buffer + pre-migration";

/// The kinds of background work.
pub const CHOICES: &[Choice] = &[
    choice(NOTHING, "no background tasks", &[]),
    choice(
        FLUSH_BUFFER,
        "while no request is outstanding, pages of the device's write buffer are flushed one by \
         one",
        &[],
    ),
    Choice {
        name: PRE_MIGRATION,
        about: "while no request is outstanding, valid pages of the next victim are moved one by \
                one, before collection starts",
        keys: &[
            (
                "distance",
                "\"1%\" (default), \"4 blocks\" or \"256 pages\": how far above the trigger's \
                 threshold moving starts, in space that a plane can still allocate",
            ),
            ("t_page", "\"10%\" (default): the share of a block's pages that `rule` applies to"),
            (
                "rule",
                "\"valid-left\" (default): stop when at most this share of valid pages is left; \
                 \"moved\": stop when this share has been moved",
            ),
        ],
        source: "paper pre-gc, section 4",
    },
];

/// The choices of the slot; amounts of space still depend on the device.
pub struct BackgroundSlot {
    /// The kinds in use, for users.
    pub name: &'static str,
    pub background: Background,
    /// Parameters of kinds that are not in use.
    pub unused: Vec<String>,
}

/// The background work as configured.
#[derive(Default)]
pub struct Background {
    pub flushes_buffer: bool,
    pub pre_migration: Option<PreMigrationKeys>,
}

/// The background work `pre-migration` as configured.
pub struct PreMigrationKeys {
    distance: Option<Threshold>,
    t_page: Share,
    by_valid: bool,
}

/// T_page of the paper (section 5.1).
const T_PAGE: Share = Share { numerator: 1, denominator: 10 };
/// T_block is 11 % of the blocks, and collection starts at 10 % (section 5.1).
const DISTANCE: Share = Share { numerator: 1, denominator: 100 };

/// Reads the table. Errors are noted.
pub fn read(gc: &Reader<'_>) -> Option<BackgroundSlot> {
    let table = gc.table("background");
    let used = joined_words(&table, CHOICES);
    let mut unused = Vec::new();
    let is_used = |name: &str| used.as_ref().is_some_and(|words| words.contains(&name));
    for choice in CHOICES.iter().filter(|choice| !is_used(choice.name)) {
        pass_over(&table, "background", choice.name, &mut unused);
    }
    let flushes_buffer = is_used(FLUSH_BUFFER);
    if flushes_buffer {
        table.table(FLUSH_BUFFER).finish();
    }
    let pre_migration = is_used(PRE_MIGRATION).then(|| keys(&table.table(PRE_MIGRATION)));
    if is_used(NOTHING) {
        table.table(NOTHING).finish();
    }
    table.finish();
    let (is_nothing, choices) = (is_used(NOTHING), used?.len());
    if is_nothing && choices > 1 {
        let help = "remove \"nothing\" from the list";
        table.error("use", "\"nothing\" cannot be combined with other background tasks", help);
        return None;
    }
    let name = match (flushes_buffer, pre_migration.is_some()) {
        (false, false) => NOTHING,
        (true, false) => FLUSH_BUFFER,
        (false, true) => PRE_MIGRATION,
        (true, true) => BOTH,
    };
    let pre_migration = match pre_migration {
        None => None,
        Some(keys) => Some(keys?),
    };
    Some(BackgroundSlot { name, background: Background { flushes_buffer, pre_migration }, unused })
}

fn keys(table: &Reader<'_>) -> Option<PreMigrationKeys> {
    let given = table.has("distance");
    let distance = table.threshold("distance");
    let t_page = if table.has("t_page") { table.share("t_page") } else { Some(T_PAGE) };
    let rules = [("valid-left", true), ("moved", false)];
    let by_valid = table.choice("rule", &rules).unwrap_or(true);
    table.finish();
    if given && distance.is_none() {
        return None;
    }
    Some(PreMigrationKeys { distance, t_page: t_page?, by_valid })
}

/// Pre-migration on a device of this shape, where the scheme has it.
pub fn plan(
    root: &Reader<'_>,
    own: &Shape,
    shape: &Shape,
    keys: Option<&PreMigrationKeys>,
) -> Option<Option<PreMigration>> {
    let Some(keys) = keys else { return Some(None) };
    let table = root.table("gc").table("background").table(PRE_MIGRATION);
    let all = own.data_pages_per_plane();
    let spare = all.saturating_sub(u64::from(own.exported_pages_per_plane));
    let distance_pages = match &keys.distance {
        None => DISTANCE.of(all),
        Some(Threshold::Pages(pages)) => *pages,
        Some(Threshold::Blocks(blocks)) => {
            own.pages_of_blocks(blocks.saturating_mul(u64::from(own.sub_blocks)).min(1 << 32))
        }
        Some(Threshold::Share { share, of: ShareOf::Physical | ShareOf::Pages }) => share.of(all),
        Some(Threshold::Share { share, of: ShareOf::Spare }) => share.of(spare),
        Some(Threshold::Share { of: ShareOf::Soft, .. }) => {
            super::derive::refuse_share_of_soft(&table, "distance");
            return None;
        }
    };
    if distance_pages == 0 || distance_pages > all {
        table.error(
            "distance",
            format!("distance must be 1 to {all} pages (a plane has {all}), got {distance_pages}"),
            "give for example \"1%\", \"4 blocks\" or \"256 pages\"",
        );
        return None;
    }
    let pages = keys.t_page.of(u64::from(shape.data_pages())) as u32;
    let stop = if keys.by_valid { Stop::ValidLeft(pages) } else { Stop::Moved(pages) };
    Some(Some(PreMigration { distance_pages, stop }))
}
