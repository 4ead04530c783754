//! Memory does not grow with the rows of a trace. Alone in its program, since it measures the
//! memory of the whole program. With `FLASHGC_LONG=1` it reads 100 million rows.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use flashgc_trace::{Format, Marks, Op, OpenOptions, Record, extents, info, open, writer};
use std::fs;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// More than the first rows may not take.
const GROWTH_KIB_MAX: u64 = 4096;

/// The most memory that the program has had.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

struct Sender(SyncSender<Vec<u8>>);

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A reader that has stopped needs no more bytes.
        let _ = self.0.send(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Pipe {
    chunks: Receiver<Vec<u8>>,
    chunk: Vec<u8>,
    at: usize,
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            let Ok(chunk) = self.chunks.recv() else { return Ok(0) };
            (self.chunk, self.at) = (chunk, 0);
        }
        let count = into.len().min(self.chunk.len() - self.at);
        into[..count].copy_from_slice(&self.chunk[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// A trace that is made while it is read: nowhere is it whole.
fn stream(format: &'static str, rows: u64) -> Box<dyn Read + Send> {
    let (sender, chunks) = sync_channel(2);
    thread::spawn(move || {
        let format: Format = format.parse().unwrap();
        let mut writer = writer(&format, Box::new(Sender(sender))).unwrap();
        for index in 0..rows {
            let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            let record = Record {
                at_ns: index * 1000,
                device: 0,
                op: if mixed.is_multiple_of(3) { Op::Read } else { Op::Write },
                marks: Marks::NONE,
                offset_bytes: mixed % (1 << 16) * 4096,
                size_bytes: 4096,
                line: index + 1,
            };
            writer.push(&record).unwrap();
        }
        writer.finish().unwrap();
    });
    Box::new(Pipe { chunks, chunk: Vec::new(), at: 0 })
}

#[test]
fn memory_does_not_grow_with_the_rows() {
    let rows = match std::env::var_os("FLASHGC_LONG") {
        Some(_) => 100_000_000,
        None => 1_500_000,
    };
    for format in ["fgt", "ssdsim"] {
        let options = OpenOptions { format: format.parse().ok(), ..OpenOptions::default() };
        let opened = |rows| open(format, stream(format, rows), &options).unwrap();
        let both = |rows| {
            assert_eq!(info(opened(rows)).unwrap().rows, rows);
            assert_eq!(extents(opened(rows)).unwrap().rows, rows);
        };
        both(300_000);
        let before = peak_kib();
        both(rows);
        let growth = peak_kib() - before;
        println!("{format}: {rows} rows, {before} KiB, {growth} KiB more than for 300,000 rows");
        assert!(growth <= GROWTH_KIB_MAX, "{format}: {growth} KiB for {rows} rows");
    }
}
