//! The array time of single pages, which differ by layer and by type.

use super::Times;
use flashgc_model::device::{LayerMap, LayerSpeed, Timing};
use flashgc_model::ids::Ppn;

/// The time of each layer, the slowest first, where the mean is one.
pub(super) fn slowness(speed: LayerSpeed, layers: u32) -> Vec<f64> {
    let steps = f64::from(layers - 1);
    let of = |layer: u32| steps / (steps + (speed.layer_ratio - 1.0) * f64::from(layer));
    let mean = (0..layers).map(of).sum::<f64>() / f64::from(layers);
    (0..layers).map(|layer| of(layer) / mean).collect()
}

impl Times {
    /// The time of a read of this page, if its layer is as fast as the mean, in ns.
    pub(super) fn nominal_read_ns(&self, by: &Timing, ppn: Ppn) -> u64 {
        let Some(times) = by.read_by_type_ns else { return by.read_ns };
        let (page, each_ns) = (self.page_of(ppn) / self.read_slots, times.each_ns());
        each_ns[page as usize % each_ns.len()]
    }

    /// The number of a page in the block of its own plane, which may share it with others.
    pub(super) fn page_of(&self, ppn: Ppn) -> u32 {
        let (page, slots) = (ppn.0 % self.block_pages, self.program_slots);
        page / slots / self.shared_by * slots + page % slots
    }

    pub(super) fn slowness_of(&self, ppn: Ppn) -> f64 {
        let Some((map, slowness)) = &self.layers else { return 1.0 };
        let (page, layers) = (u64::from(self.page_of(ppn)), slowness.len() as u64);
        let layer = match map {
            LayerMap::InOrder => {
                page * layers * u64::from(self.shared_by) / u64::from(self.block_pages)
            }
            LayerMap::Striped => page / u64::from(self.program_slots) % layers,
        };
        slowness[layer as usize]
    }

    /// The time of a page by its nominal one, in ns.
    pub(super) fn own_ns(&self, (ppn, nominal_ns): (Ppn, u64)) -> u64 {
        match self.layers {
            None => nominal_ns,
            Some(_) => (nominal_ns as f64 * self.slowness_of(ppn) + 0.5) as u64,
        }
    }
}
