//! Workloads and preconditionings.

use super::Draw;
use crate::history::TRACE_FORMAT;

const SYNTHETIC: &str = "workload.synthetic";

impl Draw {
    pub(super) fn workload(&mut self) {
        let kinds = ["synthetic"; 8];
        let kinds = [&kinds[..], &["fitted", "trace", "jobs", "jobs"]].concat();
        let kind = self.choices.pick(&kinds);
        self.history.words.push(("workload".into(), kind.into()));
        match kind {
            "synthetic" => self.synthetic(),
            "fitted" => self.fitted(),
            "jobs" => self.jobs(),
            _ => self.trace(),
        }
    }

    pub(super) fn requests(&mut self) -> u64 {
        match self.choices.chance(4) {
            true => self.choices.between(1_500, 5_000),
            false => self.choices.sized(16, 1_000),
        }
    }

    fn synthetic(&mut self) {
        let requests = self.requests();
        let has_preset = self.history.get("device.preset").is_some();
        match self.choices.chance(8) && !has_preset {
            true => {
                let writes = self.drive_writes();
                self.text(&format!("{SYNTHETIC}.requests"), format!("{writes} drive writes"));
                self.history.words.push((SYNTHETIC.into(), "drive writes".into()));
            }
            false => self.set(&format!("{SYNTHETIC}.requests"), requests),
        }
        if self.choices.chance(6) {
            self.word("workload.until", &["steady"]);
            self.set("workload.within", "0.5");
        }
        self.arrivals();
        let two = self.history.get(&format!("{SYNTHETIC}.read_interarrival.fixed")).is_some();
        self.pattern(SYNTHETIC, two);
        if !two && self.choices.chance(10) {
            let first = self.table(two);
            let second = self.table(two);
            let phases = format!("[{{ share = 0.3{first} }}, {{ share = 0.7{second} }}]");
            self.set(&format!("{SYNTHETIC}.phases"), phases);
            self.history.words.push((SYNTHETIC.into(), "phases".into()));
        }
    }

    /// Drive writes that small requests reach soon, too.
    fn drive_writes(&mut self) -> &'static str {
        let counts = ["channels", "chips_per_channel", "dies_per_chip", "planes_per_die"];
        let counts = counts.iter().chain(&["blocks_per_plane", "pages_per_block"]);
        let pages: u64 = counts.map(|count| self.number(&format!("device.{count}"))).product();
        match pages {
            0..=400 => self.choices.pick(&["0.2", "0.5", "1", "2"]),
            401..=1_500 => self.choices.pick(&["0.1", "0.3"]),
            _ => "0.05",
        }
    }

    /// The arrivals of requests.
    fn arrivals(&mut self) {
        let key = |name: &str| format!("{SYNTHETIC}.{name}");
        if self.choices.chance(45) {
            let depth = self.choices.pick(&["1", "2", "3", "8", "16", "40", "200"]);
            self.set(&key("queue_depth"), depth);
            self.history.words.push((SYNTHETIC.into(), "closed".into()));
            return;
        }
        let times =
            ["1 ns", "100 ns", "1 us", "10 us", "25 us", "100 us", "300 us", "1 ms", "4 ms"];
        let time = self.choices.pick(&times);
        let kinds =
            ["fixed", "fixed", "uniform", "exponential", "bursty", "hyperexponential", "two"];
        let kind = self.choices.pick(&kinds);
        self.history.words.push((key("interarrival"), kind.into()));
        match kind {
            "bursty" => {
                self.set(
                    &key("interarrival.bursty"),
                    "{ mean = \"400 us\", below = \"40 us\", share = 0.8 }",
                );
            }
            "hyperexponential" => {
                let phases = format!(
                    "{{ fast_share = 0.7, fast = \"{time}\", slow = \"4 ms\", stay = 0.5 }}"
                );
                self.set(&key("interarrival.hyperexponential"), phases);
            }
            "two" => {
                self.text(&key("read_interarrival.fixed"), time);
                // With an amount of writes there must not be many reads for each.
                let by_work = self.history.get(&key("requests")).is_some_and(|n| n.contains('"'));
                let other = if by_work { time } else { self.choices.pick(&times) };
                self.text(&key("write_interarrival.exponential"), other);
            }
            kind => self.text(&key(&format!("interarrival.{kind}")), time),
        }
    }

    /// The kind and the addresses of requests, below this key.
    fn pattern(&mut self, at: &str, two: bool) {
        for (key, value) in self.entries(two) {
            self.set(&format!("{at}.{key}"), value);
        }
        self.value(&format!("{at}.align"), &["\"512 B\"", "\"1 KiB\"", "\"4 KiB\""]);
    }

    /// The kind and the addresses of requests as entries of an inline table.
    fn table(&mut self, two: bool) -> String {
        let entries = self.entries(two).into_iter();
        entries.map(|(key, value)| format!(", {key} = {value}")).collect()
    }

    fn entries(&mut self, two: bool) -> Vec<(String, String)> {
        let mut entries: Vec<(String, String)> = Vec::new();
        let choices = &mut self.choices;
        let mut add = |key: &str, value: &str| entries.push((key.into(), value.into()));
        if !two {
            if choices.chance(60) {
                add("read_share", choices.pick(&["0.1", "0.3", "0.5", "0.8"]));
            }
            if choices.chance(25) {
                add("trim_share", choices.pick(&["0.02", "0.2"]));
            }
        }
        let sizes = [
            "\"512 B\"",
            "\"4 KiB\"",
            "\"12 KiB\"",
            "\"48 KiB\"",
            "{ \"1 KiB\" = 0.4, \"10 KiB\" = 0.3, \"40 KiB\" = 0.3 }",
            "{ exponential = \"9 KiB\" }",
        ];
        if choices.chance(65) {
            let key = choices.pick(&["size", "size", "read_size", "write_size"]);
            add(key, choices.pick(&sizes));
        }
        let places = [
            "\"uniform\"",
            "{ zipf = 0.9 }",
            "{ zipf = 3 }",
            "{ zipf = 1.0, population = 40 }",
            "{ zipf = 1.0, population = 1_000_000 }",
            "{ hot_cold = { f = 0.1, r = 0.9 } }",
            "{ hot_cold = { f = 0.02, r = 0.99 } }",
            "{ groups = [{ places = 0.1, requests = 0.6 }, { places = 0.9, requests = 0.4 }] }",
            "{ groups = [{ places = 0.2, requests = 0.9 }], scatter = 1 }",
        ];
        if choices.chance(70) {
            let key = choices.pick(&["address", "address", "read_address", "write_address"]);
            add(key, choices.pick(&places));
        }
        if choices.chance(20) {
            add("footprint", choices.pick(&["0.1", "0.5", "0.9"]));
        }
        if choices.chance(25) {
            let key = choices.pick(&["sequential_share", "write_sequential_share"]);
            add(key, choices.pick(&["0.5", "0.95", "1.0"]));
        }
        if choices.chance(20) {
            let key = choices.pick(&["high_share", "read_high_share", "write_high_share"]);
            add(key, choices.pick(&["0.3", "1.0"]));
        }
        if choices.chance(30) {
            let hints = ["[1.0]", "[0.1, 0.9]", "[0.2, 0.3, 0.1]", "[0.1, 0.2, 0.3, 0.3, 0.1]"];
            add("hints", &format!("{{ regions = {} }}", choices.pick(&hints)));
        }
        entries
    }

    fn fitted(&mut self) {
        let requests = self.requests();
        let key = |name: &str| format!("workload.fitted.{name}");
        self.set(&key("requests"), requests);
        let size = self.choices.pick(&["4 KiB", "8 KiB", "2 KiB", "512 B"]);
        let age = self.choices.pick(&["{ \"1\" = 1 }", "{ \"0.3\" = 0.8, \"1\" = 0.2 }"]);
        let places = format!(
            "[{{ size = {{ \"{size}\" = 1 }}, run = {{ 2 = 1 }}, age = {age} }}, \
             {{ size = {{ \"512 B\" = 1 }}, offset = {{ \"1 KiB\" = 1 }}, \
             age = {{ \"0.5\" = 1 }} }}]"
        );
        self.set(&key("places"), places);
        let (count, pages) = (self.choices.between(1, 3), self.choices.between(10, 40));
        let regions = format!(
            "[{{ count = {count}, pages = {pages}, written = {{ 1 = 4, 2 = 3 }} }}, \
             {{ pages = 10 }}]"
        );
        self.set(&key("regions"), regions);
        let gap = self.choices.pick(&["20 us", "1 us", "300 us"]);
        let pause = self.choices.pick(&["10 ms", "100 us", "1 ms"]);
        let bursts = format!(
            "[{{ length = {{ 4 = 1 }}, pause = {{ \"{pause}\" = 1 }}, gap = {{ \"{gap}\" = 1 }}, \
             places = {{ 1 = 0.75, 2 = 0.25 }} }}, {{ length = {{ 10 = 0.5, 30 = 0.5 }}, \
             pause = {{ \"1 ms\" = 1 }}, gap = {{ \"5 us\" = 1 }}, read_share = 0.7, \
             read_size = {{ \"4 KiB\" = 0.5, \"16 KiB\" = 0.5 }}, read_sequential_share = 0.3, \
             places = {{ 1 = 1 }} }}]"
        );
        self.set(&key("bursts"), bursts);
        let course = "[{ pauses = \"300 ms\", bursts = { 1 = 25 } }, \
                      { pauses = \"100 ms\", bursts = { 2 = 5, 1 = 25 } }]";
        self.set(&key("course"), course);
    }

    /// A trace of requests that a synthetic workload would not make: on few pages, at one instant.
    fn trace(&mut self) {
        let key = |name: &str| format!("workload.trace.{name}");
        self.text(&key("file"), "history.csv");
        self.text(&key("format"), TRACE_FORMAT);
        self.word(&key("address"), &["wrap", "compact"]);
        self.value(&key("queue_depth"), &["1", "5", "30"]);
        self.value(&key("time_scale"), &["0.5", "2.0"]);
        let (rows, span) = (self.requests(), self.choices.sized(8, 4_096));
        let gap = self.choices.pick(&[0, 1, 1_000, 30_000, 500_000]);
        let reads = self.choices.pick(&[0, 20, 50, 90]);
        let trims = self.choices.pick(&[0, 0, 10]);
        let mut at_ns = 0;
        let mut lines = Vec::new();
        for _ in 0..rows {
            let op = match self.choices.below(100) {
                kind if kind < reads => 'r',
                kind if kind < reads + trims => 't',
                _ => 'w',
            };
            let offset = self.choices.below(span) * 512;
            let size = self.choices.sized(1, 64) * 512;
            let high = u8::from(self.choices.chance(10));
            let hint = self.choices.pick(&[0, 0, 1, 2, 3, 255]);
            lines.push(format!("{at_ns},{op},{offset},{size},{high},{hint}"));
            // Several at one instant, and pauses.
            if self.choices.chance(70) {
                at_ns += self.choices.below(2 * gap + 1);
            }
            if self.choices.chance(2) {
                at_ns += 5_000_000;
            }
        }
        self.history.rows = Some(lines);
    }

    pub(super) fn precondition(&mut self) {
        let is_trace = self.history.rows.is_some();
        let words: &[&str] = match is_trace {
            true => &["sequential", "by-block", "trace", "none", "aged", "sprandom"],
            false => &["sequential", "sequential", "by-block", "aged", "none", "sprandom"],
        };
        let words = if self.meets && self.choices.chance(30) { &["aged"] } else { words };
        let fill = self.word("precondition.fill", words);
        if fill == "aged" {
            let ratio = self.choices.pick(&["0.0", "0.1", "0.31", "0.5", "0.8"]);
            self.set("precondition.aged_ratio", ratio);
        }
        if fill == "sprandom" {
            let spare = self.choices.pick(&["0.02", "0.1", "0.3"]);
            self.set("precondition.sprandom.over_provisioning", spare);
            self.value("precondition.sprandom.regions", &["2", "7", "100"]);
            self.value("precondition.sprandom.cache", &["\"512 B\""]);
        }
        if is_trace && ["aged", "none"].contains(&fill) {
            self.maybe("precondition.reads", &["mapped", "all-mapped"]);
        }
        if fill != "none" && self.choices.chance(70) {
            if self.choices.chance(8) {
                self.word("precondition.until", &["steady"]);
                self.set("precondition.at_most", "2.0");
            } else {
                let writes = self.choices.pick(&["0.1", "0.37", "1.0", "1.0", "2.0"]);
                self.set("precondition.overwrite", writes);
                let with: &[&str] = match is_trace {
                    true => &["uniform", "workload", "passes"],
                    false => &["uniform", "workload"],
                };
                self.maybe("precondition.overwrite_with", with);
                if self.is("device.allocation", "dynamic") {
                    self.maybe("precondition.planes", &["in-turn", "most-erased"]);
                }
            }
        }
        if fill != "none" && self.choices.chance(12) {
            let mut names = flashgc::config::presets::scheme_names();
            // Presets for larger planes, or for drives of their own.
            let large = ["greedy-msr", "gsm-plus", "pregc-gftl", "speedup", "speedup-pb"];
            names.retain(|name| !large.contains(name));
            self.word("precondition.scheme", &names);
        }
    }

    /// Where features are to meet, another scheme fills the drive, which has no parameter that a
    /// device could refuse.
    pub(super) fn filled_by_another(&mut self) {
        if self.meets && !self.is("precondition.fill", "none") && self.choices.chance(35) {
            let names = ["greedy", "greedy", "fifo", "cost-benefit", "d-choices"];
            self.word("precondition.scheme", &names);
        }
    }

    /// The oracle needs a future that does not depend on the run. Elsewhere another placement takes
    /// its place.
    pub(super) fn foreseen(&mut self) {
        if !self.is("gc.placement.use", "oracle") {
            return;
        }
        let has = |key: &str| self.history.get(key).is_some();
        // Programs that join pages have a buffer.
        let keys = ["write_buffer.size", "mapping_unit", "pages_per_program", "preset"];
        let is_buffered = keys.iter().any(|key| has(&format!("device.{key}")));
        let is_run = is_buffered || has("workload.jobs.job");
        let is_own = has("precondition.until")
            || has("precondition.reads")
            || self.is("precondition.fill", "trace");
        if is_run || (is_own && !has("precondition.scheme")) {
            self.word("gc.placement.use", &["dac"]);
        }
    }
}
