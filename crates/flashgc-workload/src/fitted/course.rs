//! The bursts of each part of the course, in a random order, and the pauses before them.

use super::FittedPlan;
use flashgc_model::rng::Random;
use std::collections::VecDeque;

/// A burst that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Its kind.
    pub kind: usize,
    /// The time before it, in ns.
    pub pause_ns: u64,
}

/// The present point of the course.
#[derive(Debug, Default)]
pub struct Course {
    next_part: usize,
    ahead: VecDeque<Begin>,
    last_kind: Option<usize>,
}

impl Course {
    /// The next burst. After the last part the course begins again.
    pub fn next(&mut self, plan: &FittedPlan, random: &mut Random) -> Begin {
        loop {
            if let Some(begin) = self.ahead.pop_front() {
                return begin;
            }
            let part = &plan.course[self.next_part % plan.course.len()];
            self.next_part += 1;
            let kinds = self.order(plan, &part.bursts, random);
            let mut pauses: Vec<u64> =
                kinds.iter().map(|&kind| plan.bursts[kind].pause.draw_ns(random)).collect();
            fit(&mut pauses, part.pauses_ns);
            let begins = kinds.into_iter().zip(pauses);
            self.ahead.extend(begins.map(|(kind, pause_ns)| Begin { kind, pause_ns }));
        }
    }

    /// The kinds of a part's bursts. One follows another of its kind with the frequency of its
    /// plan, as far as there are any left.
    fn order(
        &mut self,
        plan: &FittedPlan,
        counts: &[(u32, u32)],
        random: &mut Random,
    ) -> Vec<usize> {
        let mut left: Vec<(usize, u32)> =
            counts.iter().map(|&(kind, count)| (kind as usize, count)).collect();
        let mut all: u64 = left.iter().map(|&(_, count)| u64::from(count)).sum();
        let mut order = Vec::with_capacity(all as usize);
        while all > 0 {
            let last = self.last_kind;
            let same = left.iter().position(|&(kind, count)| Some(kind) == last && count > 0);
            let at = same
                .filter(|&at| {
                    let by_chance = f64::from(left[at].1) / all as f64;
                    let stay = plan.bursts[left[at].0].stay;
                    by_chance >= 1.0 || random.unit() < (stay - by_chance) / (1.0 - by_chance)
                })
                .unwrap_or_else(|| {
                    let mut drawn = random.below(all);
                    let mut at = 0;
                    while drawn >= u64::from(left[at].1) {
                        drawn -= u64::from(left[at].1);
                        at += 1;
                    }
                    at
                });
            left[at].1 -= 1;
            all -= 1;
            order.push(left[at].0);
            self.last_kind = Some(left[at].0);
        }
        order
    }
}

/// Makes the pauses sum up to `total_ns`: the longest is made longer, or all that are longer than
/// some bound are cut down to it. Short pauses, which make the bursts, stay as they are.
fn fit(pauses: &mut [u64], total_ns: u64) {
    let sum = pauses.iter().fold(0_u64, |sum, &pause| sum.saturating_add(pause));
    if sum <= total_ns {
        if let Some(longest) = pauses.iter_mut().max() {
            *longest += total_ns - sum;
        }
        return;
    }
    let mut sorted = pauses.to_vec();
    sorted.sort_unstable();
    let mut left_ns = total_ns;
    let mut bound_ns = 0;
    for (at, &pause) in sorted.iter().enumerate() {
        let share_ns = left_ns / (sorted.len() - at) as u64;
        if pause >= share_ns {
            bound_ns = share_ns;
            break;
        }
        left_ns -= pause;
    }
    pauses.iter_mut().for_each(|pause| *pause = (*pause).min(bound_ns));
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn pauses_sum_up_and_short_ones_stay() {
        for (given, total, expected) in [
            (vec![1, 5, 2], 20, vec![1, 17, 2]),
            (vec![10, 500, 2, 700], 112, vec![10, 50, 2, 50]),
            (vec![4, 4], 0, vec![0, 0]),
            (vec![], 7, vec![]),
            (vec![u64::MAX, u64::MAX], 10, vec![5, 5]),
        ] {
            let mut pauses = given;
            fit(&mut pauses, total);
            assert_eq!(pauses, expected);
        }
    }
}
