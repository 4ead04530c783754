//! Pools of planes: where the writes of a logical page may go.
//!
//! A logical page belongs to the pool of the plane that striping gives it. With static allocation
//! each plane is a pool of its own.

use super::geometry::{Geometry, Level};
use crate::ids::{Lpn, PlaneId};

/// The pools of a device.
#[derive(Clone, Debug)]
pub struct Pools {
    /// The planes of each pool, in order of number.
    planes: Vec<Vec<PlaneId>>,
    pool_of_plane: Vec<u32>,
    /// The place of each plane in its pool.
    place_of_plane: Vec<u32>,
}

impl Pools {
    /// One pool for each part of this level, or one for the whole device.
    pub fn new(geometry: &Geometry, level: Option<Level>) -> Self {
        let mut planes: Vec<Vec<PlaneId>> = Vec::new();
        let (mut pool_of_plane, mut place_of_plane) = (Vec::new(), Vec::new());
        for plane in (0..geometry.planes).map(PlaneId) {
            let pool = level.map_or(0, |level| geometry.part_of(plane, level));
            planes.resize(planes.len().max(pool as usize + 1), Vec::new());
            pool_of_plane.push(pool);
            place_of_plane.push(planes[pool as usize].len() as u32);
            planes[pool as usize].push(plane);
        }
        Pools { planes, pool_of_plane, place_of_plane }
    }

    /// Number of pools.
    pub fn count(&self) -> usize {
        self.planes.len()
    }

    /// The pool of a plane.
    #[inline(always)]
    pub fn of_plane(&self, plane: PlaneId) -> usize {
        self.pool_of_plane[plane.index()] as usize
    }

    /// The pool of a logical page.
    #[inline(always)]
    pub fn of_page(&self, geometry: &Geometry, lpn: Lpn) -> usize {
        self.of_plane(geometry.striped_plane(lpn))
    }

    /// The planes of a pool, in order of number.
    #[inline(always)]
    pub fn planes(&self, pool: usize) -> &[PlaneId] {
        &self.planes[pool]
    }

    /// The place after a plane's in its pool; the first comes after the last.
    #[inline(always)]
    pub fn place_after(&self, plane: PlaneId) -> u32 {
        let next = self.place_of_plane[plane.index()] + 1;
        if (next as usize) < self.planes[self.of_plane(plane)].len() { next } else { 0 }
    }
}
