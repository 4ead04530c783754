//! `[device]`: geometry, timing, and how work is served.

use super::layers;
use crate::device::{LayerTimes, Level, Shape, Summary, Suspend, Timing};
use crate::plan::{Allocation, Served, Service, WriteBuffer};
use flashgc_config::units::{Rate, Share, ShareOf, Threshold};
use flashgc_config::Reader;

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
    /// Keys without effect.
    pub unused: Vec<String>,
}

/// Valid pages of a block are counted in 16 bits.
pub const PAGES_PER_BLOCK_MAX: u32 = 65_535;

/// Reads the table. Errors are noted; `None` where no device can be made.
pub fn read(table: &Reader<'_>) -> Option<Device> {
    table.allow("preset");
    if !table.exists() {
        table.error("", "there is no device", NO_DEVICE_HELP);
        return None;
    }
    let count = |key: &str, most: u32| {
        let help = "give it, or start from a preset: `preset = \"slc-msr\"`";
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
    let registers = if table.has("registers") { table.u32("registers", 1..=64) } else { Some(1) };
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
    table.finish();
    let layered = layered?;
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
    shape.exported_pages_per_plane = exported?.pages(table, &shape)?;
    let timing = Timing { suspend: suspend?, layer_speed: layered.speed, ..times?.0 };
    let summary = summary?.map(|summary| in_array(summary, &timing, &shape));
    let has_pools = allocation == Allocation::Dynamic;
    let pool_unused = (pool.is_some() && !has_pools).then_some("device.pool");
    Some(Device {
        shape,
        timing: Timing { summary, ..timing },
        host_link,
        write_buffer: write_buffer?,
        allocation,
        pool: pool.filter(|_| has_pools),
        service: service?,
        service_words,
        unused: [layered.unused, pool_unused].into_iter().flatten().map(String::from).collect(),
    })
}

const NO_DEVICE_HELP: &str =
    "add [device] with preset = \"slc-msr\"; `flashgc devices` lists the presets";

const ALLOCATIONS: [(&str, Allocation); 2] =
    [("striped", Allocation::Striped), ("dynamic", Allocation::Dynamic)];

/// The words for the planes among which a write finds its own.
const POOLS: [(&str, Option<Level>); 4] = [
    ("device", None),
    ("channel", Some(Level::Channel)),
    ("chip", Some(Level::Chip)),
    ("die", Some(Level::Die)),
];

const UNIT_HELP: &str = "say what one array operation keeps busy: plane, die, chip or channel";

fn page_bytes(table: &Reader<'_>) -> Option<u32> {
    let help = "give it with a unit, as in `page_size = \"4 KiB\"`";
    let bytes = table.required("page_size", table.bytes("page_size"), help)?;
    if bytes == 0 || bytes % 512 != 0 || bytes > 1 << 20 {
        table.error(
            "page_size",
            format!("a page of {bytes} bytes is not possible"),
            "a page holds whole sectors: a multiple of 512 B, from 512 B to 1 MiB",
        );
        return None;
    }
    Some(bytes as u32)
}

/// What of a plane the host sees.
enum Exported {
    /// A share of its physical pages.
    Share(Share),
    /// All pages of data but those of some blocks.
    AllBut(Reserved),
}

/// An amount of blocks of a plane.
enum Reserved {
    Share(Share),
    Blocks(u64),
}

impl Exported {
    /// In pages of one plane. Shares truncate, as in the reference simulators.
    fn pages(&self, table: &Reader<'_>, shape: &Shape) -> Option<u32> {
        let reserved = match self {
            // The share is of all pages, and every plane exports the same whole number of them.
            Exported::Share(share) => return Some(share.of(shape.pages_per_plane()) as u32),
            Exported::AllBut(Reserved::Share(share)) => share.of(shape.blocks_per_plane.into()),
            Exported::AllBut(Reserved::Blocks(blocks)) => *blocks,
        };
        let all = u64::from(shape.blocks_per_plane);
        if reserved == 0 || reserved >= all {
            table.table("exported").error(
                "reserved_blocks",
                format!("{reserved} of the {all} blocks of each plane would be reserved"),
                format!("give more than none and less than {all}"),
            );
            return None;
        }
        Some((all - reserved) as u32 * shape.data_pages())
    }
}

fn exported(table: &Reader<'_>) -> Option<Exported> {
    if !table.is_table("exported") {
        return exported_share(table).map(Exported::Share);
    }
    let table = table.table("exported");
    let help = "the blocks of each plane that the host never sees: `reserved_blocks = \"15%\"` or \
                \"307 blocks\"";
    let key = "reserved_blocks";
    let found = table.required(key, table.threshold(key), help);
    table.finish();
    let reserved = match found? {
        Threshold::Blocks(blocks) => Reserved::Blocks(blocks),
        Threshold::Share { share, of: ShareOf::Physical } => Reserved::Share(share),
        Threshold::Pages(_) | Threshold::Share { .. } => {
            table.error(key, "this is not an amount of the blocks of a plane", help);
            return None;
        }
    };
    Some(Exported::AllBut(reserved))
}

fn exported_share(table: &Reader<'_>) -> Option<Share> {
    let help = "the share of the physical pages that the host sees, as in `exported = 0.85`; or \
                `exported = { reserved_blocks = \"15%\" }`";
    let share = table.required("exported", table.share("exported"), help)?;
    if share.numerator == 0 || share.numerator >= share.denominator {
        table.error("exported", "the share must lie between 0 and 1, both excluded", help);
        return None;
    }
    Some(share)
}

/// Physical pages are numbered in 32 bits, and the highest number stands for none.
fn check_size(table: &Reader<'_>, shape: &Shape) -> Option<()> {
    let planes = shape.planes();
    let pages = planes.checked_mul(shape.pages_per_plane());
    if planes > 1 << 16 {
        table.error("channels", format!("{planes} planes are too many"), "at most 65,536 planes");
        return None;
    }
    if pages.is_none_or(|pages| pages >= u64::from(u32::MAX)) {
        table.error(
            "blocks_per_plane",
            format!("{planes} planes of {} pages are too many pages", shape.pages_per_plane()),
            "a drive has fewer than 2^32 physical pages: 16 TiB in pages of 4 KiB",
        );
        return None;
    }
    Some(())
}

/// One array operation may serve several planes of a die, where the unit is no smaller than a die.
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
            "planes that are units of their own work alone",
            "set unit = \"die\", or leave `multi_plane` out",
        );
        return None;
    }
    if planes_per_die.is_some_and(|most| planes > most) {
        let most = planes_per_die.unwrap_or(1);
        let message = format!("{planes} planes at once, and a die has {most}");
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
    let help = "the pages at the end of each block that describe it, as in `pages = 1`";
    let pages = table.required("pages", table.u32("pages", 1..=PAGES_PER_BLOCK_MAX), help);
    let bytes = table.bytes("transfer").or(page_bytes);
    let words = [("timed", true), ("free", false)];
    let timed_copies = table.choice("copies", &words).unwrap_or(true);
    table.finish();
    let (pages, pages_per_block) = (pages?, pages_per_block?);
    if pages >= pages_per_block {
        table.error(
            "pages",
            format!("blocks of {pages_per_block} pages would hold no data"),
            format!("give less than {pages_per_block}"),
        );
        return None;
    }
    let transfer_ns = rate?.ns_for(bytes?);
    if transfer_ns > 1_000_000_000_000 {
        table.error("transfer", "a transfer this long is not possible", "at most 1000 s a page");
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

/// `[device.host_link]`: what lies between the host and the device.
fn host_link(device: &Reader<'_>) -> Option<Rate> {
    if !device.has("host_link") {
        return None;
    }
    let table = device.table("host_link");
    let help = "time of the link, as in `transfer = \"0.4656 ns/B\"` or \"2000 MB/s\"";
    let rate = table.required("transfer", table.rate("transfer"), help);
    table.finish();
    if rate.is_some_and(|rate| rate.ns_for(1) > 1_000_000) {
        table.error("transfer", "a link this slow is not possible", "at most 1 ms a byte");
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
            "the order of striping does not name every level once",
            "the fastest first, as in `order = [\"channel\", \"chip\", \"die\", \"plane\"]`",
        );
        return None;
    }
    levels.try_into().ok()
}

fn service(table: &Reader<'_>) -> (Option<Service>, Vec<String>) {
    let help = "classes in order of service: [\"gc\", \"host\"] serves requests first come first \
                served; [\"gc\", \"reads\", \"writes\"] in any order serves reads and writes apart";
    let Some(words) = table.strings("service") else {
        return (Some(Service::gc_then_host()), vec!["gc".into(), "host".into()]);
    };
    let mut sorted: Vec<&str> = words.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    let splits = match sorted[..] {
        ["gc", "host"] => false,
        ["gc", "reads", "writes"] => true,
        _ => {
            table.error("service", "the order of service does not name each class once", help);
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
            table.error(key, "an array operation takes time", "give at least 1 ns");
            return None;
        }
        // A year leaves room for a whole collection in 64 bits.
        if ns > 1_000_000_000_000 {
            table.error(key, "an array operation this long is not possible", "at most 1000 s");
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
        table.error("transfer", "a transfer this long is not possible", "at most 1000 s a page");
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

/// What it costs to suspend and to resume an operation, where the device can.
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
        table.error("suspend", "a suspension this long is not possible", "at most 1000 s");
        return None;
    }
    Some(Some(Suspend { suspend_ns: suspend_ns?, resume_ns }))
}
