//! The slot *blocking*, and the choices of other slots that it needs to block single blocks.

use super::copy;
use super::slot::{OneOf, choice};
use flashgc_config::Reader;
use flashgc_model::device::{Level, Shape};
use flashgc_model::gc::choice::{Choice, Described, Key, Row};
use flashgc_model::gc::{BlockingChoice, GcPlan, Suspends};

/// The part that is blocked for the host.
pub struct Blocking {
    /// `None`: the device's unit.
    level: Option<Level>,
    /// The smaller part that is blocked during the erase.
    erasing: Option<Level>,
    /// Whether it is blocked for other collections as well.
    one_collection: bool,
    /// Whether only the blocks concerned are blocked.
    pub blocks_only: bool,
}

impl OneOf for Blocking {
    const NAME: &'static str = "blocking";
    const QUESTION: &'static str = "which part is blocked for the host during a collection?";
    type Keys = Blocking;
    const CHOICES: &'static [Row<Blocking>] = &[
        Row {
            choice: choice(
                "unit",
                "the device's unit is blocked for the host during a collection",
                &[],
            ),
            read: |_, _| Some(UNIT),
        },
        Row {
            choice: choice("channel", "the whole channel is blocked", &[&ERASING, &COLLECTIONS]),
            read: |table, _| {
                let one_collection = table.choice(COLLECTIONS.name(), COLLECTIONS_WORDS);
                let one_collection = one_collection.unwrap_or(false);
                Some(Blocking { one_collection, ..part(table, Level::Channel) })
            },
        },
        Row {
            choice: choice("chip", "the whole chip is closed", &[&ERASING]),
            read: |table, _| Some(part(table, Level::Chip)),
        },
        Row {
            choice: choice("die", "the whole die is closed", &[&ERASING]),
            read: |table, _| Some(part(table, Level::Die)),
        },
        Row {
            choice: choice("plane", "only the plane is closed", &[]),
            read: |_, _| Some(Blocking { level: Some(Level::Plane), ..UNIT }),
        },
        Row {
            choice: Choice {
                name: "blocks",
                about: "only the victim and the block that copies fill are closed; with one \
                        frontier this is the host's, and writes wait for the end of the batch",
                keys: &[],
                source: "paper on-demand-gc, section 5.3, after Ae and Hong 2022",
            },
            read: |_, _| Some(Blocking { blocks_only: true, ..UNIT }),
        },
    ];
}

const UNIT: Blocking =
    Blocking { level: None, erasing: None, one_collection: false, blocks_only: false };
const COLLECTIONS: Described = Described(
    "collections",
    "how many collections may move pages in the channel at once: any number (default) or one",
);
const COLLECTIONS_WORDS: &[(&str, bool)] = &[("any", false), ("one", true)];
const ERASING: Described = Described(
    "erasing",
    "the part that is blocked during the erase: the same (default) or a smaller one",
);

/// A part of this level, or a smaller one during the erase; the smallest is a plane.
fn part(table: &Reader<'_>, level: Level) -> Blocking {
    let erasing = table.choice(ERASING.name(), &Level::WORDS[level as usize..]);
    let erasing = erasing.filter(|&smaller| smaller != level);
    Blocking { level: Some(level), erasing, ..UNIT }
}

impl Blocking {
    /// The blocking on a device of this shape.
    pub fn plan(&self, shape: &Shape, takes_time: bool) -> BlockingChoice {
        let level = self.level.unwrap_or(shape.unit);
        // A unit that erases serves no request, and an erase of no length blocks none.
        let erasing = self.erasing.filter(|_| level < shape.unit && takes_time);
        let erasing = erasing.map(|erasing| erasing.min(shape.unit));
        // A unit has one collection at most.
        let one_collection = self.one_collection && level < shape.unit;
        BlockingChoice { level, blocks: self.blocks_only, erasing, one_collection }
    }

    /// The keys that have no effect: the part is never larger than the unit, or erases take no
    /// time.
    pub fn unused(&self, gc: &GcPlan) -> impl Iterator<Item = String> + use<> {
        let BlockingChoice { level, erasing, one_collection, .. } = gc.blocking;
        let keys = [
            ("erasing", self.erasing.is_some() && erasing.is_none()),
            (COLLECTIONS.name(), self.one_collection && !one_collection),
        ];
        let unused = keys.into_iter().filter(|&(_, is_unused)| is_unused);
        unused.map(move |(key, _)| format!("gc.blocking.{}.{key}", level.word()))
    }
}

/// A collection that blocks single blocks admits requests between its copies only, never into its
/// register, and its copies fill one block.
pub fn check(root: &Reader<'_>, gc: &GcPlan) -> Option<()> {
    if !gc.blocking.blocks {
        return Some(());
    }
    admits_between_copies(root, gc)?;
    fills_one_block(root, gc)
}

/// Requests are served between copies, and never from the register.
fn admits_between_copies(root: &Reader<'_>, gc: &GcPlan) -> Option<()> {
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
    Some(())
}

/// Whole blocks are erased, and copies fill one block of the plane: their own, or the host's.
fn fills_one_block(root: &Reader<'_>, gc: &GcPlan) -> Option<()> {
    let slots = root.table("gc");
    if gc.sub_blocks.is_some() {
        slots.table("blocking").error(
            "use",
            "gc.blocking.use = \"blocks\" needs whole-block erase, but this scheme erases \
             sub-blocks",
            "set gc.erase.use = \"block\", or choose another gc.blocking.use",
        );
        return None;
    }
    if gc.placement.is_some() {
        let name = gc.slots.get("placement").map_or("", String::as_str);
        slots.table("placement").error(
            "use",
            format!(
                "gc.blocking.use = \"blocks\" closes the one block that copies fill, but \
                 gc.placement.use = {name:?} has one for each class"
            ),
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
        copy::path_table(&slots).error(
            "path",
            "gc.blocking.use = \"blocks\" needs copies within the plane, but path = \"global\"",
            "set path = \"local\", or choose another gc.blocking.use",
        );
        return None;
    }
    Some(())
}
