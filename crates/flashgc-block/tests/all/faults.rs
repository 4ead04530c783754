//! Faults that are put between the engine and the data are seen by the client.

use crate::common::{agree, opening};
use flashgc::ids::Ppn;
use flashgc::verify::{Cause, Happened, Listener};
use flashgc_block::Drive;

/// What random requests find on a drive whose reports pass through `fault`.
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
                // One of fifty copies, and the page beside its own.
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
