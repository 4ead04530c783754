//! Open blocks for other rooms: the frontier that owns each, and its write position.

use crate::ids::BlockId;

/// The frontier that hands out the pages of an open block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The host's frontier; copies share it where they have none of their own.
    Host,
    /// The frontier of copies.
    Gc,
    /// Not in use yet: for the next frontier that has run out.
    Started,
}

/// An open block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenBlock {
    /// The block.
    pub block: BlockId,
    /// The frontier that hands out its pages.
    pub role: Role,
    /// The lowest even and the lowest odd page that is not written, counted in the block. They are
    /// neighbours, except where odd and even pages were handed out apart.
    pub next: [u32; 2],
}

impl OpenBlock {
    /// A block whose first `written` pages are written.
    pub fn written(block: BlockId, role: Role, written: u32) -> Self {
        OpenBlock { block, role, next: [written.next_multiple_of(2), written | 1] }
    }

    /// The first page from which on nothing is written.
    pub fn end(&self) -> u32 {
        self.next[0].max(self.next[1]) - 1
    }

    /// Pages below [`end`](Self::end) that were skipped.
    pub fn holes(&self) -> u32 {
        self.end() - (self.next[0] / 2 + self.next[1] / 2)
    }

    /// Whether a page is written.
    pub fn is_written(&self, page: u32) -> bool {
        page < self.next[(page % 2) as usize]
    }

    /// Whether this can be an open block: some pages are written and some are not.
    pub fn is_sound(&self, data_pages: u32) -> bool {
        let [even, odd] = self.next;
        let past = [data_pages.next_multiple_of(2), data_pages | 1];
        even % 2 == 0
            && odd % 2 == 1
            && even <= past[0]
            && odd <= past[1]
            && self.next != [0, 1]
            && (even < data_pages || odd < data_pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_was_written_in_order_has_no_holes() {
        for written in 1..20 {
            let open = OpenBlock::written(BlockId(0), Role::Host, written);
            assert_eq!((open.end(), open.holes()), (written, 0));
            assert!((0..20).all(|page| open.is_written(page) == (page < written)));
            assert_eq!(open.is_sound(12), written < 12, "{written} of 12");
            assert_eq!(open.is_sound(13), written < 13, "{written} of 13");
        }
    }

    #[test]
    fn pages_left_out_by_the_odd_even_rule_are_holes() {
        // 0, 2, 4 and 1 are written.
        let open = OpenBlock { block: BlockId(0), role: Role::Gc, next: [6, 3] };
        assert_eq!((open.end(), open.holes()), (5, 1));
        // 1, 3 and 5 are.
        let open = OpenBlock { block: BlockId(0), role: Role::Gc, next: [0, 7] };
        assert_eq!((open.end(), open.holes()), (6, 3));
    }
}
