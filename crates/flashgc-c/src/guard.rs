//! The step between C and Rust: no panic crosses it, and errors are kept for [`flashgc_error`].

use crate::types::{Failed, flashgc_status};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// A text for C: without zeros inside.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

fn keep(text: &str) {
    ERROR.with(|error| *error.borrow_mut() = c_text(text));
}

/// The error of the last function that failed in this thread.
pub(crate) fn last_error() -> *const c_char {
    ERROR.with(|error| error.borrow().as_ptr())
}

/// Does the work of a function.
pub(crate) fn guarded(act: impl FnOnce() -> Result<flashgc_status, Failed>) -> flashgc_status {
    let failed = match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(status)) => return status,
        Ok(Err(failed)) => failed,
        Err(panic) => fault(panic.as_ref()),
    };
    keep(&failed.text);
    failed.status
}

/// A fault of the engine, in words.
pub(crate) fn fault(panic: &(dyn std::any::Any + Send)) -> Failed {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
    Failed::new(
        flashgc_status::FLASHGC_FAILED,
        format!("error: flashgc itself has failed: {text}\n  = help: please report it"),
    )
}

/// A text of the caller; none where the pointer is null.
///
/// # Safety
/// The pointer is null or a C string that lives until this returns.
pub(crate) unsafe fn text_of(text: *const c_char, what: &str) -> Result<Option<String>, Failed> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: as promised.
    let text = unsafe { CStr::from_ptr(text) };
    let text = text.to_str().map_err(|_| {
        let text = format!("error: `{what}` is not UTF-8");
        Failed::new(flashgc_status::FLASHGC_BAD_ARGUMENT, text)
    })?;
    Ok(Some(text.to_string()))
}

/// The place for a result.
///
/// # Safety
/// The pointer is null or can be written.
pub(crate) unsafe fn place<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Failed> {
    // SAFETY: as promised.
    unsafe { pointer.as_mut() }.ok_or_else(|| is_null(what))
}

pub(crate) fn is_null(what: &str) -> Failed {
    Failed::new(flashgc_status::FLASHGC_BAD_ARGUMENT, format!("error: `{what}` is null"))
}
