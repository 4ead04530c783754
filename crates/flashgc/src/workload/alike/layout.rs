//! Where the places lie: regions, and in them runs of pages of one kind.

use super::recency::Recency;
use super::{AlikePlan, PlacesPlan, PAGE_BYTES};
use crate::rng::Random;

/// Sectors are the finest unit of addresses.
const SECTOR_BYTES: u64 = 512;

/// Places of one kind: each is what one write covers.
#[derive(Clone, Debug)]
pub struct Places {
    /// First byte of each, rising.
    pub starts: Vec<u64>,
    /// Bytes of each.
    pub sizes: Vec<u32>,
    /// In the order of their last writes.
    pub recency: Recency,
}

/// Everything that the requests go to.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Places of each kind.
    pub places: Vec<Places>,
    /// Pages that are only read: first page of each run, and pages up to its end.
    pub read_only: Vec<(u64, u64)>,
    /// Bytes in all.
    pub bytes: u64,
}

/// The places of one kind, while they are laid out.
struct Laid<'a> {
    plan: &'a PlacesPlan,
    starts: Vec<u64>,
    sizes: Vec<u32>,
    /// Places that were first written one after the other.
    chains: Vec<Vec<u32>>,
}

/// A run of pages of one kind; `None`: only read.
struct Run {
    kind: Option<usize>,
    pages: u64,
    /// Bytes of its first place.
    first_bytes: u64,
}

impl Laid<'_> {
    /// Fills the bytes `at..end` with places, the first of them of `first_bytes`.
    fn fill(&mut self, mut at: u64, end: u64, first_bytes: u64, random: &mut Random) {
        let mut bytes = first_bytes;
        let mut is_first = true;
        while at < end {
            let adjacent = !is_first && random.unit() < self.plan.adjacent;
            if !adjacent {
                let chained = random.unit() < self.plan.in_order;
                if self.chains.is_empty() || !chained {
                    self.chains.push(Vec::new());
                }
                at = at.next_multiple_of(PAGE_BYTES);
                let shifted = at + self.plan.offset.draw(random);
                if at >= end {
                    break;
                }
                at = if shifted < end { shifted } else { at };
            }
            is_first = false;
            let size = bytes.clamp(SECTOR_BYTES, end - at);
            if let Some(chain) = self.chains.last_mut() {
                chain.push(self.starts.len() as u32);
            }
            self.starts.push(at);
            self.sizes.push(size as u32);
            at += size;
            bytes = self.plan.size.draw(random);
        }
    }

    fn done(mut self, random: &mut Random) -> Places {
        shuffle(&mut self.chains, random);
        let order: Vec<u32> = self.chains.concat();
        Places { starts: self.starts, sizes: self.sizes, recency: Recency::new(&order) }
    }
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for at in (1..items.len()).rev() {
        items.swap(at, random.below(at as u64 + 1) as usize);
    }
}

/// Lays out the regions of a plan, in an order of chance.
pub fn lay_out(plan: &AlikePlan, random: &mut Random) -> Layout {
    let kinds = plan.places.len();
    let laid = |plan| Laid { plan, starts: Vec::new(), sizes: Vec::new(), chains: Vec::new() };
    let mut places: Vec<Laid<'_>> = plan.places.iter().map(laid).collect();
    let mut regions: Vec<usize> = Vec::new();
    for (at, region) in plan.regions.iter().enumerate() {
        regions.extend(std::iter::repeat_n(at, region.count as usize));
    }
    shuffle(&mut regions, random);
    // What is left of a page, or was too much, is made good in the next region.
    let mut owed = vec![0.0; kinds + 1];
    let (mut page, mut read_only, mut read_pages) = (0_u64, Vec::new(), 0);
    for region in regions {
        for run in runs_of(plan, region, &mut owed, random) {
            let end = page + run.pages;
            match run.kind {
                Some(kind) => {
                    let (from, end) = (page * PAGE_BYTES, end * PAGE_BYTES);
                    places[kind].fill(from, end, run.first_bytes, random);
                }
                None => {
                    read_pages += run.pages;
                    read_only.push((page, read_pages));
                }
            }
            page = end;
        }
    }
    // A kind of which not even a page came together has one.
    for laid in &mut places {
        if laid.starts.is_empty() {
            let bytes = laid.plan.size.draw(random);
            let pages = bytes.div_ceil(PAGE_BYTES).max(1);
            laid.fill(page * PAGE_BYTES, (page + pages) * PAGE_BYTES, bytes, random);
            page += pages;
        }
    }
    let places = places.into_iter().map(|laid| laid.done(random)).collect();
    Layout { places, read_only, bytes: page * PAGE_BYTES }
}

/// The runs of one region, in an order of chance.
fn runs_of(plan: &AlikePlan, region: usize, owed: &mut [f64], random: &mut Random) -> Vec<Run> {
    let mut runs = Vec::new();
    let region = &plan.regions[region];
    let written: f64 = region.pages.iter().sum();
    let read_only = (region.of_pages as f64 - written).max(0.0);
    for kind in 0..owed.len() {
        owed[kind] += region.pages.get(kind).copied().unwrap_or(read_only);
        let places = plan.places.get(kind);
        while owed[kind] >= 1.0 {
            let drawn = places.map_or(&plan.read_only_run, |places| &places.run).draw(random);
            let first_bytes = places.map_or(0, |places| places.size.draw(random));
            let most = (owed[kind] as u64).max(1);
            // A place is not cut short by the end of a run; the next region makes it good.
            let pages = drawn.clamp(1, most).max(first_bytes.div_ceil(PAGE_BYTES));
            runs.push(Run { kind: places.map(|_| kind), pages, first_bytes });
            owed[kind] -= pages as f64;
        }
    }
    shuffle(&mut runs, random);
    runs
}
