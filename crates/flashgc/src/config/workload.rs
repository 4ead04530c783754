//! `[workload]`: a synthetic workload, or how a trace is replayed.

use crate::plan::Arrivals;
use crate::workload::address::AddressChoice;
use crate::workload::layout::AddressPolicy;
use crate::workload::synthetic::{Interarrival, Size, SyntheticPlan};
use flashgc_config::{units, Reader};
use flashgc_trace::{parse_device, Disorder, Filter, Format, OnBadLine, OpenOptions};
use serde::{Serialize, Serializer};

/// Where requests come from.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadPlan {
    /// Drawn from distributions.
    Synthetic(SyntheticWorkload),
    /// Read from a trace.
    Trace(TracePlan),
}

/// A synthetic workload and its arrivals.
#[derive(Clone, Debug, Serialize)]
pub struct SyntheticWorkload {
    /// What is drawn.
    #[serde(flatten)]
    pub plan: SyntheticPlan,
    /// When requests arrive.
    pub arrivals: Arrivals,
}

/// How a trace is replayed.
#[derive(Clone, Debug, Serialize)]
pub struct TracePlan {
    /// The trace that the configuration names.
    pub file: Option<String>,
    /// Format, bad lines, order and filter.
    #[serde(serialize_with = "options_text")]
    pub options: OpenOptions,
    /// What becomes of addresses beyond the drive.
    pub address: AddressPolicy,
    /// Times between arrivals are multiplied by this.
    pub time_scale: f64,
    /// When requests arrive.
    pub arrivals: Arrivals,
}

/// The options have no form of their own in JSON.
fn options_text<S: Serializer>(options: &OpenOptions, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{options:?}"))
}

impl WorkloadPlan {
    /// When requests arrive.
    pub fn arrivals(&self) -> Arrivals {
        match self {
            WorkloadPlan::Synthetic(workload) => workload.arrivals,
            WorkloadPlan::Trace(trace) => trace.arrivals,
        }
    }
}

/// Reads the table. Errors are noted; `None` where there is no workload.
pub fn read(table: &Reader<'_>, page_bytes: u64, has_trace: bool) -> Option<WorkloadPlan> {
    let (synthetic, trace) = (table.table("synthetic"), table.table("trace"));
    table.finish();
    if has_trace || trace.exists() {
        if trace.exists() && synthetic.exists() && !has_trace {
            table.error(
                "synthetic",
                "the workload is both synthetic and a trace",
                "keep one of [workload.synthetic] and [workload.trace]",
            );
        }
        return trace_plan(&trace).map(WorkloadPlan::Trace);
    }
    if !synthetic.exists() {
        table.error(
            "synthetic",
            "there is no workload",
            "add [workload.synthetic], or [workload.trace], or give a trace with --trace",
        );
        return None;
    }
    synthetic_workload(&synthetic, page_bytes).map(WorkloadPlan::Synthetic)
}

/// Keys of the other workload, which have no effect.
pub fn unused(root: &Reader<'_>, has_trace: bool) -> Vec<String> {
    let synthetic = root.table("workload").table("synthetic");
    if !has_trace {
        return Vec::new();
    }
    synthetic.keys().iter().map(|key| format!("workload.synthetic.{key}")).collect()
}

fn synthetic_workload(table: &Reader<'_>, page_bytes: u64) -> Option<SyntheticWorkload> {
    let requests = table.required(
        "requests",
        table.u64("requests", 1..=1_000_000_000_000),
        "how many, as in `requests = 1_000_000`",
    );
    let read_share = table.f64("read_share", 0.0..=1.0).unwrap_or(0.0);
    let trim_share = table.f64("trim_share", 0.0..=1.0).unwrap_or(0.0);
    if read_share + trim_share > 1.0 {
        table.error(
            "trim_share",
            "the shares of reads and trims are more than all requests",
            "what they leave is written: together they are at most 1",
        );
    }
    let sizes = sizes(table, page_bytes);
    let address = address(table);
    let footprint = table.f64("footprint", 0.0..=1.0).unwrap_or(1.0);
    let sequential_share = table.f64("sequential_share", 0.0..=1.0).unwrap_or(0.0);
    let align = align(table, page_bytes);
    let depth = table.u32("queue_depth", 1..=1_000_000);
    let interarrival = interarrival(table);
    let arrivals = match (depth, table.has("interarrival")) {
        (Some(depth), false) => Some(Arrivals::Closed(depth)),
        (None, true) => Some(Arrivals::Open),
        (None, false) if table.has("queue_depth") => None,
        _ => {
            table.error(
                if depth.is_some() { "queue_depth" } else { "interarrival" },
                "say when requests arrive, in one way",
                "closed loop: `queue_depth = 64`; open loop: [workload.synthetic.interarrival]",
            );
            None
        }
    };
    table.finish();
    let plan = SyntheticPlan {
        requests: requests?,
        read_share,
        trim_share,
        sizes: sizes?,
        address: address?,
        footprint,
        sequential_share,
        align_bytes: align?,
        interarrival: interarrival?,
    };
    Some(SyntheticWorkload { plan, arrivals: arrivals? })
}

/// `align`: requests begin at its multiples. A page by default.
fn align(table: &Reader<'_>, page_bytes: u64) -> Option<u64> {
    let align = table.bytes("align").unwrap_or(page_bytes);
    if align == 0 || !align.is_multiple_of(512) {
        table.error("align", "requests cannot be aligned so", "a multiple of 512 B");
        return None;
    }
    Some(align)
}

const SIZE_HELP: &str = "\"4 KiB\"; or shares, as in { \"4 KiB\" = 0.7, \"64 KiB\" = 0.3 }; or \
                         { exponential = \"8 KiB\" }";

/// One size, a mixture with weights, or exponential sizes.
fn sizes(table: &Reader<'_>, page_bytes: u64) -> Option<Vec<Size>> {
    let check = |bytes: u64| {
        let fits = bytes > 0 && bytes.is_multiple_of(512) && bytes <= 1 << 30;
        if !fits {
            table.error(
                "size",
                format!("a request of {bytes} bytes is not possible"),
                "whole sectors: a multiple of 512 B, at most 1 GiB",
            );
        }
        fits
    };
    if !table.has("size") {
        return Some(vec![Size::Fixed { bytes: page_bytes, weight: 1.0 }]);
    }
    if !table.is_table("size") {
        let bytes = table.bytes("size")?;
        return check(bytes).then(|| vec![Size::Fixed { bytes, weight: 1.0 }]);
    }
    let mixture = table.table("size");
    if mixture.has("exponential") {
        let mean_bytes = mixture.bytes("exponential");
        mixture.finish();
        return check(mean_bytes?)
            .then(|| vec![Size::Exponential { mean_bytes: mean_bytes.unwrap_or(0), weight: 1.0 }]);
    }
    let mut sizes = Vec::new();
    for key in mixture.keys() {
        let weight = mixture.f64(&key, 0.0..=1e9);
        match units::parse_bytes(&key) {
            Ok(bytes) if check(bytes) => {
                sizes.push(Size::Fixed { bytes, weight: weight? });
            }
            Ok(_) => return None,
            Err(_) => {
                mixture.error(&key, format!("\"{key}\" is not a size"), SIZE_HELP);
                return None;
            }
        }
    }
    let total: f64 =
        sizes.iter().map(|s| if let Size::Fixed { weight, .. } = s { *weight } else { 0.0 }).sum();
    if sizes.is_empty() || total <= 0.0 {
        table.error("size", "the mixture of sizes is empty", SIZE_HELP);
        return None;
    }
    Some(sizes)
}

const ADDRESS_HELP: &str =
    "\"uniform\", { zipf = 0.99 }, or { hot_cold = { f = 0.2, r = 0.8 } }: r of the requests go \
     to f of the drive";

fn address(table: &Reader<'_>) -> Option<AddressChoice> {
    if !table.has("address") {
        return Some(AddressChoice::Uniform);
    }
    if !table.is_table("address") {
        return match table.string("address")? {
            "uniform" => Some(AddressChoice::Uniform),
            other => {
                let message = format!("there is no distribution of addresses \"{other}\"");
                table.error("address", message, ADDRESS_HELP);
                None
            }
        };
    }
    let choice = table.table("address");
    let chosen = if choice.has("zipf") {
        choice.f64("zipf", 0.0..=10.0).map(|theta| AddressChoice::Zipf { theta })
    } else if choice.has("hot_cold") {
        let shares = choice.table("hot_cold");
        let f = shares.required("f", shares.f64("f", 0.0..=1.0), "hot share of the drive");
        let r = shares.required("r", shares.f64("r", 0.0..=1.0), "share of requests that go there");
        shares.finish();
        f.zip(r).map(|(f, r)| AddressChoice::HotCold { f, r })
    } else {
        table.error("address", "the distribution of addresses has no name", ADDRESS_HELP);
        None
    };
    choice.finish();
    chosen
}

/// `None` for an error; `Some(None)` where the loop is closed.
#[allow(clippy::option_option)]
fn interarrival(table: &Reader<'_>) -> Option<Option<Interarrival>> {
    if !table.has("interarrival") {
        return Some(None);
    }
    let choice = table.table("interarrival");
    let bursts = choice.is_table("bursty");
    let found = match (choice.has("fixed"), choice.has("exponential"), bursts) {
        (true, false, false) => choice.duration_ns("fixed").map(|ns| Interarrival::Fixed { ns }),
        (false, true, false) => {
            choice.duration_ns("exponential").map(|mean_ns| Interarrival::Exponential { mean_ns })
        }
        (false, false, true) => bursty(&choice, &choice.table("bursty")),
        _ => {
            table.error(
                "interarrival",
                "say how the time between arrivals is drawn, in one way",
                "fixed = \"100 us\", exponential = \"100 us\", or \
                 bursty = { mean = \"13 ms\", below = \"1.5 ms\", share = 0.31 }",
            );
            None
        }
    };
    choice.finish();
    found.map(Some)
}

fn bursty(parent: &Reader<'_>, table: &Reader<'_>) -> Option<Interarrival> {
    let mean = table.required("mean", table.duration_ns("mean"), "the mean gap");
    let below = table.required("below", table.duration_ns("below"), "what counts as a short gap");
    let share = table.required("share", table.f64("share", 0.0..=1.0), "share of short gaps");
    table.finish();
    let (mean, below, share) = (mean?, below?, share?);
    if mean == 0 || below == 0 {
        parent.error(
            "bursty",
            "gaps of no length are not possible",
            "give a mean and a bound above 0",
        );
        return None;
    }
    let found = Interarrival::bursty(mean as f64, below as f64, share);
    if found.is_none() {
        let plain = 1.0 - libm::exp(-(below as f64) / mean as f64);
        parent.error(
            "bursty",
            format!("no bursts have a share of {share} of short gaps at this mean"),
            format!("plain exponential gaps have {plain:.4} already; give more than that, below 1"),
        );
    }
    found
}

fn trace_plan(table: &Reader<'_>) -> Option<TracePlan> {
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
        first_row: table.u64("first_row", 0..=u64::MAX),
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
