//! How long each phase of an operation takes.

use super::layers::LayerSpeed;
use super::unit::Phases;
use serde::Serialize;

/// The timing of a device, in ns, with the bus time already calculated for one page.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Timing {
    /// Array read (tR).
    pub read_ns: u64,
    /// Array program (tPROG).
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
    /// How the layers differ, where they do: read and program are then the means over them.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub layer_speed: Option<LayerSpeed>,
}

/// The cost of the commands suspend and resume, in ns of the array (paper preemptible-gc, section
/// IV-B). The suspended operation keeps its page buffer; an operation in between uses another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Suspend {
    /// From the command until the array is free.
    pub suspend_ns: u64,
    /// From the command until the array continues.
    pub resume_ns: u64,
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
    /// A read of one page in each of `planes` planes: commands, array once, transfers out.
    pub fn read(&self, planes: u32) -> Phases {
        let mut phases = Phases::new();
        phases.bus(self.command_ns * u64::from(planes));
        phases.array(self.read_ns);
        phases.bus(self.transfer_ns * u64::from(planes));
        phases
    }

    /// A program of one page in each of `planes` planes: commands and transfers in, array once.
    pub fn program(&self, planes: u32) -> Phases {
        let mut phases = Phases::new();
        phases.bus((self.command_ns + self.transfer_ns) * u64::from(planes));
        phases.array(self.program_ns);
        phases
    }

    /// A copyback of `pages` pages at once, each in its own data register.
    pub fn copyback(&self, pages: u32) -> Phases {
        let commands_ns = self.command_ns * u64::from(pages);
        let mut phases = Phases::new();
        phases.bus(commands_ns);
        phases.array(self.read_ns);
        phases.bus(commands_ns);
        phases.array(self.program_ns);
        phases
    }

    /// The halves of a copy of `pages` pages: the read and the program. Copies that leave the plane
    /// use the bus in both.
    pub fn halves(&self, pages: u32, by_copyback: bool) -> (Phases, Phases) {
        if !by_copyback {
            return (self.read(pages), self.program(pages));
        }
        let commands_ns = self.command_ns * u64::from(pages);
        let (mut read, mut program) = (Phases::new(), Phases::new());
        read.bus(commands_ns);
        read.array(self.read_ns);
        program.bus(commands_ns);
        program.array(self.program_ns);
        (read, program)
    }

    /// A copy over the bus: the page leaves the plane and comes back.
    pub fn copy_over_bus(&self) -> Phases {
        let mut phases = self.read(1);
        phases.bus(self.command_ns + self.transfer_ns);
        phases.array(self.program_ns);
        phases
    }

    /// Adds the summaries of the blocks that the last program of a row has filled: commands and
    /// transfers in, and one array time for each page. Their planes program together.
    pub fn add_summaries(&self, phases: &mut Phases, blocks: u32) {
        let Some(summary) = self.summary.filter(|_| blocks > 0) else { return };
        let pages = u64::from(summary.pages);
        phases.bus((self.command_ns + summary.transfer_ns) * pages * u64::from(blocks));
        phases.array(summary.array_ns);
    }

    /// Whether copies may have to write summaries.
    pub fn times_summaries_of_copies(&self) -> bool {
        self.summary.is_some_and(|summary| summary.timed_copies)
    }

    /// An erase of one extent.
    pub fn erase(&self) -> Phases {
        let mut phases = Phases::new();
        phases.bus(self.command_ns);
        phases.array(self.erase_ns);
        phases
    }
}
