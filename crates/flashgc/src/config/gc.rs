//! `[gc]`: one choice for each slot, and the parameters of the choices.

use super::background::{self, Background, BackgroundSlot};
use super::pacing::{self, TimeSliceKeys};
use super::trigger::{self, Trigger, TriggerSlot};
use super::{blocking, hotness};
use crate::device::Level;
use crate::gc::placement::HotnessGroups;
use crate::gc::victim::{self, Choice};
use crate::gc::{CopyChoice, CopyPath, Isolation, ListOf, ParallelCopy, Preemption, Suspends};
use flashgc_config::Reader;
use flashgc_config::units::Threshold;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The scheme as configured; amounts of space still depend on the device.
pub struct Scheme {
    pub name: String,
    pub trigger: Trigger,
    pub erase_blocks: u32,
    /// How sub-blocks are isolated, where they are erased.
    pub sub_blocks: Option<Isolation>,
    pub move_cap: Option<Threshold>,
    pub victim: victim::Settings,
    pub copy: CopyChoice,
    pub separate_gc: bool,
    /// Where pages go by their hotness, where they do.
    pub hotness_groups: Option<HotnessGroups>,
    /// `None`: the device's unit.
    pub blocking: Option<Level>,
    /// The smaller part that is blocked during the erase.
    pub blocking_erasing: Option<Level>,
    /// Whether only the blocks concerned are blocked.
    pub blocks_only: bool,
    pub preemption: Option<Preemption>,
    /// How a collection is spread over time, where it is.
    pub time_slices: Option<TimeSliceKeys>,
    pub background: Background,
    /// The choice of every slot.
    pub slots: BTreeMap<&'static str, &'static str>,
    /// Parameters of choices that are not in use.
    pub unused: Vec<String>,
}

impl Scheme {
    /// Streams of copies, each with an open block of its own.
    pub fn streams(&self) -> u32 {
        self.hotness_groups.as_ref().map_or(1, |groups| groups.groups() + 1)
    }
}

/// A choice of a slot, with its description for users.
pub const fn choice(
    name: &'static str,
    about: &'static str,
    keys: &'static [(&'static str, &'static str)],
) -> Choice {
    Choice { name, about, keys, source: "" }
}

const ERASE: &[Choice] = &[
    choice("block", "one block", &[]),
    choice(
        "blocks",
        "several blocks of a plane in one erase time: the next in rank, as far as there are any",
        &[
            ("k", "2 (default), 2 to 64: number of blocks erased at once"),
            (
                "move_cap",
                "\"1 block\" or \"48 pages\": limit on moved pages; a block that exceeds it is not \
                 added",
            ),
        ],
    ),
    Choice {
        name: SUB_BLOCKS,
        about: "sub-blocks of one block, in one erase time",
        keys: &[(
            "isolation",
            "\"software\" (default): valid pages in adjacent sub-blocks are moved first; \
             \"hardware\": layers between sub-blocks never hold data",
        )],
        source: "paper speedup-gc, section II-A",
    },
];
const COPY: &[Choice] = &[
    choice(
        "copyback",
        "within the plane, without the bus",
        &[("parity", "false (default) or true: copies stay on odd or even page numbers")],
    ),
    choice("bus", "through the controller, over the bus", &[]),
    choice(
        "parallel",
        "several pages of a plane at once, one per data register",
        &[
            ("workers", "number of pages copied at once (default: device.registers)"),
            (
                "parity",
                "true (default) or false: copies stay on odd or even page numbers; local only",
            ),
            ("path", "\"local\" (default): by copyback; \"global\": over the bus to other units"),
            (
                "list",
                "\"block\" (default) or \"extent\": one list of pages per victim block, or one for \
                 all of them",
            ),
        ],
    ),
];
const PLACEMENT: &[Choice] = &[
    choice("one-frontier", "copies share the plane's open block with host writes", &[]),
    choice("separate-gc", "copies go to a separate open block", &[]),
    Choice {
        name: HOTNESS_GROUPS,
        about: "frequently updated pages go to sub-blocks that are likely to be erased soon",
        keys: hotness::KEYS,
        source: "paper speedup-gc, section III",
    },
];
const BLOCKING: &[Choice] = &[
    choice("unit", "the device's unit is blocked for the host during a collection", &[]),
    choice("channel", "the whole channel is blocked", &[ERASING]),
    choice("chip", "the whole chip is closed", &[ERASING]),
    choice("die", "the whole die is closed", &[ERASING]),
    choice("plane", "only the plane is closed", &[]),
    Choice {
        name: BLOCKING_BLOCKS,
        about: "only the victim and the block that copies fill are closed; everything else stays \
                open",
        keys: &[],
        source: "paper on-demand-gc, section 5.3, after Ae and Hong 2022",
    },
];
const ERASING: (&str, &str) =
    ("erasing", "the part that is blocked during the erase: the same (default) or a smaller one");
const PREEMPTION: &[Choice] = &[
    choice("never", "a collection is never interrupted", &[]),
    Choice {
        name: "between-copies",
        about: "requests are served between the copies of a collection, and before its erase",
        keys: &[MERGE, PIPELINE, POLL],
        source: "paper preemptible-gc, section III",
    },
    Choice {
        name: "suspend",
        about: "as between-copies, and requests suspend the operation in progress",
        keys: &[
            ("of", "\"any\" (default) or \"erase\": which operations can be suspended"),
            MERGE,
            PIPELINE,
            POLL,
            (
                "worth_it",
                "false (default) or true: an operation that is about to end is not suspended",
            ),
            ("max_suspends", "maximum number of suspensions of one operation (default: no limit)"),
        ],
        source: "paper preemptible-gc, section IV",
    },
];
const MERGE: (&str, &str) = (
    "merge",
    "false (default) or true: requests for the page in the data register are served from it",
);
const PIPELINE: (&str, &str) =
    ("pipeline", "false (default) or true: a transfer overlaps an operation of the same kind");
const POLL: (&str, &str) =
    ("poll", "\"0 ns\" (default): time to check the request queue at each preemption point");
/// The choice of *blocking* that needs a collection which requests can preempt.
pub const BLOCKING_BLOCKS: &str = "blocks";
/// The choice of *erase* that needs a device with sub-blocks.
pub const SUB_BLOCKS: &str = "sub-blocks";
/// The choice of *placement* that needs sub-blocks.
pub const HOTNESS_GROUPS: &str = "hotness-groups";
/// The choice of *pacing* that serves requests between the time slices of a collection.
pub const TIME_SLICES: &str = "time-slices";

/// The slots in the order of the manual, each with its question and its choices.
const SLOTS: &[(&str, &str, &[Choice])] = &[
    (
        "trigger",
        "when does a plane need collection, and when does it have enough space?",
        trigger::CHOICES,
    ),
    ("erase", "what does one erase free?", ERASE),
    ("victim", "which candidate is collected next?", victim::Settings::CHOICES),
    ("copy", "how are valid pages moved?", COPY),
    ("placement", "where are host and copied pages written?", PLACEMENT),
    ("blocking", "which part is blocked for the host during a collection?", BLOCKING),
    ("preemption", "when are waiting requests served during a collection?", PREEMPTION),
    ("pacing", "how is a collection spread over time?", pacing::CHOICES),
    ("background", "what is done in the background, before a collection?", background::CHOICES),
];

/// The slots and their choices as data.
pub fn slots_json() -> Value {
    let slots = SLOTS.iter().map(|(name, question, choices)| {
        json!({ "name": name, "question": question, "choices": choices })
    });
    Value::Array(slots.collect())
}

/// One slot's table: the choice in use and its parameters.
struct Slot<'a> {
    name: &'static str,
    settings: Reader<'a>,
    unused: Vec<String>,
}

fn slot<'a>(gc: &Reader<'a>, at: usize) -> Option<Slot<'a>> {
    let (name, _, choices) = SLOTS[at];
    let table = gc.table(name);
    let options: Vec<(&str, &'static str)> = choices.iter().map(|c| (c.name, c.name)).collect();
    let used = table.choice("use", &options);
    let mut unused = Vec::new();
    for choice in choices.iter().filter(|choice| Some(choice.name) != used) {
        pass_over(&table, name, choice.name, &mut unused);
    }
    let used = table.required(
        "use",
        used,
        "set it to a choice of this slot; `flashgc schemes --slots` lists them",
    );
    let settings = used.map(|used| table.table(used));
    table.finish();
    Some(Slot { name: used?, settings: settings?, unused })
}

/// The choices in use of a slot that may have several: one word, or a list of different ones.
pub fn joined_words(table: &Reader<'_>, choices: &[Choice]) -> Option<Vec<&'static str>> {
    let options: Vec<(&str, &'static str)> = choices.iter().map(|c| (c.name, c.name)).collect();
    if !table.has("use") || table.is_text("use") {
        let used = table.choice("use", &options);
        let help = "set it to a choice of this slot; `flashgc schemes --slots` lists them";
        return table.required("use", used, help).map(|used| vec![used]);
    }
    let given = table.strings("use")?;
    let known = |word: &String| options.iter().find(|(name, _)| name == word).map(|(_, n)| *n);
    let used: Vec<&'static str> = given.iter().filter_map(known).collect();
    let is_twice = used.iter().enumerate().any(|(at, word)| used[..at].contains(word));
    if used.len() != given.len() || used.is_empty() || is_twice {
        let names: Vec<String> = options.iter().map(|(name, _)| format!("{name:?}")).collect();
        table.error(
            "use",
            format!("{given:?} is not a list of different choices of this slot"),
            format!("give one or more of {}, each once", names.join(", ")),
        );
        return None;
    }
    Some(used)
}

/// Notes the parameters of a choice that is not in use.
pub fn pass_over(table: &Reader<'_>, slot: &str, choice: &str, unused: &mut Vec<String>) {
    if table.is_table(choice) {
        let keys = table.table(choice).keys();
        unused.extend(keys.iter().map(|key| format!("gc.{slot}.{choice}.{key}")));
    } else {
        table.allow(choice);
    }
}

/// The choice of every slot, and the parameters of others.
fn in_use(
    trigger: Option<&TriggerSlot>,
    slots: &[Option<Slot<'_>>],
    background: Option<&BackgroundSlot>,
) -> (BTreeMap<&'static str, &'static str>, Vec<String>) {
    let [first, between @ .., last] = SLOTS else { return Default::default() };
    let of_trigger = trigger.map(|slot| (first.0, slot.name, &slot.unused));
    let of_background = background.map(|slot| (last.0, slot.name, &slot.unused));
    let others = between.iter().zip(slots);
    let others = others.filter_map(|((name, ..), slot)| {
        slot.as_ref().map(|slot| (*name, slot.name, &slot.unused))
    });
    let all: Vec<_> = of_trigger.into_iter().chain(others).chain(of_background).collect();
    let used = all.iter().map(|&(slot, choice, _)| (slot, choice)).collect();
    (used, all.iter().flat_map(|(.., unused)| unused.iter().cloned()).collect())
}

/// Reads the table; `registers` is the number of data registers in a plane. Errors are noted;
/// `None` where no scheme can be made.
pub fn read(gc: &Reader<'_>, registers: u32) -> Option<Scheme> {
    let name = gc.string("scheme").unwrap_or(super::presets::DEFAULT_SCHEME).to_string();
    let trigger = trigger::read(gc);
    // The first and the last slot, trigger and background, may have several choices each.
    let last = SLOTS.len() - 1;
    let slots: Vec<Option<Slot<'_>>> = (1..last).map(|at| slot(gc, at)).collect();
    let background = background::read(gc);
    gc.finish();
    let (used, unused) = in_use(trigger.as_ref(), &slots, background.as_ref());
    let mut slots = slots.into_iter();
    let mut next = || slots.next().flatten();
    let (erase, victim, copy) = (next(), next(), next());
    let (placement, blocking, preemption, pacing) = (next(), next(), next(), next());
    let victim = victim.and_then(|slot| {
        let settings = victim::Settings::read(slot.name, &slot.settings);
        slot.settings.finish();
        settings
    });
    let copy = copy.map(|slot| {
        let choice = copy_choice(slot.name, &slot.settings, registers);
        slot.settings.finish();
        choice
    });
    let (erase_blocks, move_cap) = match &erase {
        Some(slot) if slot.name == "blocks" => {
            (slot.settings.u32("k", 2..=64).unwrap_or(2), slot.settings.threshold("move_cap"))
        }
        _ => (1, None),
    };
    let sub_blocks = erase.as_ref().filter(|slot| slot.name == SUB_BLOCKS).map(|slot| {
        slot.settings.choice("isolation", &Isolation::WORDS).unwrap_or(Isolation::Software)
    });
    let preemption = preemption.map(|slot| {
        let preemption = preemption_choice(slot.name, &slot.settings);
        slot.settings.finish();
        preemption
    });
    let by_invalid = matches!(victim, Some(victim::Settings::invalid_sub_blocks(_)));
    let hotness_groups = placement.as_ref().filter(|slot| slot.name == HOTNESS_GROUPS);
    let hotness_groups = hotness_groups.map(|slot| hotness::read(&slot.settings, by_invalid));
    let time_slices = pacing.as_ref().filter(|slot| slot.name == TIME_SLICES);
    let time_slices = time_slices.map(|slot| pacing::read(&slot.settings));
    let erasing = blocking.as_ref().and_then(|slot| blocking::erasing(slot.name, &slot.settings));
    for rest in [&erase, &placement, &blocking, &pacing].into_iter().flatten() {
        rest.settings.finish();
    }
    let blocking = blocking?.name;
    Some(Scheme {
        name,
        trigger: trigger?.trigger,
        erase_blocks,
        sub_blocks,
        move_cap,
        victim: victim?,
        copy: copy?,
        separate_gc: placement?.name == "separate-gc",
        blocking_erasing: erasing,
        blocks_only: blocking == BLOCKING_BLOCKS,
        hotness_groups: match hotness_groups {
            Some(groups) => Some(groups?),
            None => None,
        },
        blocking: Level::WORDS.iter().find(|(word, _)| *word == blocking).map(|(_, level)| *level),
        preemption: preemption?,
        time_slices: match time_slices {
            Some(time_slices) => Some(time_slices?),
            None => None,
        },
        background: background?.background,
        slots: used,
        unused,
    })
}

fn copy_choice(name: &str, table: &Reader<'_>, registers: u32) -> CopyChoice {
    match name {
        "copyback" => CopyChoice::Copyback { parity: table.bool("parity").unwrap_or(false) },
        "parallel" => CopyChoice::Parallel(parallel(table, registers)),
        _ => CopyChoice::Bus,
    }
}

/// Parallel page migration: at most as many pages in parallel as a plane has registers.
fn parallel(table: &Reader<'_>, registers: u32) -> ParallelCopy {
    let workers = table.u32("workers", 1..=64).unwrap_or(registers);
    if workers > registers {
        table.error(
            "workers",
            format!("workers must be at most {registers} (device.registers), got {workers}"),
            format!("give at most {registers}, or set device.registers = {workers}"),
        );
    }
    let path = table.choice("path", &CopyPath::WORDS).unwrap_or(CopyPath::Local);
    let parity = table.bool("parity");
    if path == CopyPath::Global && parity == Some(true) {
        table.error(
            "parity",
            "parity = true needs path = \"local\", got path = \"global\"",
            "remove `parity`, or set path = \"local\"",
        );
    }
    ParallelCopy {
        workers,
        parity: path == CopyPath::Local && parity.unwrap_or(true),
        path,
        list: table.choice("list", &ListOf::WORDS).unwrap_or(ListOf::Block),
    }
}

/// How the host preempts collections.
fn preemption_choice(name: &str, table: &Reader<'_>) -> Option<Preemption> {
    if name == "never" {
        return None;
    }
    let mut suspends = Suspends::Nothing;
    let (mut worth_it, mut most_suspends) = (false, u32::MAX);
    if name == "suspend" {
        suspends = table.choice("of", &Suspends::WORDS).unwrap_or(Suspends::Any);
        worth_it = table.bool("worth_it").unwrap_or(false);
        most_suspends = table.u32("max_suspends", 1..=u32::MAX).unwrap_or(u32::MAX);
    }
    let poll_ns = table.duration_ns("poll").unwrap_or(0);
    if poll_ns > 1_000_000_000 {
        table.error(
            "poll",
            format!("poll must be at most 1 s, got {poll_ns} ns"),
            "write for example poll = \"1 us\"",
        );
    }
    Some(Preemption {
        between_copies: true,
        merge: table.bool("merge").unwrap_or(false),
        pipeline: table.bool("pipeline").unwrap_or(false),
        poll_ns,
        suspends,
        worth_it,
        most_suspends,
    })
}
