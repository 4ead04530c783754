//! The figures of `../shared/traces/README.md`, one row each.
//!
//! Where a file is missing the test says so by name and passes.

use flashgc_trace::{
    extents, info, open, Disorder, Filter, Format, Info, OpenOptions, TraceReader,
};
use std::fs::File;
use std::path::PathBuf;

/// A row of the table in the README.
struct Row {
    file: &'static str,
    /// `""`: the format must be told from the content.
    format: &'static str,
    rows: u64,
    reads_percent: f64,
    mean_read: u64,
    mean_write: u64,
    footprint_mib: f64,
    written_mib: (f64, f64),
    address_gib: f64,
    duration_s: f64,
}

/// Columns as in the README, from left to right.
#[allow(clippy::too_many_arguments)]
const fn row(
    file: &'static str,
    format: &'static str,
    rows: u64,
    reads_percent: f64,
    means: (u64, u64),
    footprint_mib: f64,
    written_mib: (f64, f64),
    address_gib: f64,
    duration_s: f64,
) -> Row {
    let (mean_read, mean_write) = means;
    Row {
        file,
        format,
        rows,
        reads_percent,
        mean_read,
        mean_write,
        footprint_mib,
        written_mib,
        address_gib,
        duration_s,
    }
}

const HEIMDALL: &str = "csv:time:ms, device, offset, size, op; delimiter=space; read=1; write=0";
const SYSTOR: &str = "csv:time:s, -, op, device, offset, size";
const TENCENT: &str = "csv:time:s, offset:512, size:512, op, device; read=0; write=1";
const CLOUD: &str = "csv:-, time:us, op, size, offset:512; read=28; write=2a";
const DISKMON: &str = "csv:-, time:s, -, device, op, offset:512, size:512; delimiter=tab";

#[rustfmt::skip]
const ROWS: [Row; 25] = [
    row("linux-mysql.load", "", 80_794, 8.89, (11_537, 14_964), 556.9, (485.5, 1050.5), 30.32, 3599.89),
    row("linux-webserver-2.load", "", 269_007, 55.27, (24_047, 9_302), 1906.4, (310.1, 1064.5), 720.6, 3600.95),
    row("windows-shared-server.load", "", 1_371, 0.0, (0, 3_937), 1.0, (1.0, 5.1), 3.0, 3597.138),
    row("msr_web_3.csv", "", 31_380, 32.03, (76_684, 21_328), 604.4, (429.7, 433.9), 169.58, 594_376.222),
    row("msr_wdev_1.csv", "", 1_055, 0.0, (0, 5_249), 1.4, (1.4, 5.3), 50.87, 595_003.214),
    row("msr_hm_0.sample1000.csv", "", 1_000, 50.8, (12_025, 7_278), 7.5, (1.9, 3.4), 12.64, 127.233),
    row("Financial1.first949.spc", "", 949, 19.28, (1_654, 2_961), 1.9, (1.7, 2.2), 0.48, 28.443),
    row("Financial1.first10000.ssdsim.ascii", "ssdsim", 10_000, 40.77, (6_239, 5_038), 28.6, (14.6, 28.5), 0.48, 259.601),
    row("tpcc-small.mqsim.trace", "mqsim", 6_999, 62.59, (8_289, 8_939), 80.0, (30.8, 22.3), 216.73, 0.136),
    row("wsrch-small.mqsim.trace", "mqsim", 24_783, 99.98, (15_420, 8_192), 363.4, (0.0, 0.0), 16.67, 60.055),
    row("DTRS.first300s.ssdsim.trace", "ssdsim-us", 127_043, 89.04, (56_903, 54_659), 4969.8, (718.9, 725.6), 153.21, 300.0),
    row("ssd-postmark-aligned2.disksim.trace", "disksim", 62_257, 83.17, (101_126, 853_006), 5989.8, (5986.2, 8522.9), 21.32, 490.437),
    row("ssd-iozone-aligned2-100K.disksim.trace", "disksim", 100_000, 0.0, (0, 368_557), 1059.8, (1059.8, 35148.4), 16.07, 936.449),
    row("ycsb_ext4.blkparse.txt", "", 9_887, 91.42, (115_901, 297_105), 1238.9, (239.8, 240.3), 8.13, 810.38),
    row("ycsb_btrfs.blkparse.txt", "", 1_824, 71.33, (807_705, 490_314), 1223.8, (221.7, 244.6), 2.52, 1071.28),
    row("apress_blktrace.blkparse.txt", "blkparse:Q", 15_524, 0.52, (124_723, 4_096), 69.9, (60.4, 60.3), 1634.75, 9.378),
    row("hadoop_eternity9.blkparse.D.txt", "", 105_634, 99.19, (295_383, 34_412), 29528.5, (23.1, 28.2), 381.32, 171.865),
    row("msr_cut10k.rw_20_80.105.trace", HEIMDALL, 10_000, 20.2, (1_878, 6_393), 28.8, (22.7, 48.7), 13.93, 242.905),
    row("msr_cut10k.most_thpt_rand_iops.1006.trace", HEIMDALL, 10_000, 83.16, (4_276, 56_191), 113.4, (90.2, 90.2), 11.8, 1.017),
    row("systor17-traces-sample.csv", SYSTOR, 999, 82.68, (44_014, 15_993), 38.4, (2.9, 2.6), 4683.92, 2.448),
    row("tencent_cbs.first50000.csv", TENCENT, 50_000, 49.04, (26_376, 34_210), 1360.3, (819.8, 831.3), 1554.42, 1.0),
    row("cloudphysics.2h.csv", CLOUD, 113_872, 41.25, (38_264, 36_004), 1051.6, (815.2, 2297.0), 31.28, 7200.09),
    row("diskmon_mayun2.txt", DISKMON, 87_160, 42.11, (22_208, 18_703), 821.5, (522.2, 899.9), 132.52, 11_719.769),
    row("diskmon_sys1.txt", DISKMON, 58_818, 50.31, (16_816, 30_994), 682.6, (572.8, 863.9), 3.12, 1204.606),
    row("fiu_home1sample.blkparse", "csv:time:ns, -, -, offset:512, size:512, op; delimiter=space", 1_000, 0.0, (0, 4_096), 1.8, (1.8, 3.9), 360.32, 69.067),
];

fn path(file: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../../../shared/traces").join(format!("{file}.zst"))
}

#[allow(clippy::print_stderr)]
fn file(name: &str) -> Option<Box<File>> {
    let file = File::open(path(name)).ok();
    if file.is_none() {
        eprintln!("skipped: {name} is missing");
    }
    file.map(Box::new)
}

fn options(format: &str) -> OpenOptions {
    let named = |format: &str| format.parse::<Format>().unwrap();
    let format = (!format.is_empty()).then(|| named(format));
    OpenOptions { format, disorder: Disorder::Ignore, ..OpenOptions::default() }
}

fn reader(name: &str, format: &str) -> Option<TraceReader> {
    Some(open(name, file(name)?, &options(format)).unwrap_or_else(|error| panic!("{error}")))
}

fn near(what: &str, row: &Row, measured: f64, expected: f64, half_step: f64) -> Option<String> {
    let off = (measured - expected).abs() > half_step * 1.0001;
    off.then(|| format!("{}: {what} is {measured}, the README says {expected}", row.file))
}

fn compare(row: &Row, info: &Info) -> Vec<String> {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let percent = 100.0 * info.reads as f64 / info.rows as f64;
    let duration_step = if (row.duration_s * 100.0).fract() < 1e-6 { 0.005 } else { 0.0005 };
    let checks = [
        near("rows", row, info.rows as f64, row.rows as f64, 0.0),
        near("reads %", row, percent, row.reads_percent, 0.005),
        near("mean read", row, info.mean_read_bytes.unwrap_or(0.0), row.mean_read as f64, 0.5),
        near("mean write", row, info.mean_write_bytes.unwrap_or(0.0), row.mean_write as f64, 0.5),
        near("footprint", row, mib(info.footprint_bytes), row.footprint_mib, 0.05),
        near("written", row, mib(info.written_footprint_bytes), row.written_mib.0, 0.05),
        near("written total", row, mib(info.written_bytes), row.written_mib.1, 0.05),
        near("max address", row, mib(info.max_address_bytes) / 1024.0, row.address_gib, 0.005),
        near("duration", row, info.duration_s, row.duration_s, duration_step),
    ];
    checks.into_iter().flatten().collect()
}

/// A clock that jumped spoils one row of this file; the README leaves that row out of the
/// duration, and counts it in all else.
const BOGUS_STAMP: &str = "ycsb_ext4.blkparse.txt";

#[test]
fn info_equals_the_table() {
    let mut wrong = Vec::new();
    for row in &ROWS {
        let Some(reader) = reader(row.file, row.format) else { continue };
        let mut info = info(reader).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(info.bad_rows, 0);
        if row.file == BOGUS_STAMP {
            let mut options = options(row.format);
            options.filter = Filter { length_ns: Some(1_000_000_000_000), ..Filter::default() };
            let rest = open(row.file, file(row.file).unwrap(), &options).unwrap();
            let rest = flashgc_trace::info(rest).unwrap();
            assert_eq!(rest.rows, info.rows - 1);
            info.duration_s = rest.duration_s;
        }
        wrong.extend(compare(row, &info));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn extents_agree_with_info() {
    for row in &ROWS {
        let Some(first) = reader(row.file, row.format) else { continue };
        let Some(second) = reader(row.file, row.format) else { continue };
        let (extents, info) = (extents(first).unwrap(), info(second).unwrap());
        assert_eq!((extents.rows, extents.reads), (info.rows, info.reads));
        assert_eq!((extents.writes, extents.written_bytes), (info.writes, info.written_bytes));
        let ends = extents.devices.iter().map(|device| (device.device, device.end_bytes));
        let rounded = |end: u64| end.next_multiple_of(4096);
        let known = info.devices.iter().map(|it| (it.device, rounded(it.max_address_bytes)));
        assert!(ends.eq(known), "{}", row.file);
        let last = extents.devices.last().unwrap();
        let base = extents.base_bytes(last.device).unwrap();
        assert_eq!(Some(base + last.end_bytes), extents.total_bytes());
    }
}

#[test]
fn five_numbers_are_not_guessed() {
    let files = [
        ("tpcc-small.mqsim.trace", "mqsim      last"),
        ("DTRS.first300s.ssdsim.trace", "ssdsim-us  last"),
        ("ssd-postmark-aligned2.disksim.trace", "disksim    last"),
        ("Financial1.rows3-50002.flashsim.trace", "disksim    last"),
    ];
    for (name, candidate) in files {
        let Some(file) = file(name) else { continue };
        let error = open(name, file, &OpenOptions::default()).unwrap_err();
        let help = error.help.unwrap();
        assert!(help.contains("--format") && help.contains(candidate), "{help}");
    }
}

#[test]
fn a_foreign_or_binary_file_is_an_error() {
    let files = ["hplajw.1week.srt", "cloudphysics.2h.csv", "diskmon_sys1.txt"];
    for name in files {
        let Some(file) = file(name) else { continue };
        let error = open(name, file, &OpenOptions::default()).unwrap_err();
        assert!(error.help.is_some(), "{error}");
    }
}

#[test]
fn disorder_is_refused_and_can_be_sorted() {
    let name = "systor17-traces-sample.csv";
    let Some(first) = file(name) else { return };
    let format = Some(SYSTOR.parse().unwrap());
    let refuse = OpenOptions { format, ..OpenOptions::default() };
    let error = open(name, first, &refuse).unwrap().find_map(Result::err).unwrap();
    assert!(error.help.unwrap().contains("--sort-window"));

    let late_ns = info(reader(name, SYSTOR).unwrap()).unwrap().late_ns_max;
    let sort = OpenOptions { disorder: Disorder::Window(late_ns), ..refuse };
    let sorted: Vec<_> =
        open(name, file(name).unwrap(), &sort).unwrap().map(Result::unwrap).collect();
    assert_eq!(sorted.len(), 999);
    assert!(sorted.is_sorted_by_key(|record| (record.at_ns, record.line)));
}
