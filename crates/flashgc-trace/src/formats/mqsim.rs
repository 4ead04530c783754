//! MQSim's ASCII trace: time in ns (or us, or ps), device, sector, sectors, op.

use crate::fields::TimeUnit;
use crate::format::{FormatInfo, LineWriter, Look};
use crate::formats::Format;
use crate::formats::five::{Five, SECTOR, SECTORS};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "mqsim",
    names: &[
        ("mqsim", || Format::MqSim(TimeUnit::Ns)),
        ("mqsim-us", || Format::MqSim(TimeUnit::Us)),
        ("mqsim-ps", || Format::MqSim(TimeUnit::Ps)),
    ],
    title: "MQSim ASCII, times in ns; mqsim-us, mqsim-ps: its other units",
    columns: "time device sector sectors op",
    units: "whole ns (us, ps), sectors of 512 bytes, sectors; op: 1 = read, 0 = write",
    defined: "MQSim README, trace-based workloads; ASCII_Trace_Definition.h (read code 1)",
    lost: "fractions of the time unit; no trims; offset and size must be multiples of 512; \
           priority marks",
    option: None,
    looks_like: Look::Lines(|sample| reader(&TimeUnit::Ns).looks_like(sample)),
};

pub(crate) fn reader(unit: &TimeUnit) -> Five {
    let time = match unit {
        TimeUnit::Us => "a whole time in us",
        TimeUnit::Ps => "a whole time in ps",
        _ => "a whole time in ns",
    };
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
