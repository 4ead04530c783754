//! `interarrival`, and `read_interarrival` and `write_interarrival`.

use flashgc_config::Reader;
use flashgc_workload::synthetic::Interarrival;

const HELP: &str = "fixed = \"100 us\", uniform = \"1 ms\" (from 0), exponential = \"100 us\", \
                    bursty = { mean = \"13 ms\", below = \"1.5 ms\", share = 0.31 }, or \
                    hyperexponential = { fast_share = 0.4, fast = \"100 us\", slow = \"20 ms\" }";

/// Reads the gaps under `key`. `None` where there are none, and after an error.
pub fn read(table: &Reader<'_>, key: &str) -> Option<Interarrival> {
    if !table.has(key) {
        return None;
    }
    let choice = table.table(key);
    let kinds = ["fixed", "uniform", "exponential", "bursty", "hyperexponential"];
    let named: Vec<&str> = kinds.into_iter().filter(|kind| choice.has(kind)).collect();
    let found = match named[..] {
        ["fixed"] => choice.duration_ns("fixed").map(|ns| Interarrival::Fixed { ns }),
        ["uniform"] => choice.duration_ns("uniform").map(|max_ns| Interarrival::Uniform { max_ns }),
        ["exponential"] => {
            choice.duration_ns("exponential").map(|mean_ns| Interarrival::Exponential { mean_ns })
        }
        ["bursty"] => bursty(&choice, &choice.table("bursty")),
        ["hyperexponential"] => hyperexponential(&choice.table("hyperexponential")),
        _ => {
            table.error(key, "give exactly one distribution of the time between arrivals", HELP);
            None
        }
    };
    choice.finish();
    found
}

fn bursty(parent: &Reader<'_>, table: &Reader<'_>) -> Option<Interarrival> {
    let mean = table.required("mean", table.duration_ns("mean"), "the mean gap");
    let below = table.required(
        "below",
        table.duration_ns("below"),
        "the length below which a gap is short",
    );
    let share = table.required("share", table.part("share", 0.0..=1.0), "the share of short gaps");
    table.finish();
    let (mean, below, share) = (mean? as f64, below? as f64, share?);
    if mean == 0.0 || below == 0.0 {
        parent.error(
            "bursty",
            format!("`mean` and `below` must be above 0, got {mean} ns and {below} ns"),
            "give durations, as in mean = \"13 ms\", below = \"1.5 ms\"",
        );
        return None;
    }
    let found = Interarrival::bursty(mean, below, share);
    if found.is_none() {
        let (least, plain) = Interarrival::short_shares(mean, below);
        parent.error(
            "bursty",
            format!("a share of {share} short gaps is not possible with this mean"),
            format!("give a share from {least:.4} to below 1; exponential gaps have {plain:.4}"),
        );
    }
    found
}

fn hyperexponential(table: &Reader<'_>) -> Option<Interarrival> {
    let share = |key: &str| table.part(key, 0.0..=1.0);
    let fast_share =
        table.required("fast_share", share("fast_share"), "the share of gaps in the fast phase");
    let fast = table.required("fast", table.duration_ns("fast"), "the mean gap of the fast phase");
    let slow = table.required("slow", table.duration_ns("slow"), "the mean gap of the slow phase");
    let stay = if table.has("stay") { share("stay") } else { Some(0.0) };
    table.finish();
    let (fast_ns, slow_ns, stay) = (fast? as f64, slow? as f64, stay?);
    if fast_ns > slow_ns {
        table.error(
            "fast",
            format!("`fast` must not be longer than `slow`, got {fast_ns} ns and {slow_ns} ns"),
            "swap `fast` and `slow`",
        );
        return None;
    }
    if stay >= 1.0 {
        table.error(
            "stay",
            format!("`stay` must be below 1, got {stay}"),
            "give less than 1; with 0, each gap draws its phase",
        );
        return None;
    }
    Some(Interarrival::Hyperexponential { fast_share: fast_share?, fast_ns, slow_ns, stay })
}
