//! `[device]`: geometry, timing, and how work is served.

use super::layers;
use crate::device::{LayerTimes, Level, Shape, Summary, Suspend, Timing};
use crate::plan::{Allocation, Served, Service, WriteBuffer};
use flashgc_config::Reader;
use flashgc_config::units::{Rate, Share, ShareOf, Threshold};

/// The device as configured.
pub struct Device {
    pub shape: Shape,
    pub timing: Timing,
    pub allocation: Allocation,
    pub host_link: Option<Rate>,
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

/// Valid pages of a block are counted in 16 bits.
pub const PAGES_PER_BLOCK_MAX: u32 = 65_535;

/// Reads the table. Errors are noted; `None` where no device can be made.
pub fn read(table: &Reader<'_>) -> Option<Device> {
    is_there(table)?;
    let count = |key: &str, most: u32| {
        let help = "set it, or start from a preset, as in `preset = \"slc-msr\"`";
        table.required(key, table.u32(key, 1..=most), help)
    };
    let channels = count("channels", 1024);
    let chips_per_channel = count("chips_per_channel", 1024);
    let dies_per_chip = count("dies_per_chip", 1024);
    let planes_per_die = count("planes_per_die", 1024);
    let blocks_per_plane = count("blocks_per_plane", 1 << 20);
    let pages_per_block = count("pages_per_block", PAGES_PER_BLOCK_MAX);
    let page_bytes = page_bytes(table);
    let exported = exported(table);
    let unit = table.required("unit", table.choice("unit", &Level::WORDS), UNIT_HELP);
    let allocation = table.choice("allocation", &ALLOCATIONS).unwrap_or(Allocation::Striped);
    let registers = registers(table);
    let pool = table.choice("pool", &POOLS).flatten();
    let multi_plane = multi_plane(table, unit, planes_per_die);
    let order = order(table);
    let (service, service_words) = service(table);
    let bytes = table.bytes("transfer_bytes").or(page_bytes.map(u64::from));
    let layered = layers::read(table, pages_per_block);
    let times = timing(&table.table("timing"), bytes);
    let summary = summary(table, times.map(|(_, rate)| rate), bytes, pages_per_block);
    let host_link = host_link(table);
    let suspend = suspend(table);
    let write_buffer = super::write_buffer::read(table, page_bytes);
    let rated_cycles = table.u64("rated_cycles", 1..=1_000_000_000);
    table.finish();
    let (layered, exported) = (layered?, exported?);
    let mut shape = Shape {
        channels: channels?,
        chips_per_channel: chips_per_channel?,
        dies_per_chip: dies_per_chip?,
        planes_per_die: planes_per_die?,
        blocks_per_plane: blocks_per_plane?,
        extra_blocks: 0,
        pages_per_block: pages_per_block?,
        summary_pages: summary?.map_or(0, |summary| summary.pages),
        sub_blocks: layered.sub_blocks,
        layers: layered.layers,
        isolation_layers: layered.isolation_layers,
        isolation_pages: 0,
        page_bytes: page_bytes?,
        unit: unit?,
        registers: registers?,
        multi_plane: multi_plane?,
        order: order?,
        exported_pages_per_plane: 0,
    };
    check_size(table, &shape)?;
    shape.exported_pages_per_plane = exported.pages(table, &shape)?;
    let mut timing = Timing { suspend: suspend?, layer_speed: layered.speed, ..times?.0 };
    timing.summary = summary?.map(|summary| in_array(summary, &timing, &shape));
    let has_pools = allocation == Allocation::Dynamic;
    let unused = unused(layered.unused, pool.is_some() && !has_pools);
    Some(Device {
        shape,
        timing,
        host_link,
        write_buffer: write_buffer?,
        allocation,
        pool: pool.filter(|_| has_pools),
        service: service?,
        service_words,
        exported,
        rated_cycles,
        unused,
    })
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

/// Keys without effect.
fn unused(layered: Option<&str>, is_pool_unused: bool) -> Vec<String> {
    let pool = is_pool_unused.then_some("device.pool");
    [layered, pool].into_iter().flatten().map(String::from).collect()
}

const NO_DEVICE_HELP: &str =
    "add [device] with preset = \"slc-msr\"; `flashgc devices` lists the presets";

const OVER_PROVISIONING: &str = "over_provisioning";

const ALLOCATIONS: [(&str, Allocation); 2] =
    [("striped", Allocation::Striped), ("dynamic", Allocation::Dynamic)];

/// The words for the planes among which a write finds its own.
const POOLS: [(&str, Option<Level>); 4] = [
    ("device", None),
    ("channel", Some(Level::Channel)),
    ("chip", Some(Level::Chip)),
    ("die", Some(Level::Die)),
];

const UNIT_HELP: &str = "name the part that one array operation keeps busy: plane, die, chip or \
                         channel";

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

/// The part of a plane that the host sees.
#[derive(Clone, Debug)]
pub enum Exported {
    /// A share of its physical pages.
    Share(Share),
    /// All pages of data but those of some blocks.
    AllBut(Reserved),
}

/// An amount of blocks of a plane.
#[derive(Clone, Debug)]
pub enum Reserved {
    Share(Share),
    Blocks(u64),
}

impl Reserved {
    fn blocks_of(&self, shape: &Shape) -> u64 {
        match self {
            Reserved::Share(share) => share.of(shape.blocks_per_plane.into()),
            Reserved::Blocks(blocks) => *blocks,
        }
    }
}

impl Exported {
    /// In pages of one plane; `None` where all blocks or none would be reserved. Shares truncate,
    /// as in the reference simulators.
    pub fn pages_of(&self, shape: &Shape) -> Option<u32> {
        let reserved = match self {
            // The share is of all pages, and every plane exports the same whole number of them.
            Exported::Share(share) => return Some(share.of(shape.pages_per_plane()) as u32),
            Exported::AllBut(reserved) => reserved.blocks_of(shape),
        };
        let all = u64::from(shape.blocks_per_plane);
        let is_possible = reserved > 0 && reserved < all;
        is_possible.then(|| (all - reserved) as u32 * shape.data_pages())
    }

    fn pages(&self, table: &Reader<'_>, shape: &Shape) -> Option<u32> {
        let pages = self.pages_of(shape);
        if let (None, Exported::AllBut(reserved)) = (pages, self) {
            let (reserved, all) = (reserved.blocks_of(shape), shape.blocks_per_plane);
            table.table("exported").error(
                "reserved_blocks",
                format!(
                    "reserved_blocks must be above 0 and below {all} (the blocks of a plane), got \
                     {reserved}"
                ),
                format!("write for example \"15%\", or a number of blocks below {all}"),
            );
        }
        pages
    }
}

fn exported(table: &Reader<'_>) -> Option<Exported> {
    if table.has(OVER_PROVISIONING) {
        return over_provisioning(table).map(Exported::Share);
    }
    if !table.is_table("exported") {
        return exported_share(table).map(Exported::Share);
    }
    let table = table.table("exported");
    let help = "the blocks of each plane that the host cannot use, as in `reserved_blocks = \
                \"15%\"` or \"307 blocks\"";
    let key = "reserved_blocks";
    let found = table.required(key, table.threshold(key), help);
    table.finish();
    let reserved = match found? {
        Threshold::Blocks(blocks) => Reserved::Blocks(blocks),
        Threshold::Share { share, of: ShareOf::Physical } => Reserved::Share(share),
        Threshold::Pages(_) | Threshold::Share { .. } => {
            table.error(key, "reserved_blocks must be a number of blocks or a share of them", help);
            return None;
        }
    };
    Some(Exported::AllBut(reserved))
}

fn exported_share(table: &Reader<'_>) -> Option<Share> {
    let help = "the user capacity as a share of the physical pages, as in `exported = 0.85` or \
                `exported = { reserved_blocks = \"15%\" }`, or over_provisioning = \"7%\"";
    let share = table.required("exported", table.share("exported"), help)?;
    if share.numerator == 0 || share.numerator >= share.denominator {
        let given = share.numerator as f64 / share.denominator as f64;
        table.error("exported", format!("exported must be above 0 and below 1, got {given}"), help);
        return None;
    }
    Some(share)
}

/// The user share of the capacity from over-provisioning, which drives are sold by: (physical -
/// user) / user.
fn over_provisioning(table: &Reader<'_>) -> Option<Share> {
    let spare = table.share(OVER_PROVISIONING);
    if table.has("exported") {
        table.error(
            OVER_PROVISIONING,
            "over_provisioning and exported cannot be combined: each sets the user capacity",
            "keep one of them",
        );
        return None;
    }
    let spare = spare?;
    if spare.numerator == 0 {
        table.error(
            OVER_PROVISIONING,
            "over_provisioning must be above 0, got 0",
            "give (physical - user) / user, as in \"7%\" or \"28%\"",
        );
        return None;
    }
    let Share { numerator, denominator } = spare;
    Some(Share { numerator: denominator, denominator: denominator.checked_add(numerator)? })
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

/// One array operation may serve several planes of a die if the unit is at least a die.
fn multi_plane(
    table: &Reader<'_>,
    unit: Option<Level>,
    planes_per_die: Option<u32>,
) -> Option<u32> {
    if !table.has("multi_plane") {
        return Some(1);
    }
    let planes = table.u32("multi_plane", 1..=64)?;
    if planes > 1 && unit == Some(Level::Plane) {
        table.error(
            "multi_plane",
            format!("multi_plane = {planes} needs units of several planes, but unit = \"plane\""),
            "set unit = \"die\", or remove `multi_plane`",
        );
        return None;
    }
    if planes_per_die.is_some_and(|most| planes > most) {
        let most = planes_per_die.unwrap_or(1);
        let message =
            format!("multi_plane must be at most {most} (device.planes_per_die), got {planes}");
        table.error("multi_plane", message, format!("give at most {most}"));
        return None;
    }
    Some(planes)
}

/// `[device.summary]`: the last pages of each block describe it. `Some(None)` where there are none.
fn summary(
    device: &Reader<'_>,
    rate: Option<Rate>,
    page_bytes: Option<u64>,
    pages_per_block: Option<u32>,
) -> Option<Option<Summary>> {
    if !device.has("summary") {
        return Some(None);
    }
    let table = device.table("summary");
    let help =
        "the number of pages at the end of each block that hold its summary, as in `pages = 1`";
    let pages = table.required("pages", table.u32("pages", 1..=PAGES_PER_BLOCK_MAX), help);
    let bytes = table.bytes("transfer").or(page_bytes);
    let words = [("timed", true), ("free", false)];
    let timed_copies = table.choice("copies", &words).unwrap_or(true);
    table.finish();
    let (pages, pages_per_block) = (pages?, pages_per_block?);
    if pages >= pages_per_block {
        table.error(
            "pages",
            format!(
                "summary pages must be fewer than the {pages_per_block} pages of a block, got \
                 {pages}"
            ),
            format!("give less than {pages_per_block}"),
        );
        return None;
    }
    let transfer_ns = rate?.ns_for(bytes?);
    if transfer_ns > 1_000_000_000_000 {
        let message = format!(
            "the summary's transfer must take at most 1000 s, got {} s",
            transfer_ns as f64 / 1e9
        );
        table.error("transfer", message, "give a higher rate or a smaller transfer");
        return None;
    }
    Some(Some(Summary { pages, transfer_ns, array_ns: 0, timed_copies }))
}

/// The summary with its array time: that of the last pages of a block, one after the other.
fn in_array(summary: Summary, timing: &Timing, shape: &Shape) -> Summary {
    let of_layers = LayerTimes::new(timing, &shape.in_blocks());
    let array_ns = match of_layers {
        Some(times) => times.last_pages_ns(summary.pages),
        None => timing.program_ns * u64::from(summary.pages),
    };
    Summary { array_ns, ..summary }
}

/// `[device.host_link]`: the link between the host and the device.
fn host_link(device: &Reader<'_>) -> Option<Rate> {
    if !device.has("host_link") {
        return None;
    }
    let table = device.table("host_link");
    let help = "the link's speed, as in `transfer = \"0.4656 ns/B\"` or \"2000 MB/s\"";
    let rate = table.required("transfer", table.rate("transfer"), help);
    table.finish();
    if rate.is_some_and(|rate| rate.ns_for(1) > 1_000_000) {
        table.error(
            "transfer",
            "a link must take at most 1 ms per byte",
            "write for example `transfer = \"2000 MB/s\"`",
        );
        return None;
    }
    rate
}

fn order(table: &Reader<'_>) -> Option<[Level; 4]> {
    let fallback = [Level::Channel, Level::Chip, Level::Die, Level::Plane];
    let Some(words) = table.strings("order") else { return Some(fallback) };
    let levels: Vec<Level> = words
        .iter()
        .filter_map(|word| Level::WORDS.iter().find(|(name, _)| name == word).map(|(_, l)| *l))
        .collect();
    let mut sorted = levels.clone();
    sorted.sort_unstable();
    if words.len() != 4 || sorted != fallback {
        table.error(
            "order",
            format!("order must name channel, chip, die and plane once each, got {words:?}"),
            "name the fastest-changing level first, as in `order = [\"channel\", \"chip\", \
             \"die\", \"plane\"]`",
        );
        return None;
    }
    levels.try_into().ok()
}

fn service(table: &Reader<'_>) -> (Option<Service>, Vec<String>) {
    let help = "list the classes in order of service: [\"gc\", \"host\"] serves all requests \
                first come, first served; [\"gc\", \"reads\", \"writes\"], in any order, serves \
                reads and writes separately";
    let Some(words) = table.strings("service") else {
        return (Some(Service::gc_then_host()), vec!["gc".into(), "host".into()]);
    };
    let mut sorted: Vec<&str> = words.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    let splits = match sorted[..] {
        ["gc", "host"] => false,
        ["gc", "reads", "writes"] => true,
        _ => {
            table.error(
                "service",
                format!(
                    "service must name \"gc\" and \"host\", or \"gc\", \"reads\" and \"writes\", \
                     once each, got {words:?}"
                ),
                help,
            );
            return (None, words);
        }
    };
    let mut queues = 0;
    let (mut read_queue, mut write_queue) = (0, 0);
    let order = words
        .iter()
        .map(|word| {
            if word == "gc" {
                return Served::Gc;
            }
            let queue = queues;
            queues += 1;
            if splits && word == "writes" {
                write_queue = queue;
            }
            if word == "reads" {
                read_queue = queue;
            }
            Served::Queue(queue)
        })
        .collect();
    (Some(Service { order, read_queue, write_queue, oldest_first: false }), words)
}

fn timing(table: &Reader<'_>, transfer_bytes: Option<u64>) -> Option<(Timing, Rate)> {
    let array = |key: &str| {
        let help = format!("a duration, as in `{key} = \"25 us\"`");
        let ns = table.required(key, table.duration_ns(key), &help)?;
        if ns == 0 {
            table.error(
                key,
                format!("{key} must be at least 1 ns, got 0 ns"),
                format!("write for example `{key} = \"25 us\"`"),
            );
            return None;
        }
        // The bound of a year leaves room for a whole collection in 64 bits.
        if ns > 1_000_000_000_000 {
            table.error(
                key,
                format!("{key} must be at most 1000 s, got {} s", ns as f64 / 1e9),
                help,
            );
            return None;
        }
        Some(ns)
    };
    let (read_ns, program_ns, erase_ns) = (array("read"), array("program"), array("erase"));
    let help = "bus time, as in `transfer = \"25 ns/B\"` or \"1600 MB/s\"";
    let rate = table.required("transfer", table.rate("transfer"), help);
    let command_ns = table.duration_ns("command").unwrap_or(0);
    table.finish();
    let transfer_ns = rate?.ns_for(transfer_bytes?);
    if transfer_ns.max(command_ns) > 1_000_000_000_000 {
        table.error(
            "transfer",
            "a page transfer and a command must each take at most 1000 s",
            "give a higher rate or a shorter command time",
        );
        return None;
    }
    let timing = Timing {
        read_ns: read_ns?,
        program_ns: program_ns?,
        erase_ns: erase_ns?,
        transfer_ns,
        command_ns,
        summary: None,
        suspend: None,
        layer_speed: None,
    };
    Some((timing, rate?))
}

/// The cost of suspending and resuming an operation, where the device can.
fn suspend(table: &Reader<'_>) -> Option<Option<Suspend>> {
    if !table.has("suspend") {
        return Some(None);
    }
    let table = table.table("suspend");
    let help = "a duration, as in `suspend = \"20 us\"`";
    let suspend_ns = table.required("suspend", table.duration_ns("suspend"), help);
    let resume_ns = table.duration_ns("resume").unwrap_or(0);
    table.finish();
    if suspend_ns?.max(resume_ns) > 1_000_000_000_000 {
        table.error(
            "suspend",
            "suspending and resuming must each take at most 1000 s",
            "write for example `suspend = \"20 us\"`",
        );
        return None;
    }
    Some(Some(Suspend { suspend_ns: suspend_ns?, resume_ns }))
}
