//! The tracks of a timeline.

use crate::packets::{Packets, Track};
use flashgc::device::Geometry;
use flashgc::ids::{BusId, UnitId};
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

/// All tracks.
pub(crate) struct Tracks {
    pub link: Track,
    pub outstanding: Track,
    pub free_blocks: Track,
    pub write_amplification: Track,
    requests: Track,
    slots: Vec<Option<Track>>,
    units: Vec<Option<UnitTracks>>,
    buses: Vec<Option<Track>>,
}

impl Tracks {
    /// The tracks of a device, of all its units or of some.
    pub fn new<W: Write>(
        packets: &mut Packets<W>,
        geometry: &Geometry,
        chosen: Option<&[u32]>,
    ) -> io::Result<Tracks> {
        let is_chosen = |unit: u32| chosen.is_none_or(|chosen| chosen.contains(&unit));
        let about = "Each request from its arrival to its end, with its steps";
        let requests = packets.track(None, "requests", about)?;
        let link = packets.track(None, "host link", "Data of requests on the link to the host")?;
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
        let slots = Vec::new();
        Ok(Tracks {
            link,
            outstanding,
            free_blocks,
            write_amplification,
            requests,
            slots,
            units,
            buses,
        })
    }

    pub fn unit(&self, unit: UnitId) -> Option<UnitTracks> {
        self.units[unit.index()]
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
