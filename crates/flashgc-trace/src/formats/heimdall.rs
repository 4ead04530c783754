//! The traces of Heimdall and FlashNet: time in ms, device, offset and size in bytes, op.

use crate::fields::TimeUnit;
use crate::format::{FormatInfo, LineWriter, Look};
use crate::formats::Format;
use crate::formats::five::{Count, Five};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "heimdall",
    names: &[("heimdall", || Format::Heimdall)],
    title: "Heimdall, FlashNet and their replayer: five numbers, in bytes",
    columns: "time device offset size op",
    units: "milliseconds with decimals, bytes, bytes; op: 1 = read, 0 = write",
    defined: "README of the block replayer (huaicheng/replayer) that Heimdall and IODA use",
    lost: "no trims; priority marks",
    option: None,
    looks_like: Look::Lines(|sample| reader().looks_like(sample)),
};

pub(crate) fn reader() -> Five {
    Five {
        name: INFO.name,
        unit: TimeUnit::Ms,
        time: "a time in ms",
        decimals: true,
        address: Count { block: 1, what: "an offset in bytes" },
        size: Count { block: 1, what: "a size in bytes" },
        flags: false,
    }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    Some(Box::new(reader()))
}
