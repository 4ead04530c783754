//! Tenants: jobs that share a drive, with queues, limits and flushes.

use super::Draw;

impl Draw {
    /// Up to four jobs, which may have weights, limits and flushes.
    pub(super) fn jobs(&mut self) {
        let count = self.choices.between(1, 4);
        let jobs: Vec<_> = (0..count).map(|_| self.job()).collect();
        self.set("workload.jobs.job", format!("[{}]", jobs.join(", ")));
        let has_queue = self.history.get("device.queue_length").is_some();
        if has_queue && self.choices.chance(60) {
            self.word("device.queue_order", &["round-robin"]);
        }
    }

    fn job(&mut self) -> String {
        let requests = self.choices.sized(16, 500);
        let depth = self.choices.pick(&["1", "2", "7", "32", "128"]);
        let mut keys = vec![format!("file = \"drive\", requests = {requests}, depth = {depth}")];
        let mut may = |chance: u64, key: &str, values: &[&str]| {
            if self.choices.chance(chance) {
                keys.push(format!("{key} = {}", self.choices.pick(values)));
                self.history.words.push(("workload.jobs.job".into(), key.into()));
            }
        };
        may(70, "read_share", &["0.0", "0.3", "0.8", "1.0"]);
        may(10, "trim_share", &["0.1", "0.2"]);
        may(40, "size", &["\"512 B\"", "\"4 KiB\"", "\"64 KiB\""]);
        may(20, "random_share", &["0.0", "0.5"]);
        may(20, "span", &["0.5"]);
        may(20, "clones", &["2", "3"]);
        may(20, "weight", &["1", "2", "9"]);
        may(20, "flush_after", &["1", "3", "20"]);
        may(20, "limit_iops", &["300", "20000"]);
        may(15, "limit_rate", &["\"3 MB/s\"", "\"200 MB/s\""]);
        may(15, "iops", &["500", "100000"]);
        may(10, "think", &["\"10 us\"", "\"2 ms\""]);
        format!("{{ {} }}", keys.join(", "))
    }
}
