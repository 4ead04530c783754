//! Several traces become one.

use flashgc_trace::{Disorder, MergeOptions, OpenOptions, Record, TraceReader, merge, open};
use proptest::prelude::*;
use std::io::Cursor;

fn reader(name: &str, text: &str, disorder: Disorder) -> TraceReader {
    let format = Some("spc".parse().unwrap());
    let options = OpenOptions { format, disorder, ..OpenOptions::default() };
    open(name, Box::new(Cursor::new(text.as_bytes().to_vec())), &options).unwrap()
}

/// Device, sector and time of each record.
fn merged(texts: &[&str], options: MergeOptions) -> Vec<(u64, u64, u64)> {
    let readers = texts.iter().map(|text| reader("t", text, Disorder::Refuse)).collect();
    let records = merge(readers, options).unwrap().map(Result::unwrap);
    let records: Vec<Record> = records.collect();
    assert!(records.iter().map(|record| record.line).eq(1..=records.len() as u64));
    records.iter().map(|it| (it.device, it.offset_bytes / 512, it.at_ns / 1_000_000_000)).collect()
}

const FIRST: &str = "0,1,512,r,5\n4,2,512,r,7\n";
const SECOND: &str = "0,3,512,w,5\n0,4,512,w,6\n";

#[test]
fn rows_come_in_order_of_time_and_then_of_the_traces() {
    let plain = merged(&[FIRST, SECOND], MergeOptions::default());
    assert_eq!(plain, [(0, 1, 5), (0, 3, 5), (0, 4, 6), (4, 2, 7)]);
}

#[test]
fn devices_are_distinguished_and_times_begin_at_0() {
    let options = MergeOptions { renumber: true, align: true };
    let later = "0,9,512,w,100\n0,8,512,w,101\n";
    let found = merged(&[FIRST, later], options);
    assert_eq!(found, [(0, 1, 0), (1, 9, 0), (1, 8, 1), (2, 2, 2)]);
}

#[test]
fn a_row_that_goes_back_is_refused_or_sorted() {
    let late = "0,1,512,r,5\n0,2,512,r,4\n";
    let readers = |disorder| vec![reader("late", late, disorder), reader("b", FIRST, disorder)];
    let mut refused = merge(readers(Disorder::Refuse), MergeOptions::default()).unwrap();
    let error = refused.find_map(Result::err).unwrap();
    assert!(error.to_string().contains("--sort-window"), "{error}");
    let window = Disorder::Window(1_000_000_000);
    let sorted = merge(readers(window), MergeOptions::default()).unwrap();
    let times: Vec<u64> = sorted.map(|record| record.unwrap().at_ns).collect();
    assert_eq!(times.len(), 4);
    assert!(times.is_sorted());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_is_lost_and_all_is_sorted(
        traces in prop::collection::vec(prop::collection::vec(0_u64..20, 1..30), 1..6),
    ) {
        let text = |times: &Vec<u64>| {
            let mut times = times.clone();
            times.sort_unstable();
            times.iter().map(|s| format!("0,{s},512,r,{s}\n")).collect::<String>()
        };
        let texts: Vec<String> = traces.iter().map(text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut expected: Vec<u64> = traces.concat();
        expected.sort_unstable();
        let found = merged(&texts, MergeOptions::default());
        prop_assert!(found.iter().map(|row| row.2).eq(expected));
    }
}
