//! `[gc.placement.hotness-groups]`: which pages are hot, and where hot pages go.

use super::groups::Groups;
use super::hotness::{HASH_FUNCTIONS_MAX, HotnessSettings};
use super::{ColdGo, CopiesGo, HotTo, HotnessGroups};
use crate::device::Shape;
use crate::gc::choice::{About, Choice, Count, Described, Flag, Key, Word};
use flashgc_config::Reader;
use flashgc_config::units::counted;

/// The declaration.
pub const CHOICE: Choice = Choice {
    name: "hotness-groups",
    about: "frequently updated pages go to sub-blocks that are likely to be erased soon",
    keys: &[
        &GROUPS,
        &THRESHOLDS,
        &HASH_FUNCTIONS,
        &COUNTERS,
        &DECAY,
        &CONSERVATIVE,
        &HOT_TO,
        &COPIES,
        &COLD,
    ],
    source: "paper speedup-gc, section III",
};

/// The degree is counted in 8 bits.
const GROUPS_MAX: u32 = 8;

const GROUPS: Count = Count {
    name: "groups",
    default: 7,
    least: 2,
    most: GROUPS_MAX,
    about: "number of page groups and of block groups",
};
const THRESHOLDS: Described = Described(
    "thresholds",
    "[2, 4, 8, ...] (default: powers of two): the lowest update degree of each group",
);
const HASH_FUNCTIONS: Count =
    Count { name: "hash_functions", default: 7, least: 1, most: HASH_FUNCTIONS_MAX, about: "" };
const COUNTERS: Described = Described(
    "counters",
    "65536 (default), a power of two: number of 8-bit counters per hash function",
);
const DECAY: Described = Described(
    "decay",
    "number of updates after which all counters are halved (default: 1.25 x counters)",
);
const CONSERVATIVE: Flag = Flag {
    name: "conservative",
    default: false,
    about: "an update increments only the smallest counters",
};
const HOT_TO: Word<HotTo> = Word {
    name: "hot_to",
    words: &HotTo::WORDS,
    default: 0,
    about: About::Each(&["hot pages go to the block group of the same number", "to the highest"]),
};
const COPIES: Word<CopiesGo> = Word {
    name: "copies",
    words: &CopiesGo::WORDS,
    default: 0,
    about: About::All("where collections write copies"),
};
const COLD: Word<ColdGo> = Word {
    name: "cold",
    words: &ColdGo::WORDS,
    default: 0,
    about: About::Each(&["cold pages go to a random block", "to the block erased first"]),
};

impl HotnessGroups {
    /// From `[gc.placement.hotness-groups]`.
    pub fn read(table: &Reader<'_>) -> Option<Self> {
        let groups = GROUPS.checked(table)?;
        let hash_functions = HASH_FUNCTIONS.read(table);
        let counters = table.u32(COUNTERS.name(), 16..=1 << 24).unwrap_or(1 << 16);
        if !counters.is_power_of_two() {
            let message = format!("counters must be a power of two, got {counters}");
            table.error(
                COUNTERS.name(),
                message,
                format!("give for example {}", counters.next_power_of_two()),
            );
            return None;
        }
        // N <= M / (1 - R): with a share of hot pages of 0.2
        // (docs/schemes/speedup.md#the-sizes-of-the-counters).
        let decay = table.u32(DECAY.name(), 1..=u32::MAX).unwrap_or(counters / 4 * 5);
        let thresholds = thresholds(table, groups)?;
        Some(HotnessGroups {
            hotness: HotnessSettings {
                hash_functions,
                counters,
                decay,
                conservative: CONSERVATIVE.read(table),
                thresholds,
            },
            hot_to: HOT_TO.read(table),
            copies: COPIES.read(table),
            cold: COLD.read(table),
            // Known with the victim.
            by_invalid_sub_blocks: false,
        })
    }
}

/// One threshold for each group, rising.
fn thresholds(table: &Reader<'_>, groups: u32) -> Option<Vec<u8>> {
    if !table.has(THRESHOLDS.name()) {
        return Some((1..=groups).map(|group| 1u32 << group).map(|t| t.min(255) as u8).collect());
    }
    let given = table.numbers(THRESHOLDS.name())?;
    let rises = given.windows(2).all(|pair| pair[0] < pair[1]);
    let is_fit = |&threshold: &u64| (1..=255).contains(&threshold);
    if given.len() != groups as usize || !rises || !given.iter().all(is_fit) {
        table.error(
            THRESHOLDS.name(),
            format!("thresholds must be {groups} rising numbers from 1 to 255, got {given:?}"),
            format!("give one number per group ({groups}), each greater than the one before"),
        );
        table.remedy_without("gc.placement.hotness-groups.thresholds");
        return None;
    }
    Some(given.into_iter().map(|threshold| threshold as u8).collect())
}

/// A plane must have enough blocks for groups that are never empty. `root` is for remedies, `table`
/// is the choice's own.
pub fn check_blocks(
    root: &Reader<'_>,
    table: &Reader<'_>,
    shape: &Shape,
    groups: &HotnessGroups,
) -> Option<()> {
    let blocks = shape.blocks_per_plane / shape.sub_blocks;
    if Groups::most_of(blocks, groups.groups()).is_none() {
        let fits = |count: &u32| Groups::most_of(blocks, *count).is_some();
        let most = (2..groups.groups()).rev().find(fits);
        let help = match most {
            Some(most) => format!("give each plane more blocks, or set groups = {most}"),
            None => "give each plane more blocks".to_string(),
        };
        table.error(
            GROUPS.name,
            format!(
                "a plane of {} is too small for groups = {}",
                counted(blocks, "block"),
                groups.groups()
            ),
            help,
        );
        if let Some(most) = most {
            root.remedy("gc.placement.hotness-groups.groups", &most.to_string());
        }
        return None;
    }
    Some(())
}
