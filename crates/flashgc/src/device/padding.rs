//! What a collection wins where the last program of its copies is padded
//! (docs/mapping-unit.md#without-power-loss-protection).

use super::geometry::Shape;

impl Shape {
    /// Whether programs are padded, so that nothing that must survive stays in the controller.
    #[inline(always)]
    pub fn pads(&self) -> bool {
        self.padded_to > 1
    }

    /// Pages that a collection of a block with this number of invalid pages wins: its copies take
    /// whole programs.
    #[inline(always)]
    pub fn won(&self, invalid: u32) -> u32 {
        if self.pads() { invalid - invalid % self.padded_to } else { invalid }
    }

    /// Pages more that it wins than with one invalid page less.
    #[inline(always)]
    pub fn won_with_last(&self, invalid: u32) -> u32 {
        if self.pads() { self.won(invalid) - self.won(invalid - 1) } else { 1 }
    }

    /// The most valid pages of a block whose collection wins a page, where that is a bound.
    pub fn most_collected(&self) -> u32 {
        if self.pads() { self.data_pages() - self.padded_to } else { u32::MAX }
    }

    /// Invalid pages of a plane's blocks that no collection can win, at most: they fill no program.
    pub fn never_won(&self) -> u64 {
        u64::from(self.blocks_per_plane) * u64::from(self.padded_to - 1)
    }
}
