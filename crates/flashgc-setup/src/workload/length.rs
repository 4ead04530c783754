//! The length of a workload, and the condition that ends it.

use flashgc_config::Reader;
use flashgc_model::plan::Until;
use flashgc_workload::length::Length;

/// The most drive writes of a run until it is steady, where none are given.
const AT_MOST: f64 = 50.0;
const CONFIDENCE: f64 = 0.95;
/// Half the interval of p99.9, as a share of it.
const WITHIN: f64 = 0.1;
const DRIVE_WRITES_MAX: f64 = 10_000.0;
const HELP: &str = "a number of requests, as in `requests = 1_000_000`, or an amount of work, as \
                    in `requests = \"2 drive writes\"`";

/// `requests`: a count, or the number that writes the drive a given number of times. With `until`
/// it may be omitted.
pub fn read(table: &Reader<'_>, until: Option<&Until>) -> Option<Length> {
    let length = match table.is_text("requests") {
        true => drive_writes(table),
        false => table.u64("requests", 1..=1_000_000_000_000).map(Length::Requests),
    };
    if !table.has("requests")
        && let Some(until) = until
    {
        return Some(Length::drive_writes(until.at_most));
    }
    table.required("requests", length, HELP)
}

fn drive_writes(table: &Reader<'_>) -> Option<Length> {
    let text = table.string("requests")?;
    let words = ["drive writes", "drive write"];
    let number = words.iter().find_map(|words| text.trim().strip_suffix(words));
    let is_plain = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = number.map(str::trim).filter(is_plain).and_then(|text| text.parse::<f64>().ok());
    let number = number.filter(|number| *number > 0.0 && *number <= DRIVE_WRITES_MAX);
    if number.is_none() {
        table.error(
            "requests",
            format!("\"{text}\" is not a valid length"),
            format!("{HELP}; above 0 and at most 10,000 drive writes"),
        );
    }
    number.map(Length::drive_writes)
}

/// `until` and the keys that belong to it.
pub fn until(table: &Reader<'_>) -> Option<Until> {
    let is_steady = table.choice("until", &[("steady", true)]).unwrap_or(false);
    let confidence = table.part("confidence", 0.5..=0.9999);
    let within = table.part("within", 0.001..=1.0);
    let at_most = table.f64("at_most", 0.001..=DRIVE_WRITES_MAX);
    if is_steady {
        return Some(Until {
            confidence: confidence.unwrap_or(CONFIDENCE),
            within: within.unwrap_or(WITHIN),
            at_most: at_most.unwrap_or(AT_MOST),
        });
    }
    for key in ["confidence", "within", "at_most"] {
        if table.has(key) {
            let message = format!("`{key}` needs `until`");
            table.error(key, message, "add `until = \"steady\"` to [workload], or remove `{key}`");
        }
    }
    None
}

/// An amount of work that is never done is refused: a workload that does not write.
pub fn check_writes(table: &Reader<'_>, length: Length, writes: bool) {
    if !writes && length.requests().is_none() {
        let key = if table.has("requests") { "requests" } else { "read_share" };
        table.error(
            key,
            "the workload writes nothing, so it never reaches a length in drive writes",
            "give a number of requests, as in `requests = 1_000_000`, or make some of them writes",
        );
    }
}
