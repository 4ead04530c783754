//! Placement by classes on devices of today: where programs join slots, and in superblocks of them
//! (docs/placement.md#devices-of-today).

use crate::common;
use crate::mapping_unit::{STEADY_WRITES, SUSPENDS};

use common::{
    TINY, TINY_DRIVE, assert_near, at, by_class, number, refusal, run, run_verified, whole,
};
use serde_json::Value;

const SLOTS: [&str; 9] = [
    "device.page_size=\"16 KiB\"",
    "device.mapping_unit=\"4 KiB\"",
    "device.allocation=\"dynamic\"",
    "device.blocks_per_plane=60",
    "device.exported=0.4",
    "gc.trigger.watermark.soft=\"14 blocks\"",
    "workload.synthetic.address.zipf=1.0",
    "workload.synthetic.trim_share=0.05",
    "device.timing.transfer=\"1 ns/B\"",
];
const STRIPES: [&str; 2] = ["device.superblock=\"drive\"", "gc.copy.use=\"bus\""];
const UNPROTECTED: [&str; 3] = [
    "device.write_buffer.size=\"512 KiB\"",
    "device.write_buffer.power_loss_protection=false",
    "device.pages_per_block=32",
];

/// The checker follows every slot and the times of all operations.
#[test]
fn placements_work_where_programs_join_slots() {
    let suspends = [&SUSPENDS[..], &["gc.scheme=\"pgc-se\""]].concat();
    let devices: [&[&str]; 13] = [
        &[],
        &["device.allocation=\"when-idle\"", "gc.copy.use=\"bus\""],
        &["device.pages_per_program=2", "gc.blocking.use=\"plane\""],
        &["device.multi_plane=2", "gc.victim.use=\"cost-benefit\""],
        &["gc.copy.use=\"instant\""],
        &["gc.preemption.use=\"between-copies\"", "gc.trigger.watermark.stop=\"20 blocks\""],
        &suspends,
        &["device.layers=4", "device.timing.layer_ratio=3.0", "device.pages_per_program=2"],
        &["device.pages_per_program=2", "device.timing.program=[\"90 us\", \"300 us\"]"],
        &STRIPES,
        &["device.superblock=\"channel\"", "device.unit=\"plane\"", STRIPES[1]],
        &UNPROTECTED,
        &[UNPROTECTED[0], UNPROTECTED[1], UNPROTECTED[2], "gc.preemption.use=\"between-copies\""],
    ];
    for placement in by_class() {
        let placement = format!("gc.placement.use=\"{placement}\"");
        for device in devices {
            let sets = [&SLOTS[..], &[placement.as_str()], device].concat();
            let report = run_verified(TINY, &sets);
            assert_eq!(whole(&report, "placement.fallbacks"), 0, "{sets:?}");
        }
    }
}

/// One plane of slots or of small pages, with the same buffer. Two planes share the memory of
/// `sepbit`, which makes its runs differ by up to 3 % from seed to seed.
fn in_bytes(placement: &str, unit: &[&str]) -> f64 {
    let placement = format!("gc.placement.use=\"{placement}\"");
    let sets = [
        "gc.trigger.watermark.soft=\"9 blocks\"",
        "device.planes_per_die=1",
        "device.blocks_per_plane=200",
        "device.write_buffer.size=\"112 KiB\"",
        "workload.synthetic.address={hot_cold={f=0.2,r=0.8}}",
        "workload.synthetic.requests=400_000",
        "workload.synthetic.queue_depth=16",
        &placement,
    ];
    let report = run(TINY, &[&STEADY_WRITES, &sets[..], unit].concat());
    number(&report, "write_amplification_bytes")
}

/// Each class joins its own slots, and is a log of them, as of small pages. The rest of the
/// difference grows with the buffer: -0.1 to -0.3 % here, and -0.9 to -2.0 % with 1 MiB and 90 % of
/// the writes to a tenth of the pages. The class of a page that is rewritten while it waits for its
/// program is chosen again, and the placement has counted one write more.
#[test]
fn classes_of_slots_are_those_of_small_pages() {
    let joined = [
        "device.pages_per_block=64",
        "device.page_size=\"16 KiB\"",
        "device.mapping_unit=\"4 KiB\"",
    ];
    for placement in ["dac", "sepbit"] {
        let small = in_bytes(placement, &["device.pages_per_block=256"]);
        assert!(small > 1.3, "{placement} collects: {small}");
        assert_near(placement, in_bytes(placement, &joined), small, 0.005);
    }
}

/// The report without the pages of classes.
fn without_classes(mut report: Value) -> Value {
    let map = report.as_object_mut().expect("a map");
    for key in ["placement", "config", "config_hash", "result_hash", "memory", "notes"] {
        map.remove(key);
    }
    report
}

/// One class is one frontier. In superblocks pages are trimmed after their flush has got its
/// program, and others take their places.
#[test]
fn one_class_is_one_frontier() {
    let devices: [&[&str]; 5] = [
        &["gc.copy.use=\"bus\""],
        &UNPROTECTED,
        &STRIPES,
        &["device.superblock=\"channel\"", "device.unit=\"plane\"", STRIPES[1]],
        &[
            "workload.synthetic.trim_share=0.3",
            "workload.synthetic.queue_depth=64",
            STRIPES[0],
            STRIPES[1],
        ],
    ];
    for device in devices {
        let of = |placement: &[&str]| {
            let sets = [&SLOTS[..], device, placement].concat();
            without_classes(run_verified(TINY, &sets))
        };
        let one = of(&["gc.placement.use=\"one-frontier\""]);
        for word in by_class().filter(|word| !["midas", "fdp", "oldest-apart"].contains(word)) {
            let (used, classes) =
                (format!("gc.placement.use=\"{word}\""), format!("gc.placement.{word}.classes=1"));
            let found = of(&[&used, &classes]);
            for key in ["pages", "gc", "slots", "wear", "latency_ns", "erases"] {
                assert_eq!(one.get(key), found.get(key), "{word} {device:?} {key}");
            }
        }
    }
}

/// Writes that are forced take programs of their class, padded, and everything is counted.
#[test]
fn forced_writes_pad_programs_of_their_class() {
    let job = |keys: &str| {
        let after = TINY.find("[precondition]").expect("preconditioning");
        let job = format!("[[workload.jobs.job]]\nfile = \"drive\"\nsize = \"4 KiB\"\n{keys}\n");
        format!("{TINY_DRIVE}{job}{}", &TINY[after..])
    };
    let device: Vec<&str> = SLOTS.into_iter().filter(|set| !set.contains("workload")).collect();
    for placement in ["dac", "sepbit", "fdp"] {
        let placement = format!("gc.placement.use=\"{placement}\"");
        let of = |keys: &str| {
            run_verified(&job(keys), &[&device, &UNPROTECTED[..], &[placement.as_str()]].concat())
        };
        let forced = of("requests = 3_000\nfua_share = 1.0");
        // A program of four slots for each write.
        let host = number(&forced, "pages.host_written");
        assert_eq!(number(&forced, "pages.flushed"), host, "{placement}");
        let padded = number(&forced, "slots.padded");
        assert!(padded >= 3.0 * host && padded < 3.5 * host, "{padded} of {host}");
        let some = of("requests = 3_000\ndepth = 8\nflush_after = 7\nfua_share = 0.1");
        let padded = number(&some, "slots.padded") / number(&some, "pages.host_written");
        assert!(padded > 0.2 && padded < 3.0, "{placement} {padded}");
    }
}

/// Presets of today run with classes, by planes and in superblocks over the drive.
#[test]
fn presets_of_today_run_with_classes() {
    for preset in ["enterprise-tlc", "nvmevirt-970-pro"] {
        // The other one has allocation when idle.
        let stripes = if preset == "nvmevirt-970-pro" { &STRIPES[..] } else { &[] };
        let text = format!(
            "seed = 1\n[device]\npreset = \"{preset}\"\nblocks_per_plane = 32\nchannels = 2\n\
             chips_per_channel = 1\ndies_per_chip = 1\nexported = 0.3\n[gc]\nscheme = \"greedy\"\n\
             trigger.watermark.soft = \"9 blocks\"\n[workload.synthetic]\nrequests = 20_000\n\
             read_share = 0.2\nqueue_depth = 16\nsize = \"16 KiB\"\naddress.zipf = 1.0\n\
             [precondition]\noverwrite = 0.5\n"
        );
        for placement in ["sepbit", "dac", "fdp"] {
            let placement = format!("gc.placement.use=\"{placement}\"");
            for superblock in [&[][..], stripes] {
                let report = run_verified(&text, &[&[placement.as_str()], superblock].concat());
                assert!(at(&report, "placement.classes").as_array().is_some_and(|it| it.len() > 2));
            }
        }
    }
}

/// A class that waits for its program must not keep the others from theirs.
#[test]
fn a_buffer_has_a_program_for_each_class_and_one_more() {
    let small = ["gc.placement.use=\"dac\"", "device.write_buffer.size=\"64 KiB\""];
    let text = refusal(TINY, &[&SLOTS[..], &small].concat());
    assert!(text.contains("at least 7 flash pages (28 mapped pages)"), "{text}");
    let least = ["gc.placement.use=\"dac\"", "device.write_buffer.size=\"112 KiB\""];
    let report = run_verified(TINY, &[&SLOTS[..], &least].concat());
    assert!(whole(&report, "gc.count") > 0);
}
