//! A second program of DAC and SepBIT on one log: it shares no code with the engine. Times and
//! scores are floating-point numbers, and victims are found by a walk over all blocks.

use std::collections::VecDeque;

pub const PAGES: usize = 32;
pub const BLOCKS: usize = 100;
pub const CLASSES: usize = 6;

/// The memory of pages, by policy.
pub enum Policy {
    One,
    Dac { levels: Vec<usize> },
    SepBit { last: Vec<f64>, threshold: f64, lifetimes: Vec<f64> },
}

impl Policy {
    pub fn named(name: &str, data: usize) -> Policy {
        let (last, threshold, lifetimes) = (vec![0.0; data], f64::INFINITY, Vec::new());
        match name {
            "dac" => Policy::Dac { levels: vec![0; data] },
            "sepbit" => Policy::SepBit { last, threshold, lifetimes },
            _ => Policy::One,
        }
    }

    fn of_write(&mut self, page: usize, is_new: bool, clock: f64) -> usize {
        match self {
            Policy::One => 0,
            Policy::Dac { levels } => {
                levels[page] = if is_new { 0 } else { (levels[page] + 1).min(CLASSES - 1) };
                levels[page]
            }
            Policy::SepBit { last, threshold, .. } => {
                let lived = clock - std::mem::replace(&mut last[page], clock);
                usize::from(is_new || lived >= *threshold)
            }
        }
    }

    fn of_copy(&mut self, page: usize, from: usize, clock: f64) -> usize {
        match self {
            Policy::One => 0,
            Policy::Dac { levels } => {
                levels[page] = levels[page].saturating_sub(1);
                levels[page]
            }
            Policy::SepBit { .. } if from == 0 => 2,
            Policy::SepBit { last, threshold, .. } => match (clock - last[page]) / *threshold {
                age if age < 4.0 => 3,
                age if age < 16.0 => 4,
                _ => 5,
            },
        }
    }

    fn collected(&mut self, class: usize, lifetime: f64) {
        let Policy::SepBit { threshold, lifetimes, .. } = self else { return };
        lifetimes.extend((class == 0).then_some(lifetime));
        if lifetimes.len() == 16 {
            *threshold = lifetimes.drain(..).sum::<f64>() / 16.0;
        }
    }
}

#[derive(Clone, Default)]
struct Block {
    data: Vec<usize>,
    valid: usize,
    class: usize,
    opened: f64,
    sealed: f64,
}

/// A log of blocks of classes, collected below `soft` erased blocks.
pub struct Log {
    policy: Policy,
    by_age: bool,
    soft: usize,
    blocks: Vec<Block>,
    /// Block and place of each page.
    places: Vec<Option<(usize, usize)>>,
    open: [Option<usize>; CLASSES],
    erased: VecDeque<usize>,
    clock: f64,
    /// Pages that each class took: writes and copies.
    pub taken: [[u64; 2]; CLASSES],
}

impl Log {
    pub fn new(policy: Policy, by_age: bool, soft: usize, data: usize) -> Log {
        let (blocks, places) = (vec![Block::default(); BLOCKS], vec![None; data]);
        let (open, erased) = ([None; CLASSES], (0..BLOCKS).collect());
        let (clock, taken) = (0.0, [[0; 2]; CLASSES]);
        Log { policy, by_age, soft, blocks, places, open, erased, clock, taken }
    }

    fn put(&mut self, page: usize, class: usize, opened: f64, kind: usize) {
        let at = self.open[class].take().or_else(|| self.erased.pop_front()).expect("a block");
        if self.blocks[at].data.is_empty() {
            self.blocks[at] = Block { class, opened, ..Block::default() };
        }
        if let Some((old, _)) = self.places[page].replace((at, self.blocks[at].data.len())) {
            self.blocks[old].valid -= 1;
        }
        self.blocks[at].data.push(page);
        self.blocks[at].valid += 1;
        self.blocks[at].sealed = self.clock;
        self.open[class] = (self.blocks[at].data.len() < PAGES).then_some(at);
        self.taken[class][kind] += 1;
    }

    fn score(&self, at: usize) -> f64 {
        let block = &self.blocks[at];
        let (valid, free) = (block.valid as f64, (PAGES - block.valid) as f64);
        let by_age = free * free * (self.clock - block.sealed) / (valid * valid);
        let is_dead = valid == 0.0 && self.by_age;
        if is_dead {
            f64::INFINITY
        } else if self.by_age {
            by_age
        } else {
            free
        }
    }

    /// The host writes a page, and space is made.
    pub fn write(&mut self, page: usize) {
        let before = self.clock;
        self.clock += 1.0;
        let class = self.policy.of_write(page, self.places[page].is_none(), self.clock);
        self.put(page, class, before, 0);
        while self.erased.len() < self.soft {
            let is_fit =
                |&at: &usize| self.blocks[at].data.len() == PAGES && self.blocks[at].valid < PAGES;
            let better = |a, b| if self.score(b) > self.score(a) { b } else { a };
            let victim = (0..BLOCKS).filter(is_fit).reduce(better).expect("a victim");
            let Block { class, opened, data, .. } = self.blocks[victim].clone();
            self.policy.collected(class, self.clock - opened);
            for (at, page) in data.into_iter().enumerate() {
                if self.places[page] == Some((victim, at)) {
                    let to = self.policy.of_copy(page, class, self.clock);
                    self.put(page, to, self.clock, 1);
                }
            }
            self.blocks[victim] = Block::default();
            self.erased.push_back(victim);
        }
    }
}
