//! Bad lines, disorder and filters, on traces small enough to read.

use flashgc_trace::{
    Disorder, Filter, Format, OnBadLine, Op, OpenOptions, Record, TraceError, TraceReader, extents,
    info, open,
};
use std::io::Cursor;

fn reader(text: &str, options: &OpenOptions) -> TraceReader {
    open("t.txt", Box::new(Cursor::new(text.as_bytes().to_vec())), options).unwrap()
}

fn as_format(format: &str) -> OpenOptions {
    OpenOptions { format: Some(format.parse().unwrap()), ..OpenOptions::default() }
}

fn read(text: &str, options: &OpenOptions) -> Result<Vec<Record>, TraceError> {
    reader(text, options).collect()
}

#[test]
fn a_bad_field_is_pointed_at() {
    let cases = [
        ("msr", "128,web,3,Raed,0,512,1", 11, "Read or Write"),
        ("msr", "128,web,3", 10, "the line ends"),
        ("spc", "0,x,512,r,0.1", 3, "an address in blocks"),
        ("spc", "0,1,512,r,-0.1", 11, "a time in seconds"),
        ("disksim", "0.5 0 8 8 xyz", 11, "hexadecimal flags"),
        ("ssdsim", "0.5 0 8 8 1", 1, "a whole time in ns"),
        ("mqsim", "5 0 8 8 2", 9, "0 (write) or 1 (read)"),
        ("mqsim", "5 0 8 8 1 1", 11, "the end of the line"),
        ("blkparse", "8,16 0 1 0.1 7 D W x + 8", 20, "a sector"),
        ("blkparse", "garbage", 1, "a device such as 8,16"),
        ("blkreplay", "0.1 ; 8 ; 8 ; 7 ; 0 ; 0", 15, "R or W"),
        ("systor", "1.5,0.1,X,0,8,8", 9, "R, W or nothing"),
        ("systor", "1.5,0.1,R,0,8.5,8", 13, "an offset in bytes"),
        ("alibaba", "419,W,8792731648,16384,0.5", 24, "a whole time in us"),
        ("alibaba", "419,D,8792731648,16384,5", 5, "R or W"),
        ("tencent", "1538323200,4247200,128,2,1058", 24, "0 (read) or 1 (write)"),
        ("tencent", "1538323200,4247200,128,1,1058,7", 31, "the end of the line"),
        ("cloudphysics", "3,5633898368802,2a,512,42932745", 1, "the version"),
        ("cloudphysics", "1,5633898368802,2x,512,42932745", 17, "code of SCSI"),
        ("fio", "/a read 0 512", 1, "the first line"),
        ("flashsim", "26.214000\t0\t-1\t1\t0", 13, "an address in blocks"),
        ("flashsim", "26.214000\t0\t8\t1.5\t0", 15, "in pages of 4096"),
        ("heimdall", "223.412 0 3159347200 x 0", 22, "a size in bytes"),
        ("diskmon", "0\t0.016375\t0.0003\t0\tFlush\t3271215\t8", 21, "Read or Write"),
        ("biotracer", "8 8 4097 4 1.1 1.2 1.3 1.4", 5, "the same size in bytes"),
        ("biotracer", "8 8 4096 4 1.1 1.2 1.3", 23, "the line ends"),
        ("etw", "DiskRead, 8612, x (3), 7, 0xf, 0x1g, 0x10, 3, 0", 32, "an offset in bytes"),
        ("etw", "DiskWrite, 8612, x (3), 7, 0xf, 0x1", 36, "the line ends"),
        ("etw-start", "DiskRead, 8612, x (3), 7, 0xf, 0x1, 0x10, y, 0", 43, "a whole time"),
        ("wiscsee", "39949 D flush 299008 4096 0.0 0 False", 9, "read, write or discard"),
        ("hfplayer", "36,81.096,17,FLUSH,0,30,14,1,1,0,22,8,12,6,1,5", 14, "RD_IN or WR_IN"),
        ("ftrace", "garbage", 1, "an event"),
        ("ftrace", "a-1 [0] 1.5: block_rq_issue: 8 W 512 () 8 + 1 [a]", 30, "a device such as"),
        ("ftrace", "a-1 [0] 1.5: block_rq_issue: 8,0 W 512 () x + 1 [a]", 43, "a sector of"),
        ("ftrace", "a-1 [0] 1.5: block_rq_issue: 8,0 W 512 () 8", 44, "`+` and a number"),
        ("csv:op, offset, size", "r,99999999999999999999,1", 3, "an offset"),
        ("csv:op, offset, size; hex=offset", "r,1g,1", 3, "an offset"),
        ("spc", "0,18014398509481985,512,r,0.1", 0, "below 4 EiB"),
        ("spc", "0,0,1099511627777,r,0.1", 0, "at most 1 TiB"),
    ];
    for (format, line, column, expected) in cases {
        let error = read(&format!("{line}\n"), &as_format(format)).unwrap_err();
        assert_eq!((error.line, error.column.unwrap_or(0)), (Some(1), column), "{error}");
        assert!(error.message.contains(expected), "{error}");
        assert_eq!(error.text.as_deref(), Some(line));
    }
}

#[test]
fn a_bad_field_of_fiu_is_pointed_at_though_names_hold_blanks() {
    let md5 = "d6c75ba46e82326fefa545b57a12e221";
    let read = |row: &str| read(&format!("{row} {md5}\n"), &as_format("fiu"));
    let row = read("89966522969723 4270 a b 7 18579576 8 W 6 3").unwrap()[0];
    assert_eq!((row.at_ns, row.op), (89_966_522_969_723, Op::Write));
    assert_eq!((row.device, row.offset_bytes), ((6 << 20) | 3, 18_579_576 * 512));
    for (row, column, expected) in [
        ("89.5 4270 nfsd 18579576 8 W 6 0", 1, "a whole time in ns"),
        ("8 4270 nfsd 18x 8 W 6 0", 13, "an address in blocks"),
        ("8 4270 nfsd 18 8 F 6 0", 18, "R or W"),
        ("8 4270 nfsd 18 8 R 6 1048576", 22, "a device number"),
        ("8 4270 nfsd 18 8 R 6 0 x", 24, "a device number"),
        ("8 4270 R 6 0", 7, "a size in blocks"),
    ] {
        match read(row) {
            Err(error) => {
                assert_eq!((error.line, error.column), (Some(1), Some(column)), "{error}");
                assert!(error.message.contains(expected), "{error}");
            }
            Ok(_) => panic!("{row}"),
        }
    }
}

#[test]
fn a_header_of_other_columns_has_advice() {
    let header = "time,op,offset,size\n5,w,0,4096\n";
    for (format, advice) in [
        ("csv", "name them in the format as well, as in `--format \"csv:time:us, op,"),
        ("csv:time:us, -, device, offset, size, op; delimiter=comma", "`; header=yes`"),
        ("csv:time:us, op, offset, size; header=no", "a time is a number from 0 to "),
    ] {
        let error = read(header, &as_format(format)).unwrap_err();
        let help = error.help.as_deref().unwrap_or_default();
        assert!(help.contains(advice), "{format}: {error}");
    }
    let help = read("0.x,0,w,0,4096\n", &as_format("csv")).unwrap_err().help.unwrap();
    assert!(help.starts_with("a time is a number from 0 to "), "{help}");
    assert_eq!(read(header, &as_format("csv:time:us, op, offset, size")).unwrap().len(), 1);
}

#[test]
fn a_bad_field_of_a_log_is_pointed_at() {
    let cases = [
        ("fio version 3 iolog\n0.5 /a read 0 512\n", 1, "a whole time in us"),
        ("fio version 3 iolog\n5 /a format 0 512\n", 6, "an action"),
        ("fio version 2 iolog\n/a read 0 -8\n", 11, "a length in bytes"),
        ("fio version 2 iolog\n/a wait soon\n", 9, "a whole time in us"),
    ];
    for (text, column, expected) in cases {
        let error = read(text, &as_format("fio")).unwrap_err();
        assert_eq!((error.line, error.column), (Some(2), Some(column)), "{error}");
        assert!(&*error.source == "t.txt" && error.message.contains(expected), "{error}");
    }
}

#[test]
fn waits_of_fio_are_not_guessed() {
    let text = "fio version 2 iolog\na wait 4000 0\na read 0 8\na wait 6000 0\na read 8 8\n";
    let open = |text: &str| {
        open("t", Box::new(Cursor::new(text.as_bytes().to_vec())), &OpenOptions::default())
    };
    let help = open(text).unwrap_err().help.unwrap();
    assert!(help.contains("fio          last 6.000 ms"), "{help}");
    assert!(help.contains("fio-ms       last 2.000 s"), "{help}");
    assert!(open("fio version 2 iolog\na read 0 8\n").is_ok());
    assert!(open("fio version 3 iolog\n1 a wait 0 8\n").is_ok());
}

/// The shapes that files of a format may have, and where they end up.
#[test]
fn other_shapes_of_a_format_are_known_too() {
    let cases = [
        ("systor", "1.5,0.1,R,0,8,8\n2.5,,W,0,8,8\n3.5,,,0,8,8\n", "RW-"),
        ("tencent", "Timestamp,Offset,Size,IOType,VolumeID\n1,8,8,0,3\n1,8,8,1,3\n", "RW"),
        ("alibaba", "device_id,opcode,offset,length,timestamp\n7,R,1,2,3\n", "R"),
        ("cloudphysics", "version,time,op,size,lbn\n1,5,28,512,1\n1,5,42,512,1\n", "RT"),
        ("cloudphysics", "2,5,8,512,1\n2,5,A,512,1\n2,5,88,512,1\n2,5,0x35,0,0\n", "RWR-"),
        ("etw", "BeginHeader\n x, y\nEndHeader\nDiskWrite, 1, p, 2, 3, 0x200, 512, 4, 5\n", "W"),
        ("hfplayer", "1,50,8,RD,2,8,5,6,0,0,2,2,4,7,6,2\n1,50,8,RD_OUT,2,8,5\n", "R"),
        ("wiscsee", "7 D write 0 512 0.5 0 True\n7 C write 0 512 0.6 0.1 True\n", "W"),
    ];
    for (format, text, ops) in cases {
        let trace = reader(text, &OpenOptions::default());
        assert_eq!(trace.format().name(), format);
        let letter = |record: Result<Record, TraceError>| match record.unwrap().op {
            Op::Read => 'R',
            Op::Write => 'W',
            Op::Trim => 'T',
            Op::Other => '-',
        };
        assert_eq!(trace.map(letter).collect::<String>(), ops, "{format}");
    }
    // Without a letter in a code, these are bare numbers.
    let bare =
        open("t", Box::new(Cursor::new(b"1,5,28,512,1\n".to_vec())), &OpenOptions::default());
    assert!(bare.unwrap_err().help.unwrap().contains("cloudphysics last"));
}

#[test]
fn bad_lines_can_be_skipped_and_are_counted() {
    let text = "0,8,512,r,0.1\nx\n0,8,512,q,0.2\n1,8,512,w,0.3\n";
    let error = read(text, &OpenOptions::default()).unwrap_err();
    assert_eq!(error.line, Some(2));
    let skip = OpenOptions { on_bad_line: OnBadLine::Skip, ..OpenOptions::default() };
    let mut trace = reader(text, &skip);
    let lines: Vec<u64> = trace.by_ref().map(|record| record.unwrap().line).collect();
    assert_eq!(lines, [1, 4]);
    assert_eq!((trace.rows(), trace.bad_rows(), trace.bad_examples().len()), (2, 2, 2));
    assert_eq!(trace.bad_examples()[1].column, Some(9));
    let error = read("x\ny\n", &OpenOptions { on_bad_line: OnBadLine::Skip, ..as_format("msr") });
    assert!(error.unwrap_err().help.unwrap().contains("cannot be parsed: 2;"));
}

/// The columns of `ssdsim`, where devices count.
const BY_DEVICE: &str =
    "csv:time:ns, device, offset:512, size:512, op; delimiter=space; read=1; write=0";

const LATE: &str = "30 0 0 8 1\n10 0 8 8 1\n20 0 16 8 0\n50 0 24 8 1\n50 0 32 8 1\n40 0 40 8 0\n";

#[test]
fn devices_of_simulators_of_one_drive_are_ignored() {
    // The rows of MQSim's issue 47: its devices 0, 1 and 7 are one drive, as in SSDSim.
    let text = "0 0 0 8 0\n1000 1 0 8 0\n2000 7 0 8 1\n";
    let devices = |name: &str| {
        let records = read(text, &as_format(name)).unwrap();
        records.iter().map(|record| record.device).collect::<Vec<u64>>()
    };
    for name in ["mqsim", "mqsim-us", "mqsim-ps", "ssdsim", "ssdsim-us"] {
        assert_eq!(devices(name), [0, 0, 0], "{name}");
    }
    for name in ["disksim", "flashsim", "heimdall", BY_DEVICE] {
        assert_eq!(devices(name), [0, 1, 7], "{name}");
    }
}

#[test]
fn a_clock_of_32_bits_that_wraps_is_named() {
    let named = |unit_ns: u64, word: &str| {
        let rows = [4_294_967_290, 4_294_967_295, 4, 10];
        let rows = rows.map(|at: u64| format!("{} w 0 4096\n", at * unit_ns)).concat();
        let by_ns = "csv:time:ns, op, offset, size; delimiter=space";
        let help = |disorder| {
            let options = OpenOptions { disorder, ..as_format(by_ns) };
            read(&rows, &options).unwrap_err().help.unwrap()
        };
        for disorder in [Disorder::Refuse, Disorder::Window(1000)] {
            let help = help(disorder);
            let text = format!("a 32-bit clock in {word} does when it wraps: add 4294967296");
            assert!(help.contains(&text) && help.contains("from line 3"), "{help}");
        }
        let options = OpenOptions { disorder: Disorder::Ignore, ..as_format(by_ns) };
        let found = info(reader(&rows, &options)).unwrap();
        assert_eq!((found.clock_wraps, found.clock_unit), (1, Some(word.to_string())));
    };
    named(1, "ns");
    named(1_000, "us");
    // In the middle of the range it is an ordinary step back.
    let error = read("2147483648 0 0 8 1\n10 0 8 8 1\n", &as_format("ssdsim")).unwrap_err();
    assert!(error.help.unwrap().contains("--sort-window"));
}

#[test]
fn disorder_is_refused_sorted_or_counted() {
    let mut options = as_format("ssdsim");
    let error = read(LATE, &options).unwrap_err();
    assert!(error.message.contains("10 ns on line 2, after 30 ns on line 1"), "{error}");
    assert!(error.help.unwrap().contains("sort_window = \"1 ms\""));

    options.disorder = Disorder::Window(20);
    let sorted = read(LATE, &options).unwrap();
    let times: Vec<(u64, u64)> = sorted.iter().map(|record| (record.at_ns, record.line)).collect();
    assert_eq!(times, [(10, 2), (20, 3), (30, 1), (40, 6), (50, 4), (50, 5)]);

    options.disorder = Disorder::Window(9);
    let error = read("10 0 0 8 1\n30 0 0 8 1\n5 0 0 8 1\n", &options).unwrap_err();
    assert!(error.message.contains("line 3 is 0.000025 ms late"), "{error}");

    options.disorder = Disorder::Ignore;
    let found = info(reader(LATE, &options)).unwrap();
    assert_eq!((found.out_of_order, found.late_ns_max), (2, 20));
    assert_eq!((found.first_ns, found.last_ns), (10, 50));
}

#[test]
fn filters_take_devices_a_span_and_rows() {
    let text: String =
        (0..100).map(|at| format!("{} {} {} 8 {}\n", 1000 + at, at % 3, at * 8, at % 2)).collect();
    let with = |filter: Filter| {
        let records = read(&text, &OpenOptions { filter, ..as_format(BY_DEVICE) });
        records.map(|records| records.iter().map(|record| record.line).collect::<Vec<u64>>())
    };
    let span = Filter { start_ns: Some(10), length_ns: Some(3), ..Filter::default() };
    assert_eq!(with(span.clone()).unwrap(), [11, 12, 13]);
    let devices = Filter { devices: Some(vec![2, 0]), rows: Some(3), ..Filter::default() };
    assert_eq!(with(devices).unwrap(), [1, 3, 4]);
    assert_eq!(with(Filter { devices: Some(vec![1]), ..span.clone() }).unwrap(), [11]);
    let none = with(Filter { devices: Some(vec![9]), ..span }).unwrap_err();
    assert!(none.message.contains("none of"), "{none}");
}

#[test]
fn blkparse_takes_one_event_and_passes_over_the_rest() {
    let text = "\
  8,16   5        1     0.000000000 18615  A   R 100 + 8 <- (8,17) 36
  8,16   5        2     0.000001850 18615  Q  WS 100 + 8 [java]
  8,16   5        4     0.000008750 18615  P   N [java]
  8,16   5        0     0.000012990     0  m   N cfq18615S / insert_request
  8,16   5        6     0.000031865 18615  D   R 100 + 8 [java]
  8,32   5        7     0.000031866 18615  D  DS 200 + 16 [a b]
  8,16   5        8     0.000031867 18615  D FWS 300 + 8 [x]
  8,16   5        9     0.000031868 18615  D  FN [x]
  8,16   5       10     0.000031869 18615  D   R 36 (12 00 00 00) [x]
  8,16   5       11     0.000031870 18615  C   R 100 + 8 [0]
CPU5 (8,16):
 Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB

Total (8,16):
 IO unplugs:             0        \t Timer unplugs:           0
";
    let mut trace = reader(text, &OpenOptions::default());
    assert_eq!(trace.format().to_string(), "blkparse:D");
    let records: Vec<Record> = trace.by_ref().map(Result::unwrap).collect();
    let ops: Vec<Op> = records.iter().map(|record| record.op).collect();
    assert_eq!(ops, [Op::Read, Op::Trim, Op::Write, Op::Other, Op::Other]);
    assert_eq!(records[1].device, (8 << 20) | 32);
    assert_eq!(flashgc_trace::parse_device("8,32"), Some(records[1].device));
    let queued = read(text, &as_format("blkparse:action=Q")).unwrap();
    assert_eq!((queued.len(), queued[0].op), (1, Op::Write));
    assert_eq!(info(reader(text, &OpenOptions::default())).unwrap().format, "blkparse");
}

#[test]
fn info_counts_what_can_be_counted_by_hand() {
    // Two devices; the second write of a page counts once in the footprint.
    let text = "0,0,4096,w,0\n0,8,8192,W,1\n0,1,512,w,2\n1,0,512,r,3\n";
    let found = info(reader(text, &OpenOptions::default())).unwrap();
    assert_eq!((found.rows, found.reads, found.writes, found.trims), (4, 1, 3, 0));
    assert_eq!((found.footprint_bytes, found.written_footprint_bytes), (4 * 4096, 3 * 4096));
    assert_eq!((found.written_bytes, found.max_address_bytes), (12_800, 12_288));
    assert_eq!(found.duration_s, 3.0);
    assert_eq!(found.sequential_share, Some(0.25));
    assert_eq!(found.mean_interarrival_ns, Some(1e9));
    let json = serde_json::to_value(&found).unwrap();
    for key in "format rows bad_rows reads writes trims read_bytes written_bytes footprint_bytes \
                written_footprint_bytes max_address_bytes duration_s"
        .split(' ')
    {
        assert!(json.get(key).is_some(), "{key}");
    }
    let extents = extents(reader(text, &OpenOptions::default())).unwrap();
    let bases = (extents.base_bytes(0), extents.base_bytes(1), extents.total_bytes());
    assert_eq!(bases, (Some(0), Some(12_288), Some(16_384)));
}

#[test]
fn names_and_options_are_understood() {
    for name in Format::all_names() {
        let format: Format = name.parse().unwrap();
        assert_eq!(format.name(), name);
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    for (text, part) in [
        ("mrs", "unknown format `mrs`; valid formats: msr, spc"),
        ("msr:x", "has no options"),
        ("blkparse:QD", "one letter"),
        ("ftrace:block_plug", "not an event of a request; valid: block_rq_issue"),
        ("oracle-general:0", "not a block size"),
        ("csv:time, op", "needs its unit"),
    ] {
        let error = text.parse::<Format>().unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

const LICENCE: &str = "Copyright Someone; all rights kept\n\nstarting here, PLEASE DO NOT EDIT\n\
                       ####\nstart ; sector; length ; op ;  replay_delay=0 ; replay_duration=0\n";
const LOAD: &str = "0.0 ; 8 ; 8 ; W ; 0.0 ; 0.0\n  0.5 ; 16 ; 8 ; R ; 0.0 ; 0.0\n";

#[test]
fn text_before_the_head_of_a_blkreplay_file_is_passed_over_however_often_it_comes() {
    let options = OpenOptions { disorder: Disorder::Ignore, ..OpenOptions::default() };
    for (heads, loads) in [(1, 1), (2, 1), (100, 1), (1, 2), (3, 3)] {
        let part = format!("{}{LOAD}", LICENCE.repeat(heads));
        let trace = reader(&part.repeat(loads), &options);
        assert_eq!(trace.format().name(), "blkreplay");
        let records: Vec<Record> = trace.map(|record| record.unwrap()).collect();
        assert_eq!(records.len(), 2 * loads, "{heads} heads, {loads} loads");
    }
}

#[test]
fn text_without_a_head_behind_it_is_no_row_of_blkreplay() {
    let error = read(&format!("{LICENCE}{LOAD}some text\n{LOAD}"), &as_format("blkreplay"));
    assert!(error.unwrap_err().to_string().contains("t.txt:8"));
    // A spoiled row is never taken for text, even where a head follows.
    let spoiled = format!("{LOAD}0.7 ; x ; 8 ; W ; 0 ; 0\n{LICENCE}{LOAD}");
    let error = read(&spoiled, &as_format("blkreplay")).unwrap_err();
    assert!(error.to_string().contains("t.txt:3:7"), "{error}");
}

#[test]
fn a_request_larger_than_the_drive_is_a_bad_row_but_a_trim_is_not() {
    let text = "d,0,4096\nw,0,4096\nw,0,1099511627776\nd,0,1099511627776\n";
    let options = as_format("csv:op, offset, size");
    let mut trace = reader(text, &options);
    trace.limit_to_drive(1 << 20);
    let error = trace.find_map(Result::err).unwrap().to_string();
    for part in ["at most 1048576 bytes", "1099511627776 bytes", "t.txt:3", "--on-bad-line skip"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let mut trace = reader(text, &OpenOptions { on_bad_line: OnBadLine::Skip, ..options });
    trace.limit_to_drive(1 << 20);
    assert_eq!(trace.by_ref().map(Result::unwrap).count(), 3);
    assert_eq!(trace.bad_rows(), 1);
}

#[test]
fn a_long_line_is_quoted_in_part() {
    let text = format!("0,{},4096,r,0.1\n", "x".repeat(60_000));
    let error = read(&text, &as_format("spc")).unwrap_err().to_string();
    assert!(error.len() < 600, "{} bytes", error.len());
    let text = format!("0,{},4096,r,0.1\n", "x".repeat(200_000));
    let error = read(&text, &as_format("spc")).unwrap_err().to_string();
    assert!(error.len() < 600, "{} bytes", error.len());
}
