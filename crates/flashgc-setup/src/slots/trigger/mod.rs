//! `[gc.trigger]`: when a plane needs space. The slot takes one trigger, or a list that joins
//! several.

pub mod idle;
pub mod used_space;
pub mod watermark;

use super::erase::Erase;
use super::slot::{Slot, Taken, several};
use flashgc_config::Reader;
use flashgc_model::device::Shape;
use flashgc_model::gc::choice::{Choice, Row};
use flashgc_model::gc::used_space::UsedSpace;
use flashgc_model::gc::{Idle, Space, Watermark};
use idle::IdleTrigger;
use used_space::UsedSpaceTrigger;
use watermark::{Hard, Marks};

/// The triggers as configured.
pub struct Trigger {
    pub marks: Marks,
    pub used_space: Option<UsedSpaceTrigger>,
    pub idle: Option<IdleTrigger>,
}

/// One of the triggers.
enum Part {
    /// It defines when a plane has enough space.
    Base(Marks, Option<UsedSpaceTrigger>),
    Idle(IdleTrigger),
}

const TRIGGER: &str = "trigger";
const WATERMARK: &str = watermark::CHOICE.name;
/// Each of these defines when a plane has enough space.
const BASES: [&str; 3] = [WATERMARK, used_space::CHOICE.name, used_space::GARBAGE.name];

const CHOICES: &[Row<Part>] = &[
    Row {
        choice: watermark::CHOICE,
        read: |table, _| watermark::read(table).map(|marks| Part::Base(marks, None)),
    },
    Row {
        choice: used_space::CHOICE,
        read: |table, _| used_space::read(table).map(|(marks, used)| Part::Base(marks, Some(used))),
    },
    Row {
        choice: used_space::GARBAGE,
        read: |table, _| {
            used_space::read_garbage(table).map(|(marks, used)| Part::Base(marks, Some(used)))
        },
    },
    Row { choice: idle::CHOICE, read: |table, _| idle::read(table).map(Part::Idle) },
];

impl Slot for Trigger {
    const NAME: &'static str = TRIGGER;
    const QUESTION: &'static str =
        "when does a plane need collection, and when does it have enough space?";
    type Keys = Trigger;

    fn choices() -> Vec<Choice> {
        CHOICES.iter().map(|row| row.choice).collect()
    }

    fn read(gc: &Reader<'_>, registers: u32) -> Option<Taken<Trigger>> {
        let table = gc.table(TRIGGER);
        let mut used = several(&table, CHOICES, registers)?;
        let bases: Vec<&str> = BASES.into_iter().filter(|name| used.has(name)).collect();
        match bases[..] {
            [_] => {}
            [] => {
                table.error(
                    "use",
                    "the trigger \"idle\" alone never collects on a drive that is never idle",
                    "combine it with another, as in `gc.trigger.use = [\"watermark\", \"idle\"]`",
                );
                return None;
            }
            [first, second, ..] => {
                table.error(
                    "use",
                    format!(
                        "the triggers {first:?} and {second:?} cannot be combined: each defines \
                         when a plane has enough space"
                    ),
                    "choose one of them, alone or together with \"idle\"",
                );
                return None;
            }
        }
        let name = used.name();
        let unused = std::mem::take(&mut used.unused);
        Some(Taken { name, keys: joined(used.parts()?)?, unused })
    }
}

fn slot<'a>(root: &Reader<'a>) -> Reader<'a> {
    root.table("gc").table(TRIGGER)
}

/// The triggers together; `None` without one that defines when a plane has enough space.
fn joined(parts: Vec<Part>) -> Option<Trigger> {
    let (mut base, mut idle) = (None, None);
    for part in parts {
        match part {
            Part::Base(marks, used_space) => base = Some((marks, used_space)),
            Part::Idle(trigger) => idle = Some(trigger),
        }
    }
    let (marks, used_space) = base?;
    Some(Trigger { marks, used_space, idle })
}

impl Trigger {
    /// The thresholds on a device of this shape.
    pub fn thresholds(
        &self,
        root: &Reader<'_>,
        blocks_only: bool,
        reserve_blocks: u32,
        shape: &Shape,
    ) -> Option<Watermark> {
        let has_hard = self.has_hard_mark(blocks_only);
        let mut marks = watermark::plan(&slot(root), &self.marks, has_hard, reserve_blocks, shape)?;
        if let Some(used_space) = &self.used_space {
            marks.soft = used_space.floor(&slot(root), reserve_blocks, shape)?;
            marks.stop = marks.soft;
        }
        Some(marks)
    }

    /// The trigger by used space or garbage, where there is one.
    pub fn used_space(
        &self,
        root: &Reader<'_>,
        erase: &Erase,
        shape: &Shape,
    ) -> Option<Option<UsedSpace>> {
        used_space::plan(&slot(root), self.used_space.as_ref(), erase, shape)
    }

    /// The idle trigger, where there is one.
    pub fn idle(&self, root: &Reader<'_>, shape: &Shape, soft: Space) -> Option<Option<Idle>> {
        idle::plan(&slot(root), self.idle.as_ref(), shape, soft)
    }

    /// Whether there is a threshold below which no write is served. By used space there is one,
    /// just above the reserve, but not where only single blocks are blocked: there a write waits
    /// for a page only.
    fn has_hard_mark(&self, blocks_only: bool) -> bool {
        !matches!(self.marks.hard, Hard::None) && (self.used_space.is_none() || !blocks_only)
    }
}
