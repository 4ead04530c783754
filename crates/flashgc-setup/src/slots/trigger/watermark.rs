//! The trigger `watermark`: thresholds of free space, and their order among each other and with the
//! reserve.

use crate::slots::slot::choice;
use crate::space::{mark, space, word};
use flashgc_config::Reader;
use flashgc_config::units::{Share, ShareOf, Threshold, counted};
use flashgc_model::device::Shape;
use flashgc_model::gc::choice::{About, Choice, Described, Flag, Key, Word};
use flashgc_model::gc::{Batch, Space, Watermark};

/// The declaration.
pub const CHOICE: Choice = choice(
    "watermark",
    "a plane needs collection when its free space is below a threshold, checked after each page \
     is allocated",
    &[&SOFT, &HARD, &STOP, &COMPARE, &BATCH, &IDLE_UNITS],
);

const SOFT: Described =
    Described("soft", "the threshold: \"4 blocks\", \"256 pages\", \"5%\" or \"50% of spare\"");
const HARD: Described = Described(
    "hard",
    "below it collection goes before writes: a threshold, \"20% of soft\" or \"none\"",
);
const STOP: Described =
    Described("stop", "once below soft, collect until this much is free (default: soft)");
const COMPARE: Word<bool> = Word {
    name: "compare",
    words: &[("<", false), ("<=", true)],
    default: 0,
    about: About::All("whether the threshold itself counts as below"),
};
const BATCH: Word<Batch> = Word {
    name: "batch",
    words: &Batch::WORDS,
    default: 0,
    about: About::All("blocks of one batch"),
};
const IDLE_UNITS: Flag = Flag {
    name: "idle_units",
    default: true,
    about: "whether a unit without waiting requests collects",
};

/// The thresholds of free space at which a plane needs space, and has enough; amounts of space
/// still depend on the device.
pub struct Marks {
    /// `None`: just above the reserve.
    pub soft: Option<Threshold>,
    pub hard: Hard,
    pub stop: Option<Threshold>,
    pub inclusive: bool,
    pub batch: Batch,
    pub idle_units: bool,
}

/// The threshold below which collection is served before requests.
pub enum Hard {
    /// Just above the reserve.
    Default,
    /// There is none.
    None,
    /// A threshold from the configuration.
    At(Threshold),
}

/// Reads the table. Errors are noted.
pub fn read(table: &Reader<'_>) -> Option<Marks> {
    let soft = table.required(
        SOFT.name(),
        table.threshold(SOFT.name()),
        "the free space below which collection starts, as in `soft = \"4 blocks\"`",
    );
    let text = if table.is_text(HARD.name()) { table.string(HARD.name()) } else { None };
    let hard = match text {
        Some("none") => Hard::None,
        _ => table.threshold(HARD.name()).map_or(Hard::Default, Hard::At),
    };
    let stop = table.threshold(STOP.name());
    let inclusive = COMPARE.read(table);
    let batch = BATCH.read(table);
    let idle_units = IDLE_UNITS.read(table);
    Some(Marks { soft: Some(soft?), hard, stop, inclusive, batch, idle_units })
}

/// The thresholds on a device of this shape. Shares refer to it without the space that a scheme
/// adds.
pub fn plan(
    slot: &Reader<'_>,
    marks: &Marks,
    has_hard: bool,
    reserve_blocks: u32,
    shape: &Shape,
) -> Option<Watermark> {
    let table = slot.table(CHOICE.name);
    let own = &shape.without_extra();
    let space = |key: &str, threshold: &Threshold| space(&table, key, threshold, own);
    let lowest = Space::Blocks(reserve_blocks + 1);
    let soft = marks.soft.as_ref().map_or(Some(lowest), |soft| space(SOFT.name(), soft))?;
    let stop = marks.stop.as_ref().map_or(Some(soft), |stop| space(STOP.name(), stop))?;
    let hard = hard(&table, &marks.hard, soft, reserve_blocks, shape)?;
    check(&table, [soft, hard, stop], &marks.hard, reserve_blocks, shape)?;
    Some(Watermark {
        soft,
        hard: has_hard.then_some(hard),
        stop,
        inclusive: marks.inclusive,
        batch: marks.batch,
        idle_units: marks.idle_units,
    })
}

/// The reserve lies below the hard threshold, that below the soft threshold, and that below the
/// stop.
fn check(
    marks: &Reader<'_>,
    [soft, hard, stop]: [Space; 3],
    given: &Hard,
    reserve_blocks: u32,
    shape: &Shape,
) -> Option<()> {
    let is_given = matches!(given, Hard::At(_));
    let pages = |space: Space| space.pages(shape);
    let reserve = u64::from(reserve_blocks) * u64::from(shape.data_pages());
    if pages(soft) <= reserve {
        marks.error(
            "soft",
            format!(
                "the soft threshold ({}) must be above the reserve ({})",
                counted(pages(soft), "page"),
                counted(reserve, "page")
            ),
            format!(
                "collection reserves {reserve_blocks} erased {} of each plane: give at least {}",
                word(shape, reserve_blocks.into()),
                mark(shape, reserve_blocks + 1, reserve + 1)
            ),
        );
        return None;
    }
    if is_given && pages(hard) < reserve {
        marks.error(
            "hard",
            format!(
                "the hard threshold ({}) is below the reserve ({})",
                counted(pages(hard), "page"),
                counted(reserve, "page")
            ),
            format!("give at least {}", mark(shape, reserve_blocks, reserve)),
        );
        return None;
    }
    if is_given && pages(hard) > pages(soft) {
        let message = format!(
            "the hard threshold ({}) is above the soft threshold ({})",
            counted(pages(hard), "page"),
            counted(pages(soft), "page")
        );
        let help = format!("give at most \"{}\"", counted(pages(soft), "page"));
        marks.error("hard", message, help);
        return None;
    }
    if pages(stop) < pages(soft) {
        marks.error(
            "stop",
            format!(
                "the stop threshold ({}) is below the soft threshold ({})",
                counted(pages(stop), "page"),
                counted(pages(soft), "page")
            ),
            format!("give at least \"{}\"", counted(pages(soft), "page")),
        );
        return None;
    }
    Some(())
}

/// The hard threshold, or the one that there would be.
fn hard(
    marks: &Reader<'_>,
    hard: &Hard,
    soft: Space,
    reserve_blocks: u32,
    shape: &Shape,
) -> Option<Space> {
    let lowest = Space::Blocks(reserve_blocks + 1);
    match hard {
        Hard::Default | Hard::None => Some(lowest),
        Hard::At(Threshold::Share { share, of: ShareOf::Soft }) => {
            Some(share_of_soft(share, soft, lowest, shape))
        }
        Hard::At(hard) => space(marks, "hard", hard, shape),
    }
}

/// A hard threshold that is a share of the soft one, and no lower than the lowest that can be
/// reached.
fn share_of_soft(share: &Share, soft: Space, lowest: Space, shape: &Shape) -> Space {
    let mark = match soft {
        Space::Blocks(blocks) => Space::Blocks(share.of(u64::from(blocks)) as u32),
        Space::Pages(pages) => Space::Pages(share.of(u64::from(pages)) as u32),
    };
    let pages = |space: Space| space.pages(shape);
    let least = if pages(lowest) > pages(soft) { soft } else { lowest };
    if pages(mark) < pages(least) { least } else { mark }
}
