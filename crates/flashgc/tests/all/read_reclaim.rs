//! Read reclaim: a second program agrees, a closed form does, and it goes where `when` puts it. The
//! pairwise matrix runs it with everything else.

use crate::common;

use common::{BUFFER, CLOSED, ONE_PLANE, TINY, at, checked, refusal, run_verified, setup, whole};
use flashgc::ids::{BlockId, Lpn, Ppn};
use flashgc::sim::Sim;
use flashgc::verify::checker::Checker;
use flashgc::verify::{Happened, Watch};
use flashgc::workload::{HostOp, HostRequest, ListSource};
use std::collections::VecDeque;

const RECLAIM: &str = "gc.background.use=\"read-reclaim\"";
const LIMIT: &str = "gc.background.read-reclaim.limit=20";
const READS: &str = "workload.synthetic.read_share=1.0";

/// A block of the second program.
#[derive(Default)]
struct Block {
    pages: Vec<u64>,
    reads: u64,
}

/// One plane under reads, without times: a full block that was read `limit` times is emptied into
/// the open one before the next read.
struct Plane {
    limit: u64,
    blocks: Vec<Block>,
    /// The block of each page of the host.
    home: Vec<usize>,
    due: VecDeque<usize>,
    reclaims: u64,
    moved: u64,
}

const PAGES_PER_BLOCK: usize = 8;

impl Plane {
    fn new(pages: u64, limit: u64) -> Self {
        let (home, due) = (vec![0; pages as usize], VecDeque::new());
        let mut plane =
            Plane { limit, blocks: vec![Block::default()], home, due, reclaims: 0, moved: 0 };
        (0..pages).for_each(|page| plane.put(page));
        plane
    }

    /// A page comes to the open block, which is the last one.
    fn put(&mut self, page: u64) {
        if self.blocks.last().is_none_or(|block| block.pages.len() == PAGES_PER_BLOCK) {
            self.blocks.push(Block::default());
        }
        self.home[page as usize] = self.blocks.len() - 1;
        self.blocks.last_mut().expect("there is one").pages.push(page);
    }

    fn read(&mut self, page: u64) {
        let block = self.home[page as usize];
        self.blocks[block].reads += 1;
        if self.blocks[block].reads == self.limit {
            self.due.push_back(block);
        }
    }

    fn is_full(&self, block: usize) -> bool {
        self.blocks[block].pages.len() == PAGES_PER_BLOCK
    }

    fn reclaim_all(&mut self) {
        while let Some(at) = self.due.iter().position(|&block| self.is_full(block)) {
            let block = self.due.remove(at).expect("it is there");
            let pages = std::mem::take(&mut self.blocks[block].pages);
            self.moved += pages.len() as u64;
            self.reclaims += 1;
            pages.into_iter().for_each(|page| self.put(page));
        }
    }
}

#[test]
fn a_second_program_agrees() {
    for (limit, reads) in [(1, 300), (7, 2_000), (50, 4_000)] {
        let key = format!("gc.background.read-reclaim.limit={limit}");
        let text = TINY.replace("queue_depth = 8\n", "interarrival = { fixed = \"1 ms\" }\n");
        let more = ["gc.placement.use=\"one-frontier\"", RECLAIM, &key];
        let setup = setup(&text, &[&ONE_PLANE[..], &more].concat());
        let exported = u64::from(setup.plan.geometry.exported_pages);
        let mut sim = Sim::new(setup.plan.clone(), checked(&setup));
        sim.untimed().fill(0, exported as u32).expect("the fill fits");
        let mut plane = Plane::new(exported, limit);
        // Some pages have half of the reads.
        let page = |at: u64| at * at * 7 % if at.is_multiple_of(2) { 11 } else { exported };
        let read = |at: u64| {
            HostRequest::from_bytes(at * 20_000_000, HostOp::Read, page(at) * 4096, 4096, 4096)
        };
        let mut source = ListSource::new((0..reads).map(read).collect());
        for at in 0..reads {
            plane.reclaim_all();
            plane.read(page(at));
        }
        sim.start(&mut source).expect("the workload starts");
        assert!(sim.run(&mut source, 10_000_000).expect("it runs").finished);
        let counters = sim.seen().results().counters;
        assert!(counters.read_reclaims > 10, "{limit}");
        let of_sim = (counters.read_reclaims, counters.gc_moved, counters.erases);
        assert_eq!(of_sim, (plane.reclaims, plane.moved, plane.reclaims), "{limit}");
    }
}

/// Each block is collected once in `limit` of its reads, so that they are as many as there are
/// reads for.
#[test]
fn the_reads_decide_how_many_blocks_are_reclaimed() {
    for sets in [&[][..], &[BUFFER, "gc.preemption.use=\"between-copies\""]] {
        let report = run_verified(TINY, &[&[RECLAIM, LIMIT, READS], sets].concat());
        let (reads, reclaims) =
            (whole(&report, "pages.host_read"), whole(&report, "gc.read_reclaims"));
        assert!(reclaims * 20 <= reads, "{reclaims} of {reads}");
        // The rest: less than the limit in each of the 128 blocks, some of them erased.
        assert!(reclaims * 20 + 19 * 128 >= reads, "{reclaims} of {reads}");
        assert_eq!(reclaims, whole(&report, "gc.count"));
        // It had 2e11 more requests, after which the drive would be steady.
        let reason = at(&report, "steady.reasons/0").to_string();
        assert!(reason.contains("the host wrote nothing"), "{reason}");
        assert!(at(&report, "steady.more_requests").is_null());
        assert!(reclaims > 20, "{reclaims}");
    }
}

/// A collection takes as many pages as it frees, once all invalid ones of the blocks are gone.
#[test]
fn reads_alone_are_steady_where_their_collections_free_no_pages() {
    let requests = |count: u32| format!("workload.synthetic.requests={count}");
    let verdict = |more: &[&str]| {
        let report = run_verified(TINY, &[&[RECLAIM, LIMIT, READS], more].concat());
        let reasons = at(&report, "steady.reasons").to_string();
        assert!(at(&report, "write_amplification").is_null());
        assert!(at(&report, "endurance.tbw_bytes").is_null());
        (at(&report, "steady.verdict").clone(), reasons)
    };
    let compact = "precondition.overwrite=0";
    let rated = "device.rated_cycles=3000";
    let (is, why) = verdict(&[compact, rated, &requests(20_000)]);
    assert_eq!(is, "yes", "{why}");
    let (is, why) = verdict(&[compact, rated, &requests(1_300)]);
    assert!(is == "no" && why.contains("too few to judge by"), "{why}");
    let (is, why) = verdict(&[rated, &requests(4_000)]);
    assert!(is == "no" && why.contains("fewer and fewer invalid pages"), "{why}");
}

#[test]
fn space_and_reads_are_collected_for_side_by_side() {
    let report = run_verified(TINY, &[RECLAIM, "gc.background.read-reclaim.limit=5"]);
    let reclaims = whole(&report, "gc.read_reclaims");
    assert!(reclaims > 0 && reclaims < whole(&report, "gc.count"), "{reclaims}");
    let plain = run_verified(TINY, &[]);
    assert!(plain.pointer("/gc/read_reclaims").is_none());
    let reads = run_verified(TINY, &[RECLAIM, READS]);
    let notes = at(&reads, "notes").to_string();
    assert!(notes.contains("no block had its 250,000 reads since its erase"), "{notes}");
    let never = run_verified(TINY, &[RECLAIM]);
    assert_eq!(whole(&never, "gc.read_reclaims"), 0);
    assert_eq!(at(&never, "latency_ns"), at(&plain, "latency_ns"));
}

/// In a closed loop of one request the drive rests with each answer, and a unit nearly always.
#[test]
fn reclaims_wait_for_what_when_says() {
    let depth = "workload.synthetic.queue_depth=2";
    let run = |when: &str| {
        let when = format!("gc.background.read-reclaim.when=\"{when}\"");
        run_verified(TINY, &[RECLAIM, LIMIT, READS, depth, &when])
    };
    let [first, unit, drive] = ["before-host", "unit-idle", "drive-idle"].map(run);
    assert!(whole(&first, "gc.read_reclaims") > 20);
    assert!(whole(&unit, "gc.read_reclaims") > 20);
    assert_eq!(whole(&drive, "gc.read_reclaims"), 0);
    let notes = at(&drive, "notes").to_string();
    assert!(notes.contains("the drive is never idle"), "{notes}");
}

/// With one unit no request waits for it where none is outstanding, and the other way round.
#[test]
fn a_drive_of_one_unit_is_idle_with_it() {
    let open = "workload.synthetic.interarrival={exponential=\"400 us\"}";
    let run = |when: &str| {
        let when = format!("gc.background.read-reclaim.when=\"{when}\"");
        let own = [RECLAIM, LIMIT, READS, open, &when];
        run_verified(TINY, &[&own[..], &ONE_PLANE].concat())
    };
    let (unit, drive) = (run("unit-idle"), run("drive-idle"));
    assert!(whole(&unit, "gc.read_reclaims") > 5, "{unit:#}");
    assert_eq!(at(&unit, "result_hash"), at(&drive, "result_hash"));
}

/// A block whose collection waits for an idle drive holds up no read of another plane.
#[test]
fn a_block_that_is_due_changes_nothing_before_its_time() {
    let planes = ["device.unit=\"die\"", "device.independent_plane_reads=true"];
    let busy = ["gc.background.read-reclaim.when=\"drive-idle\"", CLOSED];
    let run =
        |limit: &str| run_verified(TINY, &[&[RECLAIM, limit, READS], &planes[..], &busy].concat());
    let (due, never) = (run(LIMIT), run("gc.background.read-reclaim.limit=1000000"));
    assert_eq!(whole(&due, "gc.read_reclaims"), 0);
    assert_eq!(at(&due, "latency_ns"), at(&never, "latency_ns"));
    assert_eq!(at(&due, "result_hash"), at(&never, "result_hash"));
}

#[test]
fn what_it_cannot_be_combined_with_is_refused() {
    for (sets, parts) in [
        (
            &["gc.scheme=\"tokens\""][..],
            &["rests while the host writes nothing", "gc.pacing.use"][..],
        ),
        (&["engine.timing=\"none\""], &["not counted by block", "gc.background.use"]),
        (&["gc.background.read-reclaim.limit=0"], &["gc.background.read-reclaim.limit", "1 to"]),
    ] {
        let text = refusal(TINY, &[&[RECLAIM], sets].concat());
        parts.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
    }
}

#[test]
#[should_panic(expected = "block 0 is reclaimed after 1 of 2 reads")]
fn a_reclaim_before_its_reads_is_found() {
    let setup = setup(TINY, &[RECLAIM, "gc.background.read-reclaim.limit=2"]);
    let mut checker = Checker::of(&setup.plan);
    let (ppn, lpn) = (Ppn(0), Lpn(0));
    let cause = flashgc::verify::Cause::Host { op: 0 };
    checker.observe(0, Happened::Opened { block: BlockId(0) });
    checker.observe(0, Happened::Programmed { ppn, lpn, cause, current: true });
    checker.observe(0, Happened::Read { ppn, lpn });
    checker.observe(0, Happened::Reclaimed { block: BlockId(0) });
}
