//! The interface for C: its results, its errors, any calls in any order, and its examples as a user
//! builds them.

mod any_calls;
mod examples;
mod results;
mod wrong_use;

use flashgc_c::*;
use std::ffi::{CStr, CString, c_char};
use std::ptr::null;

/// Options with a device and settings, and what their texts live in.
pub struct Given {
    options: flashgc_options,
    _texts: Vec<CString>,
    _sets: Vec<*const c_char>,
}

impl Given {
    /// A small drive, with a scheme and settings.
    pub fn new(scheme: &str, sets: &[&str]) -> Given {
        let sets = ["device.blocks_per_plane=64", "precondition.overwrite=1"].iter().chain(sets);
        let mut texts: Vec<CString> = sets.map(|set| CString::new(*set).expect("text")).collect();
        let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let more = ["slc-msr", scheme].map(|text| CString::new(text).expect("text"));
        let [device, scheme] = [more[0].as_ptr(), more[1].as_ptr()];
        texts.extend(more);
        let options = flashgc_options {
            size: size_of::<flashgc_options>(),
            config: null(),
            name: null(),
            device,
            scheme,
            sets: pointers.as_ptr(),
            set_count: pointers.len(),
            drive: null(),
            depth: 0,
            parts: 1,
            verify: 0,
        };
        Given { options, _texts: texts, _sets: pointers }
    }

    /// The same with the most requests at a time.
    #[must_use]
    pub fn depth(mut self, depth: u32) -> Given {
        self.options.depth = depth;
        self
    }

    /// The status of opening one with the drive in a file.
    pub fn open_drive(&self, name: &CStr) -> flashgc_status {
        let options = flashgc_options { drive: name.as_ptr(), ..self.options };
        let mut component = flashgc_component { id: 0 };
        // SAFETY: the options and their texts live, and the handle can be written.
        unsafe { flashgc_open(&raw const options, &raw mut component) }
    }

    /// The status of opening one with these settings.
    pub fn open_settings(&self, sets: &[*const c_char]) -> flashgc_status {
        let (sets, set_count) = (sets.as_ptr(), sets.len());
        let options = flashgc_options { sets, set_count, ..self.options };
        let mut component = flashgc_component { id: 0 };
        // SAFETY: the options and their texts live, and the handle can be written.
        unsafe { flashgc_open(&raw const options, &raw mut component) }
    }

    /// Opens a component.
    pub fn open(&self) -> flashgc_component {
        let mut component = flashgc_component { id: 0 };
        // SAFETY: the options and their texts live, and the handle can be written.
        let status = unsafe { flashgc_open(&raw const self.options, &raw mut component) };
        assert_eq!(status, flashgc_status::FLASHGC_OK, "{}", error());
        component
    }
}

/// The error of the last function that failed.
pub fn error() -> String {
    // SAFETY: it is a C string, and no other function fails meanwhile.
    unsafe { CStr::from_ptr(flashgc_error()) }.to_str().expect("UTF-8").to_string()
}

/// A text of the last report.
pub fn text(component: flashgc_component, key: &str) -> String {
    let key = CString::new(key).expect("text");
    let mut found = null();
    // SAFETY: the key is a C string, and the pointer can be written.
    let status = unsafe { flashgc_text(component, key.as_ptr(), &raw mut found) };
    assert_eq!(status, flashgc_status::FLASHGC_OK, "{}", error());
    // SAFETY: the text lives until the next one is asked for.
    unsafe { CStr::from_ptr(found) }.to_str().expect("UTF-8").to_string()
}

/// Random numbers: SplitMix64.
pub struct Random(pub u64);

impl Random {
    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below this.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.any() % bound
    }
}
