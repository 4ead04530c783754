//! The clock of host writes, and its value when blocks were opened and sealed.
//!
//! The clock counts the pages that the host has written since the drive was made, so that an age
//! does not depend on the speed of a device. The table of blocks exists only for a policy that
//! needs it ([`Stamps::keep`]).

use crate::device::Geometry;
use crate::ids::BlockId;
use crate::memory::{bytes_of, prefetch};

/// No class: the block was written by another scheme.
const NO_CLASS: u8 = u8::MAX;

/// The history of a block since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    opened: u64,
    sealed: u64,
    claimed_valid: u32,
    class: u8,
}

/// An erased block.
const ERASED: Stamp = Stamp { opened: 0, sealed: 0, claimed_valid: 0, class: NO_CLASS };

/// A block in the view of placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFacts {
    /// The block.
    pub block: BlockId,
    /// The class of its pages; `None` where another scheme has written it.
    pub class: Option<u8>,
    /// The clock when it was opened.
    pub opened: u64,
    /// The clock when it was sealed; `None` while it is open.
    pub sealed: Option<u64>,
    /// Its valid pages; those that it had when it was claimed, where a collection has it.
    pub valid: u32,
}

/// The clock, and the table of blocks.
#[derive(Clone, Default)]
pub struct Stamps {
    /// Pages written by the host since the drive was made.
    pub clock: u64,
    blocks: Vec<Stamp>,
}

impl Stamps {
    /// From now on the history of each block is kept.
    pub fn keep(&mut self, geometry: &Geometry) {
        self.blocks = vec![ERASED; geometry.blocks as usize];
    }

    /// Whether it is kept.
    #[inline(always)]
    pub fn are_kept(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Brings the history of a block into the cache.
    #[inline(always)]
    pub(super) fn prefetch(&self, block: BlockId) {
        prefetch(&self.blocks, block.index());
    }

    /// The block is opened, for a class where there are any.
    #[inline]
    pub(super) fn opened(&mut self, block: BlockId, class: Option<u8>) {
        let opened = self.clock;
        if let Some(stamp) = self.blocks.get_mut(block.index()) {
            *stamp = Stamp { opened, class: class.unwrap_or(NO_CLASS), ..ERASED };
        }
    }

    /// A block that another scheme has opened continues as one of a class.
    pub(super) fn continued(&mut self, block: BlockId, class: u8) {
        if let Some(stamp) = self.blocks.get_mut(block.index()) {
            stamp.class = class;
        }
    }

    /// The block is full.
    #[inline]
    pub(super) fn sealed(&mut self, block: BlockId) {
        let sealed = self.clock;
        if let Some(stamp) = self.blocks.get_mut(block.index()) {
            stamp.sealed = sealed;
        }
    }

    /// A collection takes the block with this number of valid pages.
    pub(super) fn claimed(&mut self, block: BlockId, valid: u32) {
        if let Some(stamp) = self.blocks.get_mut(block.index()) {
            stamp.claimed_valid = valid;
        }
    }

    /// The clock when a sealed block was sealed; 0 where it is not kept.
    pub fn sealed_at(&self, block: BlockId) -> u64 {
        self.blocks.get(block.index()).map_or(0, |stamp| stamp.sealed)
    }

    /// A block that is open, sealed or claimed, where the table is kept.
    #[inline]
    pub(super) fn facts(
        &self,
        block: BlockId,
        is_open: bool,
        valid: Option<u32>,
    ) -> Option<BlockFacts> {
        let stamp = self.blocks.get(block.index())?;
        Some(BlockFacts {
            block,
            class: (stamp.class != NO_CLASS).then_some(stamp.class),
            opened: stamp.opened,
            sealed: (!is_open).then_some(stamp.sealed),
            valid: valid.unwrap_or(stamp.claimed_valid),
        })
    }

    /// The sealed blocks of a plane, the first one first, on a drive whose history is not known:
    /// as if the host had written one after the other.
    pub fn assume(&mut self, geometry: &Geometry, sealed: &[BlockId]) {
        let mut written = 0;
        for &block in sealed {
            let opened = written;
            let pages = u64::from(geometry.data_pages_of(block));
            written += pages * u64::from(geometry.planes);
            if let Some(stamp) = self.blocks.get_mut(block.index()) {
                *stamp = Stamp { opened, sealed: written, ..ERASED };
            }
        }
        self.clock = self.clock.max(written);
    }

    /// Appends the state to save with a drive to these numbers.
    pub fn save(&self, numbers: &mut Vec<u32>) {
        let halves = |number: u64| [number as u32, (number >> 32) as u32];
        numbers.extend(halves(self.clock));
        for stamp in &self.blocks {
            numbers.push(stamp.class.into());
            numbers.extend(halves(stamp.opened));
            numbers.extend(halves(stamp.sealed));
        }
    }

    /// Takes the saved state from the front of these numbers; `None` where it is not possible.
    pub fn take_saved(
        &mut self,
        numbers: &mut std::slice::Iter<'_, u32>,
        classes: u32,
    ) -> Option<()> {
        let clock = whole(numbers)?;
        // A run may last as long again as everything before it.
        if clock >= 1 << 62 {
            return None;
        }
        for stamp in &mut self.blocks {
            let class = u8::try_from(*numbers.next()?).ok()?;
            let (opened, sealed) = (whole(numbers)?, whole(numbers)?);
            let is_fit = class == NO_CLASS || u32::from(class) < classes;
            if !is_fit || opened > clock || sealed > clock {
                return None;
            }
            *stamp = Stamp { opened, sealed, claimed_valid: 0, class };
        }
        self.clock = clock;
        Some(())
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.blocks)
    }
}

/// A number of 64 bits that was saved in two halves.
fn whole(numbers: &mut std::slice::Iter<'_, u32>) -> Option<u64> {
    let (&low, &high) = (numbers.next()?, numbers.next()?);
    Some(u64::from(low) | u64::from(high) << 32)
}
