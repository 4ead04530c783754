//! How requests come in, which of their transfers is next, and when they are done.

use super::{firmware, timing};
use flashgc_config::Reader;
use flashgc_model::device::BusOrder;
use flashgc_model::plan::{Completions, Front, Places, QueueOrder, WriteCompletion};

/// Reads the keys. Errors are noted.
pub fn read(table: &Reader<'_>) -> Option<Front> {
    let (host_link, places) = (timing::host_link(table), places(table));
    let firmware = firmware::read(table);
    Some(Front {
        host_link,
        places,
        bus_order: table.choice("bus_order", &BUS_ORDERS).unwrap_or_default(),
        completions: table.choice("completions", &COMPLETIONS).unwrap_or_default(),
        write_completion: table.choice("write_completion", &WRITES).unwrap_or_default(),
        firmware: firmware?,
    })
}

/// The places of the device, where the number of requests in it is bounded.
fn places(table: &Reader<'_>) -> Option<Places> {
    let count = table.u32("queue_length", 1..=1_000_000);
    let order = table.choice("queue_order", &QUEUE_ORDERS).unwrap_or_default();
    count.map(|count| Places { count, order })
}

const QUEUE_ORDERS: [(&str, QueueOrder); 3] = [
    ("arrival", QueueOrder::Arrival),
    ("address", QueueOrder::Address),
    ("round-robin", QueueOrder::RoundRobin),
];

const BUS_ORDERS: [(&str, BusOrder); 2] =
    [("arrival", BusOrder::Arrival), ("commands-first", BusOrder::CommandsFirst)];

const COMPLETIONS: [(&str, Completions); 2] =
    [("one-by-one", Completions::OneByOne), ("together", Completions::Together)];

const WRITES: [(&str, WriteCompletion); 2] =
    [("programmed", WriteCompletion::Programmed), ("loaded", WriteCompletion::Loaded)];
