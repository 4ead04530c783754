//! Superblocks: the planes of a part share their blocks.
//!
//! The blocks of the same number in these planes, the *lanes*, are one block: its first pages are
//! the first program of each lane, then come the second ones. So the translation layer and the
//! collector see one plane of larger blocks, as they do with planes in step. Unlike those, lanes
//! may lie in several units, each of which works by itself: which one follows from the page.

use super::geometry::{Geometry, Level, Shape};
use crate::ids::{BusId, Divisor, PlaneId, Ppn, UnitId};
use serde::Serialize;

/// The part whose planes share their blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Superblock {
    /// Each plane has blocks of its own.
    #[default]
    Plane,
    /// The planes of a die.
    Die,
    /// The planes of a chip.
    Chip,
    /// The planes of a channel.
    Channel,
    /// All planes.
    Drive,
}

impl Superblock {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, Superblock); 5] = [
        ("plane", Superblock::Plane),
        ("die", Superblock::Die),
        ("chip", Superblock::Chip),
        ("channel", Superblock::Channel),
        ("drive", Superblock::Drive),
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// Whether each plane has blocks of its own. By reference, as serialisation needs it.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn is_none(&self) -> bool {
        *self == Superblock::Plane
    }

    /// The level of the part; none where it is the drive.
    pub fn level(self) -> Option<Level> {
        match self {
            Superblock::Plane => Some(Level::Plane),
            Superblock::Die => Some(Level::Die),
            Superblock::Chip => Some(Level::Chip),
            Superblock::Channel => Some(Level::Channel),
            Superblock::Drive => None,
        }
    }
}

const LEVELS: [Level; 4] = [Level::Channel, Level::Chip, Level::Die, Level::Plane];

impl Shape {
    /// The device in the units of the map where the planes of such a part share their blocks: they
    /// are one plane of larger blocks.
    #[must_use]
    pub fn in_superblocks(&self, superblock: Superblock) -> Shape {
        let lanes = self.lanes_of(superblock) as u32;
        Shape { pages_per_block: self.pages_per_block * lanes, superblock, lanes, ..self.clone() }
    }

    /// The planes of such a part.
    pub fn lanes_of(&self, superblock: Superblock) -> u64 {
        let level = superblock.level();
        let inside = LEVELS.into_iter().filter(|&inner| level.is_none_or(|level| inner > level));
        inside.map(|level| u64::from(self.count(level))).product()
    }

    /// The number of a page in its lane, from its number in a superblock.
    #[inline(always)]
    pub fn page_of_lane(&self, page: u32) -> u32 {
        let slots = self.program_slots;
        page / (slots * self.lanes) * slots + page % slots
    }

    /// The device with the planes and blocks that it was given: each plane has its part of the user
    /// pages of those that stand for one.
    #[must_use]
    pub fn by_planes(&self) -> Shape {
        let planes = self.planes_in_step;
        Shape {
            exported_pages_per_plane: self.exported_pages_per_plane / planes / self.lanes,
            planes_per_die: self.planes_per_die * planes,
            pages_per_block: self.pages_per_block / planes / self.lanes,
            pages_per_program: self.pages_per_program / planes,
            multi_plane: self.multi_plane * planes,
            lanes: 1,
            ..self.clone()
        }
    }
}

/// The lanes of every plane, and the units and buses of the lanes.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    by_lanes: Divisor,
    /// Pages that are programmed together: they lie in one lane.
    by_program: Divisor,
    /// The unit of each lane: lanes of a plane follow one another, in the order of striping.
    unit_of_lane: Vec<UnitId>,
    pub(super) bus_of_unit: Vec<BusId>,
}

impl Lanes {
    /// The lanes of a device, and for each plane the index of its part at each level: of planes
    /// that share their blocks, the part of the first.
    pub(super) fn of(shape: &Shape) -> (Lanes, [Vec<u32>; 4]) {
        let planes = shape.planes() as u32 * shape.lanes;
        let parts: Vec<[u32; 4]> = (0..planes).map(|plane| parts_of(shape, plane)).collect();
        let units = parts.iter().map(|parts| parts[shape.unit as usize] + 1).max().unwrap_or(0);
        let mut bus_of_unit = vec![BusId(0); units as usize];
        for parts in &parts {
            bus_of_unit[parts[shape.unit as usize] as usize] = BusId(parts[0]);
        }
        // In the order of striping, each part that is new is the next plane.
        let mut groups: Vec<(u32, Vec<[u32; 4]>)> = Vec::new();
        let mut group_of_part = vec![usize::MAX; planes as usize];
        for parts in parts {
            let part = shape.superblock.level().map_or(0, |level| parts[level as usize]);
            let group = &mut group_of_part[part as usize];
            if *group == usize::MAX {
                *group = groups.len();
                groups.push((part, Vec::new()));
            }
            groups[*group].1.push(parts);
        }
        let firsts = groups.iter().map(|(_, lanes)| lanes[0]);
        let part_of_plane = LEVELS.map(|level| firsts.clone().map(|p| p[level as usize]).collect());
        let lanes = groups.iter().flat_map(|(_, lanes)| lanes);
        let unit_of_lane = lanes.map(|parts| UnitId(parts[shape.unit as usize])).collect();
        let by_program = Divisor::new(shape.program_slots);
        let by_lanes = Divisor::new(shape.lanes);
        (Lanes { by_lanes, by_program, unit_of_lane, bus_of_unit }, part_of_plane)
    }

    /// Units of the device.
    pub(super) fn units(&self) -> u32 {
        self.bus_of_unit.len() as u32
    }
}

impl Geometry {
    /// Whether planes share their blocks.
    #[inline(always)]
    pub fn has_superblocks(&self) -> bool {
        self.lanes.by_lanes.value() > 1
    }

    /// Whether the operations of a plane wait in several queues: its planes read by themselves, or
    /// share their blocks.
    pub fn names_steps(&self) -> bool {
        self.readers > 0 || self.has_superblocks()
    }

    /// The number of these queues.
    pub fn steps_of_plane(&self) -> u32 {
        if self.has_superblocks() { self.lanes() } else { self.shape.planes_in_step }
    }

    /// Array operations that erase a block: one in each unit.
    #[inline(always)]
    pub fn erases_of_block(&self) -> u64 {
        if self.has_superblocks() { u64::from(self.units / self.planes) } else { 1 }
    }

    /// The planes that share the blocks of each plane.
    #[inline(always)]
    pub fn lanes(&self) -> u32 {
        self.lanes.by_lanes.value()
    }

    /// The lane of a physical page.
    #[inline(always)]
    pub fn lane_of(&self, ppn: Ppn) -> u32 {
        self.lanes.by_lanes.divide_with_rest(self.lanes.by_program.divide(ppn.0)).1
    }

    /// The unit of a lane.
    #[inline(always)]
    pub fn unit_of_lane(&self, plane: PlaneId, lane: u32) -> UnitId {
        self.lanes.unit_of_lane[(plane.0 * self.lanes() + lane) as usize]
    }

    /// The unit of a physical page.
    #[inline(always)]
    pub fn unit_of_page(&self, ppn: Ppn) -> UnitId {
        self.unit_of_lane(self.plane_of(ppn), self.lane_of(ppn))
    }

    /// The units of a plane, in order of number, each once.
    pub fn units_of(&self, plane: PlaneId) -> Vec<UnitId> {
        let lanes = (0..self.lanes()).map(|lane| self.unit_of_lane(plane, lane));
        let mut units: Vec<UnitId> = lanes.collect();
        units.sort_unstable();
        units.dedup();
        units
    }
}

/// The index of a plane's part at each level, counted through the device.
fn parts_of(shape: &Shape, plane: u32) -> [u32; 4] {
    let mut rest = plane;
    let mut at = [0; 4];
    for level in shape.order {
        at[level as usize] = rest % shape.count(level);
        rest /= shape.count(level);
    }
    let mut part = 0;
    LEVELS.map(|level| {
        part = part * shape.count(level) + at[level as usize];
        part
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockId;

    #[test]
    fn the_planes_of_a_part_are_one_plane_of_larger_blocks() {
        let shape = Shape::small(Level::Die).in_superblocks(Superblock::Chip);
        let geometry = Geometry::new(shape);
        assert_eq!((geometry.planes, geometry.units, geometry.blocks), (4, 4, 16));
        assert_eq!((geometry.lanes(), geometry.shape.pages_per_block), (2, 16));
        assert_eq!(geometry.units_of(PlaneId(1)), [UnitId(2)]);
    }

    #[test]
    fn pages_of_a_superblock_lie_in_its_planes_in_turn() {
        let shape = Shape::small(Level::Die).in_superblocks(Superblock::Drive);
        let geometry = Geometry::new(shape);
        assert_eq!((geometry.planes, geometry.units), (1, 4));
        let units: Vec<u32> = (0..9).map(|page| geometry.unit_of_page(Ppn(page)).0).collect();
        assert_eq!(units, [0, 2, 1, 3, 0, 2, 1, 3, 0]);
        assert_eq!(geometry.bus_of(UnitId(2)), BusId(1));
        assert_eq!(geometry.planes_of(UnitId(0)), [PlaneId(0)]);
        assert!(geometry.planes_of(UnitId(3)).is_empty());
        assert_eq!(geometry.block_of(Ppn(64)), BlockId(1));
        // A channel has two chips of two planes.
        let shape = Shape::small(Level::Die).in_superblocks(Superblock::Channel);
        let geometry = Geometry::new(shape);
        assert_eq!(geometry.units_of(PlaneId(1)), [UnitId(2), UnitId(3)]);
        assert_eq!(geometry.shape.by_planes().pages_per_block, 8);
    }

    #[test]
    fn planes_that_stand_for_one_have_its_user_pages_together() {
        let plane =
            Shape { planes_per_die: 2, exported_pages_per_plane: 20, ..Shape::small(Level::Die) };
        let alone = plane.pages_per_plane();
        let in_step = Shape { exported_pages_per_plane: 40, ..plane.in_step(2) };
        let joined =
            Shape { exported_pages_per_plane: 160, ..plane.in_superblocks(Superblock::Drive) };
        for shape in [in_step.by_planes(), joined.by_planes()] {
            assert_eq!((shape.exported_pages_per_plane, shape.pages_per_plane()), (20, alone));
        }
    }
}
