//! The simulator against queueing theory and the analytic models of write amplification.
//!
//! The formulas and their sources: docs/models.md. They speak of one log: striped
//! allocation and uniform writes make every plane a log of its own, so one large plane is enough.
//!
//! Which utilisation: U pages of data lie in the pages that are *programmed* when a victim is
//! chosen, valid and invalid. Data in open blocks is part of U, so their programmed pages belong
//! to the log too, and only the pages still erased are excluded: the free blocks and the rest of
//! the open ones. That is `gc.erased_at_selection` (H, in blocks), hence rho = U / ((N - H) b).

use crate::common;

use common::{assert_near, number, run, whole};
use flashgc_oracles::closed_forms;
use serde_json::Value;

#[test]
fn the_models_give_the_figures_of_the_table() {
    let table = [
        (closed_forms::greedy(0.90, 64), 4.8213),
        (closed_forms::greedy(0.90, 256), 5.0832),
        (closed_forms::greedy(0.85, 128), 3.4344),
        (closed_forms::greedy(0.72, 64), 1.9425),
        (closed_forms::greedy(0.93, 32), 6.06),
        (closed_forms::fifo(0.90), 5.1787),
        (closed_forms::fifo(0.72), 1.9916),
        (closed_forms::fifo(0.93), 7.3177),
        (closed_forms::random(0.85), 6.6667),
        (closed_forms::d_choices(0.90, 64, 2), 6.852),
        (closed_forms::d_choices(0.85, 64, 10), 3.464),
        (closed_forms::d_choices(0.90, 32, 10), 4.7365),
        (closed_forms::d_choices(0.93, 32, 10), 6.40),
        (closed_forms::mixed_fifo(0.90, 0.2, 0.8), 5.538),
        (closed_forms::mixed_fifo(0.85, 0.1, 0.9), 4.430),
        (closed_forms::mixed_fifo(0.72, 0.05, 0.95), 3.086),
    ];
    for (found, expected) in table {
        assert_near("model", found, expected, 6e-4);
    }
}

pub const LOG: &str = r#"
seed = 11
[device]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 8192
pages_per_block = 64
page_size = "4 KiB"
exported = 0.9
unit = "plane"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "0 ns/B"
[gc]
scheme = "greedy"
[workload.synthetic]
requests = 1
queue_depth = 4
[precondition]
overwrite = 2.0
"#;

/// A log: its scheme, its blocks, its data and its writes.
#[derive(Clone, Copy)]
struct Log {
    victim: &'static str,
    pages_per_block: u32,
    exported: f64,
    /// Drive writes before and while measuring.
    warm: f64,
    measured: f64,
    more: &'static [&'static str],
}

pub const BLOCKS: f64 = 8192.0;

impl Log {
    fn run(self) -> Found {
        let pages = BLOCKS * f64::from(self.pages_per_block) * self.exported;
        let mut sets = vec![
            format!("gc.victim.use=\"{}\"", self.victim),
            format!("device.pages_per_block={}", self.pages_per_block),
            format!("device.exported={}", self.exported),
            format!("precondition.overwrite={}", self.warm),
            format!("workload.synthetic.requests={}", (pages * self.measured) as u64),
        ];
        sets.extend(self.more.iter().map(|set| (*set).to_string()));
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        Found::new(&run(LOG, &sets), f64::from(self.pages_per_block))
    }
}

/// The inputs of the models from a run, and their predictions.
#[derive(Debug)]
pub struct Found {
    pub write_amplification: f64,
    pub rho: f64,
}

impl Found {
    pub fn new(report: &Value, pages_per_block: f64) -> Self {
        let data = whole(report, "capacity.exported_pages") as f64;
        let erased = number(report, "gc.erased_at_selection");
        Found {
            write_amplification: number(report, "write_amplification"),
            rho: data / ((BLOCKS - erased) * pages_per_block),
        }
    }
}

pub fn check(what: &str, found: &Found, expected: f64, share: f64) {
    let off = (found.write_amplification / expected - 1.0) * 100.0;
    report(&format!("{what}: {:.4}, model {expected:.4}, {off:+.2} %", found.write_amplification));
    assert_near(what, found.write_amplification, expected, share);
}

/// Shown with `--nocapture`.
#[allow(clippy::print_stderr)]
fn report(line: &str) {
    eprintln!("{line}");
}

const UNIFORM: Log = Log {
    victim: "greedy",
    pages_per_block: 64,
    exported: 0.9,
    warm: 3.0,
    measured: 2.0,
    more: &[],
};

#[test]
fn greedy_under_uniform_writes_meets_the_exact_model() {
    for (pages_per_block, exported) in [(64, 0.9), (64, 0.85), (64, 0.72), (128, 0.9), (32, 0.93)] {
        let found = Log { pages_per_block, exported, ..UNIFORM }.run();
        let expected = closed_forms::greedy(found.rho, pages_per_block as usize);
        check(&format!("greedy b={pages_per_block} {exported}"), &found, expected, 0.01);
    }
}

#[test]
fn fifo_under_uniform_writes_meets_the_model() {
    for (pages_per_block, exported) in [(64, 0.9), (64, 0.85), (64, 0.72), (32, 0.93)] {
        let found = Log { victim: "fifo", pages_per_block, exported, ..UNIFORM }.run();
        check(&format!("fifo {exported}"), &found, closed_forms::fifo(found.rho), 0.01);
    }
}

#[test]
fn random_victims_under_uniform_writes_meet_the_model() {
    for exported in [0.9, 0.85, 0.72] {
        let found = Log { victim: "random", exported, warm: 5.0, ..UNIFORM }.run();
        check(&format!("random {exported}"), &found, closed_forms::random(found.rho), 0.01);
    }
}

#[test]
fn d_choices_under_uniform_writes_meet_the_mean_field() {
    const D2: &[&str] = &["gc.victim.d-choices.d=2"];
    const D10: &[&str] = &["gc.victim.d-choices.d=10"];
    for (d, more) in [(2, D2), (10, D10)] {
        for (pages_per_block, exported) in [(64, 0.9), (64, 0.72), (32, 0.93)] {
            let log = Log { victim: "d-choices", pages_per_block, exported, more, ..UNIFORM };
            let found = log.run();
            let expected = closed_forms::d_choices(found.rho, pages_per_block as usize, d);
            let what = format!("d={d} b={pages_per_block} {exported}");
            check(&what, &found, expected, 0.01);
        }
    }
}

/// Small blocks and little spare separate the policies: greedy 6.06, d = 10 6.40, fifo 7.32.
#[test]
fn small_blocks_and_little_spare_tell_the_policies_apart() {
    let of = |victim| {
        let log = Log { victim, pages_per_block: 32, exported: 0.93, ..UNIFORM };
        log.run().write_amplification
    };
    let (greedy, d10, fifo) = (of("greedy"), of("d-choices"), of("fifo"));
    assert!(d10 / greedy > 1.04 && fifo / d10 > 1.10, "{greedy} {d10} {fifo}");
}

/// The first half of the rows; `FLASHGC_LONG=1` takes all.
fn half_of<T, const N: usize>(rows: [T; N]) -> impl Iterator<Item = T> {
    rows.into_iter().take(if common::is_long() { N } else { N.div_ceil(2) })
}

/// Hot and cold data need about 40 drive writes until the cold data has mixed.
const HOT_COLD: Log = Log { warm: 40.0, measured: 3.0, ..UNIFORM };
const HOT_20_80: &str = "workload.synthetic.address={hot_cold={f=0.2,r=0.8}}";
const HOT_10_90: &str = "workload.synthetic.address={hot_cold={f=0.1,r=0.9}}";
const HOT_05_95: &str = "workload.synthetic.address={hot_cold={f=0.05,r=0.95}}";

#[test]
fn fifo_with_hot_and_cold_data_in_one_log_meets_the_model() {
    let rows: [(&'static [&str], f64, f64, f64); 4] = [
        (&[HOT_20_80], 0.2, 0.8, 0.9),
        (&[HOT_05_95], 0.05, 0.95, 0.72),
        (&[HOT_20_80], 0.2, 0.8, 0.72),
        (&[HOT_10_90], 0.1, 0.9, 0.85),
    ];
    for (more, f, r, exported) in half_of(rows) {
        let found = Log { victim: "fifo", exported, more, ..HOT_COLD }.run();
        let expected = closed_forms::mixed_fifo(found.rho, f, r);
        check(&format!("fifo hot/cold {f} {r} {exported}"), &found, expected, 0.01);
    }
}

/// The share to export so that U / ((N - H) b) is `rho` where about `erased` blocks are erased.
fn exported_for(rho: f64, erased: f64) -> f64 {
    rho * (1.0 - erased / BLOCKS)
}

/// No closed form is known: the values come from a separate simulation of one log
/// (docs/models.md#hot-and-cold-data-in-one-log), at the same utilisation of the log.
#[test]
fn greedy_with_hot_and_cold_data_meets_the_table() {
    const SEPARATE: &str = "gc.placement.use=\"separate-gc\"";
    let rows: [(&'static [&str], f64, f64, f64); 6] = [
        (&[HOT_20_80], 0.90, 3.98, 5.206),
        (&[HOT_10_90, SEPARATE], 0.85, 4.5, 3.934),
        (&[HOT_05_95, SEPARATE], 0.72, 4.5, 2.457),
        (&[HOT_10_90], 0.85, 3.98, 4.342),
        (&[HOT_20_80, SEPARATE], 0.90, 4.5, 5.146),
        (&[HOT_20_80, SEPARATE], 0.72, 4.5, 2.170),
    ];
    for (more, rho, erased, expected) in half_of(rows) {
        let found = Log { exported: exported_for(rho, erased), more, ..HOT_COLD }.run();
        assert_near("utilisation", found.rho, rho, 2e-4);
        check(&format!("greedy hot/cold {more:?} {rho}"), &found, expected, 0.015);
    }
}

/// Perfect separation with global greedy gives the write amplification of uniform writes
/// (docs/models.md#separated-classes), and so do two other separations: classes of equal update
/// rate have no effect, and a separate frontier for copies separates nothing when writes are
/// uniform.
#[test]
fn classes_of_equal_rate_and_a_gc_frontier_leave_uniform_greedy_as_it_is() {
    const EQUAL_RATES: &[&str] = &["workload.synthetic.address={hot_cold={f=0.3,r=0.3}}"];
    const SEPARATE: &[&str] = &["gc.placement.use=\"separate-gc\""];
    for (what, more) in [("equal rates", EQUAL_RATES), ("separate gc", SEPARATE)] {
        for exported in [0.9, 0.72] {
            let found = Log { exported, more, ..UNIFORM }.run();
            let expected = closed_forms::greedy(found.rho, 64);
            check(&format!("uniform greedy, {what} {exported}"), &found, expected, 0.01);
        }
    }
}

const QUEUE: &str = r#"
seed = 7
[device]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 256
pages_per_block = 64
page_size = "4 KiB"
exported = 0.85
unit = "die"
[device.timing]
read = "50 us"
program = "200 us"
erase = "1.5 ms"
transfer = "0 ns/B"
[gc]
scheme = "greedy"
[workload.synthetic]
requests = 8_000_000
read_share = 1.0
interarrival = { exponential = "100 us" }
"#;

/// Poisson arrivals at one unit with a fixed service time S: the mean wait is
/// rho S / (2 (1 - rho)).
fn wait_against_pollaczek_khinchine(text: &str, mean_us: u32, sets: &[&str]) {
    let found = run(text, sets);
    let (service_ns, mean_ns) = (50_000.0, f64::from(mean_us) * 1e3);
    let load = service_ns / mean_ns;
    let wait = number(&found, "latency_ns.read.mean") - service_ns;
    let expected = load * service_ns / (2.0 * (1.0 - load));
    report(&format!("load {load:.3}: wait {wait:.1}, formula {expected:.1}"));
    assert_near(&format!("wait at load {load}"), wait, expected, 0.01);
    assert_near("utilisation", number(&found, "utilisation.unit.host"), load, 0.003);
    assert_eq!(whole(&found, "latency_ns.read.min"), 50_000);
}

#[test]
fn the_wait_of_poisson_reads_meets_pollaczek_khinchine() {
    for mean_us in half_of([71, 166, 100, 500]) {
        let mean = format!("workload.synthetic.interarrival.exponential=\"{mean_us} us\"");
        wait_against_pollaczek_khinchine(QUEUE, mean_us, &[&mean]);
    }
}

#[test]
#[ignore = "needs ../shared/traces, and the contract beside them"]
fn the_wait_of_the_contract_file_meets_pollaczek_khinchine() {
    let Some(path) = common::shared("contract/poisson-read.toml") else {
        report("skipped: contract/poisson-read.toml is missing");
        return;
    };
    let text = std::fs::read_to_string(path).expect("the contract file is readable");
    wait_against_pollaczek_khinchine(&text, 100, &[]);
}
