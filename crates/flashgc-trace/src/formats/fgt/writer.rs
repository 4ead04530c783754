//! Writes our own format.

use super::columns;
use super::frame::{FRAME_RECORDS, Head, Header, MAGIC, OPS, VERSION};
use crate::record::{Marks, Op, Record};
use crate::write::BinaryWriter;
use crate::zstd_frames::Packer;
use std::io;

/// The columns of the frame that is being filled.
#[derive(Default)]
struct Columns {
    at_ns: Vec<u64>,
    device: Vec<u64>,
    op: Vec<u64>,
    offset: Vec<u64>,
    size: Vec<u64>,
}

pub(super) struct Writer {
    columns: Columns,
    zstd: Option<Packer>,
    plain: Vec<u8>,
    rows: u64,
    earliest_ns: u64,
    latest_ns: u64,
}

impl Default for Writer {
    fn default() -> Self {
        Writer {
            columns: Columns::default(),
            zstd: None,
            plain: Vec::new(),
            rows: 0,
            earliest_ns: u64::MAX,
            latest_ns: 0,
        }
    }
}

pub(super) fn op_number(op: Op, marks: Marks) -> u64 {
    let op = match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Other => 3,
    };
    op + OPS * marks.number()
}

impl Writer {
    fn end_frame(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let Columns { at_ns, device, op, offset, size } = &mut self.columns;
        let records = at_ns.len();
        if records == 0 {
            return Ok(());
        }
        let earliest_ns = at_ns.iter().copied().min().unwrap_or(0);
        let latest_ns = at_ns.iter().copied().max().unwrap_or(0);
        self.plain.clear();
        for column in [at_ns, device, op, offset, size] {
            columns::write(column, &mut self.plain);
            column.clear();
        }
        let packed = packer(&mut self.zstd)?.pack(&self.plain)?;
        let head = Head {
            records: records as u32,
            packed_bytes: packed.len() as u32,
            plain_bytes: self.plain.len() as u32,
            first_row: self.rows,
            earliest_ns,
            latest_ns,
        };
        out.extend_from_slice(&head.to_bytes());
        out.extend_from_slice(&packed);
        self.rows += records as u64;
        self.earliest_ns = self.earliest_ns.min(earliest_ns);
        self.latest_ns = self.latest_ns.max(latest_ns);
        Ok(())
    }
}

fn packer(slot: &mut Option<Packer>) -> io::Result<&mut Packer> {
    if slot.is_none() {
        *slot = Some(Packer::new()?);
    }
    slot.as_mut().ok_or_else(|| io::Error::other("there is no compressor"))
}

impl BinaryWriter for Writer {
    fn begin(&mut self, origin: &str, out: &mut Vec<u8>) -> io::Result<()> {
        let made_by = concat!("flashgc ", env!("CARGO_PKG_VERSION")).to_string();
        let header = Header { origin: origin.to_string(), made_by };
        let header = serde_json::to_vec(&header)?;
        let from = out.len();
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&(header.len() as u32).to_le_bytes());
        out.extend_from_slice(&header);
        let crc = crc32fast::hash(&out[from..]);
        out.extend_from_slice(&crc.to_le_bytes());
        Ok(())
    }

    fn push(&mut self, record: &Record, out: &mut Vec<u8>) -> io::Result<()> {
        let columns = &mut self.columns;
        columns.at_ns.push(record.at_ns);
        columns.device.push(record.device);
        columns.op.push(op_number(record.op, record.marks));
        columns.offset.push(record.offset_bytes);
        columns.size.push(record.size_bytes);
        if columns.at_ns.len() == FRAME_RECORDS {
            self.end_frame(out)?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.end_frame(out)?;
        let end = Head {
            first_row: self.rows,
            earliest_ns: if self.rows == 0 { 0 } else { self.earliest_ns },
            latest_ns: self.latest_ns,
            ..Head::default()
        };
        out.extend_from_slice(&end.to_bytes());
        Ok(())
    }
}
