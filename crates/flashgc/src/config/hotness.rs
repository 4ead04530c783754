//! `[gc.placement.hotness-groups]`: which pages are hot, and where hot pages go.

use super::gc::Scheme;
use crate::device::Shape;
use crate::gc::placement::groups::Groups;
use crate::gc::placement::hotness::{HASH_FUNCTIONS_MAX, HotnessSettings};
use crate::gc::placement::{ColdGo, CopiesGo, HotTo, HotnessGroups};
use flashgc_config::Reader;

/// The keys, for users.
pub const KEYS: &[(&str, &str)] = &[
    ("groups", "7 (default), 2 to 8: number of page groups and of block groups"),
    (
        "thresholds",
        "[2, 4, 8, ...] (default: powers of two): the lowest update degree of each group",
    ),
    ("hash_functions", "7 (default), 1 to 16"),
    ("counters", "65536 (default), a power of two: number of 8-bit counters per hash function"),
    ("decay", "number of updates after which all counters are halved (default: 1.25 x counters)"),
    ("conservative", "false (default) or true: an update increments only the smallest counters"),
    (
        "hot_to",
        "\"group\" (default): hot pages go to the block group of the same number; \"top\": to the \
         highest",
    ),
    ("copies", "\"by-hotness\" (default) or \"cold\": where collections write copies"),
    (
        "cold",
        "\"random\" (default): cold pages go to a random block; \"next\": to the block erased \
         first",
    ),
];

/// The degree is counted in 8 bits.
const GROUPS_MAX: u32 = 8;

/// Reads the table.
pub fn read(table: &Reader<'_>, by_invalid_sub_blocks: bool) -> Option<HotnessGroups> {
    let groups = if table.has("groups") { table.u32("groups", 2..=GROUPS_MAX)? } else { 7 };
    let functions = table.u32("hash_functions", 1..=HASH_FUNCTIONS_MAX);
    let counters = table.u32("counters", 16..=1 << 24).unwrap_or(1 << 16);
    if !counters.is_power_of_two() {
        let message = format!("counters must be a power of two, got {counters}");
        table.error(
            "counters",
            message,
            format!("give for example {}", counters.next_power_of_two()),
        );
        return None;
    }
    // N <= M / (1 - R): with a share of hot pages of 0.2
    // (docs/schemes/speedup.md#the-sizes-of-the-counters).
    let decay = table.u32("decay", 1..=u32::MAX).unwrap_or(counters / 4 * 5);
    let thresholds = thresholds(table, groups)?;
    Some(HotnessGroups {
        hotness: HotnessSettings {
            hash_functions: functions.unwrap_or(7),
            counters,
            decay,
            conservative: table.bool("conservative").unwrap_or(false),
            thresholds,
        },
        hot_to: table.choice("hot_to", &HotTo::WORDS).unwrap_or(HotTo::Group),
        copies: table.choice("copies", &CopiesGo::WORDS).unwrap_or(CopiesGo::ByHotness),
        cold: table.choice("cold", &ColdGo::WORDS).unwrap_or(ColdGo::Random),
        by_invalid_sub_blocks,
    })
}

/// One threshold for each group, rising.
fn thresholds(table: &Reader<'_>, groups: u32) -> Option<Vec<u8>> {
    if !table.has("thresholds") {
        return Some((1..=groups).map(|group| 1u32 << group).map(|t| t.min(255) as u8).collect());
    }
    let given = table.numbers("thresholds")?;
    let rises = given.windows(2).all(|pair| pair[0] < pair[1]);
    let is_fit = |&threshold: &u64| (1..=255).contains(&threshold);
    if given.len() != groups as usize || !rises || !given.iter().all(is_fit) {
        table.error(
            "thresholds",
            format!("thresholds must be {groups} rising numbers from 1 to 255, got {given:?}"),
            format!("give one number per group ({groups}), each greater than the one before"),
        );
        table.remedy_without("gc.placement.hotness-groups.thresholds");
        return None;
    }
    Some(given.into_iter().map(|threshold| threshold as u8).collect())
}

/// Hotness groups need sub-blocks, and enough blocks in a plane for groups that are never empty.
pub fn check(root: &Reader<'_>, shape: &Shape, scheme: &Scheme) -> Option<()> {
    let Some(groups) = &scheme.hotness_groups else { return Some(()) };
    let placement = root.table("gc").table("placement");
    if scheme.sub_blocks.is_none() {
        let help = "set gc.erase.use = \"sub-blocks\", or choose another gc.placement.use";
        placement.error(
            "use",
            "hotness-groups needs sub-block erase, but this scheme erases whole blocks",
            help,
        );
        return None;
    }
    if scheme.copy.parity() || scheme.copy.is_global() {
        placement.error(
            "use",
            "hotness-groups cannot be combined with parity = true or path = \"global\"",
            "set parity = false and path = \"local\", or gc.copy.use = \"copyback\" or \"bus\"",
        );
        return None;
    }
    let blocks = shape.blocks_per_plane / shape.sub_blocks;
    if Groups::most_of(blocks, groups.groups()).is_none() {
        let fits = |count: &u32| Groups::most_of(blocks, *count).is_some();
        let most = (2..groups.groups()).rev().find(fits);
        let help = match most {
            Some(most) => format!("give each plane more blocks, or set groups = {most}"),
            None => "give each plane more blocks".to_string(),
        };
        placement.table(super::gc::HOTNESS_GROUPS).error(
            "groups",
            format!("a plane of {blocks} blocks is too small for groups = {}", groups.groups()),
            help,
        );
        if let Some(most) = most {
            root.remedy("gc.placement.hotness-groups.groups", &most.to_string());
        }
        return None;
    }
    Some(())
}
