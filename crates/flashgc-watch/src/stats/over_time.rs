//! A run over time in a few thousand rows, recorded as it runs: responses and space by interval,
//! the copies of its collections in their order, and the erases by place.

use super::series::{Sample, Series, SeriesRequest, SeriesRow};
use flashgc_model::ids::BlockId;

/// The most stretches of collections: about the number of places of a chart.
const STRETCHES_MAX: usize = 300;
/// Groups of planes and of blocks at most.
const GROUPS_MAX: [u32; 2] = [32, 48];

/// Adjacent collections, in the order in which they ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Their number.
    pub count: u64,
    /// The fewest pages that one of them moved.
    pub moved_min: u32,
    /// The pages that all of them moved.
    pub moved_sum: u64,
    /// The most pages that one of them moved.
    pub moved_max: u32,
}

impl Stretch {
    fn add(&mut self, later: Stretch) {
        self.count += later.count;
        self.moved_min = self.moved_min.min(later.moved_min);
        self.moved_sum += later.moved_sum;
        self.moved_max = self.moved_max.max(later.moved_max);
    }
}

/// Collections in stretches of equal length, of which the last may be shorter. The length doubles
/// when there are too many.
#[derive(Debug)]
struct Stretches {
    length: u64,
    all: Vec<Stretch>,
}

impl Stretches {
    fn add(&mut self, moved: u32) {
        let one = Stretch { count: 1, moved_min: moved, moved_sum: moved.into(), moved_max: moved };
        match self.all.last_mut() {
            Some(last) if last.count < self.length => last.add(one),
            _ => self.all.push(one),
        }
        if self.all.len() > STRETCHES_MAX {
            self.length *= 2;
            let pairs = self.all.chunks(2).map(|pair| {
                let mut joined = pair[0];
                pair[1..].iter().for_each(|&later| joined.add(later));
                joined
            });
            self.all = pairs.collect();
        }
    }
}

/// Erases by place: each group has some planes and some blocks of each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasesByPlace {
    /// Planes of the drive, and blocks of a plane.
    pub whole: [u32; 2],
    /// Planes and blocks of a group; the last groups may have fewer.
    pub group: [u32; 2],
    /// Blocks erased by collections of the measured part, by group: groups of the first planes come
    /// first, and among them groups of the first blocks.
    pub erases: Vec<u64>,
}

impl ErasesByPlace {
    fn new(whole: [u32; 2]) -> Self {
        let group = [0, 1].map(|side| whole[side].div_ceil(GROUPS_MAX[side]).max(1));
        let groups = [0, 1].map(|side| whole[side].div_ceil(group[side]) as usize);
        ErasesByPlace { whole, group, erases: vec![0; groups[0] * groups[1]] }
    }

    fn add(&mut self, block: BlockId) {
        let across = self.whole[1].div_ceil(self.group[1]);
        let (plane, place) = (block.0 / self.whole[1], block.0 % self.whole[1]);
        let at = plane / self.group[0] * across + place / self.group[1];
        self.erases[at as usize] += 1;
    }
}

/// The record of a run over time.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOverTime {
    /// The length of an interval, in ns.
    pub interval_ns: u64,
    /// Intervals in which something happened.
    pub rows: Vec<SeriesRow>,
    /// At most 300 stretches of collections.
    pub collections: Vec<Stretch>,
    /// Erases by place.
    pub wear: ErasesByPlace,
}

/// Records a run over time.
pub struct OverTime {
    /// Responses and space by interval.
    pub series: Series,
    collections: Stretches,
    wear: ErasesByPlace,
}

impl OverTime {
    /// For a drive of this number of planes, and of blocks in each of them.
    pub fn new(planes: u32, blocks: u32) -> Self {
        let request = SeriesRequest { interval_ns: None, sink: Box::new(|_| {}) };
        OverTime {
            series: Series::new(request, blocks),
            collections: Stretches { length: 1, all: Vec::new() },
            wear: ErasesByPlace::new([planes, blocks]),
        }
    }

    /// A collection has ended that moved this number of pages.
    pub fn collected(&mut self, moved: u32) {
        self.series.job_closed();
        self.collections.add(moved);
    }

    /// A block was erased.
    pub fn erased(&mut self, block: BlockId) {
        self.series.erased(block);
        if self.series.is_measuring() {
            self.wear.add(block);
        }
    }

    /// The run is over. `last` includes the work under way.
    pub fn finish(mut self, last: &Sample) -> RunOverTime {
        let rows = self.series.finish(last);
        let interval_ns = self.series.interval_ns();
        RunOverTime { interval_ns, rows, collections: self.collections.all, wear: self.wear }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(moved: impl Iterator<Item = u32>) -> Vec<Stretch> {
        let mut stretches = Stretches { length: 1, all: Vec::new() };
        moved.for_each(|moved| stretches.add(moved));
        stretches.all
    }

    #[test]
    fn stretches_are_of_equal_length_and_keep_every_extreme() {
        let found = stretches([3, 5].into_iter());
        assert_eq!(found.iter().map(|one| one.moved_sum).collect::<Vec<_>>(), [3, 5]);
        let found = stretches(0..1001);
        assert_eq!(found.len(), 251);
        let first = Stretch { count: 4, moved_min: 0, moved_sum: 6, moved_max: 3 };
        let last = Stretch { count: 1, moved_min: 1000, moved_sum: 1000, moved_max: 1000 };
        assert_eq!((found[0], found[250]), (first, last));
    }

    #[test]
    fn erases_are_counted_in_the_group_of_their_place() {
        let mut wear = ErasesByPlace::new([40, 100]);
        assert_eq!((wear.group, wear.erases.len()), ([2, 3], 20 * 34));
        for block in [39 * 100 + 99, 39 * 100 + 99, 2 * 100 + 4] {
            wear.add(BlockId(block));
        }
        assert_eq!((wear.erases[20 * 34 - 1], wear.erases[34 + 1]), (2, 1));
        assert_eq!(wear.erases.iter().sum::<u64>(), 3);
    }
}
