//! Wrong use is an error with its own status and a text.

use crate::{Given, error};
use flashgc_c::flashgc_status::*;
use flashgc_c::*;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

fn is(status: flashgc_status, expected: flashgc_status, words: &str) {
    assert_eq!(status, expected, "{}", error());
    assert!(error().starts_with("error: ") && error().contains(words), "{words}: {}", error());
}

#[test]
fn wrong_use_has_a_status_and_a_message() {
    let given = Given::new("greedy", &[]).depth(1);
    let component = given.open();
    let none = flashgc_component { id: 0 };
    let (mut done, mut count, mut json, mut at_ns) = (null(), 0, null(), 0);
    // SAFETY: every pointer is null or that of a value that can be written.
    unsafe {
        is(flashgc_open(null(), null_mut()), FLASHGC_BAD_ARGUMENT, "is null");
        is(flashgc_get_info(none, null_mut()), FLASHGC_BAD_HANDLE, "names no component");
        is(flashgc_get_info(component, null_mut()), FLASHGC_BAD_ARGUMENT, "`info` is null");
        assert_eq!(flashgc_next_event(component, &raw mut at_ns), FLASHGC_NONE);
        let advanced = flashgc_advance_to_completion(component, 5, &raw mut done, &raw mut count);
        is(advanced, FLASHGC_NOTHING_UNDER_WAY, "no request is under way");
        assert_eq!(flashgc_advance(component, 10, &raw mut done, &raw mut count), FLASHGC_OK);
        let back = flashgc_advance(component, 9, &raw mut done, &raw mut count);
        is(back, FLASHGC_BEFORE_THE_PRESENT, "time runs backwards");
        let late = flashgc_advance(component, u64::MAX, &raw mut done, &raw mut count);
        is(late, FLASHGC_TOO_LATE, "latest instant");
        let restored = flashgc_restore(component, flashgc_snapshot { id: 77 });
        is(restored, FLASHGC_BAD_HANDLE, "names no snapshot");
    }
    is(flashgc_submit(component, 9, 0, 0, 512, 1), FLASHGC_BEFORE_THE_PRESENT, "a request at 9 ns");
    is(
        given.open_drive(c"/no/drive"),
        FLASHGC_CONFIGURATION,
        "/no/drive: there is no such file\n  = help: `flashgc drive save CONFIG FILE` makes one",
    );
    is(given.open_drive(c"/"), FLASHGC_CONFIGURATION, "error: / is a directory, not a file\n");
    is(
        given.open_settings(&[c"seed=1".as_ptr(), null()]),
        FLASHGC_BAD_ARGUMENT,
        "`options.sets[1]`",
    );
    is(given.open_drive(c""), FLASHGC_BAD_ARGUMENT, "the name in `options.drive` is empty");
    is(
        flashgc_submit(component, 10, 0, u64::MAX, 512, 1),
        FLASHGC_BEYOND_THE_END,
        "beyond the end",
    );
    is(flashgc_submit(component, 10, 1, 0, 0, 1), FLASHGC_NO_BYTES, "a write of 0 B");
    is(flashgc_submit(component, 10, 9, 0, 512, 1), FLASHGC_BAD_ARGUMENT, "the number 9");
    assert_eq!(flashgc_submit(component, 10, 1, 0, 512, 1), FLASHGC_OK);
    assert_eq!(flashgc_submit(component, 10, 1, 0, 512, 2), FLASHGC_FULL);
    // SAFETY: as above.
    unsafe {
        let key = CString::new("result_hash").expect("text");
        is(flashgc_text(component, key.as_ptr(), &raw mut json), FLASHGC_BAD_ARGUMENT, "no report");
        assert_eq!(flashgc_finish(component, &raw mut json), FLASHGC_OK);
        is(flashgc_number(component, key.as_ptr(), &mut 0.0), FLASHGC_BAD_ARGUMENT, "no number");
        let key = c"latency_ns.read.p99".as_ptr();
        is(
            flashgc_number(component, key, &mut 0.0),
            FLASHGC_BAD_ARGUMENT,
            "p99` of the report is un",
        );
        is(flashgc_finish(component, &raw mut json), FLASHGC_FINISHED, "has been finished");
    }
    is(flashgc_submit(component, 99, 1, 0, 512, 3), FLASHGC_FINISHED, "has been finished");
    assert_eq!(flashgc_close(component), FLASHGC_OK);
    is(flashgc_close(component), FLASHGC_BAD_HANDLE, "it was closed, or never given");
    assert_ne!(given.open().id, component.id, "an old handle stays an old one");
    is(flashgc_submit(component, 99, 1, 0, 512, 3), FLASHGC_BAD_HANDLE, "it was closed");
}

#[test]
fn versions_and_names_are_there() {
    assert_eq!(flashgc_abi_version(), FLASHGC_ABI_VERSION);
    // SAFETY: both are C strings.
    let names =
        unsafe { [CStr::from_ptr(flashgc_version()), CStr::from_ptr(flashgc_part_name(2))] };
    assert_eq!(
        names,
        [
            CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes())
                .expect("text"),
            c"copies_ns"
        ]
    );
    assert!(flashgc_part_name(FLASHGC_PARTS as u32).is_null());
}
