//! Faults between the engine and the data reach the client.

use crate::common::{Choices, agree, opening};
use crate::stores::{drive_in, file};
use flashgc::ids::Ppn;
use flashgc::verify::{Cause, Happened, Listener};
use flashgc_block::{Drive, DriveError};

/// The first wrong answer to random requests on a drive whose reports pass through `fault`.
fn found(
    sets: &[&str],
    mut fault: impl FnMut(Happened) -> Option<Happened> + Send + 'static,
) -> Result<(), String> {
    let through = |mut listener: Listener| -> Listener {
        Box::new(move |now_ns, happened| {
            if let Some(happened) = fault(happened) {
                listener(now_ns, happened);
            }
        })
    };
    let opening = opening(sets);
    let drive = Drive::open_through(opening, |_| true, through).expect("the drive opens");
    agree(&drive, 5, 4_000)
}

#[test]
fn without_a_fault_all_is_well() {
    found(&[], Some).expect("the same");
}

#[test]
fn a_copy_that_takes_the_wrong_page_is_found() {
    for sets in [&[][..], &["gc.scheme=\"pgc\""], &["gc.scheme=\"pregc\""]] {
        let mut copies = 0;
        let found = found(sets, move |happened| match happened {
            Happened::Programmed { ppn, lpn, cause: Cause::Copy { from }, current } => {
                copies += 1;
                // One of fifty copies has the neighbouring page as its source.
                let from = if copies % 50 == 0 { Ppn(from.0 ^ 1) } else { from };
                Some(Happened::Programmed { ppn, lpn, cause: Cause::Copy { from }, current })
            }
            other => Some(other),
        });
        let why = found.expect_err("wrong data");
        assert!(why.contains("byte "), "{why}");
    }
}

#[test]
fn a_read_of_the_wrong_page_is_found() {
    let mut reads = 0;
    let found = found(&[], move |happened| match happened {
        Happened::Read { ppn, lpn } => {
            reads += 1;
            let ppn = if reads % 200 == 0 { Ppn(ppn.0 ^ 1) } else { ppn };
            Some(Happened::Read { ppn, lpn })
        }
        other => Some(other),
    });
    assert!(found.expect_err("wrong data").contains("byte "));
}

#[test]
fn a_program_without_an_erase_is_found() {
    let mut erases = 0;
    let found = found(&[], move |happened| match happened {
        Happened::Erased { .. } => {
            erases += 1;
            (erases != 20).then_some(happened)
        }
        other => Some(other),
    });
    let why = found.expect_err("an error");
    assert!(why.contains("is programmed without an erase"), "{why}");
}

/// Pages whose errors cannot be corrected are errors for who reads them, until they are written
/// again, and harm no other page.
#[test]
fn a_page_that_cannot_be_corrected_is_an_error_and_harms_nothing_else() {
    let errors = "device.read_retry={cycles=3000,retention_days=365,retries=1,soft_gain=1.1}";
    let devices: &[&[&str]] = &[
        &["gc.copy.use=\"bus\""],
        &[],
        &["device.write_buffer.size=\"64 KiB\""],
        &[
            "device.mapping_unit=\"1 KiB\"",
            "device.allocation=\"dynamic\"",
            "device.sub_blocks=1",
            "device.registers=1",
            "gc.copy.use=\"bus\"",
        ],
    ];
    for device in devices {
        let drive = crate::common::drive(&[&[errors], *device].concat());
        let (page, mut choices) = (drive.page_bytes(), Choices::new(17));
        let pages = drive.bytes() / page;
        let mut due = vec![0_u8; pages as usize];
        let (mut lost, mut read, mut lost_new) = (0, 0, 0);
        for at in 0..6_000 {
            let lpn = choices.below(pages);
            if at % 3 > 0 {
                due[lpn as usize] = 1 + choices.below(255) as u8;
                let data = vec![due[lpn as usize]; page as usize];
                drive.write(&data, lpn * page, false).expect("a write is no read");
                continue;
            }
            let mut found = vec![0xEE; page as usize];
            read += 1;
            match drive.read(&mut found, lpn * page) {
                Ok(()) => {
                    assert!(found.iter().all(|&byte| byte == due[lpn as usize]), "page {lpn}")
                }
                Err(DriveError::Io(error)) => {
                    assert_eq!(flashgc_block::errno_of(&error), libc::EIO);
                    lost += 1;
                    lost_new += u32::from(due[lpn as usize] > 0);
                    drive.read(&mut found, lpn * page).expect_err("it stays lost");
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert!(
            lost_new > 0 && lost > read / 100 && lost < read / 2,
            "{lost} of {read}, {device:?}"
        );
        let report = drive.end().expect("a report").to_json();
        let count = report["read_retry"]["host"]["uncorrectable"].as_u64();
        assert!(count >= Some(lost_new.into()), "{report}");
    }
}

/// Page 2 of block 0 is bad: a read of its data is an error, and its next data, in another page, is
/// readable.
#[test]
fn one_given_page_is_an_error_until_it_is_written_again() {
    let set = "device.read_retry={cycles=0,retention_days=0,spread=0,ecc_bits=4096,\
               uncorrectable=[{block=0,page=2}]}";
    let drive = crate::common::drive(&[set]);
    let page = drive.page_bytes();
    let mut found = vec![0; page as usize];
    let pages = drive.bytes() / page;
    let lost: Vec<u64> =
        (0..pages).filter(|lpn| drive.read(&mut found, lpn * page).is_err()).collect();
    assert_eq!(lost.len(), 1, "the drive is full, so that the page holds data");
    drive.write(&vec![7; page as usize], lost[0] * page, false).expect("a write");
    drive.read(&mut found, lost[0] * page).expect("it is in another page now");
    assert!(found.iter().all(|&byte| byte == 7));
    drive.end().expect("a report");
}

/// Blocks are retired under the data of clients, until none is spare: writes and trims are errors
/// from then on, and every page reads as it was written last, after a restart too.
#[test]
fn a_drive_with_bad_blocks_keeps_its_data_and_becomes_read_only() {
    let devices: &[&[&str]] = &[
        &["device.failures={erase=2e-2}"],
        &["device.failures={program=2e-3}"],
        &["device.failures={program=1e-3,erase=1e-2}", "device.allocation=\"dynamic\""],
        &["device.failures={program=1e-3,erase=1e-2}", "gc.copy.use=\"bus\""],
        &["device.failures={program=1e-3}", "device.write_buffer.size=\"64 KiB\""],
    ];
    for device in devices {
        let file = file();
        let drive = drive_in(&file, device);
        let (page, mut choices) = (drive.page_bytes(), Choices::new(17));
        let pages = drive.bytes() / page;
        let mut due = vec![0_u8; pages as usize];
        let agrees = |drive: &Drive, lpn: u64, due: &[u8]| {
            let mut found = vec![0xEE; page as usize];
            drive.read(&mut found, lpn * page).expect("a read");
            assert!(found.iter().all(|&byte| byte == due[lpn as usize]), "page {lpn}, {device:?}");
        };
        let mut writes = 0;
        loop {
            assert!(writes < 1_000_000, "it lasts for ever: {device:?}");
            let (lpn, byte) = (choices.below(pages), choices.below(256) as u8);
            match drive.write(&vec![byte; page as usize], lpn * page, false) {
                Ok(()) => due[lpn as usize] = byte,
                Err(DriveError::ReadOnly) => break,
                Err(error) => panic!("{error}, {device:?}"),
            }
            writes += 1;
            agrees(&drive, choices.below(pages), &due);
        }
        assert!(writes > pages, "{writes} writes of {pages} pages, {device:?}");
        let is_refused = |found: Result<(), DriveError>| matches!(found, Err(DriveError::ReadOnly));
        assert!(is_refused(drive.trim(page, 0)) && is_refused(drive.zero(page, 0, false, true)));
        drive.flush().expect("a flush");
        (0..pages).for_each(|lpn| agrees(&drive, lpn, &due));
        let report = drive.end().expect("a report").to_json();
        assert_eq!(report["failures"]["read_only"], true, "{report}");
        assert!(report["failures"]["retired_blocks"].as_u64() > Some(0), "{report}");
        assert!(report["notes"].to_string().contains("later writes were refused"), "{report}");
        // Stopped before, and then cut off.
        for was_stopped in [true, false] {
            let resumed = drive_in(&file, device);
            assert_eq!(resumed.found().map(|found| found.was_stopped), Some(was_stopped));
            (0..pages).for_each(|lpn| agrees(&resumed, lpn, &due));
            assert!(is_refused(resumed.write(&vec![1; page as usize], 0, false)), "{device:?}");
        }
    }
}

/// A plane has too few erased blocks for a failure while blocks are spare: nothing in flash marks
/// the drive as read-only then. It opens with fewer erased blocks than its scheme reserves.
#[test]
fn a_drive_that_is_read_only_before_its_last_spare_block_stays_so() {
    let device = &["device.failures={program=1e-3,erase=3e-1}", "device.allocation=\"dynamic\""];
    for (seed, is_stopped) in (0..16).map(|turn| (turn / 2, turn % 2 > 0)) {
        let file = file();
        let drive = drive_in(&file, device);
        let (page, mut choices) = (drive.page_bytes(), Choices::new(seed));
        let pages = drive.bytes() / page;
        let mut due = vec![0; pages as usize];
        loop {
            let (lpn, byte) = (choices.below(pages), choices.below(256) as u8);
            match drive.write(&vec![byte; page as usize], lpn * page, false) {
                Ok(()) => due[lpn as usize] = byte,
                Err(error) => break assert!(matches!(error, DriveError::ReadOnly), "{error}"),
            }
        }
        if is_stopped {
            let report = drive.end().expect("a report").to_json();
            assert_eq!(report["failures"]["read_only"], true, "{report}");
            assert!(report["failures"]["spare_blocks"].as_u64() > Some(0), "{report}");
        } else {
            drop(drive);
        }
        for _ in 0..2 {
            let resumed = drive_in(&file, device);
            let found = resumed.found().expect("a drive");
            assert!(found.is_read_only && found.to_string().ends_with("the drive is read-only"));
            let refused = resumed.write(&vec![1; page as usize], 0, false);
            assert!(matches!(refused, Err(DriveError::ReadOnly)));
            let mut found = vec![0; due.len() * page as usize];
            resumed.read(&mut found, 0).expect("the whole drive");
            let is_due = |(lpn, data): (usize, &[u8])| data.iter().all(|&byte| byte == due[lpn]);
            assert!(found.chunks(page as usize).enumerate().all(is_due), "seed {seed}");
            resumed.end().expect("a report");
        }
    }
}
