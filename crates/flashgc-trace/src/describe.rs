//! Describes a whole trace.

use crate::error::TraceError;
use crate::pages::PageSet;
use crate::reader::TraceReader;
use crate::record::{Op, Record};
use crate::FOOTPRINT_PAGE_BYTES;
use serde::Serialize;
use std::collections::BTreeMap;

/// More devices than this are a sign of a wrong format.
const DEVICES_MAX: usize = 1 << 20;

/// What a trace holds. A figure that is undefined is `None`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Info {
    /// The format's name.
    pub format: String,
    /// Its option, such as the event taken from blkparse.
    pub format_option: Option<String>,
    /// Rows that are records.
    pub rows: u64,
    /// Rows that were not understood.
    pub bad_rows: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Rows that are none of these.
    pub others: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Pages of 4 KiB touched by any row but a trim, per device, each once, in bytes.
    pub footprint_bytes: u64,
    /// Pages of 4 KiB written, per device, each once, in bytes.
    pub written_footprint_bytes: u64,
    /// The byte after the last one that any row names on any device.
    pub max_address_bytes: u64,
    /// From the earliest to the latest record.
    pub duration_s: f64,
    /// Time of the earliest record, as in the file.
    pub first_ns: u64,
    /// Time of the latest record, as in the file.
    pub last_ns: u64,
    /// The devices, in order of id.
    pub devices: Vec<DeviceInfo>,
    /// Bytes of a read, on average.
    pub mean_read_bytes: Option<f64>,
    /// Bytes of a write, on average.
    pub mean_write_bytes: Option<f64>,
    /// Share of the reads and writes that begin where the one before on the device ended.
    pub sequential_share: Option<f64>,
    /// Time between two records, on average.
    pub mean_interarrival_ns: Option<f64>,
    /// Bytes written for each byte of the written footprint.
    pub overwrite_ratio: Option<f64>,
    /// Records that are earlier than the one before them in the file.
    pub out_of_order: u64,
    /// How late a record is behind the latest one before it, at most.
    pub late_ns_max: u64,
}

/// One device of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// Its id.
    pub device: u64,
    /// Its rows.
    pub rows: u64,
    /// The byte after the last one that any row names.
    pub max_address_bytes: u64,
}

/// Where one device ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceExtent {
    /// Its id.
    pub device: u64,
    /// End of its highest request, rounded up to 4 KiB.
    pub end_bytes: u64,
}

/// How much room a trace needs, from a first pass over it.
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

    /// Where a device begins, if they lie one behind the other in order of id.
    pub fn base_bytes(&self, device: u64) -> Option<u64> {
        let index = self.devices.binary_search_by_key(&device, |known| known.device).ok()?;
        let before = &self.devices[..index];
        before.iter().try_fold(0_u64, |sum, device| sum.checked_add(device.end_bytes))
    }
}

/// Figures of each device, found quickly for the device of the row before.
struct PerDevice<T> {
    index: BTreeMap<u64, usize>,
    values: Vec<T>,
    last: Option<(u64, usize)>,
}

impl<T: Default> PerDevice<T> {
    fn new() -> Self {
        PerDevice { index: BTreeMap::new(), values: Vec::new(), last: None }
    }

    fn get(&mut self, source: &str, device: u64) -> Result<&mut T, TraceError> {
        let at = match self.last {
            Some((last, at)) if last == device => at,
            _ => *self.index.entry(device).or_insert(self.values.len()),
        };
        self.last = Some((device, at));
        if at == self.values.len() {
            if at == DEVICES_MAX {
                let message = format!("the trace has more than {DEVICES_MAX} devices");
                return Err(TraceError::new(source, message)
                    .help("perhaps the format is another one, or the column of the device"));
            }
            self.values.push(T::default());
        }
        Ok(&mut self.values[at])
    }

    /// In order of id.
    fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.index.iter().map(|(device, at)| (*device, &self.values[*at]))
    }
}

/// What both passes count.
#[derive(Default)]
struct Totals {
    rows: u64,
    reads: u64,
    writes: u64,
    trims: u64,
    others: u64,
    read_bytes: u64,
    written_bytes: u64,
    span_ns: Option<(u64, u64)>,
}

impl Totals {
    fn add(&mut self, record: &Record) {
        self.rows += 1;
        let (first, last) = self.span_ns.unwrap_or((record.at_ns, record.at_ns));
        self.span_ns = Some((first.min(record.at_ns), last.max(record.at_ns)));
        match record.op {
            Op::Read => {
                self.reads += 1;
                self.read_bytes = self.read_bytes.saturating_add(record.size_bytes);
            }
            Op::Write => {
                self.writes += 1;
                self.written_bytes = self.written_bytes.saturating_add(record.size_bytes);
            }
            Op::Trim => self.trims += 1,
            Op::Other => self.others += 1,
        }
    }
}

/// One device, while a trace is read.
#[derive(Default)]
struct Pages {
    rows: u64,
    end_bytes: u64,
    touched: PageSet,
    written: PageSet,
    next_bytes: Option<u64>,
    sequential: u64,
}

impl Pages {
    /// False: the pages spread beyond what a drive can be.
    fn add(&mut self, record: &Record) -> bool {
        self.rows += 1;
        let end = record.end_bytes();
        self.end_bytes = self.end_bytes.max(end);
        if matches!(record.op, Op::Read | Op::Write) {
            self.sequential += u64::from(self.next_bytes == Some(record.offset_bytes));
            self.next_bytes = Some(end);
        }
        // A trim touches no data; a row such as a read ahead does, though it is not replayed.
        if record.op == Op::Trim || record.size_bytes == 0 {
            return true;
        }
        let first = record.offset_bytes / FOOTPRINT_PAGE_BYTES;
        let end = end.div_ceil(FOOTPRINT_PAGE_BYTES);
        let fits = self.touched.insert(first, end);
        fits && (record.op != Op::Write || self.written.insert(first, end))
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Describes a trace. Open it with [`crate::Disorder::Ignore`], so that it is described as it is.
pub fn info(mut reader: TraceReader) -> Result<Info, TraceError> {
    let mut totals = Totals::default();
    let mut devices: PerDevice<Pages> = PerDevice::new();
    while let Some(record) = reader.next() {
        let record = record?;
        totals.add(&record);
        if !devices.get(reader.source(), record.device)?.add(&record) {
            return Err(too_wide(reader.source(), &record));
        }
    }
    let pages = |count: fn(&Pages) -> u64| devices.values.iter().map(count).sum::<u64>();
    let written_footprint = pages(|device| device.written.count()) * FOOTPRINT_PAGE_BYTES;
    let (first_ns, last_ns) = totals.span_ns.unwrap_or((0, 0));
    let duration_ns = last_ns - first_ns;
    Ok(Info {
        format: reader.format().name().to_string(),
        format_option: reader.format().option_text(),
        rows: totals.rows,
        bad_rows: reader.bad_rows(),
        reads: totals.reads,
        writes: totals.writes,
        trims: totals.trims,
        others: totals.others,
        read_bytes: totals.read_bytes,
        written_bytes: totals.written_bytes,
        footprint_bytes: pages(|device| device.touched.count()) * FOOTPRINT_PAGE_BYTES,
        written_footprint_bytes: written_footprint,
        max_address_bytes: devices.values.iter().map(|pages| pages.end_bytes).max().unwrap_or(0),
        duration_s: duration_ns as f64 / 1e9,
        first_ns,
        last_ns,
        mean_read_bytes: ratio(totals.read_bytes, totals.reads),
        mean_write_bytes: ratio(totals.written_bytes, totals.writes),
        sequential_share: ratio(pages(|device| device.sequential), totals.reads + totals.writes),
        mean_interarrival_ns: ratio(duration_ns, totals.rows.saturating_sub(1)),
        overwrite_ratio: ratio(totals.written_bytes, written_footprint),
        out_of_order: reader.out_of_order(),
        late_ns_max: reader.late_ns_max(),
        devices: devices.iter().map(device_info).collect(),
    })
}

#[cold]
fn too_wide(source: &str, record: &Record) -> TraceError {
    let message = format!("the pages touched on device {} spread over 256 TiB", record.device);
    TraceError::new(source, message)
        .on_line(record.line)
        .help("perhaps the format is another one, or the unit of the addresses")
}

fn device_info((device, pages): (u64, &Pages)) -> DeviceInfo {
    DeviceInfo { device, rows: pages.rows, max_address_bytes: pages.end_bytes }
}

/// Reads a trace once to learn how much room it needs.
pub fn extents(mut reader: TraceReader) -> Result<Extents, TraceError> {
    let mut totals = Totals::default();
    let mut ends: PerDevice<u64> = PerDevice::new();
    while let Some(record) = reader.next() {
        let record = record?;
        totals.add(&record);
        let end = ends.get(reader.source(), record.device)?;
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
