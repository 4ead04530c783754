//! Kinds of blocks: the blocks of a plane may differ in the pages that they hold.

/// The kinds of the blocks of each plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinds {
    /// All blocks are alike.
    One,
    /// Sub-blocks with layers without data between them: this number of pages at the end of each
    /// sub-block but the last of its block.
    Isolated {
        /// Sub-blocks of a block.
        of: u32,
        /// Pages without data.
        pages: u32,
    },
}

impl Kinds {
    /// Sub-blocks, `of` in each block, which are isolated by this number of pages.
    pub fn isolated(of: u32, pages: u32) -> Self {
        if pages == 0 { Kinds::One } else { Kinds::Isolated { of, pages } }
    }

    /// Whether all blocks are alike.
    #[inline(always)]
    pub fn is_one(self) -> bool {
        self == Kinds::One
    }

    /// Pages at the end of a block that never hold data, by the number of the block in its plane.
    #[inline]
    pub fn lost_pages(self, block: u32) -> u32 {
        match self {
            Kinds::Isolated { of, pages } if !(block + 1).is_multiple_of(of) => pages,
            _ => 0,
        }
    }

    /// The most of them in one block.
    pub fn most_lost_pages(self) -> u32 {
        match self {
            Kinds::One => 0,
            Kinds::Isolated { pages, .. } => pages,
        }
    }

    /// Those of a plane with this number of blocks.
    pub fn lost_pages_of_plane(self, blocks: u32) -> u64 {
        match self {
            Kinds::One => 0,
            Kinds::Isolated { of, pages } => {
                u64::from(blocks / of) * u64::from(of - 1) * u64::from(pages)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_are_those_of_the_blocks() {
        for kinds in [Kinds::isolated(4, 0), Kinds::isolated(4, 3), Kinds::isolated(16, 12)] {
            let lost: Vec<u32> = (0..64).map(|block| kinds.lost_pages(block)).collect();
            assert_eq!(
                lost.iter().map(|&pages| u64::from(pages)).sum::<u64>(),
                kinds.lost_pages_of_plane(64),
                "{kinds:?}"
            );
            assert_eq!(lost.iter().max(), Some(&kinds.most_lost_pages()), "{kinds:?}");
            assert_eq!(kinds.is_one(), lost.iter().all(|&pages| pages == 0), "{kinds:?}");
        }
    }
}
