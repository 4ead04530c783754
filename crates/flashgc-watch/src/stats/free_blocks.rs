//! The erased blocks of all planes: their sum, and the fewest that a plane has.

use flashgc_model::ids::PlaneId;

/// Erased blocks of each plane, and the number of planes for each number of blocks.
#[derive(Clone, Debug, Default)]
pub struct FreeBlocks {
    of_planes: Vec<u32>,
    /// Number of planes, by their number of erased blocks.
    planes_with: Vec<u32>,
    min: u32,
    total: u64,
}

impl FreeBlocks {
    /// Adds a plane with this number of erased blocks.
    pub fn add_plane(&mut self, blocks: u32) {
        self.min = if self.of_planes.is_empty() { blocks } else { self.min.min(blocks) };
        self.total += u64::from(blocks);
        self.of_planes.push(blocks);
        self.count(blocks);
    }

    /// The fewest that a plane has; 0 without planes.
    pub fn min(&self) -> u32 {
        self.min
    }

    /// Erased blocks of all planes.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// A plane has one less.
    pub fn lose(&mut self, plane: PlaneId) {
        let blocks = self.of_planes[plane.index()] - 1;
        self.total -= 1;
        self.min = self.min.min(blocks);
        self.change(plane, blocks);
    }

    /// A plane has one more.
    pub fn gain(&mut self, plane: PlaneId) {
        let blocks = self.of_planes[plane.index()] + 1;
        self.total += 1;
        self.change(plane, blocks);
        // This plane was the last with the fewest, and now it has the fewest.
        if self.planes_with[self.min as usize] == 0 {
            self.min += 1;
        }
    }

    fn change(&mut self, plane: PlaneId, blocks: u32) {
        let before = std::mem::replace(&mut self.of_planes[plane.index()], blocks);
        self.planes_with[before as usize] -= 1;
        self.count(blocks);
    }

    fn count(&mut self, blocks: u32) {
        let at = blocks as usize;
        if self.planes_with.len() <= at {
            self.planes_with.resize(at + 1, 0);
        }
        self.planes_with[at] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::FreeBlocks;
    use flashgc_model::ids::PlaneId;

    #[test]
    fn the_fewest_are_found_as_planes_gain_and_lose() {
        let mut free = FreeBlocks::default();
        assert_eq!((free.min(), free.total()), (0, 0));
        [3, 2, 2].into_iter().for_each(|blocks| free.add_plane(blocks));
        assert_eq!((free.min(), free.total()), (2, 7));
        let steps =
            [(1, true), (2, true), (0, true), (1, true), (2, false), (2, false), (0, false)];
        let mut found = Vec::new();
        for (plane, gains) in steps {
            let plane = PlaneId(plane);
            if gains {
                free.gain(plane)
            } else {
                free.lose(plane)
            }
            found.push((free.min(), free.total()));
        }
        assert_eq!(found, [(2, 8), (3, 9), (3, 10), (3, 11), (2, 10), (1, 9), (1, 8)]);
    }
}
