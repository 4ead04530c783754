//! `[device]`: geometry, timing, and how work is served.

mod exported;
mod failures;
mod firmware;
mod front;
pub mod jitter;
mod layers;
mod mapping_unit;
mod multi_plane;
mod one_shot;
mod order;
mod passes;
mod plane_reads;
mod read_retry;
mod superblocks;
mod timing;
mod user_capacity;
mod write_buffer;

use exported::Exported;
use flashgc_config::Reader;
use flashgc_config::units::Share;
use flashgc_model::device::{
    FailureRules, Kinds, LayerSpeed, Level, ReadRetry, Shape, Summary, Superblock, Suspend, Timing,
};
use flashgc_model::plan::{Allocation, CacheOperations, Front, Service, WriteBuffer};
use layers::PAGES_PER_BLOCK_MAX;
use user_capacity::Blocks;
pub use user_capacity::fewest as fewest_blocks;

/// The device as configured.
pub struct Device {
    pub shape: Shape,
    pub timing: Timing,
    pub allocation: Allocation,
    /// How requests come in and are done.
    pub front: Front,
    pub cache: CacheOperations,
    pub read_retry: Option<ReadRetry>,
    pub failures: Option<FailureRules>,
    pub write_buffer: Option<WriteBuffer>,
    /// `None`: the whole device, or no pools at all.
    pub pool: Option<Level>,
    pub service: Service,
    pub service_words: Vec<String>,
    /// The size of the part that the host sees.
    pub exported: Exported,
    /// Program/erase cycles that each block is rated for, where they are known.
    pub rated_cycles: Option<u64>,
    /// Keys without effect.
    pub unused: Vec<String>,
}

/// The input for a drive that is sized by its trace.
#[derive(Clone, Debug)]
pub struct Sizing {
    /// The device as it was given, without the blocks that a scheme adds.
    pub shape: Shape,
    /// The size of the part that the host sees.
    pub exported: Exported,
    /// The share of it that the trace touches.
    pub share: Share,
}

/// Reads the table. Errors are noted; `None` where no device can be made.
pub fn read(table: &Reader<'_>) -> Option<Device> {
    is_there(table)?;
    described(table)
}

fn described(table: &Reader<'_>) -> Option<Device> {
    let count = |key: &str, most: u32| table.required(key, table.u32(key, 1..=most), COUNT_HELP);
    let [channels, chips, dies, planes_per_die] = PARTS.map(|key| count(key, 1024));
    let pages_per_block = count("pages_per_block", PAGES_PER_BLOCK_MAX);
    let (page_bytes, slots) = page_and_slots(table, pages_per_block);
    let (exported, layered) = (exported::read(table), layers::read(table, pages_per_block));
    let unit = table.required("unit", table.choice("unit", &Level::WORDS), UNIT_HELP);
    let (blocks, allocation) = (user_capacity::read(table), allocation(table));
    let (together, pool) = (planes(table, unit, planes_per_die), pool(table));
    let (order, (service, service_words)) = (order::order(table), order::service(table));
    let (times, suspend, summary, read_retry) = times(table, page_bytes, pages_per_block);
    let (front, write_buffer) = (front::read(table), write_buffer::read(table, page_bytes, slots));
    let failures = failures::read(table);
    let (rated_cycles, lag) = (table.u64("rated_cycles", 1..=1_000_000_000), passes::lag(table));
    table.finish();
    let (layered, exported, blocks) = (layered?, exported?, blocks?);
    let shape = Shape {
        channels: channels?,
        chips_per_channel: chips?,
        dies_per_chip: dies?,
        planes_per_die: planes_per_die?,
        blocks_per_plane: blocks.number(),
        extra_blocks: 0,
        pages_per_block: pages_per_block?,
        summary_pages: summary?.map_or(0, |summary| summary.pages),
        sub_blocks: layered.sub_blocks,
        layers: layered.layers,
        isolation_layers: layered.isolation_layers,
        kinds: Kinds::One,
        page_bytes: page_bytes?,
        slots: 1,
        pages_per_program: layered.pages_per_program,
        program_slots: 1,
        padded_to: 1,
        padded_programs: 1,
        unit: unit?,
        registers: together.registers?,
        multi_plane: together.multi_plane?,
        planes_in_step: 1,
        superblock: Superblock::Plane,
        lanes: 1,
        independent_plane_reads: together.plane_reads?,
        order: order?,
        exported_pages_per_plane: 0,
    };
    let shape = sized(table, shape.in_slots(slots?), together.superblock?, blocks, &exported)?;
    let timing = timed(table, (times?, suspend?, summary?), layered.speed, lag?, &shape)?;
    let (has_passes, is_striped) = (timing.passes.is_some(), allocation == Allocation::Striped);
    Some(Device {
        shape: write_buffer::padded(shape, write_buffer?),
        timing,
        front: front?,
        cache: together.cache,
        read_retry: read_retry?,
        failures: failures?,
        write_buffer: write_buffer?,
        allocation,
        pool: pool.filter(|_| !is_striped),
        service: service?,
        service_words,
        exported,
        rated_cycles,
        unused: unused(table, layered.unused, pool.is_some() && is_striped, has_passes),
    })
}

/// The times, and those of a suspension; the summary of a block; and when a page is read again.
#[allow(clippy::type_complexity)]
fn times(
    table: &Reader<'_>,
    page_bytes: Option<u32>,
    pages_per_block: Option<u32>,
) -> (Option<Timing>, Option<Option<Suspend>>, Option<Option<Summary>>, Option<Option<ReadRetry>>) {
    let bytes = table.bytes("transfer_bytes").or(page_bytes.map(u64::from));
    let times = timing::read(&table.table("timing"), bytes, pages_per_block);
    let summary = timing::summary(table, times.map(|(_, rate)| rate), bytes, pages_per_block);
    let retry = read_retry::read(table, pages_per_block);
    let costs = retry.as_ref().and_then(|retry| retry.as_ref()).map(|retry| retry.times);
    let times = times.map(|(timing, _)| Timing { retry: costs, ..timing });
    (times, timing::suspend(table), summary, retry)
}

/// The device with planes in step, or that share their blocks, and the pages that the host sees.
fn sized(
    table: &Reader<'_>,
    mut shape: Shape,
    superblock: Superblock,
    blocks: Blocks,
    exported: &Exported,
) -> Option<Shape> {
    multi_plane::put_in_step(table, &mut shape)?;
    superblocks::join(table, &mut shape, superblock)?;
    user_capacity::size(table, &mut shape, blocks, exported)?;
    check_size(table, &shape)?;
    Some(shape)
}

/// The times, with those that depend on the blocks.
fn timed(
    table: &Reader<'_>,
    (times, suspend, summary): (Timing, Option<Suspend>, Option<Summary>),
    layer_speed: Option<LayerSpeed>,
    lag: u32,
    shape: &Shape,
) -> Option<Timing> {
    let mut timing = Timing { suspend, layer_speed, ..times };
    passes::add(table, &mut timing, lag, shape)?;
    timing.summary = summary.map(|summary| timing::in_array(summary, &timing, shape));
    Some(timing)
}

/// Notes an error where there is no device at all.
fn is_there(table: &Reader<'_>) -> Option<()> {
    table.allow("preset");
    if !table.exists() {
        table.error("", "no device is configured", NO_DEVICE_HELP);
    }
    table.exists().then_some(())
}

/// Data registers of a plane.
fn registers(table: &Reader<'_>) -> Option<u32> {
    if table.has("registers") { table.u32("registers", 1..=64) } else { Some(1) }
}

/// What the planes of a unit do together, and which of their operations overlap.
struct Planes {
    registers: Option<u32>,
    multi_plane: Option<u32>,
    superblock: Option<Superblock>,
    cache: CacheOperations,
    plane_reads: Option<bool>,
}

fn planes(table: &Reader<'_>, unit: Option<Level>, planes_per_die: Option<u32>) -> Planes {
    let cache = table.choice("cache_operations", &CACHE_OPERATIONS).unwrap_or_default();
    Planes {
        registers: registers(table),
        multi_plane: multi_plane::read(table, unit, planes_per_die),
        superblock: superblocks::read(table, unit),
        cache,
        plane_reads: plane_reads::read(table, unit, planes_per_die, cache),
    }
}

/// `None`: the whole device.
fn pool(table: &Reader<'_>) -> Option<Level> {
    table.choice("pool", &POOLS).flatten()
}

fn allocation(table: &Reader<'_>) -> Allocation {
    table.choice("allocation", &ALLOCATIONS).unwrap_or(Allocation::Striped)
}

/// Keys without effect.
fn unused(
    table: &Reader<'_>,
    layered: Option<&str>,
    is_pool_unused: bool,
    has_passes: bool,
) -> Vec<String> {
    let pool = is_pool_unused.then_some("device.pool");
    let is_order_unused = table.has("queue_order") && !table.has("queue_length");
    let order = is_order_unused.then_some("device.queue_order");
    let lag = (table.has("fine_pass_lag") && !has_passes).then_some("device.fine_pass_lag");
    [layered, pool, order, lag].into_iter().flatten().map(String::from).collect()
}

const PARTS: [&str; 4] = ["channels", "chips_per_channel", "dies_per_chip", "planes_per_die"];

const COUNT_HELP: &str = "set it, or start from a preset, as in `preset = \"slc-msr\"`";

const NO_DEVICE_HELP: &str =
    "add [device] with preset = \"slc-msr\"; `flashgc devices` lists the presets";

const ALLOCATIONS: [(&str, Allocation); 3] = [
    ("striped", Allocation::Striped),
    ("dynamic", Allocation::Dynamic),
    ("when-idle", Allocation::WhenIdle),
];

const CACHE_OPERATIONS: [(&str, CacheOperations); 4] = [
    ("none", CacheOperations { reads: false, programs: false }),
    ("reads", CacheOperations { reads: true, programs: false }),
    ("programs", CacheOperations { reads: false, programs: true }),
    ("both", CacheOperations { reads: true, programs: true }),
];

/// The words for the planes among which a write finds its own.
const POOLS: [(&str, Option<Level>); 4] = [
    ("device", None),
    ("channel", Some(Level::Channel)),
    ("chip", Some(Level::Chip)),
    ("die", Some(Level::Die)),
];

const UNIT_HELP: &str = "name the part that one array operation keeps busy: plane, die, chip or \
                         channel";

/// Bytes of a flash page, and the slots that it holds.
fn page_and_slots(table: &Reader<'_>, pages_per_block: Option<u32>) -> (Option<u32>, Option<u32>) {
    let bytes = page_bytes(table);
    (bytes, mapping_unit::slots(table, bytes, pages_per_block))
}

fn page_bytes(table: &Reader<'_>) -> Option<u32> {
    let help = "give it with a unit, as in `page_size = \"4 KiB\"`";
    let bytes = table.required("page_size", table.bytes("page_size"), help)?;
    if bytes == 0 || bytes % 512 != 0 || bytes > 1 << 20 {
        table.error(
            "page_size",
            format!("page_size must be a multiple of 512 B from 512 B to 1 MiB, got {bytes} B"),
            "write for example `page_size = \"4 KiB\"`",
        );
        return None;
    }
    Some(bytes as u32)
}

/// Physical pages are numbered in 32 bits, and the highest number means none.
fn check_size(table: &Reader<'_>, shape: &Shape) -> Option<()> {
    let planes = shape.planes();
    let pages = planes.checked_mul(shape.pages_per_plane());
    if planes > 1 << 16 {
        table.error(
            "channels",
            format!("the device must have at most 65,536 planes, got {planes}"),
            "use fewer channels, chips, dies or planes",
        );
        return None;
    }
    if pages.is_none_or(|pages| pages >= u64::from(u32::MAX)) {
        table.error(
            "blocks_per_plane",
            format!(
                "a drive must have fewer than 2^32 - 1 physical pages, got {planes} planes of {} \
                 pages",
                shape.pages_per_plane()
            ),
            "use fewer blocks or larger pages; the limit is 16 TiB in pages of 4 KiB",
        );
        return None;
    }
    Some(())
}
