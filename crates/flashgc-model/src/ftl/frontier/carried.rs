//! Open blocks that a drive brings along, and those that it leaves.

use super::halves::HalfBlock;
use super::{Frontiers, Started, Stream};
use crate::device::Geometry;
use crate::ftl::open::{OpenBlock, Role};
use crate::ids::{PlaneId, Ppn};

impl Frontiers {
    /// An open block of a drive that was not filled here goes to the frontier that owns it, or
    /// waits for one. Where pages are handed out in order, those that were skipped are lost until
    /// the block is erased.
    pub fn adopt(&mut self, geometry: &Geometry, plane: PlaneId, open: OpenBlock) {
        let first = geometry.first_page(open.block).0;
        let data_pages = geometry.data_pages_of(open.block);
        let end = first + data_pages;
        let stream = if open.role == Role::Gc { Stream::Gc } else { Stream::Host };
        let index = self.index(plane, stream);
        if self.rules.parity {
            let [even, odd] = open.next;
            let half = HalfBlock { block: open.block, next: [first + even, first + odd], end };
            self.frontiers[index].halves.push_back(half);
            self.add_free(plane, data_pages - (even / 2 + odd / 2));
            return;
        }
        self.add_free(plane, data_pages - open.end());
        let is_own = open.role == Role::Host || (open.role == Role::Gc && self.rules.separate_gc);
        let is_own = is_own && self.rules.classes == 0;
        let next = first + open.end();
        let frontier = &mut self.frontiers[index];
        if is_own && frontier.next == frontier.end {
            frontier.begin(next, end, self.programs_fail);
        } else {
            self.started[plane.index()].push_back(Started { block: open.block, next });
        }
    }

    /// The open blocks of a plane, in the order in which they will be written.
    pub fn open_blocks(&self, geometry: &Geometry, plane: PlaneId) -> Vec<OpenBlock> {
        let mut found = Vec::new();
        let roles = match self.rules.classes {
            0 => vec![Role::Host, Role::Gc],
            classes => vec![Role::Started; classes as usize],
        };
        for (at, role) in roles.into_iter().enumerate() {
            let frontier = &self.frontiers[plane.index() * self.streams + at];
            found.extend(frontier.halves.iter().map(|half| {
                let first = geometry.first_page(half.block).0;
                OpenBlock { block: half.block, role, next: half.next.map(|next| next - first) }
            }));
            if frontier.next < frontier.end {
                let (block, page) = geometry.block_and_page(Ppn(frontier.next));
                found.push(OpenBlock::written(block, role, page));
            }
        }
        found.extend(self.started[plane.index()].iter().map(|started| {
            let written = started.next - geometry.first_page(started.block).0;
            OpenBlock::written(started.block, Role::Started, written)
        }));
        found
    }
}
