//! The formats that are no more than columns between delimiters: one row each, read and written by
//! `delimited.rs`.
//!
//! A format with logic of its own (an event to choose, a sum to check, a header to follow) has its
//! own file.

use crate::fields::TimeUnit;
use crate::format::{FormatInfo, Look, NamedFormat};
use crate::formats::Format;
use crate::formats::delimited::{
    Column, Decimals, Delimited, Delimiter, Header, Layout, Row, Sure, Words,
};
use crate::record::Op;

use Column::{Device, Number, Offset, Size, Text, Time};

const SECTOR: u64 = 512;
const PAGE: u64 = 4096;

/// An address in most of them.
const ADDRESS: Column = Offset(SECTOR, "an address in blocks of 512 bytes");
/// A size in most of them.
const BLOCKS: Column = Size(SECTOR, "a size in blocks of 512 bytes");
/// An address in bytes.
const BYTE_OFFSET: Column = Offset(1, "an offset in bytes");
/// A size in bytes.
const BYTES: Column = Size(1, "a size in bytes");
/// The device in the formats of simulators.
const NUMBERED: Column = Device("the device's number");
/// The device in the formats of simulators of one drive, which read this column and ignore it.
const IGNORED: Column = Column::Number("the device's number");
/// The operation in the formats of simulators.
const BIT: Column = Column::Op("0 (write) or 1 (read)");

/// The operations in the formats of simulators.
const BITS: &[(&[u8], Option<Op>)] = &[(b"1", Some(Op::Read)), (b"0", Some(Op::Write))];
const LETTERS: &[(&[u8], Option<Op>)] = &[(b"R", Some(Op::Read)), (b"W", Some(Op::Write))];
const READ_WRITE: &[(&[u8], Option<Op>)] =
    &[(b"Read", Some(Op::Read)), (b"Write", Some(Op::Write))];

/// A row without the parts that few formats have.
const PLAIN: Row = Row {
    info: FormatInfo {
        name: "",
        names: &[],
        title: "",
        columns: "",
        units: "",
        defined: "",
        lost: "",
        option: None,
        looks_like: Look::Lines(|_| crate::format::Verdict::No),
    },
    delimiter: Delimiter::Comma,
    columns: &[],
    time: TimeUnit::S,
    words: Words::These(&[]),
    ends: false,
    header: None,
    sure: Sure::Always,
    tail: "",
};

/// One row: its names, its texts for the manual, and how it differs from a plain one.
macro_rules! row {
    (
        $row:ident: $names:expr, $title:expr,
        named: $named:expr, units: $units:expr, defined: $defined:expr, lost: $lost:expr,
        $($field:ident: $value:expr),+ $(,)?
    ) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $row;

        impl Layout for $row {
            const ROW: Row = Row {
            info: FormatInfo {
                name: { const NAMES: &[NamedFormat] = $names; NAMES[0].0 },
                names: $names,
                title: $title,
                columns: $named,
                units: $units,
                defined: $defined,
                lost: $lost,
                option: None,
                looks_like: Look::Lines(|sample| Delimited::usual($row).verdict(sample)),
            },
            $($field: $value,)+
            ..PLAIN
            };
        }
    };
}

row! {
    Msr: &[("msr", || Format::Msr)], "MSR Cambridge csv (SNIA)",
    named: "timestamp,host,disk,type,offset,size[,response]",
    units: "Windows filetime (100 ns ticks), bytes, bytes",
    defined: "README of the SNIA download; Narayanan et al., FAST 2008",
    lost: "fractions of 100 ns, the host's name and the response time; no trims; \
           priority marks",
    time: TimeUnit::Ticks100Ns,
    columns: &[
        Time(Decimals::None), Text("trace", "the host's name"), Device("the disk's number"),
        Column::Op("Read or Write"), BYTE_OFFSET, BYTES,
    ],
    words: Words::AnyCase(READ_WRITE),
    header: Some(Header { begins: b"Timestamp,", written: None }),
    tail: ",0",
}

row! {
    Spc: &[("spc", || Format::Spc)], "SPC trace file (UMass Financial, WebSearch)",
    named: "asu,lba,size,opcode,timestamp[,more]",
    units: "seconds, blocks of 512 bytes, bytes",
    defined: "SPC trace file format specification, revision 1.0.1",
    lost: "optional fields; no trims; an offset must be a multiple of 512; priority marks",
    columns: &[
        Device("the ASU's number"), ADDRESS, BYTES, Column::Op("R or W"), Time(Decimals::Some),
    ],
    words: Words::AnyCase(LETTERS),
}

row! {
    DiskSim: &[("disksim", || Format::DiskSim)], "DiskSim ASCII (also the MSR SSD extension)",
    named: "time device block blocks flags",
    units: "milliseconds with decimals, blocks of 512 bytes, blocks; bit 0 of the flags: 1 = read",
    defined: "DiskSim 4.0 manual, default (ASCII) input format; disksim_iotrace.c",
    lost: "no trims; offset and size must be multiples of 512; priority marks",
    delimiter: Delimiter::Blanks,
    time: TimeUnit::Ms,
    columns: &[Time(Decimals::Some), NUMBERED, ADDRESS, BLOCKS, BIT],
    words: Words::OrFlags(BITS),
    ends: true,
    sure: Sure::Never,
}

row! {
    SsdSim: &[
        ("ssdsim", || Format::SsdSim(TimeUnit::Ns)),
        ("ssdsim-us", || Format::SsdSim(TimeUnit::Us)),
    ],
    "SSDSim ASCII, times in ns; ssdsim-us: times in us",
    named: "time device sector sectors op",
    units: "whole ns (us), sectors of 512 bytes, sectors; op: 1 = read, 0 = write",
    defined: "SSDSim, get_requests() in ssd.c; Hu et al., ICS 2011",
    lost: "fractions of the time unit; the device, since there can be only one; no trims; offset \
           and size must be multiples of 512; priority marks",
    delimiter: Delimiter::Blanks,
    time: TimeUnit::Ns,
    columns: &[Time(Decimals::None), IGNORED, ADDRESS, BLOCKS, BIT],
    words: Words::These(BITS),
    ends: true,
    sure: Sure::Never,
}

row! {
    MqSim: &[
        ("mqsim", || Format::MqSim(TimeUnit::Ns)),
        ("mqsim-us", || Format::MqSim(TimeUnit::Us)),
        ("mqsim-ps", || Format::MqSim(TimeUnit::Ps)),
    ],
    "MQSim ASCII, times in ns; mqsim-us, mqsim-ps: its other units",
    named: "time device sector sectors op",
    units: "whole ns (us, ps), sectors of 512 bytes, sectors; op: 1 = read, 0 = write",
    defined: "MQSim README, trace-based workloads; ASCII_Trace_Definition.h (read code 1)",
    lost: "fractions of the time unit; the device, since there can be only one; no trims; offset \
           and size must be multiples of 512; priority marks",
    delimiter: Delimiter::Blanks,
    time: TimeUnit::Ns,
    columns: &[Time(Decimals::None), IGNORED, ADDRESS, BLOCKS, BIT],
    words: Words::These(BITS),
    ends: true,
    sure: Sure::Never,
}

row! {
    Systor: &[("systor", || Format::Systor)], "SYSTOR '17 csv (SNIA; enterprise VDI)",
    named: "timestamp,response,iotype,lun,offset,size",
    units: "seconds with decimals, bytes, bytes; iotype: R, W or nothing",
    defined: "README of the SNIA download; Lee et al., SYSTOR 2017",
    lost: "the response time; no trims; priority marks",
    columns: &[
        Time(Decimals::Some), Text("", "a response time"), Column::Op("R, W or nothing"),
        Device("the number of the LUN"), BYTE_OFFSET, BYTES,
    ],
    // Without a response the operation was unknown to the recorder.
    words: Words::These(&[
        (b"R", Some(Op::Read)), (b"W", Some(Op::Write)), (b"", Some(Op::Other)),
    ]),
    header: Some(Header {
        begins: b"Timestamp,",
        written: Some(b"Timestamp,Response,IOType,LUN,Offset,Size"),
    }),
}

row! {
    Alibaba: &[("alibaba", || Format::Alibaba)], "Alibaba Cloud block traces (2020)",
    named: "device,opcode,offset,length,timestamp",
    units: "bytes, bytes, microseconds; opcode: R, W",
    defined: "README of alibaba/block-traces; Li et al., IISWC 2020",
    lost: "fractions of a microsecond; no trims; priority marks",
    time: TimeUnit::Us,
    columns: &[
        NUMBERED, Column::Op("R or W"), BYTE_OFFSET, Size(1, "a length in bytes"),
        Time(Decimals::None),
    ],
    words: Words::These(LETTERS),
    header: Some(Header { begins: b"device_id,", written: None }),
}

row! {
    Tencent: &[("tencent", || Format::Tencent)], "Tencent CBS csv (SNIA; cloud block storage)",
    named: "timestamp,offset,size,iotype,volume",
    units: "whole seconds, sectors of 512 bytes, sectors; iotype: 0 = read, 1 = write",
    defined: "README of the SNIA download; Zhang et al., USENIX ATC 2020",
    lost: "fractions of a second; no trims; offset and size must be multiples of 512; \
           priority marks",
    columns: &[
        Time(Decimals::None), Offset(SECTOR, "an offset in sectors of 512 bytes"),
        Size(SECTOR, "a size in sectors of 512 bytes"), Column::Op("0 (read) or 1 (write)"),
        Device("the volume's number"),
    ],
    words: Words::These(&[(b"0", Some(Op::Read)), (b"1", Some(Op::Write))]),
    ends: true,
    header: Some(Header { begins: b"Timestamp,", written: None }),
    // Five bare numbers fit other formats too.
    sure: Sure::By(b"Timestamp,Offset,Size,IOType,VolumeID"),
}

row! {
    FlashSim: &[("flashsim", || Format::FlashSim)],
    "FlashSim ASCII: as DiskSim's, sizes in 4 KiB",
    named: "time device sector pages flags",
    units: "milliseconds with decimals, sectors of 512 bytes, pages of 4096 bytes; bit 0 of the \
            flags: 1 = read",
    defined: "by the traces that come with FlashSim (Penn State), compared with their originals",
    lost: "no trims; the offset must be a multiple of 512, the size of 4096; priority marks",
    delimiter: Delimiter::Blanks,
    time: TimeUnit::Ms,
    columns: &[
        Time(Decimals::Some), NUMBERED, ADDRESS, Size(PAGE, "a size in pages of 4096 bytes"), BIT,
    ],
    words: Words::OrFlags(BITS),
    ends: true,
    sure: Sure::Never,
}

row! {
    Heimdall: &[("heimdall", || Format::Heimdall)],
    "Heimdall, FlashNet and their replayer: five numbers, in bytes",
    named: "time device offset size op",
    units: "milliseconds with decimals, bytes, bytes; op: 1 = read, 0 = write",
    defined: "README of the block replayer (huaicheng/replayer) that Heimdall and IODA use",
    lost: "no trims; priority marks",
    delimiter: Delimiter::Blanks,
    time: TimeUnit::Ms,
    columns: &[Time(Decimals::Some), NUMBERED, BYTE_OFFSET, BYTES, BIT],
    words: Words::These(BITS),
    ends: true,
    sure: Sure::Never,
}

row! {
    DiskMon: &[("diskmon", || Format::DiskMon)], "DiskMon log (Sysinternals)",
    named: "number time duration disk request sector length",
    units: "seconds with decimals, sectors of 512 bytes, sectors; request: Read, Write",
    defined: "the columns of DiskMon's window, which it saves between tabs",
    lost: "",
    delimiter: Delimiter::Tab,
    columns: &[
        Number("the row's number"), Time(Decimals::Some), Text("", "a duration"),
        Device("the disk's number"), Column::Op("Read or Write"),
        Offset(SECTOR, "a sector of 512 bytes"), Size(SECTOR, "a length in sectors of 512 bytes"),
    ],
    words: Words::These(READ_WRITE),
}

row! {
    HfPlayer: &[("hfplayer", || Format::HfPlayer)],
    "hfplayer csv (CRIS, University of Minnesota)",
    named: "dump_offset,elapsed_usecs,elapsed_ticks,cmd,inflight,ts,seqid,lun_ssid,op,phase,lba,\
              nblks,latency_ticks,host_id,host_lun,latency_usecs",
    units: "microseconds with decimals, blocks of 512 bytes, blocks; cmd: RD_IN, WR_IN",
    defined: "hfplayer 3.0, HFParsed.cc and the header line of its traces",
    lost: "",
    time: TimeUnit::Us,
    columns: &[
        Number("a place in the dump"), Time(Decimals::Some), Text("", "a time in ticks"),
        Column::Op("RD_IN or WR_IN"), Text("", "requests in flight"), Text("", "a time stamp"),
        Text("", "a sequence number"), Device("the LUN's number"),
        Text("", "the operation's number"), Text("", "a phase"), ADDRESS, BLOCKS,
    ],
    // A response does not count: its request has a row of its own.
    words: Words::These(&[
        (b"RD_IN", Some(Op::Read)), (b"WR_IN", Some(Op::Write)), (b"RD_OUT", None),
        (b"WR_OUT", None), (b"RD", Some(Op::Read)), (b"WR", Some(Op::Write)),
    ]),
}
