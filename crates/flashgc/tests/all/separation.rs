//! Separation against models: fifo over any popularity, classes that are given, and the least write
//! amplification of all placements that use only the frequency of writes of each page.

use crate::common::{assert_near, inputs, is_long, of_the_past, run};
use crate::oracles::{BLOCKS, Found, LOG, check};

use flashgc::gc::given::{Given, GivenPlacement, GivenPolicies};
use flashgc::gc::placement::{Copied, Placement, Write};
use flashgc::session::{Inputs, Options, Phase, Session, prepare};
use flashgc_oracles::closed_forms::greedy;
use flashgc_oracles::separation::{fifo, grouped, separated, zipf};

#[test]
fn the_models_give_the_figures_of_their_tables() {
    // Two classes.
    assert_near("20/80", separated(&[(0.2, 0.8), (0.8, 0.2)], 1.0 / 0.9), 3.571, 1e-3);
    assert_near("10/90", separated(&[(0.1, 0.9), (0.9, 0.1)], 1.0 / 0.9), 2.336, 1e-3);
    // Zipf on a drive of 8 GiB with 7.4 % spare: one class under fifo, and the limit of many.
    for (theta, one, limit) in [(0.6, 7.997, 6.230), (1.0, 11.494, 2.616)] {
        let shares = zipf(1_953_125, theta);
        assert_near("one log", fifo(&shares, 1.0737), one, 1e-3);
        // The table is 0.3 % above this at most; why is not known.
        assert_near("limit", separated(&grouped(&shares, 600), 1.0737), limit, 4e-3);
    }
    // Uniform writes have nothing to separate.
    assert_near("uniform", separated(&grouped(&zipf(10_000, 0.0), 9), 1.0737), 7.455, 1e-3);
}

fn log(sets: &[&str]) -> Found {
    Found::new(&run(LOG, sets), 64.0)
}

#[test]
fn fifo_under_zipf_meets_the_model() {
    for (theta, exported) in [("0.8", 0.85), ("1.0", 0.9)] {
        let sets = [
            "gc.victim.use=\"fifo\"".to_string(),
            format!("device.exported={exported}"),
            format!("workload.synthetic.address={{zipf={theta}}}"),
            "precondition.overwrite=8.0".into(),
            "workload.synthetic.requests=1_000_000".into(),
        ];
        let found = log(&sets.each_ref().map(String::as_str));
        let pages = (BLOCKS * 64.0 * exported) as usize;
        let shares = zipf(pages, theta.parse().expect("a number"));
        check(&format!("fifo zipf {theta}"), &found, fifo(&shares, 1.0 / found.rho), 0.01);
    }
}

/// No placement that uses the past alone is below the limit of separation, whatever its victim. The
/// limit has all pages of the drive for itself, and no open blocks.
#[test]
fn no_placement_is_below_the_limit_of_separation() {
    for theta in ["0.6", "1.0"] {
        let pages = (2048.0 * 64.0 * 0.85) as usize;
        let shares = zipf(pages, theta.parse().expect("a number"));
        let least = separated(&grouped(&shares, 600), 1.0 / 0.85);
        let of = |placement: &str| {
            let sets = [
                format!("gc.placement.use=\"{placement}\""),
                "gc.trigger.watermark.soft=\"9 blocks\"".into(),
                "gc.victim.use=\"cost-benefit\"".into(),
                "gc.victim.cost-benefit.form=\"sqrt-age\"".into(),
                "device.blocks_per_plane=2048".into(),
                "device.exported=0.85".into(),
                format!("workload.synthetic.address={{zipf={theta}}}"),
                "precondition.overwrite=6.0".into(),
                "workload.synthetic.requests=200_000".into(),
            ];
            log(&sets.each_ref().map(String::as_str)).write_amplification
        };
        let [one, separate, dac, sepbit] = ["one-frontier", "separate-gc", "dac", "sepbit"].map(of);
        let all = [dac, sepbit, separate, one];
        assert!(least < dac.min(sepbit), "{theta}: {least} {all:?}");
        assert!(dac.max(sepbit) < separate && separate < one, "{theta}: {all:?}");
    }
}

/// Every placement except a program's, on a small drive. Uniform writes are among them, which have
/// nothing to separate. The limit is that of large blocks; blocks of 64 pages are up to 7 % better
/// under greedy, and open blocks make up for most of that. Each placement has two of the eight
/// cases, the next one two others; `FLASHGC_LONG=1` runs all.
#[test]
fn no_placement_of_the_registry_is_below_the_limit() {
    for (at, theta) in [0.0, 0.4, 0.8, 1.0].into_iter().enumerate() {
        let pages = (1024.0 * 64.0 * 0.88) as usize;
        let least = separated(&grouped(&zipf(pages, theta), 600), 1.0 / 0.88);
        let address = match theta {
            0.0 => "workload.synthetic.address=\"uniform\"".into(),
            _ => format!("workload.synthetic.address={{zipf={theta}}}"),
        };
        for (turn, victim) in ["greedy", "cost-benefit"].into_iter().enumerate() {
            let victim_key = format!("gc.victim.use=\"{victim}\"");
            let case = 2 * at + turn;
            let cases = of_the_past().enumerate();
            for (_, word) in cases.filter(|(own, _)| is_long() || (own + case) % 4 == 0) {
                let placement = format!("gc.placement.use=\"{word}\"");
                let sets = [
                    placement.as_str(),
                    &victim_key,
                    "gc.victim.cost-benefit.form=\"sqrt-age\"",
                    "gc.trigger.watermark.soft=\"9 blocks\"",
                    "device.blocks_per_plane=1024",
                    "device.exported=0.88",
                    &address,
                    "precondition.overwrite=8.0",
                    "workload.synthetic.requests=100_000",
                ];
                let found = log(&sets).write_amplification;
                assert!(found > least * 0.97, "{word} {victim} {theta}: {found}, {least}");
            }
        }
    }
}

/// Pages below a border in class 1.
struct ByAddress(u32);

impl Placement for ByAddress {
    fn class_of_write(&mut self, write: Write) -> u8 {
        u8::from(write.lpn.0 < self.0)
    }

    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        u8::from(copy.lpn.0 < self.0)
    }
}

/// Classes that are known and separated, with one greedy victim over both, give the write
/// amplification of uniform writes (docs/models.md#separated-classes).
#[test]
fn known_classes_under_greedy_are_as_uniform_writes() {
    for (f, r) in [(0.2, 0.8), (0.1, 0.9)] {
        let border = (BLOCKS * 64.0 * 0.85 * f) as u32;
        let make = move |_: &_| Box::new(ByAddress(border)) as Box<dyn Placement>;
        let policy = Given::new("by-address", make);
        let placement = Some(GivenPlacement { classes: 2, policy });
        let address = format!("workload.synthetic.address={{hot_cold={{f={f},r={r}}}}}");
        let sets = [
            "gc.placement.use=\"given\"",
            "device.exported=0.85",
            &address,
            "precondition.overwrite=20.0",
            "workload.synthetic.requests=1_000_000",
        ];
        let policies = GivenPolicies { placement, ..GivenPolicies::default() };
        let inputs = Inputs { policies, ..inputs(LOG, &sets) };
        let setup = prepare(&inputs).unwrap_or_else(|errors| panic!("{errors}"));
        let mut session = Session::new(setup, None, Options::default());
        while session.advance().expect("it runs").phase != Phase::Done {}
        let found = Found::new(&session.report().to_json(), 64.0);
        check(&format!("known classes {f} {r}"), &found, greedy(found.rho, 64), 0.015);
    }
}
