//! `[device.timing]`, and the times of what only some devices have.

use super::jitter;
use super::layers::PAGES_PER_BLOCK_MAX;
use flashgc_config::Reader;
use flashgc_config::units::{Rate, counted};
use flashgc_model::device::page_times::TYPES_MAX;
use flashgc_model::device::{
    HostPrograms, PageTimes, Passes, ReadTimes, Shape, Summary, Suspend, Timing,
};
use flashgc_model::plan::{Duplex, HostLink};

/// Reads `[device.timing]`: the times, and the rate of the bus.
pub fn read(
    table: &Reader<'_>,
    transfer_bytes: Option<u64>,
    pages_per_block: Option<u32>,
) -> Option<(Timing, Rate)> {
    let array = |key: &str| in_range(table, key, table.duration_ns(key));
    let (reads_ns, program, erase_ns) =
        (reads_ns(table, pages_per_block), program(table), array("erase"));
    let copies = table.has("copy_read").then(|| array("copy_read"));
    let help = "bus time, as in `transfer = \"25 ns/B\"` or \"1600 MB/s\"";
    let rate = table.required("transfer", table.rate("transfer"), help);
    let command_ns = table.duration_ns("command").unwrap_or(0);
    table.finish();
    let transfer_ns = rate?.ns_for(transfer_bytes?);
    if transfer_ns.max(command_ns) > LONGEST_NS {
        table.error(
            "transfer",
            "a page transfer and a command must each take at most 1000 s",
            "give a higher rate or a shorter command time",
        );
        return None;
    }
    let copy_read_ns = match copies {
        Some(ns) => Some(ns?),
        None => None,
    };
    let reads_ns = reads_ns?;
    let types = reads_ns.len() as u64;
    let (program_ns, passes) = program?;
    let timing = Timing {
        read_ns: (reads_ns.iter().sum::<u64>() + types / 2) / types,
        copy_read_ns,
        program_ns,
        erase_ns: erase_ns?,
        transfer_ns,
        command_ns,
        summary: None,
        suspend: None,
        layer_speed: None,
        read_by_type_ns: ReadTimes::new(&reads_ns),
        retry: None,
        programs_fail: false,
        passes,
    };
    Some((timing, rate?))
}

/// A time of the array, where it is within its bounds.
fn in_range(table: &Reader<'_>, key: &str, ns: Option<u64>) -> Option<u64> {
    let help = format!("a duration, as in `{key} = \"25 us\"`");
    let ns = table.required(key, ns, &help)?;
    if ns == 0 {
        table.error(
            key,
            format!("{key} must be at least 1 ns, got 0 ns"),
            format!("write for example `{key} = \"25 us\"`"),
        );
        return None;
    }
    at_most_longest(table, key, ns, &help)
}

/// Times of the device are at most 1000 s, so that a whole collection has room in 64 bits.
pub fn at_most_longest(table: &Reader<'_>, key: &str, ns: u64, help: &str) -> Option<u64> {
    if ns > LONGEST_NS {
        let message = format!("{key} must be at most 1000 s, got {} s", ns as f64 / 1e9);
        table.error(key, message, help);
        return None;
    }
    Some(ns)
}

const LONGEST_NS: u64 = 1_000_000_000_000;

/// The read times of the page types in the order of the pages: one where all pages are alike.
fn reads_ns(table: &Reader<'_>, pages_per_block: Option<u32>) -> Option<Vec<u64>> {
    let help = "a duration, as in `read = \"25 us\"`, or a list of them";
    let times = table.required("read", table.durations_ns("read"), help)?;
    if times.is_empty() || times.len() > TYPES_MAX {
        let message = format!(
            "read must name the time of each page type, of which a device has 1 to {TYPES_MAX}, \
             got {}",
            times.len()
        );
        let help = "write for example `read = [\"40 us\", \"60 us\", \"80 us\"]`";
        table.error("read", message, help);
        return None;
    }
    let pages = pages_per_block?;
    if !pages.is_multiple_of(times.len() as u32) {
        let message = format!(
            "read names {}, and device.pages_per_block must be a multiple of that, got {pages}",
            counted(times.len() as u64, "page type")
        );
        let help = "set another device.pages_per_block, or give other read times";
        table.error("read", message, help);
        return None;
    }
    times.into_iter().map(|ns| in_range(table, "read", Some(ns))).collect()
}

/// The time of a program, and its passes where there are two.
fn program(table: &Reader<'_>) -> Option<(u64, Option<Passes>)> {
    let help = "a duration, as in `program = \"200 us\"`, or those of two passes";
    let times = table.required("program", table.durations_ns("program"), help)?;
    let in_range = |&ns: &u64| in_range(table, "program", Some(ns));
    let times: Vec<u64> = times.iter().map(in_range).collect::<Option<_>>()?;
    match times[..] {
        [ns] => Some((ns, None)),
        [coarse_ns, fine_ns] => {
            let ns = at_most_longest(table, "program", coarse_ns + fine_ns, help)?;
            Some((ns, Some(Passes { coarse_ns, fine_ns, lag: 0 })))
        }
        _ => {
            let message = format!(
                "program must be one time, or those of the coarse and the fine pass, got {}",
                times.len()
            );
            let help = "write for example `program = [\"6 ms\", \"10 ms\"]`";
            table.error("program", message, help);
            None
        }
    }
}

/// The cost of suspending and resuming an operation, where the device can.
pub fn suspend(table: &Reader<'_>) -> Option<Option<Suspend>> {
    if !table.has("suspend") {
        return Some(None);
    }
    let table = table.table("suspend");
    let help = "a duration, as in `suspend = \"20 us\"`";
    let suspend_ns = table.required("suspend", table.duration_ns("suspend"), help);
    let resume_ns = table.duration_ns("resume").unwrap_or(0);
    let host_programs = host_programs(&table, suspend_ns.unwrap_or(0).saturating_add(resume_ns));
    table.finish();
    if suspend_ns?.max(resume_ns) > LONGEST_NS {
        table.error(
            "suspend",
            "suspending and resuming must each take at most 1000 s",
            "write for example `suspend = \"20 us\"`",
        );
        return None;
    }
    Some(Some(Suspend { suspend_ns: suspend_ns?, resume_ns, host_programs: host_programs? }))
}

/// Whether reads suspend programs of the host, and by which rules. Without a key, a program that
/// ends within the time of a suspension runs to its end.
fn host_programs(table: &Reader<'_>, switches_ns: u64) -> Option<Option<HostPrograms>> {
    let suspends = table.bool("host_programs").unwrap_or(false);
    let min_left_ns = table.duration_ns("host_min_left");
    let most_suspends = table.u32("host_max_suspends", 1..=u32::MAX);
    for key in ["host_min_left", "host_max_suspends"] {
        if !suspends && table.has(key) {
            let message = format!("{key} is a rule for programs of the host that reads suspend");
            table.error(key, message, format!("set host_programs = true, or remove {key}"));
            table.remedy("host_programs", "true");
            return None;
        }
    }
    Some(suspends.then(|| HostPrograms {
        min_left_ns: min_left_ns.unwrap_or(switches_ns),
        most_suspends: most_suspends.unwrap_or(u32::MAX),
    }))
}

/// `[device.summary]`: the last pages of each block describe it. `Some(None)` where there are none.
pub fn summary(
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
    if transfer_ns > LONGEST_NS {
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
pub fn in_array(summary: Summary, timing: &Timing, shape: &Shape) -> Summary {
    let of_pages = PageTimes::new(timing, &shape.in_blocks());
    let array_ns = match of_pages {
        Some(times) => times.last_pages_ns(summary.pages),
        None => timing.program_ns * u64::from(summary.pages),
    };
    Summary { array_ns, ..summary }
}

/// `[device.host_link]`: the link between the host and the device.
pub fn host_link(device: &Reader<'_>) -> Option<HostLink> {
    if !device.has("host_link") {
        return None;
    }
    let table = device.table("host_link");
    let help = "the link's speed, as in `transfer = \"0.4656 ns/B\"` or \"2000 MB/s\"";
    let rate = table.required("transfer", table.rate("transfer"), help);
    let duplex = table.choice("duplex", &DUPLEX).unwrap_or_default();
    let jitter = jitter::read(&table);
    table.finish();
    if rate.is_some_and(|rate| rate.ns_for(1) > 1_000_000) {
        table.error(
            "transfer",
            "a link must take at most 1 ms per byte",
            "write for example `transfer = \"2000 MB/s\"`",
        );
        return None;
    }
    Some(HostLink { rate: rate?, duplex, jitter: jitter? })
}

const DUPLEX: [(&str, Duplex); 2] = [("half", Duplex::Half), ("full", Duplex::Full)];
