//! Traces, of a named format or of none.

use flashgc_trace::{
    ADDRESS_BYTES_MAX, Disorder, Filter, Format, OnBadLine, OpenOptions, REQUEST_BYTES_MAX, Record,
    TraceError, extents, info, open, writer,
};
use flashgc_trace::{Op, TraceReader};
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Further records add nothing to a case.
const RECORDS_MAX: u64 = 10_000;

/// The first line is a format's name with its options, the rest is a trace of it.
pub fn reader(data: &[u8]) {
    let at = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
    let Ok(name) = std::str::from_utf8(&data[..at]) else { return };
    let Ok(format) = name.parse::<Format>() else { return };
    assert_eq!(format.to_string().parse(), Ok(format.clone()), "a format is its own name");
    check(data.get(at + 1..).unwrap_or(&[]), Some(&format));
}

/// A trace whose format has to be recognised from its content.
pub fn detect(data: &[u8]) {
    check(data, None);
}

fn options(format: Option<&Format>, disorder: Disorder, on_bad_line: OnBadLine) -> OpenOptions {
    let filter = Filter { rows: Some(RECORDS_MAX), ..Filter::default() };
    OpenOptions { format: format.cloned(), on_bad_line, disorder, filter }
}

fn opened(data: &[u8], options: &OpenOptions) -> Result<TraceReader, TraceError> {
    open("input", Box::new(Cursor::new(data.to_vec())), options)
}

fn check(data: &[u8], format: Option<&Format>) {
    for on_bad_line in [OnBadLine::Stop, OnBadLine::Skip] {
        for disorder in [Disorder::Refuse, Disorder::Window(1000), Disorder::Ignore] {
            let options = options(format, disorder, on_bad_line);
            let read = opened(data, &options).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            match read {
                Ok(records) => sensible(&records, disorder),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    let lenient = options(format, Disorder::Ignore, OnBadLine::Skip);
    let described = opened(data, &lenient).and_then(info);
    let measured = opened(data, &lenient).and_then(extents);
    if let (Ok(described), Ok(measured)) = (&described, &measured) {
        assert_eq!(described.rows, measured.rows);
        assert_eq!((described.reads, described.writes), (measured.reads, measured.writes));
        assert_eq!((described.first_ns, described.last_ns), (measured.first_ns, measured.last_ns));
        assert!(described.written_footprint_bytes <= described.footprint_bytes);
    }
    if let Ok(records) = opened(data, &lenient).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
        comes_back(&records);
    }
}

fn sensible(records: &[Record], disorder: Disorder) {
    assert!(!records.is_empty(), "a trace without a row is an error");
    for record in records {
        assert!(record.end_bytes() <= ADDRESS_BYTES_MAX);
        assert!(record.op == Op::Trim || record.size_bytes <= REQUEST_BYTES_MAX);
    }
    assert!(disorder == Disorder::Ignore || records.is_sorted_by_key(|record| record.at_ns));
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// In our own format nothing is lost.
fn comes_back(records: &[Record]) {
    let shared = Shared::default();
    let Ok(mut writer) = writer(&Format::Fgt, Box::new(shared.clone())) else { return };
    for record in records {
        assert!(writer.push(record).is_ok());
    }
    assert!(writer.finish().is_ok_and(|written| written.rows == records.len() as u64));
    let bytes = std::mem::take(&mut *shared.bytes());
    let options = options(Some(&Format::Fgt), Disorder::Ignore, OnBadLine::Stop);
    let again = opened(&bytes, &options).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let again = again.unwrap_or_default();
    let same = |(one, other): (&Record, &Record)| {
        let line = one.line;
        *one == Record { line, ..*other }
    };
    assert_eq!(records.len(), again.len());
    assert!(records.iter().zip(&again).all(same));
}
