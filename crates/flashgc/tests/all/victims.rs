//! Victims by age and by wear: each against a second program, and their limits.

use crate::common::{self, Choices, TINY, refusal, run_verified, setup, whole};

use flashgc::config::Setup;
use flashgc::ids::Lpn;
use flashgc::sim::Sim;
use flashgc::workload::{Overwrites, SourceError};

const PAGES: usize = 32;
const BLOCKS: usize = 100;
const SOFT: usize = 4;

/// The victims of the second program. It shares no code with the engine: scores are floating-point
/// numbers, and victims are found by walks over all blocks.
#[derive(Clone, Copy)]
enum By {
    /// Fewest valid pages among this share of the blocks, the oldest.
    Window(f64),
    /// The oldest; one with more than this share of valid pages comes again once.
    Chance(f64),
    /// Least u / (1 - u) / age * erases, turned over so that equal scores are equal numbers.
    CostAgeTimes,
    /// Fewest valid pages, but the oldest while the erases are a multiple of this number.
    Levelling(usize),
}

/// Open blocks of the second program: 0 for the host.
#[derive(Clone, Copy, PartialEq)]
enum Copies {
    /// All in that of the host.
    WithHost,
    /// Those of the oldest block in 1, others in that of the host.
    OldestApart,
    /// Those of the oldest block in 2, others in 1.
    AllApart,
}

#[derive(Clone, Default)]
struct Block {
    data: Vec<usize>,
    valid: usize,
    /// The turn of the block in the queue: seals and second chances are counted.
    turn: usize,
    had_chance: bool,
    sealed: f64,
    erases: f64,
}

/// One log, with one open block for writes and for copies or with several.
struct Log {
    by: By,
    separates: Copies,
    blocks: Vec<Block>,
    places: Vec<Option<usize>>,
    erased: std::collections::VecDeque<usize>,
    open: [Option<usize>; 3],
    clock: f64,
    turns: usize,
    erases: usize,
    copies: u64,
}

impl Log {
    fn new(by: By, separates: Copies, data: usize) -> Log {
        Log {
            by,
            separates,
            blocks: vec![Block::default(); BLOCKS],
            places: vec![None; data],
            erased: (0..BLOCKS).collect(),
            open: [None; 3],
            clock: 0.0,
            turns: 0,
            erases: 0,
            copies: 0,
        }
    }

    fn put(&mut self, page: usize, class: usize) {
        let at = self.open[class].take().or_else(|| self.erased.pop_front()).expect("a block");
        if let Some(old) = self.places[page].replace(at) {
            self.blocks[old].valid -= 1;
            if let Some(stale) = self.blocks[old].data.iter_mut().find(|held| **held == page) {
                *stale = usize::MAX;
            }
        }
        let block = &mut self.blocks[at];
        block.data.push(page);
        block.valid += 1;
        if block.data.len() < PAGES {
            self.open[class] = Some(at);
            return;
        }
        self.turns += 1;
        (block.turn, block.had_chance, block.sealed) = (self.turns, false, self.clock);
    }

    /// Full blocks, the oldest first.
    fn queue(&self) -> Vec<usize> {
        let full = (0..BLOCKS).filter(|&at| self.blocks[at].data.len() == PAGES);
        let mut queue: Vec<usize> = full.collect();
        queue.sort_by_key(|&at| self.blocks[at].turn);
        queue
    }

    fn victim(&mut self) -> usize {
        let mut queue = self.queue();
        let share = |block: &Block| block.valid as f64 / PAGES as f64;
        match self.by {
            By::Window(window) => {
                queue.truncate((queue.len() as f64 * window).ceil() as usize);
                queue.sort_unstable();
                queue.into_iter().min_by_key(|&at| self.blocks[at].valid).expect("a block")
            }
            By::Chance(above) => loop {
                let first = queue.remove(0);
                let block = &mut self.blocks[first];
                if share(block) <= above || block.had_chance {
                    return first;
                }
                self.turns += 1;
                (block.had_chance, block.turn) = (true, self.turns);
                queue.push(first);
            },
            By::CostAgeTimes => {
                queue.retain(|&at| self.blocks[at].valid < PAGES);
                queue.sort_unstable();
                let score = |&at: &usize| {
                    let block = &self.blocks[at];
                    let gained = (PAGES - block.valid) as f64 * (self.clock - block.sealed);
                    gained / (block.valid as f64 * (block.erases + 1.0))
                };
                let better = |a: usize, b: usize| if score(&b) > score(&a) { b } else { a };
                queue.into_iter().reduce(better).expect("a block")
            }
            By::Levelling(every) if self.erases.is_multiple_of(every) => queue[0],
            By::Levelling(_) => {
                queue.sort_unstable();
                queue.into_iter().min_by_key(|&at| self.blocks[at].valid).expect("a block")
            }
        }
    }

    fn class_of_copies(&self, victim: usize) -> usize {
        let is_oldest = self.queue()[0] == victim;
        match self.separates {
            Copies::WithHost => 0,
            Copies::OldestApart => usize::from(is_oldest),
            Copies::AllApart => 1 + usize::from(is_oldest),
        }
    }

    fn write(&mut self, page: usize) {
        self.clock += 1.0;
        self.put(page, 0);
        while self.erased.len() < SOFT {
            let victim = self.victim();
            let class = self.class_of_copies(victim);
            let data = std::mem::take(&mut self.blocks[victim].data);
            self.blocks[victim].data = vec![usize::MAX; PAGES];
            for page in data.into_iter().filter(|&page| page != usize::MAX) {
                self.blocks[victim].valid -= 1;
                self.places[page] = None;
                self.put(page, class);
                self.copies += 1;
            }
            let erases = self.blocks[victim].erases + 1.0;
            self.blocks[victim] = Block { erases, ..Block::default() };
            self.erases += 1;
            self.erased.push_back(victim);
        }
    }
}

/// 80 % of the writes to a tenth of the pages, which lie scattered.
struct Skewed {
    choices: Choices,
    data: usize,
}

impl Skewed {
    fn draw(&mut self) -> usize {
        let range = if self.choices.below(10) < 8 { self.data / 10 } else { self.data };
        self.choices.below(range) * 389 % self.data
    }
}

impl Overwrites for Skewed {
    fn next(&mut self) -> Result<Lpn, SourceError> {
        Ok(Lpn(self.draw() as u32))
    }
}

/// All pages are equally likely.
struct Uniform(Choices, usize);

impl Overwrites for Uniform {
    fn next(&mut self) -> Result<Lpn, SourceError> {
        Ok(Lpn(self.0.below(self.1) as u32))
    }
}

fn one_log(sets: &[&str]) -> Setup {
    let sizes = [
        format!("device.blocks_per_plane={BLOCKS}"),
        format!("device.pages_per_block={PAGES}"),
        format!("gc.trigger.watermark.soft=\"{SOFT} blocks\""),
    ];
    let log = ["channels", "chips_per_channel", "planes_per_die"];
    let log = log.map(|key| format!("device.{key}=1"));
    let all = log.iter().chain(&sizes).map(String::as_str);
    setup(
        TINY,
        &all.chain(["device.exported=0.85"]).chain(sets.iter().copied()).collect::<Vec<_>>(),
    )
}

/// As many pages are copied as by the second program, after a fill and 20 drive writes.
fn compare_copies(by: By, separates: Copies, keys: &[&str]) {
    let setup = one_log(keys);
    let data = setup.plan.geometry.exported_pages as usize;
    let skewed = || Skewed { choices: Choices::new(11), data };
    let mut model = Log::new(by, separates, data);
    let (mut drawn, mut untimed) = (skewed(), skewed());
    (0..data).for_each(|page| model.write(page));
    (0..20 * data).for_each(|_| model.write(drawn.draw()));
    let mut sim = Sim::new(setup.plan.clone(), common::checked(&setup));
    sim.untimed().fill(0, data as u32).expect("the fill fits");
    sim.untimed().overwrite(&mut untimed, 20 * data as u64).expect("there is space");
    assert_eq!(sim.untimed().pages_moved(), model.copies, "{keys:?}");
    assert!(model.copies > data as u64, "{keys:?}: {} copies", model.copies);
}

#[test]
fn copies_are_those_of_a_second_program() {
    for (by, victim, key) in [
        (By::Window(0.9), "windowed-greedy", "windowed-greedy.window=\"90%\""),
        (By::Window(0.25), "windowed-greedy", "windowed-greedy.window=\"25%\""),
        (By::Chance(0.5), "second-chance", "second-chance.above=\"50%\""),
        (By::Chance(0.8), "second-chance", "second-chance.above=\"80%\""),
        (By::CostAgeTimes, "cost-age-times", "greedy.ties=\"lowest\""),
    ] {
        let (victim, key) = (format!("gc.victim.use=\"{victim}\""), format!("gc.victim.{key}"));
        compare_copies(by, Copies::WithHost, &[&victim, &key]);
    }
}

#[test]
fn copies_of_levelling_are_those_of_a_second_program() {
    for (separates, placement, others) in [
        (Copies::WithHost, "one-frontier", "with-host"),
        (Copies::OldestApart, "oldest-apart", "with-host"),
        (Copies::AllApart, "oldest-apart", "apart"),
    ] {
        for every in [1, 2, 8, 100] {
            let keys = [
                "gc.victim.use=\"static-levelling\"".to_string(),
                format!("gc.victim.static-levelling.every={every}"),
                format!("gc.placement.use=\"{placement}\""),
                format!("gc.placement.oldest-apart.others=\"{others}\""),
            ];
            compare_copies(By::Levelling(every), separates, &keys.each_ref().map(String::as_str));
        }
    }
}

/// A window of all blocks is greedy, one of a single block fifo; without a second chance for any
/// block the rule is fifo, and so is the levelling of each victim.
#[test]
fn limits_are_greedy_and_fifo() {
    let hash = |sets: &[&str]| {
        let report = run_verified(TINY, sets);
        assert!(whole(&report, "pages.gc_moved") > 1000, "{sets:?}");
        report["result_hash"].clone()
    };
    let [greedy, fifo] = ["greedy", "fifo"].map(|v| hash(&[&format!("gc.victim.use=\"{v}\"")]));
    assert_ne!(greedy, fifo);
    let window = |share: &str| {
        let key = format!("gc.victim.windowed-greedy.window=\"{share}\"");
        hash(&["gc.victim.use=\"windowed-greedy\"", &key])
    };
    assert_eq!(window("100%"), greedy);
    assert_eq!(window("0.1%"), fifo);
    let half = window("50%");
    assert!(half != greedy && half != fifo);
    let chance = |share: &str| {
        let key = format!("gc.victim.second-chance.above=\"{share}\"");
        hash(&["gc.victim.use=\"second-chance\"", &key])
    };
    assert_eq!(chance("100%"), fifo);
    let each = |every: u32| {
        let key = format!("gc.victim.static-levelling.every={every}");
        hash(&["gc.victim.use=\"static-levelling\"", &key])
    };
    assert_eq!(each(1), fifo);
    assert!(each(8) != greedy && each(8) != fifo);
    assert_ne!(chance("60%"), fifo);
}

/// Greedy is the best victim under uniform writes (Althaus and others, ICDCS 2022).
#[test]
fn no_victim_is_below_greedy_under_uniform_writes() {
    let copies = |victim: &str| {
        let setup = one_log(&[&format!("gc.victim.use=\"{victim}\"")]);
        let data = setup.plan.geometry.exported_pages;
        let mut sim = Sim::new(setup.plan.clone(), common::checked(&setup));
        let mut writes = Uniform(Choices::new(3), data as usize);
        sim.untimed().fill(0, data).expect("the fill fits");
        sim.untimed().overwrite(&mut writes, 40 * u64::from(data)).expect("there is space");
        sim.untimed().pages_moved() as f64
    };
    let greedy = copies("greedy");
    for victim in [
        "fifo",
        "windowed-greedy",
        "second-chance",
        "random",
        "d-choices",
        "cost-benefit",
        "cost-age-times",
        "wear-aware",
        "static-levelling",
    ] {
        let more = copies(victim) / greedy;
        assert!(more > 0.995, "{victim}: {more}");
    }
}

#[test]
fn an_empty_window_is_refused() {
    let why = refusal(
        TINY,
        &["gc.victim.use=\"windowed-greedy\"", "gc.victim.windowed-greedy.window=\"0%\""],
    );
    assert!(why.contains("must be above 0%"), "{why}");
}
