//! WARCIP: clusters of rewrite intervals (Yang, Pei and Yang, SYSTOR 2019). A page that the host
//! writes goes to the cluster whose centre is nearest to the time since its last write; the centre
//! is the mean of the pages in the open block of the cluster. A page that was copied meanwhile had
//! been expected to be rewritten sooner, and its interval is lengthened by its age at the copy.
//! Copies go to class 0, clusters are the classes from 1 on. All times are pages that the host has
//! written.

use super::numbered::{self, Numbered};
use super::page_table::{LastWrites, Numbers};
use super::saved::{keep_fraction, take_fraction};
use super::{Copied, Placement, State, Write};
use crate::device::Geometry;
use crate::ftl::BlockFacts;
use crate::gc::choice::{Choice, Count};
use crate::ids::Lpn;
use std::slice::Iter;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "warcip",
    about: "writes go to the cluster with the nearest rewrite interval, copies to a class of their \
            own",
    keys: &[&CLASSES],
    source: "Yang, Pei and Yang 2019 (WARCIP)",
};

const CLASSES: Count = Count {
    name: "classes",
    default: 6,
    least: 1,
    most: 16,
    about: "most classes: that of copies, and clusters of writes",
};

/// The times of writes, and the clusters.
pub const STATE: State = State {
    by: "warcip ",
    name: "rewrite intervals",
    without: "as if its pages had been written long ago",
};

/// Blocks that the host fills between two changes of the clusters.
const PERIOD: u32 = 256;

/// The number of classes.
pub type Settings = numbered::Settings<Rules>;

/// Copies go to one class.
#[derive(Clone, Debug)]
pub struct Rules;

impl Numbered for Rules {
    const CLASSES: &'static Count = &CLASSES;
    const STATE: State = STATE;
    const KEEPS_BLOCKS: bool = true;

    fn classes_of_copies(_classes: u32) -> u32 {
        1
    }

    fn first_of_copies(_classes: u32) -> u32 {
        0
    }
}

/// Whether a cluster takes pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Open,
    /// It does until its block is sealed.
    Closing,
    Closed,
}

/// Pages with similar intervals.
#[derive(Clone, Copy, Debug)]
struct Cluster {
    centre: f64,
    /// Pages in its open block.
    pages: u32,
    /// Pages since the clusters were changed.
    writes: u32,
    state: Use,
}

/// The clusters, and the times of writes.
#[derive(Clone)]
pub struct Policy {
    last: LastWrites,
    /// The age of each page when it was copied last, if that was after its last write.
    penalties: Numbers,
    /// The clusters of the classes from 1 on.
    clusters: Vec<Cluster>,
    /// Blocks that were sealed since the clusters were changed.
    sealed: u32,
    data_pages: u32,
}

impl Policy {
    /// All clusters are open, with no interval.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        let cluster = Cluster { centre: 0.0, pages: 0, writes: 0, state: Use::Open };
        Policy {
            last: LastWrites::new(geometry),
            penalties: Numbers::new(geometry),
            clusters: vec![cluster; settings.highest().into()],
            sealed: 0,
            data_pages: geometry.shape.data_pages(),
        }
    }

    /// The place of the nearest cluster, the last one of several; `None` where there are no
    /// clusters.
    fn nearest(&self, interval: f64) -> Option<usize> {
        let used = self.clusters.iter().enumerate().filter(|(_, c)| c.state != Use::Closed);
        let distances = used.map(|(at, cluster)| (at, (cluster.centre - interval).abs()));
        distances.reduce(|a, b| if b.1 <= a.1 { b } else { a }).map(|(at, _)| at)
    }

    /// A cluster with more than half of the writes is divided, if one is left; else one with less
    /// than a block of writes is closed.
    fn change_clusters(&mut self) {
        let all: u32 = self.clusters.iter().map(|cluster| cluster.writes).sum();
        let is_used = |cluster: &Cluster| cluster.state == Use::Open;
        let is_large = |cluster: &Cluster| is_used(cluster) && cluster.writes > all / 2;
        let large = self.clusters.iter().position(is_large);
        let closed = self.clusters.iter().position(|cluster| cluster.state == Use::Closed);
        if let (Some(large), Some(closed)) = (large, closed) {
            let centre = self.between(large);
            self.clusters[closed] = Cluster { centre, pages: 0, writes: 0, state: Use::Open };
        } else if self.clusters.iter().filter(|cluster| is_used(cluster)).count() > 1 {
            let is_small = |cluster: &&mut Cluster| is_used(cluster);
            let mut used = self.clusters.iter_mut().filter(is_small);
            if let Some(small) = used.find(|cluster| cluster.writes < self.data_pages) {
                // Without an open block there is none to wait for.
                small.state = if small.pages == 0 { Use::Closed } else { Use::Closing };
            }
        }
        self.clusters.iter_mut().for_each(|cluster| cluster.writes = 0);
    }

    /// The interval halfway between this cluster and the one with the next longer interval; that
    /// with the next shorter one, where it has the longest.
    fn between(&self, at: usize) -> f64 {
        let own = self.clusters[at].centre;
        let used = self.clusters.iter().filter(|cluster| cluster.state != Use::Closed);
        let centres: Vec<f64> = used.map(|cluster| cluster.centre).collect();
        let longer = centres.iter().copied().filter(|&c| c > own).reduce(f64::min);
        let shorter = centres.iter().copied().filter(|&c| c < own).reduce(f64::max);
        longer.or(shorter).map_or(own, |other| (own + other) / 2.0)
    }
}

impl Placement for Policy {
    fn class_of_write(&mut self, write: Write) -> u8 {
        let Write { lpn, is_update, clock, .. } = write;
        let penalty = u64::from(self.penalties.get(lpn));
        let interval = if is_update { self.last.since(lpn, clock) + penalty } else { 0 };
        self.last.set(lpn, clock);
        self.penalties.set(lpn, 0);
        let interval = interval as f64;
        let Some(at) = self.nearest(interval) else { return 0 };
        let cluster = &mut self.clusters[at];
        cluster.pages = cluster.pages.saturating_add(1);
        cluster.writes = cluster.writes.saturating_add(1);
        cluster.centre += (interval - cluster.centre) / f64::from(cluster.pages);
        at as u8 + 1
    }

    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        if copy.is_current {
            let age = self.last.since(copy.lpn, copy.clock);
            self.penalties.set(copy.lpn, age as u32);
        }
        0
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.penalties.set(lpn, 0);
    }

    fn sealed(&mut self, block: BlockFacts) {
        let Some(at) = block.class.and_then(|class| usize::from(class).checked_sub(1)) else {
            return;
        };
        let cluster = &mut self.clusters[at];
        cluster.pages = 0;
        if cluster.state == Use::Closing {
            cluster.state = Use::Closed;
        }
        self.sealed += 1;
        if self.sealed == PERIOD {
            self.sealed = 0;
            self.change_clusters();
        }
    }

    #[inline]
    fn prefetch(&self, lpn: Lpn) {
        self.last.prefetch(lpn);
        self.penalties.prefetch(lpn);
    }

    fn keep(&self, numbers: &mut Vec<u32>) {
        numbers.push(self.sealed);
        for Cluster { centre, pages, writes, state } in &self.clusters {
            keep_fraction(*centre, numbers);
            numbers.extend([*pages, *writes, *state as u32]);
        }
        self.last.keep(numbers);
        self.penalties.keep(numbers);
    }

    fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        self.sealed = *numbers.next().filter(|&&sealed| sealed < PERIOD)?;
        for cluster in &mut self.clusters {
            cluster.centre = take_fraction(numbers)?;
            cluster.pages = *numbers.next()?;
            cluster.writes = *numbers.next().filter(|&&writes| writes < 1 << 28)?;
            let states = [Use::Open, Use::Closing, Use::Closed];
            cluster.state = *states.get(*numbers.next()? as usize)?;
        }
        let is_used = |cluster: &Cluster| cluster.state != Use::Closed;
        if !self.clusters.is_empty() && !self.clusters.iter().any(is_used) {
            return None;
        }
        self.last.take_kept(numbers)?;
        self.penalties.take_kept(numbers)
    }

    fn table_bytes(&self) -> u64 {
        self.last.bytes() + self.penalties.bytes()
    }
}
