//! The formats. Adding one: its file here, a `mod` line, and a line in the list below.

use crate::fields::TimeUnit;
use crate::format::FormatInfo;
use crate::rows::{IntoParser, Parser};
use crate::write::RecordWriter;

mod alibaba;
mod biotracer;
pub(crate) mod blkparse;
pub(crate) mod blkreplay;
mod blktrace;
mod cloudphysics;
pub(crate) mod csv;
mod csv_spec;
mod diskmon;
mod disksim;
pub(crate) mod etw;
mod fgt;
pub(crate) mod fio;
mod fiu;
mod five;
mod flashsim;
mod heimdall;
mod hfplayer;
mod mqsim;
mod msr;
mod scsi;
mod spc;
mod srt;
mod ssdsim;
mod systor;
mod tencent;
mod vscsi;
mod wiscsee;

/// Makes the enum and its tables from one list. A format's file has
/// `INFO`, `reader(option)`, `writer(option)`, and, if it has an option, `option_text(option)`.
macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident $(($option:ident: $type:ty))? => $module:ident;)*) => {
        /// A trace format, with its option if it has one.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Format {
            $($(#[$doc])* $variant $(($type))?,)*
        }

        impl Format {
            /// What every format says of itself, in the order of the manual.
            pub const ALL: &'static [&'static FormatInfo] = &[$(&$module::INFO),*];

            /// What this format says of itself.
            pub fn info(&self) -> &'static FormatInfo {
                match self {
                    $(Format::$variant $(($option))? => {
                        $(let _ = $option;)?
                        &$module::INFO
                    })*
                }
            }

            /// Reads its rows.
            pub fn parser(&self) -> Parser {
                match self {
                    $(Format::$variant $(($option))? => {
                        $module::reader($($option)?).into_parser()
                    })*
                }
            }

            /// Writes its records, if it can be written.
            pub(crate) fn record_writer(&self) -> Option<RecordWriter> {
                match self {
                    $(Format::$variant $(($option))? => {
                        $module::writer($($option)?).map(RecordWriter::from)
                    })*
                }
            }

            /// Its option as text, where the name alone does not imply it.
            pub(crate) fn option_text(&self) -> Option<String> {
                match self {
                    $(Format::$variant $(($option))? => {
                        let text: Option<String> = None;
                        $(let text = text.or($module::option_text($option));)?
                        text
                    })*
                }
            }
        }
    };
}

formats! {
    /// MSR Cambridge csv.
    Msr => msr;
    /// SPC, the storage performance council's trace file.
    Spc => spc;
    /// DiskSim's ASCII trace.
    DiskSim => disksim;
    /// SSDSim's ASCII trace, with the unit of its times.
    SsdSim(unit: TimeUnit) => ssdsim;
    /// MQSim's ASCII trace, with the unit of its times.
    MqSim(unit: TimeUnit) => mqsim;
    /// Text made by blkparse, with the event that is taken.
    Blkparse(action: blkparse::Action) => blkparse;
    /// A load of blkreplay.
    Blkreplay => blkreplay;
    /// SYSTOR '17 csv.
    Systor => systor;
    /// Alibaba block traces.
    Alibaba => alibaba;
    /// Tencent CBS csv.
    Tencent => tencent;
    /// CloudPhysics csv.
    CloudPhysics => cloudphysics;
    /// The traces of FIU.
    Fiu => fiu;
    /// An iolog of fio, with what its waits mean.
    Fio(waits: fio::Waits) => fio;
    /// FlashSim's ASCII trace.
    FlashSim => flashsim;
    /// Heimdall's and FlashNet's ASCII trace.
    Heimdall => heimdall;
    /// A log of DiskMon.
    DiskMon => diskmon;
    /// The traces of BIOtracer.
    BioTracer => biotracer;
    /// Disk events of Windows, with the time that counts.
    Etw(stamp: etw::Stamp) => etw;
    /// Events of WiscSee.
    WiscSee => wiscsee;
    /// A trace of hfplayer.
    HfPlayer => hfplayer;
    /// What blktrace records, with the event that is taken.
    Blktrace(action: blkparse::Action) => blktrace;
    /// CloudPhysics' binary traces.
    Vscsi => vscsi;
    /// HP's traces.
    Srt => srt;
    /// Our own.
    Fgt => fgt;
    /// Columns named by the user.
    Csv(spec: csv_spec::CsvSpec) => csv;
}
