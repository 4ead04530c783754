//! The state of a drive apart from any scheme: the map, and the history of each block.
//!
//! Life of a state: taken out of a simulation once the drive is preconditioned ([`Drive::of`]);
//! kept, or saved to a file; put into a simulation of the same or of another scheme ([`restore`]).
//! It holds only state that cannot be derived: no counts of valid pages, no reverse map, no index
//! of victims. So a restored state is consistent, whatever the file says.

mod restore;

pub use restore::{Carried, DriveFault, restore};

use crate::device::Geometry;
use crate::ftl::Ftl;
pub use crate::ftl::open::{OpenBlock, Role};
use crate::ids::{BlockId, PlaneId};
use crate::memory::table;

/// The blocks of one plane, by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaneBlocks {
    /// Blocks that are full.
    pub sealed: u32,
    /// Blocks that are written in part.
    pub open: u32,
    /// Blocks that are bad, and never opened again.
    pub retired: u32,
    /// Whether the trigger found the plane short of space.
    pub triggered: bool,
}

/// The state of a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drive {
    /// The physical page of each logical one; `u32::MAX` where nothing is written.
    pub map: Vec<u32>,
    /// The blocks of each plane: the sealed ones in the order of their sealing, the open ones,
    /// the erased ones in the order in which they will be opened, and the retired ones.
    pub order: Vec<u32>,
    /// Numbers of sealed and open ones among these, plane by plane.
    pub planes: Vec<PlaneBlocks>,
    /// The open blocks of all planes, in the order of `order`.
    pub open: Vec<OpenBlock>,
    /// The time of each block's seal, on the age clock, in ns; without meaning for the others.
    pub sealed_at_ns: Vec<u64>,
    /// Erases of each block since the drive was made.
    pub erases: Vec<u32>,
    /// The age clock, in ns.
    pub age_ns: u64,
    /// Blocks with a failed program, in order of number: they are retired when they are collected.
    pub failing: Vec<u32>,
    /// Whether the drive takes no further write.
    pub is_read_only: bool,
    /// The scheme's own state that cannot be derived, where there is such.
    pub kept: Option<Kept>,
}

/// The scheme's own state in addition to the drive, such as which pages are hot. Another scheme has
/// no use for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The settings that the numbers depend on: a scheme takes them over where these are the same.
    pub by: String,
    /// The numbers.
    pub numbers: Vec<u32>,
}

impl Drive {
    /// The state of a translation layer on which nothing is under way.
    pub fn of(geometry: &Geometry, ftl: Ftl, triggered: &[bool], age_ns: u64) -> Self {
        let drive = Drive::without_tables(geometry, &ftl, triggered, age_ns);
        let (erases, sealed_at_ns) = ftl.blocks.into_wear();
        let map = ftl.map.into_table();
        Drive { map, sealed_at_ns, erases, ..drive }
    }

    /// The state of a drive whose run continues.
    pub fn seen(geometry: &Geometry, ftl: &Ftl, triggered: &[bool], age_ns: u64) -> Self {
        let blocks = || (0..geometry.blocks).map(BlockId);
        Drive {
            map: ftl.map.entries().collect(),
            sealed_at_ns: blocks().map(|block| ftl.blocks.sealed_at_ns(block)).collect(),
            erases: blocks().map(|block| ftl.blocks.erases(block)).collect(),
            ..Drive::without_tables(geometry, ftl, triggered, age_ns)
        }
    }

    fn without_tables(geometry: &Geometry, ftl: &Ftl, triggered: &[bool], age_ns: u64) -> Self {
        let mut order = Vec::with_capacity(geometry.blocks as usize);
        let mut planes = Vec::with_capacity(geometry.planes as usize);
        let mut open = Vec::new();
        for plane in (0..geometry.planes).map(PlaneId) {
            let sealed = ftl.sealed_in_order(geometry, plane);
            let opened = ftl.frontiers.open_blocks(geometry, plane);
            planes.push(PlaneBlocks {
                sealed: sealed.len() as u32,
                open: opened.len() as u32,
                retired: ftl.retired_blocks(geometry, plane).len() as u32,
                triggered: triggered[plane.index()],
            });
            order.extend(sealed.iter().map(|block| block.0));
            order.extend(opened.iter().map(|open| open.block.0));
            order.extend(ftl.frontiers.free_list(plane).map(|block| block.0));
            order.extend(ftl.retired_blocks(geometry, plane).iter().map(|block| block.0));
            open.extend(opened);
        }
        assert_eq!(order.len(), geometry.blocks as usize, "a block is being collected");
        let (map, sealed_at_ns, erases) = (Vec::new(), Vec::new(), Vec::new());
        let failing = ftl.failing_blocks();
        Drive {
            map,
            order,
            planes,
            open,
            sealed_at_ns,
            erases,
            age_ns,
            failing,
            is_read_only: ftl.is_read_only(),
            kept: None,
        }
    }

    /// A drive aged as SSDSim ages it: in the first blocks of each plane the first pages hold
    /// invalid data, up to `ratio` of the plane's pages, and no page holds valid data.
    ///
    /// SSDSim (`make_aged`) writes the pages n < pages_per_block * ratio + 1 of one block after
    /// the other, until the plane has ratio * pages of them. The rest of these blocks stays
    /// erased, and is written in order.
    pub fn aged(geometry: &Geometry, ratio: f64) -> Self {
        let data_pages = geometry.shape.data_pages();
        let (aged, written) = aged_blocks(geometry, ratio);
        let full = written == data_pages;
        let mut open = Vec::new();
        for plane in (0..geometry.planes).map(PlaneId).filter(|_| !full) {
            let blocks = geometry.blocks_of(plane).take(aged as usize).map(BlockId);
            open.extend(blocks.map(|block| OpenBlock::written(block, Role::Started, written)));
        }
        let (sealed, opened) = if full { (aged, 0) } else { (0, aged) };
        let plane = PlaneBlocks { sealed, open: opened, retired: 0, triggered: false };
        Drive {
            map: table(u32::MAX, geometry.exported_pages as usize),
            order: (0..geometry.blocks).collect(),
            planes: vec![plane; geometry.planes as usize],
            open,
            sealed_at_ns: vec![0; geometry.blocks as usize],
            erases: vec![0; geometry.blocks as usize],
            age_ns: 0,
            failing: Vec::new(),
            is_read_only: false,
            kept: None,
        }
    }
}

/// Number of aged blocks in each plane, and of written pages in each of these.
pub fn aged_blocks(geometry: &Geometry, ratio: f64) -> (u32, u32) {
    let data_pages = geometry.shape.data_pages();
    let written = libm::ceil(f64::from(data_pages) * ratio) as u32 + 1;
    let written = written.min(data_pages);
    let pages = geometry.shape.data_pages_per_plane() as f64 * ratio;
    let aged = libm::ceil(pages / f64::from(written)) as u32;
    (aged.min(geometry.shape.blocks_per_plane), written)
}
