//! Windowed greedy: greedy among the blocks that were sealed first.
//!
//! Greedy takes a block soon after its pages were lost, even if the others will be lost soon. With
//! a window, a block must have been sealed for a while; a window of one block is fifo, one of all
//! blocks greedy.

use super::seal_order::Index;
use super::{Candidates, Choice, VictimPolicy};
use crate::device::Geometry;
use crate::gc::choice::{Percent, as_number};
use crate::ids::{BlockId, PlaneId};
use crate::memory::bytes_of;
use crate::rng::Random;
use flashgc_config::Reader;
use flashgc_config::units::Share;
use serde::Serialize;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "windowed-greedy",
    about: "the block with the fewest valid pages among those of the plane that were sealed first; \
            the lowest number among equals",
    keys: &[&WINDOW],
    source: "Hu and others 2009",
};

const WINDOW: Percent = Percent {
    name: "window",
    default: Share { numerator: 9, denominator: 10 },
    about: "share of a plane's candidates, rounded up, of which the victim is one",
};

/// The settings of the choice.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    #[serde(serialize_with = "as_number")]
    window: Share,
}

impl Settings {
    /// From `[gc.victim.windowed-greedy]`.
    pub fn read(table: &Reader<'_>) -> Self {
        let window = WINDOW.read(table).unwrap_or(WINDOW.default);
        if window.numerator == 0 {
            table.error(
                WINDOW.name,
                "`window` must be above 0%, got 0%: no block would be a candidate",
                "write for example \"90%\"; \"100%\" is greedy",
            );
        }
        Settings { window }
    }
}

/// The policy, with an index where that is shorter than a walk over the blocks.
#[derive(Clone)]
pub struct Policy {
    window: Share,
    index: Index,
    /// Candidates of a plane with the numbers of their seals; empty between two choices.
    walked: Vec<(u64, BlockId)>,
}

impl Policy {
    /// An empty index.
    pub fn new(settings: &Settings, geometry: &Geometry) -> Self {
        Policy { window: settings.window, index: Index::new(geometry), walked: Vec::new() }
    }

    /// By the index; `None` where it has no answer.
    fn first(&mut self, plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        // The index has blocks with too many valid pages, too.
        if candidates.most_valid < candidates.data_pages() {
            return None;
        }
        let order = self.index.for_choice(candidates, |block| candidates.seal_number(block))?;
        let window = self.window.at_least(order.candidates(plane).into());
        order.fewest_of_first(plane, window as u32)
    }

    /// By a walk over all candidates of the plane.
    fn scan(&mut self, plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        let sealed = candidates.sealed(plane).map(|b| (candidates.seal_number(b), b));
        self.walked.clear();
        self.walked.extend(sealed);
        let last = (self.window.at_least(self.walked.len() as u64) as usize).checked_sub(1)?;
        self.walked.select_nth_unstable(last);
        let oldest = self.walked[..=last].iter().map(|&(_, block)| block);
        oldest.min_by_key(|&block| (candidates.kept(block), block))
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.index.seal(plane, block, valid);
    }

    fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.index.lower(plane, block, valid);
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.index.claim(plane, block, valid);
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        let first = self.first(plane, candidates);
        if first.is_none() {
            return self.scan(plane, candidates);
        }
        candidates.compare(first, || self.scan(plane, candidates));
        first
    }

    fn table_bytes(&self) -> u64 {
        bytes_of(&self.walked) + self.index.table_bytes()
    }
}
