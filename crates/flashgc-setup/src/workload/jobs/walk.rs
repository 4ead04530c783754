//! The order of a job's places, and its files.

use super::{given, or};
use flashgc_config::Reader;
use flashgc_workload::jobs::{File, FilesPlan, JobPlan, Order, Passes, Strides, Walk};

/// The most files of a clone.
const FILES_MAX: u32 = 65_536;
/// The keys of zones, and the words for their values.
const STRIDES: [&str; 3] = ["stride_range", "stride_amount", "stride_gap"];

/// The order and the files of a job with these passes and this file. Errors are noted.
pub(super) fn read(
    table: &Reader<'_>,
    passes: Option<Passes>,
    file: &File,
) -> Option<(Walk, FilesPlan)> {
    let walk = walk(table);
    let files = files(table);
    let (walk, files) = (walk?, files?);
    let uses = |key: &str, is_used: bool, why: &str, help: &str| {
        if is_used {
            table.error(key, why.to_string(), help);
        }
        !is_used
    };
    let key = [
        ("run", walk.run > 1),
        ("skip", walk.skip_bytes != 0),
        ("stride_range", walk.strides.is_some()),
        ("files", files.count > 1),
    ]
    .into_iter()
    .find(|&(_, is_used)| is_used);
    let needs = key.filter(|_| passes.is_none()).map_or("run", |(key, _)| key);
    let is_right = uses(
        needs,
        key.is_some() && passes.is_none(),
        "it needs passes over the part",
        "add passes = \"new\"",
    ) & uses(
        "files",
        files.count > 1 && *file == File::Drive,
        "the drive is one, and several files have their own places on it",
        "remove `file`, or `files`",
    ) & uses(
        "files",
        files.count > 1 && (walk.run > 1 || walk.strides.is_some()),
        "several files cannot be combined with `run` or with zones",
        "remove `files`, or `run` and `stride_range`",
    );
    is_right.then_some((walk, files))
}

fn walk(table: &Reader<'_>) -> Option<Walk> {
    let run = or(table, "run", 1, |key| table.u32(key, 1..=u32::MAX));
    let stays = table.bool("run_stays").unwrap_or(false);
    let skip = or(table, "skip", 0, |key| table.bytes(key));
    let is_back = table.bool("skip_back").unwrap_or(false);
    let [range, amount, gap] = STRIDES.map(|key| given(table.has(key).then(|| table.bytes(key))));
    let (range, amount, gap) = (range?, amount?, gap?);
    let skip = i64::try_from(skip?).ok().filter(|&bytes| bytes <= 1 << 60);
    let Some(skip) = skip else {
        table.error("skip", "it must be at most 2^60 bytes", "write for example \"8 KiB\"");
        return None;
    };
    let strides = match (range, amount.or(range)) {
        (Some(0), _) | (_, Some(0)) => {
            table.error("stride_range", "a zone must have bytes", "write for example \"1 MiB\"");
            return None;
        }
        (Some(range_bytes), Some(amount_bytes)) => {
            Some(Strides { range_bytes, amount_bytes, gap_bytes: gap.unwrap_or(0) })
        }
        _ if amount.is_some() || gap.is_some() => {
            let key = if amount.is_some() { STRIDES[1] } else { STRIDES[2] };
            table.error(key, "it needs `stride_range`, the length of a zone", "add `stride_range`");
            return None;
        }
        _ => None,
    };
    Some(Walk { run: run?, stays, skip_bytes: if is_back { -skip } else { skip }, strides })
}

fn files(table: &Reader<'_>) -> Option<FilesPlan> {
    let words = [
        ("round-robin", Order::RoundRobin),
        ("random", Order::Random),
        ("sequential", Order::Sequential),
    ];
    let count = or(table, "files", 1, |key| table.u32(key, 1..=FILES_MAX));
    let order = or(table, "file_order", Order::RoundRobin, |key| table.choice(key, &words));
    let turn = or(table, "file_turn", 1, |key| table.u32(key, 1..=u32::MAX));
    Some(FilesPlan { count: count?, order: order?, turn: turn? })
}

/// Zones go with uniform places, and random ones begin at whole requests.
pub(super) fn check(table: &Reader<'_>, plan: &JobPlan, is_plain: bool) -> Option<()> {
    let Some(zone) = plan.walk.strides else { return Some(()) };
    let is_random = plan.random_share.iter().any(|&share| share > 0.0);
    let is_whole = zone.range_bytes.is_multiple_of(plan.align_bytes);
    let (message, help) = match (is_plain && !plan.trim_then_write, !is_random || is_whole) {
        (true, true) => return Some(()),
        (false, _) => (
            "zones need uniform addresses, and no writes after trims",
            "remove `stride_range`, or `address` and `trim_then_write`",
        ),
        (true, false) => (
            "the length of a zone must be a multiple of the alignment",
            "change `stride_range` or `align`",
        ),
    };
    table.error("stride_range", message, help);
    None
}
