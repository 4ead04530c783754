//! Whatever comes in, an error comes out, never a panic.

use flashgc_trace::{
    Disorder, Filter, Format, Look, OnBadLine, OpenOptions, Record, TraceError, TraceReader,
    extents, info, open,
};
use proptest::prelude::*;
use std::io::{self, Cursor, Read, Write};

const SPC: &[u8] = b"0,8,512,r,0.000001\n1,16,512,w,0.000003\n0,24,512,W,0.000002\n";

/// Some rows of formats that have a file of their own.
const ROWS: [(&str, &str); 14] = [
    (
        "systor",
        "Timestamp,Response,IOType,LUN,Offset,Size\n1.133076000,0.000806000,R,0,8990,131072\n\
         1.2,,W,5,0,512\n",
    ),
    ("alibaba", "419,W,8792731648,16384,1577808144360767\n7,R,0,4096,1577808144360768\n"),
    ("tencent", "1538323200,4247200,128,1,1058\n1538323200,13896880,128,0,1063\n"),
    ("cloudphysics", "version,time,op,size,lbn\n1,5633,2a,512,42932745\n1,5634,28,512,7\n"),
    (
        "fiu",
        "899 42 rpc.mountd 185 8 W 6 0 d6c75ba46e82326fefa545b57a12e221\n\
         900 42 a b 508516672 8 R 6 0 88b93b628d84082186026d9da044f173\n",
    ),
    ("fio", "fio version 3 iolog\n2 a add\n8 a open\n9 a write 0 512\n9 a trim 0 512\n"),
    ("fio-ms", "fio version 2 iolog\na add\na open\na write 0 512\na wait 9 0\nb read 0 512\n"),
    ("flashsim", "26.214000\t0\t303574\t1\t0\n26.3\t0\t240840\t1\t1\n"),
    ("diskmon", "0\t0.016\t0.0003\t0\tWrite\t32712\t8\r\n1\t0.017\t0\t0\tRead\t1087\t8\r\n"),
    ("biotracer", "8\t\t8\t\t4096\t\t4\t\t1.7\t\t1.8\t\t1.8\t\t1.9\n8 8 4096 5 2.7 2.8 2.8 2.9\n"),
    (
        "etw-start",
        "BeginHeader\n DiskRead, TimeStamp, ByteOffset, IOSize, ElapsedTime, DiskNum\n\
         EndHeader\n DiskRead, 8612, 0x018f0b8000, 0x00001000, 283, 1\n\
         DiskWrite, 8613, 0x0, 0x1000, 84, 1\n",
    ),
    ("wiscsee", "39 D read 299 4096 0.0 0 False\n0 D discard 299 4096 0.1 7.3e-05 True\n"),
    (
        "ftrace",
        "fio-9 [001] d..1. 2.5: block_rq_issue: 259,0 W 4096 () 8 + 8 be,0,4 [fio]\n\
         fio-9 [001] .... 3.25: block_rq_issue: 8,0 FF 0 () 18446744073709551615 + 0 [k]\n",
    ),
    ("hfplayer", "36,81.096,17,WR_IN,0,30,14,1,1,0,22,8,12\n36,81.2,17,RD,0,30,15,1,1,0,22,8,12\n"),
];

fn open_bytes(bytes: &[u8], options: &OpenOptions) -> Result<TraceReader, TraceError> {
    open("t", Box::new(Cursor::new(bytes.to_vec())), options)
}

fn all(bytes: &[u8], options: &OpenOptions) -> Result<Vec<Record>, TraceError> {
    open_bytes(bytes, options)?.collect()
}

fn error(bytes: &[u8], options: &OpenOptions) -> TraceError {
    all(bytes, options).unwrap_err()
}

fn given(format: &str) -> OpenOptions {
    OpenOptions { format: Some(format.parse().unwrap()), ..OpenOptions::default() }
}

fn formats() -> Vec<Option<Format>> {
    let csv = "csv:time:us, op, offset:512, size:4k, device; delimiter=space; read=1; write=0";
    let options = [
        csv,
        "csv:op,offset,size",
        "csv:op,offset,size,device;hex=offset|size|device",
        "blkparse:Q",
        "ftrace:block_bio_queue",
        "oracle-general:1",
    ];
    let named = Format::all_names().into_iter().chain(options);
    [None].into_iter().chain(named.map(|name| Some(name.parse().unwrap()))).collect()
}

/// Reads bytes with the format given and with it left open.
fn try_format(name: &str, bytes: &[u8]) {
    for options in [given(name), OpenOptions::default()] {
        for on_bad_line in [OnBadLine::Stop, OnBadLine::Skip] {
            let options = OpenOptions { on_bad_line, ..options.clone() };
            let text = |error: TraceError| error.to_string();
            let _ = open_bytes(bytes, &options).and_then(info).map_err(text);
        }
    }
}

fn try_everything(bytes: &[u8]) {
    for format in formats() {
        for on_bad_line in [OnBadLine::Stop, OnBadLine::Skip] {
            for disorder in [Disorder::Refuse, Disorder::Window(5), Disorder::Ignore] {
                let options = OpenOptions {
                    format: format.clone(),
                    on_bad_line,
                    disorder,
                    filter: Filter::default(),
                };
                let text = |error: TraceError| error.to_string();
                let _ = open_bytes(bytes, &options).and_then(info).map_err(text);
                let _ = open_bytes(bytes, &options).and_then(extents).map_err(text);
            }
        }
    }
}

/// Bytes that often come close to a row.
fn nearly_rows() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "0",
        "1",
        "8,16",
        "512",
        "Read",
        "w",
        "W",
        "RA",
        "D",
        "Q",
        "+",
        ",",
        ";",
        " ",
        "\t",
        "\n",
        "\r\n",
        "#",
        "-",
        "-1",
        "0.5",
        "1e9",
        "18446744073709551615",
        "99999999999999999999999",
        "128166385295514663",
        "start",
        "CPU0",
        "[java]",
        "fio version 2 iolog",
        "fio version 3 iolog\n",
        "wait",
        "trim",
        "DiskRead",
        "BeginHeader",
        "0x1f",
        "2a",
        "WR_IN",
        "4096",
        "\u{fc}",
        "\0",
        "\u{feff}",
        "\"",
    ]);
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat().into_bytes())
}

/// An archive of tar with one file, as GNU tar writes it.
fn archive(packed: bool) -> Vec<u8> {
    let mut header = [0_u8; 512];
    let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
    put(0, b"prxy/0.csv");
    put(100, b"0000644\0");
    put(124, b"00000000064\0");
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar  \0");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut file = header.to_vec();
    file.extend(SPC);
    file.resize(4 * 512, 0);
    if !packed {
        return file;
    }
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&file).unwrap();
    packer.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        try_everything(&bytes);
    }

    #[test]
    fn bytes_that_nearly_are_rows(bytes in nearly_rows()) {
        try_everything(&bytes);
    }

    #[test]
    fn a_row_with_a_spoiled_byte(at in 0_usize..SPC.len(), byte: u8) {
        let mut bytes = SPC.to_vec();
        bytes[at] = byte;
        try_everything(&bytes);
    }

    #[test]
    fn a_row_of_any_format_with_a_spoiled_byte(at: prop::sample::Index, byte: u8) {
        for (name, rows) in ROWS {
            let mut bytes = rows.as_bytes().to_vec();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            try_format(name, &bytes);
            try_format(name, &bytes[..at]);
        }
    }
}

#[test]
fn every_format_has_rows_to_be_spoiled() {
    for (name, rows) in ROWS {
        let found = open_bytes(rows.as_bytes(), &given(name)).and_then(info).unwrap();
        assert!(found.rows >= 2, "{name}");
        // Rows that fit one format only are recognised, and bare numbers are not.
        let reported = open_bytes(rows.as_bytes(), &OpenOptions::default());
        match reported {
            Ok(reader) => {
                let given = given(name).format.unwrap();
                assert_eq!(reader.format().info().name, given.info().name);
            }
            Err(error) => {
                assert!(["flashsim", "tencent", "fio-ms"].contains(&name), "{name}: {error}")
            }
        }
    }
}

#[test]
fn nothing_and_nearly_nothing() {
    assert!(error(b"", &OpenOptions::default()).message.contains("empty"));
    assert!(error(b"\n \n\n", &OpenOptions::default()).message.contains("nothing but"));
    assert!(error(b"# a\n# b\n", &OpenOptions::default()).message.contains("nothing but"));
    let texts = |format: &Format| matches!(format.info().looks_like, Look::Lines(_));
    for format in formats().into_iter().flatten().filter(texts) {
        let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
        for bytes in [b"# a\n\n # b".as_slice(), b"\n", b" \t\r\n"] {
            assert!(error(bytes, &options).to_string().contains("no row of"));
        }
    }
}

#[test]
fn garbage_is_said_to_be_garbage() {
    let bytes: Vec<u8> = (0..200_000_u32).map(|at| ((at * 7919) >> 3) as u8).collect();
    assert!(error(&bytes, &OpenOptions::default()).message.contains("not text"));
    assert!(error(b"\xff\xfea\0b\0", &OpenOptions::default()).message.contains("UTF-16"));
    assert!(error(b"BZh91AY", &OpenOptions::default()).help.unwrap().contains("bunzip2"));
    for packed in [false, true] {
        let archive = archive(packed);
        for options in [OpenOptions::default(), given("msr"), given("blktrace")] {
            let error = error(&archive, &options);
            assert_eq!(error.message, "the file is a tar archive");
            assert!(error.help.unwrap().contains("tar -xf t prxy/0.csv"));
        }
    }
    let error = error(b"hello, world\n", &OpenOptions::default());
    assert!(error.message.contains("not recognised"));
    assert_eq!(error.text.as_deref(), Some("hello, world"));
}

/// A trace of text in whose first 512 bytes a number is the sum of all others, where an archive of
/// tar has its sum: a random trace of blkreplay was one (and refused as an archive).
#[test]
fn the_sum_of_an_archive_by_chance() {
    let mut rows = "000,20941264,8192,W,0.5517060000000\n".repeat(30).into_bytes();
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    let address = 148..156;
    assert_eq!(&rows[address.clone()], b"20941264");
    let others = sum(&rows[..512]) - sum(&rows[address.clone()]);
    rows[address].copy_from_slice(format!("{:08o}", others + 8 * 32).as_bytes());
    let found = info(open_bytes(&rows, &OpenOptions::default()).unwrap()).unwrap();
    assert_eq!((found.rows, found.bad_rows), (30, 0));
}

#[test]
fn a_line_without_end() {
    let endless = || Box::new(Cursor::new(SPC.to_vec()).chain(io::repeat(b'9').take(50 << 20)));
    let mut reader = open("t", endless(), &OpenOptions::default()).unwrap();
    let disorder = OpenOptions { disorder: Disorder::Ignore, ..OpenOptions::default() };
    assert!(reader.find_map(Result::err).unwrap().message.contains("goes back"));
    let error = open("t", endless(), &disorder).unwrap().find_map(Result::err).unwrap();
    assert!(error.message.contains("longer than 65536"), "{error}");
    assert_eq!(error.line, Some(4));
    let skip = OpenOptions { on_bad_line: OnBadLine::Skip, ..disorder };
    let found = info(open("t", endless(), &skip).unwrap()).unwrap();
    assert_eq!((found.rows, found.bad_rows), (3, 1));
    let only = || Box::new(io::repeat(b'9').take(10 << 20));
    let error = open("t", only(), &OpenOptions::default()).unwrap_err();
    assert!(error.message.contains("longer than 65536"), "{error}");
}

fn packed() -> [(&'static str, Vec<u8>); 2] {
    let rows: String = (0..20_000_u64)
        .map(|at| format!("0,{},4096,w,{}.{:06}\n", at * 7919 % 65_537, at, at * 31 % 1_000_000))
        .collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(rows.as_bytes()).unwrap();
    [("gzip", gzip.finish().unwrap()), ("zstd", zstd::encode_all(rows.as_bytes(), 3).unwrap())]
}

#[test]
fn packed_traces_are_read_and_cut_ones_are_reported() {
    for (name, bytes) in packed() {
        assert_eq!(all(&bytes, &OpenOptions::default()).unwrap().len(), 20_000);
        let twice = [bytes.clone(), bytes.clone()].concat();
        let ignore = OpenOptions { disorder: Disorder::Ignore, ..OpenOptions::default() };
        assert_eq!(all(&twice, &ignore).unwrap().len(), 40_000);
        for kept in [7, 20, bytes.len() / 2, bytes.len() - 3, bytes.len() - 1] {
            let error = error(&bytes[..kept], &OpenOptions::default());
            assert!(error.message.contains(&format!("{name} stream")), "{kept}: {error}");
        }
        let mut spoiled = bytes.clone();
        for byte in &mut spoiled[bytes.len() / 2..bytes.len() / 2 + 64] {
            *byte ^= 0x5a;
        }
        assert!(all(&spoiled, &OpenOptions::default()).is_err());
    }
}

#[test]
fn addresses_without_end_take_no_memory_without_end() {
    // Each row touches the next terabyte.
    let rows = (0..2_000_u64).map(|at| format!("0,{},{},w,{at}\n", at << 31, 1_u64 << 40));
    let bytes = rows.collect::<String>().into_bytes();
    let error = open_bytes(&bytes, &OpenOptions::default()).and_then(info).unwrap_err();
    assert!(error.message.contains("256 TiB"), "{error}");
}

#[test]
fn a_stream_that_fails_is_an_error() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cable is out"))
        }
    }
    let error = open("t", Box::new(Fails), &OpenOptions::default()).unwrap_err();
    assert!(error.message.contains("the cable is out"));
    let later = Cursor::new(SPC[..40].to_vec()).chain(Fails);
    let mut reader = open("t", Box::new(later), &given("spc")).unwrap();
    assert!(reader.next().unwrap().is_ok() && reader.next().unwrap().is_ok());
    let error = reader.next().unwrap().unwrap_err();
    assert!(error.line == Some(3) && error.message.contains("the cable is out"), "{error}");
    assert!(reader.next().is_none());
}
