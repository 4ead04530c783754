//! Page types: read times by the place of a page in its word line.

use crate::common;

use common::{TINY, assert_near, at, found_against, number, refusal, run, run_verified, setup};
use flashgc::device::{PageTimes, ReadTimes};
use flashgc::ids::Ppn;
use flashgc::verify::checker::Promises;

/// TLC: blocks of three word lines of three pages.
const TYPES: [&str; 2] =
    ["device.pages_per_block=9", "device.timing.read=[\"56.5 us\", \"77.5 us\", \"106 us\"]"];

fn typed<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    [&TYPES[..], sets].concat()
}

#[test]
fn a_list_of_read_times_names_page_types() {
    let plan = setup(TINY, &TYPES).plan;
    assert_eq!(plan.timing.read_ns, 80_000);
    let times = PageTimes::new(&plan.timing, &plan.geometry.shape).expect("types differ");
    let reads: Vec<u64> = (0..10).map(|page| times.read_ns(Ppn(page))).collect();
    let [lsb, csb, msb] = [56_500, 77_500, 106_000];
    assert_eq!(reads, [lsb, csb, msb, lsb, csb, msb, lsb, csb, msb, lsb]);
    assert!((0..9).all(|page| times.program_ns(Ppn(page)) == plan.timing.program_ns));
    // Four slots of each page are of its type.
    let slots = ["device.page_size=\"16 KiB\"", "device.mapping_unit=\"4 KiB\""];
    let plan = setup(TINY, &typed(&[&slots[..], &["device.allocation=\"dynamic\""]].concat())).plan;
    let times = PageTimes::new(&plan.timing, &plan.geometry.shape).expect("types differ");
    let reads: Vec<u64> = (3..9).map(|page| times.read_ns(Ppn(page))).collect();
    assert_eq!(reads, [lsb, csb, csb, csb, csb, msb]);
    // A mean that is not whole is rounded.
    let uneven = setup(TINY, &["device.timing.read=[\"1 ns\", \"4 ns\"]"]).plan.timing;
    assert_eq!(uneven.read_ns, 3);
}

/// The layers multiply the time of each type; the means stay.
#[test]
fn layers_multiply_the_times_of_types() {
    let layers = ["device.layers=3", "device.timing.layer_ratio=2"];
    let plan = setup(TINY, &typed(&layers)).plan;
    let times = PageTimes::new(&plan.timing, &plan.geometry.shape).expect("pages differ");
    // By hand: speeds 1, 1.5 and 2 take 18/13, 12/13 and 9/13 of the mean.
    let lsb: Vec<u64> = [0, 3, 6].map(|page| times.read_ns(Ppn(page))).to_vec();
    assert_eq!(lsb, [78_231, 52_154, 39_115]);
    let all = (0..9).map(|page| times.read_ns(Ppn(page))).sum::<u64>() as f64 / 9.0;
    assert!((all - 80_000.0).abs() < 1.0, "{all}");
    run_verified(TINY, &typed(&layers));
}

/// A read of each page of whole word lines takes the mean of the list.
#[test]
fn uniform_reads_take_the_mean() {
    let reads = [
        "workload.synthetic.read_share=1.0",
        "workload.synthetic.queue_depth=1",
        "precondition.overwrite=0.0",
    ];
    // Every page of the drive with the same frequency: one pass in order. 8 planes of 16 blocks, of
    // which whole blocks are user space.
    let pass = [
        "device.exported=0.5",
        "workload.synthetic.sequential_share=1.0",
        "workload.synthetic.size=\"4 KiB\"",
        "workload.synthetic.requests=576",
    ];
    let report = run_verified(TINY, &typed(&[&reads[..], &pass].concat()));
    assert_eq!(number(&report, "capacity.exported_pages"), 576.0);
    assert_eq!(number(&report, "latency_ns.read.mean"), 80_000.0);
    assert_eq!(number(&report, "latency_ns.read.min"), 56_500.0);
    assert_eq!(number(&report, "latency_ns.read.max"), 106_000.0);
    // Random reads come near it.
    let report = run_verified(TINY, &typed(&reads));
    assert_near("random reads", number(&report, "latency_ns.read.mean"), 80_000.0, 0.01);
}

/// The checker derives the type of every page that is read.
#[test]
fn schemes_read_pages_by_type() {
    let bus = "gc.copy.use=\"bus\"";
    let slots: &[&str] = &[
        "device.page_size=\"16 KiB\"",
        "device.mapping_unit=\"4 KiB\"",
        "device.allocation=\"dynamic\"",
    ];
    let devices: [&[&str]; 6] = [
        &[],
        &[bus, "device.timing.transfer=\"5 ns/B\""],
        &["device.multi_plane=2"],
        &["engine.coalesce=false", "device.unit=\"plane\""],
        &["workload.synthetic.size=\"6 KiB\"", "workload.synthetic.align=\"2 KiB\""],
        slots,
    ];
    for scheme in ["greedy", "pgc", "fifo", "pgc-pipeline", "pregc"] {
        for device in devices {
            let registers = if scheme == "pgc-pipeline" { 2 } else { 1 };
            let sets = [
                format!("gc.scheme=\"{scheme}\""),
                format!("device.registers={registers}"),
                "device.exported=0.5".into(),
            ];
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            if device == slots && ["pgc-pipeline", "pregc"].contains(&scheme) {
                continue;
            }
            run_verified(TINY, &typed(&[&sets, device].concat()));
        }
    }
}

#[test]
fn the_checker_notices_pages_of_a_wrong_type() {
    let copies: [(&str, &[&str]); 4] = [
        ("read", &["workload.synthetic.read_share=1.0"]),
        ("collection", &["workload.synthetic.read_share=0.0"]),
        ("copy", &["workload.synthetic.read_share=0.0", "gc.copy.use=\"bus\""]),
        ("copy-read", &["workload.synthetic.read_share=0.0", "gc.scheme=\"pgc\""]),
    ];
    for (name, sets) in copies {
        let setup = setup(TINY, &typed(sets));
        let mut promises = Promises::of(&setup.plan);
        for timing in promises.timing.as_mut().expect("the checker looks") {
            timing.read_by_type_ns = ReadTimes::new(&[77_500, 56_500, 106_000]);
        }
        let found = found_against(&setup, promises);
        assert!(found.contains(&format!("ended a {name} with")), "{sets:?}: {found}");
    }
}

/// Types that do not differ are none.
#[test]
fn types_of_equal_times_change_nothing() {
    let hash = |sets: &[&str]| at(&run(TINY, sets), "result_hash").clone();
    for list in ["[\"25 us\"]", "[\"25 us\", \"25 us\"]"] {
        let read = format!("device.timing.read={list}");
        assert!(setup(TINY, &[&read]).plan.timing.read_by_type_ns.is_none());
        assert_eq!(hash(&[&read]), hash(&[]));
    }
    assert_ne!(hash(&["device.timing.read=[\"24 us\", \"26 us\"]"]), hash(&[]));
}

#[test]
fn wrong_lists_are_refused() {
    let nine = format!("[{}]", ["\"1 us\""; 9].join(","));
    let cases = [
        ("[]", "read must name the time of each page type, of which a device has 1 to 8, got 0"),
        (nine.as_str(), "a device has 1 to 8, got 9"),
        (
            "[\"1 us\",\"2 us\",\"3 us\"]",
            "device.pages_per_block must be a multiple of that, got 8",
        ),
        ("[\"1 us\",\"0 us\"]", "read must be at least 1 ns"),
        ("[\"1 us\",\"2000 s\"]", "read must be at most 1000 s"),
        ("[\"1 us\",2]", "`device.timing.read` is not a list of durations"),
        ("[1,2]", "in brackets, as in [\"50 us\", \"80 us\"]"),
        ("true", "`device.timing.read` is not a duration"),
    ];
    for (list, words) in cases {
        let found = refusal(TINY, &[&format!("device.timing.read={list}")]);
        assert!(found.contains(words), "{list}\n{found}");
        assert_eq!(found.matches("error: ").count(), 1, "{found}");
    }
}
