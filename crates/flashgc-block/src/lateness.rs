//! The lateness of answers: latencies of clients and of the model.

use flashgc::stats::Latency;
use flashgc::workload::HostOp;

/// Above this share of a percentile, lateness blurs it.
const BLURS: f64 = 0.05;

/// The latencies of one operation.
struct Latencies {
    name: &'static str,
    model: Latency,
    delivered: Latency,
}

/// The lateness of answers.
pub(crate) struct Lateness {
    all: Latency,
    /// Reads and writes.
    by_op: [Latencies; 2],
}

impl Lateness {
    /// A record without answers.
    pub(crate) fn new() -> Self {
        let by_op = ["reads", "writes"].map(|name| Latencies {
            name,
            model: Latency::new(),
            delivered: Latency::new(),
        });
        Lateness { all: Latency::new(), by_op }
    }

    /// An answer left this long after the time of the model.
    pub(crate) fn record(&mut self, op: HostOp, model_ns: u64, late_ns: u64) {
        self.all.record(late_ns);
        if let HostOp::Read | HostOp::Write = op {
            let Latencies { model, delivered, .. } = &mut self.by_op[op as usize];
            model.record(model_ns);
            delivered.record(model_ns + late_ns);
        }
    }

    /// The notes for the report.
    pub(crate) fn notes(&self, slowed: f64) -> Vec<String> {
        let late = self.all.summary();
        let (Some(p50), Some(p99), Some(max)) = (late.p50, late.p99, late.max) else {
            return Vec::new();
        };
        let [p50_us, p99_us, max_us] =
            [p50, p99, max].map(|ns| format!("{:.0} us", ns as f64 / 1e3));
        let mut how = "the drive was served in real time".to_string();
        if slowed > 1.0 {
            how = format!("the drive was served {slowed} times slower than its own time");
        }
        let mut notes = vec![format!(
            "{how}: answers left {p50_us} (p50), {p99_us} (p99) and at most {max_us} after the \
             model's time"
        )];
        let blurred: Vec<String> = self.by_op.iter().filter_map(Latencies::blurred).collect();
        if !blurred.is_empty() {
            notes.push(format!(
                "the percentiles that clients measure are blurred, since answers left late: {}; \
                 the report has the model's; a larger K of --time scaled=K makes the share smaller",
                blurred.join("; ")
            ));
        }
        notes
    }
}

impl Latencies {
    /// The differences between the percentiles of clients and of the model, in percent, if one of
    /// them exceeds `BLURS`.
    fn blurred(&self) -> Option<String> {
        let (model, delivered) = (self.model.summary(), self.delivered.summary());
        let pairs = [
            ("p50", model.p50, delivered.p50),
            ("p99", model.p99, delivered.p99),
            ("p99.9", model.p99_9, delivered.p99_9),
        ];
        let shares = pairs.map(|(name, due, had)| {
            let due = due.filter(|&due| due > 0)? as f64;
            Some((name, had? as f64 / due - 1.0))
        });
        let shares: Vec<(&str, f64)> = shares.into_iter().flatten().collect();
        shares.iter().any(|(_, share)| *share > BLURS).then(|| {
            let each =
                shares.iter().map(|(name, share)| format!("{name} by {:.0} %", share * 100.0));
            format!("{} {}", self.name, each.collect::<Vec<_>>().join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 300 us, one of a hundred 3 ms; 30 us late.
    fn of(late_ns: u64) -> Vec<String> {
        let mut lateness = Lateness::new();
        for at in 0..2000 {
            let model_ns = if at % 50 == 0 { 3_000_000 } else { 300_000 };
            lateness.record(HostOp::Write, model_ns, late_ns);
            lateness.record(HostOp::Flush, 0, late_ns);
        }
        lateness.notes(1.0)
    }

    #[test]
    fn a_share_of_each_percentile_is_reported_where_one_is_blurred() {
        let [late, blurred] = of(30_000).try_into().expect("two notes");
        assert!(late.contains("30 us (p99)"), "{late}");
        assert!(blurred.contains("writes p50 by 10 %, p99 by 1 %, p99.9 by 1 %;"), "{blurred}");
        assert!(!blurred.contains("reads"), "{blurred}");
        assert_eq!(of(5_000).len(), 1);
    }
}
