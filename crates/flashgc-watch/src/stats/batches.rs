//! Write amplification over the course of a run, in batches with the same number of pages written.
//!
//! There are never more than [`MOST`] batches. When all are full, each two neighbours are merged,
//! and the batches are twice as long from then on: a run of any length costs the same memory.

/// The number of batches at which each two neighbours are merged.
pub const MOST: usize = 128;

/// Sums since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Pages that the host wrote.
    pub written: u64,
    /// Pages programmed for the host, and copies of collections that ended.
    pub programmed: u64,
}

impl Sums {
    /// Write amplification from an earlier point to this one; `None` where nothing was written.
    pub fn since(&self, earlier: &Sums) -> Option<f64> {
        let written = self.written.checked_sub(earlier.written).filter(|&pages| pages > 0)?;
        Some((self.programmed - earlier.programmed) as f64 / written as f64)
    }
}

/// The sums at the ends of the batches.
#[derive(Clone, Debug)]
pub struct Batches {
    ends: Vec<Sums>,
    pages: u64,
    next_at: u64,
}

impl Default for Batches {
    fn default() -> Self {
        Batches { ends: Vec::new(), pages: 1, next_at: 1 }
    }
}

impl Batches {
    /// Pages written at which the batch ends that is under way.
    #[inline(always)]
    pub fn next_at(&self) -> u64 {
        self.next_at
    }

    /// A batch ends. Returns whether each two neighbours were merged.
    #[cold]
    pub fn end(&mut self, sums: Sums) -> bool {
        self.ends.push(sums);
        let halves = self.ends.len() == MOST;
        if halves {
            let ends = self.ends.chunks_exact(2).map(|pair| pair[1]).collect();
            self.ends = ends;
            self.pages *= 2;
        }
        self.next_at = sums.written + self.pages;
        halves
    }

    /// The sums at the ends of the batches that are over.
    pub fn ends(&self) -> &[Sums] {
        &self.ends
    }

    /// The sums where this many pages were written, between two ends on a straight line.
    pub fn at(&self, written: u64) -> Sums {
        let after = self.ends.partition_point(|sums| sums.written < written);
        let before = after.checked_sub(1).map_or(Sums::default(), |at| self.ends[at]);
        let Some(end) = self.ends.get(after) else { return before };
        let share = (written - before.written) as f64 / (end.written - before.written) as f64;
        let more = (end.programmed - before.programmed) as f64 * share;
        Sums { written, programmed: before.programmed + more as u64 }
    }

    /// Write amplification of `count` parts that are equally long in pages written.
    pub fn parts(&self, count: u64) -> Vec<f64> {
        let all = self.ends.last().map_or(0, |sums| sums.written);
        let cuts: Vec<Sums> = (0..=count).map(|at| self.at(all * at / count)).collect();
        cuts.windows(2).filter_map(|pair| pair[1].since(&pair[0])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Batches, MOST, Sums};

    fn batches(pages: u64, programmed: impl Fn(u64) -> u64) -> Batches {
        let mut batches = Batches::default();
        for written in 1..=pages {
            if written >= batches.next_at() {
                batches.end(Sums { written, programmed: programmed(written) });
            }
        }
        batches
    }

    #[test]
    fn there_are_at_most_so_many_batches_and_they_keep_the_sums() {
        for pages in [1, 127, 128, 129, 5000, 100_000] {
            let found = batches(pages, |written| 3 * written);
            let ends = found.ends();
            assert!(ends.len() < MOST && (pages < 128 || ends.len() >= MOST / 2), "{}", ends.len());
            assert!(ends.iter().all(|end| end.programmed == 3 * end.written));
            assert!(ends.windows(2).all(|pair| pair[1].written > pair[0].written));
        }
    }

    #[test]
    fn parts_are_equally_long_and_tell_a_jump() {
        let found = batches(1 << 16, |written| written + (2 * written).saturating_sub(1 << 16));
        let halves = found.parts(2);
        assert!((halves[0] - 1.0).abs() < 0.05 && (halves[1] - 3.0).abs() < 0.1, "{halves:?}");
        assert_eq!(found.parts(4).len(), 4);
        assert!(Batches::default().parts(2).is_empty());
    }
}
