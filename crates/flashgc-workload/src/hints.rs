//! Placement hints of writes that are drawn.
//!
//! Of a synthetic workload a hint follows from the page, so that a drive is filled and overwritten
//! with the hints of the measured part. The jobs of a workload have hints of their own.

use super::address::{self, AddressChoice};
use super::ranks::{Ranks, groups_of};
use flashgc_model::rng::Random;
use serde::Serialize;

/// The most hints of a workload: one is a byte.
pub const HINTS_MAX: usize = 256;

/// The hints of a synthetic workload. The first share has hint 0, and the rest the last hint.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HintPlan {
    /// Parts of the drive, one behind the other.
    Regions(Vec<f64>),
    /// Shares of the places that writes go to, the most written first.
    Hotness(Vec<f64>),
    /// The groups of places of the addresses, in their order.
    Groups,
}

/// The range and the unit of the first bytes of writes.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// The used part, from the start of the drive.
    pub span_bytes: u64,
    /// The size of a place.
    pub place_bytes: u64,
    /// The size of a page.
    pub page_bytes: u64,
}

/// The hint of each page.
#[derive(Clone)]
pub struct PageHints(By);

#[derive(Clone)]
enum By {
    /// The first page behind each part, and the part's hint. Pages behind all have the last hint.
    Parts(Vec<(u32, u8)>),
    /// By the rank of a place; the first rank behind each class but the last.
    Rank { ranks: Ranks, places: Places, ends: Vec<u64> },
}

/// The ends of parts with these shares of a whole. The last one has the rest, and no end.
fn ends(shares: &[f64], whole: u64) -> Vec<u64> {
    let mut sum = 0.0;
    let mut ends: Vec<u64> = shares
        .iter()
        .map(|share| {
            sum += share;
            libm::round(sum * whole as f64) as u64
        })
        .collect();
    ends.pop();
    ends
}

impl PageHints {
    /// The hints of writes to these addresses, on a drive with this number of user pages.
    pub fn new(
        plan: &HintPlan,
        address: &AddressChoice,
        places: Places,
        exported_pages: u32,
    ) -> Self {
        let positions = (places.span_bytes / places.place_bytes).max(1);
        PageHints(match plan {
            HintPlan::Regions(shares) => {
                let ends = ends(shares, u64::from(exported_pages));
                let last = (u32::MAX, ends.len() as u8);
                let parts = ends.iter().zip(0..).map(|(&end, hint)| (end as u32, hint));
                By::Parts(parts.chain([last]).collect())
            }
            HintPlan::Hotness(shares) => {
                let ranks = Ranks::new(address, positions);
                By::Rank { ranks, places, ends: ends(shares, positions) }
            }
            HintPlan::Groups => {
                let mut ends = address::group_ends(&groups_of(address), positions);
                ends.pop();
                By::Rank { ranks: Ranks::by_group(address, positions), places, ends }
            }
        })
    }

    /// The hints of these parts: first page, first page behind it, hint. Where two overlap the
    /// first counts; pages in none have hint 0.
    pub fn of_parts(parts: &[(u32, u32, u8)]) -> Self {
        let mut cuts: Vec<u32> = parts.iter().flat_map(|&(from, to, _)| [from, to]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut from = 0;
        let mut found = Vec::new();
        for to in cuts {
            let covers = |part: &&(u32, u32, u8)| part.0 <= from && part.1 >= to;
            found.push((to, parts.iter().find(covers).map_or(0, |part| part.2)));
            from = to;
        }
        found.push((u32::MAX, 0));
        PageHints(By::Parts(found))
    }

    /// The hint of a page.
    #[inline]
    pub fn of(&self, lpn: u32) -> u8 {
        match &self.0 {
            By::Parts(parts) => {
                let at = parts.partition_point(|&(end, _)| end <= lpn);
                parts[at.min(parts.len() - 1)].1
            }
            By::Rank { ranks, places, ends } => {
                let at = u64::from(lpn) * places.page_bytes / places.place_bytes;
                let rank = ranks.of(at);
                ends.partition_point(|&end| end <= rank) as u8
            }
        }
    }
}

/// The order in which a job uses its hints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    /// In turn, one for each write.
    #[default]
    RoundRobin,
    /// Any, with the same probability.
    Random,
}

/// The hints of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobHintPlan {
    /// The hints; none where the job gives none.
    pub hints: Vec<u8>,
    /// The choice among several.
    pub select: Select,
}

impl JobHintPlan {
    /// Whether the job gives no hint.
    pub fn is_none(&self) -> bool {
        self.hints.is_empty()
    }
}

/// Draws the hints of a clone of a job.
pub struct JobHints {
    plan: JobHintPlan,
    next: usize,
    random: Random,
}

impl JobHints {
    /// From this stream.
    pub fn new(plan: &JobHintPlan, random: Random) -> Self {
        JobHints { plan: plan.clone(), next: 0, random }
    }

    /// The hint of the next write.
    pub fn draw(&mut self) -> u8 {
        match (&self.plan.hints[..], self.plan.select) {
            ([], _) => 0,
            ([only], _) => *only,
            (hints, Select::Random) => hints[self.random.below(hints.len() as u64) as usize],
            (hints, Select::RoundRobin) => {
                let hint = hints[self.next];
                self.next = (self.next + 1) % hints.len();
                hint
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{Addresses, Group};
    use crate::ranked::ZipfChoice;

    fn hints(plan: &HintPlan, address: &AddressChoice, pages: u32) -> Vec<u8> {
        let bytes = |pages: u32| u64::from(pages) * 4096;
        let places = Places { span_bytes: bytes(pages), place_bytes: 4096, page_bytes: 4096 };
        let hints = PageHints::new(plan, address, places, pages);
        (0..pages).map(|lpn| hints.of(lpn)).collect()
    }

    #[test]
    fn regions_lie_one_behind_the_other() {
        let regions = HintPlan::Regions(vec![0.2, 0.3, 0.1]);
        let found = hints(&regions, &AddressChoice::Uniform, 10);
        assert_eq!(found, [0, 0, 1, 1, 1, 2, 2, 2, 2, 2]);
        assert_eq!(hints(&HintPlan::Regions(vec![1.0]), &AddressChoice::Uniform, 3), [0; 3]);
    }

    #[test]
    fn groups_are_those_of_the_addresses() {
        let group = |places, requests| Group { places, requests };
        let groups = AddressChoice::Groups(vec![group(0.2, 0.1), group(0.5, 0.0), group(0.3, 0.9)]);
        assert_eq!(hints(&HintPlan::Groups, &groups, 10), [0, 0, 1, 1, 1, 1, 1, 2, 2, 2]);
        let AddressChoice::Groups(same) = &groups else { unreachable!() };
        let scattered = AddressChoice::Scattered { groups: same.clone(), scatter: 1 };
        let found = hints(&HintPlan::Groups, &scattered, 1000);
        let pages = |hint| found.iter().filter(|&&of| of == hint).count();
        assert_eq!([0, 1, 2].map(pages), [200, 500, 300]);
        assert!(found[..20].iter().any(|&hint| hint != 0), "all of the first are in one group");
        let hot = AddressChoice::HotCold { f: 0.3, r: 0.9 };
        assert_eq!(hints(&HintPlan::Groups, &hot, 10), [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
    }

    /// The pages of hint 0 have the most writes, whatever the distribution.
    #[test]
    fn the_hottest_pages_have_the_first_hint() {
        let group = |places, requests| Group { places, requests };
        let choices = [
            AddressChoice::Zipf(ZipfChoice::new(1.0)),
            AddressChoice::Pareto { h: 0.2 },
            AddressChoice::Normal { stddev: 0.1, center: 0.3 },
            AddressChoice::HotCold { f: 0.25, r: 0.9 },
            AddressChoice::HotCold { f: 0.75, r: 0.1 },
            AddressChoice::Groups(vec![group(0.5, 0.1), group(0.25, 0.0), group(0.25, 0.9)]),
            AddressChoice::Scattered {
                groups: vec![group(0.5, 0.1), group(0.25, 0.0), group(0.25, 0.9)],
                scatter: 7,
            },
        ];
        for choice in choices {
            let found = hints(&HintPlan::Hotness(vec![0.25, 0.25, 0.5]), &choice, 1000);
            let addresses = Addresses::new(&choice, 1000);
            let mut random = Random::named(1, "address");
            let mut writes = [0_u32; 3];
            for _ in 0..100_000 {
                writes[usize::from(found[addresses.next(&mut random) as usize])] += 1;
            }
            let pages = |hint| found.iter().filter(|&&of| of == hint).count();
            assert_eq!([0, 1, 2].map(pages), [250, 250, 500], "{choice:?}");
            assert!(writes[0] > 50_000, "{choice:?}: {writes:?}");
            assert!(writes[1] >= writes[2] / 3, "{choice:?}: {writes:?}");
        }
    }

    #[test]
    fn the_first_of_two_parts_counts() {
        let hints = PageHints::of_parts(&[(2, 5, 7), (4, 8, 9), (10, 12, 3)]);
        let found: Vec<u8> = (0..13).map(|lpn| hints.of(lpn)).collect();
        assert_eq!(found, [0, 0, 7, 7, 7, 9, 9, 9, 0, 0, 3, 3, 0]);
    }

    #[test]
    fn hints_of_a_job_come_in_turn_or_by_chance() {
        let plan = |select| JobHintPlan { hints: vec![4, 0, 9], select };
        let draw = |plan: &JobHintPlan, count| {
            let mut hints = JobHints::new(plan, Random::named(1, "hint"));
            (0..count).map(|_| hints.draw()).collect::<Vec<u8>>()
        };
        assert_eq!(draw(&plan(Select::RoundRobin), 5), [4, 0, 9, 4, 0]);
        assert_eq!(draw(&JobHintPlan::default(), 2), [0, 0]);
        let drawn = draw(&plan(Select::Random), 3000);
        for hint in [4, 0, 9] {
            let count = drawn.iter().filter(|&&of| of == hint).count();
            assert!((900..1100).contains(&count), "{hint}: {count}");
        }
    }
}
