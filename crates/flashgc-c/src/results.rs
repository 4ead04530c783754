//! The functions: values of a report.

use crate::calls::with_open;
use crate::guard::{c_text, guarded, is_null, place, text_of};
use crate::types::{Failed, flashgc_component, flashgc_status};
use flashgc::component::Part;
use flashgc::report::Report;
use serde_json::Value;
use std::ffi::{CStr, CString, c_char};
use std::ptr::null;

/// The last report of a component.
#[derive(Default)]
pub(crate) struct Results {
    json: CString,
    report: Option<Value>,
    /// The text that was asked for last.
    text: CString,
}

impl Results {
    /// Keeps a report. Returns it as JSON.
    pub(crate) fn keep(&mut self, report: &Report) -> *const c_char {
        self.json = c_text(&report.to_text());
        self.report = Some(report.to_json());
        self.json.as_ptr()
    }

    /// The value at a key such as `latency_ns.read.p99`.
    fn value(&self, key: &str) -> Result<&Value, Failed> {
        let none = |text: String| Failed::new(flashgc_status::FLASHGC_BAD_ARGUMENT, text);
        let report = self.report.as_ref().ok_or_else(|| {
            none(
                "error: there is no report yet\n  = help: call flashgc_statistics or \
                 flashgc_finish first"
                    .into(),
            )
        })?;
        report.pointer(&format!("/{}", key.replace('.', "/"))).ok_or_else(|| {
            none(format!(
                "error: the report has no `{key}`\n  = help: docs/definitions.md lists the keys"
            ))
        })
    }
}

fn is_other(key: &str, value: &Value, what: &str) -> Failed {
    let is = if value.is_null() {
        "undefined (null): nothing was measured, as with the latency of reads without a read".into()
    } else {
        format!("no {what}")
    };
    let text = format!("error: `{key}` of the report is {is}");
    Failed::new(flashgc_status::FLASHGC_BAD_ARGUMENT, text)
}

/// # Safety
/// The key is null or a C string.
unsafe fn key_of(key: *const c_char) -> Result<String, Failed> {
    // SAFETY: as promised.
    unsafe { text_of(key, "key") }?.ok_or_else(|| is_null("key"))
}

/// A number of the last report of a component, by its key, such as "latency_ns.read.p99". One that
/// is null in the report is FLASHGC_BAD_ARGUMENT, such as this one where nothing was read.
///
/// # Safety
/// `key` is a C string, and `value` can be written; null for either is FLASHGC_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_number(
    component: flashgc_component,
    key: *const c_char,
    value: *mut f64,
) -> flashgc_status {
    guarded(|| {
        // SAFETY: as promised.
        let (key, into) = unsafe { (key_of(key)?, place(value, "value")?) };
        with_open(component, |open| {
            let value = open.results.value(&key)?;
            *into = value.as_f64().ok_or_else(|| is_other(&key, value, "number"))?;
            Ok(flashgc_status::FLASHGC_OK)
        })
    })
}

/// A text of the last report of a component, by its key, such as "result_hash". It lives until the
/// next text of this component is asked for, or until it is closed.
///
/// # Safety
/// As flashgc_number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_text(
    component: flashgc_component,
    key: *const c_char,
    text: *mut *const c_char,
) -> flashgc_status {
    guarded(|| {
        // SAFETY: as promised.
        let (key, into) = unsafe { (key_of(key)?, place(text, "text")?) };
        with_open(component, |open| {
            let value = open.results.value(&key)?;
            let found = value.as_str().ok_or_else(|| is_other(&key, value, "text"))?;
            open.results.text = c_text(found);
            *into = open.results.text.as_ptr();
            Ok(flashgc_status::FLASHGC_OK)
        })
    })
}

/// The name of a part of a latency, from 0 to FLASHGC_PARTS - 1, such as "service_ns"; null for any
/// other number. It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_part_name(part: u32) -> *const c_char {
    const NAMES: [&CStr; 9] = [
        c"service_ns",
        c"host_ns",
        c"copies_ns",
        c"erase_ns",
        c"bus_ns",
        c"switch_ns",
        c"blocked_ns",
        c"space_ns",
        c"buffer_ns",
    ];
    debug_assert!(
        Part::ALL
            .iter()
            .zip(NAMES)
            .all(|(part, name)| { name.to_bytes() == part.key().as_bytes() })
    );
    NAMES.get(part as usize).map_or(null(), |name| name.as_ptr())
}
