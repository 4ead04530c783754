//! Where things are: planes, the units they belong to, and the buses that reach them.
//!
//! Planes are numbered in the order of striping, so that static allocation is `lpn mod planes`;
//! `order` defines which level changes fastest. Everything above the plane is a table lookup.

use super::kinds::Kinds;
use super::superblocks::{Lanes, Superblock};
use crate::ids::{BlockId, BusId, Divisor, Lpn, PlaneId, Ppn, UnitId};
use serde::Serialize;

/// A level of the device, from the largest part to the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// All chips on one bus.
    Channel,
    /// A package with one set of pins.
    Chip,
    /// A part of a chip that can work alone.
    Die,
    /// Blocks that share a data register.
    Plane,
}

impl Level {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, Level); 4] = [
        ("channel", Level::Channel),
        ("chip", Level::Chip),
        ("die", Level::Die),
        ("plane", Level::Plane),
    ];

    /// The word for this level.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// The counts that a configuration gives.
#[derive(Clone, Debug, Serialize)]
pub struct Shape {
    /// Channels, each with a bus.
    pub channels: u32,
    /// Chips on each channel.
    pub chips_per_channel: u32,
    /// Dies in each chip.
    pub dies_per_chip: u32,
    /// Planes in each die.
    pub planes_per_die: u32,
    /// Blocks in each plane.
    pub blocks_per_plane: u32,
    /// Blocks among them that the scheme adds to the device's.
    #[serde(skip)]
    pub extra_blocks: u32,
    /// Pages in each block. Where the mapping unit is a part of a flash page, a *page* is such a
    /// slot everywhere (see [`Shape::in_slots`]).
    pub pages_per_block: u32,
    /// The last of them, which hold a summary of the block and no data.
    #[serde(skip_serializing_if = "is_zero")]
    pub summary_pages: u32,
    /// Bytes of data in a page.
    pub page_bytes: u32,
    /// Mapped pages that one flash page holds, which are read together.
    #[serde(skip_serializing_if = "is_one")]
    pub slots: u32,
    /// Flash pages of a word line, which are programmed together.
    #[serde(skip_serializing_if = "is_one")]
    pub pages_per_program: u32,
    /// Mapped pages that are programmed together: the slots of these flash pages.
    #[serde(skip)]
    pub program_slots: u32,
    /// Mapped pages up to whose multiples programs are padded: 1 where none is.
    #[serde(skip)]
    pub padded_to: u32,
    /// The most programs that a collection pads at its end: one for each class of its copies.
    #[serde(skip)]
    pub padded_programs: u32,
    /// The part that one array operation keeps busy.
    pub unit: Level,
    /// Sub-blocks of each block, each of which can be erased without the others. Where a scheme
    /// erases them, they stand for the blocks everywhere (see [`Shape::in_sub_blocks`]).
    #[serde(skip_serializing_if = "is_one")]
    pub sub_blocks: u32,
    /// Layers of word lines in each block; 0 where the device does not define them.
    #[serde(skip_serializing_if = "is_zero")]
    pub layers: u32,
    /// Layers between two sub-blocks that hold no data where a scheme isolates them by hardware.
    #[serde(skip_serializing_if = "is_one")]
    pub isolation_layers: u32,
    /// The kinds of blocks.
    #[serde(skip)]
    pub kinds: Kinds,
    /// Data registers of each plane: the number of its pages that can move at once.
    #[serde(skip_serializing_if = "is_one")]
    pub registers: u32,
    /// Planes of one die that one array operation of the host may serve at once.
    pub multi_plane: u32,
    /// Planes of a die that work in step and stand for one plane everywhere (see
    /// [`Shape::in_step`]).
    #[serde(skip)]
    pub planes_in_step: u32,
    /// The part whose blocks of the same number are one block.
    #[serde(skip_serializing_if = "Superblock::is_none")]
    pub superblock: Superblock,
    /// Planes that share their blocks and stand for one plane everywhere (see
    /// [`Shape::in_superblocks`]).
    #[serde(skip)]
    pub lanes: u32,
    /// Whether each plane of a unit reads by itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub independent_plane_reads: bool,
    /// The order of striping, the fastest level first.
    pub order: [Level; 4],
    /// User pages of each plane.
    pub exported_pages_per_plane: u32,
}

/// Counts of one are omitted from the resolved configuration.
#[allow(clippy::trivially_copy_pass_by_ref)]
pub fn is_one(count: &u32) -> bool {
    *count == 1
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Shape {
    /// Pages of a block that hold data; blocks of some kinds have fewer
    /// ([`Geometry::data_pages_of`]).
    #[inline(always)]
    pub fn data_pages(&self) -> u32 {
        self.pages_per_block - self.summary_pages
    }

    /// Pages of one plane that hold data.
    pub fn data_pages_per_plane(&self) -> u64 {
        u64::from(self.blocks_per_plane) * u64::from(self.data_pages())
            - self.kinds.lost_pages_of_plane(self.blocks_per_plane)
    }

    /// Pages of the block with the fewest that hold data.
    pub fn fewest_data_pages(&self) -> u32 {
        self.data_pages() - self.kinds.most_lost_pages()
    }

    /// Data pages in this number of blocks, rounded up where blocks differ.
    #[inline]
    pub fn pages_of_blocks(&self, blocks: u64) -> u64 {
        match self.kinds {
            Kinds::One => blocks * u64::from(self.data_pages()),
            _ => (blocks * self.data_pages_per_plane()).div_ceil(self.blocks_per_plane.into()),
        }
    }

    /// Mapped pages that one array read can serve: the slots of a flash page of each plane in step.
    #[inline]
    pub fn read_slots(&self) -> u32 {
        self.slots * self.planes_in_step
    }

    /// Whether a program joins pages, and this is its last one.
    #[inline(always)]
    pub fn ends_program(&self, page: Ppn) -> bool {
        self.program_slots > 1 && (page.0 + 1).is_multiple_of(self.program_slots)
    }

    /// Pages of the program of this page that begin with it: 1 where a program joins none.
    #[inline(always)]
    pub fn left_of_program(&self, page: Ppn) -> u32 {
        self.program_slots - page.0 % self.program_slots
    }

    /// The device in the units of a scheme that erases whole blocks.
    #[must_use]
    pub fn in_blocks(&self) -> Shape {
        Shape { sub_blocks: 1, ..self.clone() }
    }

    /// The shape without the blocks that a scheme adds.
    #[must_use]
    pub fn without_extra(&self) -> Shape {
        let blocks_per_plane = self.blocks_per_plane - self.extra_blocks;
        Shape { blocks_per_plane, extra_blocks: 0, ..self.clone() }
    }

    /// Planes of the device; those that share their blocks count as one.
    pub fn planes(&self) -> u64 {
        let counts =
            [self.channels, self.chips_per_channel, self.dies_per_chip, self.planes_per_die];
        counts.iter().map(|&n| u64::from(n)).product::<u64>() / u64::from(self.lanes)
    }

    /// Physical pages of one plane.
    pub fn pages_per_plane(&self) -> u64 {
        u64::from(self.blocks_per_plane) * u64::from(self.pages_per_block)
    }

    /// A small device with this unit of parallel operations, for examples and tests.
    pub fn small(unit: Level) -> Shape {
        Shape {
            channels: 2,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 4,
            extra_blocks: 0,
            pages_per_block: 8,
            summary_pages: 0,
            sub_blocks: 1,
            layers: 0,
            isolation_layers: 1,
            kinds: Kinds::One,
            page_bytes: 4096,
            slots: 1,
            pages_per_program: 1,
            program_slots: 1,
            padded_to: 1,
            padded_programs: 1,
            unit,
            registers: 1,
            multi_plane: 1,
            planes_in_step: 1,
            superblock: Superblock::Plane,
            lanes: 1,
            independent_plane_reads: false,
            order: [Level::Channel, Level::Chip, Level::Die, Level::Plane],
            exported_pages_per_plane: 20,
        }
    }

    pub(super) fn count(&self, level: Level) -> u32 {
        match level {
            Level::Channel => self.channels,
            Level::Chip => self.chips_per_channel,
            Level::Die => self.dies_per_chip,
            Level::Plane => self.planes_per_die,
        }
    }
}

/// The derived geometry: counts, and tables from each plane to its parts.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// The configured shape.
    pub shape: Shape,
    /// Planes of the device.
    pub planes: u32,
    /// Units of the device.
    pub units: u32,
    /// The planes that read by themselves, where they do: each is a *reader*, numbered behind the
    /// units. Those of planes in step follow each other.
    pub readers: u32,
    /// Blocks of the device.
    pub blocks: u32,
    /// Physical pages of the device.
    pub pages: u32,
    /// Those of them that hold data.
    pub data_pages: u64,
    /// User pages.
    pub exported_pages: u32,
    by_planes: Divisor,
    by_pages_per_block: Divisor,
    by_blocks_per_plane: Divisor,
    /// For each plane, the index of its part at each level.
    part_of_plane: [Vec<u32>; 4],
    unit_of_plane: Vec<UnitId>,
    bus_of_unit: Vec<BusId>,
    units_of_bus: Vec<Vec<UnitId>>,
    pub(super) unit_of_reader: Vec<UnitId>,
    planes_of_unit: Vec<Vec<PlaneId>>,
    pub(super) lanes: Lanes,
}

impl Geometry {
    /// Derives the tables. The plan has checked that every count fits 32 bits.
    pub fn new(shape: Shape) -> Self {
        let planes = shape.planes() as u32;
        let (lanes, part_of_plane) = Lanes::of(&shape);
        let unit_of_plane: Vec<UnitId> =
            part_of_plane[shape.unit as usize].iter().map(|&u| UnitId(u)).collect();
        let units = lanes.units();
        let mut planes_of_unit = vec![Vec::new(); units as usize];
        for plane in 0..planes {
            planes_of_unit[unit_of_plane[plane as usize].index()].push(PlaneId(plane));
        }
        let mut bus_of_unit = lanes.bus_of_unit.clone();
        let mut units_of_bus = vec![Vec::new(); shape.channels as usize];
        for (unit, bus) in bus_of_unit.iter().enumerate() {
            units_of_bus[bus.index()].push(UnitId(unit as u32));
        }
        let mut unit_of_reader = Vec::new();
        if shape.independent_plane_reads {
            let in_step = shape.planes_in_step as usize;
            unit_of_reader.extend(unit_of_plane.iter().flat_map(|&unit| vec![unit; in_step]));
            let buses = unit_of_reader.iter().map(|unit| bus_of_unit[unit.index()]);
            bus_of_unit.extend(buses.collect::<Vec<_>>());
        }
        let data_pages = |block| u64::from(shape.data_pages() - shape.kinds.lost_pages(block));
        let data_pages_per_plane: u64 = (0..shape.blocks_per_plane).map(data_pages).sum();
        Geometry {
            planes,
            units,
            readers: unit_of_reader.len() as u32,
            blocks: planes * shape.blocks_per_plane,
            pages: planes * shape.blocks_per_plane * shape.pages_per_block,
            data_pages: u64::from(planes) * data_pages_per_plane,
            exported_pages: planes * shape.exported_pages_per_plane,
            by_planes: Divisor::new(planes),
            by_pages_per_block: Divisor::new(shape.pages_per_block),
            by_blocks_per_plane: Divisor::new(shape.blocks_per_plane),
            part_of_plane,
            unit_of_plane,
            bus_of_unit,
            units_of_bus,
            unit_of_reader,
            planes_of_unit,
            lanes,
            shape,
        }
    }

    /// The plane that static allocation gives to a logical page.
    #[inline(always)]
    pub fn striped_plane(&self, lpn: Lpn) -> PlaneId {
        PlaneId(self.by_planes.divide_with_rest(lpn.0).1)
    }

    /// The block of a physical page, and the page's number in it.
    #[inline(always)]
    pub fn block_and_page(&self, ppn: Ppn) -> (BlockId, u32) {
        let (block, page) = self.by_pages_per_block.divide_with_rest(ppn.0);
        (BlockId(block), page)
    }

    /// The block of a physical page.
    #[inline(always)]
    pub fn block_of(&self, ppn: Ppn) -> BlockId {
        BlockId(self.by_pages_per_block.divide(ppn.0))
    }

    /// The plane of a block.
    #[inline(always)]
    pub fn plane_of_block(&self, block: BlockId) -> PlaneId {
        PlaneId(self.by_blocks_per_plane.divide(block.0))
    }

    /// The plane of a physical page.
    #[inline(always)]
    pub fn plane_of(&self, ppn: Ppn) -> PlaneId {
        self.plane_of_block(self.block_of(ppn))
    }

    /// Pages of this block that hold data: those at its beginning.
    #[inline(always)]
    pub fn data_pages_of(&self, block: BlockId) -> u32 {
        match self.shape.kinds {
            Kinds::One => self.shape.data_pages(),
            kinds => {
                let at = self.by_blocks_per_plane.divide_with_rest(block.0).1;
                self.shape.data_pages() - kinds.lost_pages(at)
            }
        }
    }

    /// Pages that the collection of a block with this number of valid pages wins.
    #[inline(always)]
    pub fn won(&self, block: BlockId, valid: u32) -> u32 {
        self.shape.won(self.data_pages_of(block) - valid)
    }

    /// Pages more that it wins than with one valid page more.
    #[inline(always)]
    pub fn won_with_last(&self, block: BlockId, valid: u32) -> u32 {
        self.shape.won_with_last(self.data_pages_of(block) - valid)
    }

    /// The sub-blocks of the block to which this sub-block belongs; where blocks are erased, it
    /// alone.
    #[inline]
    pub fn siblings_of(&self, block: BlockId) -> std::ops::Range<u32> {
        let first = block.0 - block.0 % self.shape.sub_blocks;
        first..first + self.shape.sub_blocks
    }

    /// The block's first page.
    #[inline(always)]
    pub fn first_page(&self, block: BlockId) -> Ppn {
        Ppn(block.0 * self.shape.pages_per_block)
    }

    /// The plane's blocks.
    #[inline(always)]
    pub fn blocks_of(&self, plane: PlaneId) -> std::ops::Range<u32> {
        let first = plane.0 * self.shape.blocks_per_plane;
        first..first + self.shape.blocks_per_plane
    }

    /// The unit that a plane keeps busy; the unit of the first plane, where planes share their
    /// blocks.
    #[inline(always)]
    pub fn unit_of(&self, plane: PlaneId) -> UnitId {
        self.unit_of_plane[plane.index()]
    }

    /// The bus that reaches a unit, or a reader.
    #[inline(always)]
    pub fn bus_of(&self, unit: UnitId) -> BusId {
        self.bus_of_unit[unit.index()]
    }

    /// The units at a bus, without readers.
    pub fn units_of_bus(&self, bus: BusId) -> &[UnitId] {
        &self.units_of_bus[bus.index()]
    }

    /// The planes of a unit, in order of number: of planes that share their blocks, one in the unit
    /// of the first.
    #[inline(always)]
    pub fn planes_of(&self, unit: UnitId) -> &[PlaneId] {
        &self.planes_of_unit[unit.index()]
    }

    /// The number of the part of this level that holds the plane.
    pub fn part_of(&self, plane: PlaneId, level: Level) -> u32 {
        self.part_of_plane[level as usize][plane.index()]
    }

    /// Every plane of the part of this level that holds the plane.
    pub fn domain_of(&self, plane: PlaneId, level: Level) -> Vec<PlaneId> {
        let part = self.part_of(plane, level);
        (0..self.planes).map(PlaneId).filter(|&p| self.part_of(p, level) == part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn striping_turns_the_channel_fastest() {
        let geometry = Geometry::new(Shape::small(Level::Die));
        let channels: Vec<u32> =
            (0..8).map(|p| geometry.part_of(PlaneId(p), Level::Channel)).collect();
        assert_eq!(channels, [0, 1, 0, 1, 0, 1, 0, 1]);
        let dies: Vec<u32> = (0..8).map(|p| geometry.unit_of(PlaneId(p)).0).collect();
        assert_eq!(dies, [0, 2, 1, 3, 0, 2, 1, 3]);
        assert_eq!(geometry.planes_of(UnitId(0)), [PlaneId(0), PlaneId(4)]);
        assert_eq!(geometry.bus_of(UnitId(3)), BusId(1));
        assert_eq!(geometry.exported_pages, 160);
    }

    #[test]
    fn a_domain_is_every_plane_under_one_part() {
        let geometry = Geometry::new(Shape::small(Level::Plane));
        let channel = geometry.domain_of(PlaneId(0), Level::Channel);
        assert_eq!(channel, [PlaneId(0), PlaneId(2), PlaneId(4), PlaneId(6)]);
        assert_eq!(geometry.domain_of(PlaneId(5), Level::Plane), [PlaneId(5)]);
    }

    /// The part of paper speedup-gc: 64 layers, 768 pages, 16 sub-blocks.
    #[test]
    fn layers_that_isolate_sub_blocks_hold_no_data() {
        let device =
            Shape { pages_per_block: 768, sub_blocks: 16, layers: 64, ..Shape::small(Level::Die) };
        let geometry = Geometry::new(device.in_sub_blocks(true));
        let data: Vec<u32> = (0..16).map(|at| geometry.data_pages_of(BlockId(at))).collect();
        assert_eq!(data[..15], [36; 15]);
        assert_eq!(data[15], 48);
        assert_eq!(data.iter().sum::<u32>(), 588);
        assert_eq!(geometry.shape.data_pages_per_plane(), 4 * 588);
        assert_eq!(geometry.data_pages, u64::from(geometry.planes) * 4 * 588);
        assert_eq!(geometry.shape.pages_of_blocks(64), 4 * 588);
        assert_eq!(geometry.siblings_of(BlockId(37)), 32..48);
        assert_eq!(device.in_sub_blocks(false).data_pages_per_plane(), 4 * 768);
        assert_eq!(device.in_blocks().blocks_per_plane, 4);
    }
}
