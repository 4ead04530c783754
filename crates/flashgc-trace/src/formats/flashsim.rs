//! FlashSim's ASCII trace: time in ms, device, sector, size in pages of 4 KiB, flags.

use crate::fields::TimeUnit;
use crate::format::{FormatInfo, LineWriter, Look};
use crate::formats::Format;
use crate::formats::five::{Count, Five, SECTOR};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "flashsim",
    names: &[("flashsim", || Format::FlashSim)],
    title: "FlashSim ASCII: as DiskSim's, sizes in 4 KiB",
    columns: "time device sector pages flags",
    units: "milliseconds with decimals, sectors of 512 bytes, pages of 4096 bytes; bit 0 of the \
            flags: 1 = read",
    defined: "by the traces that come with FlashSim (Penn State), compared with their originals",
    lost: "no trims; the offset must be a multiple of 512, the size of 4096; priority marks",
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
        size: Count { block: 4096, what: "a size in pages of 4096 bytes" },
        flags: true,
    }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    Some(Box::new(reader()))
}
