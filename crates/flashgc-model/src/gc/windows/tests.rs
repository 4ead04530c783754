//! Windows against their definition.

use super::*;
use crate::rng::Random;

const COPY_NS: u64 = 760_000;
const ERASE_NS: u64 = 3_500_000;

fn parts(of: &[(Kind, u16, u16)]) -> Parts {
    let mut parts = Parts::default();
    for &(kind, valid, invalid) in of {
        parts.parts[parts.count] = Part { kind, valid, invalid };
        parts.count += 1;
    }
    parts
}

fn software() -> Costs {
    Costs::new(COPY_NS, ERASE_NS, Isolation::Software)
}

/// Paper speedup-gc, Fig. 2b: sub-blocks 2 and 3 are the window, and five pages move: one that
/// is left in sub-block 2, and four of its neighbours, in sub-blocks 1 and 4.
#[test]
fn five_pages_move_from_a_window_isolated_by_software() {
    let block =
        parts(&[(Kind::Full, 2, 0), (Kind::Full, 1, 5), (Kind::Full, 0, 6), (Kind::Full, 2, 0)]);
    let best = block.best(&software()).expect("a window");
    assert_eq!(best, Window { first: 1, last: 2, invalid: 11, moves: 5 });
    // The neighbours hold no invalid page: to erase them too would gain no more.
    let wider = Window { first: 0, last: 3, ..best };
    assert_eq!(wider.benefit(&software()), best.benefit(&software()));
}

#[test]
fn a_window_that_wins_no_page_is_refused() {
    // Three pages of the neighbours would move for the only invalid ones.
    let block = parts(&[(Kind::Full, 2, 0), (Kind::Full, 0, 3), (Kind::Shut, 0, 0)]);
    assert_eq!(block.best(&software()), None);
    let block = parts(&[(Kind::Full, 3, 0), (Kind::Full, 0, 3), (Kind::Erased, 0, 0)]);
    // Alone the second would gain nothing; both together gain three pages.
    let best = block.best(&software()).expect("a window");
    assert_eq!((best.first, best.last, best.moves), (0, 1, 3));
}

/// Two even pages of the neighbours would move for one even and two odd invalid pages: copies
/// that keep to even pages would have one less after it.
#[test]
fn a_window_that_loses_even_pages_is_refused_under_the_odd_even_rule() {
    let mut block = parts(&[(Kind::Full, 1, 0), (Kind::Full, 1, 3), (Kind::Full, 1, 0)]);
    block.even = [(1, 0), (1, 1), (1, 0)].map(|(valid, invalid)| Even { valid, invalid }).to_vec();
    let ends = |best: Option<Window>| best.map(|best| (best.first, best.last));
    assert_eq!(ends(block.best(&software())), Some((1, 1)));
    let costs = software().with_parity(true);
    assert_eq!(ends(block.best(&costs)), Some((0, 1)));
    assert_eq!(ends(block.near_best(Benefit::of(1), &costs)), Some((0, 1)));
}

#[test]
fn benefits_are_compared_in_common_units() {
    let costs = software();
    assert_eq!((costs.copy, costs.erase), (38, 175));
    let window = Window { first: 0, last: 0, invalid: 9, moves: 5 };
    // 9 / (5 * 0.76 + 3.5) pages per ms.
    assert_eq!(window.benefit(&costs), Benefit { invalid: 9, cost: 365 });
    assert!(Benefit::of(1) > window.benefit(&costs) && window.benefit(&costs) > Benefit::NONE);
    let coarse = Costs::new(999_999_999_999, 999_999_999_998, Isolation::Hardware);
    assert!(coarse.copy <= 1 << 24 && coarse.copy == coarse.erase);
}

/// Some even pages of each sub-block, as chance says.
fn with_even(mut block: Parts, random: &mut Random) -> Parts {
    for part in &block.parts[..block.count] {
        let (valid, all) = (u64::from(part.valid), u64::from(part.valid + part.invalid));
        let (even, odd) = (all.div_ceil(2), all / 2);
        let least = valid.saturating_sub(odd);
        let of_them = least + random.below(even.min(valid) - least + 1);
        block.even.push(Even { valid: of_them as u16, invalid: (even - of_them) as u16 });
    }
    block
}

fn random_block(random: &mut Random, pages: u64) -> Parts {
    let mut parts = Parts { count: 1 + random.below(16) as usize, ..Parts::default() };
    let shuts = random.below(3) == 0;
    for at in 0..parts.count {
        let valid = random.below(pages + 1) as u16;
        parts.parts[at] = match random.below(12) {
            0 => Part { kind: Kind::Erased, valid: 0, invalid: 0 },
            1 if shuts => Part { kind: Kind::Shut, valid, invalid: 0 },
            _ => Part { kind: Kind::Full, valid, invalid: pages as u16 - valid },
        };
    }
    parts
}

/// Every window, from the definition, and whether it frees pages in all.
fn all_windows(parts: &Parts, costs: &Costs) -> Vec<(Window, bool)> {
    let isolation = costs.isolation;
    let mut found = Vec::new();
    for first in 0..parts.count {
        for last in first..parts.count {
            let inside = &parts.parts[first..=last];
            let near: Vec<usize> = [first.wrapping_sub(1), last + 1]
                .into_iter()
                .filter(|&at| at < parts.count && isolation == Isolation::Software)
                .collect();
            let beside: Vec<&Part> = near.iter().map(|&at| &parts.parts[at]).collect();
            let ends = [inside[0].kind, inside[inside.len() - 1].kind];
            if ends != [Kind::Full; 2]
                || inside.iter().chain(beside.iter().copied()).any(|p| p.kind == Kind::Shut)
            {
                continue;
            }
            let sum = |parts: &mut dyn Iterator<Item = u16>| parts.map(u32::from).sum::<u32>();
            let evens = sum(&mut parts.even[first..=last].iter().map(|even| even.invalid));
            let evens_near = sum(&mut near.iter().map(|&at| parts.even[at].valid));
            let near = sum(&mut beside.iter().map(|part| part.valid));
            let invalid = sum(&mut inside.iter().map(|part| part.invalid));
            let moves = near + sum(&mut inside.iter().map(|part| part.valid));
            let (first, last) = (first as u32, last as u32);
            let keeps_both = evens >= evens_near && invalid - evens >= near - evens_near;
            let wins = invalid > near && (!costs.parity || keeps_both);
            found.push((Window { first, last, invalid, moves }, wins));
        }
    }
    found
}

#[test]
fn the_best_window_is_that_of_all_windows() {
    let mut random = Random::named(3, "windows");
    for round in 0..20_000 {
        let isolation = [Isolation::Software, Isolation::Hardware][round % 2];
        let costs = Costs::new(COPY_NS, ERASE_NS, isolation).with_parity(round / 4 % 2 == 1);
        let block = random_block(&mut random, [4, 48][round / 2 % 2]);
        let block = with_even(block, &mut random);
        let all = all_windows(&block, &costs);
        let rank = |w: &Window| {
            let length = w.last - w.first;
            (w.benefit(&costs), std::cmp::Reverse((length, w.first)))
        };
        let winning = all.iter().filter(|(_, wins)| *wins).map(|(w, _)| *w);
        let best = winning.max_by_key(rank);
        assert_eq!(block.best(&costs), best);
        let guess = Benefit { invalid: random.below(20) as u32, cost: 1 + random.below(900) };
        let benefit = |w: Option<Window>| w.map(|w| w.benefit(&costs));
        assert_eq!(benefit(block.near_best(guess, &costs)), benefit(best));
        let peak = all.iter().map(|(w, _)| w.benefit(&costs)).max();
        assert_eq!(benefit(block.peak(guess, &costs)), peak);
        let reaches = block.reaches(guess, &costs).is_some();
        assert_eq!(reaches, peak.is_some_and(|peak| peak >= guess));
    }
}

/// However its pages become invalid, a block this far from a benefit does not reach it sooner.
#[test]
fn no_block_reaches_a_benefit_sooner_than_its_distance_says() {
    let mut random = Random::named(4, "windows");
    for round in 0..4000 {
        let isolation = [Isolation::Software, Isolation::Hardware][round % 2];
        let costs = Costs::new(COPY_NS, ERASE_NS, isolation);
        let mut block = random_block(&mut random, 12);
        let level = Benefit { invalid: 1 + random.below(30) as u32, cost: 1 + random.below(900) };
        let Some(mut distance) = block.distance(level, &costs) else { continue };
        loop {
            let peak = block.peak(level, &costs).map(|window| window.benefit(&costs));
            assert_eq!(distance == 0, peak >= Some(level));
            let valid: Vec<usize> = (0..block.count)
                .filter(|&at| block.parts[at].kind == Kind::Full && block.parts[at].valid > 0)
                .collect();
            if distance == 0 || valid.is_empty() {
                break;
            }
            let part = &mut block.parts[valid[random.below(valid.len() as u64) as usize]];
            (part.valid, part.invalid) = (part.valid - 1, part.invalid + 1);
            let now = block.distance(level, &costs).expect("it has windows");
            assert!(now + 1 >= distance, "{now} after {distance}");
            distance = now;
        }
    }
}
