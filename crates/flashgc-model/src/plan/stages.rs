//! What requests of the host and their pages pass on their way, and the slots of the events.

use super::{Additions, Jitter, Plan};
use crate::device::BusOrder;
use crate::event::{Slot, Slots};
use flashgc_config::units::Rate;

/// What requests and their pages pass on their way that takes time, in the order in which the
/// events of one instant leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The host's half-duplex link: a transfer has ended.
    Link,
    /// The direction to the device of a full-duplex link.
    LinkIn,
    /// The direction to the host of a full-duplex link.
    LinkOut,
    /// The firmware: a command is handled.
    Firmware,
    /// The write buffer: an access has ended.
    Buffer,
}

impl Stage {
    /// All stages, by number.
    pub const ALL: [Stage; 5] =
        [Stage::Link, Stage::LinkIn, Stage::LinkOut, Stage::Firmware, Stage::Buffer];

    /// Its name, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Link => "host_link",
            Stage::LinkIn => "host_link_in",
            Stage::LinkOut => "host_link_out",
            Stage::Firmware => "firmware",
            Stage::Buffer => "write_buffer",
        }
    }

    /// The slot of its events.
    pub fn slot(self) -> Slot {
        Slot::Stage(self as u8)
    }
}

/// How requests come in and are done, as the device has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Front {
    /// The host's link, where there is one.
    pub host_link: Option<HostLink>,
    /// The places of the device, where the number of requests in it is bounded.
    pub places: Option<Places>,
    /// The firmware, where it takes time.
    pub firmware: Option<Firmware>,
    /// When a write of the host is done.
    pub write_completion: WriteCompletion,
    /// Which of the transfers that wait is next on a bus.
    pub bus_order: BusOrder,
    /// The order of the consequences when several operations end at one instant.
    pub completions: Completions,
}

impl Front {
    /// The same without a stage that takes no time, since nothing may depend on which it is.
    #[must_use]
    pub fn in_time(self) -> Self {
        Front {
            host_link: self.host_link.filter(HostLink::takes_time),
            firmware: self.firmware.filter(Firmware::takes_time),
            ..self
        }
    }
}

/// A link between host and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLink {
    /// How long a request's bytes take to cross it, in either direction.
    pub rate: Rate,
    /// Whether both directions transfer at once.
    pub duplex: Duplex,
    /// The jitter of each transfer.
    pub jitter: Jitter,
}

impl HostLink {
    /// The stages of the directions to the device and to the host.
    pub fn stages(self) -> [Stage; 2] {
        match self.duplex {
            Duplex::Half => [Stage::Link; 2],
            Duplex::Full => [Stage::LinkIn, Stage::LinkOut],
        }
    }

    /// Whether any transfer takes time.
    fn takes_time(&self) -> bool {
        !self.rate.is_zero() || !self.jitter.is_nothing()
    }

    /// The additions to the transfers of a run with this seed: to the device, and to the host.
    pub fn additions(self, seed: u64) -> [Additions; 2] {
        let streams = ["link jitter in", "link jitter out"];
        streams.map(|stream| Additions::new(self.jitter, seed, stream))
    }
}

/// The directions in which a link transfers at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    /// One transfer at a time, in either direction.
    #[default]
    Half,
    /// One transfer at a time in each direction.
    Full,
}

/// The order in which requests that wait outside come in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueOrder {
    /// That of their arrival.
    #[default]
    Arrival,
    /// By address, upwards from the last one that came in, and then from the lowest.
    Address,
    /// Each job has a queue, from which as many come in by turns as its weight says.
    RoundRobin,
}

/// The places of a device that holds a bounded number of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Their number.
    pub count: u32,
    /// Who takes one that is free.
    pub order: QueueOrder,
}

/// When a write of the host is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteCompletion {
    /// When its page is programmed.
    #[default]
    Programmed,
    /// When its data is in the register and the program begins.
    Loaded,
}

impl WriteCompletion {
    /// By reference, as serialisation needs it.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub fn is_default(&self) -> bool {
        *self == WriteCompletion::Programmed
    }
}

/// The order of the consequences when several operations end at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Completions {
    /// Each end has its consequences before the next one.
    #[default]
    OneByOne,
    /// All operations that end at an instant have ended before a unit starts another, and what
    /// waits in the device starts before a request that waits outside comes in.
    Together,
}

/// The firmware of a device: each command takes time on one of its cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Firmware {
    /// Time of a command, in ns.
    pub command_ns: u64,
    /// Commands that are handled at once.
    pub cores: u32,
    /// The jitter of each command.
    #[serde(skip_serializing_if = "Jitter::is_nothing")]
    pub jitter: Jitter,
}

impl Firmware {
    /// Whether any command takes time.
    fn takes_time(&self) -> bool {
        self.command_ns > 0 || !self.jitter.is_nothing()
    }

    /// The additions to the commands of a run with this seed, in the order in which they begin.
    pub fn additions(&self, seed: u64) -> Additions {
        Additions::new(self.jitter, seed, "firmware jitter")
    }
}

/// By reference, as serialisation needs it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_true(flag: &bool) -> bool {
    *flag
}

/// When the pages of a write buffer go to flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// One for each write that finds no place.
    #[default]
    WhenFull,
    /// As soon as they fill a program: at once where that is of one page.
    AtOnce,
}

impl Drain {
    /// By reference, as serialisation needs it.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_default(&self) -> bool {
        *self == Drain::WhenFull
    }
}

/// A write buffer in front of the translation layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct WriteBuffer {
    /// Pages of its capacity.
    pub pages: u32,
    /// Time of one access to a page, in ns.
    pub access_ns: u64,
    /// Whether its pages survive a loss of power, so that a flush has nothing to do.
    #[serde(skip_serializing_if = "is_true", rename = "power_loss_protection")]
    pub is_protected: bool,
    /// When its pages go to flash.
    #[serde(skip_serializing_if = "Drain::is_default", rename = "flush")]
    pub drain: Drain,
    /// Whether pages go to flash while the host is idle as well. The slot *background* decides it,
    /// not the device.
    #[serde(skip)]
    pub flushes_when_idle: bool,
}

impl Plan {
    /// The slots of the events: units and readers, buses, and the further parts of the device
    /// and the host.
    pub fn event_slots(&self) -> Slots {
        let geometry = &self.geometry;
        let has = [self.jobs.has_limits(), self.gc.idle.is_some(), self.has_seconds()];
        let has_stage = Stage::ALL.map(|stage| self.has_stage(stage));
        Slots::new(geometry.units + geometry.readers, geometry.shape.channels, &has_stage, has)
    }

    /// Whether the drive has this stage.
    fn has_stage(&self, stage: Stage) -> bool {
        match stage {
            Stage::Link | Stage::LinkIn | Stage::LinkOut => {
                self.front.host_link.is_some_and(|link| link.stages().contains(&stage))
            }
            Stage::Firmware => self.front.firmware.is_some(),
            Stage::Buffer => self.write_buffer.is_some(),
        }
    }

    /// Whether a stage of the host may hold page operations.
    pub fn holds_operations(&self) -> bool {
        self.has_stage(Stage::Buffer)
    }
}
