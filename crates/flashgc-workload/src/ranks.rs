//! Places in the order in which a distribution of addresses prefers them, the hottest first.

use super::address::{AddressChoice, Group, Scatter, group_ends};
use super::permutation::Permutation;
use super::ranked::{self, ZipfChoice};

/// The rank of each place.
#[derive(Clone)]
pub(super) enum Ranks {
    /// The number of the place.
    InOrder,
    /// Ranks are scattered over this number of places: a place times this number, modulo places.
    Scattered(u64, u64),
    /// The nearer to a center, the hotter.
    Around { center: f64, positions: u64 },
    /// Spans of this number of places, each with its first place and the rank of its first place.
    Spans(Vec<(u64, u64)>, u64),
    /// Spans of scattered places.
    ScatteredSpans(Vec<(u64, u64)>, Permutation),
    /// The number of the place before it was scattered.
    Unscattered(Permutation),
}

/// The groups of places of a distribution with groups, and one for the remaining places.
pub(super) fn groups_of(choice: &AddressChoice) -> Vec<Group> {
    let mut groups = match choice {
        AddressChoice::Groups(groups) | AddressChoice::Scattered { groups, .. } => groups.clone(),
        AddressChoice::HotCold { f, r } => vec![Group { places: *f, requests: *r }],
        _ => Vec::new(),
    };
    let sum = |part: fn(&Group) -> f64| groups.iter().map(part).sum::<f64>();
    let rest = Group {
        places: (1.0 - sum(|group| group.places)).max(0.0),
        requests: (1.0 - sum(|group| group.requests)).max(0.0),
    };
    // Sums of shares that were written with few digits.
    if rest.places > 1e-6 {
        groups.push(rest);
    }
    groups
}

impl Ranks {
    /// The ranks of a distribution over this number of places.
    pub(super) fn new(choice: &AddressChoice, positions: u64) -> Self {
        match choice {
            AddressChoice::Uniform => Ranks::InOrder,
            AddressChoice::Zipf(ZipfChoice { ranks: ranked::Ranks::InOrder, .. }) => Ranks::InOrder,
            AddressChoice::Zipf(_) | AddressChoice::Pareto { .. } => {
                Ranks::Scattered(Scatter::new(positions).inverse(), positions)
            }
            AddressChoice::Normal { center, .. } => {
                Ranks::Around { center: center * positions as f64, positions }
            }
            AddressChoice::HotCold { .. } | AddressChoice::Groups(_) => {
                Ranks::Spans(spans(&groups_of(choice), positions), positions)
            }
            AddressChoice::Scattered { .. } => match choice.scatter(positions) {
                Some(scatter) => {
                    Ranks::ScatteredSpans(spans(&groups_of(choice), positions), scatter)
                }
                None => Ranks::InOrder,
            },
        }
    }

    /// The ranks of a distribution in which the first place of its first group comes first.
    pub(super) fn by_group(choice: &AddressChoice, positions: u64) -> Self {
        choice.scatter(positions).map_or(Ranks::InOrder, Ranks::Unscattered)
    }

    /// The rank of a place. One beyond the places comes last.
    pub(super) fn of(&self, place: u64) -> u64 {
        match self {
            Ranks::InOrder => place,
            Ranks::Scattered(_, positions) if place >= *positions => u64::MAX,
            Ranks::Scattered(by, positions) => {
                (u128::from(place) * u128::from(*by) % u128::from(*positions)) as u64
            }
            Ranks::Around { center, positions } => {
                let distance = libm::fabs(place as f64 + 0.5 - center);
                let side = |room: f64| libm::fmin(distance, room);
                libm::floor(side(*center) + side(*positions as f64 - center)) as u64
            }
            Ranks::Spans(_, positions) if place >= *positions => u64::MAX,
            Ranks::Spans(spans, _) => rank_in(spans, place),
            Ranks::ScatteredSpans(_, scatter) | Ranks::Unscattered(scatter)
                if place >= scatter.count() =>
            {
                u64::MAX
            }
            Ranks::ScatteredSpans(spans, scatter) => rank_in(spans, scatter.place_of(place)),
            Ranks::Unscattered(scatter) => scatter.place_of(place),
        }
    }
}

/// The rank of a place in these spans.
fn rank_in(spans: &[(u64, u64)], place: u64) -> u64 {
    let behind = spans.partition_point(|&(first, _)| first <= place);
    let (first, rank) = spans[behind.saturating_sub(1)];
    rank + (place - first)
}

/// The groups one behind the other, ranked by their requests for each place.
fn spans(groups: &[Group], positions: u64) -> Vec<(u64, u64)> {
    let ends = group_ends(groups, positions);
    let starts: Vec<u64> = std::iter::once(0).chain(ends.iter().copied()).collect();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    let density = |at: usize| groups[at].requests / groups[at].places.max(f64::MIN_POSITIVE);
    order.sort_by(|&a, &b| density(b).total_cmp(&density(a)));
    let mut rank = 0;
    let mut found = Vec::new();
    for at in order {
        if ends[at] > starts[at] {
            found.push((starts[at], rank));
            rank += ends[at] - starts[at];
        }
    }
    found.sort_unstable();
    if found.is_empty() { vec![(0, 0)] } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_a_rank_of_its_own() {
        let group = |places, requests| Group { places, requests };
        let choices = [
            AddressChoice::Uniform,
            AddressChoice::Zipf(ZipfChoice::new(1.0)),
            AddressChoice::Zipf(ZipfChoice {
                ranks: ranked::Ranks::InOrder,
                ..ZipfChoice::new(0.9)
            }),
            AddressChoice::HotCold { f: 0.0, r: 1.0 },
            AddressChoice::HotCold { f: 0.31, r: 0.1 },
            AddressChoice::Groups(vec![group(0.1, 0.0), group(0.5, 0.2), group(0.3, 0.8)]),
            AddressChoice::Scattered { groups: vec![group(0.9, 0.1), group(0.1, 0.9)], scatter: 3 },
        ];
        for choice in choices {
            for positions in [1, 2, 7, 1000] {
                let ranks = Ranks::new(&choice, positions);
                let mut found: Vec<u64> = (0..positions).map(|place| ranks.of(place)).collect();
                found.sort_unstable();
                assert!(found.into_iter().eq(0..positions), "{choice:?}, {positions}");
                assert!(ranks.of(positions + 3) >= positions);
            }
        }
    }

    #[test]
    fn places_are_ranked_by_their_distance_from_a_mean() {
        let ranks = Ranks::new(&AddressChoice::Normal { stddev: 0.1, center: 0.2 }, 10);
        let found: Vec<u64> = (0..10).map(|place| ranks.of(place)).collect();
        assert_eq!(found, [3, 1, 1, 3, 4, 5, 6, 7, 8, 9]);
    }
}
