//! The array time of each page of a block, where pages differ by layer or by type.

use super::geometry::Shape;
use super::layers::LayerMap;
use super::timing::Timing;
use crate::ids::{Divisor, Ppn};
use serde::{Serialize, Serializer};

/// The most types of pages.
pub const TYPES_MAX: usize = 8;

/// The read times of the page types: of the pages that share the cells of a word line, in the order
/// of their numbers (LSB, CSB, MSB).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadTimes {
    types: usize,
    ns: [u64; TYPES_MAX],
}

impl ReadTimes {
    /// These times, at most [`TYPES_MAX`] of them; `None` where all pages take the same time.
    pub fn new(times_ns: &[u64]) -> Option<Self> {
        let mut ns = [0; TYPES_MAX];
        ns.get_mut(..times_ns.len())?.copy_from_slice(times_ns);
        let differ = times_ns.iter().any(|time| *time != times_ns[0]);
        differ.then_some(ReadTimes { types: times_ns.len(), ns })
    }

    /// The time of each type, in ns.
    pub fn each_ns(&self) -> &[u64] {
        &self.ns[..self.types]
    }

    /// The time of a flash page by its number in its block, in ns.
    pub fn of_page(&self, page: u32) -> u64 {
        self.ns[page as usize % self.types]
    }
}

impl Serialize for ReadTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.each_ns().serialize(serializer)
    }
}

/// The array time of each page of a block.
#[derive(Clone, Debug)]
pub struct PageTimes {
    /// Pages of a whole block, also where sub-blocks are numbered as blocks.
    by_block: Divisor,
    read_ns: Vec<u64>,
    program_ns: Vec<u64>,
}

impl PageTimes {
    /// The times of a device, in the units of a scheme; `None` where every page takes the same
    /// time.
    pub fn new(timing: &Timing, shape: &Shape) -> Option<Self> {
        let (speed, types) = (timing.layer_speed, timing.read_by_type_ns);
        if speed.is_none() && types.is_none() {
            return None;
        }
        let pages = shape.pages_per_block * shape.sub_blocks;
        let layers = shape.layers.max(1);
        let layer_of = |map, page: u32| match map {
            LayerMap::InOrder => shape.page_of_lane(page) / (pages / shape.lanes / layers),
            LayerMap::Striped => shape.page_of_lane(page) / shape.program_slots % layers,
        };
        // The times of the layers, or the same for all pages.
        let by_page = |mean_ns: u64| -> Vec<u64> {
            let Some(speed) = speed else { return vec![mean_ns; pages as usize] };
            let times = speed.times_ns(layers, mean_ns);
            (0..pages).map(|page| times[layer_of(speed.layer_map, page) as usize]).collect()
        };
        let by_type = |types: ReadTimes| -> Vec<u64> {
            let each: Vec<_> = types.each_ns().iter().map(|&mean_ns| by_page(mean_ns)).collect();
            let type_of = |page: u32| shape.page_of_lane(page) / shape.read_slots();
            let time = |page: u32| each[type_of(page) as usize % each.len()][page as usize];
            (0..pages).map(time).collect()
        };
        Some(PageTimes {
            by_block: Divisor::new(pages),
            read_ns: types.map_or_else(|| by_page(timing.read_ns), by_type),
            program_ns: by_page(timing.program_ns),
        })
    }

    /// Array time of a read of this page, in ns.
    #[inline]
    pub fn read_ns(&self, ppn: Ppn) -> u64 {
        self.read_ns[self.by_block.divide_with_rest(ppn.0).1 as usize]
    }

    /// Array time of a program of this page, in ns.
    #[inline]
    pub fn program_ns(&self, ppn: Ppn) -> u64 {
        self.program_ns[self.by_block.divide_with_rest(ppn.0).1 as usize]
    }

    /// Array time of a program of the slowest page, in ns.
    pub fn slowest_program_ns(&self) -> u64 {
        self.program_ns.iter().copied().max().unwrap_or(0)
    }

    /// Array time of programming the last pages of a block one after the other, in ns.
    pub fn last_pages_ns(&self, pages: u32) -> u64 {
        self.program_ns.iter().rev().take(pages as usize).sum()
    }
}
