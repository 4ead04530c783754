//! The records of a trace, kept when it is first read, so that its text is parsed once.
//!
//! A row takes 12 bytes, and 24 in a part with a row that these do not hold: the first access of
//! memory costs more than all else here. A trace of more rows than [`KEPT_ROWS`], or with a row
//! that no part holds, is read again instead.

use flashgc_trace::{Marks, Op, OpenOptions, Record};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Rows that are kept at most: 48 to 96 MiB.
pub const KEPT_ROWS: usize = 4 << 20;
/// Rows of a part: no table is copied as it grows.
const PART_ROWS: usize = 1 << 15;
/// In the size of a row: it has high priority.
const HIGH: u32 = 1 << 31;
/// Bits of the first byte in the place of a row.
const OFFSET_BITS: u32 = 53;
/// The bit of forced unit access in a place.
const FUA: u64 = 1 << 63;
/// The unit of places and sizes in small rows.
const SECTOR: u64 = 512;
/// The operation is above the size in small rows.
const OP_SHIFT: u32 = 14;

/// A row of whole sectors, on the line after the row before, not earlier than that, without marks.
#[derive(Clone, Copy)]
struct Small {
    /// Since the row before, in ns.
    after_ns: u32,
    sector: u32,
    /// The operation in the two highest bits.
    sectors: u16,
    /// By order of appearance.
    device: u16,
}

#[derive(Clone, Copy)]
struct Row {
    at_ns: u64,
    /// Forced unit access in the highest bit, then the placement hint, the first byte, and the
    /// operation in the two lowest bits.
    place: u64,
    size_bytes: u32,
    /// By order of appearance.
    device: u16,
    /// Lines since the row before.
    lines: i16,
}

impl Small {
    /// The row, if it is small.
    #[inline]
    fn of(record: &Record, after_ns: u64, device: u16) -> Option<Small> {
        let Record { marks, offset_bytes, size_bytes, .. } = *record;
        if marks != Marks::NONE || (offset_bytes | size_bytes) % SECTOR != 0 {
            return None;
        }
        let sectors = size_bytes / SECTOR;
        if sectors >> OP_SHIFT != 0 {
            return None;
        }
        let after_ns = u32::try_from(after_ns).ok()?;
        let sector = u32::try_from(offset_bytes / SECTOR).ok()?;
        let sectors = sectors as u16 | (record.op as u16) << OP_SHIFT;
        Some(Small { after_ns, sector, sectors, device })
    }
}

impl Row {
    /// The row, if it can be kept.
    fn of(record: &Record, lines: u64, device: u16) -> Option<Row> {
        let size_bytes = u32::try_from(record.size_bytes).ok().filter(|size| size & HIGH == 0)?;
        let hint = u64::from(record.marks.hint());
        let marks = hint << (OFFSET_BITS + 2) | if record.marks.is_fua() { FUA } else { 0 };
        (record.offset_bytes >> OFFSET_BITS == 0).then_some(())?;
        Some(Row {
            at_ns: record.at_ns,
            place: marks | record.offset_bytes << 2 | record.op as u64,
            size_bytes: size_bytes | if record.marks.is_high() { HIGH } else { 0 },
            device,
            lines: i16::try_from(lines as i64).ok()?,
        })
    }
}

/// Consecutive rows.
enum Part {
    Small(Vec<Small>),
    Wide(Vec<Row>),
}

/// All records of a trace.
#[derive(Default)]
pub struct Kept {
    options: OpenOptions,
    parts: Vec<Part>,
    rows: usize,
    devices: Vec<u64>,
    /// The largest read or write.
    largest_bytes: u64,
}

impl Kept {
    /// Whether a trace that is read in this way, for a drive of this size, has these records.
    pub fn are_those(&self, options: &OpenOptions, drive_bytes: u64) -> bool {
        self.options == *options && self.largest_bytes <= drive_bytes
    }
}

/// Keeps the records of a trace while it is read.
pub struct Keeper {
    /// None where they cannot be kept.
    kept: Option<Kept>,
    known: FxHashMap<u64, u16>,
    /// The device, the line and the time of the last row.
    last_device: (u64, u16),
    last_line: u64,
    last_ns: u64,
}

impl Keeper {
    /// Nothing read yet.
    pub fn new(options: &OpenOptions) -> Self {
        Keeper {
            kept: Some(Kept { options: options.clone(), ..Kept::default() }),
            known: FxHashMap::default(),
            last_device: (0, u16::MAX),
            last_line: 0,
            last_ns: 0,
        }
    }

    /// The next record.
    #[inline]
    pub fn observe(&mut self, record: &Record) {
        if self.kept.is_some() && self.add(record).is_none() {
            self.kept = None;
        }
    }

    #[inline]
    fn add(&mut self, record: &Record) -> Option<()> {
        let device = self.device(record.device)?;
        let lines = record.line.wrapping_sub(std::mem::replace(&mut self.last_line, record.line));
        let after_ns = record.at_ns.checked_sub(std::mem::replace(&mut self.last_ns, record.at_ns));
        let kept = self.kept.as_mut()?;
        kept.rows += 1;
        if kept.rows > KEPT_ROWS {
            return None;
        }
        if record.op != Op::Trim {
            kept.largest_bytes = kept.largest_bytes.max(record.size_bytes);
        }
        let small = after_ns.filter(|_| lines == 1).and_then(|ns| Small::of(record, ns, device));
        match (kept.parts.last_mut(), small) {
            (Some(Part::Small(rows)), Some(small)) if rows.len() < PART_ROWS => rows.push(small),
            (Some(Part::Wide(rows)), _) if rows.len() < PART_ROWS => {
                rows.push(Row::of(record, lines, device)?);
            }
            (_, Some(small)) => {
                let mut rows = Vec::with_capacity(PART_ROWS);
                rows.push(small);
                kept.parts.push(Part::Small(rows));
            }
            (_, None) => {
                let mut rows = Vec::with_capacity(PART_ROWS);
                rows.push(Row::of(record, lines, device)?);
                kept.parts.push(Part::Wide(rows));
            }
        }
        Some(())
    }

    fn device(&mut self, device: u64) -> Option<u16> {
        if self.last_device.0 == device && self.last_device.1 != u16::MAX {
            return Some(self.last_device.1);
        }
        let devices = &mut self.kept.as_mut()?.devices;
        let number = match self.known.get(&device) {
            Some(&number) => number,
            None => {
                let number = u16::try_from(devices.len()).ok().filter(|&number| number < u16::MAX);
                devices.push(device);
                self.known.insert(device, number?);
                number?
            }
        };
        self.last_device = (device, number);
        Some(number)
    }

    /// The whole trace was read. Lines that were skipped count anew each time it is read, so a
    /// trace that has some is not kept.
    pub fn finish(self, bad_rows: u64) -> Option<Arc<Kept>> {
        self.kept.filter(|_| bad_rows == 0).map(Arc::new)
    }
}

/// Kept records, one after the other.
pub struct KeptRecords {
    kept: Arc<Kept>,
    part: usize,
    row: usize,
    line: u64,
    at_ns: u64,
}

impl KeptRecords {
    /// From the first one.
    pub fn new(kept: Arc<Kept>) -> Self {
        KeptRecords { kept, part: 0, row: 0, line: 0, at_ns: 0 }
    }
}

impl Iterator for KeptRecords {
    type Item = Record;

    #[inline]
    fn next(&mut self) -> Option<Record> {
        const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Other];
        loop {
            let (at, devices) = (self.row, &self.kept.devices);
            self.row += 1;
            match self.kept.parts.get(self.part)? {
                Part::Small(rows) if at < rows.len() => {
                    let row = rows[at];
                    self.line = self.line.wrapping_add(1);
                    self.at_ns += u64::from(row.after_ns);
                    return Some(Record {
                        at_ns: self.at_ns,
                        device: devices[usize::from(row.device)],
                        op: OPS[usize::from(row.sectors >> OP_SHIFT)],
                        marks: Marks::NONE,
                        offset_bytes: u64::from(row.sector) * SECTOR,
                        size_bytes: u64::from(row.sectors & ((1 << OP_SHIFT) - 1)) * SECTOR,
                        line: self.line,
                    });
                }
                Part::Wide(rows) if at < rows.len() => {
                    let row = rows[at];
                    self.line = self.line.wrapping_add_signed(i64::from(row.lines));
                    self.at_ns = row.at_ns;
                    let (high, fua) = (row.size_bytes & HIGH != 0, row.place & FUA != 0);
                    return Some(Record {
                        at_ns: row.at_ns,
                        device: devices[usize::from(row.device)],
                        op: OPS[(row.place & 3) as usize],
                        marks: Marks::of(high, fua, (row.place >> (OFFSET_BITS + 2)) as u8),
                        offset_bytes: row.place >> 2 & ((1 << OFFSET_BITS) - 1),
                        size_bytes: u64::from(row.size_bytes & !HIGH),
                        line: self.line,
                    });
                }
                _ => (self.part, self.row) = (self.part + 1, 0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn records_of(kept: &Arc<Kept>) -> Vec<Record> {
        KeptRecords::new(kept.clone()).collect()
    }

    fn keep(records: &[Record]) -> Option<Arc<Kept>> {
        let mut keeper = Keeper::new(&OpenOptions::default());
        records.iter().for_each(|record| keeper.observe(record));
        keeper.finish(0)
    }

    const ROW: Record = Record {
        at_ns: 7,
        device: 3,
        op: Op::Write,
        marks: Marks::NONE,
        offset_bytes: 4096,
        size_bytes: 512,
        line: 1,
    };

    proptest! {
        #[test]
        fn kept_records_are_those_that_were_read(
            rows in prop::collection::vec(
                (any::<u64>(), 0_u64..40, 0_usize..4, any::<(bool, bool, u8)>(), 0_u64..1 << 53,
                 0_u64..1 << 31, 1_u64..30_000),
                1..300,
            ),
            small in 0_usize..300,
        ) {
            let (mut line, mut last_ns) = (0, 0);
            let records: Vec<Record> = rows
                .into_iter()
                .enumerate()
                .map(|(at, row)| {
                    let (at_ns, device, op, marks, offset_bytes, size_bytes, lines) = row;
                    if at < small {
                        line += 1;
                        last_ns += at_ns >> 34;
                        return Record {
                            at_ns: last_ns,
                            device,
                            op: [Op::Read, Op::Write, Op::Trim, Op::Other][op],
                            offset_bytes: offset_bytes >> 21 << 9,
                            size_bytes: size_bytes >> 17 << 9,
                            line,
                            ..ROW
                        };
                    }
                    let (high, fua, hint) = marks;
                    line += lines;
                    let high = if high { Marks::HIGH } else { Marks::NONE };
                    let marks = if fua { high.and(Marks::FUA) } else { high };
                    Record {
                        at_ns,
                        device: device << 40,
                        op: [Op::Read, Op::Write, Op::Trim, Op::Other][op],
                        marks: marks.with_hint(hint),
                        offset_bytes,
                        size_bytes,
                        line,
                    }
                })
                .collect();
            prop_assert_eq!(records_of(&keep(&records).expect("they fit")), records);
        }
    }

    #[test]
    fn parts_follow_each_other() {
        let row = |at: u64| Record { at_ns: at, line: at + 1, ..ROW };
        let mut records: Vec<Record> = (0..4 * PART_ROWS as u64).map(row).collect();
        records[PART_ROWS + 9].size_bytes = 1;
        let kept = keep(&records).expect("they fit");
        assert_eq!(records_of(&kept), records);
        let is_small = |part: &Part| matches!(part, Part::Small(_));
        let found: Vec<bool> = kept.parts.iter().map(is_small).collect();
        assert_eq!(found, [true, true, false, true, true], "one row is wide, and its part");
    }

    #[test]
    fn what_a_row_does_not_hold_is_not_kept() {
        let wide = Record { size_bytes: 1 << 31, ..ROW };
        let far = Record { line: 40_000, ..ROW };
        let high = Record { offset_bytes: 1 << 53, ..ROW };
        for row in [wide, far, high] {
            assert!(keep(&[ROW, row]).is_none());
        }
        let many: Vec<Record> = (0..70_000).map(|device| Record { device, ..ROW }).collect();
        assert!(keep(&many).is_none(), "too many devices");
        let mut keeper = Keeper::new(&OpenOptions::default());
        keeper.observe(&ROW);
        assert!(keeper.finish(1).is_none(), "a line was skipped");
    }

    #[test]
    fn other_options_or_a_smaller_drive_need_the_file() {
        let kept = keep(&[ROW]).expect("it fits");
        let options = OpenOptions::default();
        assert!(kept.are_those(&options, 512) && !kept.are_those(&options, 511));
        let mut fewer = options;
        fewer.filter.rows = Some(1);
        assert!(!kept.are_those(&fewer, 512));
    }
}
