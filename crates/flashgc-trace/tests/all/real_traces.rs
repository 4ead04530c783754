//! The known properties of each real trace in the default folder of traces, one row each.
//!
//! Where a file is missing the test prints its name and passes.

use flashgc_trace::{
    Disorder, Filter, Format, Info, OpenOptions, TraceReader, extents, info, open,
};
use std::fs::File;
use std::path::PathBuf;

/// The rows, from left to right as in the README.
const TABLE: &str = include_str!("real_traces.txt");

/// A row of the table.
struct Row {
    file: &'static str,
    /// The format that is recognised by the content; `?`: several would fit.
    reported: &'static str,
    /// The format that is given; empty: none.
    format: &'static str,
    rows: f64,
    reads_percent: f64,
    mean_read: f64,
    mean_write: f64,
    footprint_mib: f64,
    written_mib: f64,
    written_total_mib: f64,
    address_gib: f64,
    duration_s: f64,
    interarrival_ms: f64,
}

fn table() -> Vec<Row> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let number = |index: usize| cells[index].parse::<f64>().unwrap();
        Row {
            file: cells[0],
            rows: number(1),
            reads_percent: number(2),
            mean_read: number(3),
            mean_write: number(4),
            footprint_mib: number(5),
            written_mib: number(6),
            written_total_mib: number(7),
            address_gib: number(8),
            duration_s: number(9),
            interarrival_ms: number(10),
            reported: cells[11],
            format: cells[12],
        }
    });
    let rows: Vec<Row> = rows.collect();
    assert_eq!(rows.len(), 37);
    rows
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces")
}

fn path(file: &str) -> PathBuf {
    folder().join(format!("{file}.zst"))
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
    let interarrival_ms = info.mean_interarrival_ns.unwrap_or(0.0) / 1e6;
    // Where rows are skipped, the README divides a duration that is rounded to ms.
    let jumped = jumps().iter().any(|jump| jump.file == row.file);
    let interarrival_step = 0.00005 + if jumped { 0.5 / row.rows } else { 0.0 };
    let checks = [
        // The README does not count the one trim that is in these files (of WiscSee) as a row.
        near("rows", row, (info.rows - info.trims) as f64, row.rows, 0.0),
        near("reads %", row, percent, row.reads_percent, 0.005),
        near("mean read", row, info.mean_read_bytes.unwrap_or(0.0), row.mean_read, 0.5),
        near("mean write", row, info.mean_write_bytes.unwrap_or(0.0), row.mean_write, 0.5),
        near("footprint", row, mib(info.footprint_bytes), row.footprint_mib, 0.05),
        near("written", row, mib(info.written_footprint_bytes), row.written_mib, 0.05),
        near("written total", row, mib(info.written_bytes), row.written_total_mib, 0.05),
        near("max address", row, mib(info.max_address_bytes) / 1024.0, row.address_gib, 0.005),
        near("duration", row, info.duration_s, row.duration_s, duration_step),
        near("ms between rows", row, interarrival_ms, row.interarrival_ms, interarrival_step),
    ];
    checks.into_iter().flatten().collect()
}

/// Files whose clock jumped. The README takes duration and mean time between rows from the other
/// rows, and all else from all of them.
struct Jump {
    file: &'static str,
    /// Leaves the rows that the README takes.
    filter: Filter,
    rows: u64,
}

fn jumps() -> [Jump; 2] {
    let (start_ns, length_ns) = (Some(1_000_000_000_000_000_000), Some(1_000_000_000_000));
    [
        // One row, later than all others.
        Jump {
            file: "ycsb_ext4.blkparse.txt",
            filter: Filter { length_ns, ..Filter::default() },
            rows: 9_886,
        },
        // The phone boots with a clock that begins at 0, and then is set to 2014.
        Jump {
            file: "nexus5_Booting_log176.txt",
            filter: Filter { start_ns, ..Filter::default() },
            rows: 17_868,
        },
    ]
}

fn without_jump(row: &Row, info: &mut Info) {
    for jump in jumps() {
        if jump.file == row.file {
            let mut options = options(row.format);
            options.filter = jump.filter;
            let rest = open(row.file, file(row.file).unwrap(), &options).unwrap();
            let rest = flashgc_trace::info(rest).unwrap();
            assert_eq!(rest.rows, jump.rows);
            info.duration_s = rest.duration_s;
            info.mean_interarrival_ns = rest.mean_interarrival_ns;
        }
    }
}

#[test]
#[ignore = "needs ../shared/traces"]
fn info_equals_the_table() {
    let mut wrong = Vec::new();
    for row in &table() {
        let Some(reader) = reader(row.file, row.format) else { continue };
        let mut info = info(reader).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(info.bad_rows, 0);
        without_jump(row, &mut info);
        wrong.extend(compare(row, &info));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs ../shared/traces"]
fn each_file_is_reported_or_is_not_guessed() {
    for row in &table() {
        let Some(file) = file(row.file) else { continue };
        match open(row.file, file, &OpenOptions::default()) {
            Ok(reader) => assert_eq!(reader.format().info().name, row.reported, "{}", row.file),
            Err(error) => {
                assert!(row.reported == "?" && error.message.contains("would fit"), "{error}");
                let format = row.format.split(':').next().unwrap();
                let help = error.help.unwrap();
                let listed = help.lines().any(|line| line.split(' ').next() == Some(format));
                assert!(listed || format == "csv", "{}: {help}", row.file);
            }
        }
    }
}

#[test]
#[ignore = "needs ../shared/traces"]
#[allow(clippy::print_stderr)]
fn no_file_is_left_out() {
    let Ok(entries) = folder().read_dir() else {
        eprintln!("skipped: the folder of traces is missing");
        return;
    };
    let known: Vec<&str> = table().iter().map(|row| row.file).collect();
    for entry in entries {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.strip_suffix(".zst");
        assert!(name.is_none_or(|name| known.contains(&name)), "{name:?} is not in the table");
    }
}

#[test]
#[ignore = "needs ../shared/traces"]
fn extents_agree_with_info() {
    for row in &table() {
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
#[ignore = "needs ../shared/traces"]
fn five_numbers_are_not_guessed() {
    let files = [
        ("tpcc-small.mqsim.trace", "mqsim        last"),
        ("DTRS.first300s.ssdsim.trace", "ssdsim-us    last"),
        ("ssd-postmark-aligned2.disksim.trace", "disksim      last"),
        ("Financial1.rows3-50002.flashsim.trace", "flashsim     last"),
        ("msr_cut10k.rw_20_80.105.trace", "heimdall     last"),
        ("tencent_cbs.first50000.csv", "tencent      last"),
    ];
    for (name, candidate) in files {
        let Some(file) = file(name) else { continue };
        let error = open(name, file, &OpenOptions::default()).unwrap_err();
        let help = error.help.unwrap();
        assert!(help.contains("--format") && help.contains(candidate), "{help}");
    }
}

#[test]
#[ignore = "needs ../shared/traces"]
fn disorder_is_refused_and_can_be_sorted() {
    let name = "systor17-traces-sample.csv";
    let Some(first) = file(name) else { return };
    let refuse = OpenOptions::default();
    let error = open(name, first, &refuse).unwrap().find_map(Result::err).unwrap();
    assert!(error.help.unwrap().contains("sort_window"));

    let late_ns = info(reader(name, "").unwrap()).unwrap().late_ns_max;
    let sort = OpenOptions { disorder: Disorder::Window(late_ns), ..refuse };
    let sorted: Vec<_> =
        open(name, file(name).unwrap(), &sort).unwrap().map(Result::unwrap).collect();
    assert_eq!(sorted.len(), 999);
    assert!(sorted.is_sorted_by_key(|record| (record.at_ns, record.line)));
}
