//! Operations on one logical page keep their order of arrival, whatever the order of service; and
//! the checker for this catches every fault of the tests.

use crate::common;

use common::{TINY, checked, drain, found_against, open_tiny, setup};
use flashgc::device::{BusOrder, Geometry};
use flashgc::gc::JobRow;
use flashgc::ids::{BlockId, Lpn, Ppn, UnitId};
use flashgc::sim::Sim;
use flashgc::verify::checker::{Checker, Promises};
use flashgc::verify::{Cause, Happened, Watch, What};
use flashgc::workload::{HostOp, HostRequest, ListSource};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Requests on so few pages that they meet each other all the time.
const PAGES: u64 = 6;
/// Copies one by one, inside the plane.
const PROMISES: Promises = Promises {
    limits: false,
    drains: false,
    in_order: true,
    in_plane: true,
    at_once: 1,
    by_block: false,
    preempts: false,
    isolation: None,
    closes_blocks: None,
    turns: None,
    paid: None,
    rests_by_unit: false,
    timing: None,
    blocking: None,
    bus_order: BusOrder::Arrival,
    ends_together: false,
    queue_length: None,
    host_link: None,
    firmware: None,
    seed: 0,
    cache: [false; 2],
    lag: 0,
};

fn any_request() -> impl Strategy<Value = (HostOp, u64, u64, u64)> {
    let op = prop_oneof![
        3 => Just(HostOp::Read),
        4 => Just(HostOp::Write),
        1 => Just(HostOp::Trim),
    ];
    // Gaps from none to a few array operations, offsets and sizes in sectors.
    (op, 0..400_000u64, 0..PAGES * 8, 1..20u64)
}

fn requests(drawn: &[(HostOp, u64, u64, u64)]) -> Vec<HostRequest> {
    let mut at_ns = 0;
    let bytes_of = |sectors: u64| sectors * 512;
    drawn
        .iter()
        .map(|&(op, gap_ns, first, sectors)| {
            at_ns += gap_ns;
            let sectors = sectors.min(PAGES * 8 - first);
            HostRequest::from_bytes(at_ns, op, bytes_of(first), bytes_of(sectors), 4096)
        })
        .collect()
}

const SERVICES: [&str; 5] = [
    "[\"gc\",\"host\"]",
    "[\"gc\",\"reads\",\"writes\"]",
    "[\"gc\",\"writes\",\"reads\"]",
    "[\"reads\",\"gc\",\"writes\"]",
    "[\"writes\",\"reads\",\"gc\"]",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The checker asserts that operations start and end in order on each page, and that a read
    /// finds the newest version that was acknowledged, or a later one.
    #[test]
    fn operations_on_one_page_keep_their_order(
        drawn in prop::collection::vec(any_request(), 1..120),
        service in prop::sample::select(&SERVICES[..]),
        dynamic in any::<bool>(),
        closed in any::<bool>(),
        unit in prop::sample::select(&["plane", "die", "channel"][..]),
        bus in any::<bool>(),
        filled in any::<bool>(),
    ) {
        let allocation = if dynamic { "dynamic" } else { "striped" };
        let copy = if bus { "bus" } else { "copyback" };
        let arrivals = if closed { "queue_depth=16" } else { "interarrival.fixed=\"1 us\"" };
        let text = open_tiny();
        let setup = setup(&text, &[
            &format!("device.service={service}"),
            &format!("device.allocation=\"{allocation}\""),
            &format!("device.unit=\"{unit}\""),
            &format!("gc.copy.use=\"{copy}\""),
            &format!("workload.synthetic.{arrivals}"),
            "device.timing.transfer=\"10 ns/B\"",
            // Two planes of little space, so that collection runs on the same pages.
            "device.channels=1",
            "device.chips_per_channel=1",
            "device.blocks_per_plane=8",
            "device.pages_per_block=4",
            "device.exported=0.4",
        ]);
        let mut plan = setup.plan.clone();
        // The list has partial writes and trims, which the synthetic workload does not promise.
        plan.ordered = true;
        let exported = plan.geometry.exported_pages;
        let mut sim = Sim::new(plan, checked(&setup));
        if filled {
            sim.untimed().fill(0, exported).expect("the fill fits");
        }
        let count = drawn.len() as u64;
        let results = drain(&mut sim, &mut ListSource::new(requests(&drawn)), 50);
        sim.audit();
        sim.audit_counters(&results);
        prop_assert_eq!(results.counters.requests.iter().sum::<u64>(), count);
    }
}

/// A drive for the checker alone: 8 planes of 16 blocks of 8 pages.
fn geometry() -> Geometry {
    setup(TINY, &[]).plan.geometry
}

/// Feeds a checker with events, one per nanosecond.
struct Story {
    checker: Checker,
    now_ns: u64,
    ops: u32,
}

impl Story {
    fn new() -> Self {
        Story { checker: Checker::new(&geometry(), PROMISES), now_ns: 0, ops: 0 }
    }

    fn notify(&mut self, happened: Happened) -> &mut Self {
        self.now_ns += 1;
        self.checker.observe(self.now_ns, happened);
        self
    }

    fn accept(&mut self, op: u32, lpn: u32, kind: HostOp) -> &mut Self {
        self.notify(Happened::Accepted { op, request: op, lpn: Lpn(lpn), kind, high: false })
    }

    fn start(&mut self, op: u32, lpn: u32) -> &mut Self {
        self.notify(Happened::Started { op, lpn: Lpn(lpn) })
    }

    fn done(&mut self, op: u32, lpn: u32, kind: HostOp) -> &mut Self {
        self.notify(Happened::Done { op, lpn: Lpn(lpn), kind })
    }

    fn program(&mut self, ppn: u32, lpn: u32, cause: Cause, current: bool) -> &mut Self {
        self.notify(Happened::Programmed { ppn: Ppn(ppn), lpn: Lpn(lpn), cause, current })
    }

    /// A whole write of the host.
    fn write(&mut self, ppn: u32, lpn: u32) -> &mut Self {
        let op = self.ops;
        self.ops += 1;
        self.accept(op, lpn, HostOp::Write).start(op, lpn);
        self.program(ppn, lpn, Cause::Host { op }, true).done(op, lpn, HostOp::Write)
    }

    fn copy(&mut self, from: u32, to: u32, lpn: u32, current: bool) -> &mut Self {
        self.program(to, lpn, Cause::Copy { from: Ppn(from) }, current)
    }

    fn read(&mut self, ppn: u32, lpn: u32) -> &mut Self {
        self.notify(Happened::Read { ppn: Ppn(ppn), lpn: Lpn(lpn) })
    }

    fn erase(&mut self, block: u32) -> &mut Self {
        self.notify(Happened::Erased { block: BlockId(block) })
    }

    fn busy(&mut self, what: What, from_ns: u64, to_ns: u64) -> &mut Self {
        self.notify(Happened::Busy { what, unit: UnitId(0), from_ns, to_ns, gc: false })
    }
}

/// Allowed behaviour of a drive, which the checker must let pass.
#[test]
fn the_checker_passes_what_a_drive_may_do() {
    let mut story = Story::new();
    story.write(0, 40).read(0, 40).write(1, 40).read(1, 40).write(2, 41);
    // A copy of the newest version, and one that was rewritten on the way: wasted, and allowed.
    story.copy(1, 8, 40, true).read(8, 40).copy(0, 9, 40, false);
    story.notify(Happened::Trimmed { lpn: Lpn(41) }).notify(Happened::ReadNothing { lpn: Lpn(41) });
    story.notify(Happened::ReadNothing { lpn: Lpn(42) });
    story.erase(0).write(0, 41).read(0, 41);
    story.busy(What::Array, 0, 10).busy(What::Array, 10, 20).busy(data(0), 0, 10);
    assert_eq!(story.checker.busy().array_ns, [20, 0]);
    assert_eq!((story.checker.host_programs, story.checker.copies), (4, 2));
}

#[test]
#[should_panic(expected = "page 0 was programmed without an erase")]
fn the_checker_catches_a_program_without_an_erase() {
    Story::new().write(0, 1).write(0, 2);
}

#[test]
#[should_panic(expected = "page 2 of block 0 was programmed out of order")]
fn the_checker_catches_a_program_out_of_order() {
    Story::new().write(0, 1).write(2, 2);
}

#[test]
#[should_panic(expected = "a read of logical page 1 found version 1 of 2")]
fn the_checker_catches_a_stale_read() {
    Story::new().write(0, 1).write(1, 1).read(0, 1);
}

#[test]
#[should_panic(expected = "a read of page 0 found other data")]
fn the_checker_catches_a_read_of_other_data() {
    Story::new().write(0, 1).read(0, 2);
}

#[test]
#[should_panic(expected = "found version 1 of 1")]
fn the_checker_catches_a_read_of_trimmed_data() {
    Story::new().write(0, 1).notify(Happened::Trimmed { lpn: Lpn(1) }).read(0, 1);
}

#[test]
#[should_panic(expected = "a read of logical page 1 lost its data")]
fn the_checker_catches_lost_data() {
    Story::new().write(0, 1).notify(Happened::ReadNothing { lpn: Lpn(1) });
}

#[test]
#[should_panic(expected = "an erase lost the data of logical page 1")]
fn the_checker_catches_an_erase_that_loses_data() {
    Story::new().write(0, 1).erase(0);
}

#[test]
#[should_panic(expected = "block 3 was erased though it was erased already")]
fn the_checker_catches_an_erase_of_nothing() {
    Story::new().erase(3);
}

#[test]
#[should_panic(expected = "a copy moved the wrong data")]
fn the_checker_catches_a_copy_of_other_data() {
    Story::new().write(0, 1).copy(0, 1, 2, true);
}

#[test]
#[should_panic(expected = "was called current but is old")]
fn the_checker_catches_a_copy_that_brings_old_data_back() {
    Story::new().write(0, 1).write(1, 1).copy(0, 2, 1, true);
}

#[test]
#[should_panic(expected = "a copy left its plane")]
fn the_checker_catches_a_copy_to_another_plane() {
    let plane_pages = 16 * 8;
    Story::new().write(0, 1).copy(0, plane_pages, 1, true);
}

#[test]
#[should_panic(expected = "an operation on logical page 5 overtook an earlier one")]
fn the_checker_catches_overtaking() {
    Story::new().accept(0, 5, HostOp::Write).accept(1, 5, HostOp::Read).start(1, 5);
}

#[test]
#[should_panic(expected = "operations on page 5 ended askew")]
fn the_checker_catches_ends_out_of_order() {
    let mut story = Story::new();
    story.accept(0, 5, HostOp::Write).accept(1, 5, HostOp::Read).start(0, 5);
    story.done(1, 5, HostOp::Read);
}

fn served(request: u32) -> Happened {
    Happened::Served { request, job: 0, op: HostOp::Read, latency_ns: 1, outstanding: 0 }
}

fn arrived(request: u32) -> Happened {
    let (job, offset_bytes, size_bytes, hint, fua, outstanding) = (0, 0, 0, 0, false, 0);
    Happened::Arrived { request, job, offset_bytes, size_bytes, hint, fua, outstanding }
}

/// A drive of two places, with a request that waits outside.
fn two_places() -> Story {
    let promises = Promises { queue_length: Some(2), ..PROMISES };
    let mut story = Story { checker: Checker::new(&geometry(), promises), now_ns: 0, ops: 0 };
    story.notify(arrived(0)).notify(arrived(1)).notify(arrived(2));
    // Two pages of one request are in one place.
    story.accept(0, 5, HostOp::Read).accept(0, 6, HostOp::Read);
    story.notify(Happened::Crosses { request: 1 }).accept(1, 7, HostOp::Read);
    story
}

#[test]
fn the_checker_passes_a_request_that_takes_the_place_of_another() {
    two_places().notify(served(0)).accept(2, 8, HostOp::Read);
}

#[test]
#[should_panic(expected = "3 requests were in the device, which holds 2")]
fn the_checker_catches_a_request_without_a_place() {
    two_places().accept(2, 8, HostOp::Read);
}

#[test]
#[should_panic(expected = "3 requests were in the device, which holds 2")]
fn the_checker_catches_a_request_that_crosses_without_a_place() {
    two_places().notify(Happened::Crosses { request: 2 });
}

/// The device has three places, and the checker expects two.
#[test]
fn the_checker_notices_a_queue_that_is_too_long() {
    let setup = setup(TINY, &["device.queue_length=3"]);
    let promises = Promises { queue_length: Some(2), ..Promises::of(&setup.plan) };
    assert!(found_against(&setup, promises).contains("3 requests were in the device"));
}

#[test]
#[should_panic(expected = "two operations at once")]
fn the_checker_catches_two_operations_of_one_array() {
    Story::new().busy(What::Array, 0, 10).busy(What::Array, 9, 12);
}

#[test]
#[should_panic(expected = "two operations at once")]
fn the_checker_catches_two_transfers_on_one_bus() {
    Story::new().busy(data(5), 5, 10).busy(data(6), 6, 12);
}

/// A transfer of data, and one of a command, with this time of the bus request.
fn data(requested_ns: u64) -> What {
    What::Bus { is_command: false, requested_ns }
}

fn command(requested_ns: u64) -> What {
    What::Bus { is_command: true, requested_ns }
}

/// The error of the checker on a drive with these promises; `None` where it lets it pass.
fn found(promises: Promises, notify: impl Fn(&mut Story)) -> Option<String> {
    let mut story = Story { checker: Checker::new(&geometry(), promises), now_ns: 0, ops: 0 };
    let outcome = catch_unwind(AssertUnwindSafe(|| notify(&mut story))).err()?;
    Some(outcome.downcast_ref::<String>().expect("in words").clone())
}

/// Data that has waited since 2, and a command that has waited since 4, while data leaves until 10.
#[test]
fn the_checker_knows_the_order_of_each_bus() {
    let commands_first = Promises { bus_order: BusOrder::CommandsFirst, ..PROMISES };
    let data_first = |story: &mut Story| {
        story.busy(data(0), 0, 10).busy(data(2), 10, 20).busy(command(4), 20, 21);
    };
    let command_first = |story: &mut Story| {
        story.busy(data(0), 0, 10).busy(command(4), 10, 11).busy(data(2), 11, 20);
    };
    assert_eq!(found(PROMISES, data_first), None);
    assert_eq!(found(commands_first, command_first), None);
    let waited = found(commands_first, data_first).expect("a command waited");
    assert!(waited.contains("bus 0 went at 10 ns to data, while a command waited"), "{waited}");
    let passed = found(PROMISES, command_first).expect("data was passed");
    let order = "had waited since 2 ns, after one that was requested at 4 ns";
    assert!(passed.contains(order), "{passed}");
    // A request at the instant at which data begins may come behind it.
    let at_once = |story: &mut Story| {
        story.busy(data(2), 10, 20).busy(command(10), 20, 21);
    };
    assert_eq!(found(commands_first, at_once), None);
    let commands = |story: &mut Story| {
        story.busy(command(5), 20, 21).busy(command(4), 21, 22);
    };
    assert!(found(commands_first, commands).is_some());
}

#[test]
fn the_checker_knows_that_operations_end_together() {
    let together = Promises { ends_together: true, ..PROMISES };
    let begins = |at_ns: u64| {
        move |story: &mut Story| {
            story.checker.observe(at_ns, Happened::Taken { op: 0 });
            story.busy(What::Operation("read", 0), 5, 30);
        }
    };
    assert_eq!(found(together, begins(29)), None);
    assert_eq!(found(PROMISES, begins(30)), None);
    let late = found(together, begins(30)).expect("it ends after the other began");
    assert!(late.contains("at 30 ns an operation began before all"), "{late}");
}

#[test]
#[should_panic(expected = "a job moved more pages than its victim")]
fn the_checker_catches_a_job_that_moves_too_much() {
    Story::new().notify(Happened::JobClosed(row(3, 4)));
}

fn row(valid: u32, moved: u32) -> JobRow {
    JobRow {
        unit: 0,
        plane: 0,
        victim: 0,
        blocks: 1,
        selected_ns: 0,
        end_ns: 1,
        valid,
        neighbour_valid: 0,
        moved,
        steps: moved,
        wasted: 0,
        free_pages_before: 0,
        free_pages_after: 8,
    }
}

#[test]
#[should_panic(expected = "lies elsewhere")]
fn an_audit_catches_a_map_that_the_checker_did_not_see() {
    let setup = setup(TINY, &[]);
    let mut sim = Sim::new(setup.plan.clone(), checked(&setup));
    sim.untimed().fill(0, 10).expect("the fill fits");
    sim.audit();
    // The checker receives a write that the drive never made.
    let unseen = Happened::Programmed {
        ppn: Ppn(15),
        lpn: Lpn(3),
        cause: Cause::Host { op: 0 },
        current: true,
    };
    let mut checker = Checker::new(&setup.plan.geometry, Promises { in_order: false, ..PROMISES });
    checker.observe(0, unseen);
    checker.audit(sim.ftl());
}
