//! Shrinks a history that fails: fewer keys, fewer requests, smaller numbers, the same failure.

use crate::history::History;
use crate::rules::{Failure, Outcome, check, other_scheme};
use std::time::{Duration, Instant};

/// The smallest history found that fails in the same way.
pub fn shrink(
    history: &History,
    seed: u64,
    failure: &Failure,
    patience: Duration,
) -> (History, Failure) {
    let mut search = Search {
        seed,
        rules: vec![failure.rule],
        until: Instant::now() + patience,
        best: (history.clone(), failure.clone()),
    };
    search.without_takeover();
    loop {
        let before = search.best.0.clone();
        search.fewer_rows();
        search.smaller_numbers();
        search.fewer_keys();
        search.plainer_values();
        if search.best.0 == before || search.is_over() {
            return search.best;
        }
    }
}

struct Search {
    seed: u64,
    rules: Vec<&'static str>,
    until: Instant,
    best: (History, Failure),
}

impl Search {
    fn is_over(&self) -> bool {
        Instant::now() > self.until
    }

    /// Takes a candidate that fails in the same way.
    fn take(&mut self, candidate: History) -> bool {
        if self.is_over() || candidate == self.best.0 {
            return false;
        }
        let Outcome::Failed(found) = check(&candidate, self.seed, &self.rules) else {
            return false;
        };
        let same = found.rule == self.best.1.rule && found.signature == self.best.1.signature;
        if same {
            self.best = (candidate, *found);
        }
        same
    }

    /// A failure where a scheme continues on another's drive may also occur on its own drive.
    fn without_takeover(&mut self) {
        if self.best.1.rule != "takeover" {
            return;
        }
        let Some((own, _)) = other_scheme(&self.best.0, self.seed) else { return };
        if let Outcome::Failed(found) = check(&own, self.seed, &["checker"])
            && found.signature == self.best.1.signature
        {
            self.rules = vec![found.rule];
            self.best = (own, *found);
        }
    }

    fn fewer_keys(&mut self) {
        let keys: Vec<String> = self.best.0.keys.iter().map(|(key, _)| key.clone()).collect();
        for key in keys.iter().rev() {
            let mut candidate = self.best.0.clone();
            candidate.keys.retain(|(own, _)| own != key);
            self.take(candidate);
        }
    }

    fn fewer_rows(&mut self) {
        let mut size = self.best.0.rows.as_ref().map_or(0, Vec::len) / 2;
        while size > 0 {
            let mut from = 0;
            while from < self.best.0.rows.as_ref().map_or(0, Vec::len) {
                let mut candidate = self.best.0.clone();
                if let Some(rows) = &mut candidate.rows {
                    let to = (from + size).min(rows.len());
                    rows.drain(from..to);
                }
                if !self.take(candidate) {
                    from += size;
                }
                if self.is_over() {
                    return;
                }
            }
            size /= 2;
        }
    }

    /// Whole numbers become smaller: one, a half, one less.
    fn smaller_numbers(&mut self) {
        let keys: Vec<String> = self.best.0.keys.iter().map(|(key, _)| key.clone()).collect();
        for key in keys {
            let number = |history: &History| history.get(&key)?.parse::<u64>().ok();
            let mut tries = 0;
            while let Some(own) = number(&self.best.0).filter(|own| *own > 1 && tries < 24) {
                tries += 1;
                let smaller = [1, own / 4, own / 2, own * 3 / 4, own * 9 / 10, own - 1];
                let taken = smaller.iter().any(|&number| {
                    let mut candidate = self.best.0.clone();
                    candidate.set(&key, number.max(1).to_string());
                    number < own && self.take(candidate)
                });
                if !taken {
                    break;
                }
            }
        }
    }

    /// Values of which the plainest is tried.
    fn plainer_values(&mut self) {
        let plain = [
            ("device.page_size", "\"4 KiB\""),
            ("device.unit", "\"plane\""),
            ("device.timing.read", "\"25 us\""),
            ("device.timing.program", "\"200 us\""),
            ("device.timing.erase", "\"1.5 ms\""),
            ("device.timing.transfer", "\"0 ns/B\""),
            ("workload.synthetic.interarrival.fixed", "\"100 us\""),
            ("gc.victim.use", "\"greedy\""),
            ("precondition.fill", "\"sequential\""),
        ];
        for (key, value) in plain {
            if self.best.0.get(key).is_some() {
                let mut candidate = self.best.0.clone();
                candidate.set(key, value);
                self.take(candidate);
            }
        }
    }
}
