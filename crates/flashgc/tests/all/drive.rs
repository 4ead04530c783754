//! A drive changes hands: taken out of one session and put into another, of the same scheme or of
//! another one, under the checker.

use crate::common;

use common::{Choices, MemoryTrace, TINY, at, setup};
use flashgc::device::{Level, Pools};
use flashgc::drive::{Drive, Role, aged_blocks, restore};
use flashgc::session::{Options, Phase, SavedDrive, Session, Setup, TraceOpener, prepare};
use serde_json::Value;

/// Settings of the device and the workload.
const AROUND: &[(&str, &[&str])] = &[
    ("device.allocation", &["\"striped\"", "\"dynamic\""]),
    ("device.pool", &["", "\"channel\"", "\"chip\""]),
    ("device.unit", &["\"plane\"", "\"die\"", "\"channel\""]),
    ("device.pages_per_block", &["5", "8", "16"]),
    ("device.summary", &["", "{pages=1,copies=\"free\"}"]),
    ("device.exported", &["0.5", "0.4"]),
    ("workload.synthetic.size", &["\"4 KiB\"", "{\"2 KiB\"=0.5,\"16 KiB\"=0.5}"]),
    ("workload.synthetic.address", &["\"uniform\"", "{hot_cold={f=0.1,r=0.9}}"]),
    ("workload.synthetic.trim_share", &["0.0", "0.1"]),
    ("workload.synthetic.requests", &["700"]),
    ("precondition.overwrite", &["0.0", "0.37", "2.0"]),
];

/// Settings of the scheme.
const SCHEME: &[(&str, &[&str])] = &[
    (
        "gc.victim.use",
        &[
            "\"greedy\"",
            "\"fifo\"",
            "\"second-chance\"",
            "\"windowed-greedy\"",
            "\"random\"",
            "\"d-choices\"",
            "\"cost-benefit\"",
            "\"cost-age-times\"",
            "\"static-levelling\"",
            "\"wear-aware\"",
            "\"invalidation-rate\"",
        ],
    ),
    ("gc.trigger.use", &["\"watermark\"", "\"used-space\""]),
    ("gc.trigger.used-space.on", &["\"60%\"", "\"80%\""]),
    ("gc.trigger.used-space.of", &["\"device\"", "\"plane\""]),
    ("gc.trigger.used-space.victims", &["\"40%\"", "\"70%\""]),
    ("gc.trigger.used-space.batch", &["\"one\"", "\"until-stop\"", "\"list\""]),
    ("gc.trigger.watermark.soft", &["\"4 blocks\"", "\"30 pages\"", "\"25%\""]),
    ("gc.trigger.watermark.stop", &["\"5 blocks\"", "\"42 pages\""]),
    ("gc.trigger.watermark.batch", &["\"one\"", "\"list\""]),
    ("gc.erase.use", &["\"block\"", "\"blocks\""]),
    ("gc.copy.use", &["\"copyback\"", "\"bus\"", "\"parallel\""]),
    ("gc.copy.copyback.parity", &["false", "true"]),
    ("gc.placement.use", &["\"one-frontier\"", "\"separate-gc\""]),
    ("gc.blocking.use", &["\"unit\"", "\"plane\""]),
];

fn draw(choices: &mut Choices, keys: &[(&str, &[&str])]) -> Vec<String> {
    let pick = |(key, values): &(&str, &[&str])| {
        let value = values[choices.below(values.len())];
        (!value.is_empty()).then(|| format!("{key}={value}"))
    };
    keys.iter().filter_map(pick).collect()
}

/// The setup of these assignments, where the plan accepts it.
fn try_setup(sets: &[String]) -> Option<Setup> {
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    prepare(&common::inputs(TINY, &sets)).ok()
}

fn options(verify: bool) -> Options {
    Options { verify, ..Options::default() }
}

/// The drive that a setup preconditions.
pub fn preconditioned(setup: &Setup, trace: Option<MemoryTrace>, verify: bool) -> SavedDrive {
    let opener = trace.map(|trace| Box::new(trace) as Box<dyn TraceOpener>);
    let mut session = Session::new(setup.clone(), opener, options(verify));
    while session.advance().unwrap_or_else(|error| panic!("{error}")).phase != Phase::Ready {}
    session.into_drive().expect("it is preconditioned")
}

fn finish(mut session: Session) -> Result<Value, String> {
    while session.advance().map_err(|error| error.to_string())?.phase != Phase::Done {}
    Ok(session.report().to_json())
}

fn run(setup: &Setup, verify: bool) -> Result<Value, String> {
    finish(Session::new(setup.clone(), None, options(verify)))
}

pub fn run_on(setup: &Setup, drive: SavedDrive, verify: bool) -> Result<Value, String> {
    let session = Session::with_drive(setup.clone(), None, drive, "a.drive", options(verify));
    finish(session.map_err(|error| error.to_string())?)
}

/// The report without the origin of the drive.
fn figures(report: &Value) -> Value {
    let mut report = report.clone();
    for key in ["config", "config_hash", "result_hash", "table_bytes"] {
        report.as_object_mut().expect("a table").remove(key);
    }
    report["precondition"]["drive"] = Value::Null;
    report
}

/// The acceptance test of the state that is derived again.
#[test]
fn taken_out_and_put_back_makes_no_difference() {
    let mut choices = Choices::new(11);
    let mut ran = 0;
    while ran < 150 {
        let sets = [draw(&mut choices, AROUND), draw(&mut choices, SCHEME)].concat();
        let Some(setup) = try_setup(&sets) else { continue };
        ran += 1;
        let verify = ran % 4 == 0;
        let drive = preconditioned(&setup, None, verify);
        let (stayed, moved) = (run(&setup, false), run_on(&setup, drive, verify));
        let (stayed, moved) = (stayed.map(|r| figures(&r)), moved.map(|r| figures(&r)));
        assert_eq!(stayed, moved, "{}", sets.join("\n"));
    }
}

/// Put in and taken out again, a state is the same, so that it can be saved again.
#[test]
fn a_state_survives_the_translation_layer() {
    let mut choices = Choices::new(12);
    let mut ran = 0;
    while ran < 100 {
        let sets = [draw(&mut choices, AROUND), draw(&mut choices, SCHEME)].concat();
        let Some(setup) = try_setup(&sets) else { continue };
        ran += 1;
        let drive = preconditioned(&setup, None, false);
        let again = Session::with_drive(setup, None, drive.clone(), "a", options(false));
        let mut again = again.expect("it fits");
        while again.advance().expect("it goes on").phase != Phase::Ready {}
        let again = again.into_drive().expect("it is preconditioned");
        assert_eq!(again.origin, drive.origin);
        assert_eq!(sealed_only(again.state), sealed_only(drive.state), "{}", sets.join("\n"));
    }
}

/// The time of a seal has a meaning for sealed blocks only.
fn sealed_only(mut state: Drive) -> Drive {
    let per_plane = state.order.len() / state.planes.len();
    for (blocks, plane) in state.order.chunks(per_plane).zip(&state.planes) {
        for &block in &blocks[plane.sealed as usize..] {
            state.sealed_at_ns[block as usize] = 0;
        }
    }
    state
}

#[test]
fn another_scheme_takes_a_drive_over_under_the_checker() {
    let mut choices = Choices::new(13);
    let (mut ran, mut padded, mut collected, mut refused) = (0, 0, 0, 0);
    let mut moved = 0;
    while ran < 500 {
        let around = draw(&mut choices, AROUND);
        let [from, to] = [0, 1].map(|_| [around.clone(), draw(&mut choices, SCHEME)].concat());
        let (Some(from), Some(to)) = (try_setup(&from), try_setup(&to)) else { continue };
        ran += 1;
        let drive = preconditioned(&from, None, false);
        match run_on(&to, drive, true) {
            Ok(report) => {
                let carried = at(&report, "precondition.carried");
                padded += carried["padded_pages"].as_u64().expect("a number");
                collected += carried["collected_blocks"].as_u64().expect("a number");
                moved += carried["moved_pages"].as_u64().expect("a number");
                assert_eq!(report["scheme"], "greedy");
            }
            Err(error) => {
                refused += 1;
                assert!(error.contains("the drive is full"), "{error}");
            }
        }
    }
    assert!(padded > 0 && collected > 0, "padded {padded}, collected {collected}");
    assert!(moved > 0, "nothing was moved");
    assert!(refused < 25, "{refused} runs were refused");
}

#[test]
fn a_preset_fills_the_drive_and_the_own_scheme_takes_it_over() {
    let mut choices = Choices::new(14);
    for scheme in ["greedy", "fifo", "random", "d-choices", "cost-benefit", "wear-aware"] {
        let mut ran = 0;
        while ran < 10 {
            let mut sets = [draw(&mut choices, AROUND), draw(&mut choices, SCHEME)].concat();
            sets.push("device.blocks_per_plane=40".into());
            sets.push(format!("precondition.scheme=\"{scheme}\""));
            let Some(setup) = try_setup(&sets) else { continue };
            ran += 1;
            let watched = run(&setup, true).expect("it runs");
            assert_eq!(at(&watched, "precondition.scheme"), scheme);
            // On the saved drive the whole report is the same, its hash included.
            let drive = preconditioned(&setup, None, false);
            let on_drive = run_on(&setup, drive, false).expect("it runs");
            assert_eq!(watched["result_hash"], on_drive["result_hash"], "{}", sets.join("\n"));
            assert_eq!(at(&on_drive, "precondition.drive.file"), "a.drive");
        }
    }
}

/// Schemes that are compared on one drive begin with the same data in the same blocks.
#[test]
fn one_drive_serves_all_schemes() {
    let drive = preconditioned(&setup(TINY, &["precondition.overwrite=2.0"]), None, false);
    for scheme in ["greedy", "fifo", "random", "d-choices", "cost-benefit", "wear-aware"] {
        let own = setup(TINY, &[&format!("gc.scheme=\"{scheme}\"")]);
        let report = run_on(&own, drive.clone(), true).expect("it runs");
        assert_eq!(at(&report, "precondition.scheme"), "greedy");
        assert_eq!(at(&report, "config.precondition.scheme"), "greedy");
        assert_eq!(at(&report, "precondition.drive.key"), &drive.origin.key());
    }
}

#[test]
fn the_key_says_what_the_state_depends_on() {
    let key = |sets: &[&str]| preconditioned(&setup(TINY, sets), None, false).origin.key();
    let own = key(&[]);
    for same in [
        "workload.synthetic.requests=9",
        "workload.synthetic.read_share=0.5",
        "device.independent_plane_reads=true",
    ] {
        assert_eq!(key(&[same]), own, "{same}");
    }
    for other in [
        "seed=2",
        "precondition.overwrite=1.5",
        "device.exported=0.55",
        "gc.victim.use=\"fifo\"",
        "workload.synthetic.address={zipf=1.0}",
    ] {
        assert_ne!(key(&[other]), own, "{other}");
    }
    // Without overwriting the workload makes no difference.
    let [uniform, zipf] = ["\"uniform\"", "{zipf=1.0}"].map(|address| {
        let address = format!("workload.synthetic.address={address}");
        key(&["precondition.overwrite=0.0", &address])
    });
    assert_eq!(uniform, zipf);
}

#[test]
fn a_drive_of_another_device_is_refused_with_every_difference() {
    let drive = preconditioned(&setup(TINY, &[]), None, false);
    let sets = ["device.blocks_per_plane=20", "device.allocation=\"dynamic\""];
    let error = run_on(&setup(TINY, &sets), drive.clone(), false).expect_err("it does not fit");
    for part in [
        "made with another device",
        "--> a.drive",
        "device.blocks_per_plane: 16 in the drive, 20 in the configuration",
        "device.exported: 76 pages of each plane in the drive, 96 pages of each plane in the conf",
        "device.allocation: \"striped\" in the drive, \"dynamic\" in the configuration",
        "flashgc drive save",
    ] {
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
    assert!(!error.contains("device.channels"));
    let with_summary = setup(TINY, &["device.summary={pages=1}"]);
    let error = run_on(&with_summary, drive.clone(), false).expect_err("it does not fit");
    let part = "device.summary.pages: none in the drive, 1 in the configuration";
    assert!(error.contains(part), "{error}");
    let summarised = preconditioned(&with_summary, None, false);
    let error = run_on(&setup(TINY, &[]), summarised, false).expect_err("it does not fit");
    assert!(error.contains("device.summary.pages: 1 in the drive, none in the conf"), "{error}");
    let sub_blocks = [
        "device.pages_per_block=32",
        "device.sub_blocks=4",
        "device.layers=16",
        "device.exported=0.3",
        "gc.trigger.watermark.soft=\"4 blocks\"",
        "gc.victim.use=\"recycle-benefit\"",
        "gc.erase.use=\"sub-blocks\"",
    ];
    let hardware = [&sub_blocks[..], &["gc.erase.sub-blocks.isolation=\"hardware\""]].concat();
    let of_software = preconditioned(&setup(TINY, &sub_blocks), None, false);
    let of_hardware = preconditioned(&setup(TINY, &hardware), None, false);
    for (sets, state, part) in [
        (&hardware[..], &of_software, "none in the drive, 2 pages between sub-blocks in the conf"),
        (&sub_blocks, &of_hardware, "isolation: 2 pages between sub-blocks in the drive, none"),
        (&sub_blocks[..6], &of_software, "device.sub_blocks: 4 in the drive, none in the conf"),
    ] {
        let error = run_on(&setup(TINY, sets), state.clone(), false).expect_err("it does not fit");
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
    run_on(&setup(TINY, &hardware), of_hardware, true).expect("it runs");
    // Timing, units and service are not part of the state.
    let sets = ["device.timing.read=\"50 us\"", "device.unit=\"plane\""];
    run_on(&setup(TINY, &sets), drive, true).expect("it runs");
}

/// Whatever a file contains and whatever configuration loads it, the state is refused, or the run
/// ends or reports that the drive is full.
#[test]
fn no_state_corrupts_the_engine() {
    let mut choices = Choices::new(15);
    let (mut refused, mut ran) = (0, 0);
    while refused + ran < 3000 {
        let around = draw(&mut choices, AROUND);
        let [from, to] = [0, 1].map(|_| [around.clone(), draw(&mut choices, SCHEME)].concat());
        let (Some(from), Some(to)) = (try_setup(&from), try_setup(&to)) else { continue };
        let drive = preconditioned(&from, None, false);
        for case in 0..20 {
            let mut crafted = drive.clone();
            for _ in 0..1 + choices.below(3) {
                spoil(&mut crafted.state, &mut choices);
            }
            match run_on(&to, crafted, case % 2 == 0) {
                Ok(_) => ran += 1,
                Err(error) => {
                    let known = ["the saved drive cannot be used", "the drive is full"];
                    assert!(known.iter().any(|known| error.contains(known)), "{error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 500 && ran > 100, "{refused} refused, {ran} ran");
}

fn spoil(state: &mut Drive, choices: &mut Choices) {
    let value = [0, 1, 7, 8, 1000, u32::MAX, u32::MAX - 1, 127][choices.below(8)];
    let (a, b) = (choices.below(1 << 20), choices.below(1 << 20));
    match choices.below(14) {
        0 => {
            let at = a % state.map.len();
            state.map[at] = value;
        }
        1 => {
            let (a, b) = (a % state.map.len(), b % state.map.len());
            state.map.swap(a, b);
        }
        2 => {
            let (a, b) = (a % state.order.len(), b % state.order.len());
            state.order.swap(a, b);
        }
        3 => {
            let at = a % state.order.len();
            state.order[at] = value;
        }
        4 => {
            let at = a % state.planes.len();
            state.planes[at].sealed = value;
        }
        5 => {
            let at = a % state.planes.len();
            state.planes[at].open = value;
        }
        6 => {
            let at = a % state.planes.len();
            state.planes[at].triggered ^= true;
        }
        7 => {
            if let Some(open) = state.open.first_mut() {
                open.next[a % 2] = value;
            }
        }
        8 => {
            let last = state.open.len().saturating_sub(1);
            if let Some(open) = state.open.get_mut(a % (last + 1)) {
                open.role = [Role::Host, Role::Gc, Role::Started][b % 3];
            }
        }
        9 => {
            let at = a % state.sealed_at_ns.len();
            state.sealed_at_ns[at] = b as u64 * u64::from(value);
        }
        10 => {
            let at = a % state.erases.len();
            state.erases[at] = value;
        }
        11 => state.age_ns = [0, 1 << 62, u64::MAX][a % 3],
        12 => {
            // One block more is full, and one less open or erased.
            let at = a % state.planes.len();
            let sealed = &mut state.planes[at].sealed;
            *sealed = sealed.wrapping_add(1);
        }
        _ => {
            state.map.truncate(1 + a % 1000);
        }
    }
}

/// All erased blocks of plane 0 are full of invalid pages instead. The scheme reserves one erased
/// block, and collects one of these: it has nothing to copy.
#[test]
fn a_plane_without_an_erased_block_gets_its_reserve_from_blocks_without_data() {
    let own = setup(TINY, &[]);
    let mut drive = preconditioned(&own, None, false);
    let state = &mut drive.state;
    let (sealed, open) = (state.planes[0].sealed as usize, state.planes[0].open as usize);
    assert!(sealed + open < 16);
    state.order[sealed..16].rotate_left(open);
    state.planes[0].sealed = 16 - open as u32;
    let report = run_on(&own, drive, true).expect("it runs");
    assert_eq!(at(&report, "precondition.carried.collected_blocks"), 1);
    assert_eq!(at(&report, "precondition.carried.moved_pages"), 0);
}

#[test]
fn an_aged_drive_has_invalid_pages_at_the_front_of_its_blocks() {
    let sets = ["precondition.fill=\"aged\"", "precondition.aged_ratio=0.5"];
    let sets = [&sets[..], &["precondition.overwrite=0.0", "device.blocks_per_plane=64"]].concat();
    let own = setup(TINY, &sets);
    let geometry = &own.plan.geometry;
    // Pages n < 8 * 0.5 + 1 of each block, until half of 64 * 8 pages are invalid: 256 / 5.
    assert_eq!(aged_blocks(geometry, 0.5), (52, 5));
    // The rest is erased and the host may write it: nothing is given up.
    let state = Drive::aged(geometry, 0.5);
    let rules = own.plan.frontier_rules();
    let pools = Pools::new(geometry, Some(Level::Plane));
    let (ftl, carried) = restore(geometry, rules, &pools, state).expect("it fits");
    assert_eq!(carried, Default::default());
    for plane in (0..geometry.planes).map(flashgc::ids::PlaneId) {
        assert_eq!(ftl.frontiers.free_pages(plane), 64 * 8 - 52 * 5);
        assert_eq!(ftl.frontiers.free_blocks(plane), 12);
        let open = ftl.frontiers.open_blocks(geometry, plane);
        assert_eq!(open.len(), 52);
        assert!(open.iter().all(|open| (open.end(), open.holes()) == (5, 0)));
    }
    let report = run(&own, true).expect("it runs");
    assert_eq!(at(&report, "precondition.aged_pages"), 8 * 52 * 5);
    assert_eq!(at(&report, "precondition.filled_pages"), 0);
}

#[test]
fn aged_drives_of_any_ratio_run_under_any_scheme() {
    let mut choices = Choices::new(16);
    let mut ran = 0;
    while ran < 150 {
        let mut sets = [draw(&mut choices, AROUND), draw(&mut choices, SCHEME)].concat();
        let ratio = ["0.0", "0.1", "0.31", "0.5", "0.8", "0.9"][choices.below(6)];
        sets.push("precondition.fill=\"aged\"".into());
        sets.push(format!("precondition.aged_ratio={ratio}"));
        if choices.below(2) == 0 {
            sets.push("device.blocks_per_plane=40".into());
        }
        if choices.below(3) == 0 {
            sets.push("precondition.scheme=\"fifo\"".into());
        }
        let Some(setup) = try_setup(&sets) else { continue };
        ran += 1;
        let drive = preconditioned(&setup, None, false);
        let [stayed, moved] = [run(&setup, true), run_on(&setup, drive, ran % 2 == 0)];
        let [stayed, moved] = [stayed, moved].map(|report| report.map(|r| figures(&r)));
        assert_eq!(stayed, moved, "{}", sets.join("\n"));
    }
}

#[test]
fn an_aged_drive_must_leave_what_collection_keeps() {
    // One write more would have taken pages of the reserve, and no block was full yet.
    let sepbit = [
        "device.planes_per_die=1",
        "device.blocks_per_plane=20",
        "device.pages_per_block=20",
        "device.summary.pages=1",
        "device.exported=0.5214",
        "gc.placement.use=\"sepbit\"",
        "gc.placement.sepbit.classes=4",
        "precondition.fill=\"aged\"",
        "precondition.aged_ratio=0.8",
        "precondition.overwrite=0.0",
    ];
    let refusal = common::refusal(TINY, &sepbit);
    assert!(refusal.contains("4 open blocks need 81 erased pages, and 74 are left"), "{refusal}");
    let sets = [&sepbit[..], &["precondition.aged_ratio=0.75"]].concat();
    run(&setup(TINY, &sets), true).expect("it runs");

    let sets = ["precondition.fill=\"aged\"", "precondition.aged_ratio=1.0"];
    let refusal = common::refusal(TINY, &sets);
    assert!(refusal.contains("fills 16 of the 16 blocks of each plane"), "{refusal}");
    for (sets, part) in [
        (&["precondition.fill=\"aged\""][..], "missing key `precondition.aged_ratio`"),
        (&["precondition.aged_ratio=0.5"], "aged_ratio needs fill"),
        (&["precondition.fill=\"trace\""], "needs a trace workload"),
        (&["precondition.scheme=\"fifo\"", "precondition.fill=\"none\""], "needs a filled drive"),
        (&["precondition.scheme=\"gredy\""], "did you mean \"greedy\"?"),
    ] {
        let refusal = common::refusal(TINY, sets);
        assert!(refusal.contains(part), "{refusal}");
    }
}
