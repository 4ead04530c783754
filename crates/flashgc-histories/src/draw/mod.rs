//! Draws histories: legal configurations of all slots, devices, workloads and preconditionings.

mod channel;
mod classes;
mod device;
mod jobs;
mod scheme;
mod slots;
mod superblocks;
mod workload;

use crate::choices::Choices;
use crate::history::History;
use flashgc::config::Setup;

pub use classes::untimed_pairs;

/// A history in the making.
pub struct Draw {
    /// The source of chance.
    pub choices: Choices,
    /// The choices drawn until now.
    pub history: History,
    /// Whether features that met their faults in each other are drawn often, so that they meet: two
    /// passes, suspension, buses of several units, aged fills, failures, and drives that another
    /// scheme filled.
    meets: bool,
}

impl Draw {
    fn new(choices: Choices) -> Self {
        Draw { choices, history: History::default(), meets: false }
    }

    /// True in this number of a hundred cases: the second one where features are to meet.
    fn chance(&mut self, usual: u64, meets: u64) -> bool {
        let percent = if self.meets { meets } else { usual };
        self.choices.chance(percent)
    }

    fn set(&mut self, key: &str, value: impl ToString) {
        self.history.set(key, value.to_string());
    }

    /// Sets a text.
    fn text(&mut self, key: &str, value: impl std::fmt::Display) {
        self.history.set(key, format!("\"{value}\""));
    }

    /// Sets one of these words, and counts it.
    fn word<'a>(&mut self, key: &str, words: &[&'a str]) -> &'a str {
        let word = self.choices.pick(words);
        self.text(key, word);
        self.history.words.push((key.into(), word.into()));
        word
    }

    /// In half of the cases as [`Draw::word`], and otherwise left to its default.
    fn maybe(&mut self, key: &str, words: &[&str]) {
        if self.choices.chance(50) {
            self.word(key, words);
        }
    }

    /// In half of the cases one of these values.
    fn value(&mut self, key: &str, values: &[&str]) {
        if self.choices.chance(50) {
            let value = self.choices.pick(values);
            self.set(key, value);
            self.history.words.push((key.into(), value.into()));
        }
    }

    fn number(&self, key: &str) -> u64 {
        self.history.get(key).and_then(|value| value.parse().ok()).unwrap_or(1)
    }

    fn is(&self, key: &str, word: &str) -> bool {
        self.history.get(key).is_some_and(|value| value.trim_matches('"') == word)
    }
}

/// The result of a draw.
pub enum Drawn {
    /// A history that the plan accepts.
    Legal(Box<History>, Box<Setup>),
    /// One that it refuses, and why.
    Refused(Box<History>, String),
}

/// The history of a seed.
pub fn draw(seed: u64) -> Drawn {
    let mut draw = Draw::new(Choices::new(seed));
    draw.meets = draw.choices.chance(40);
    draw.set("seed", seed % 1000);
    draw.device();
    draw.scheme();
    draw.workload();
    draw.precondition();
    draw.slots();
    draw.page_types();
    draw.cached();
    draw.read_errors();
    draw.superblocks();
    draw.one_collection();
    draw.filled_by_another();
    draw.foreseen();
    let has_many = draw.many_classes();
    draw.failing();
    let is_tight = has_many || draw.choices.chance(30);
    draw.fits(is_tight)
}

/// A history of this seed with this placement and this victim.
pub fn draw_placed(seed: u64, placement: &str, victim: &str) -> Drawn {
    let mut draw = Draw::new(Choices::new(seed));
    draw.set("seed", seed % 1000);
    draw.device();
    draw.workload();
    draw.precondition();
    draw.placed(placement, victim);
    let is_tight = draw.choices.chance(30);
    draw.fits(is_tight)
}

/// The device under another scheme, for a drive that is saved by one scheme and used by another.
pub fn another_scheme(history: &History, seed: u64) -> History {
    let choices = Choices::new(!seed);
    let mut draw = Draw { choices, history: history.clone(), meets: false };
    draw.history.remove("gc");
    draw.history.remove("precondition.scheme");
    draw.history.words.clear();
    match draw.history.get("device.superblock").is_some() {
        true => draw.scheme_of_superblocks(),
        false => draw.scheme(),
    }
    draw.foreseen();
    draw.history
}

/// The share of user pages.
const EXPORTED: &str = "device.exported";

impl Draw {
    /// Lowers the share of user capacity until the plan accepts it.
    /// Where it is tight the share is then as large as the plan accepts.
    fn fits(mut self, is_tight: bool) -> Drawn {
        let mut share = 0.2 + self.choices.below(7_600) as f64 / 10_000.0;
        let mut refused: Option<f64> = None;
        for _ in 0..9 {
            self.set(EXPORTED, format!("{share:.4}"));
            match self.history.prepare() {
                Ok(setup) if is_tight => return self.tightest(setup, share, refused),
                Ok(setup) => return Drawn::Legal(Box::new(self.history), Box::new(setup)),
                Err(why) => {
                    if !is_of_space(&why) {
                        return Drawn::Refused(Box::new(self.history), why);
                    }
                    refused = Some(share);
                    share *= 0.8;
                }
            }
        }
        let why = self.history.prepare().err().unwrap_or_default();
        Drawn::Refused(Box::new(self.history), why)
    }

    /// The largest share that is accepted, within a step that is less than a page.
    fn tightest(mut self, setup: Setup, share: f64, refused: Option<f64>) -> Drawn {
        let (mut setup, mut low, mut high) = (setup, share, refused.unwrap_or(0.999));
        for _ in 0..8 {
            let middle = (low + high) / 2.0;
            self.set(EXPORTED, format!("{middle:.4}"));
            match self.history.prepare() {
                Ok(found) => (setup, low) = (found, middle),
                Err(_) => high = middle,
            }
        }
        self.set(EXPORTED, format!("{low:.4}"));
        Drawn::Legal(Box::new(self.history), Box::new(setup))
    }
}

/// Whether less exported space may make the plan accept it.
fn is_of_space(why: &str) -> bool {
    let words = ["spare pages", "spare space", "too few for the", "spare", "exported"];
    words.iter().any(|word| why.contains(word))
}
