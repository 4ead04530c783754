//! A second program of a log with classes, and of DAC and SepBIT: it shares no code with the
//! engine. Times and scores are floating-point numbers, and victims are found by a walk over all
//! blocks. Other policies of it are in `lifetime.rs`.

use std::collections::VecDeque;

/// Pages of a block.
pub const PAGES: usize = 32;
/// Blocks of the log.
pub const BLOCKS: usize = 100;
/// Classes of pages at most.
pub const CLASSES: usize = 6;

/// A policy of the program. It reads the whole log before each answer.
pub trait Rule {
    /// The class of a page that the host writes.
    fn of_write(&mut self, page: usize, log: &State) -> usize;
    /// The class of a page that leaves a block of this class.
    fn of_copy(&mut self, page: usize, from: usize, log: &State) -> usize;
    /// A block is full.
    fn sealed(&mut self, _class: usize) {}
    /// A block is about to be collected.
    fn collected(&mut self, _victim: usize, _log: &State) {}
    /// The block that is collected before any that the victim policy prefers.
    fn due(&self, _log: &State) -> Option<usize> {
        None
    }
    /// Whether the victim policy ranks the blocks of this class.
    fn is_left(&self, _class: usize) -> bool {
        true
    }
    /// Measuring begins.
    fn measured(&mut self) {}
}

/// One class.
pub struct One;

impl Rule for One {
    fn of_write(&mut self, _page: usize, _log: &State) -> usize {
        0
    }

    fn of_copy(&mut self, _page: usize, _from: usize, _log: &State) -> usize {
        0
    }
}

/// A level for each page.
pub struct Dac(pub Vec<usize>);

impl Rule for Dac {
    fn of_write(&mut self, page: usize, log: &State) -> usize {
        self.0[page] = if log.is_new(page) { 0 } else { (self.0[page] + 1).min(CLASSES - 1) };
        self.0[page]
    }

    fn of_copy(&mut self, page: usize, _from: usize, _log: &State) -> usize {
        self.0[page] = self.0[page].saturating_sub(1);
        self.0[page]
    }
}

/// The threshold, and lifetimes of blocks.
pub struct SepBit {
    last: Vec<f64>,
    threshold: f64,
    lifetimes: Vec<f64>,
}

impl SepBit {
    /// The policy on an erased drive of this number of logical pages.
    pub fn new(data: usize) -> SepBit {
        SepBit { last: vec![0.0; data], threshold: f64::INFINITY, lifetimes: Vec::new() }
    }
}

impl Rule for SepBit {
    fn of_write(&mut self, page: usize, log: &State) -> usize {
        let lived = log.clock - std::mem::replace(&mut self.last[page], log.clock);
        usize::from(log.is_new(page) || lived >= self.threshold)
    }

    fn of_copy(&mut self, page: usize, from: usize, log: &State) -> usize {
        match (log.clock - self.last[page]) / self.threshold {
            _ if from == 0 => 2,
            age if age < 4.0 => 3,
            age if age < 16.0 => 4,
            _ => 5,
        }
    }

    fn collected(&mut self, victim: usize, log: &State) {
        let Block { class, opened, .. } = log.blocks[victim];
        self.lifetimes.extend((class == 0).then_some(log.clock - opened));
        if self.lifetimes.len() == 16 {
            self.threshold = self.lifetimes.drain(..).sum::<f64>() / 16.0;
        }
    }
}

/// A block of the log.
#[derive(Clone, Default)]
pub struct Block {
    /// The logical page of each page that is programmed.
    pub data: Vec<usize>,
    /// Valid pages.
    pub valid: usize,
    /// The class of its pages.
    pub class: usize,
    /// The time of its first page, in pages written by the host.
    pub opened: f64,
    /// The time of its last one.
    pub sealed: f64,
    /// Blocks that were sealed before it.
    pub before: u64,
}

/// The blocks, block and place of each page, and the clock.
pub struct State {
    /// All blocks.
    pub blocks: Vec<Block>,
    /// The block of each logical page, and the place in it.
    pub places: Vec<Option<(usize, usize)>>,
    /// Pages that the host has written.
    pub clock: f64,
}

impl State {
    /// Whether the page holds no data.
    pub fn is_new(&self, page: usize) -> bool {
        self.places[page].is_none()
    }

    /// The valid pages of a block.
    pub fn valid(&self, block: usize) -> impl Iterator<Item = usize> {
        let data = self.blocks[block].data.iter().copied().enumerate();
        data.filter(move |&(at, page)| self.places[page] == Some((block, at))).map(|(_, page)| page)
    }
}

/// A log of blocks of classes, collected below `soft` erased blocks.
pub struct Log {
    /// The policy.
    pub rule: Box<dyn Rule>,
    by_age: bool,
    soft: usize,
    state: State,
    open: [Option<usize>; CLASSES],
    erased: VecDeque<usize>,
    seals: u64,
    /// Pages that each class took: writes and copies.
    pub taken: [[u64; 2]; CLASSES],
}

impl Log {
    /// An erased log of this number of logical pages; victims are greedy, or the best by age.
    pub fn new(rule: Box<dyn Rule>, by_age: bool, soft: usize, data: usize) -> Log {
        let (blocks, places) = (vec![Block::default(); BLOCKS], vec![None; data]);
        let (open, erased) = ([None; CLASSES], (0..BLOCKS).collect());
        let state = State { blocks, places, clock: 0.0 };
        Log { rule, by_age, soft, state, open, erased, seals: 0, taken: [[0; 2]; CLASSES] }
    }

    fn put(&mut self, page: usize, class: usize, opened: f64, kind: usize) {
        let at = self.open[class].take().or_else(|| self.erased.pop_front()).expect("a block");
        let State { blocks, places, clock } = &mut self.state;
        if blocks[at].data.is_empty() {
            blocks[at] = Block { class, opened, ..Block::default() };
        }
        if let Some((old, _)) = places[page].replace((at, blocks[at].data.len())) {
            blocks[old].valid -= 1;
        }
        blocks[at].data.push(page);
        blocks[at].valid += 1;
        blocks[at].sealed = *clock;
        let is_full = blocks[at].data.len() == PAGES;
        self.open[class] = (!is_full).then_some(at);
        self.taken[class][kind] += 1;
        if is_full {
            self.state.blocks[at].before = self.seals;
            self.seals += 1;
            self.rule.sealed(class);
        }
    }

    fn score(&self, at: usize) -> f64 {
        let block = &self.state.blocks[at];
        let (valid, free) = (block.valid as f64, (PAGES - block.valid) as f64);
        let by_age = free * free * (self.state.clock - block.sealed) / (valid * valid);
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
        let before = self.state.clock;
        self.state.clock += 1.0;
        let class = self.rule.of_write(page, &self.state);
        self.put(page, class, before, 0);
        while self.erased.len() < self.soft {
            let blocks = &self.state.blocks;
            let is_fit = |&at: &usize| {
                let Block { ref data, valid, class, .. } = blocks[at];
                data.len() == PAGES && valid < PAGES && self.rule.is_left(class)
            };
            let better = |a, b| if self.score(b) > self.score(a) { b } else { a };
            let best = || (0..BLOCKS).filter(is_fit).reduce(better);
            let victim = self.rule.due(&self.state).or_else(best).expect("a victim");
            let from = blocks[victim].class;
            self.rule.collected(victim, &self.state);
            let pages: Vec<usize> = self.state.valid(victim).collect();
            for page in pages {
                let to = self.rule.of_copy(page, from, &self.state);
                self.put(page, to, self.state.clock, 1);
            }
            self.state.blocks[victim] = Block::default();
            self.erased.push_back(victim);
        }
    }
}
