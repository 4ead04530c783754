//! `device.service` and `device.order`: the order of service at a unit, and that of planes.

use flashgc_config::Reader;
use flashgc_model::device::Level;
use flashgc_model::plan::{Served, Service};

/// The order of service, and its words.
pub fn service(table: &Reader<'_>) -> (Option<Service>, Vec<String>) {
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

/// The order in which pages go round the planes.
pub fn order(table: &Reader<'_>) -> Option<[Level; 4]> {
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
