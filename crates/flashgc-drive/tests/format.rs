//! Files of drives: a drive that is written and read is the same, and a damaged file is an error.

use flashgc::session::{Inputs, Options, Phase, SavedDrive, Session, Setup, prepare};
use flashgc_drive::{DriveError, Limits, decode, open, write};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

const CONFIGURATION: &str = r#"
[device]
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 40
pages_per_block = 32
page_size = "4 KiB"
exported = 0.6
unit = "die"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "0 ns/B"
[gc.trigger.watermark]
soft = "3 blocks"
[workload.synthetic]
requests = 300
queue_depth = 8
[precondition]
overwrite = 1.3
"#;

fn setup(sets: &[&str]) -> Setup {
    let sets = sets.iter().map(|set| (*set).to_string()).collect();
    let inputs = Inputs { text: CONFIGURATION.into(), sets, ..Inputs::default() };
    prepare(&inputs).unwrap_or_else(|errors| panic!("{errors}"))
}

fn made(sets: &[&str]) -> (SavedDrive, Limits) {
    let setup = setup(sets);
    let limits = Limits::of(&setup.plan.geometry);
    let mut session = Session::new(setup, None, Options::default());
    while session.advance().expect("it goes on").phase != Phase::Ready {}
    (session.into_drive().expect("it is preconditioned"), limits)
}

fn file(saved: &SavedDrive) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = write(&mut bytes, saved).expect("it is written");
    assert_eq!(written, bytes.len() as u64);
    bytes
}

/// Found by chance: byte 1872 of a frame, in which some bits are padding.
#[test]
fn a_change_of_padding_bits_changes_nothing() {
    let (bytes, limits) = sample();
    let mut changed = 0;
    for at in 1800..1900 {
        let mut other = bytes.clone();
        other[at] ^= 0x80;
        if let Ok(saved) = decode(&other, limits) {
            assert_eq!(file(&saved), *bytes);
            changed += 1;
        }
    }
    assert!(changed < 10, "checksums find nearly every change");
}

#[test]
fn what_is_read_is_what_was_written() {
    for sets in [
        &["gc.scheme=\"greedy\""][..],
        &["gc.copy.copyback.parity=true", "gc.placement.use=\"separate-gc\""],
        &["precondition.fill=\"none\"", "precondition.overwrite=0.0"],
        &["precondition.fill=\"aged\"", "precondition.aged_ratio=0.4"],
        &["precondition.overwrite=0.1", "gc.scheme=\"fifo\""],
        &HOTNESS,
    ] {
        let (saved, limits) = made(sets);
        let bytes = file(&saved);
        assert_eq!(decode(&bytes, &limits).expect("it is sound"), saved, "{sets:?}");
        let header = open(&bytes[..]).expect("it is sound").header;
        assert_eq!(header.key, saved.origin.key());
        assert_eq!(file(&saved), bytes, "the same drive gives the same bytes");
    }
}

/// A run on a drive that was read gives the report of a run on the preconditioned drive.
#[test]
fn a_run_on_a_drive_that_was_read_gives_the_same_report() {
    let sets = ["precondition.scheme=\"greedy\"", "device.blocks_per_plane=64"];
    let (saved, limits) = made(&sets);
    let read = decode(&file(&saved), &limits).expect("it is sound");
    let finish = |mut session: Session| {
        while session.advance().expect("it goes on").phase != Phase::Done {}
        session.report().result_hash().to_string()
    };
    let watched = Options { verify: true, ..Options::default() };
    let on_read = Session::with_drive(setup(&sets), None, read, "a.drive", watched);
    let plain = Session::new(setup(&sets), None, Options::default());
    assert_eq!(finish(on_read.expect("it fits")), finish(plain));
}

/// A scheme with state of its own in addition to the drive.
const HOTNESS: [&str; 5] = [
    "gc.scheme=\"speedup\"",
    "gc.placement.hotness-groups.groups=2",
    "gc.placement.hotness-groups.thresholds=[2, 8]",
    "device.sub_blocks=4",
    "device.exported=0.4",
];

/// Files of version 1 have the same tables, and nothing that a scheme keeps.
#[test]
fn files_of_the_first_version_are_read() {
    let (saved, limits) = made(&[]);
    let mut bytes = file(&saved);
    bytes[8] = 1;
    let header = u32::from_le_bytes(bytes[12..16].try_into().expect("four bytes")) as usize;
    let sum = Sha256::digest(&bytes[..16 + header]);
    bytes[16 + header..][..32].copy_from_slice(&sum);
    assert_eq!(decode(&bytes, &limits).expect("it is sound"), saved);
    let (saved, limits) = made(&HOTNESS);
    assert!(saved.state.kept.is_some());
    let bytes = file(&saved);
    assert_eq!(decode(&bytes, &limits).expect("it is sound"), saved);
}

#[test]
fn other_files_are_distinguished_from_drives() {
    let (saved, limits) = made(&[]);
    let text = |bytes: &[u8]| decode(bytes, &limits).expect_err("it is refused").to_string();
    let bytes = file(&saved);
    for other in [&b""[..], b"FGC", b"seed = 1\n", &bytes[1..]] {
        assert!(matches!(decode(other, &limits), Err(DriveError::NotADrive)));
    }
    let mut newer = bytes.clone();
    newer[8] = 4;
    assert!(text(&newer).contains("format version 4, but this flashgc reads version 3"));
    let mut long = bytes.clone();
    long.push(0);
    assert!(text(&long).contains("has data after its end"));
    let mut huge = bytes.clone();
    huge[12..16].fill(0xff);
    assert!(text(&huge).contains("header has an unknown layout"));
    let wider = Limits { blocks: limits.blocks + 8, ..limits };
    let error = decode(&bytes, &wider).expect_err("it is another device's").to_string();
    assert!(error.contains("table `order` has 320 entries, but the device needs 328"), "{error}");
}

/// The file that is damaged below.
fn sample() -> &'static (Vec<u8>, Limits) {
    static SAMPLE: OnceLock<(Vec<u8>, Limits)> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let (saved, limits) = made(&[]);
        (file(&saved), limits)
    })
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let (bytes, limits) = sample();
    for end in (0..bytes.len()).step_by(7) {
        assert!(decode(&bytes[..end], limits).is_err(), "cut at {end}");
    }
}

/// A file with this header in place of its own, and the checksum right.
fn with_header(bytes: &[u8], change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let length = u32::from_le_bytes(bytes[12..16].try_into().expect("four")) as usize;
    let mut header = serde_json::from_slice(&bytes[16..16 + length]).expect("JSON");
    change(&mut header);
    let header = serde_json::to_vec(&header).expect("JSON");
    let mut new = bytes[..12].to_vec();
    new.extend((header.len() as u32).to_le_bytes());
    new.extend(header);
    let sum = Sha256::digest(&new);
    new.extend(sum);
    new.extend(&bytes[16 + length + 32..]);
    new
}

#[test]
fn a_crafted_header_takes_no_memory() {
    let (bytes, limits) = sample();
    assert!(decode(&with_header(bytes, |_| {}), limits).is_ok());
    for (pointer, value) in [
        ("/sections/0/entries", u64::MAX),
        ("/sections/3/entries", 1 << 40),
        ("/sections/3/entries", 3),
        ("/sections/0/entry_bytes", 8),
        ("/sections/0/frames/0", u64::from(u32::MAX)),
        ("/sections/4/frames/0", 0),
        ("/sections/2/frames/0", 1),
        ("/key", 7),
        ("/age_ns", 1 << 63),
    ] {
        let crafted = with_header(bytes, |header| {
            *header.pointer_mut(pointer).expect("it is there") = value.into();
        });
        match decode(&crafted, limits) {
            Err(DriveError::Damaged { .. }) => {}
            // The engine checks the meaning of the numbers.
            Ok(saved) => {
                let on = Session::with_drive(setup(&[]), None, saved, "a", Options::default());
                let error = on.err().expect("it is refused").text;
                assert!(error.contains("its age of"), "{error}");
            }
            Err(other) => panic!("{pointer}: {other}"),
        }
    }
    for pointer in ["/origin/made_from/device", "/origin/made_from/seed", "/origin/made_from"] {
        let crafted = with_header(bytes, |header| {
            *header.pointer_mut(pointer).expect("it is there") = "?".into();
        });
        let error = decode(&crafted, limits).expect_err("it is refused").to_string();
        assert!(error.contains("does not name the run that made it"), "{error}");
    }
    let other = with_header(bytes, |header| {
        header["origin"]["made_from"]["seed"] = 3.into();
    });
    let error = decode(&other, limits).expect_err("it is refused").to_string();
    assert!(error.contains("its key does not match the run that made it"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Checksums are of the content. A few bits of a zstd frame have no meaning (such as the unused
    /// bits in the last byte of a table): a file with changes in these has the same content.
    #[test]
    fn a_file_that_is_changed_anywhere_is_refused_or_says_the_same(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let (bytes, limits) = sample();
        let mut changed = bytes.clone();
        for (at, value) in &edits {
            let at = at.index(changed.len());
            changed[at] = *value;
        }
        if changed != *bytes {
            let same = |saved: SavedDrive| file(&saved) == *bytes;
            prop_assert!(decode(&changed, limits).map_or(true, same));
        }
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let limits = sample().1;
        let mut drive = b"FGCDRIVE\x01\0\0\0".to_vec();
        drive.extend(&bytes);
        prop_assert!(decode(&bytes, &limits).is_err());
        prop_assert!(decode(&drive, &limits).is_err());
    }
}
