//! The slot *preemption*: when waiting requests are served during a collection.

use super::blocking::Blocking;
use super::slot::{OneOf, choice};
use crate::device::Device;
use flashgc_config::Reader;
use flashgc_model::gc::choice::{About, Choice, Described, Flag, Key, Row, Word};
use flashgc_model::gc::{GcPlan, Suspends};

/// The slot *preemption*: the service of waiting requests during a collection.
pub struct Preemption;

impl OneOf for Preemption {
    const NAME: &'static str = "preemption";
    const QUESTION: &'static str = "when are waiting requests served during a collection?";
    type Keys = Option<flashgc_model::gc::Preemption>;
    const CHOICES: &'static [Row<Self::Keys>] = &[
        Row {
            choice: choice("never", "a collection is never interrupted", &[]),
            read: |_, _| Some(None),
        },
        Row {
            choice: Choice {
                name: "between-copies",
                about: "requests are served between the copies of a collection, and before its \
                        erase",
                keys: &[&MERGE, &PIPELINE, &POLL],
                source: "paper preemptible-gc, section III",
            },
            read: |table, _| Some(Some(between_copies(table))),
        },
        Row {
            choice: Choice {
                name: "suspend",
                about: "as between-copies, and requests suspend the operation in progress",
                keys: &[&OF, &MERGE, &PIPELINE, &POLL, &WORTH_IT, &MAX_SUSPENDS],
                source: "paper preemptible-gc, section IV",
            },
            read: |table, _| Some(Some(suspend(table))),
        },
    ];
}

const OF: Word<Suspends> = Word {
    name: "of",
    words: &Suspends::WORDS,
    default: 1,
    about: About::All("which operations can be suspended"),
};
const MERGE: Flag = Flag {
    name: "merge",
    default: false,
    about: "requests for the page in the data register are served from it",
};
const PIPELINE: Flag = Flag {
    name: "pipeline",
    default: false,
    about: "a transfer overlaps an operation of the same kind",
};
const POLL: Described = Described(
    "poll",
    "\"0 ns\" (default): time to check the request queue at each preemption point",
);
const WORTH_IT: Flag = Flag {
    name: "worth_it",
    default: false,
    about: "an operation that is about to end is not suspended",
};
const MAX_SUSPENDS: Described =
    Described("max_suspends", "maximum number of suspensions of one operation (default: no limit)");

fn suspend(table: &Reader<'_>) -> flashgc_model::gc::Preemption {
    let suspends = OF.read(table);
    let worth_it = WORTH_IT.read(table);
    let most_suspends = table.u32(MAX_SUSPENDS.name(), 1..=u32::MAX).unwrap_or(u32::MAX);
    flashgc_model::gc::Preemption { suspends, worth_it, most_suspends, ..between_copies(table) }
}

fn between_copies(table: &Reader<'_>) -> flashgc_model::gc::Preemption {
    let poll_ns = table.duration_ns(POLL.name()).unwrap_or(0);
    if poll_ns > 1_000_000_000 {
        table.error(
            POLL.name(),
            format!("poll must be at most 1 s, got {poll_ns} ns"),
            "write for example poll = \"1 us\"",
        );
    }
    flashgc_model::gc::Preemption {
        between_copies: true,
        merge: MERGE.read(table),
        pipeline: PIPELINE.read(table),
        poll_ns,
        suspends: Suspends::Nothing,
        worth_it: false,
        most_suspends: u32::MAX,
    }
}

/// Requests can only preempt a collection that blocks exactly its unit. Suspension needs a device
/// that supports it, and pipelining a device whose commands take no time of their own.
pub fn check(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<()> {
    let Some(preemption) = gc.preemption else { return Some(()) };
    let slots = root.table("gc");
    let name_of = |slot: &str| gc.slots.get(slot).map_or("", String::as_str);
    if gc.blocking.level != device.shape.unit {
        let blocking = name_of(Blocking::NAME);
        slots.table(Blocking::NAME).error(
            "use",
            format!(
                "gc.blocking.use = {blocking:?} cannot be combined with requests that are served \
                 during a collection"
            ),
            "set gc.blocking.use = \"unit\", or gc.preemption.use = \"never\" and \
             gc.pacing.use = \"at-once\"",
        );
        return None;
    }
    let name = name_of(Preemption::NAME);
    let table = slots.table(Preemption::NAME);
    if preemption.suspends != Suspends::Nothing && device.timing.suspend.is_none() {
        table.error(
            "use",
            format!("gc.preemption.use = {name:?} needs a device that can suspend operations"),
            "add [device.suspend] with suspend = \"20 us\", or set gc.preemption.use = \
             \"between-copies\"",
        );
        root.remedy("device.suspend.suspend", "20 us");
        return None;
    }
    if preemption.pipeline && device.timing.command_ns > 0 {
        table.table(name).error(
            PIPELINE.name,
            format!(
                "pipelining needs commands without bus time, but device.timing.command is {} ns",
                device.timing.command_ns
            ),
            "set device.timing.command = \"0 ns\" or pipeline = false",
        );
        root.remedy("device.timing.command", "0 ns");
        return None;
    }
    Some(())
}
