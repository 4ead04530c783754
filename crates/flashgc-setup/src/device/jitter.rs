//! `jitter` of a stage of the host: the distribution of a time that is added to its own.

use super::timing::at_most_longest;
use flashgc_config::Reader;
use flashgc_model::plan::Jitter;

/// The distributions, by their words.
pub const KINDS: &[&str] = &["fixed", "exponential", "normal", "lognormal"];

const HELP: &str = "fixed = \"2 us\", exponential = \"2 us\", normal = { mean = \"5 us\", stddev \
                    = \"1 us\" }, or lognormal = { mean = \"5 us\", stddev = \"5 us\" }";

/// Reads the table, if there is one. Errors are noted.
pub fn read(stage: &Reader<'_>) -> Option<Jitter> {
    if !stage.has("jitter") {
        return Some(Jitter::default());
    }
    let table = stage.table("jitter");
    let named: Vec<&str> = KINDS.iter().copied().filter(|kind| table.has(kind)).collect();
    let found = match named[..] {
        ["fixed"] => duration(&table, "fixed").map(|ns| Jitter::Fixed { ns }),
        ["exponential"] => {
            duration(&table, "exponential").map(|mean_ns| Jitter::Exponential { mean_ns })
        }
        ["normal"] => moments(&table.table("normal"))
            .map(|[mean_ns, stddev_ns]| Jitter::Normal { mean_ns, stddev_ns }),
        ["lognormal"] => lognormal(&table.table("lognormal")),
        _ => {
            stage.error("jitter", "give exactly one distribution of the jitter", HELP);
            None
        }
    };
    table.finish();
    found.map(|jitter| if jitter.is_nothing() { Jitter::default() } else { jitter })
}

fn duration(table: &Reader<'_>, key: &str) -> Option<u64> {
    let help = format!("a duration, as in `{key} = \"2 us\"`");
    let ns = table.required(key, table.duration_ns(key), &help)?;
    at_most_longest(table, key, ns, &help)
}

/// The mean and the standard deviation, in ns.
fn moments(table: &Reader<'_>) -> Option<[u64; 2]> {
    let moments = ["mean", "stddev"].map(|key| duration(table, key));
    table.finish();
    let [mean_ns, stddev_ns] = moments;
    Some([mean_ns?, stddev_ns?])
}

fn lognormal(table: &Reader<'_>) -> Option<Jitter> {
    let [mean_ns, stddev_ns] = moments(table)?;
    if mean_ns == 0 && stddev_ns > 0 {
        let message = format!("a lognormal time of mean 0 has a stddev of 0, got {stddev_ns} ns");
        table.error(
            "mean",
            message,
            "write for example `mean = \"5 us\"`, or set stddev = \"0 ns\"",
        );
        return None;
    }
    Some(Jitter::Lognormal { mean_ns, stddev_ns })
}
