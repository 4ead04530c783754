//! How many candidates lie in each part of the turns: the n-th of a plane is found by two short
//! walks.

use crate::ids::PlaneId;
use crate::memory::bytes_of;

/// The candidates in parts of the turns of each plane.
#[derive(Clone)]
pub struct SealedIn {
    words_per_plane: usize,
    runs_per_plane: usize,
    /// In each word of turns.
    words: Vec<u8>,
    /// In each run of words, so that a search does not read all of them.
    runs: Vec<u32>,
    /// In each plane.
    planes: Vec<u32>,
}

/// The words of a run.
const RUN: usize = 64;

impl SealedIn {
    /// No candidates.
    pub fn new(planes: usize, words_per_plane: usize) -> Self {
        let runs_per_plane = words_per_plane.div_ceil(RUN);
        SealedIn {
            words_per_plane,
            runs_per_plane,
            words: vec![0; planes * words_per_plane],
            runs: vec![0; planes * runs_per_plane],
            planes: vec![0; planes],
        }
    }

    /// A block of this turn is a candidate.
    pub fn add(&mut self, plane: PlaneId, turn: u32) {
        let word = turn as usize / 64;
        self.words[plane.index() * self.words_per_plane + word] += 1;
        self.runs[plane.index() * self.runs_per_plane + word / RUN] += 1;
        self.planes[plane.index()] += 1;
    }

    /// It is none any more.
    pub fn remove(&mut self, plane: PlaneId, turn: u32) {
        let word = turn as usize / 64;
        self.words[plane.index() * self.words_per_plane + word] -= 1;
        self.runs[plane.index() * self.runs_per_plane + word / RUN] -= 1;
        self.planes[plane.index()] -= 1;
    }

    /// The candidates of a plane.
    pub fn of(&self, plane: PlaneId) -> u32 {
        self.planes[plane.index()]
    }

    /// No candidates in any part of a plane.
    pub fn clear(&mut self, plane: PlaneId) {
        self.words[plane.index() * self.words_per_plane..][..self.words_per_plane].fill(0);
        self.runs[plane.index() * self.runs_per_plane..][..self.runs_per_plane].fill(0);
        self.planes[plane.index()] = 0;
    }

    /// The word with the candidate that comes after this many others, and how many of these lie in
    /// it.
    pub fn find(&self, plane: PlaneId, before: u32) -> Option<(usize, u32)> {
        let runs = &self.runs[plane.index() * self.runs_per_plane..][..self.runs_per_plane];
        let (run, before) = part_with(runs, before)?;
        let words = &self.words[plane.index() * self.words_per_plane..][..self.words_per_plane];
        let (word, before) = part_with(&words[run * RUN..], before)?;
        Some((run * RUN + word, before))
    }

    /// Bytes of its tables.
    pub fn table_bytes(&self) -> u64 {
        bytes_of(&self.words) + bytes_of(&self.runs)
    }
}

/// The part with the candidate that comes after this many others, and how many of these lie in it.
fn part_with<N: Copy + Into<u32>>(parts: &[N], mut before: u32) -> Option<(usize, u32)> {
    for (at, &count) in parts.iter().enumerate() {
        match before.checked_sub(count.into()) {
            Some(rest) => before = rest,
            None => return Some((at, before)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each candidate is found by its number among them, in a plane of several runs next to another
    /// one, and none after the last.
    #[test]
    fn the_nth_candidate_is_that_of_a_walk() {
        let plane = PlaneId(1);
        let mut sealed = SealedIn::new(2, 3 * RUN + 5);
        let turns: Vec<u32> = (0..12_600).filter(|turn| turn % 7 == 0 || turn % 1024 < 3).collect();
        (0..4096).for_each(|turn| sealed.add(PlaneId(0), turn));
        turns.iter().for_each(|&turn| sealed.add(plane, turn));
        for (at, turn) in turns.iter().enumerate() {
            let word = *turn as usize / 64;
            let first = turns.partition_point(|&other| (other as usize) < word * 64);
            assert_eq!(sealed.find(plane, at as u32), Some((word, (at - first) as u32)));
        }
        assert_eq!(sealed.find(plane, turns.len() as u32), None);
        turns.iter().for_each(|&turn| sealed.remove(plane, turn));
        assert_eq!((sealed.find(plane, 0), sealed.of(plane)), (None, 0));
        sealed.clear(PlaneId(0));
        assert_eq!(sealed.find(PlaneId(0), 0), None);
    }
}
