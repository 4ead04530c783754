//! `[gc.trigger]`: when a plane needs space. The slot takes one trigger, or a list that joins
//! several.

use super::gc::{choice, joined_words, pass_over};
use super::used_space::{self, USED_SPACE, UsedSpaceTrigger};
use crate::gc::victim::Choice;
use crate::gc::{Batch, Wait};
use flashgc_config::Reader;
use flashgc_config::units::{Threshold, parse_duration_ns};

/// The triggers as configured; amounts of space still depend on the device.
pub struct Trigger {
    /// `None`: just above the reserve.
    pub soft: Option<Threshold>,
    pub hard: Hard,
    pub stop: Option<Threshold>,
    pub inclusive: bool,
    pub batch: Batch,
    pub idle_units: bool,
    pub used_space: Option<UsedSpaceTrigger>,
    pub idle: Option<IdleTrigger>,
}

/// The threshold below which collection is served before requests.
pub enum Hard {
    /// Just above the reserve.
    Default,
    /// There is none.
    None,
    /// As given.
    At(Threshold),
}

/// The trigger `idle` as configured.
pub struct IdleTrigger {
    pub wait: Wait,
    pub threshold: Option<Threshold>,
}

/// The choices of the slot.
pub struct TriggerSlot {
    /// The triggers in use, for users.
    pub name: &'static str,
    pub trigger: Trigger,
    /// Parameters of triggers that are not in use.
    pub unused: Vec<String>,
}

const WATERMARK: &str = "watermark";
const IDLE: &str = "idle";
const WATERMARK_AND_IDLE: &str = "watermark + idle";
const USED_SPACE_AND_IDLE: &str = "used-space + idle";
const MEAN_COLLECTION: &str = "mean-collection";

/// The triggers.
pub const CHOICES: &[Choice] = &[
    choice(
        WATERMARK,
        "a plane needs collection when its free space is below a threshold, checked after each \
         page is allocated",
        &[
            ("soft", "the threshold: \"4 blocks\", \"256 pages\", \"5%\" or \"50% of spare\""),
            (
                "hard",
                "below it collection goes before writes: a threshold, \"20% of soft\" or \"none\"",
            ),
            ("stop", "once below soft, collect until this much is free (default: soft)"),
            ("compare", "\"<\" (default) or \"<=\": whether the threshold itself counts as below"),
            ("batch", "\"one\" (default), \"until-stop\" or \"list\": blocks of one batch"),
            (
                "idle_units",
                "true (default) or false: whether a unit without waiting requests collects",
            ),
        ],
    ),
    used_space::CHOICE,
    choice(
        IDLE,
        "in addition to another trigger: while no request is outstanding, units collect in \
         advance",
        &[
            (
                "wait",
                "\"mean-collection\" (default) or a duration: how long the drive is idle before \
                 collection starts",
            ),
            (
                "threshold",
                "the proactive threshold, as in \"8 blocks\" (default: twice the soft threshold)",
            ),
        ],
    ),
];

/// Reads the table. Errors are noted.
pub fn read(gc: &Reader<'_>) -> Option<TriggerSlot> {
    let table = gc.table("trigger");
    let used = joined_words(&table, CHOICES);
    let mut unused = Vec::new();
    let is_used = |name: &str| used.as_ref().is_some_and(|words| words.contains(&name));
    for choice in CHOICES.iter().filter(|choice| !is_used(choice.name)) {
        pass_over(&table, "trigger", choice.name, &mut unused);
    }
    let watermark = is_used(WATERMARK).then(|| watermark(&table.table(WATERMARK)));
    let used_space = is_used(USED_SPACE).then(|| used_space::read(&table.table(USED_SPACE)));
    let idle = is_used(IDLE).then(|| idle(&table.table(IDLE)));
    table.finish();
    used.as_ref()?;
    if watermark.is_some() && used_space.is_some() {
        table.error(
            "use",
            "the triggers \"watermark\" and \"used-space\" cannot be combined: each defines when a \
             plane has enough space",
            "choose one of them, alone or together with \"idle\"",
        );
        return None;
    }
    let by_marks = watermark.is_some();
    let Some(marks) = watermark.or(used_space) else {
        table.error(
            "use",
            "the trigger \"idle\" alone never collects on a drive that is never idle",
            "combine it with another, as in `gc.trigger.use = [\"watermark\", \"idle\"]`",
        );
        return None;
    };
    let name = match (by_marks, idle.is_some()) {
        (true, false) => WATERMARK,
        (true, true) => WATERMARK_AND_IDLE,
        (false, false) => USED_SPACE,
        (false, true) => USED_SPACE_AND_IDLE,
    };
    let idle = match idle {
        None => None,
        Some(idle) => Some(idle?),
    };
    Some(TriggerSlot { name, trigger: Trigger { idle, ..marks? }, unused })
}

fn watermark(table: &Reader<'_>) -> Option<Trigger> {
    let soft = table.required(
        "soft",
        table.threshold("soft"),
        "the free space below which collection starts, as in `soft = \"4 blocks\"`",
    );
    let text = if table.is_text("hard") { table.string("hard") } else { None };
    let hard = match text {
        Some("none") => Hard::None,
        _ => table.threshold("hard").map_or(Hard::Default, Hard::At),
    };
    let stop = table.threshold("stop");
    let inclusive = table.choice("compare", &[("<", false), ("<=", true)]).unwrap_or(false);
    let batch = table.choice("batch", &Batch::WORDS).unwrap_or(Batch::One);
    let idle_units = table.bool("idle_units").unwrap_or(true);
    table.finish();
    let (soft, used_space, idle) = (Some(soft?), None, None);
    Some(Trigger { soft, hard, stop, inclusive, batch, idle_units, used_space, idle })
}

fn idle(table: &Reader<'_>) -> Option<IdleTrigger> {
    let wait = wait(table);
    let threshold = table.threshold("threshold");
    table.finish();
    let given_ns = match wait {
        Some(Wait::Ns(ns)) => ns,
        _ => 0,
    };
    if given_ns > 1_000_000_000_000 {
        let message = format!("wait must be at most 1000 s, got {} s", given_ns as f64 / 1e9);
        table.error("wait", message, "write for example wait = \"5 ms\"");
        return None;
    }
    Some(IdleTrigger { wait: wait?, threshold })
}

fn wait(table: &Reader<'_>) -> Option<Wait> {
    if !table.has("wait") {
        return Some(Wait::MeanCollection);
    }
    if !table.is_text("wait") {
        // The value is refused, with the right form in the error.
        return table.duration_ns("wait").map(Wait::Ns);
    }
    let text = table.string("wait")?;
    if text == MEAN_COLLECTION {
        return Some(Wait::MeanCollection);
    }
    let ns = parse_duration_ns(text);
    if ns.is_err() {
        let help = format!("write {MEAN_COLLECTION:?} or a duration, as in \"5 ms\"");
        table.error(
            "wait",
            format!("wait must be {MEAN_COLLECTION:?} or a duration, got {text:?}"),
            help,
        );
    }
    ns.ok().map(Wait::Ns)
}
