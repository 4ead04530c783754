//! The distributions of `info`, on traces that can be counted by hand.

use flashgc_trace::{Disorder, HintInfo, Info, OpenOptions, info, open};
use std::io::Cursor;

/// A trace of SPC rows: device, sector, bytes, operation, seconds.
fn about(text: &str) -> Info {
    let options = OpenOptions { disorder: Disorder::Ignore, ..OpenOptions::default() };
    let data = Box::new(Cursor::new(text.as_bytes().to_vec()));
    info(open("test", data, &options).unwrap()).unwrap()
}

#[test]
fn gaps_are_counted_by_operation() {
    // Gaps: 1 ms, 0, 3 ms, 96 ms; from write to write: 1 ms, 3 ms.
    let text = "0,0,4096,w,0\n0,8,4096,w,0.001\n0,0,4096,r,0.001\n0,0,4096,w,0.004\n\
                0,0,512,r,0.1\n";
    let found = about(text).interarrival_ns;
    assert_eq!((found.all.spread.count, found.all.spread.max), (4, Some(96_000_000)));
    assert_eq!(found.all.spread.mean, Some(25e6));
    assert_eq!(found.all.below_1_5_ms_share, Some(0.5));
    assert_eq!(found.all.equal_share, Some(0.25));
    assert_eq!(found.write.spread.mean, Some(2e6));
    assert_eq!(found.write.spread.stddev, Some(1e6));
    assert_eq!(found.write.spread.cv, Some(0.5));
    assert_eq!(found.write.below_1_5_ms_share, Some(0.5));
    assert_eq!(found.read.spread.mean, Some(99e6));
}

#[test]
fn rows_of_one_time_are_a_batch_and_late_rows_join_it() {
    let text = "0,0,512,w,1\n0,8,512,w,1\n0,16,512,w,0.5\n0,24,512,w,2\n0,32,512,w,3\n\
                0,40,512,w,3\n";
    let found = about(text);
    assert_eq!((found.batches.count, found.batches.max_rows), (2, 3));
    assert_eq!(found.batches.mean_rows, Some(2.5));
    assert_eq!(found.batches.rows_share, Some(5.0 / 6.0));
    assert_eq!((found.out_of_order, found.interarrival_ns.all.spread.min), (1, Some(0)));
}

#[test]
fn windows_show_bursts() {
    // Ten rows in the first of ten whole seconds, then nothing; one row ends the trace.
    let mut text: String = (0..10).map(|at| format!("0,{},4096,r,0.{at}\n", 8 * at)).collect();
    text.push_str("0,0,8192,w,10\n");
    let found = about(&text);
    let second = &found.bursts[2];
    assert_eq!((second.window_ns, second.windows, second.peak_rows), (1_000_000_000, 10, 10));
    assert_eq!((second.mean_rows, second.peak_to_mean), (1.0, Some(10.0)));
    // Variance (81 + 9) / 10 = 9, mean 1.
    assert_eq!((second.dispersion, second.empty_share), (Some(9.0), 0.9));
    let course = &found.timeline;
    assert_eq!(course.read.iter().sum::<u64>(), 10);
    assert_eq!((course.write.last(), course.written_bytes.last()), (Some(&1), Some(&8192)));
    assert!(course.read.len() <= 512 && course.bin_ns * course.read.len() as u64 > 10_000_000_000);
}

#[test]
fn sizes_and_runs_are_counted_by_operation() {
    // A run of a read and a write, a run of two writes, and a single request.
    let text = "0,0,4096,r,0\n0,8,8192,w,1\n0,80,512,w,2\n0,81,512,w,3\n0,800,4096,r,4\n";
    let found = about(text);
    assert_eq!(found.read_share, Some(0.4));
    assert_eq!(found.size_bytes.read.common, [(4096, 1.0)]);
    assert_eq!(found.size_bytes.write.common, [(512, 2.0 / 3.0), (8192, 1.0 / 3.0)]);
    assert_eq!(found.size_bytes.write.aligned_share, Some(1.0 / 3.0));
    assert_eq!(found.size_bytes.write.spread.mean, Some(3072.0));
    assert_eq!(found.sequential.read_share, Some(0.0));
    assert_eq!(found.sequential.write_share, Some(2.0 / 3.0));
    assert_eq!(found.sequential.run_requests.count, 3);
    assert_eq!(found.sequential.run_bytes.max, Some(12_288));
}

#[test]
fn updates_are_of_one_device() {
    let text = "0,0,4096,w,0\n1,0,4096,w,1\n0,0,4096,w,5\n";
    let found = about(text);
    assert_eq!(found.updates.rewritten_share, Some(1.0 / 3.0));
    assert_eq!(found.updates.interval_ns.mean, Some(5e9));
    assert_eq!(found.updates.distance_bytes.mean, Some(8192.0));
    assert_eq!((found.hotness.pages, found.hotness.top_20_percent), (2, Some(2.0 / 3.0)));
}

#[test]
fn a_single_row_has_no_gaps() {
    let found = about("0,0,4096,w,7\n");
    assert_eq!((found.interarrival_ns.all.spread.mean, found.batches.count), (None, 0));
    assert_eq!((found.bursts[0].windows, found.bursts[0].peak_rows), (1, 1));
    assert_eq!(found.timeline.write, [1]);
}

#[test]
fn a_write_of_a_tebibyte_takes_no_time() {
    let row = "0,0,1099511627776,w,7\n";
    let found = about(&row.repeat(50));
    assert_eq!(found.hotness.pages, 0);
    assert_eq!(found.written_footprint_bytes, 1 << 40);
}

#[test]
fn marked_rows_are_counted_where_there_are_any() {
    let format = "csv:op, offset, size, priority; high=1; normal=0".parse().unwrap();
    let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
    let about = |text: &'static str| {
        info(open("test", Box::new(Cursor::new(text)), &options).unwrap()).unwrap()
    };
    assert_eq!(about("w,0,512,1\nr,0,512,0\nt,0,512,1\n").high, Some(2));
    assert_eq!(about("w,0,512,0\n").high, None);
}

#[test]
fn writes_are_counted_by_hint_where_one_has_any() {
    let format = "csv:op, offset, size, hint".parse().unwrap();
    let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
    let about = |text: &'static str| {
        info(open("test", Box::new(Cursor::new(text)), &options).unwrap()).unwrap()
    };
    let of = |hint, writes, written_bytes| HintInfo { hint, writes, written_bytes };
    let mixed = about("w,0,512,255\nr,0,512,7\nw,0,1024,0\nt,0,512,3\nw,4096,512,255\n");
    assert_eq!(mixed.hints, Some(vec![of(0, 1, 1024), of(255, 2, 1024)]));
    assert_eq!(about("w,0,512,0\nr,0,512,7\n").hints, None, "a read is not placed");
}
