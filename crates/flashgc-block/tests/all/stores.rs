//! The storage of the data: equal in a file and in memory, and the effect of a full disk.

use crate::common::{agree, drive, opening, opening_of, setup_or_none};
use flashgc_block::{Backing, Drive, DriveError, Opening};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{FileExt, MetadataExt};

/// A file without a name, in memory.
pub fn file() -> File {
    // SAFETY: the name is a C string, and the returned descriptor has no other owner.
    unsafe {
        let flags = libc::MFD_ALLOW_SEALING;
        let descriptor = libc::memfd_create(c"pages".as_ptr(), flags);
        assert!(descriptor >= 0, "a file in memory");
        File::from_raw_fd(descriptor)
    }
}

pub fn drive_in(file: &File, sets: &[&str]) -> Drive {
    let file = Box::new(file.try_clone().expect("the same file"));
    let backing = Backing::Store { file, name: "drive.data".into() };
    Drive::open(Opening { backing, ..opening(sets) }, |_| true).expect("the drive opens")
}

#[test]
fn a_file_holds_what_memory_holds() {
    for sets in [&[][..], &["gc.scheme=\"fpgc\""], &["device.write_buffer.size=\"64 KiB\""]] {
        let file = file();
        let in_file = drive_in(&file, sets);
        agree(&in_file, 3, 3_000).expect("the same");
        let in_memory = drive(sets);
        agree(&in_memory, 3, 3_000).expect("the same");
        let hashes = [in_file, in_memory]
            .map(|drive| drive.end().expect("a report").result_hash().to_string());
        assert_eq!(hashes[0], hashes[1], "{sets:?}");
    }
}

/// A store of a later version is refused.
#[test]
fn a_store_says_its_version() {
    let file = file();
    drive_in(&file, &[]).end().expect("a report");
    let mut version = [0; 4];
    for at in [8, (64 << 10) + 8] {
        file.read_exact_at(&mut version, at).expect("a version");
        assert_eq!(version, 3_u32.to_le_bytes());
        file.write_all_at(&5_u32.to_le_bytes(), at).expect("a later version");
    }
    let backing = Backing::Store { file: Box::new(file), name: "drive.data".into() };
    let refused = Drive::open(Opening { backing, ..opening(&[]) }, |_| true);
    let why = refused.err().expect("a refusal").to_string();
    assert!(why.contains("of version 5") && why.contains("1 to 4"), "{why}");
    assert!(why.contains("= help: name another file"), "{why}");
}

/// Both copies of a record are damaged: after a kill its program was cut, and after a stop the
/// store is refused, since an older version of the page must not come back.
#[test]
fn a_record_that_is_damaged_in_both_copies_is_a_cut_program_or_refused() {
    let file = file();
    drive_in(&file, &[]).end().expect("a report");
    let opens = || {
        let backing = Backing::Store {
            file: Box::new(file.try_clone().expect("the same file")),
            name: "drive.data".into(),
        };
        Drive::open(Opening { backing, ..opening(&[]) }, |_| true)
    };
    let drive = opens().expect("it opens");
    drive.write(&[7; 4096], 0, true).expect("a write");
    drop(drive);
    // The records lie between the wear of 320 blocks and the trims; none is written but this one.
    let records = 3 * (64 << 10);
    let mut bytes = vec![0; 320 * 8 * 64];
    file.read_exact_at(&mut bytes, records).expect("records");
    let used = bytes.iter().position(|&byte| byte != 0).expect("a record") / 64 * 64;
    for at in [used + 9, used + 41] {
        file.write_all_at(&[bytes[at] ^ 1], records + at as u64).expect("damage");
    }
    let drive = opens().expect("it opens");
    let found = drive.found().expect("a drive that goes on").to_string();
    assert!(found.contains("cut off before") && found.contains("1 program was cut"), "{found}");
    drive.write(&[8; 4096], 0, true).expect("a write");
    drive.end().expect("a report");
    let drive = opens().expect("what was cut is known");
    assert!(drive.found().expect("a drive").to_string().starts_with("stopped before; 1 page has"));
    drive.end().expect("a report");
    file.read_exact_at(&mut bytes, records).expect("records");
    let whole = |at: &usize| bytes[*at..*at + 4] == [0; 4] && bytes[*at + 4..*at + 8] != [0; 4];
    let used = (0..bytes.len()).step_by(64).find(whole).expect("the record of page 0");
    for at in [used + 9, used + 41] {
        file.write_all_at(&[bytes[at] ^ 1], records + at as u64).expect("damage");
    }
    let why = opens().err().expect("a refusal").to_string();
    let place = format!("(bytes {} to {})", records + used as u64, records + used as u64 + 64);
    assert!(why.contains("the record of page") && why.contains(&place), "{why}");
    assert!(why.contains("= help: restore the file from a copy"), "{why}");
}

/// Erased blocks are holes of the file.
#[test]
fn a_file_is_sparse() {
    let file = file();
    let drive = drive_in(&file, &[]);
    let length = file.metadata().expect("a length").len();
    assert!(length > drive.bytes());
    let of_records = file.metadata().expect("blocks").blocks() * 512;
    assert!(of_records < length / 40, "{of_records} of {length}, and nothing was written");
    let page = vec![7; drive.page_bytes() as usize];
    for round in 0..60 {
        for at in 0..40 {
            drive.write(&page, at * drive.page_bytes(), false).expect("a write");
        }
        let used = file.metadata().expect("blocks").blocks() * 512;
        assert!(used < length, "round {round}: {used} of {length}");
    }
    let report = drive.end().expect("a report").to_json();
    assert!(report["wear"]["erases"].as_u64().is_none_or(|erases| erases > 0), "{report}");
}

/// From some point on the file takes nothing: writes fail, and no other data is lost.
#[test]
fn a_full_disk_fails_writes_and_loses_nothing_else() {
    let file = file();
    let drive = drive_in(&file, &[]);
    let bytes = drive.page_bytes();
    let pages = drive.bytes() / bytes;
    let content = |page: u64| vec![page as u8 | 1; bytes as usize];
    for page in 0..pages {
        drive.write(&content(page), page * bytes, false).expect("a write");
    }
    // SAFETY: the descriptor is open, and no memory is passed.
    let sealed = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_WRITE) };
    assert_eq!(sealed, 0, "the file takes nothing from now on");
    let fails = |error: DriveError| matches!(error, DriveError::Io(_));
    for _ in 0..5 {
        assert!(fails(drive.write(&content(8), 3 * bytes, false).expect_err("a full disk")));
    }
    for page in (0..pages).filter(|&page| page != 3) {
        let mut found = vec![0; bytes as usize];
        drive.read(&mut found, page * bytes).expect("a read");
        assert!(found == content(page), "page {page}");
    }
    assert!(fails(drive.trim(bytes, 3 * bytes).expect_err("the drive is read-only")));
    assert!(fails(drive.flush().expect_err("the drive is read-only")));
    let report = drive.end().expect("a report").to_json();
    let due = "the drive is read-only, since its store cannot be written: Operation not permitted: \
               drive.data;";
    assert!(report["notes"].to_string().contains(due), "{report}");
}

#[test]
fn what_a_client_may_not_ask_is_an_error_and_changes_nothing() {
    let drive = drive(&[]);
    let (end, mut page) = (drive.bytes(), [1; 4096]);
    let is_beyond = |error: Option<DriveError>| matches!(error, Some(DriveError::Beyond));
    assert!(is_beyond(drive.read(&mut page, end - 4095).err()));
    assert!(is_beyond(drive.read(&mut page, u64::MAX - 5).err()));
    assert!(is_beyond(drive.write(&page, end, false).err()));
    assert!(is_beyond(drive.trim(u64::MAX, 1).err()));
    assert!(is_beyond(drive.zero(1, end, false, true).err()));
    drive.write(&[], end, true).expect("nothing");
    drive.read(&mut [], 0).expect("nothing");
    let mut all = vec![1; end as usize];
    drive.read(&mut all, 0).expect("the whole drive in one request");
    assert!(all.iter().all(|&byte| byte == 0));
    drive.write(&vec![5; end as usize], 0, false).expect("the whole drive in one request");
    drive.trim(end, 0).expect("the whole drive in one request");
    drive.read(&mut all, 0).expect("the whole drive in one request");
    assert!(all.iter().all(|&byte| byte == 0));
}

/// Settings that need the requests in advance are refused, with a remedy.
#[test]
fn a_configuration_that_needs_its_requests_in_advance_is_refused() {
    let refusal = |sets: &[&str]| {
        let setup = setup_or_none(sets).expect("a configuration");
        let opening = Opening { verify: false, ..opening_of(setup) };
        Drive::open(opening, |_| true).err().expect("a refusal").to_string()
    };
    let cases: &[(&[&str], &str)] = &[
        (&["precondition.overwrite=1.0"], "precondition.overwrite_with = \"uniform\""),
        (&["precondition.fill=\"trace\""], "precondition.fill = \"sequential\""),
        (&["workload.trace.queue_depth=8"], "workload.trace.queue_depth"),
        (&["workload.trace.time_scale=2.0"], "workload.trace.time_scale"),
        (&["engine.timing=\"none\""], "engine.timing"),
        (&["workload.until=\"steady\""], "workload.until"),
        (&["device.write_completion=\"loaded\""], "device.write_completion = \"programmed\""),
    ];
    for (sets, due) in cases {
        let why = refusal(sets);
        assert!(why.contains(due) && why.contains("= help: "), "{sets:?}: {why}");
    }
}
