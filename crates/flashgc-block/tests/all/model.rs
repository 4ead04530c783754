//! Every preset on many devices, against an array of bytes.

use crate::common::{SLOTS, agree, opening_of, setup_or_none};
use flashgc::config::presets::scheme_names;
use flashgc_block::{Drive, Opening};
use std::collections::BTreeMap;

/// Settings of the devices. The last three have [`SLOTS`] as well.
const DEVICES: &[&[&str]] = &[
    &[],
    &["device.unit=\"die\"", "device.service=[\"gc\",\"reads\",\"writes\"]"],
    &["device.unit=\"chip\"", "device.allocation=\"dynamic\""],
    &["device.unit=\"die\"", "device.multi_plane=2", "device.allocation=\"dynamic\""],
    &["device.write_buffer.size=\"64 KiB\"", "device.host_link.transfer=\"1 ns/B\""],
    &["gc.copy.use=\"bus\"", "device.timing.layer_ratio=2.5"],
    &["device.allocation=\"when-idle\""],
    &["device.unit=\"die\"", "device.summary={pages=1,copies=\"timed\"}"],
    &[],
    &["device.write_buffer.size=\"256 KiB\""],
    &["device.write_buffer={size=\"256 KiB\",power_loss_protection=false}"],
];

fn is_long() -> bool {
    std::env::var_os("FLASHGC_LONG").is_some()
}

#[test]
fn every_preset_returns_what_was_written_last() {
    let requests = if is_long() { 20_000 } else { 1_000 };
    let mut collections: BTreeMap<&str, u64> = BTreeMap::new();
    let mut on_device = vec![0; DEVICES.len()];
    for scheme in scheme_names() {
        for (at, device) in DEVICES.iter().enumerate() {
            let scheme_key = format!("gc.scheme=\"{scheme}\"");
            let slots = if at + 3 < DEVICES.len() { &[][..] } else { SLOTS };
            let sets = [&[scheme_key.as_str()], slots, *device].concat();
            let Some(setup) = setup_or_none(&sets) else { continue };
            let opening = Opening { verify: at % 2 == 0, ..opening_of(setup) };
            let drive = Drive::open(opening, |_| true).expect("the drive opens");
            agree(&drive, 7 + at as u64, requests).unwrap_or_else(|why| panic!("{sets:?}: {why}"));
            let report = drive.end().expect("a report").to_json();
            let count = report["gc"]["count"].as_u64().expect("collections");
            *collections.entry(scheme).or_default() += count;
            on_device[at] += count;
        }
    }
    assert_eq!(collections.len(), scheme_names().len(), "presets that were served");
    for (scheme, count) in collections {
        assert!(count > 0, "nothing was collected under {scheme}");
    }
    assert!(on_device.iter().all(|&count| count > 100), "{on_device:?}");
}

/// A drive that is filled, under another scheme: its pages have no data, and read as zeros.
#[test]
fn preconditioning_leaves_zeros() {
    let sets = ["precondition.overwrite=1.0", "precondition.overwrite_with=\"uniform\""];
    let drive = crate::common::drive(&sets);
    agree(&drive, 1, 2_000).expect("the same");
    let sets = [&sets[..], &["precondition.scheme=\"fifo\"", "gc.scheme=\"pgc\""]].concat();
    let drive = crate::common::drive(&sets);
    agree(&drive, 2, 2_000).expect("the same");
}
