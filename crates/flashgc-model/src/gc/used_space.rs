//! The triggers `used-space` and `garbage-share`, as the plan has resolved them, and the lists of
//! victims that they keep.
//!
//! Paper on-demand-gc, sections 4 and 5: collection begins when the pages in use, valid and invalid
//! ones, reach a share of all pages, and takes only blocks of which a share is invalid. A plane's
//! *list* is all such blocks. Here it is a count: the victim policy chooses the next block, so that
//! no entry can be stale.
//!
//! By the share of garbage, collection begins when the invalid pages of sealed blocks exceed a
//! share of all pages in use.

use super::Batch;
use super::choice::as_number;
use crate::device::Geometry;
use crate::ids::PlaneId;
use flashgc_config::units::Share;
use serde::Serialize;

/// The scope of the counts of space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpaceOf {
    /// Over the whole device.
    Device,
    /// In each plane by itself.
    Plane,
}

impl SpaceOf {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, SpaceOf); 2] =
        [("device", SpaceOf::Device), ("plane", SpaceOf::Plane)];
}

/// The quantity whose limit triggers a collection.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Measure {
    /// Pages in use.
    Used {
        /// With this number of erased pages or fewer, too many pages are in use.
        free_pages: u64,
    },
    /// Invalid pages of sealed blocks.
    Garbage {
        /// More than this share of the pages in use is too much.
        #[serde(serialize_with = "as_number")]
        above: Share,
        /// All pages that are counted together.
        pages: u64,
    },
}

/// The counts of a plane, or of the device.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Erased pages.
    pub free: u64,
    /// Invalid pages of sealed blocks.
    pub garbage: u64,
}

impl Measure {
    /// Whether there is too much.
    #[inline]
    pub fn is_on(&self, now: Counted) -> bool {
        match *self {
            Measure::Used { free_pages } => now.free <= free_pages,
            Measure::Garbage { above, pages } => {
                let garbage = u128::from(now.garbage) * u128::from(above.denominator);
                garbage > u128::from(pages - now.free) * u128::from(above.numerator)
            }
        }
    }

    /// Pages that can be overwritten until there is too much.
    pub fn pages_left(&self, now: Counted) -> u64 {
        match *self {
            Measure::Used { free_pages } => now.free.saturating_sub(free_pages),
            Measure::Garbage { above, pages } => {
                // Each overwrite adds a page to both sides.
                let [share, whole] = [above.numerator, above.denominator].map(u128::from);
                let bound = u128::from(pages - now.free) * share;
                let left = bound.saturating_sub(u128::from(now.garbage) * whole);
                let left = left / (whole - share).max(1);
                u64::try_from(left).unwrap_or(u64::MAX)
            }
        }
    }
}

/// The rules for the collection of used space.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UsedSpace {
    /// The scope of the counts.
    pub of: SpaceOf,
    /// The quantity that is limited.
    #[serde(flatten)]
    pub measure: Measure,
    /// The most valid pages of a block on the list.
    pub most_valid: u32,
}

/// The lists of all planes, and the space that collections under way will free.
#[derive(Clone)]
pub struct VictimLists {
    /// The settings of the plan.
    pub rules: UsedSpace,
    /// Whether each detection of a shortage collects one block, in any plane of the device.
    pub one_by_one: bool,
    /// The blocks on each plane's list.
    listed: Vec<u32>,
    /// The blocks on all lists.
    total: u64,
    /// Planes with a request for one block that has not begun.
    requested: Vec<bool>,
    /// Pages that requested blocks free at least, whose collections have not begun.
    requested_pages: u64,
    /// Erased pages to come from collections in progress.
    coming_pages: u64,
    /// The part of it that the collection of each unit will free.
    from_job: Vec<u32>,
    /// Pages that one block of a list frees at least.
    least_won: u32,
    /// Whether all planes with a list were called to collect since space was last sufficient.
    pub all_requested: bool,
    /// Planes that need space while the drive is preconditioned; `None` once it is measured.
    pub untimed: Option<Vec<PlaneId>>,
}

impl VictimLists {
    /// Empty lists.
    pub fn new(rules: UsedSpace, batch: Batch, geometry: &Geometry) -> Self {
        let planes = geometry.planes as usize;
        VictimLists {
            rules,
            one_by_one: batch == Batch::One && rules.of == SpaceOf::Device,
            listed: vec![0; planes],
            total: 0,
            requested: vec![false; planes],
            requested_pages: 0,
            coming_pages: 0,
            from_job: vec![0; geometry.units as usize],
            least_won: geometry.shape.data_pages() - rules.most_valid,
            all_requested: false,
            untimed: Some(Vec::new()),
        }
    }

    /// Whether too many pages are in use, or invalid. The pages of a requested block count before
    /// they are freed, so that each detection leads to one collection; a block under collection no
    /// longer counts as garbage.
    #[inline]
    pub fn is_on(&self, now: Counted) -> bool {
        let Counted { free, garbage } = now;
        let free = free + self.requested_pages + self.coming_pages;
        let garbage = garbage.saturating_sub(self.requested_pages);
        self.rules.measure.is_on(Counted { free, garbage })
    }

    /// Whether a block with `valid` valid pages belongs on a list.
    #[inline]
    pub fn takes(&self, valid: u32) -> bool {
        valid <= self.rules.most_valid
    }

    /// The blocks on a plane's list.
    pub fn listed(&self, plane: PlaneId) -> u32 {
        self.listed[plane.index()]
    }

    /// Whether no plane has anything on its list.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// A block of this plane is on the list from now on.
    pub fn add(&mut self, plane: PlaneId) {
        self.listed[plane.index()] += 1;
        self.total += 1;
    }

    /// A collection takes a block of this plane; returns whether it was on the list.
    pub fn claim(&mut self, plane: PlaneId, valid: u32) -> bool {
        if std::mem::take(&mut self.requested[plane.index()]) {
            self.requested_pages -= u64::from(self.least_won);
        }
        let was_listed = self.takes(valid);
        self.listed[plane.index()] -= u32::from(was_listed);
        self.total -= u64::from(was_listed);
        was_listed
    }

    /// One block of this plane is requested.
    pub fn request_one(&mut self, plane: PlaneId) {
        if !std::mem::replace(&mut self.requested[plane.index()], true) {
            self.requested_pages += u64::from(self.least_won);
        }
    }

    /// The collection of a unit will free `pages` more erased pages.
    pub fn expect(&mut self, unit: usize, pages: u32) {
        if self.one_by_one {
            self.from_job[unit] += pages;
            self.coming_pages += u64::from(pages);
        }
    }

    /// Measuring begins: nothing is requested or under way.
    pub fn measuring_begins(&mut self) {
        self.requested.fill(false);
        self.from_job.fill(0);
        (self.requested_pages, self.coming_pages) = (0, 0);
        (self.all_requested, self.untimed) = (false, None);
    }

    /// The collection of a unit has given them.
    pub fn given(&mut self, unit: usize) {
        self.coming_pages -= u64::from(std::mem::take(&mut self.from_job[unit]));
    }
}
