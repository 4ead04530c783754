//! `[workload.trace]`: how a trace is replayed.

use super::TracePlan;
use crate::plan::Arrivals;
use crate::workload::layout::AddressPolicy;
use flashgc_config::Reader;
use flashgc_trace::{parse_device, Disorder, Filter, Format, OnBadLine, OpenOptions};

/// Reads the table.
pub fn read(table: &Reader<'_>) -> Option<TracePlan> {
    let file = table.string("file").map(str::to_string);
    let format = match table.string("format") {
        None | Some("auto") => Some(None),
        Some(name) => match name.parse::<Format>() {
            Ok(format) => Some(Some(format)),
            Err(why) => {
                table.error(
                    "format",
                    format!("there is no such trace format: {why}"),
                    "\"auto\" recognises most; `flashgc trace info --help` lists the formats",
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
    let address = table.choice("address", &policies).unwrap_or(AddressPolicy::Reject);
    let time_scale = table.f64("time_scale", 1e-9..=1e9).unwrap_or(1.0);
    let filter = Filter {
        devices: devices(table),
        start_ns: table.duration_ns("start"),
        length_ns: table.duration_ns("length"),
        rows: table.u64("rows", 1..=u64::MAX),
    };
    let bad = [("stop", OnBadLine::Stop), ("skip", OnBadLine::Skip)];
    let on_bad_line = table.choice("on_bad_line", &bad).unwrap_or(OnBadLine::Stop);
    let window = table.duration_ns("sort_window");
    let disorder = window.map_or(Disorder::Refuse, Disorder::Window);
    let depth = table.u32("queue_depth", 1..=1_000_000);
    table.finish();
    let arrivals = depth.map_or(Arrivals::Open, Arrivals::Closed);
    let options = OpenOptions { format: format?, on_bad_line, disorder, filter };
    Some(TracePlan { file, options, address, time_scale, arrivals })
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
                format!("\"{word}\" is not a device"),
                "numbers as text, as in [\"0\", \"3\"], or major,minor as in [\"8,16\"]",
            ),
        }
    }
    Some(devices)
}
