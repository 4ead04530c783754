//! The times that a device is described by.

use super::layers::LayerSpeed;
use super::page_times::ReadTimes;
use super::read_errors::RetryTimes;
use serde::Serialize;

/// The timing of a device, in ns, with the bus time already calculated for one page.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Timing {
    /// Array read (tR): the mean, where page types differ.
    pub read_ns: u64,
    /// Array read of a page that is copied, where it takes another time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_read_ns: Option<u64>,
    /// Array program (tPROG): of both passes, where there are two.
    pub program_ns: u64,
    /// Array erase (tBERS).
    pub erase_ns: u64,
    /// Bus time of one page.
    pub transfer_ns: u64,
    /// Bus time of one command.
    pub command_ns: u64,
    /// The cost of a block's summary, where blocks have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// The cost of suspending and resuming an operation, where the device can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<Suspend>,
    /// The differences between layers, if there are any: read and program are then the means over
    /// them.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub layer_speed: Option<LayerSpeed>,
    /// The read times of the page types, where they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_by_type_ns: Option<ReadTimes>,
    /// The cost of read retries, where reads have errors.
    #[serde(skip)]
    pub retry: Option<RetryTimes>,
    /// Whether programs may fail, and are made again in another page.
    #[serde(skip)]
    pub programs_fail: bool,
    /// The passes of a program, where there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<Passes>,
}

/// A word line is programmed in two passes (foggy-fine): its fine pass belongs to the program of a
/// later word line of its block, or to the program of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Passes {
    /// Array time of the coarse pass.
    pub coarse_ns: u64,
    /// Array time of the fine pass.
    pub fine_ns: u64,
    /// Word lines from a coarse pass back to the fine pass after it.
    pub lag: u32,
}

impl Passes {
    /// Number of fine passes that follow the coarse pass of word line `line`, in a block with
    /// `lines` word lines; `lines` exceeds the lag.
    #[inline]
    pub fn fine_after(&self, line: u32, lines: u32) -> u32 {
        u32::from(line >= self.lag) + if line + 1 == lines { self.lag } else { 0 }
    }
}

/// The cost of the commands suspend and resume, in ns of the array (paper preemptible-gc, section
/// IV-B). The suspended operation keeps its page buffer; an operation in between uses another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Suspend {
    /// From the command until the array is free.
    pub suspend_ns: u64,
    /// From the command until the array continues.
    pub resume_ns: u64,
    /// The rules by which reads suspend programs of the host, where they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_programs: Option<HostPrograms>,
}

/// The rules by which a read of the host suspends a program of the host in its unit (Wu and He,
/// "Reducing SSD read latency via NAND flash program and erase suspension", FAST 2012).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HostPrograms {
    /// A program whose array time left is at most this runs to its end.
    pub min_left_ns: u64,
    /// The most suspensions of one program.
    pub most_suspends: u32,
}

/// The cost of the summary that a block gets as soon as its last page of data is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Its pages.
    pub pages: u32,
    /// Bus time of one of them, in ns.
    pub transfer_ns: u64,
    /// Array time of all of them, in ns.
    #[serde(skip)]
    pub array_ns: u64,
    /// Whether the copy that fills a block pays for it, as a write of the host always does.
    pub timed_copies: bool,
}

impl Timing {
    /// Zero times for all operations.
    pub const NONE: Timing = Timing {
        read_ns: 0,
        copy_read_ns: None,
        program_ns: 0,
        erase_ns: 0,
        transfer_ns: 0,
        command_ns: 0,
        summary: None,
        suspend: None,
        layer_speed: None,
        read_by_type_ns: None,
        retry: None,
        programs_fail: false,
        passes: None,
    };

    /// The times of collections and background tasks, whose reads may take another time.
    #[must_use]
    pub fn of_copies(self) -> Timing {
        match self.copy_read_ns {
            Some(read_ns) => Timing { read_ns, read_by_type_ns: None, ..self },
            None => self,
        }
    }

    /// The rules by which reads suspend programs of the host, where they do.
    pub fn host_programs(&self) -> Option<HostPrograms> {
        self.suspend.and_then(|cost| cost.host_programs)
    }

    /// Whether copies may have to write summaries.
    pub fn times_summaries_of_copies(&self) -> bool {
        self.summary.is_some_and(|summary| summary.timed_copies)
    }
}

#[cfg(test)]
mod tests {
    use super::Passes;

    #[test]
    fn every_word_line_has_one_fine_pass() {
        for (lag, expected) in [(0, [1, 1, 1, 1]), (1, [0, 1, 1, 2]), (3, [0, 0, 0, 4])] {
            let passes = Passes { coarse_ns: 1, fine_ns: 1, lag };
            assert_eq!([0, 1, 2, 3].map(|line| passes.fine_after(line, 4)), expected, "lag {lag}");
        }
    }
}
