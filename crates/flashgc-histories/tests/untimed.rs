//! Without a clock the counts are those of the timed run, over random configurations.

use flashgc_histories::draw::{Drawn, draw};
use flashgc_histories::rules::{Outcome, check};

/// Configurations that are compared.
const COMPARED: usize = 200;

#[test]
fn untimed_counts_are_the_timed_ones() {
    let mut compared = 0;
    for seed in 0.. {
        let Drawn::Legal(history, _) = draw(seed) else { continue };
        match check(&history, seed, &["untimed"]) {
            Outcome::Passed(held) => compared += held.len(),
            Outcome::Failed(failure) => panic!("seed {seed}: {failure:#?}\n{}", history.text()),
            Outcome::Refused(_) | Outcome::Ended(_) => {}
        }
        if compared >= COMPARED {
            return;
        }
    }
}
