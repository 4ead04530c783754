//! `[workload.trace]`: how a trace is replayed.

use super::TracePlan;
use flashgc_config::Reader;
use flashgc_config::units::Share;
use flashgc_model::plan::Arrivals;
use flashgc_model::plan::Until;
use flashgc_trace::{Disorder, Filter, Format, OnBadLine, OpenOptions, parse_device};
use flashgc_workload::layout::AddressPolicy;
use flashgc_workload::length::Length;

/// Reads the table.
pub fn read(table: &Reader<'_>, until: Option<&Until>) -> Option<TracePlan> {
    let file = table.string("file").map(str::to_string);
    let format = match table.string("format") {
        None | Some("auto") => Some(None),
        Some(name) => match name.parse::<Format>() {
            Ok(format) => Some(Some(format)),
            Err(why) => {
                table.error(
                    "format",
                    format!("unknown trace format: {why}"),
                    "\"auto\" recognises most formats; `flashgc trace info --help` lists them",
                );
                None
            }
        },
    };
    let policies = [
        ("reject", AddressPolicy::Reject),
        ("wrap", AddressPolicy::Wrap),
        ("compact", AddressPolicy::Compact),
    ];
    let fit = fit(table);
    let fallback = if fit.is_some() { AddressPolicy::Compact } else { AddressPolicy::Reject };
    let address = table.choice("address", &policies).unwrap_or(fallback);
    if fit.is_some() && address != AddressPolicy::Compact {
        table.error(
            "address",
            "a drive sized to its trace (workload.trace.fit) needs address = \"compact\"",
            "set address = \"compact\" or remove it, or set fit = \"none\"",
        );
    }
    let time_scale = table.f64("time_scale", 1e-9..=1e9).unwrap_or(1.0);
    let filter = Filter {
        devices: devices(table),
        start_ns: table.duration_ns("start"),
        length_ns: table.duration_ns("length"),
        first_row: table.u64("first_row", 0..=u64::MAX),
        rows: table.u64("rows", 1..=u64::MAX),
    };
    let bad = [("stop", OnBadLine::Stop), ("skip", OnBadLine::Skip)];
    let on_bad_line = table.choice("on_bad_line", &bad).unwrap_or(OnBadLine::Stop);
    let window = table.duration_ns("sort_window");
    let disorder = window.map_or(Disorder::Refuse, Disorder::Window);
    let depth = table.u32("queue_depth", 1..=1_000_000);
    let loops = table.u32("loops", 1..=1_000_000).unwrap_or(1);
    if loops > 1 && until.is_some() {
        table.error(
            "loops",
            "`workload.until` repeats the trace as often as the run needs",
            "remove `loops`, or `workload.until`",
        );
    }
    table.finish();
    let arrivals = depth.map_or(Arrivals::Open, Arrivals::Closed);
    let options = OpenOptions { format: format?, on_bad_line, disorder, filter };
    let repeated = until.map(|until| Length::drive_writes(until.at_most));
    let tenants = Vec::new();
    Some(TracePlan { file, options, address, fit, time_scale, arrivals, loops, repeated, tenants })
}

/// `fit = "90%"`: the share of the user capacity that the trace's pages are to be.
fn fit(table: &Reader<'_>) -> Option<Share> {
    if table.is_text("fit") && table.string("fit") == Some("none") {
        return None;
    }
    let share = table.share("fit")?;
    if share.numerator == 0 {
        table.error(
            "fit",
            "fit must be above 0% and at most 100%, got 0%",
            "write for example fit = \"90%\", or fit = \"none\"",
        );
        return None;
    }
    Some(share)
}

/// `devices = ["0", "8,16"]`: those that are replayed; all by default.
fn devices(table: &Reader<'_>) -> Option<Vec<u64>> {
    let words = table.strings("devices")?;
    let mut devices = Vec::new();
    for word in &words {
        match parse_device(word) {
            Some(device) => devices.push(device),
            None => table.error(
                "devices",
                format!("\"{word}\" is not a device number"),
                "give numbers as text, as in [\"0\", \"3\"], or major,minor as in [\"8,16\"]",
            ),
        }
    }
    Some(devices)
}
