//! Describes a whole trace, in one pass and in memory that does not grow with its rows.

mod bursts;
mod extents;
mod gaps;
mod hotness;
mod per_device;
mod sequence;
mod sizes;
mod spread;
mod totals;
mod updates;

pub use bursts::{Burst, Timeline};
pub use extents::{DeviceExtent, Extents, extents};
pub use gaps::{Batches, GapInfo, Interarrival};
pub use hotness::Hotness;
pub use sequence::Sequential;
pub use sizes::{SizeInfo, Sizes};
pub use spread::SpreadInfo;
pub use totals::{HintCounts, HintInfo};
pub use updates::Updates;

use crate::FOOTPRINT_PAGE_BYTES;
use crate::error::TraceError;
use crate::pages::PageSet;
use crate::reader::TraceReader;
use crate::record::{Op, Record};
use per_device::PerDevice;
use sequence::{Position, Runs};
use serde::Serialize;
use totals::{Totals, ratio};

/// The statistics of a trace. A value that is undefined is `None`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Info {
    /// The format's name.
    pub format: String,
    /// Its option, such as the event taken from blkparse.
    pub format_option: Option<String>,
    /// The origin that the file names, if its format can.
    pub origin: Option<String>,
    /// Rows that are records.
    pub rows: u64,
    /// Rows that could not be parsed.
    pub bad_rows: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Rows that are none of these.
    pub others: u64,
    /// Rows that are marked as of high priority, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<u64>,
    /// Flushes, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
    /// Writes with forced unit access, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fua: Option<u64>,
    /// Writes by placement hint, where one has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<HintInfo>>,
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
    /// The largest delay of a record behind the latest one before it.
    pub late_ns_max: u64,
    /// The number of apparent restarts of a 32-bit clock from 0.
    pub clock_wraps: u64,
    /// The unit of such a clock.
    pub clock_unit: Option<String>,
    /// Share of the reads among reads and writes.
    pub read_share: Option<f64>,
    /// Sizes, in bytes.
    pub size_bytes: Sizes,
    /// Requests that begin where the one before ended.
    pub sequential: Sequential,
    /// Times between rows, in ns.
    pub interarrival_ns: Interarrival,
    /// Rows of equal times.
    pub batches: Batches,
    /// Rows in windows of 10 ms, 100 ms and 1 s.
    pub bursts: Vec<Burst>,
    /// Rows over time.
    pub timeline: Timeline,
    /// The intervals between writes of a page.
    pub updates: Updates,
    /// The distribution of the writes over the pages.
    pub hotness: Hotness,
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

/// One device, while a trace is read.
#[derive(Default)]
struct Pages {
    rows: u64,
    end_bytes: u64,
    touched: PageSet,
    written: PageSet,
    position: Position,
}

impl Pages {
    /// Adds a record. False: the pages spread beyond the largest possible drive.
    fn add(&mut self, record: &Record) -> bool {
        self.rows += 1;
        let end = record.end_bytes();
        self.end_bytes = self.end_bytes.max(end);
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

/// All that is gathered while a trace is read.
struct Gathered {
    totals: Totals,
    devices: PerDevice<Pages>,
    runs: Runs,
    sizes: sizes::AllSizes,
    arrivals: gaps::Arrivals,
    course: bursts::Course,
    updates: updates::Pages,
}

impl Gathered {
    fn new() -> Self {
        Gathered {
            totals: Totals::default(),
            devices: PerDevice::new(),
            runs: Runs::default(),
            sizes: sizes::AllSizes::new(),
            arrivals: gaps::Arrivals::default(),
            course: bursts::Course::new(),
            updates: updates::Pages::new(),
        }
    }

    #[inline]
    fn add(&mut self, source: &str, record: &Record) -> Result<(), TraceError> {
        self.totals.add(record);
        self.sizes.add(record);
        let at_ns = self.arrivals.add(record);
        self.course.add(at_ns, record);
        let (number, device) = self.devices.get(source, record.device)?;
        if !device.add(record) {
            return Err(too_wide(source, record));
        }
        self.runs.add(&mut device.position, record);
        if record.op == Op::Write && record.size_bytes > 0 {
            self.updates.add(number, at_ns, record);
        }
        Ok(())
    }

    fn info(mut self, reader: &TraceReader) -> Info {
        for device in self.devices.values_mut() {
            self.runs.end(&mut device.position);
        }
        let devices = self.devices;
        let pages = |count: fn(&Pages) -> u64| devices.iter().map(|(_, it)| count(it)).sum::<u64>();
        let written_footprint = pages(|device| device.written.count()) * FOOTPRINT_PAGE_BYTES;
        let totals = self.totals;
        let (first_ns, last_ns) = totals.span_ns.unwrap_or((0, 0));
        let duration_ns = last_ns - first_ns;
        let (interarrival_ns, batches) = self.arrivals.info();
        let (bursts, timeline) = self.course.info();
        let (updates, hotness) = self.updates.info();
        Info {
            format: reader.format().name().to_string(),
            format_option: reader.format().option_text(),
            origin: reader.origin().map(str::to_string),
            rows: totals.rows,
            bad_rows: reader.bad_rows(),
            reads: totals.reads,
            writes: totals.writes,
            trims: totals.trims,
            others: totals.others,
            high: (totals.high > 0).then_some(totals.high),
            flushes: (totals.flushes > 0).then_some(totals.flushes),
            fua: (totals.fua > 0).then_some(totals.fua),
            hints: totals.by_hint.info(),
            read_bytes: totals.read_bytes,
            written_bytes: totals.written_bytes,
            footprint_bytes: pages(|device| device.touched.count()) * FOOTPRINT_PAGE_BYTES,
            written_footprint_bytes: written_footprint,
            max_address_bytes: devices.iter().map(|(_, it)| it.end_bytes).max().unwrap_or(0),
            duration_s: duration_ns as f64 / 1e9,
            first_ns,
            last_ns,
            mean_read_bytes: ratio(totals.read_bytes, totals.reads),
            mean_write_bytes: ratio(totals.written_bytes, totals.writes),
            sequential_share: self.runs.share(totals.reads + totals.writes),
            mean_interarrival_ns: ratio(duration_ns, totals.rows.saturating_sub(1)),
            overwrite_ratio: ratio(totals.written_bytes, written_footprint),
            out_of_order: reader.out_of_order(),
            late_ns_max: reader.late_ns_max(),
            clock_wraps: reader.clock_wraps().0,
            clock_unit: reader.clock_wraps().1.map(str::to_string),
            devices: devices.iter().map(device_info).collect(),
            read_share: ratio(totals.reads, totals.reads + totals.writes),
            size_bytes: self.sizes.info(),
            sequential: self.runs.info(totals.reads, totals.writes),
            interarrival_ns,
            batches,
            bursts,
            timeline,
            updates,
            hotness,
        }
    }
}

/// Describes a trace. Open it with [`crate::Disorder::Ignore`], so that it is described as it is.
pub fn info(mut reader: TraceReader) -> Result<Info, TraceError> {
    let mut gathered = Gathered::new();
    while let Some(record) = reader.next() {
        gathered.add(reader.source(), &record?)?;
    }
    Ok(gathered.info(&reader))
}

#[cold]
fn too_wide(source: &str, record: &Record) -> TraceError {
    let message = format!("the pages touched on device {} span more than 256 TiB", record.device);
    TraceError::new(source, message)
        .on_line(record.line)
        .help("check the format and the unit of the addresses")
}

fn device_info((device, pages): (u64, &Pages)) -> DeviceInfo {
    DeviceInfo { device, rows: pages.rows, max_address_bytes: pages.end_bytes }
}
