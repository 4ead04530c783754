//! Reads our own format.

use super::INFO;
use super::columns::{self, column_bytes_max};
use super::frame::{
    COLUMNS, FRAME_RECORDS_MAX, HEAD_BYTES, Head, Header, MAGIC, OPS, ORIGIN_BYTES_MAX, VERSION,
};
use crate::binary::{BinaryFormat, Bytes, RecordProblem};
use crate::record::{Marks, Op, RawRecord};
use crate::zstd_frames::Unpacker;

#[derive(Default)]
pub(super) struct Reader {
    header: Option<Header>,
    zstd: Option<Unpacker>,
    packed: Vec<u8>,
    plain: Vec<u8>,
    columns: [Vec<u64>; COLUMNS],
    /// Rows of all frames so far.
    rows: u64,
    /// Rows that were passed over.
    skipped: u64,
    first_ns: Option<u64>,
    expected_start_ns: u64,
    expected_row: u64,
    ended: bool,
}

fn broken(why: impl Into<String>) -> RecordProblem {
    RecordProblem::Broken(why.into())
}

fn damaged(what: &str) -> RecordProblem {
    broken(format!("{what} is damaged; fetch or convert the file again"))
}

impl Reader {
    fn read_header(&mut self, bytes: &mut Bytes) -> Result<(), RecordProblem> {
        let fixed = bytes.take::<16>()?.ok_or(RecordProblem::Cut)?;
        if fixed[..8] != MAGIC {
            return Err(broken("it does not start like an fgt file"));
        }
        let number = |at: usize| {
            u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]])
        };
        let (version, length) = (number(8), number(12));
        if version != VERSION {
            return Err(broken(format!(
                "it has version {version}, but this program reads version {VERSION}"
            )));
        }
        if length > ORIGIN_BYTES_MAX {
            return Err(damaged("its header"));
        }
        let mut whole = fixed.to_vec();
        whole.resize(16 + length as usize, 0);
        bytes.fill(&mut whole[16..])?;
        let crc = bytes.take::<4>()?.ok_or(RecordProblem::Cut)?;
        let header = serde_json::from_slice(&whole[16..]);
        if crc32fast::hash(&whole) != u32::from_le_bytes(crc) || header.is_err() {
            return Err(damaged("its header"));
        }
        self.header = header.ok();
        Ok(())
    }

    /// Moves to the next frame that is needed. False: the file has ended.
    fn next_frame(&mut self, bytes: &mut Bytes) -> Result<bool, RecordProblem> {
        loop {
            let head = bytes.take::<HEAD_BYTES>()?.ok_or(RecordProblem::Cut)?;
            let Some(head) = Head::from_bytes(&head) else {
                return Err(damaged("the head of a frame"));
            };
            if head.first_row != self.rows {
                return Err(broken(format!(
                    "a frame is missing: row {} is followed by row {}",
                    self.rows, head.first_row
                )));
            }
            if head.records == 0 {
                return self.end(bytes);
            }
            let most = COLUMNS * column_bytes_max(head.records as usize);
            if head.records > FRAME_RECORDS_MAX
                || head.plain_bytes as usize > most
                || head.packed_bytes as usize > 2 * most + 1024
            {
                return Err(damaged("the head of a frame"));
            }
            self.rows += u64::from(head.records);
            if self.is_needed(&head) {
                self.unpack(&head, bytes)?;
                return Ok(true);
            }
            bytes.skip(u64::from(head.packed_bytes))?;
            self.skipped += u64::from(head.records);
        }
    }

    /// The very first frame has the beginning of the trace, and is always read.
    fn is_needed(&self, head: &Head) -> bool {
        let Some(first_ns) = self.first_ns else { return true };
        let in_time = head.latest_ns.saturating_sub(first_ns) >= self.expected_start_ns;
        in_time && self.rows > self.expected_row
    }

    fn end(&mut self, bytes: &mut Bytes) -> Result<bool, RecordProblem> {
        self.ended = true;
        if !bytes.peek(1)?.is_empty() {
            return Err(broken("it has data after its end; fgt files cannot be concatenated"));
        }
        Ok(false)
    }

    fn unpack(&mut self, head: &Head, bytes: &mut Bytes) -> Result<(), RecordProblem> {
        self.packed.resize(head.packed_bytes as usize, 0);
        bytes.fill(&mut self.packed)?;
        let plain_bytes = head.plain_bytes as usize;
        self.plain.resize(plain_bytes, 0);
        if self.zstd.is_none() {
            self.zstd = Some(Unpacker::new().map_err(RecordProblem::Io)?);
        }
        let unpacked =
            self.zstd.as_mut().map(|zstd| zstd.unpack(&self.packed, self.plain.as_mut_slice()));
        if !matches!(unpacked, Some(Ok(count)) if count == plain_bytes) {
            return Err(damaged("a frame"));
        }
        let mut rest = self.plain.as_slice();
        for column in &mut self.columns {
            column.resize(head.records as usize, 0);
            let taken = columns::read(rest, column).ok_or_else(|| damaged("a frame"))?;
            rest = &rest[taken..];
        }
        if !rest.is_empty() {
            return Err(damaged("a frame"));
        }
        self.first_ns = self.first_ns.or(self.columns[0].first().copied());
        Ok(())
    }

    /// Makes records of the columns, once for the frame.
    fn join_columns(&self, records: &mut Vec<RawRecord>) -> Result<(), RecordProblem> {
        const NAMED: [Op; OPS as usize] = [Op::Read, Op::Write, Op::Trim, Op::Other];
        let [at_ns, device, op, offset, size] = &self.columns;
        if op.iter().any(|&op| op >= OPS * Marks::NUMBERS) {
            return Err(broken("a record has an unknown operation"));
        }
        let places = offset.iter().zip(size);
        let columns = at_ns.iter().zip(device).zip(op).zip(places);
        records.extend(columns.map(|(((at_ns, device), op), (offset, size))| RawRecord {
            at_ns: *at_ns,
            device: *device,
            op: NAMED[(*op % OPS) as usize],
            marks: Marks::from_number(*op / OPS),
            offset_bytes: *offset,
            size_bytes: *size,
        }));
        Ok(())
    }
}

impl BinaryFormat for Reader {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn next_few(
        &mut self,
        bytes: &mut Bytes,
        records: &mut Vec<RawRecord>,
    ) -> Result<(), RecordProblem> {
        if self.ended {
            return Ok(());
        }
        if self.header.is_none() {
            self.read_header(bytes)?;
        }
        match self.next_frame(bytes)? {
            true => self.join_columns(records),
            false => Ok(()),
        }
    }

    fn first_row(&self) -> u64 {
        self.skipped
    }

    fn skip_to(&mut self, start_ns: u64, first_row: u64) {
        (self.expected_start_ns, self.expected_row) = (start_ns, first_row);
    }

    fn origin(&self) -> Option<&str> {
        self.header.as_ref().map(|header| header.origin.as_str())
    }
}
