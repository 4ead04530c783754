//! `[gc.background]`: work with another reason than a lack of space. The slot takes one choice, or
//! a list of several.

use super::slot::{Slot, Taken, choice, several};
use crate::derive::refused::{refuse, refused};
use crate::space::refuse_share_of_soft;
use flashgc_config::Reader;
use flashgc_config::units::{Share, ShareOf, Threshold};
use flashgc_model::device::Shape;
use flashgc_model::gc::choice::{About, Choice, Count, Described, Key, Percent, Row, Word};
use flashgc_model::gc::pre_migration::{PreMigration, Stop};
use flashgc_model::gc::{BackgroundPlan, GcPlan, Precedence, ReadReclaim};

/// The background work as configured; amounts of space still depend on the device.
pub struct Background(Vec<Task>);

/// The reader of a task's table: it adds the task to the plan of a device. Errors are noted.
type Task = Box<dyn Fn(&Reader<'_>, &Shape, &mut BackgroundPlan) -> Option<()>>;

const NOTHING: &str = "nothing";
const PRE_MIGRATION: &str = "pre-migration";
const READ_RECLAIM: &str = "read-reclaim";

const CHOICES: &[Row<Task>] = &[
    Row {
        choice: choice(NOTHING, "no background tasks", &[]),
        read: |_, _| Some(switched(|_| {})),
    },
    Row {
        choice: choice(
            "flush-buffer",
            "while no request is outstanding, pages of the device's write buffer are flushed one \
             by one",
            &[],
        ),
        read: |_, _| Some(switched(|plan| plan.flushes_buffer = true)),
    },
    Row {
        choice: Choice {
            name: PRE_MIGRATION,
            about: "while no request is outstanding (or none waits for the unit), valid pages of \
                    the next victim are moved one by one, before collection starts",
            keys: &[&DISTANCE, &T_PAGE, &RULE, &WHEN],
            source: "paper pre-gc, section 4",
        },
        read: |table, _| {
            let keys = pre_migration(table)?;
            Some(Box::new(move |root, shape, plan| {
                plan.pre_migration = Some(keys.plan(root, shape)?);
                Some(())
            }))
        },
    },
    Row {
        choice: Choice {
            name: READ_RECLAIM,
            about: "a block in which the array has read `limit` flash pages for the host since \
                    its erase is collected",
            keys: &[&LIMIT, &PRECEDENCE],
            source: "block-level read reclaim, as in Chun et al. 2025; docs/read-reclaim.md",
        },
        read: |table, _| {
            let (limit, when) = (LIMIT.checked(table)?, PRECEDENCE.read(table));
            Some(switched(move |plan| plan.read_reclaim = Some(ReadReclaim { limit, when })))
        },
    },
];

/// A task whose keys need no device.
fn switched(on: impl Fn(&mut BackgroundPlan) + 'static) -> Task {
    Box::new(move |_, _, plan| {
        on(plan);
        Some(())
    })
}

/// The background work `pre-migration` as configured.
struct PreMigrationKeys {
    distance: Option<Threshold>,
    t_page: Share,
    by_valid: bool,
    when_unit_idle: bool,
}

const DISTANCE: Described = Described(
    "distance",
    "\"1%\" (default), \"4 blocks\" or \"256 pages\": how far above the trigger's threshold moving \
     starts, in space that a plane can still allocate",
);
/// T_block is 11 % of the blocks, and collection starts at 10 % (section 5.1).
const DISTANCE_DEFAULT: Share = Share { numerator: 1, denominator: 100 };
/// T_page of the paper (section 5.1).
const T_PAGE: Percent = Percent {
    name: "t_page",
    default: Share { numerator: 1, denominator: 10 },
    about: "the share of a block's pages that `rule` applies to",
};
/// Whether moving stops by the pages that are left.
const RULE: Word<bool> = Word {
    name: "rule",
    words: &[("valid-left", true), ("moved", false)],
    default: 0,
    about: About::Each(&[
        "stop when at most this share of valid pages is left",
        "stop when this share has been moved",
    ]),
};

/// An order of magnitude for flash with three bits a cell.
const LIMIT: Count = Count {
    name: "limit",
    default: 250_000,
    least: 1,
    most: 1_000_000_000,
    about: "reads of a block between two erases",
};
const PRECEDENCE: Word<Precedence> = Word {
    name: "when",
    words: &[
        ("before-host", Precedence::BeforeHost),
        ("unit-idle", Precedence::UnitIdle),
        ("drive-idle", Precedence::DriveIdle),
    ],
    default: 0,
    about: About::Each(&[
        "in the unit's order of service at the place of collections",
        "while no request waits for the unit",
        "while no request is outstanding",
    ]),
};

/// Whether one unit without requests is enough.
const WHEN: Word<bool> = Word {
    name: "when",
    words: &[("drive-idle", false), ("unit-idle", true)],
    default: 0,
    about: About::Each(&["while no request is outstanding", "while no request waits for the unit"]),
};

impl Slot for Background {
    const NAME: &'static str = "background";
    const QUESTION: &'static str = "what is done in the background, before a collection?";
    type Keys = Background;

    fn choices() -> Vec<Choice> {
        CHOICES.iter().map(|row| row.choice).collect()
    }

    fn read(gc: &Reader<'_>, registers: u32) -> Option<Taken<Background>> {
        let table = gc.table(Background::NAME);
        let mut used = several(&table, CHOICES, registers)?;
        if used.has(NOTHING) && used.count() > 1 {
            let help = "remove \"nothing\" from the list";
            table.error("use", "\"nothing\" cannot be combined with other background tasks", help);
            return None;
        }
        let (name, unused) = (used.name(), std::mem::take(&mut used.unused));
        Some(Taken { name, keys: Background(used.parts()?), unused })
    }
}

impl Background {
    /// The background work on a device of this shape.
    pub fn plan(&self, root: &Reader<'_>, shape: &Shape) -> Option<BackgroundPlan> {
        let mut plan = BackgroundPlan::default();
        self.0.iter().try_for_each(|task| task(root, shape, &mut plan))?;
        Some(plan)
    }
}

/// Read reclaim counts the reads of whole blocks and collects them, whether the host writes or not.
pub fn check(root: &Reader<'_>, gc: &GcPlan) -> Option<()> {
    if gc.background.read_reclaim.is_none() {
        return Some(());
    }
    let rows = [
        refused(
            gc.sub_blocks.is_some(),
            ("gc.erase.use", Some("\"block\"")),
            "it counts the reads of whole blocks and erases those",
        ),
        refused(
            gc.tokens.is_some(),
            ("gc.pacing.use", Some("\"at-once\"")),
            "a collection that tokens pay for rests while the host writes nothing, and blocks are \
             reclaimed under reads",
        ),
    ];
    let by = "gc.background.use = \"read-reclaim\"";
    refuse(root, rows, by, "set gc.background.use = \"nothing\"")
}

fn pre_migration(table: &Reader<'_>) -> Option<PreMigrationKeys> {
    let given = table.has(DISTANCE.name());
    let distance = table.threshold(DISTANCE.name());
    let t_page = T_PAGE.read(table);
    let by_valid = RULE.read(table);
    let when_unit_idle = WHEN.read(table);
    if given && distance.is_none() {
        return None;
    }
    Some(PreMigrationKeys { distance, t_page: t_page?, by_valid, when_unit_idle })
}

impl PreMigrationKeys {
    /// Pre-migration on a device of this shape.
    fn plan(&self, root: &Reader<'_>, shape: &Shape) -> Option<PreMigration> {
        let table = root.table("gc").table(Background::NAME).table(PRE_MIGRATION);
        // Shares refer to the device without the space that a scheme adds.
        let own = &shape.without_extra();
        let all = own.data_pages_per_plane();
        let spare = all.saturating_sub(u64::from(own.exported_pages_per_plane));
        let distance_pages = match &self.distance {
            None => DISTANCE_DEFAULT.of(all),
            Some(Threshold::Pages(pages)) => *pages,
            Some(Threshold::Blocks(blocks)) => {
                own.pages_of_blocks(blocks.saturating_mul(u64::from(own.sub_blocks)).min(1 << 32))
            }
            Some(Threshold::Share { share, of: ShareOf::Physical | ShareOf::Pages }) => {
                share.of(all)
            }
            Some(Threshold::Share { share, of: ShareOf::Spare }) => share.of(spare),
            Some(Threshold::Share { of: ShareOf::Soft, .. }) => {
                refuse_share_of_soft(&table, DISTANCE.name());
                return None;
            }
        };
        if distance_pages == 0 || distance_pages > all {
            table.error(
                DISTANCE.name(),
                format!(
                    "distance must be 1 to {all} pages (a plane has {all}), got {distance_pages}"
                ),
                "give for example \"1%\", \"4 blocks\" or \"256 pages\"",
            );
            return None;
        }
        let pages = self.t_page.of(u64::from(shape.data_pages())) as u32;
        let stop = if self.by_valid { Stop::ValidLeft(pages) } else { Stop::Moved(pages) };
        Some(PreMigration { distance_pages, stop, when_unit_idle: self.when_unit_idle })
    }
}
