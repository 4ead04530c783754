//! Placement handles: their bytes add up, data that dies together is never copied, and where all
//! pages are equal handles do not help.

use crate::common::{self, at, number, refusal, run_verified, whole};
use flashgc::config::WorkloadPlan;
use flashgc::ids::Lpn;
use flashgc::session::{Options, Phase, Session};
use flashgc::sim::Sim;
use flashgc::workload::jobs::Jobs;
use serde_json::Value;

const DRIVE: &str = r#"
seed = 1
[device]
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 256
pages_per_block = 64
page_size = "4 KiB"
exported = 0.875
unit = "die"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "25 ns/B"
[gc]
scheme = "fdp"
trigger.watermark.soft = "10 blocks"
[precondition]
fill = "sequential"
overwrite = 3.0
"#;

/// A job: its share of the drive, its rate in MB/s, and whether it overwrites in order.
type Job = (f64, u32, bool);

const LOGS: &[Job] = &[(0.5, 8, true), (0.5, 2, true)];
const CACHE: &[Job] = &[(0.0625, 2, false), (0.9375, 8, true)];
const UNIFORM: &[Job] =
    &[(0.625, 10, false), (0.1875, 3, false), (0.125, 2, false), (0.0625, 1, false)];

/// Jobs that write until the first one has written the drive this number of times.
fn mix(jobs: &[Job], drive_writes: f64) -> String {
    let bytes = 256.0 * 0.875 * 1024.0 * 1024.0;
    let rates: u32 = jobs.iter().map(|job| job.1).sum();
    let seconds = drive_writes * bytes / (f64::from(rates) * 1e6);
    let job = |(at, &(span, rate, in_order)): (usize, &Job)| {
        let (share, size) = if in_order { (0.0, "64 KiB") } else { (1.0, "4 KiB") };
        format!(
            "[[workload.jobs.job]]\nfile = \"{at}\"\nspan = {span}\nrandom_share = {share}\n\
             size = \"{size}\"\ndepth = 4\nrate = \"{rate} MB/s\"\nruntime = \"{seconds:.3} s\"\n\
             time_based = true\n"
        )
    };
    let jobs_text: String = jobs.iter().enumerate().map(job).collect();
    let shares: Vec<String> = jobs.iter().map(|job| job.0.to_string()).collect();
    let drive = DRIVE.replace(
        "scheme = \"fdp\"",
        &format!("scheme = \"fdp\"\nplacement.fdp.shares = [{}]", shares.join(", ")),
    );
    format!("{drive}[workload.jobs]\n{jobs_text}")
}

const PERSISTENT: &str = "gc.placement.fdp.isolation=\"persistent\"";
const LAST_HANDLE: &str = "gc.placement.fdp.copies=\"last-handle\"";
const ALL_OPEN: &str = "gc.placement.fdp.open=\"all\"";

fn amplification(jobs: &[Job], sets: &[&str]) -> f64 {
    number(&run_verified(&mix(jobs, 3.0), sets), "write_amplification")
}

#[test]
fn handles_help_where_data_dies_together() {
    let of = |jobs: &[Job]| {
        let sets: [&[&str]; 4] =
            [&["gc.scheme=\"greedy\""], &["gc.scheme=\"sepgc\""], &[], &[PERSISTENT]];
        sets.map(|sets| amplification(jobs, sets))
    };
    let [greedy, sepgc, initial, persistent] = of(LOGS);
    assert!(greedy > 1.3 && sepgc > 1.1, "{greedy} {sepgc}");
    assert_eq!((initial, persistent), (1.0, 1.0), "logs of their own are never copied");
    let [greedy, sepgc, initial, persistent] = of(CACHE);
    assert!(initial < 1.3 && persistent < 1.3, "{initial} {persistent}");
    assert!(greedy > 2.0 && sepgc > 1.8, "{greedy} {sepgc}");
    // Nothing to separate: each handle costs open blocks.
    let [greedy, _, initial, persistent] = of(UNIFORM);
    assert!(greedy < initial && initial < persistent, "{greedy} {initial} {persistent}");
}

#[test]
fn bytes_of_handles_add_up() {
    for sets in [&[][..], &[PERSISTENT], &[LAST_HANDLE], &[ALL_OPEN], &[LAST_HANDLE, ALL_OPEN]] {
        let report = run_verified(&mix(UNIFORM, 1.0), sets);
        let handles = at(&report, "placement.handles").as_array().expect("a list").clone();
        let sum = |key: &str| handles.iter().map(|handle| whole(handle, key)).sum::<u64>();
        assert_eq!(sum("host_bytes"), whole(&report, "pages.host_written") * 4096);
        let copied = whole(&report, "pages.gc_moved") + open_copies(&report);
        assert_eq!(sum("media_bytes"), sum("host_bytes") + copied * 4096);
        let erased = whole(&report, "erases") * 64 * 4096;
        assert_eq!(whole(&report, "placement.erased_bytes"), erased);
        assert!(handles.iter().all(|handle| number(handle, "write_amplification") > 1.0));
    }
}

/// Copies whose page is taken, of collections that the end of the run interrupts.
fn open_copies(report: &Value) -> u64 {
    let classes = at(report, "placement.classes").as_array().expect("a list");
    let copies: u64 = classes.iter().map(|class| whole(class, "copies")).sum();
    copies - whole(report, "pages.gc_moved")
}

/// The handles of the data in each block, after a run.
fn blocks_with_two_handles(sets: &[&str]) -> usize {
    let setup = common::setup(&mix(UNIFORM, 1.0), sets);
    let WorkloadPlan::Jobs(plan) = &setup.workload else { panic!("jobs") };
    let geometry = &setup.plan.geometry;
    let mut source = Jobs::new(&plan.plan, geometry.exported_pages, 4096, setup.plan.seed);
    let mut sim = Sim::new(setup.plan.clone(), common::checked(&setup));
    sim.untimed().fill(0, geometry.exported_pages).expect("it fits");
    let results = common::drain(&mut sim, &mut source, 1000);
    assert!(results.counters.gc_moved > 0, "pages were copied");
    assert_eq!(results.placement.as_ref().map(|it| it.fallbacks), Some(0), "every class had room");
    let ends = [0.625, 0.8125, 0.9375].map(|end| (end * f64::from(geometry.exported_pages)) as u32);
    let mut seen = vec![0u8; geometry.blocks as usize];
    for lpn in 0..geometry.exported_pages {
        let ppn = sim.ftl().map.ppn_of(Lpn(lpn));
        let handle = ends.iter().filter(|&&end| end <= lpn).count();
        seen[geometry.block_of(ppn).index()] |= 1 << handle;
    }
    seen.iter().filter(|handles| handles.count_ones() > 1).count()
}

#[test]
fn persistent_isolation_never_mixes_handles() {
    assert_eq!(blocks_with_two_handles(&[PERSISTENT]), 0);
    assert!(blocks_with_two_handles(&[]) > 50, "copies share blocks");
}

/// Copies of all handles lie among the writes of the last one.
#[test]
fn copies_go_to_the_last_handle() {
    let report = run_verified(&mix(UNIFORM, 1.0), &[LAST_HANDLE]);
    let classes = at(&report, "placement.classes").as_array().expect("a list").clone();
    let copies: Vec<u64> = classes.iter().map(|class| whole(class, "copies")).collect();
    assert_eq!(copies.len(), 4, "one class for each handle, and none for copies");
    assert_eq!(copies[..3], [0, 0, 0]);
    assert!(copies[3] > 0 && whole(&classes[3], "writes") > 0);
    assert!(blocks_with_two_handles(&[LAST_HANDLE]) > 50);
    let refused = refusal(&mix(UNIFORM, 1.0), &[PERSISTENT, LAST_HANDLE]);
    assert!(refused.contains("keeps them apart"), "{refused}");
}

/// A block for each of seven handles without writes is as much space as seven of threshold.
#[test]
fn handles_without_writes_have_blocks() {
    let with = |sets: &[&str]| {
        let own = ["gc.placement.fdp={by=\"hint\", handles=8}"];
        let sets = [&own, sets].concat();
        run_verified(&mix(UNIFORM, 2.0), &sets)
    };
    let used = with(&[]);
    let raised = with(&["gc.trigger.watermark.soft=\"17 blocks\""]);
    let all = with(&[ALL_OPEN]);
    let waf = |report: &Value| number(report, "write_amplification");
    assert!(waf(&all) > 1.02 * waf(&used), "{} {}", waf(&all), waf(&used));
    assert!((waf(&all) / waf(&raised) - 1.0).abs() < 0.01, "{} {}", waf(&all), waf(&raised));
    let handles = at(&all, "placement.handles").as_array().expect("a list").clone();
    let planes_of_blocks = 4 * 64 * 4096;
    assert!(handles[1..].iter().all(|it| whole(it, "available_bytes") == planes_of_blocks));
}

#[test]
fn one_handle_with_shared_copies_is_separate_gc() {
    let text = mix(UNIFORM, 1.0);
    let one = run_verified(&text, &["gc.placement.fdp.shares=[1]"]);
    let separate = run_verified(&text, &["gc.placement.use=\"separate-gc\""]);
    for key in ["pages.gc_moved", "erases", "pages.host_written", "requests.write"] {
        assert_eq!(whole(&one, key), whole(&separate, key), "{key}");
    }
}

/// The open block of each handle is saved with a drive.
#[test]
fn a_run_on_the_saved_drive_is_the_same() {
    let text = mix(CACHE, 0.5);
    let start = || Session::new(common::setup(&text, &[]), None, Options::default());
    let mut direct = start();
    while direct.advance().expect("it goes on").phase != Phase::Done {}
    let mut saving = start();
    while saving.advance().expect("it goes on").phase != Phase::Ready {}
    let drive = saving.into_drive().expect("it is ready");
    let setup = common::setup(&text, &[]);
    let session = Session::with_drive(setup, None, drive, "a", Options::default());
    let mut session = session.expect("the drive fits");
    while session.advance().expect("it goes on").phase != Phase::Done {}
    let hash = |session: Session| session.report().to_json()["result_hash"].clone();
    assert_eq!(hash(session), hash(direct));
}

#[test]
fn mistakes_are_refused() {
    let text = mix(LOGS, 1.0);
    for shares in ["[]", "[0.5, 0]", "[0.6, 0.6]", "[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]"]
    {
        let refused = refusal(&text, &[&format!("gc.placement.fdp.shares={shares}")]);
        assert!(refused.contains("1 to 8 numbers above 0"), "{shares}: {refused}");
    }
    let tenths = "gc.placement.fdp.shares=[0.1, 0.2, 0.3, 0.4]";
    common::setup(&text, &[tenths]);
}

/// Where planes share their blocks a reclaim unit spans them, as in drives that are sold.
#[test]
fn handles_have_superblocks() {
    let (stripes, slots) = (
        ["device.superblock=\"drive\"", "gc.copy.use=\"bus\""],
        [
            "device.page_size=\"16 KiB\"",
            "device.mapping_unit=\"4 KiB\"",
            "device.pages_per_block=16",
            "device.allocation=\"dynamic\"",
        ],
    );
    let stripes_of_slots = [&stripes[..], &slots].concat();
    for (device, planes) in [(&stripes[..], 4), (&stripes_of_slots, 4), (&slots, 1)] {
        for isolation in ["initial", "persistent"] {
            let isolation = format!("gc.placement.fdp.isolation=\"{isolation}\"");
            let sets = [device, &[isolation.as_str()]].concat();
            let logs = run_verified(&mix(LOGS, 1.5), &sets);
            assert_eq!(whole(&logs, "pages.gc_moved"), 0, "{sets:?}");
            let report = run_verified(&mix(CACHE, 1.0), &sets);
            let handles = at(&report, "placement.handles").as_array().expect("a list").clone();
            let sum = |key: &str| handles.iter().map(|handle| whole(handle, key)).sum::<u64>();
            let classes = at(&report, "placement.classes").as_array().expect("a list").clone();
            let pages = |key: &str| classes.iter().map(|class| whole(class, key)).sum::<u64>();
            assert_eq!(sum("host_bytes"), pages("writes") * 4096, "{sets:?}");
            assert_eq!(sum("media_bytes"), (pages("writes") + pages("copies")) * 4096, "{sets:?}");
            assert!(pages("copies") >= whole(&report, "pages.gc_moved"), "{sets:?}");
            let erased = whole(&report, "erases") * planes * 64 * 4096;
            assert_eq!(whole(&report, "placement.erased_bytes"), erased, "{sets:?}");
        }
    }
}
