//! All schemes receive identical requests: a workload never depends on the scheme.

use crate::common::spy::{Record, spied};
use crate::common::{TINY, setup};
use flashgc::config::WorkloadPlan;
use flashgc::session::{Inputs, prepare};
use flashgc::sim::{Sim, SimError};
use flashgc::verify::{Happened, Overview};
use flashgc::workload::synthetic::{Synthetic, SyntheticOverwrites};
use flashgc::workload::{HostOp, HostRequest, ListSource, Overwrites, Source, SourceError};

/// Notes every accepted page operation, and when.
#[derive(Default)]
struct Accepted(Vec<(u64, u32, u8)>);

impl Record for Accepted {
    fn observe(&mut self, now_ns: u64, happened: Happened) {
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
    let (watch, accepted) = spied(Accepted::default());
    let mut sim = Sim::new(setup.plan.clone(), watch);
    sim.untimed().fill(0, pages).unwrap();
    let mut before = SyntheticOverwrites::new(&workload.plan, pages, 4096, seed);
    sim.untimed().overwrite(&mut before, u64::from(pages)).unwrap();
    let mut source = Synthetic::new(&workload.plan, pages, 4096, seed);
    sim.start(&mut source).unwrap();
    while !sim.run(&mut source, 100_000).unwrap().finished {}
    let mut accepted = accepted.lock().expect("the run has ended");
    std::mem::take(&mut accepted.0)
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

/// The times of its commands are drawn from a stream of their own.
const JITTER: &[&str] = &["device.firmware={command=\"5 us\",jitter.exponential=\"90 us\"}"];

#[test]
fn a_closed_loop_asks_the_same_in_the_same_order_under_every_scheme() {
    let pages = |sets: &[&str]| {
        let all = accepted(sets, "queue_depth = 16");
        all.into_iter().map(|(_, lpn, kind)| (lpn, kind)).collect::<Vec<_>>()
    };
    let first = pages(SCHEMES[0]);
    for scheme in SCHEMES[1..].iter().chain([&JITTER]) {
        assert!(pages(scheme) == first, "{scheme:?}");
    }
}

/// A list that fails at its end.
struct Failing(ListSource);

impl Source for Failing {
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        match self.0.next()? {
            None => Err(SourceError("line 7".into())),
            request => Ok(request),
        }
    }
}

/// Requests are drawn in advance; every one before the end, or before an error, still comes.
#[test]
fn no_request_is_lost_before_the_end_or_an_error() {
    let closed = "workload.synthetic.queue_depth=1";
    let open = "workload.synthetic.interarrival.fixed=\"10 us\"";
    for set in [closed, open] {
        let plan = setup(&TINY.replace("queue_depth = 8", ""), &[set]).plan;
        for count in [0, 1, 8, 15, 16, 17, 31, 32, 33, 100] {
            let page = |at: u64| at * 7 % u64::from(plan.geometry.exported_pages);
            let write =
                |at| HostRequest::from_bytes(at, HostOp::Write, page(at) * 4096, 4096, 4096);
            let list = || ListSource::new((0..count).map(write).collect());
            let (watch, of_whole) = spied(Accepted::default());
            let mut whole = Sim::new(plan.clone(), watch);
            let mut source = list();
            whole.start(&mut source).expect("it starts");
            while !whole.run(&mut source, 7).expect("it runs").finished {}
            let (watch, of_failed) = spied(Accepted::default());
            let mut failed = Sim::new(plan.clone(), watch);
            let mut source = Failing(list());
            let mut ended = failed.start(&mut source);
            while ended.is_ok() {
                ended = failed.run(&mut source, 7).map(|_| ());
            }
            assert_eq!(ended, Err(SimError::Source(SourceError("line 7".into()))));
            for accepted in [of_whole, of_failed] {
                let accepted = accepted.lock().expect("the run has ended");
                let found = accepted.0.iter().map(|&(_, lpn, _)| u64::from(lpn));
                assert!(found.eq((0..count).map(page)), "{set}, {count} requests");
            }
        }
    }
}

/// Preconditioning draws pages in advance, and never beyond the requested number.
#[test]
fn slices_of_preconditioning_make_no_difference() {
    let setup = setup(TINY, &[]);
    let WorkloadPlan::Synthetic(workload) = &setup.workload else { panic!("synthetic") };
    let pages = setup.plan.geometry.exported_pages;
    let overwritten = |slices: &[u64]| {
        let mut sim = Sim::new(setup.plan.clone(), Overview::default());
        sim.untimed().fill(0, pages).expect("it fits");
        let mut source = SyntheticOverwrites::new(&workload.plan, pages, 4096, 1);
        for &slice in slices {
            sim.untimed().overwrite(&mut source, slice).expect("it fits");
        }
        sim.ftl().map.entries().collect::<Vec<u32>>()
    };
    let whole = overwritten(&[245]);
    for slices in [&[1, 244][..], &[100, 0, 145], &[15, 16, 17, 31, 32, 33, 101], &[48, 197]] {
        assert_eq!(overwritten(slices), whole, "{slices:?}");
    }
}

/// Preconditioning moves the pages that a run in logical time moves, whatever a batch collects.
#[test]
fn preconditioning_collects_the_batches_of_a_run() {
    for batch in ["one", "until-stop", "list"] {
        let batch = format!("gc.trigger.watermark.batch=\"{batch}\"");
        let soft = "gc.trigger.watermark.soft=\"5 blocks\"";
        let setup = setup(TINY, &[&batch, soft]);
        let WorkloadPlan::Synthetic(workload) = &setup.workload else { panic!("synthetic") };
        let pages = setup.plan.geometry.exported_pages;
        let source = || SyntheticOverwrites::new(&workload.plan, pages, 4096, 1);
        let filled = || {
            let mut sim = Sim::new(setup.plan.clone(), Overview::default());
            sim.untimed().fill(0, pages).expect("it fits");
            sim
        };
        let (mut before, mut run) = (filled(), filled());
        before.untimed().overwrite(&mut source(), 2_000).expect("it fits");
        let mut drawn = source();
        for _ in 0..2_000 {
            let page = u64::from(drawn.next().expect("a page").0);
            let write = HostRequest::from_bytes(0, HostOp::Write, page * 4096, 4096, 4096);
            run.untimed().serve(&write).expect("it fits");
        }
        let places = |sim: &Sim<Overview>| sim.ftl().map.entries().collect::<Vec<u32>>();
        assert_eq!(places(&before), places(&run), "{batch}");
        assert!(before.untimed().pages_moved() > 0, "{batch}");
    }
}
