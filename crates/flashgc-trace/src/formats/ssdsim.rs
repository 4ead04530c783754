//! SSDSim's ASCII trace: time in ns (or us), device, sector, sectors, op.

use crate::fields::TimeUnit;
use crate::format::{FormatInfo, LineWriter, Look};
use crate::formats::Format;
use crate::formats::five::{Five, SECTOR, SECTORS};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "ssdsim",
    names: &[
        ("ssdsim", || Format::SsdSim(TimeUnit::Ns)),
        ("ssdsim-us", || Format::SsdSim(TimeUnit::Us)),
    ],
    title: "SSDSim ASCII, times in ns; ssdsim-us: times in us",
    columns: "time device sector sectors op",
    units: "whole ns (us), sectors of 512 bytes, sectors; op: 1 = read, 0 = write",
    defined: "SSDSim, get_requests() in ssd.c; Hu et al., ICS 2011",
    lost: "fractions of the time unit; no trims; offset and size must be multiples of 512; \
           priority marks",
    option: None,
    looks_like: Look::Lines(|sample| reader(&TimeUnit::Ns).looks_like(sample)),
};

pub(crate) fn reader(unit: &TimeUnit) -> Five {
    let time = if *unit == TimeUnit::Us { "a whole time in us" } else { "a whole time in ns" };
    Five {
        name: INFO.name,
        unit: *unit,
        time,
        decimals: false,
        address: SECTOR,
        size: SECTORS,
        flags: false,
    }
}

pub(crate) fn writer(unit: &TimeUnit) -> Option<Box<dyn LineWriter>> {
    Some(Box::new(reader(unit)))
}

pub(crate) fn option_text(_unit: &TimeUnit) -> Option<String> {
    None
}
