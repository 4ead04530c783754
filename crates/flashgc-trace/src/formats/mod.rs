//! The formats. Adding one: a row in `table.rs`, or where it has logic of its own, a file here and
//! its `mod` line; and a line in the list below.

use crate::fields::TimeUnit;
use crate::format::FormatInfo;
use crate::formats::delimited::{Delimited, Layout};
use crate::rows::{IntoParser, Parser};
use crate::write::RecordWriter;

mod biotracer;
pub(crate) mod blkparse;
pub(crate) mod blkreplay;
mod blktrace;
mod cloudphysics;
pub(crate) mod csv;
mod csv_header;
mod csv_spec;
mod delimited;
pub(crate) mod etw;
mod fgt;
pub(crate) mod fio;
mod fiu;
pub(crate) mod ftrace;
mod oracle;
mod scsi;
mod srt;
mod table;
mod vscsi;
mod wiscsee;

/// A part of a format: `[ROW]` is a row of the table, whose option is the unit of its times, and a
/// name is a file, which has `INFO`, `reader(option)`, `writer(option)`, and, if it has an option,
/// `option_text(option)`.
macro_rules! part {
    // A static, since crates that name a constant compile its readers again.
    (info [$row:ident]) => {{
        static INFO: FormatInfo = <table::$row as Layout>::ROW.info;
        &INFO
    }};
    (info $module:ident) => { &$module::INFO };
    (reader [$row:ident]) => { Delimited::usual(table::$row) };
    (reader [$row:ident] $time:ident) => { Delimited::with(table::$row, *$time) };
    (reader $module:ident $($option:ident)?) => { $module::reader($($option)?) };
    (writer [$row:ident] $($time:ident)?) => { part!(reader [$row] $($time)?).writer() };
    (writer $module:ident $($option:ident)?) => { $module::writer($($option)?) };
    // The name of a row implies its unit.
    (text [$row:ident] $time:ident) => {{
        let _ = $time;
        None
    }};
    (text $module:ident $option:ident) => { $module::option_text($option) };
}

/// Makes the enum and its tables from one list.
macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident $(($option:ident: $type:ty))? => $place:tt;)*) => {
        /// A trace format, with its option if it has one.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Format {
            $($(#[$doc])* $variant $(($type))?,)*
        }

        impl Format {
            /// The descriptions of all formats, in the order of the manual.
            pub const ALL: &'static [&'static FormatInfo] = &[$(part!(info $place)),*];

            /// The description of this format.
            pub fn info(&self) -> &'static FormatInfo {
                match self {
                    $(Format::$variant $(($option))? => {
                        $(let _ = $option;)?
                        part!(info $place)
                    })*
                }
            }

            /// Reads its rows.
            pub fn parser(&self) -> Parser {
                match self {
                    $(Format::$variant $(($option))? => {
                        part!(reader $place $($option)?).into_parser()
                    })*
                }
            }

            /// Writes its records, if it can be written.
            pub(crate) fn record_writer(&self) -> Option<RecordWriter> {
                match self {
                    $(Format::$variant $(($option))? => {
                        part!(writer $place $($option)?).map(RecordWriter::from)
                    })*
                }
            }

            /// Its option as text, where the name alone does not imply it.
            pub(crate) fn option_text(&self) -> Option<String> {
                match self {
                    $(Format::$variant $(($option))? => {
                        let text: Option<String> = None;
                        $(let text = text.or(part!(text $place $option));)?
                        text
                    })*
                }
            }
        }
    };
}

formats! {
    /// MSR Cambridge csv.
    Msr => [Msr];
    /// SPC, the storage performance council's trace file.
    Spc => [Spc];
    /// DiskSim's ASCII trace.
    DiskSim => [DiskSim];
    /// SSDSim's ASCII trace, with the unit of its times.
    SsdSim(unit: TimeUnit) => [SsdSim];
    /// MQSim's ASCII trace, with the unit of its times.
    MqSim(unit: TimeUnit) => [MqSim];
    /// Text made by blkparse, with the event that is taken.
    Blkparse(action: blkparse::Action) => blkparse;
    /// Events of Linux as text, with the event that is taken.
    Ftrace(event: ftrace::Event) => ftrace;
    /// A load of blkreplay.
    Blkreplay => blkreplay;
    /// SYSTOR '17 csv.
    Systor => [Systor];
    /// Alibaba block traces.
    Alibaba => [Alibaba];
    /// Tencent CBS csv.
    Tencent => [Tencent];
    /// CloudPhysics csv.
    CloudPhysics => cloudphysics;
    /// The traces of FIU.
    Fiu => fiu;
    /// An iolog of fio, with the meaning of its waits.
    Fio(waits: fio::Waits) => fio;
    /// FlashSim's ASCII trace.
    FlashSim => [FlashSim];
    /// Heimdall's and FlashNet's ASCII trace.
    Heimdall => [Heimdall];
    /// A log of DiskMon.
    DiskMon => [DiskMon];
    /// The traces of BIOtracer.
    BioTracer => biotracer;
    /// Disk events of Windows, with the time that counts.
    Etw(stamp: etw::Stamp) => etw;
    /// Events of WiscSee.
    WiscSee => wiscsee;
    /// A trace of hfplayer.
    HfPlayer => [HfPlayer];
    /// Records of blktrace, with the event that is taken.
    Blktrace(action: blkparse::Action) => blktrace;
    /// CloudPhysics' binary traces.
    Vscsi => vscsi;
    /// Binary traces of libCacheSim, with the bytes of a block.
    OracleGeneral(block: u64) => oracle;
    /// HP's traces.
    Srt => srt;
    /// Our own.
    Fgt => fgt;
    /// Columns named by the user.
    Csv(spec: csv_spec::CsvSpec) => csv;
}
