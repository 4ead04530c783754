//! DiskSim's ASCII trace: time in ms, device, block, blocks, flags.

use crate::fields::TimeUnit;
use crate::format::{FormatInfo, LineWriter, Look};
use crate::formats::Format;
use crate::formats::five::{Five, SECTOR, SECTORS};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "disksim",
    names: &[("disksim", || Format::DiskSim)],
    title: "DiskSim ASCII (also the MSR SSD extension)",
    columns: "time device block blocks flags",
    units: "milliseconds with decimals, blocks of 512 bytes, blocks; bit 0 of the flags: 1 = read",
    defined: "DiskSim 4.0 manual, default (ASCII) input format; disksim_iotrace.c",
    lost: "no trims; offset and size must be multiples of 512; priority marks",
    option: None,
    looks_like: Look::Lines(|sample| reader().looks_like(sample)),
};

pub(crate) fn reader() -> Five {
    Five {
        name: INFO.name,
        unit: TimeUnit::Ms,
        time: "a time in ms",
        decimals: true,
        address: SECTOR,
        size: SECTORS,
        flags: true,
    }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    Some(Box::new(reader()))
}
