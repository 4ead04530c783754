//! The device as others see it: in sub-blocks, in slots, with planes in step.

use super::geometry::Shape;
use super::kinds::Kinds;

impl Shape {
    /// The device in the units of a scheme that erases sub-blocks: each sub-block is a block.
    ///
    /// With `isolated` the layers between two of them hold no data: the layers at the end of each
    /// one except the last of its block (paper speedup-gc, Fig. 2a: one strip between neighbours).
    #[must_use]
    pub fn in_sub_blocks(&self, isolated: bool) -> Shape {
        let layers = if isolated { self.isolation_layers } else { 0 };
        let isolation = self.pages_per_block / self.layers.max(1) * layers;
        Shape {
            blocks_per_plane: self.blocks_per_plane * self.sub_blocks,
            extra_blocks: self.extra_blocks * self.sub_blocks,
            pages_per_block: self.pages_per_block / self.sub_blocks,
            kinds: Kinds::isolated(self.sub_blocks, isolation),
            ..self.clone()
        }
    }

    /// The device in the units of the map where each flash page holds this number of slots: each
    /// slot is a page.
    #[must_use]
    pub fn in_slots(&self, slots: u32) -> Shape {
        Shape {
            pages_per_block: self.pages_per_block * slots,
            page_bytes: self.page_bytes / slots,
            slots,
            program_slots: self.pages_per_program * slots,
            ..self.clone()
        }
    }

    /// The device in the units of the map where this number of planes work in step: their blocks of
    /// the same number are one block, whose pages lie in these planes in turn. A program writes a
    /// word line of each of them.
    #[must_use]
    pub fn in_step(&self, planes: u32) -> Shape {
        Shape {
            planes_per_die: self.planes_per_die / planes,
            pages_per_block: self.pages_per_block * planes,
            pages_per_program: self.pages_per_program * planes,
            program_slots: self.program_slots * planes,
            multi_plane: 1,
            planes_in_step: planes,
            ..self.clone()
        }
    }
}
