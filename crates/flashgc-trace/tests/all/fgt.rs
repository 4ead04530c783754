//! Our own format: nothing is lost, nothing damaged is taken for good, and parts are found fast.

use flashgc_trace::{
    Disorder, Filter, Format, Marks, Op, OpenOptions, Record, TraceError, open, open_file,
    writer_with,
};
use proptest::prelude::*;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no other thread").write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn pack(records: &[Record]) -> Vec<u8> {
    let shared = Shared::default();
    let mut writer = writer_with(&Format::Fgt, "a test", Box::new(shared.clone())).unwrap();
    records.iter().for_each(|record| writer.push(record).unwrap());
    assert_eq!(writer.finish().unwrap().rows, records.len() as u64);
    let bytes = shared.0.lock().expect("no other thread");
    bytes.clone()
}

fn options(filter: Filter) -> OpenOptions {
    OpenOptions { disorder: Disorder::Ignore, filter, ..OpenOptions::default() }
}

fn unpack(bytes: &[u8]) -> Result<Vec<Record>, TraceError> {
    open("t", Box::new(Cursor::new(bytes.to_vec())), &options(Filter::default()))?.collect()
}

/// Rows at a microsecond each, over several frames.
fn many(count: u64) -> Vec<Record> {
    let record = |at: u64| Record {
        at_ns: at * 1000,
        device: at % 3,
        op: [Op::Read, Op::Write, Op::Trim, Op::Other][(at % 4) as usize],
        marks: if at.is_multiple_of(7) { Marks::HIGH } else { Marks::NONE },
        offset_bytes: at * 7919 % 65_537 * 512,
        size_bytes: 4096,
        line: at + 1,
    };
    (0..count).map(record).collect()
}

fn any_record() -> impl Strategy<Value = Record> {
    let op = prop::sample::select(vec![Op::Read, Op::Write, Op::Trim, Op::Other]);
    let marks = prop::sample::select(vec![Marks::NONE, Marks::HIGH]);
    let fua = prop::sample::select(vec![Marks::NONE, Marks::FUA]);
    let marks = (marks, fua, any::<u8>());
    let op = (op, marks.prop_map(|(marks, fua, hint)| marks.and(fua).with_hint(hint)));
    (any::<u64>(), any::<u64>(), op, 0_u64..1 << 61, 0_u64..1 << 40).prop_map(
        |(at_ns, device, (op, marks), offset_bytes, size_bytes)| Record {
            at_ns,
            device,
            op,
            marks,
            offset_bytes,
            size_bytes,
            line: 0,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_is_lost(mut records in prop::collection::vec(any_record(), 1..300)) {
        for (line, record) in (1..).zip(&mut records) {
            record.line = line;
        }
        prop_assert_eq!(unpack(&pack(&records)).unwrap(), records);
    }

    #[test]
    fn a_damaged_byte_is_noticed(at in any::<prop::sample::Index>(), change in 1_u8..) {
        let records = many(300);
        let mut bytes = pack(&records);
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        // With a damaged head it may be taken for another format, and then it is refused as such.
        prop_assert!(unpack(&bytes).is_err(), "byte {}", at);
    }
}

#[test]
fn a_cut_file_is_noticed() {
    let bytes = pack(&many(40_000));
    for kept in [1, 8, 17, 60, bytes.len() / 2, bytes.len() - 40, bytes.len() - 1] {
        assert!(unpack(&bytes[..kept]).is_err(), "{kept} of {}", bytes.len());
    }
    let joined = [bytes.clone(), bytes].concat();
    let error = unpack(&joined).unwrap_err();
    assert!(error.message.contains("data after its end"), "{error}");
}

/// Each hint below 32 takes no byte more: it shares the byte of the operation.
#[test]
fn hints_share_the_byte_of_the_operation() {
    let with = |hint: fn(u64) -> u8| {
        let marks = |at: u64| Marks::NONE.with_hint(hint(at));
        let records: Vec<Record> =
            many(8192).into_iter().map(|it| Record { marks: marks(it.line), ..it }).collect();
        let bytes = pack(&records);
        assert_eq!(unpack(&bytes).unwrap(), records);
        bytes.len()
    };
    let (none, some) = (with(|_| 0), with(|at| (at / 1024) as u8));
    assert!(some < none + 200, "{some} bytes with hints, {none} without");
    with(|at| at as u8);
}

#[test]
fn many_frames_and_the_origin() {
    let records = many(50_000);
    let bytes = pack(&records);
    assert_eq!(unpack(&bytes).unwrap(), records);
    assert!(bytes.len() < 50_000 * 8, "{} bytes", bytes.len());
    let data = Box::new(Cursor::new(bytes));
    let mut reader = open("t", data, &options(Filter::default())).unwrap();
    reader.next().unwrap().unwrap();
    assert_eq!((reader.format().name(), reader.origin()), ("fgt", Some("a test")));
}

/// Counts the bytes that are read.
struct Counted(Cursor<Vec<u8>>, Arc<AtomicU64>);

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(into)?;
        self.1.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn what_is_not_needed_is_not_read() {
    let records = many(1_600_000);
    let bytes = pack(&records);
    let whole = bytes.len() as u64;
    let by_row = Filter { first_row: Some(1_599_990), ..Filter::default() };
    let by_time = Filter { start_ns: Some(1_599_990_000), ..Filter::default() };
    for filter in [by_row, by_time] {
        let read = Arc::new(AtomicU64::new(0));
        let file = Counted(Cursor::new(bytes.clone()), read.clone());
        let found = open_file("t", file, &options(filter.clone())).unwrap();
        let found: Vec<Record> = found.map(Result::unwrap).collect();
        assert_eq!(found, records[1_599_990..]);
        let read = read.load(Ordering::Relaxed);
        assert!(read < whole / 10, "{read} of {whole} bytes read for {filter:?}");
        // A stream has the same result.
        let stream = open("t", Box::new(Cursor::new(bytes.clone())), &options(filter)).unwrap();
        assert_eq!(stream.map(Result::unwrap).collect::<Vec<_>>(), found);
    }
    // Rows that were passed over count as rows of the trace.
    let beyond = Filter { first_row: Some(1_600_000), ..Filter::default() };
    let mut none = open_file("t", Cursor::new(bytes), &options(beyond)).unwrap();
    let error = none.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("the filter leaves none of the 1600000 rows"), "{error}");
}
