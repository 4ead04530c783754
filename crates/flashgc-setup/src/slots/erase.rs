//! The slot *erase*: the extent of an erase, and the shape of the device in units of erases.

use super::slot::{OneOf, choice};
use crate::space::least_of;
use flashgc_config::Reader;
use flashgc_config::units::{Threshold, counted};
use flashgc_model::device::Shape;
use flashgc_model::gc::choice::{About, Choice, Count, Described, Key, Row, Word};
use flashgc_model::gc::victim::{Ranks, Settings};
use flashgc_model::gc::{CopyChoice, Isolation};
use flashgc_model::plan::Plan;

/// The extent that one erase frees.
pub enum Erase {
    Block,
    /// Up to `k` blocks of a plane.
    Blocks {
        k: u32,
        move_cap: Option<Threshold>,
    },
    SubBlocks(Isolation),
}

impl OneOf for Erase {
    const NAME: &'static str = "erase";
    const QUESTION: &'static str = "what does one erase free?";
    type Keys = Erase;
    const CHOICES: &'static [Row<Erase>] = &[
        Row { choice: choice("block", "one block", &[]), read: |_, _| Some(Erase::Block) },
        Row {
            choice: choice(
                BLOCKS,
                "several blocks of a plane in one erase time: the next in rank, as far as there \
                 are any",
                &[&K, &MOVE_CAP],
            ),
            read: |table, _| {
                let k = K.read(table);
                Some(Erase::Blocks { k, move_cap: table.threshold(MOVE_CAP.name()) })
            },
        },
        Row {
            choice: Choice {
                name: SUB_BLOCKS,
                about: "sub-blocks of one block, in one erase time",
                keys: &[&ISOLATION],
                source: "paper speedup-gc, section II-A",
            },
            read: |table, _| Some(Erase::SubBlocks(ISOLATION.read(table))),
        },
    ];
}

const BLOCKS: &str = "blocks";
const SUB_BLOCKS: &str = "sub-blocks";

const K: Count =
    Count { name: "k", default: 2, least: 2, most: 64, about: "number of blocks erased at once" };
const MOVE_CAP: Described = Described(
    "move_cap",
    "\"1 block\" or \"48 pages\": limit on moved pages; a block that exceeds it is not added",
);
const ISOLATION: Word<Isolation> = Word {
    name: "isolation",
    words: &Isolation::WORDS,
    default: 0,
    about: About::Each(&[
        "valid pages in adjacent sub-blocks are moved first",
        "layers between sub-blocks never hold data",
    ]),
};

impl Erase {
    /// The most blocks of a plane that one erase frees.
    pub fn blocks(&self) -> u32 {
        match self {
            Erase::Blocks { k, .. } => *k,
            Erase::Block | Erase::SubBlocks(_) => 1,
        }
    }

    /// The isolation of sub-blocks, where they are erased.
    pub fn sub_blocks(&self) -> Option<Isolation> {
        match self {
            Erase::SubBlocks(isolation) => Some(*isolation),
            Erase::Block | Erase::Blocks { .. } => None,
        }
    }

    /// The limit on the moves of a collection of several blocks, in pages.
    pub fn move_cap(&self, root: &Reader<'_>, shape: &Shape) -> Option<Option<u32>> {
        let Erase::Blocks { k, move_cap: Some(cap) } = self else { return Some(None) };
        let table = root.table("gc").table(Erase::NAME).table(BLOCKS);
        let most = u64::from(*k) * u64::from(shape.data_pages());
        let pages = match cap {
            Threshold::Pages(pages) => *pages,
            Threshold::Blocks(blocks) => blocks.saturating_mul(u64::from(shape.data_pages())),
            Threshold::Share { .. } => {
                let help = "give blocks or pages, as in \"1 block\" or \"48 pages\"";
                table.error(MOVE_CAP.name(), "move_cap cannot be a share", help);
                return None;
            }
        };
        if pages > most {
            let at_most = counted(most, "page");
            let message =
                format!("move_cap must be at most {at_most} (victim blocks: {k}), got {pages}");
            table.error(MOVE_CAP.name(), message, "give less, or remove move_cap for no limit");
            return None;
        }
        Some(Some(pages as u32))
    }
}

/// The device in blocks or in sub-blocks, as the scheme erases them.
pub fn shape(
    root: &Reader<'_>,
    device: &Shape,
    erase: &Erase,
    victim: &Settings,
    copy: CopyChoice,
) -> Option<Shape> {
    let Some(isolation) = erase.sub_blocks() else { return Some(device.in_blocks()) };
    has_sub_blocks(root, device, isolation)?;
    ranks_sub_blocks(root, victim, isolation)?;
    let shape = device.in_sub_blocks(isolation == Isolation::Hardware);
    has_both_kinds(root, copy, &shape)?;
    Some(shape)
}

/// The device must have sub-blocks, isolated as the scheme needs them.
fn has_sub_blocks(root: &Reader<'_>, device: &Shape, isolation: Isolation) -> Option<()> {
    let erase = root.table("gc").table(Erase::NAME);
    if device.sub_blocks == 1 {
        erase.error(
            "use",
            "gc.erase.use = \"sub-blocks\" needs a device with sub-blocks, but this device erases \
             whole blocks",
            "set for example `device.sub_blocks = 16`, or choose gc.erase.use = \"block\"",
        );
        // Sub-blocks of two pages at least, so that copies of odd and even pages find both.
        let divides = |parts: &u32| (device.pages_per_block / 2).is_multiple_of(*parts);
        if let Some(parts) = [4, 2, 8, 16].into_iter().find(divides) {
            root.remedy("device.sub_blocks", &parts.to_string());
        }
        return None;
    }
    if device.summary_pages > 0 {
        erase.error(
            "use",
            "gc.erase.use = \"sub-blocks\" cannot be combined with [device.summary]: an erased \
             sub-block would lose the block's summary",
            "remove [device.summary], or choose gc.erase.use = \"block\"",
        );
        root.remedy_without("device.summary");
        return None;
    }
    if isolation == Isolation::Hardware && device.layers == 0 {
        root.table("device").required("layers", None::<u32>, LAYERS_HELP);
        let fits = |layers: &u32| {
            device.pages_per_block.is_multiple_of(*layers)
                && layers.is_multiple_of(device.sub_blocks)
                && layers / device.sub_blocks >= 2
        };
        if let Some(layers) = (2..=device.pages_per_block.min(64)).rev().find(fits) {
            root.remedy("device.layers", &layers.to_string());
        }
        return None;
    }
    Some(())
}

const LAYERS_HELP: &str = "isolation = \"hardware\" needs the number of layers of a block, as in \
                           `device.layers = 64`";

/// The victim must be ranked by the pages that an erase of sub-blocks frees, isolation included.
fn ranks_sub_blocks(root: &Reader<'_>, victim: &Settings, isolation: Isolation) -> Option<()> {
    let table = root.table("gc").table("victim");
    match (victim.ranks(), isolation) {
        (Ranks::Windows, _) | (Ranks::SubBlocks, Isolation::Hardware) => Some(()),
        (Ranks::SubBlocks, Isolation::Software) => {
            table.error(
                "use",
                "gc.victim.use = \"invalid-sub-blocks\" needs isolation = \"hardware\", got \
                 \"software\"",
                "set gc.erase.sub-blocks.isolation = \"hardware\", or choose \"recycle-benefit\"",
            );
            None
        }
        (Ranks::Blocks, _) => {
            table.error(
                "use",
                format!(
                    "gc.victim.use = \"{}\" ranks whole blocks, but this scheme erases sub-blocks",
                    victim.name()
                ),
                format!(
                    "choose \"recycle-benefit\" or \"invalid-sub-blocks\", or another gc.erase.use \
                     than \"{SUB_BLOCKS}\""
                ),
            );
            None
        }
    }
}

/// Under the odd/even rule each sub-block takes pages of both kinds, and begins with an even one.
fn has_both_kinds(root: &Reader<'_>, copy: CopyChoice, shape: &Shape) -> Option<()> {
    let least = least_of(shape);
    if !copy.parity() || (least > 1 && shape.pages_per_block.is_multiple_of(2)) {
        return Some(());
    }
    root.table("gc").table("copy").error(
        "use",
        format!(
            "parity = true needs sub-blocks with an even number of pages, at least 2 of them for \
             data, got {}, {least} for data",
            counted(shape.pages_per_block, "page")
        ),
        "set parity = false for the copies, or a smaller device.sub_blocks",
    );
    None
}

/// A note for the user: isolation by hardware takes from the spare space.
pub fn note(plan: &Plan) -> Option<String> {
    let shape = &plan.geometry.shape;
    let isolation = shape.kinds.lost_pages_of_plane(shape.blocks_per_plane);
    let (all, exported) = (shape.pages_per_plane(), u64::from(shape.exported_pages_per_plane));
    let share = |pages: u64| pages as f64 * 100.0 / all as f64;
    (isolation > 0 && plan.gc.sub_blocks.is_some()).then(|| {
        format!(
            "the layers that isolate sub-blocks take {:.1} % of the pages, so {:.1} % are spare \
             instead of {:.1} %",
            share(isolation),
            share(all - isolation - exported),
            share(all - exported)
        )
    })
}
