//! `[precondition]`: the state of the drive when measuring begins.

use super::presets;
use flashgc_config::Reader;
use flashgc_model::plan::{Allocation, Plan};
use flashgc_workload::sprandom::SprandomPlan;
use serde::Serialize;

/// The fill of a drive before any overwriting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Every user page once, in order.
    Sequential,
    /// Every user page once, in order, with consecutive pages of a pool in each block.
    ByBlock,
    /// The addresses that the trace reads, then those that it writes, then both shifted, until all
    /// pages are written.
    Trace,
    /// The physical capacity once, with shares of invalid pages as under uniform overwrites.
    Sprandom,
    /// Invalid pages in the first blocks of each plane, and no valid ones.
    Aged,
    /// Not at all.
    None,
}

impl Fill {
    /// The words of the configuration.
    const WORDS: [(&'static str, Fill); 6] = [
        ("sequential", Fill::Sequential),
        ("by-block", Fill::ByBlock),
        ("trace", Fill::Trace),
        ("sprandom", Fill::Sprandom),
        ("aged", Fill::Aged),
        ("none", Fill::None),
    ];

    /// Whether every user page is written once, in order.
    pub fn is_in_order(self) -> bool {
        matches!(self, Fill::Sequential | Fill::ByBlock)
    }

    /// Whether every user page is written.
    fn is_whole(self) -> bool {
        self.is_in_order() || matches!(self, Fill::Trace | Fill::Sprandom)
    }
}

/// Whether the pages that a trace reads hold data before it is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// Only where the fill or the trace has written them.
    Unmapped,
    /// Pages that it reads before it writes or trims them.
    Mapped,
    /// All that it ever reads.
    AllMapped,
}

impl Reads {
    /// The words of the configuration.
    const WORDS: [(&'static str, Reads); 3] = [
        ("unmapped", Reads::Unmapped),
        ("mapped", Reads::Mapped),
        ("all-mapped", Reads::AllMapped),
    ];

    /// Whether nothing is mapped. By reference, as serialisation needs it.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub fn are_left(&self) -> bool {
        *self == Reads::Unmapped
    }
}

/// The pages that overwriting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverwriteWith {
    /// Pages that the workload writes.
    Workload,
    /// Pages that a trace reads, then pages that it writes, then both shifted, again and again.
    Passes,
    /// Any page of the drive, all with the same probability.
    Uniform,
}

impl OverwriteWith {
    /// The words of the configuration.
    const WORDS: [(&'static str, OverwriteWith); 3] = [
        ("workload", OverwriteWith::Workload),
        ("passes", OverwriteWith::Passes),
        ("uniform", OverwriteWith::Uniform),
    ];

    /// By reference, as serialisation needs it.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_default(&self) -> bool {
        *self == OverwriteWith::Workload
    }
}

/// The planes of writes that take no time, under dynamic allocation of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Planes {
    /// One after the other, as a busy host spreads its writes.
    InTurn,
    /// That of the most erased pages, as an idle drive chooses.
    MostErased,
}

impl Planes {
    /// The words of the configuration.
    const WORDS: [(&'static str, Planes); 2] =
        [("in-turn", Planes::InTurn), ("most-erased", Planes::MostErased)];

    /// By reference, as serialisation needs it.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn are_in_turn(&self) -> bool {
        *self == Planes::InTurn
    }
}

/// The key of planes, where the device leaves preconditioning no choice among them.
pub fn unused(table: &Reader<'_>, plan: &Plan) -> Option<String> {
    let has_choice = plan.allocation == Allocation::Dynamic;
    let is_unused = !has_choice || plan.geometry.shape.program_slots > 1;
    (is_unused && table.has("planes")).then(|| "precondition.planes".to_string())
}

/// The preparation of a drive's starting state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PreconditionPlan {
    /// The fill.
    pub fill: Fill,
    /// Share of each plane's pages that an aged drive has invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aged_ratio: Option<f64>,
    /// The pass of `sprandom`, which is read when the drive is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sprandom: Option<SprandomPlan>,
    /// Pages that are mapped after it, since the trace reads them.
    #[serde(skip_serializing_if = "Reads::are_left")]
    pub reads: Reads,
    /// Drive writes of overwriting after it; the largest number where overwriting lasts until
    /// steady.
    pub overwrite: f64,
    /// The pages that it takes.
    #[serde(skip_serializing_if = "OverwriteWith::is_default")]
    pub overwrite_with: OverwriteWith,
    /// By how many bytes each further pass over a trace is shifted, where it is not its span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_bytes: Option<u64>,
    /// Whether overwriting ends as soon as write amplification is steady.
    pub until_steady: bool,
    /// The preset of the scheme that is active meanwhile; none for the run's own.
    pub scheme: Option<String>,
    /// The planes that its writes go to.
    #[serde(skip_serializing_if = "Planes::are_in_turn")]
    pub planes: Planes,
}

/// The default of the most drive writes until steady.
const STEADY_DRIVE_WRITES_MAX: f64 = 50.0;

/// Reads the table.
pub fn read(table: &Reader<'_>, is_generated: bool) -> Option<PreconditionPlan> {
    let fill = table.choice("fill", &Fill::WORDS).unwrap_or(Fill::Sequential);
    if fill == Fill::Trace && is_generated {
        table.error(
            "fill",
            "fill = \"trace\" needs a trace workload, but this workload is generated",
            "set fill = \"sequential\", or write a trace with `flashgc trace generate` and replay \
             it",
        );
    }
    let aged_ratio = aged_ratio(table, fill);
    table.allow("sprandom");
    let reads = reads(table, fill, is_generated);
    let scheme = scheme(table);
    let overwrite = table.f64("overwrite", 0.0..=10_000.0);
    let (overwrite_with, shift_bytes) = overwrite_with(table, fill, is_generated);
    let planes = table.choice("planes", &Planes::WORDS).unwrap_or(Planes::InTurn);
    let until_steady = table.choice("until", &[("steady", true)]).unwrap_or(false);
    let most = table.f64("at_most", 0.0..=10_000.0);
    if until_steady && overwrite.is_some() {
        table.error(
            "overwrite",
            "`overwrite` and `until` cannot be combined: each sets the end of overwriting",
            "remove one of them; `at_most` limits `until = \"steady\"`",
        );
    }
    if !until_steady && most.is_some() {
        table.error(
            "at_most",
            "`at_most` needs `until`",
            "add until = \"steady\", or remove `at_most`",
        );
    }
    if fill == Fill::None && (until_steady || overwrite.is_some_and(|writes| writes > 0.0)) {
        table.error(
            "fill",
            "overwriting needs a filled drive, but fill = \"none\"",
            "set fill = \"sequential\", or remove `overwrite` and `until`",
        );
    }
    if fill == Fill::None && scheme.is_some() && reads.are_left() {
        table.error(
            "scheme",
            "precondition.scheme needs a filled drive, but fill = \"none\"",
            "set fill = \"sequential\", or remove `scheme`",
        );
    }
    table.finish();
    let overwrite = if until_steady {
        most.unwrap_or(STEADY_DRIVE_WRITES_MAX)
    } else {
        overwrite.unwrap_or(0.0)
    };
    Some(PreconditionPlan {
        fill,
        aged_ratio,
        sprandom: None,
        reads,
        overwrite,
        overwrite_with,
        shift_bytes,
        until_steady,
        scheme,
        planes,
    })
}

/// Mapping needs a trace, which has the reads, and a drive with pages that hold no data.
fn reads(table: &Reader<'_>, fill: Fill, is_generated: bool) -> Reads {
    let reads = table.choice("reads", &Reads::WORDS).unwrap_or(Reads::Unmapped);
    if reads.are_left() {
        return reads;
    }
    if fill.is_whole() {
        table.error(
            "reads",
            "`reads` needs pages without data, but a filled drive has none",
            "remove `reads`, or set fill = \"none\" or \"aged\"",
        );
    } else if is_generated {
        table.error(
            "reads",
            "`reads` needs a trace workload, but this workload is generated",
            "remove `reads`, or write a trace with `flashgc trace generate` and replay it",
        );
    }
    reads
}

/// The pages that overwriting takes, and the shift of each pass over a trace, in pages.
fn overwrite_with(
    table: &Reader<'_>,
    fill: Fill,
    is_generated: bool,
) -> (OverwriteWith, Option<u64>) {
    let with = table.choice("overwrite_with", &OverwriteWith::WORDS);
    let with = with.unwrap_or(OverwriteWith::Workload);
    if with == OverwriteWith::Passes && is_generated {
        table.error(
            "overwrite_with",
            "overwrite_with = \"passes\" needs a trace workload, but this workload is generated",
            "set overwrite_with = \"workload\", or write a trace with `flashgc trace generate` and \
             replay it",
        );
    }
    (with, shift_bytes(table, fill, with))
}

/// By how much the passes of a trace over the drive are shifted.
fn shift_bytes(table: &Reader<'_>, fill: Fill, with: OverwriteWith) -> Option<u64> {
    let bytes = table.bytes("shift")?;
    if bytes == 0 {
        let help = "give a size, as in `shift = \"1 GiB\"`, or remove `shift` for the span of the \
                    trace";
        table.error("shift", "shift must be above 0, got 0 B", help);
    } else if fill != Fill::Trace && with != OverwriteWith::Passes {
        table.error(
            "shift",
            "`shift` needs fill = \"trace\" or overwrite_with = \"passes\"",
            "set one of them, or remove `shift`",
        );
    }
    Some(bytes)
}

fn aged_ratio(table: &Reader<'_>, fill: Fill) -> Option<f64> {
    let ratio = table.part("aged_ratio", 0.0..=1.0);
    let help = "the share of each plane's pages that are invalid, as in `aged_ratio = 0.5`";
    match fill {
        Fill::Aged => table.required("aged_ratio", ratio, help),
        _ if ratio.is_some() => {
            table.error(
                "aged_ratio",
                "aged_ratio needs fill = \"aged\"",
                "set fill = \"aged\", or remove `aged_ratio`",
            );
            None
        }
        _ => None,
    }
}

/// `scheme`: the name of a preset.
fn scheme(table: &Reader<'_>) -> Option<String> {
    let name = table.string("scheme")?;
    if presets::has_scheme(name) {
        return Some(name.into());
    }
    let names = presets::scheme_names();
    let help = match flashgc_config::nearest(name, &names) {
        Some(near) => format!("did you mean \"{near}\"? `flashgc schemes` lists them all"),
        None => format!("valid schemes: {}", names.join(", ")),
    };
    table.error("scheme", format!("there is no scheme \"{name}\""), help);
    None
}
