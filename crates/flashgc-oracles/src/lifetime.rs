//! Policies of the second program (`placement.rs`), written after the publications and their
//! documentation pages, each in the plainest way: sums are added up anew for each question.

use crate::placement::{BLOCKS, CLASSES, PAGES, Rule, State};
use flashgc_model::rng::Random;

/// Writes, and the time of the last one, of each page.
#[derive(Clone)]
struct Past {
    writes: Vec<f64>,
    last: Vec<f64>,
}

impl Past {
    fn new(data: usize) -> Past {
        Past { writes: vec![0.0; data], last: vec![0.0; data] }
    }

    fn write(&mut self, page: usize, clock: f64) {
        self.writes[page] += 1.0;
        self.last[page] = clock;
    }
}

/// Centres of the rates of writes, found anew before each collection.
pub struct Sfs {
    past: Past,
    centres: [f64; CLASSES],
}

impl Sfs {
    /// The policy on an erased drive of this number of logical pages.
    pub fn new(data: usize) -> Sfs {
        Sfs { past: Past::new(data), centres: [0.0; CLASSES] }
    }

    fn class(&self, hotness: f64) -> usize {
        let distance = |class: usize| (self.centres[class] - hotness).abs();
        (0..CLASSES).fold(0, |best, at| if distance(at) <= distance(best) { at } else { best })
    }

    fn of_page(&self, page: usize, clock: f64) -> usize {
        self.class(self.past.writes[page] / (clock - self.past.last[page]).max(1.0))
    }
}

impl Rule for Sfs {
    fn of_write(&mut self, page: usize, log: &State) -> usize {
        let class = if log.is_new(page) { 0 } else { self.of_page(page, log.clock) };
        self.past.write(page, log.clock);
        class
    }

    fn of_copy(&mut self, page: usize, _from: usize, log: &State) -> usize {
        self.of_page(page, log.clock)
    }

    fn collected(&mut self, victim: usize, log: &State) {
        let mut hotness = Vec::new();
        for block in (0..BLOCKS).filter(|&b| b != victim && log.blocks[b].data.len() == PAGES) {
            let (mut writes, mut ages) = (0.0, 0.0);
            for page in log.valid(block) {
                writes += self.past.writes[page];
                ages += log.clock - self.past.last[page];
            }
            hotness.extend((writes > 0.0).then_some(writes / ages.max(1.0)));
        }
        assert!(hotness.len() > CLASSES, "the log is full");
        for _ in 0..3 {
            let mut groups = vec![Vec::new(); CLASSES];
            hotness.iter().for_each(|&one| groups[self.class(one)].push(one));
            let mean = |group: &Vec<f64>| group.iter().sum::<f64>() / group.len().max(1) as f64;
            self.centres = groups.iter().map(mean).collect::<Vec<_>>().try_into().expect("six");
        }
        self.centres.sort_by(|a, b| b.partial_cmp(a).expect("numbers"));
    }
}

/// A log for each rate of writes.
pub struct MultiLog {
    levels: Vec<Option<usize>>,
    last: Vec<f64>,
    used: usize,
    /// Collected blocks of each level: pages, valid ones, and how many blocks there are.
    collected: [[u32; 3]; CLASSES],
    random: Random,
}

impl MultiLog {
    /// The policy on an erased drive of this number of logical pages.
    pub fn new(data: usize) -> MultiLog {
        let (levels, last, collected) = (vec![None; data], vec![0.0; data], [[0; 3]; CLASSES]);
        MultiLog { levels, last, used: 1, collected, random: Random::named(1, "placement") }
    }

    fn valid(&self, level: usize) -> u64 {
        self.levels.iter().filter(|&&own| own == Some(level)).count() as u64
    }
}

impl Rule for MultiLog {
    fn of_write(&mut self, page: usize, log: &State) -> usize {
        let lived = (log.clock - std::mem::replace(&mut self.last[page], log.clock)) as u64;
        let mut level = self.levels[page].unwrap_or(0);
        let [pages, valid, _] = self.collected[level].map(u64::from);
        let expected = match pages {
            0 => self.valid(level) / 2,
            _ => self.valid(level) * valid / (2 * pages),
        };
        if level > 0 && lived < expected && self.random.below(expected) < expected - lived {
            level -= 1;
        }
        self.levels[page] = Some(level);
        level
    }

    fn of_copy(&mut self, page: usize, _from: usize, _log: &State) -> usize {
        let level = self.levels[page].expect("it was written");
        let may_begin = self.used < CLASSES && self.valid(level) >= PAGES as u64;
        let next = match level + 1 {
            next if next < self.used => next,
            next if may_begin => {
                self.used += 1;
                next
            }
            _ => level,
        };
        self.levels[page] = Some(next);
        next
    }

    fn collected(&mut self, victim: usize, log: &State) {
        let sums = &mut self.collected[log.blocks[victim].class];
        let more = [PAGES as u32, log.blocks[victim].valid as u32, 1];
        (0..3).for_each(|at| sums[at] += more[at]);
        if sums[2] == 16 {
            *sums = sums.map(|sum| sum / 2);
        }
    }

    fn measured(&mut self) {
        self.random = Random::named(1, "placement");
    }
}

/// The pages of the run that is being written.
#[derive(Default)]
struct Row(Vec<usize>);

impl Row {
    /// Returns the run that this page ends.
    fn write(&mut self, page: usize) -> Option<Vec<usize>> {
        let follows = self.0.last().is_some_and(|&last| last + 1 == page);
        let ended = (!follows && !self.0.is_empty()).then(|| std::mem::take(&mut self.0));
        self.0.push(page);
        ended
    }
}

/// The extent of each page by its first page, with a count for each.
pub struct Eti {
    row: Row,
    extents: Vec<(usize, u32)>,
    runs: u32,
    data: usize,
}

impl Eti {
    /// The policy on an erased drive of this number of logical pages.
    pub fn new(data: usize) -> Eti {
        Eti { row: Row::default(), extents: vec![(0, 0)], runs: 0, data }
    }

    fn of_page(&self, page: usize) -> usize {
        self.extents.iter().rposition(|&(first, _)| first <= page).expect("the first one")
    }
}

impl Rule for Eti {
    fn of_write(&mut self, page: usize, _log: &State) -> usize {
        if let Some(run) = self.row.write(page) {
            for border in [run[0], run[run.len() - 1] + 1] {
                let (first, count) = self.extents[self.of_page(border)];
                let is_inside = first < border && border < self.data;
                if is_inside && count < 15 && self.extents.len() < 1024 {
                    self.extents.push((border, count));
                    self.extents.sort_unstable();
                }
            }
            let mut covered: Vec<usize> = run.iter().map(|&page| self.of_page(page)).collect();
            covered.dedup();
            covered.iter().for_each(|&at| self.extents[at].1 = (self.extents[at].1 + 1).min(15));
            self.runs += 1;
            if self.runs.is_multiple_of(4096) {
                let mut merged: Vec<(usize, u32)> = Vec::new();
                for (first, count) in self.extents.iter().map(|&(first, count)| (first, count / 2))
                {
                    match merged.last_mut() {
                        Some((_, own)) if *own == count || (*own < 4 && count < 4) => {
                            *own = count.max(*own);
                        }
                        _ => merged.push((first, count)),
                    }
                }
                self.extents = merged;
            }
        }
        usize::from(self.extents[self.of_page(page)].1 < 4)
    }

    fn of_copy(&mut self, _page: usize, _from: usize, _log: &State) -> usize {
        2
    }
}

/// Chunks of 512 pages: count, and the time of the last write.
pub struct AutoStream {
    row: Row,
    chunks: Vec<(f64, f64)>,
    class: usize,
}

impl AutoStream {
    /// The policy on an erased drive of this number of logical pages.
    pub fn new(data: usize) -> AutoStream {
        AutoStream { row: Row::default(), chunks: vec![(0.0, 0.0); data / 512 + 1], class: 0 }
    }
}

impl Rule for AutoStream {
    fn of_write(&mut self, page: usize, log: &State) -> usize {
        let is_first = self.row.0.is_empty();
        let begins = self.row.write(page).is_some() || is_first;
        if begins || page.is_multiple_of(512) {
            let (count, last) = &mut self.chunks[page / 512];
            let halvings = ((log.clock - *last) / 16_384.0).floor();
            *count = (*count / halvings.exp2()).floor() + 1.0;
            *last = log.clock;
        }
        if begins {
            self.class = (self.chunks[page / 512].0.ln().floor() as usize).min(CLASSES - 2);
        }
        self.class
    }

    fn of_copy(&mut self, _page: usize, _from: usize, _log: &State) -> usize {
        CLASSES - 1
    }
}

/// Counts of writes that fade.
pub struct Fadac {
    row: Row,
    counts: Vec<f64>,
    average: f64,
}

impl Fadac {
    /// The policy on an erased drive of this number of logical pages.
    pub fn new(data: usize) -> Fadac {
        Fadac { row: Row::default(), counts: vec![0.0; data], average: 0.0 }
    }

    fn class(&self, page: usize) -> usize {
        let limits = (0..CLASSES).map(|class| self.average * [1., 1e1, 1e2, 1e3, 1e4, 1e5][class]);
        let is_below = |limit: f64| self.counts[page] <= limit || self.average == 0.0;
        limits.into_iter().position(is_below).unwrap_or(CLASSES - 1)
    }
}

impl Rule for Fadac {
    fn of_write(&mut self, page: usize, log: &State) -> usize {
        if let Some(run) = self.row.write(page) {
            let valid = log.places.iter().flatten().count() as f64;
            self.average += (run.len() as f64 - self.average) / valid;
        }
        self.counts[page] += 1.0;
        self.class(page)
    }

    fn of_copy(&mut self, page: usize, _from: usize, _log: &State) -> usize {
        self.counts[page] = (self.counts[page] - 1.0).max(0.0);
        self.class(page)
    }
}

/// Clusters by class: centre, pages of the open block, writes of the period. A closed one has no
/// centre.
pub struct Warcip {
    last: Vec<f64>,
    penalties: Vec<f64>,
    clusters: Vec<(usize, Option<f64>, f64, usize)>,
    closing: Option<usize>,
    sealed: usize,
}

impl Warcip {
    /// The policy on an erased drive of this number of logical pages.
    pub fn new(data: usize) -> Warcip {
        let clusters = (1..CLASSES).map(|class| (class, Some(0.0), 0.0, 0)).collect();
        let (last, penalties) = (vec![0.0; data], vec![0.0; data]);
        Warcip { last, penalties, clusters, closing: None, sealed: 0 }
    }

    fn change(&mut self) {
        let all: usize = self.clusters.iter().map(|&(_, _, _, writes)| writes).sum();
        let closing = self.closing;
        let open = move |&(class, centre, _, _): &(usize, Option<f64>, f64, usize)| {
            centre.is_some() && Some(class) != closing
        };
        let large = self.clusters.iter().find(|one| open(one) && one.3 * 2 > all).copied();
        let closed = self.clusters.iter().position(|one| one.1.is_none());
        if let (Some((_, Some(own), ..)), Some(closed)) = (large, closed) {
            let others: Vec<f64> = self.clusters.iter().filter_map(|one| one.1).collect();
            let longer = others.iter().copied().filter(|&c| c > own).reduce(f64::min);
            let other = longer.or(others.into_iter().filter(|&c| c < own).reduce(f64::max));
            self.clusters[closed].1 = Some((own + other.unwrap_or(own)) / 2.0);
            self.clusters[closed].2 = 0.0;
        } else if self.clusters.iter().filter(|one| open(one)).count() > 1
            && let Some(small) = self.clusters.iter_mut().find(|one| open(one) && one.3 < PAGES)
        {
            match small.2 {
                0.0 => small.1 = None,
                _ => self.closing = Some(small.0),
            }
        }
        self.clusters.iter_mut().for_each(|one| one.3 = 0);
    }
}

impl Rule for Warcip {
    fn of_write(&mut self, page: usize, log: &State) -> usize {
        let lived = log.clock - std::mem::replace(&mut self.last[page], log.clock);
        let penalty = std::mem::take(&mut self.penalties[page]);
        let interval = if log.is_new(page) { 0.0 } else { lived + penalty };
        let distance = |one: &(usize, Option<f64>, f64, usize)| {
            one.1.map_or(f64::INFINITY, |centre| (centre - interval).abs())
        };
        let nearer = |a, b| if distance(b) <= distance(a) && b.1.is_some() { b } else { a };
        let best = self.clusters.iter().reduce(nearer).expect("clusters").0;
        let (_, centre, pages, writes) = &mut self.clusters[best - 1];
        *pages += 1.0;
        *writes += 1;
        *centre = centre.map(|centre| centre + (interval - centre) / *pages);
        best
    }

    fn of_copy(&mut self, page: usize, _from: usize, log: &State) -> usize {
        self.penalties[page] = log.clock - self.last[page];
        0
    }

    fn sealed(&mut self, class: usize) {
        if class == 0 {
            return;
        }
        self.clusters[class - 1].2 = 0.0;
        if self.closing == Some(class) {
            self.closing = None;
            self.clusters[class - 1].1 = None;
        }
        self.sealed += 1;
        if self.sealed.is_multiple_of(256) {
            self.change();
        }
    }
}
