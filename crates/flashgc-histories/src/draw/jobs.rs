//! Concurrent jobs: their kinds, places, times, rates and limits.

use super::Draw;

/// Keys of a job with some of their values, and how often each is drawn, in percent.
type Keys = &'static [(u64, &'static [&'static str])];

const KINDS: Keys = &[
    (30, &["address = { zipf = 1.2 }", "write_address = { hot_cold = { f = 0.1, r = 0.9 } }"]),
    (25, &["random_share = 0.0", "random_share = 0.5", "write_random_share = 0.0"]),
    (15, &["align = \"512 B\"", "align = \"4 KiB\""]),
    (10, &["read_size = \"4 KiB\"", "write_size = { \"4 KiB\" = 1, \"8 KiB\" = 1 }"]),
];

const TIMES: Keys = &[
    (12, &["ramp = \"1 us\"", "ramp = \"200 us\"", "ramp = \"4 ms\""]),
    (15, &["start = \"3 us\"", "start = \"700 us\"", "start = \"5 ms\""]),
    (15, &["runtime = \"100 us\"", "runtime = \"3 ms\"", "runtime = \"50 ms\""]),
    (10, &["loops = 2", "loops = 3"]),
    (15, &["clones = 2", "clones = 3"]),
];

const RATES: Keys = &[
    (20, &["iops = 500", "iops = 20000", "read_iops = 3000", "write_rate = \"20 MB/s\""]),
    (8, &["poisson = true"]),
    (8, &["overtake = true"]),
    (10, &["limit_iops = 2000", "limit_iops = 100000", "limit_rate = \"40 MB/s\""]),
    (10, &["think = \"50 us\"", "think = \"1 ms\", think_after = 5"]),
    (10, &["weight = 2", "weight = 7"]),
];

const PASSES: Keys = &[
    (30, &["run = 4", "run = 3, run_stays = true"]),
    (25, &["skip = \"4 KiB\"", "skip = \"8 KiB\", skip_back = true"]),
    (20, &["stride_range = \"64 KiB\"", "stride_range = \"32 KiB\", stride_gap = \"16 KiB\""]),
    (15, &["once = true"]),
];

impl Draw {
    /// Concurrent jobs, in a part of the cases with flushes and forced writes.
    pub(super) fn jobs(&mut self) {
        let count = self.choices.between(1, 3);
        let flows = self.choices.chance(12);
        let jobs: Vec<String> = (0..count).map(|at| self.job(at, flows)).collect();
        self.set("workload.jobs.job", format!("[{}]", jobs.join(", ")));
    }

    fn job(&mut self, at: u64, flows: bool) -> String {
        let size = self.choices.pick(&["512 B", "4 KiB", "4 KiB", "16 KiB", "22 KiB"]);
        let reads = self.choices.pick(&["0.0", "0.0", "0.3", "0.7"]);
        let trims = self.choices.pick(&["0.0", "0.0", "0.1"]);
        let place = match self.choices.chance(20) {
            true => "file_size = 0.04, amount = 100000.0",
            false => "file = \"drive\", amount = 100000.0",
        };
        let mut keys = vec![
            place.to_string(),
            format!("requests = {}, depth = {}", self.requests(), self.choices.sized(1, 40)),
            format!("size = \"{size}\", read_share = {reads}, trim_share = {trims}"),
        ];
        self.add(&mut keys, KINDS);
        if self.choices.chance(40) {
            let hints = ["[0]", "[1]", "[2, 1]", "[0, 3, 200]"];
            keys.push(format!("hints = {}", self.choices.pick(&hints)));
            if self.choices.chance(30) {
                keys.push("hint_select = \"random\"".into());
            }
        }
        let lasting = [("flush_after", ["1", "3", "30"]), ("fua_share", ["0.1", "0.5", "1.0"])];
        for (key, values) in lasting {
            if self.choices.chance(40) {
                keys.push(format!("{key} = {}", self.choices.pick(&values)));
                self.note(key);
                self.history.remove("device.write_completion");
            }
        }
        self.add(&mut keys, TIMES);
        self.add(&mut keys, RATES);
        if self.choices.chance(20) {
            keys.push(format!("passes = {}", self.choices.pick(&["\"new\"", "\"same\""])));
            self.note("passes");
            self.add(&mut keys, PASSES);
        }
        if flows {
            keys.push(format!("flow = {}", self.choices.pick(&["1", "2", "5"])));
            self.note("flow");
        } else if at > 0 && self.choices.chance(12) {
            keys.push("after_others = true".into());
            self.note("after_others");
        }
        format!("{{ {} }}", keys.join(", "))
    }

    fn add(&mut self, keys: &mut Vec<String>, from: Keys) {
        for (percent, values) in from {
            if self.choices.chance(*percent) {
                let drawn = self.choices.pick(values);
                keys.push(drawn.to_string());
                self.note(drawn.split(' ').next().unwrap_or(drawn));
            }
        }
    }

    /// Counts a key of jobs among those that were drawn.
    fn note(&mut self, key: &str) {
        self.history.words.push(("workload.jobs.job".into(), key.into()));
    }
}
