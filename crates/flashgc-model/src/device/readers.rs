//! Readers: the planes of a unit that read by themselves.
//!
//! A reader is numbered as a unit, behind the last one, so that the flash room gives it an
//! operation and a place at the bus as it gives them to a unit. Nothing else belongs to a reader:
//! collections and loads are those of the unit.

use super::Geometry;
use crate::ids::{Ppn, UnitId};

impl Geometry {
    /// The units, and behind them the readers, where planes read by themselves.
    pub fn units_and_readers(&self) -> impl Iterator<Item = UnitId> + use<> {
        (0..self.units + self.readers).map(UnitId)
    }

    /// Whether this is a reader, and not a unit.
    #[inline(always)]
    pub fn is_reader(&self, unit: UnitId) -> bool {
        unit.0 >= self.units
    }

    /// The reader of a physical page, where planes read by themselves.
    pub fn reader_of(&self, ppn: Ppn) -> UnitId {
        let in_step = self.shape.planes_in_step;
        let step = ppn.0 / self.shape.slots % in_step;
        UnitId(self.units + self.plane_of(ppn).0 * in_step + step)
    }

    /// The unit that a reader is a part of; a unit is its own.
    pub fn whole_unit(&self, unit: UnitId) -> UnitId {
        let reader = unit.0.checked_sub(self.units);
        reader.map_or(unit, |reader| self.unit_of_reader[reader as usize])
    }

    /// The number of a reader's plane among the planes of the device, those in step included; none
    /// of a unit.
    pub fn plane_of_reader(&self, unit: UnitId) -> Option<u32> {
        unit.0.checked_sub(self.units)
    }
}

#[cfg(test)]
mod tests {
    use crate::device::{Geometry, Level, Shape};
    use crate::ids::{Ppn, UnitId};

    #[test]
    fn each_plane_is_a_reader_behind_the_units() {
        let shape = Shape { independent_plane_reads: true, ..Shape::small(Level::Die) };
        let geometry = Geometry::new(shape);
        assert_eq!((geometry.units, geometry.readers), (4, 8));
        // Planes 0 and 4 lie in die 0, at bus 0.
        let page = Ppn(4 * 32);
        assert_eq!(geometry.reader_of(page), UnitId(4 + 4));
        assert_eq!(geometry.whole_unit(UnitId(8)), UnitId(0));
        assert_eq!(geometry.whole_unit(UnitId(3)), UnitId(3));
        assert_eq!(geometry.bus_of(UnitId(8)), geometry.bus_of(UnitId(0)));
        assert_eq!(geometry.plane_of_reader(UnitId(8)), Some(4));
        assert_eq!(geometry.plane_of_reader(UnitId(0)), None);
        assert!(geometry.is_reader(UnitId(4)) && !geometry.is_reader(UnitId(3)));
    }

    #[test]
    fn planes_in_step_read_each_by_itself() {
        let shape = Shape { independent_plane_reads: true, ..Shape::small(Level::Die) };
        let geometry = Geometry::new(shape.in_slots(4).in_step(2));
        assert_eq!((geometry.planes, geometry.readers), (4, 8));
        // The slots of a flash page, then the slots of the flash page with the same number in the
        // next plane.
        let readers: Vec<u32> = (0..12).map(|slot| geometry.reader_of(Ppn(slot)).0).collect();
        assert_eq!(readers, [4, 4, 4, 4, 5, 5, 5, 5, 4, 4, 4, 4]);
    }
}
