//! The space that a trace needs: a quick first pass over it.

use super::per_device::PerDevice;
use super::totals::Totals;
use crate::FOOTPRINT_PAGE_BYTES;
use crate::error::TraceError;
use crate::reader::TraceReader;
use serde::Serialize;

/// The end of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceExtent {
    /// Its id.
    pub device: u64,
    /// End of its highest request, rounded up to 4 KiB.
    pub end_bytes: u64,
}

/// The space that a trace needs, from a first pass over it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Extents {
    /// The devices, in order of id.
    pub devices: Vec<DeviceExtent>,
    /// Records.
    pub rows: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Time of the earliest record.
    pub first_ns: u64,
    /// Time of the latest record.
    pub last_ns: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl Extents {
    /// Room for all devices, one behind the other; `None` if that is beyond all addresses.
    pub fn total_bytes(&self) -> Option<u64> {
        self.devices.iter().try_fold(0_u64, |sum, device| sum.checked_add(device.end_bytes))
    }

    /// The first byte of a device, if they lie one behind the other in order of id.
    pub fn base_bytes(&self, device: u64) -> Option<u64> {
        let index = self.devices.binary_search_by_key(&device, |known| known.device).ok()?;
        let before = &self.devices[..index];
        before.iter().try_fold(0_u64, |sum, device| sum.checked_add(device.end_bytes))
    }
}

/// Reads a trace once to find the capacity that it needs.
pub fn extents(mut reader: TraceReader) -> Result<Extents, TraceError> {
    let mut totals = Totals::default();
    let mut ends: PerDevice<u64> = PerDevice::new();
    while let Some(record) = reader.next() {
        let record = record?;
        totals.add(&record);
        let (_, end) = ends.get(reader.source(), record.device)?;
        *end = (*end).max(record.end_bytes());
    }
    let (first_ns, last_ns) = totals.span_ns.unwrap_or((0, 0));
    let rounded = |(device, end): (u64, &u64)| DeviceExtent {
        device,
        end_bytes: end.next_multiple_of(FOOTPRINT_PAGE_BYTES),
    };
    Ok(Extents {
        devices: ends.iter().map(rounded).collect(),
        rows: totals.rows,
        reads: totals.reads,
        writes: totals.writes,
        trims: totals.trims,
        first_ns,
        last_ns,
        written_bytes: totals.written_bytes,
    })
}
