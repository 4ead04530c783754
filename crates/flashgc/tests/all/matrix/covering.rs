//! Covering arrays: rows of values in which every pair of values of two factors meets.

use super::common::Choices;

/// A factor: its name, and for each value the assignments that set it.
pub type Factor = (&'static str, &'static [&'static str]);

/// One value of each factor.
pub type Row = Vec<usize>;

/// Rows in which every pair of values meets: each row is built around a pair that has not met, by
/// taking for each further factor the value that meets most new values.
pub fn rows(factors: &[Factor], seed: u64) -> Vec<Row> {
    let sizes: Vec<usize> = factors.iter().map(|(_, values)| values.len()).collect();
    let first: Vec<usize> = sizes
        .iter()
        .scan(0, |sum, size| {
            *sum += size;
            Some(*sum - size)
        })
        .collect();
    let all = sizes.iter().sum::<usize>();
    // Pairs that have met, by the numbers of their values; values of one factor never meet.
    let mut met = vec![vec![false; all]; all];
    let id = |factor: usize, value: usize| first[factor] + value;
    let mut rows = Vec::new();
    let mut choices = Choices::new(seed);
    while let Some((a, b)) = unmet(&sizes, &met, id) {
        let mut row: Vec<Option<usize>> = vec![None; sizes.len()];
        (row[a.0], row[b.0]) = (Some(a.1), Some(b.1));
        for factor in 0..sizes.len() {
            if row[factor].is_some() {
                continue;
            }
            let offset = choices.below(sizes[factor]);
            let gain = |value: usize| {
                let set = row.iter().enumerate().filter_map(|(f, v)| v.map(|v| id(f, v)));
                set.filter(|&other| !met[id(factor, value)][other]).count()
            };
            let values = (0..sizes[factor]).map(|value| (value + offset) % sizes[factor]);
            row[factor] = values.max_by_key(|&value| gain(value));
        }
        let row: Row = row.into_iter().flatten().collect();
        for a in 0..row.len() {
            for b in 0..row.len() {
                met[id(a, row[a])][id(b, row[b])] = true;
            }
        }
        rows.push(row);
    }
    rows
}

type Value = (usize, usize);

fn unmet(
    sizes: &[usize],
    met: &[Vec<bool>],
    id: impl Fn(usize, usize) -> usize,
) -> Option<(Value, Value)> {
    for a in 0..sizes.len() {
        for b in a + 1..sizes.len() {
            for (x, y) in (0..sizes[a]).flat_map(|x| (0..sizes[b]).map(move |y| (x, y))) {
                if !met[id(a, x)][id(b, y)] {
                    return Some(((a, x), (b, y)));
                }
            }
        }
    }
    None
}
