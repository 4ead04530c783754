//! The slot *copy*: how valid pages are moved.

use super::slot::{OneOf, choice};
use crate::device::Device;
use flashgc_config::Reader;
use flashgc_model::device::Geometry;
use flashgc_model::gc::GcPlan;
use flashgc_model::gc::choice::{About, Described, Flag, Key, Row, Word};
use flashgc_model::gc::copy::{Bus, CopyChoice, CopyPath, Copyback, Instant, ListOf, Parallel};
use flashgc_model::plan::{Allocation, Plan};

/// The slot *copy*: the path of valid pages.
pub struct Copy;

impl OneOf for Copy {
    const NAME: &'static str = "copy";
    const QUESTION: &'static str = "how are valid pages moved?";
    type Keys = CopyChoice;
    const CHOICES: &'static [Row<CopyChoice>] = &[
        Row {
            choice: choice("copyback", "within the plane, without the bus", &[&PARITY]),
            read: |table, _| Some(CopyChoice::Copyback(Copyback { parity: PARITY.read(table) })),
        },
        Row {
            choice: choice("bus", "through the controller, over the bus", &[]),
            read: |_, _| Some(CopyChoice::Bus(Bus)),
        },
        Row {
            choice: choice(
                "instant",
                "copyback in no time, erases too, which no device reaches",
                &[],
            ),
            read: |_, _| Some(CopyChoice::Instant(Instant)),
        },
        Row {
            choice: choice(
                PARALLEL,
                "several pages of a plane at once, one per data register",
                &[&WORKERS, &LOCAL_PARITY, &PATH, &LIST],
            ),
            read: |table, registers| Some(CopyChoice::Parallel(parallel(table, registers))),
        },
    ];
}

const PARALLEL: &str = "parallel";

const PARITY: Flag =
    Flag { name: "parity", default: false, about: "copies stay on odd or even page numbers" };
const WORKERS: Described =
    Described("workers", "number of pages copied at once (default: device.registers)");
const LOCAL_PARITY: Flag = Flag {
    name: "parity",
    default: true,
    about: "copies stay on odd or even page numbers; local only",
};
const PATH: Word<CopyPath> = Word {
    name: "path",
    words: &CopyPath::WORDS,
    default: 0,
    about: About::Each(&["by copyback", "over the bus to other units"]),
};
const LIST: Word<ListOf> = Word {
    name: "list",
    words: &ListOf::WORDS,
    default: 0,
    about: About::All("one list of pages per victim block, or one for all of them"),
};

/// Parallel page migration: the number of pages in parallel is at most the registers of a plane.
fn parallel(table: &Reader<'_>, registers: u32) -> Parallel {
    let workers = table.u32(WORKERS.name(), 1..=64).unwrap_or(registers);
    if workers > registers {
        table.error(
            WORKERS.name(),
            format!("workers must be at most {registers} (device.registers), got {workers}"),
            format!("give at most {registers}, or set device.registers = {workers}"),
        );
    }
    let path = PATH.read(table);
    let is_given = table.bool(LOCAL_PARITY.name) == Some(true);
    if path == CopyPath::Global && is_given {
        table.error(
            LOCAL_PARITY.name,
            "parity = true needs path = \"local\", got path = \"global\"",
            "remove `parity`, or set path = \"local\"",
        );
    }
    let parity = path == CopyPath::Local && LOCAL_PARITY.read(table);
    Parallel { workers, parity, path, list: LIST.read(table) }
}

/// The table of the key by which copies leave their plane.
pub fn path_table<'a>(slots: &Reader<'a>) -> Reader<'a> {
    slots.table(Copy::NAME).table(PARALLEL)
}

/// The remedy where copies can go neither by parity nor to other units.
pub const WITHOUT_PARITY: &str =
    "set parity = false and path = \"local\", or gc.copy.use = \"copyback\" or \"bus\"";

/// Pages that leave their plane must be found by the map, and need another unit to go to.
pub fn check(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<()> {
    if !gc.copy.is_global() {
        return Some(());
    }
    let table = path_table(&root.table("gc"));
    if device.allocation == Allocation::Striped {
        table.error(
            PATH.name,
            "path = \"global\" copies pages to other units, which needs dynamic allocation, but \
             device.allocation is \"striped\"",
            "set device.allocation = \"dynamic\" or path = \"local\"",
        );
        root.remedy("device.allocation", "dynamic");
        return None;
    }
    let is_in_one = device.pool.is_some_and(|pool| pool >= device.shape.unit);
    if is_in_one || Geometry::new(device.shape.clone()).units == 1 {
        table.error(
            PATH.name,
            "path = \"global\" copies pages to other units, but there is only one to allocate from",
            "set path = \"local\", or set device.pool to a part with several units",
        );
        return None;
    }
    Some(())
}

/// A note for the user: parallel copies need several registers.
pub fn note(plan: &Plan) -> Option<String> {
    let is_serial = matches!(plan.gc.copy, CopyChoice::Parallel(_)) && plan.gc.copy.at_once() == 1;
    is_serial.then(|| {
        "pages are copied one at a time: a plane has one data register (device.registers), or the \
         scheme uses one worker (gc.copy.parallel.workers)"
            .into()
    })
}
