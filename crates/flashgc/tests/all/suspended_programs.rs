//! Programs of the host that reads suspend (docs/timelines/suspended-programs.md), and a checker
//! that notices suspensions by other rules.

use crate::common;

use common::{
    SUSPENDS, TINY, found_against, number, prepare_or_none, refusal, run, run_verified, setup,
    whole,
};
use flashgc::device::{HostPrograms, Suspend};
use flashgc::ids::{Lpn, Ppn, UnitId};
use flashgc::verify::checker::{Checker, Promises};
use flashgc::verify::{Cause, Happened, Watch, What};

const ON: [&str; 3] =
    [SUSPENDS, "device.suspend.host_programs=true", "device.service=[\"gc\",\"reads\",\"writes\"]"];

/// Devices with other abilities: each is run under the checker, and reads suspend programs.
#[test]
fn programs_are_suspended_whatever_else_the_device_does() {
    let devices: [&[&str]; 10] = [
        &[],
        &["device.suspend.host_min_left=\"0 ns\"", "device.suspend.resume=\"5 us\""],
        &["device.multi_plane=2", "device.unit=\"die\"", "device.planes_per_die=2"],
        &["device.planes_per_die=2", "device.unit=\"die\"", "device.independent_plane_reads=true"],
        &["device.cache_operations=\"both\"", "workload.synthetic.queue_depth=2"],
        &["device.write_completion=\"loaded\""],
        &["device.write_buffer.size=\"64 KiB\""],
        &["device.host_link.transfer=\"1 ns/B\"", "device.host_link.duplex=\"full\""],
        &["device.allocation=\"when-idle\""],
        &[
            "device.page_size=\"16 KiB\"",
            "device.mapping_unit=\"4 KiB\"",
            "device.allocation=\"dynamic\"",
        ],
    ];
    for device in devices {
        let has_slots = device.contains(&"device.mapping_unit=\"4 KiB\"");
        for scheme in ["greedy", "pgc", "fpgc", "tokens"] {
            let scheme = format!("gc.scheme=\"{scheme}\"");
            let more: &[&str] = match has_slots && scheme.contains("fpgc") {
                true => {
                    &["gc.preemption.suspend.merge=false", "gc.preemption.suspend.pipeline=false"]
                }
                false => &[],
            };
            let report = run_verified(TINY, &[&ON[..], device, &[&scheme], more].concat());
            let count = whole(&report, "suspended_programs");
            assert!(count > 0, "{device:?} {scheme}");
        }
    }
}

/// A read that comes during a program has its own time and that of a suspension, at most; writes
/// pay for it.
#[test]
fn reads_no_longer_wait_for_programs_and_writes_wait_for_reads() {
    let depth = ["workload.synthetic.queue_depth=2", "gc.cost=\"none\""];
    let waits = run(TINY, &[&[SUSPENDS, ON[2]], &depth[..]].concat());
    let suspends = run(TINY, &[&ON[..], &depth[..]].concat());
    let [before, after] = [&waits, &suspends].map(|report| number(report, "latency_ns.read.p99"));
    let program_ns = 200_000.0;
    assert!(before > after + program_ns / 2.0, "{before} {after}");
    let [before, after] = [&waits, &suspends].map(|report| number(report, "latency_ns.write.mean"));
    assert!(after > before, "{before} {after}");
    assert!(waits.get("suspended_programs").is_none());
}

/// The bound is one of the suspensions of each program.
#[test]
fn a_program_is_suspended_as_often_as_it_may_be() {
    let deep = ["workload.synthetic.queue_depth=32", "workload.synthetic.read_share=0.8"];
    let count = |bound: &[&str]| {
        let report = run_verified(TINY, &[&ON[..], &deep, bound].concat());
        (whole(&report, "suspended_programs"), whole(&report, "pages.host_written"))
    };
    let (once, written) = count(&["device.suspend.host_max_suspends=1"]);
    let (often, _) = count(&[]);
    assert!(once <= written && once < often, "{once} {often} {written}");
}

/// Keys without an effect are refused, with the key that gives them one.
#[test]
fn rules_for_no_suspension_are_refused() {
    for key in ["host_min_left=\"1 us\"", "host_max_suspends=2"] {
        let rule = format!("device.suspend.{key}");
        let error = refusal(TINY, &[SUSPENDS, &rule]);
        assert!(error.contains("set host_programs = true"), "{error}");
        assert!(prepare_or_none(TINY, &[&ON[..], &[&rule]].concat()).is_some());
    }
}

/// What the checker finds in a run on a device of which it has this suspension.
fn mistaken(suspension: impl Fn(&mut Suspend, &mut HostPrograms)) -> String {
    let setup = setup(TINY, &[&ON[..], &["device.suspend.resume=\"5 us\""]].concat());
    let mut promises = Promises::of(&setup.plan);
    for timing in promises.timing.as_mut().expect("the checker looks") {
        let cost = timing.suspend.as_mut().expect("suspend and resume");
        let mut rules = cost.host_programs.expect("the rules");
        suspension(cost, &mut rules);
        cost.host_programs = Some(rules);
    }
    found_against(&setup, promises)
}

#[test]
fn the_checker_notices_suspensions_by_other_rules() {
    let often = mistaken(|_, rules| rules.most_suspends = 1);
    assert!(often.contains("suspended a program for the 2. time"), "{often}");
    let late = mistaken(|_, rules| rules.min_left_ns = 100_000);
    assert!(late.contains("suspended a program for the") && late.contains("ns left"), "{late}");
    let slow = mistaken(|cost, _| cost.suspend_ns += 1);
    assert!(slow.contains("a suspension had another length"), "{slow}");
    let longer = mistaken(|cost, _| cost.resume_ns += 1);
    assert!(longer.contains("ended a program with 205000 ns in the array"), "{longer}");
}

/// The events that a checker receives of one unit of the tiny drive.
struct Story(Checker);

const UNIT: UnitId = UnitId(0);

impl Story {
    /// Page 0 is written, and the program of page 1 was suspended after 80 us, at 380 us.
    fn new() -> Self {
        let setup = setup(TINY, &ON);
        let mut checker = Checker::new(&setup.plan.geometry, Promises::of(&setup.plan));
        checker.observe(0, Happened::MeasuringStarts);
        let mut story = Story(checker);
        story.program(0).array(0, 200_000).ends("program", 200_000);
        story.program(1).array(300_000, 380_000);
        story.0.observe(380_000, Happened::Yields { op: 0, unit: UNIT });
        story.ends("program", 380_000).array(380_000, 400_000).ends("suspend", 400_000);
        story
    }

    fn program(&mut self, page: u32) -> &mut Self {
        let (ppn, lpn, cause) = (Ppn(page), Lpn(page), Cause::Host { op: 0 });
        self.0.observe(0, Happened::Programmed { ppn, lpn, cause, current: true });
        self
    }

    fn reads(&mut self, page: u32) -> &mut Self {
        self.0.observe(400_000, Happened::Read { ppn: Ppn(page), lpn: Lpn(page) });
        self
    }

    fn goes_on(&mut self, now_ns: u64) -> &mut Self {
        self.0.observe(now_ns, Happened::GoesOn { op: 0, unit: UNIT, resume_ns: 0 });
        self
    }

    fn array(&mut self, from_ns: u64, to_ns: u64) -> &mut Self {
        self.busy(What::Array, (from_ns, to_ns))
    }

    fn ends(&mut self, name: &'static str, now_ns: u64) -> &mut Self {
        self.busy(What::Operation(name, 0), (now_ns, now_ns))
    }

    fn busy(&mut self, what: What, (from_ns, to_ns): (u64, u64)) -> &mut Self {
        let gc = matches!(what, What::Operation("erase", _));
        self.0.observe(to_ns, Happened::Busy { what, unit: UNIT, from_ns, to_ns, gc });
        self
    }
}

#[test]
fn the_checker_passes_a_suspended_program() {
    let mut story = Story::new();
    story.reads(0).array(400_000, 425_000).ends("read", 425_000);
    story.goes_on(425_000).array(425_000, 545_000).ends("program", 545_000);
}

#[test]
#[should_panic(expected = "resumed a program before it had ended a read")]
fn the_checker_catches_a_program_that_goes_on_during_a_read() {
    Story::new().reads(0).array(400_000, 410_000).goes_on(410_000);
}

#[test]
#[should_panic(expected = "ended a program with 199000 ns in the array")]
fn the_checker_catches_a_program_that_loses_time() {
    Story::new().goes_on(400_000).array(400_000, 519_000).ends("program", 519_000);
}

#[test]
#[should_panic(expected = "had read page 1, whose program was suspended")]
fn the_checker_catches_a_read_of_the_suspended_page() {
    Story::new().reads(1).array(400_000, 425_000).ends("read", 425_000);
}

#[test]
#[should_panic(expected = "did a program during a suspended program")]
fn the_checker_catches_another_program_meanwhile() {
    Story::new().program(2).array(400_000, 600_000).ends("program", 600_000);
}

#[test]
#[should_panic(expected = "unit 0 collected during a suspended program")]
fn the_checker_catches_an_erase_meanwhile() {
    Story::new().ends("erase", 1_900_000);
}
