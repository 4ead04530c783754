//! Binary formats, tested with files that are made here by their definitions.

use flashgc_trace::{Disorder, Op, OpenOptions, Record, TraceError, open};
use std::io::Cursor;

fn given(format: Option<&str>) -> OpenOptions {
    let format = format.map(|name| name.parse().unwrap());
    OpenOptions { format, disorder: Disorder::Ignore, ..OpenOptions::default() }
}

fn read(bytes: &[u8], format: Option<&str>) -> Result<Vec<Record>, TraceError> {
    open("t", Box::new(Cursor::new(bytes.to_vec())), &given(format))?.collect()
}

fn format_of(bytes: &[u8]) -> String {
    let reader = open("t", Box::new(Cursor::new(bytes.to_vec())), &given(None));
    reader.unwrap().format().to_string()
}

type Row = (u64, u64, Op, u64, u64);

fn rows(records: &[Record]) -> Vec<Row> {
    records.iter().map(|r| (r.at_ns, r.device, r.op, r.offset_bytes, r.size_bytes)).collect()
}

/// Command, microseconds, block, bytes.
const VSCSI: [(u8, u64, u64, u32); 4] =
    [(0x28, 5, 100, 4096), (0x2a, 7, 1 << 33, 512), (0x42, 8, 16, 8192), (0x35, 9, 0, 0)];

fn vscsi(version: u16) -> Vec<u8> {
    let mut file = Vec::new();
    for (serial, (command, us, block, bytes)) in (1_u32..).zip(VSCSI) {
        let command = u16::from(command).to_le_bytes();
        let marked = (version << 8).to_le_bytes();
        let (serial, segments) = (serial.to_le_bytes(), 1_u32.to_le_bytes());
        let bytes = bytes.to_le_bytes();
        match version {
            1 => file.extend([&serial[..], &bytes, &segments, &command, &marked].concat()),
            _ => file.extend([&command[..], &marked, &serial, &bytes, &segments].concat()),
        }
        file.extend(block.to_le_bytes());
        file.extend(us.to_le_bytes());
        if version == 2 {
            file.extend(300_u64.to_le_bytes());
        }
    }
    file
}

#[test]
fn vscsi_in_both_versions() {
    let expected = [
        (5_000, 0, Op::Read, 51_200, 4096),
        (7_000, 0, Op::Write, 1 << 42, 512),
        (8_000, 0, Op::Trim, 8192, 8192),
        (9_000, 0, Op::Other, 0, 0),
    ];
    for version in [1, 2] {
        let file = vscsi(version);
        assert_eq!(format_of(&file), "vscsi");
        assert_eq!(rows(&read(&file, None).unwrap()), expected);
        assert_eq!(rows(&read(&file, Some("vscsi")).unwrap()), expected);
        let cut = read(&file[..file.len() - 1], None).unwrap_err();
        assert!(cut.message.contains("ends in the middle of a record"), "{cut}");
        assert_eq!(cut.line, Some(4));
    }
    let mut spoiled = vscsi(2);
    spoiled[40 * 3 + 3] = 9;
    let error = read(&spoiled, Some("vscsi")).unwrap_err();
    assert!(error.to_string().contains("record 4, byte 160"), "{error}");
}

/// A header as HP's traces have it, and records of both kinds.
fn srt(sectors: &str) -> Vec<u8> {
    let mut file = b"$$TR_IOREC-1.3 (a test)\0\nversion = 1.3;\ndisks = {\n".to_vec();
    file.extend(sectors.bytes());
    file.extend(b"};\n\x0c");
    let record = |kind: u32, s: u32, us: u32, bytes: u32, block: u32, device: u32, flags: u32| {
        let size = if kind == 4 { 60 } else { 56 };
        let mut words =
            vec![size, 4 << 16 | kind, s, us, 1, 2, bytes, block, device, 4, 0, flags, 0, 1];
        words.extend((kind == 4).then_some(7));
        words.iter().flat_map(|word: &u32| word.to_be_bytes()).collect::<Vec<u8>>()
    };
    file.extend(record(1, 0, 174, 4096, 0x420, 0x0800_0107, 0x1b));
    file.extend(record(4, 1, 0, 512, 1, 0x0800_0008, 1));
    file.extend(record(1, 2, 999_999, 1024, 10, 0x0800_0008, 0x8810a));
    file
}

#[test]
fn srt_with_the_sectors_of_its_header() {
    let expected =
        [(174_000, 1, Op::Read, 0x420 * 256, 4096), (2_999_999_000, 0, Op::Write, 2560, 1024)];
    let file = srt("0 -> { sectorsize  = 256,\n } 1 -> { sectorsize=256 }");
    assert_eq!(format_of(&file), "srt");
    assert_eq!(rows(&read(&file, None).unwrap()), expected);
    let wrong = |file: &[u8]| read(file, None).unwrap_err().to_string();
    assert!(wrong(&srt("")).contains("names no `sectorsize`"));
    assert!(wrong(&srt("sectorsize = 256 sectorsize = 512")).contains("different sizes"));
    assert!(wrong(&file[..file.len() - 3]).contains("ends in the middle of a record"));
    assert!(wrong(&file[..40]).contains("no end"));
    let mut kind = file.clone();
    let at = kind.len() - 56 + 7;
    kind[at] = 3;
    assert!(wrong(&kind).contains("no record of version 4 and type 3"));
    let mut size = file.clone();
    size[at - 4] = 60;
    assert!(wrong(&size).contains("must have 56 bytes, but this one has 60"), "{}", wrong(&size));
    let mut late = file;
    late[at + 6] = 0xff;
    assert!(wrong(&late).contains("more than a second"), "{}", wrong(&late));
}

const TO_UPPER: u32 = 16;
const WRITE: u32 = 1 << (1 + TO_UPPER);
const READ: u32 = 1 << TO_UPPER;
const NOTICE: u32 = 1 << (10 + TO_UPPER);
const DISCARD: u32 = 1 << (13 + TO_UPPER);
const QUEUED: u32 = 1;
const ISSUED: u32 = 7;
const WITH_GROUP: u32 = 1 << 8;

fn event(big: bool, at_ns: u64, sector: u64, bytes: u32, action: u32, data: &[u8]) -> Vec<u8> {
    let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let long = |n: u64| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let short = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut event = word(0x6561_7407).to_vec();
    event.extend(word(1));
    event.extend(long(at_ns));
    event.extend(long(sector));
    // Bytes, action, pid, device 8,16, cpu.
    for number in [bytes, action, 77, 8 << 20 | 16, 3] {
        event.extend(word(number));
    }
    event.extend(short(0));
    event.extend(short(data.len() as u16));
    event.extend(data);
    event
}

fn blktrace(big: bool) -> Vec<u8> {
    [
        event(big, 0, 0, 0, NOTICE, b"process\0"),
        event(big, 90, 8, 4096, QUEUED | WRITE, b""),
        event(big, 100, 8, 4096, ISSUED | WRITE | WITH_GROUP, b"12345678"),
        event(big, 200, 16, 512, ISSUED | READ, b""),
        event(big, 300, 32, 1 << 20, ISSUED | DISCARD | WRITE, b""),
        event(big, 400, 0, 0, ISSUED | WRITE, b""),
    ]
    .concat()
}

#[test]
fn blktrace_in_both_orders_of_bytes() {
    let device = 8 << 20 | 16;
    let expected = [
        (100, device, Op::Write, 4096, 4096),
        (200, device, Op::Read, 8192, 512),
        (300, device, Op::Trim, 16_384, 1 << 20),
        (400, device, Op::Other, 0, 0),
    ];
    for big in [false, true] {
        let file = blktrace(big);
        assert_eq!(format_of(&file), "blktrace:D");
        assert_eq!(rows(&read(&file, None).unwrap()), expected);
        let queued = read(&file, Some("blktrace:Q")).unwrap();
        assert_eq!(rows(&queued), [(90, device, Op::Write, 4096, 4096)]);
        let wrong = |file: &[u8]| read(file, None).unwrap_err().to_string();
        assert!(wrong(&file[..file.len() - 1]).contains("ends in the middle of a record"));
        let mut newer = file.clone();
        newer[if big { 3 } else { 0 }] = 8;
        assert!(wrong(&newer).contains("version 8"), "{}", wrong(&newer));
        let mut lost = file;
        lost[57] ^= 0xff;
        assert!(wrong(&lost).contains("does not start with the magic number"), "{}", wrong(&lost));
    }
}

#[test]
fn a_format_that_does_not_fit_is_reported() {
    for name in ["vscsi", "srt", "blktrace", "fgt"] {
        for bytes in [b"0,8,512,r,0.1\n".as_slice(), &[0; 100], &[0xff; 5000]] {
            let error = read(bytes, Some(name)).unwrap_err();
            assert!(error.message.contains(name), "{error}");
        }
    }
}

/// Seconds, object, bytes.
const OBJECTS: [(u32, u64, u32); 3] = [(0, 100, 4096), (7, 1 << 40, 512), (u32::MAX, 3, 0)];

fn oracle_general() -> Vec<u8> {
    let record = |&(s, object, bytes): &(u32, u64, u32)| {
        [&s.to_le_bytes()[..], &object.to_le_bytes(), &bytes.to_le_bytes(), &(-2_i64).to_le_bytes()]
            .concat()
    };
    OBJECTS.iter().flat_map(record).collect()
}

#[test]
fn objects_of_libcachesim_are_blocks_that_are_read() {
    for (format, block) in [("oracle-general", 512), ("oracle-general:1", 1)] {
        let expected = OBJECTS.map(|(s, object, bytes)| {
            (u64::from(s) * 1_000_000_000, 0, Op::Read, object * block, u64::from(bytes))
        });
        assert_eq!(rows(&read(&oracle_general(), Some(format)).unwrap()), expected, "{format}");
    }
    let unnamed = read(&oracle_general(), None).unwrap_err();
    assert!(unnamed.to_string().contains("--format oracle-general"), "{unnamed}");
    let cut = read(&oracle_general()[..40], Some("oracle-general")).unwrap_err();
    assert!(cut.message.contains("ends in the middle of a record"), "{cut}");
    let mut hashed = oracle_general();
    hashed[24 + 4..24 + 12].fill(0xff);
    let error = read(&hashed, Some("oracle-general")).unwrap_err();
    assert_eq!((error.line, error.message.contains("that are hashes")), (Some(2), true), "{error}");
}
