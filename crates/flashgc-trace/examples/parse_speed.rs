//! How fast each format is read: `cargo run --release -p flashgc-trace --example parse_speed`.
//! The sum at the end of a line shows that the work was done.
#![allow(clippy::print_stdout)]

use flashgc_trace::{info, open, writer, Format, Op, OpenOptions, Record, TraceError};
use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};
use std::time::Instant;

const ROWS: u64 = 2_000_000;
/// The best of so many counts.
const ROUNDS: u32 = 5;

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no other thread").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Rows as in a busy server's trace, the same each time.
fn record(index: u64) -> Record {
    let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17;
    Record {
        at_ns: 1_281_663_852_955_146_600 + index * 40_100,
        device: 0,
        op: if mixed.is_multiple_of(3) { Op::Read } else { Op::Write },
        offset_bytes: mixed % (1 << 25) * 4096,
        size_bytes: 4096 * (1 + mixed % 16),
        line: index + 1,
    }
}

fn main() -> Result<(), TraceError> {
    for name in ["msr", "spc", "disksim", "ssdsim", "mqsim", "blkparse:D", "blkreplay", "csv"] {
        let format: Format = name.parse().expect("a known name");
        let shared = Shared::default();
        let mut out = writer(&format, Box::new(shared.clone()))?;
        for index in 0..ROWS {
            out.push(&record(index))?;
        }
        out.finish()?;
        let bytes = shared.0.lock().expect("no other thread").clone();
        let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
        let mb = bytes.len() as f64 / 1e6;

        let (mut parse_s, mut info_s) = (f64::MAX, f64::MAX);
        let (mut sum, mut footprint_bytes) = (0_u64, 0);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            sum = 0;
            for record in open(name, Box::new(Cursor::new(bytes.clone())), &options)? {
                sum = sum.wrapping_mul(31).wrapping_add(record?.offset_bytes);
            }
            parse_s = parse_s.min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            let reader = open(name, Box::new(Cursor::new(bytes.clone())), &options)?;
            footprint_bytes = info(reader)?.footprint_bytes;
            info_s = info_s.min(start.elapsed().as_secs_f64());
        }
        println!(
            "{name:<11} {mb:6.1} MB  parse {:6.0} MB/s {:5.1} M rows/s  info {:5.0} MB/s  \
             {sum:x} {}",
            mb / parse_s,
            ROWS as f64 / parse_s / 1e6,
            mb / info_s,
            footprint_bytes
        );
    }
    Ok(())
}
