//! Windowed greedy: greedy among the blocks that were sealed first.
//!
//! Greedy takes a block soon after its pages were lost, even if the others will be lost soon. With
//! a window, a block must have been sealed for a while; a window of one block is fifo, one of all
//! blocks greedy.

use super::{Candidates, Choice, VictimPolicy};
use crate::device::Geometry;
use crate::gc::choice::{Percent, as_number};
use crate::ids::{BlockId, PlaneId};
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

/// The policy keeps the window and room for a walk.
#[derive(Clone)]
pub struct Policy {
    window: Share,
    /// The candidates of a plane with the numbers of their seals; empty between two choices.
    walked: Vec<(u64, BlockId)>,
}

impl Policy {
    /// An empty walk.
    pub fn new(settings: &Settings, geometry: &Geometry) -> Self {
        let blocks = geometry.shape.blocks_per_plane as usize;
        Policy { window: settings.window, walked: Vec::with_capacity(blocks) }
    }
}

impl VictimPolicy for Policy {
    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        let sealed = candidates.sealed(plane).map(|b| (candidates.seal_number(b), b));
        self.walked.clear();
        self.walked.extend(sealed);
        let last = (self.window.at_least(self.walked.len() as u64) as usize).checked_sub(1)?;
        self.walked.select_nth_unstable(last);
        let oldest = self.walked[..=last].iter().map(|&(_, block)| block);
        oldest.min_by_key(|&block| (candidates.kept(block), block))
    }

    fn table_bytes(&self) -> u64 {
        self.walked.capacity() as u64 * size_of::<(u64, BlockId)>() as u64
    }
}
