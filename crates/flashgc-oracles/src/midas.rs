//! A second program of MiDAS, for the log of `placement.rs`: a chain of groups with fixed
//! sizes, and the hot filter with classes by the number of copies, which are all there is until the
//! first epoch ends. It shares no code with the engine.

use crate::placement::{PAGES, Rule, State};

/// Groups of these numbers of sealed blocks, and a last one that has the others.
pub struct Chain(pub Vec<usize>);

impl Rule for Chain {
    fn of_write(&mut self, _page: usize, _log: &State) -> usize {
        0
    }

    fn of_copy(&mut self, _page: usize, from: usize, _log: &State) -> usize {
        (from + 1).min(self.0.len())
    }

    fn due(&self, log: &State) -> Option<usize> {
        let sealed = |class: usize| {
            let all = log.blocks.iter().enumerate();
            all.filter(move |(_, block)| block.class == class && block.data.len() == PAGES)
        };
        let group = (0..self.0.len()).find(|&class| sealed(class).count() > self.0[class])?;
        sealed(group).min_by_key(|(_, block)| block.before).map(|(at, _)| at)
    }

    fn is_left(&self, class: usize) -> bool {
        class == self.0.len()
    }
}

const HOT: usize = 0;
const FIRST: usize = 1;
/// The class of pages that were copied most often.
const OLDEST: usize = 4;

/// The hot filter.
pub struct Filter {
    /// From 0 to 3; 3 is hot.
    levels: Vec<f64>,
    /// Changes that are still ignored.
    ignored: usize,
    /// The mean age of hot blocks.
    age: f64,
    /// Overwrites of the window, and ages of the hot blocks that were collected in it.
    writes: f64,
    ages: Vec<f64>,
}

impl Filter {
    /// The policy on an erased drive of this number of logical pages.
    pub fn new(data: usize) -> Filter {
        let (levels, age) = (vec![0.0; data], data as f64);
        Filter { levels, ignored: data, age, writes: 0.0, ages: Vec::new() }
    }

    /// Whether a change counts.
    fn counts(&mut self) -> bool {
        let counts = self.ignored == 0;
        self.ignored = self.ignored.saturating_sub(1);
        counts
    }

    fn change(&mut self, page: usize, by: f64) {
        self.levels[page] = (self.levels[page] + by).clamp(0.0, 3.0);
    }

    /// A window ends after `age` overwrites, once a hot block was collected.
    fn note_overwrite(&mut self) {
        if self.writes >= self.age && !self.ages.is_empty() {
            let mean = (self.ages.iter().sum::<f64>() / self.ages.len() as f64).floor();
            let is_much_older = self.age > 0.0 && mean >= 2.0 * self.age;
            self.age = match self.age {
                0.0 => mean,
                age if is_much_older => (age * 1.5).floor(),
                age => ((mean + age) / 2.0).floor(),
            };
            self.writes = 0.0;
            self.ages.clear();
        }
        self.writes += 1.0;
    }
}

impl Rule for Filter {
    fn of_write(&mut self, page: usize, log: &State) -> usize {
        if let Some((at, _)) = log.places[page]
            && self.counts()
        {
            self.note_overwrite();
            let block = &log.blocks[at];
            let is_open = block.data.len() < PAGES;
            let is_young = is_open || log.clock - block.sealed <= self.age;
            match block.class {
                HOT => self.change(page, 1.0),
                FIRST => self.change(page, if is_young { 1.0 } else { -1.0 }),
                _ => {}
            }
        }
        if self.levels[page] == 3.0 { HOT } else { FIRST }
    }

    fn of_copy(&mut self, page: usize, from: usize, _log: &State) -> usize {
        if from <= FIRST && self.counts() {
            self.change(page, if from == HOT { -2.0 } else { -1.0 });
        }
        (from + 1).min(OLDEST)
    }

    fn collected(&mut self, victim: usize, log: &State) {
        let block = &log.blocks[victim];
        self.ages.extend((block.class == HOT).then_some(log.clock - block.sealed));
    }
}
