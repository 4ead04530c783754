//! Superblocks where a program joins mapped pages (docs/superblocks.md#slots).

use crate::common;
use crate::drive::{preconditioned, run_on};

use common::{TINY, assert_near, at, number, refusal, run, run_filled, run_verified, setup, whole};
use serde_json::Value;

const COPIES: [&str; 2] = ["gc.copy.use=\"bus\"", "gc.placement.use=\"separate-gc\""];
const BUS: &str = "device.timing.transfer=\"1 ns/B\"";
const WORDS: [&str; 5] = ["plane", "die", "chip", "channel", "drive"];

/// Four slots of 4 KiB in each flash page.
const SLOTS: [&str; 3] = [
    "device.page_size=\"16 KiB\"",
    "device.mapping_unit=\"4 KiB\"",
    "device.allocation=\"dynamic\"",
];

/// Devices whose programs join pages, each in another way.
const DEVICES: [&[&str]; 6] = [
    &[],
    &["device.pages_per_program=2"],
    &["device.pages_per_program=2", "device.multi_plane=2", "device.unit=\"die\""],
    &["device.timing.read=[\"20 us\",\"45 us\"]", "device.pages_per_program=2"],
    &["device.layers=4", "device.timing.layer_ratio=3.0", "device.timing.layer_map=\"striped\""],
    &[
        "device.pages_per_program=2",
        "device.timing.program=[\"100 us\",\"160 us\"]",
        "device.fine_pass_lag=2",
    ],
];

/// The checker follows every slot, the order of programs in each plane, and all times.
#[test]
fn schemes_work_on_superblocks_of_slots() {
    for (place, device) in DEVICES.iter().enumerate() {
        for superblock in &WORDS[1..] {
            for scheme in ["greedy", "fifo", "d-choices", "ideal"] {
                let sets = [
                    format!("device.superblock=\"{superblock}\""),
                    format!("gc.scheme=\"{scheme}\""),
                ];
                let sets = sets.each_ref().map(String::as_str);
                let usual = [
                    "device.unit=\"plane\"",
                    "device.blocks_per_plane=24",
                    "workload.synthetic.trim_share=0.1",
                    COPIES[1],
                    BUS,
                ];
                let copies = if scheme == "ideal" { &[][..] } else { &COPIES[..1] };
                let all = [&usual[..], &SLOTS, copies, &sets, device].concat();
                run_filled(&setup(TINY, &all));
                let report = run_verified(TINY, &all);
                assert!(whole(&report, "gc.count") > 0, "{place} {sets:?}");
            }
        }
    }
}

/// A drive of one unit, in which this number of planes share blocks of 48 flash pages.
fn with_planes(planes: u32, sets: &[&str]) -> Value {
    let device = [
        format!("device.planes_per_die={planes}"),
        format!("device.pages_per_block={}", 48 / planes),
    ];
    let usual = [
        "device.channels=1",
        "device.chips_per_channel=1",
        "device.superblock=\"die\"",
        "device.blocks_per_plane=100",
        "device.exported=0.8",
        // By default it is larger where there are more planes.
        "device.write_buffer.size=\"64 KiB\"",
        "workload.synthetic.requests=20_000",
        "workload.synthetic.queue_depth=1",
    ];
    let device = device.each_ref().map(String::as_str);
    run_verified(TINY, &[&device[..], &usual, &SLOTS, &COPIES, sets].concat())
}

/// Superblocks in one unit give the results of larger blocks of one plane.
#[test]
fn superblocks_of_one_unit_are_larger_blocks_of_one_plane() {
    // Merges in the buffer depend on the time of each operation.
    let keys = [
        ("precondition.programmed_pages", 0.0),
        ("pages.flushed", 0.002),
        ("pages.gc_moved", 0.01),
        ("gc.count", 0.01),
    ];
    for victim in ["greedy", "fifo", "d-choices"] {
        let victim = format!("gc.victim.use=\"{victim}\"");
        let large = with_planes(1, &[&victim]);
        assert!(whole(&large, "gc.count") > 100, "{victim}");
        for planes in [2, 4] {
            let shared = with_planes(planes, &[&victim]);
            for (key, share) in keys {
                assert_near(key, number(&shared, key), number(&large, key), share);
            }
        }
    }
}

/// Uniform overwrites of slots have the cost of uniform overwrites of small pages, in superblocks
/// with the same number of mapped pages.
#[test]
fn slots_are_written_and_copied_as_often_as_small_pages() {
    let usual = [
        "device.blocks_per_plane=160",
        "device.exported=0.8",
        "device.superblock=\"drive\"",
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.size=\"4 KiB\"",
        "workload.synthetic.align=\"4 KiB\"",
        "workload.synthetic.requests=200_000",
        "precondition.overwrite=3.0",
    ];
    for victim in ["greedy", "fifo", "d-choices"] {
        let victim = format!("gc.victim.use=\"{victim}\"");
        let of = |sets: &[&str]| {
            let report = run(TINY, &[&usual[..], &COPIES, &[&victim], sets].concat());
            number(&report, "write_amplification_bytes")
        };
        let slots = of(&[&SLOTS[..], &["device.pages_per_block=8"]].concat());
        let small = of(&["device.pages_per_block=32"]);
        assert!(small > 1.5, "{victim} collects: {small}");
        assert_near(&victim, slots, small, 0.005);
    }
}

/// Writes in sequence keep all units busy.
#[test]
fn writes_in_sequence_reach_the_bandwidth_of_all_units() {
    let of = |superblock: &str| {
        let superblock = format!("device.superblock=\"{superblock}\"");
        let usual = [
            "device.unit=\"plane\"",
            "device.blocks_per_plane=64",
            "workload.synthetic.read_share=0.0",
            "workload.synthetic.sequential_share=1.0",
            "workload.synthetic.requests=8_000",
            "workload.synthetic.queue_depth=64",
            "precondition.fill=\"none\"",
            "precondition.overwrite=0.0",
            BUS,
        ];
        let report = run_verified(TINY, &[&usual[..], &SLOTS, &COPIES, &[&superblock]].concat());
        assert_eq!(whole(&report, "gc.count"), 0, "{superblock}");
        number(&report, "throughput.bytes_per_s")
    };
    let planes = of("plane");
    // Eight planes that program 16 KiB in 200 us after a transfer of 16.4 us.
    assert_near("planes", planes, 8.0 * 16384.0 * 1e9 / 216_384.0, 0.03);
    for superblock in &WORDS[1..] {
        assert_near(superblock, of(superblock), planes, 0.02);
    }
}

/// A collection of a superblock reads and erases in all its units at once, and reads each flash
/// page once.
#[test]
fn the_units_of_a_superblock_collect_at_once() {
    let usual = [
        "device.unit=\"plane\"",
        "device.blocks_per_plane=24",
        "device.superblock=\"drive\"",
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.requests=12_000",
        BUS,
    ];
    let report = run_verified(TINY, &[&usual[..], &SLOTS, &COPIES].concat());
    let [busy, elapsed] = ["gc.busy_ns", "gc.elapsed_ns"].map(|key| number(&report, key));
    assert!(busy / elapsed > 3.0, "{} of eight planes", busy / elapsed);
    let [reads, copies] =
        ["slots.collection_page_reads", "pages.gc_moved"].map(|key| number(&report, key));
    assert!(reads < copies && reads > copies / 4.0, "{reads} reads for {copies} copies");
    // Each program of copies is full, but for those that the controller keeps.
    let steps = number(&report, "gc.copy_steps");
    assert_near("programs of copies", steps, copies / 4.0, 0.01);
}

/// Today's drives take superblocks over all their planes.
#[test]
fn todays_drives_take_superblocks() {
    let devices = [
        ("nvmevirt-970-pro", 8),
        ("nvmevirt-zn540", 4),
        ("enterprise-tlc-1dwpd", 4),
        ("client-tlc", 4),
        ("enterprise-qlc", 4),
    ];
    for (preset, pages) in devices {
        let text = format!(
            "seed = 1\n[device]\npreset = \"{preset}\"\nsuperblock = \"drive\"\n\
             blocks_per_plane = 24\npages_per_block = {}\nexported = 0.5\n\
             [gc]\nscheme = \"greedy\"\ncopy.use = \"bus\"\nplacement.use = \"separate-gc\"\n\
             [workload.synthetic]\nrequests = 6_000\nread_share = 0.3\nsize = \"4 KiB\"\n\
             queue_depth = 64\n[precondition]\nfill = \"sequential\"\noverwrite = 2.0\n",
            pages * 6
        );
        let report = run_verified(&text, &[]);
        let requests = ["requests.read", "requests.write"].map(|key| whole(&report, key));
        assert_eq!(requests[0] + requests[1], 6_000, "{preset}");
        assert!(whole(&report, "gc.count") > 0, "{preset}");
    }
}

#[test]
fn what_does_not_work_is_refused_with_a_reason() {
    let refused = |sets: &[&str]| {
        let usual = ["device.superblock=\"drive\"", "device.blocks_per_plane=24"];
        refusal(TINY, &[&usual[..], &SLOTS, &COPIES, sets].concat())
    };
    let cases: [(&[&str], &str); 4] = [
        (&["device.allocation=\"striped\""], "joins writes of any address"),
        (&["device.allocation=\"when-idle\""], "nothing is left to choose"),
        (
            &[
                "device.write_buffer.size=\"1 MiB\"",
                "device.write_buffer.power_loss_protection=false",
            ],
            "in another unit than theirs",
        ),
        (&["device.pages_per_block=1_000_000"], "pages_per_block"),
    ];
    for (sets, reason) in cases {
        let text = refused(sets);
        assert!(text.contains(reason), "{sets:?}\n{text}");
    }
}

/// A saved drive resumes at its write positions, with its partial programs.
#[test]
fn a_saved_drive_keeps_its_superblocks_of_slots() {
    let sets = [
        "device.blocks_per_plane=24",
        "device.exported=0.5",
        "device.superblock=\"drive\"",
        "device.pages_per_program=2",
    ];
    let sets = [&sets[..], &SLOTS, &COPIES].concat();
    let drive = preconditioned(&setup(TINY, &sets), None, false);
    let whole = run_verified(TINY, &sets);
    let taken_over = run_on(&setup(TINY, &sets), drive, true).expect("it runs");
    for key in ["pages", "slots", "gc", "wear", "latency_ns"] {
        assert_eq!(at(&taken_over, key), at(&whole, key), "{key}");
    }
}
