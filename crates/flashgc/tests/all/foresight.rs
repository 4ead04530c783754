//! A placement that knows when each page is written next is not above any other. It is a function
//! of the test: a first run records the writes, and a second one of the same workload foresees
//! them.

use crate::common::{inputs, number};
use crate::oracles::LOG;

use flashgc::gc::given::{Given, GivenPlacement, GivenPolicies};
use flashgc::gc::placement::{Copied, Placement, Write};
use flashgc::session::{Inputs, Options, Phase, Session, prepare};
use serde_json::Value;
use std::sync::{Arc, Mutex};

const NEVER: u64 = u64::MAX;
const CLASSES: u32 = 12;
const PAGES_PER_BLOCK: u64 = 64;

/// All pages in one class; the pages are recorded in the order of their writes.
struct Recorder(Arc<Mutex<Vec<u32>>>);

impl Placement for Recorder {
    fn class_of_write(&mut self, write: Write) -> u8 {
        self.0.lock().expect("one thread").push(write.lpn.0);
        0
    }

    fn class_of_copy(&mut self, _copy: Copied) -> u8 {
        0
    }
}

/// When each page is written, the next time last.
#[derive(Clone)]
struct Foresight(Vec<Vec<u64>>);

impl Foresight {
    fn of(writes: &[u32]) -> Foresight {
        let pages = writes.iter().max().map_or(0, |&last| last as usize + 1);
        let mut times = vec![Vec::new(); pages];
        for (at, &page) in writes.iter().enumerate().rev() {
            times[page as usize].push(at as u64 + 1);
        }
        Foresight(times)
    }

    /// Windows that double: the class of a page that is written next within a block of writes is 0,
    /// within two blocks 1, and so on.
    fn class(&self, page: u32, clock: u64) -> u8 {
        let next = self.0[page as usize].last().copied().unwrap_or(NEVER);
        let blocks = next.saturating_sub(clock) / PAGES_PER_BLOCK;
        (64 - blocks.leading_zeros()).min(CLASSES - 1) as u8
    }
}

impl Placement for Foresight {
    fn class_of_write(&mut self, write: Write) -> u8 {
        self.0[write.lpn.index()].pop();
        self.class(write.lpn.0, write.clock)
    }

    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        self.class(copy.lpn.0, copy.clock)
    }
}

fn write_amplification(sets: &[&str], placement: Option<GivenPlacement>) -> f64 {
    let policies = GivenPolicies { placement, ..GivenPolicies::default() };
    let inputs = Inputs { policies, ..inputs(LOG, sets) };
    let setup = prepare(&inputs).unwrap_or_else(|errors| panic!("{errors}"));
    let mut session = Session::new(setup, None, Options::default());
    while session.advance().expect("it runs").phase != Phase::Done {}
    let report: Value = session.report().to_json();
    number(&report, "write_amplification")
}

fn given<P: Placement + 'static>(
    classes: u32,
    make: impl Fn() -> P + Send + Sync + 'static,
) -> Option<GivenPlacement> {
    let make = move |_: &_| Box::new(make()) as Box<dyn Placement>;
    Some(GivenPlacement { classes, policy: Given::new("test", make) })
}

/// The write amplification of the placements that know the past, and of the one that knows the
/// future. All have the threshold that twelve classes need.
fn past_and_future(victim: &[&str], address: &str) -> (Vec<f64>, f64) {
    let address = format!("workload.synthetic.address={address}");
    let drive = [
        "device.blocks_per_plane=1024",
        "device.exported=0.88",
        "gc.trigger.watermark.soft=\"15 blocks\"",
        "precondition.overwrite=8.0",
        "workload.synthetic.requests=150_000",
        &address,
    ];
    let run = |placement: &str, given: Option<GivenPlacement>| {
        let placement = format!("gc.placement.use=\"{placement}\"");
        write_amplification(&[&drive[..], victim, &[&placement]].concat(), given)
    };
    let words = [
        "one-frontier",
        "separate-gc",
        "dac",
        "sepbit",
        "sfs",
        "multilog",
        "fadac",
        "warcip",
        "midas",
    ];
    let past = words.map(|word| run(word, None));
    let writes = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&writes);
    run("given", given(1, move || Recorder(Arc::clone(&to))));
    let foresight = Foresight::of(&writes.lock().expect("one thread"));
    (past.to_vec(), run("given", given(CLASSES, move || foresight.clone())))
}

#[test]
fn no_placement_is_better_than_one_that_knows_the_next_writes() {
    const SQRT_AGE: &[&str] =
        &["gc.victim.use=\"cost-benefit\"", "gc.victim.cost-benefit.form=\"sqrt-age\""];
    for victim in [&[][..], SQRT_AGE] {
        for address in ["\"uniform\"", "{zipf=1.0}", "{hot_cold={f=0.1,r=0.9}}"] {
            let (past, future) = past_and_future(victim, address);
            let best = past.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(future <= best * 1.01, "{address} {victim:?}: {future}, {past:?}");
            assert!(future > 1.0, "{address}: {future}");
        }
    }
}
