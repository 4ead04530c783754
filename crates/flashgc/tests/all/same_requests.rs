//! All schemes receive identical requests: a workload never depends on the scheme.

use flashgc::config::WorkloadPlan;
use flashgc::session::{Inputs, prepare};
use flashgc::sim::Sim;
use flashgc::verify::{Happened, Watch};
use flashgc::workload::synthetic::{Synthetic, SyntheticOverwrites};

/// Notes every accepted page operation, and when.
#[derive(Default)]
struct Accepted(Vec<(u64, u32, u8)>);

impl Watch for Accepted {
    const ACTIVE: bool = true;

    fn see(&mut self, now_ns: u64, happened: Happened) {
        if let Happened::Accepted { lpn, kind, .. } = happened {
            self.0.push((now_ns, lpn.0, kind as u8));
        }
    }
}

fn accepted(sets: &[&str], arrivals: &str) -> Vec<(u64, u32, u8)> {
    let text = format!(
        r#"
[device]
preset = "parallel-gc-slc"
blocks_per_plane = 24
exported = 0.7
[workload.synthetic]
requests = 20_000
read_share = 0.4
trim_share = 0.05
size = {{ "4 KiB" = 0.5, "10 KiB" = 0.5 }}
align = "2 KiB"
address = {{ zipf = 0.9 }}
{arrivals}
"#
    );
    let sets = sets.iter().map(|s| s.to_string()).collect();
    let inputs = Inputs { name: "test".into(), text, sets, ..Inputs::default() };
    let setup = prepare(&inputs).unwrap_or_else(|errors| panic!("{errors}"));
    let WorkloadPlan::Synthetic(workload) = &setup.workload else { panic!("synthetic") };
    let (seed, pages) = (setup.plan.seed, setup.plan.geometry.exported_pages);
    let mut sim = Sim::new(setup.plan.clone(), Accepted::default());
    sim.untimed().fill(0, pages).unwrap();
    let mut before = SyntheticOverwrites::new(&workload.plan, pages, 4096, seed);
    sim.untimed().overwrite(&mut before, u64::from(pages)).unwrap();
    let mut source = Synthetic::new(&workload.plan, pages, 4096, seed);
    sim.start(&mut source).unwrap();
    while !sim.run(&mut source, 100_000).unwrap().finished {}
    std::mem::take(&mut sim.watch().0)
}

const SCHEMES: [&[&str]; 6] = [
    &[],
    &["gc.scheme=fifo"],
    &["gc.scheme=d-choices"],
    &["gc.victim.use=random", "gc.copy.use=bus"],
    &["gc.scheme=cost-benefit", "gc.placement.use=separate-gc", "gc.blocking.use=channel"],
    &["device.allocation=dynamic", "gc.erase.use=blocks", "gc.erase.blocks.k=2"],
];

#[test]
fn an_open_loop_asks_the_same_at_the_same_time_under_every_scheme() {
    let arrivals = r#"interarrival = { exponential = "400 us" }"#;
    let first = accepted(SCHEMES[0], arrivals);
    assert!(first.len() > 20_000);
    for scheme in &SCHEMES[1..] {
        assert!(accepted(scheme, arrivals) == first, "{scheme:?}");
    }
}

#[test]
fn a_closed_loop_asks_the_same_in_the_same_order_under_every_scheme() {
    let pages = |sets: &[&str]| {
        let all = accepted(sets, "queue_depth = 16");
        all.into_iter().map(|(_, lpn, kind)| (lpn, kind)).collect::<Vec<_>>()
    };
    let first = pages(SCHEMES[0]);
    for scheme in &SCHEMES[1..] {
        assert!(pages(scheme) == first, "{scheme:?}");
    }
}
