//! The layout of the places: regions, and in them runs of pages of one kind.

use super::order::Order;
use super::recency::Recency;
use super::{FittedPlan, PAGE_BYTES, PlacesPlan, RegionPlan};
use flashgc_model::rng::Random;

/// Sectors are the finest unit of addresses.
const SECTOR_BYTES: u64 = 512;

/// Places of one kind: each is the range of one write.
#[derive(Clone, Debug)]
pub struct Places {
    /// First byte of each, rising.
    pub starts: Vec<u64>,
    /// Bytes of each.
    pub sizes: Vec<u32>,
    /// In the order of their last writes.
    pub recency: Recency,
    /// The number of the first of them among all places.
    pub base: u32,
}

/// All places and pages that requests go to.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Places of each kind.
    pub places: Vec<Places>,
    /// Pages that are only read: first page of each run, and pages up to its end.
    pub read_only: Vec<(u64, u64)>,
    /// All places in the order of their last writes.
    pub order: Order,
    /// Bytes in all.
    pub bytes: u64,
}

impl Layout {
    /// The kind of a place and its number in it, from its number among all.
    pub fn place(&self, number: u32) -> (usize, u32) {
        let kind = self.places.partition_point(|kind| kind.base <= number).saturating_sub(1);
        (kind, number - self.places[kind].base)
    }
}

/// The places of one kind, while they are laid out.
struct Laid<'a> {
    plan: &'a PlacesPlan,
    starts: Vec<u64>,
    sizes: Vec<u32>,
}

/// Places that were first written one after the other: their kinds and numbers.
type Chains = Vec<Vec<(usize, u32)>>;

/// A run of pages of one kind; `None`: only read.
struct Run {
    kind: Option<usize>,
    pages: u64,
    /// Bytes of its first place.
    first_bytes: u64,
}

impl Laid<'_> {
    /// Fills the pages of a run with places.
    fn fill(&mut self, page: u64, run: &Run, chains: &mut Chains, random: &mut Random) {
        let (mut at, end) = (page * PAGE_BYTES, (page + run.pages) * PAGE_BYTES);
        let mut bytes = run.first_bytes;
        let mut is_first = true;
        while at < end {
            let adjacent = !is_first && random.unit() < self.plan.adjacent;
            if !adjacent {
                let chained = random.unit() < self.plan.in_order;
                if chains.is_empty() || !chained {
                    chains.push(Vec::new());
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
            if let (Some(chain), Some(kind)) = (chains.last_mut(), run.kind) {
                chain.push((kind, self.starts.len() as u32));
            }
            self.starts.push(at);
            self.sizes.push(size as u32);
            at += size;
            bytes = self.plan.size.draw(random);
        }
    }
}

/// Puts all places into the order of their chains, which come in a random order.
fn in_order(laid: Vec<Laid<'_>>, mut chains: Chains, random: &mut Random) -> (Vec<Places>, Order) {
    shuffle(&mut chains, random);
    let mut orders: Vec<Vec<u32>> = vec![Vec::new(); laid.len()];
    let mut bases = Vec::with_capacity(laid.len());
    let mut count = 0;
    for kind in &laid {
        bases.push(count);
        count += kind.starts.len() as u32;
    }
    let mut all = Vec::with_capacity(count as usize);
    for &(kind, place) in chains.iter().flatten() {
        orders[kind].push(place);
        all.push(bases[kind] + place);
    }
    let kinds = laid.into_iter().zip(orders).zip(bases);
    let places = kinds.map(|((laid, order), base)| Places {
        starts: laid.starts,
        sizes: laid.sizes,
        recency: Recency::new(&order),
        base,
    });
    (places.collect(), Order::new(&all))
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for at in (1..items.len()).rev() {
        items.swap(at, random.below(at as u64 + 1) as usize);
    }
}

/// Pages that the regions may take beyond their own and a hundredth of them.
const EXCESS_PAGES: u64 = 32;

/// Lays out the regions of a plan, in a random order.
pub fn lay_out(plan: &FittedPlan, random: &mut Random) -> Layout {
    let kinds = plan.places.len();
    let laid = |plan| Laid { plan, starts: Vec::new(), sizes: Vec::new() };
    let mut places: Vec<Laid<'_>> = plan.places.iter().map(laid).collect();
    let mut regions: Vec<usize> = Vec::new();
    for (at, region) in plan.regions.iter().enumerate() {
        regions.extend(std::iter::repeat_n(at, region.count as usize));
    }
    shuffle(&mut regions, random);
    // The part of a page that is missing or too much is balanced in the next region.
    let mut owed = vec![0.0; kinds + 1];
    let (mut page, mut read_only, mut read_pages) = (0_u64, Vec::new(), 0);
    let mut chains: Chains = Vec::new();
    // A last run that is much too long would need a larger drive than the trace does.
    let pages = |region: &RegionPlan| u64::from(region.count) * u64::from(region.of_pages);
    let all: u64 = plan.regions.iter().map(pages).sum();
    let most = all + all / 100 + EXCESS_PAGES;
    for region in regions {
        for mut run in runs_of(plan, region, &mut owed, random) {
            run.pages = run.pages.min(most.saturating_sub(page));
            if run.pages == 0 {
                continue;
            }
            match run.kind {
                Some(kind) => places[kind].fill(page, &run, &mut chains, random),
                None => {
                    read_pages += run.pages;
                    read_only.push((page, read_pages));
                }
            }
            page += run.pages;
        }
    }
    // A kind with less than a page in all has one.
    for (kind, laid) in places.iter_mut().enumerate() {
        if laid.starts.is_empty() {
            let first_bytes = laid.plan.size.draw(random);
            let pages = first_bytes.div_ceil(PAGE_BYTES).max(1);
            let run = Run { kind: Some(kind), pages, first_bytes };
            laid.fill(page, &run, &mut chains, random);
            page += pages;
        }
    }
    let (places, order) = in_order(places, chains, random);
    Layout { places, read_only, order, bytes: page * PAGE_BYTES }
}

/// The runs of one region, in a random order.
fn runs_of(plan: &FittedPlan, region: usize, owed: &mut [f64], random: &mut Random) -> Vec<Run> {
    let mut runs = Vec::new();
    let region = &plan.regions[region];
    let written: f64 = region.pages.iter().sum();
    let read_only = (region.of_pages as f64 - written).max(0.0);
    for (kind, owed) in owed.iter_mut().enumerate() {
        *owed += region.pages.get(kind).copied().unwrap_or(read_only);
        let places = plan.places.get(kind);
        while *owed >= 1.0 {
            let drawn = places.map_or(&plan.read_only_run, |places| &places.run).draw(random);
            let first_bytes = places.map_or(0, |places| places.size.draw(random));
            let most = (*owed as u64).max(1);
            // A place is not cut short by the end of a run; the next region compensates for it.
            let pages = drawn.clamp(1, most).max(first_bytes.div_ceil(PAGE_BYTES));
            runs.push(Run { kind: places.map(|_| kind), pages, first_bytes });
            *owed -= pages as f64;
        }
    }
    shuffle(&mut runs, random);
    runs
}
