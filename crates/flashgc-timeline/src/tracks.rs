//! The tracks of a timeline.

use crate::packets::{Packets, Track};
use flashgc::device::Geometry;
use flashgc::ids::{BusId, UnitId};
use flashgc::plan::{Duplex, Plan};
use flashgc::workload::HostOp;
use std::io::{self, Write};

/// The tracks of a unit.
#[derive(Clone, Copy)]
pub(crate) struct UnitTracks {
    pub operations: Track,
    pub collection: Track,
    pub array: Track,
    pub register: Track,
    pub queue: Track,
}

/// The tracks of a plane that reads by itself.
#[derive(Clone, Copy)]
pub(crate) struct ReaderTracks {
    pub operations: Track,
    pub array: Track,
    pub register: Track,
}

/// All tracks.
pub(crate) struct Tracks {
    link: [Track; 2],
    pub outstanding: Track,
    pub free_blocks: Track,
    pub write_amplification: Track,
    requests: Track,
    slots: Vec<Option<Track>>,
    units: Vec<Option<UnitTracks>>,
    readers: Vec<Option<ReaderTracks>>,
    unit_of_reader: Vec<UnitId>,
    buses: Vec<Option<Track>>,
}

impl Tracks {
    /// The tracks of a device, of all its units or of some.
    pub fn new<W: Write>(
        packets: &mut Packets<W>,
        plan: &Plan,
        chosen: Option<&[u32]>,
    ) -> io::Result<Tracks> {
        let geometry = &plan.geometry;
        let is_chosen = |unit: u32| chosen.is_none_or(|chosen| chosen.contains(&unit));
        let about = "Each request from its arrival to its end, with its steps";
        let requests = packets.track(None, "requests", about)?;
        let link = link(packets, plan)?;
        let counters = packets.track(None, "drive", "")?;
        let about = "Requests that have arrived and are not done";
        let outstanding = packets.counter(counters, "requests under way", about)?;
        let about = "Erased blocks that are not open";
        let free_blocks = packets.counter(counters, "free blocks", about)?;
        let about = "Pages programmed for each page that the host wrote, since the measured part \
                     began; at the end of each collection";
        let write_amplification = packets.counter(counters, "write amplification", about)?;
        let all = packets.track(None, "buses", "")?;
        let has_unit = |bus: BusId| {
            let units = (0..geometry.units).filter(|&unit| is_chosen(unit));
            units.map(UnitId).any(|unit| geometry.bus_of(unit) == bus)
        };
        let mut buses = Vec::new();
        for bus in (0..geometry.shape.channels).map(BusId) {
            let name = format!("bus {}", bus.0);
            buses.push(match has_unit(bus) {
                true => Some(packets.track(Some(all), &name, "Transfers, one at a time")?),
                false => None,
            });
        }
        let all = packets.track(None, "units", "")?;
        let mut units = Vec::new();
        for unit in (0..geometry.units).map(UnitId) {
            units.push(match is_chosen(unit.0) {
                true => Some(UnitTracks::new(packets, all, geometry, unit)?),
                false => None,
            });
        }
        let mut readers = Vec::new();
        let parts = (geometry.units..geometry.units + geometry.readers).map(UnitId);
        for reader in parts.clone() {
            let above = units[geometry.whole_unit(reader).index()];
            readers.push(match above {
                Some(above) => Some(ReaderTracks::new(packets, above, geometry, reader)?),
                None => None,
            });
        }
        let slots = Vec::new();
        Ok(Tracks {
            link,
            outstanding,
            free_blocks,
            write_amplification,
            requests,
            slots,
            units,
            readers,
            unit_of_reader: parts.map(|part| geometry.whole_unit(part)).collect(),
            buses,
        })
    }

    /// The direction of the link that a request of this kind takes with its data.
    pub fn link(&self, op: HostOp) -> Track {
        self.link[usize::from(op == HostOp::Read)]
    }

    pub fn unit(&self, unit: UnitId) -> Option<UnitTracks> {
        self.units[unit.index()]
    }

    /// The unit of a unit or a reader, and the plane of a reader.
    pub fn place(&self, unit: UnitId) -> (UnitId, Option<u64>) {
        match unit.index().checked_sub(self.units.len()) {
            Some(plane) => (self.unit_of_reader[plane], Some(plane as u64)),
            None => (unit, None),
        }
    }

    /// The operations of a unit, or of one of its planes.
    pub fn operations(&self, unit: UnitId, plane: Option<u32>) -> Option<Track> {
        match plane {
            Some(plane) => self.readers[plane as usize].map(|tracks| tracks.operations),
            None => self.unit(unit).map(|tracks| tracks.operations),
        }
    }

    /// The array of a unit or of a reader, and the register.
    pub fn array_and_register(&self, unit: UnitId) -> Option<(Track, Track)> {
        if let Some(unit) = self.units.get(unit.index()) {
            return unit.map(|tracks| (tracks.array, tracks.register));
        }
        self.readers[unit.index() - self.units.len()].map(|tracks| (tracks.array, tracks.register))
    }

    pub fn bus(&self, bus: BusId) -> Option<Track> {
        self.buses[bus.index()]
    }

    /// The track of a place among the requests under way.
    pub fn slot<W: Write>(&mut self, packets: &mut Packets<W>, slot: u32) -> io::Result<Track> {
        let at = slot as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, None);
        }
        match self.slots[at] {
            Some(track) => Ok(track),
            None => {
                // Tracks of one name below one track are shown as one.
                let track = packets.track(Some(self.requests), "requests", "")?;
                self.slots[at] = Some(track);
                Ok(track)
            }
        }
    }
}

/// The tracks of the host's link to the device and to the host: one, unless it is full-duplex.
fn link<W: Write>(packets: &mut Packets<W>, plan: &Plan) -> io::Result<[Track; 2]> {
    let is_full = plan.front.host_link.is_some_and(|link| link.duplex == Duplex::Full);
    if is_full {
        let goes_in = packets.track(None, "host link in", "Data of writes on its way in")?;
        let comes_out = packets.track(None, "host link out", "Data of reads on its way out")?;
        return Ok([goes_in, comes_out]);
    }
    let about = "Data of requests on the link to the host";
    Ok([packets.track(None, "host link", about)?; 2])
}

impl UnitTracks {
    fn new<W: Write>(
        packets: &mut Packets<W>,
        all: Track,
        geometry: &Geometry,
        unit: UnitId,
    ) -> io::Result<UnitTracks> {
        let planes: Vec<_> =
            geometry.planes_of(unit).iter().map(|plane| plane.0.to_string()).collect();
        let name = format!("unit {}", unit.0);
        let bus = geometry.bus_of(unit).0;
        let about = format!("Operations, one at a time; bus {bus}, planes {}", planes.join(", "));
        let operations = packets.track(Some(all), &name, &about)?;
        let above = Some(operations);
        let about = "Each from the choice of its victim to its end";
        Ok(UnitTracks {
            operations,
            collection: packets.track(above, &format!("{name} collections"), about)?,
            array: packets.track(above, &format!("{name} array"), "Reads, programs and erases")?,
            register: packets.track(
                above,
                &format!("{name} register"),
                "Data going in or out over the bus",
            )?,
            queue: packets.counter(
                operations,
                &format!("{name} queue"),
                "Page operations that wait in the queue of the unit",
            )?,
        })
    }
}

impl ReaderTracks {
    fn new<W: Write>(
        packets: &mut Packets<W>,
        unit: UnitTracks,
        geometry: &Geometry,
        reader: UnitId,
    ) -> io::Result<ReaderTracks> {
        let plane = geometry.plane_of_reader(reader).unwrap_or(0);
        let name = format!("plane {plane} reads");
        let about = "Reads of this plane by itself, one at a time";
        let operations = packets.track(Some(unit.operations), &name, about)?;
        let above = Some(operations);
        Ok(ReaderTracks {
            operations,
            array: packets.track(above, &format!("plane {plane} array"), "Reads")?,
            register: packets.track(
                above,
                &format!("plane {plane} register"),
                "Data going out over the bus",
            )?,
        })
    }
}
