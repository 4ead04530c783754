//! The trigger `idle`: in addition to another one, collection while the drive is idle.

use crate::slots::slot::choice;
use crate::space::space;
use flashgc_config::Reader;
use flashgc_config::units::{Threshold, counted, parse_duration_ns};
use flashgc_model::device::Shape;
use flashgc_model::gc::choice::{Choice, Described, Key};
use flashgc_model::gc::{Idle, Space, Wait};

/// The declaration.
pub const CHOICE: Choice = choice(
    "idle",
    "in addition to another trigger: while no request is outstanding, units collect in advance",
    &[&WAIT, &THRESHOLD],
);

const WAIT: Described = Described(
    "wait",
    "\"mean-collection\" (default) or a duration: how long the drive is idle before collection \
     starts",
);
const THRESHOLD: Described = Described(
    "threshold",
    "the proactive threshold, as in \"8 blocks\" (default: twice the soft threshold)",
);
const MEAN_COLLECTION: &str = "mean-collection";

/// The trigger as configured.
pub struct IdleTrigger {
    wait: Wait,
    threshold: Option<Threshold>,
}

/// Reads the table. Errors are noted.
pub fn read(table: &Reader<'_>) -> Option<IdleTrigger> {
    let wait = wait(table);
    let threshold = table.threshold(THRESHOLD.name());
    let given_ns = match wait {
        Some(Wait::Ns(ns)) => ns,
        _ => 0,
    };
    if given_ns > 1_000_000_000_000 {
        let message = format!("wait must be at most 1000 s, got {} s", given_ns as f64 / 1e9);
        table.error(WAIT.name(), message, "write for example wait = \"5 ms\"");
        return None;
    }
    Some(IdleTrigger { wait: wait?, threshold })
}

fn wait(table: &Reader<'_>) -> Option<Wait> {
    if !table.has(WAIT.name()) {
        return Some(Wait::MeanCollection);
    }
    if !table.is_text(WAIT.name()) {
        // The value is refused, with the right form in the error.
        return table.duration_ns(WAIT.name()).map(Wait::Ns);
    }
    let text = table.string(WAIT.name())?;
    if text == MEAN_COLLECTION {
        return Some(Wait::MeanCollection);
    }
    let ns = parse_duration_ns(text);
    if ns.is_err() {
        let help = format!("write {MEAN_COLLECTION:?} or a duration, as in \"5 ms\"");
        table.error(
            WAIT.name(),
            format!("wait must be {MEAN_COLLECTION:?} or a duration, got {text:?}"),
            help,
        );
    }
    ns.ok().map(Wait::Ns)
}

/// The idle trigger, if the scheme has it: its threshold is twice the soft threshold unless it is
/// given.
pub fn plan(
    slot: &Reader<'_>,
    idle: Option<&IdleTrigger>,
    shape: &Shape,
    soft: Space,
) -> Option<Option<Idle>> {
    let Some(idle) = idle else { return Some(None) };
    let table = slot.table(CHOICE.name);
    let threshold = match &idle.threshold {
        Some(threshold) => space(&table, THRESHOLD.name(), threshold, &shape.without_extra())?,
        None => soft.twice(),
    };
    if threshold.pages(shape) < soft.pages(shape) {
        table.error(
            THRESHOLD.name(),
            format!(
                "the proactive threshold ({}) is below the soft threshold ({})",
                counted(threshold.pages(shape), "page"),
                counted(soft.pages(shape), "page")
            ),
            format!(
                "give at least \"{}\", or remove it for the default of twice the soft threshold",
                counted(soft.pages(shape), "page")
            ),
        );
        return None;
    }
    Some(Some(Idle { wait: idle.wait, threshold }))
}
