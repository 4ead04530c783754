//! `[device.write_buffer]`: a small fast memory in front of the translation layer.

use flashgc_config::Reader;
use flashgc_model::device::Shape;
use flashgc_model::plan::{Drain, WriteBuffer};

/// One access to STT-RAM takes 20 ns (paper preemptible-gc, section V-B). The number of bytes of an
/// access is not in the paper: docs/devices/slc-msr.md#the-write-buffer.
const LINE_BYTES: u32 = 64;
const LINE_NS: u32 = 20;

const DRAINS: [(&str, Drain); 2] = [("when-full", Drain::WhenFull), ("at-once", Drain::AtOnce)];

/// Pages are numbered in 32 bits.
const PAGES_MAX: u64 = u32::MAX as u64;

/// Reads the table, if there is one, for flash pages of this number of slots. Errors are noted;
/// `Some(None)` where there is no buffer.
pub fn read(
    device: &Reader<'_>,
    page_bytes: Option<u32>,
    slots: Option<u32>,
) -> Option<Option<WriteBuffer>> {
    if !device.has("write_buffer") {
        return Some(None);
    }
    let table = device.table("write_buffer");
    let help = "the buffer's size, as in `size = \"1 MiB\"`";
    let bytes = table.required("size", table.bytes("size"), help);
    let is_protected = table.bool("power_loss_protection").unwrap_or(true);
    let drain = table.choice("flush", &DRAINS).unwrap_or_default();
    let given = table.has("access");
    let access_ns = table.duration_ns("access");
    table.finish();
    let (bytes, page_bytes) = (bytes?, page_bytes? / slots?);
    let access_ns = match given {
        true => access_ns?,
        false => u64::from(page_bytes / LINE_BYTES * LINE_NS),
    };
    if access_ns > 1_000_000_000_000 {
        let given_s = access_ns as f64 / 1e9;
        let message = format!("access must take at most 1000 s per page, got {given_s} s");
        table.error("access", message, "write for example access = \"10 us\"");
        return None;
    }
    let pages = bytes / u64::from(page_bytes);
    if pages == 0 || pages > PAGES_MAX {
        table.error(
            "size",
            format!(
                "the buffer must hold from 1 to 2^32 - 1 pages of {page_bytes} bytes, got {bytes} \
                 bytes ({pages} pages)"
            ),
            "write for example size = \"1 MiB\"",
        );
        return None;
    }
    Some(Some(WriteBuffer {
        pages: pages as u32,
        access_ns,
        is_protected,
        drain,
        flushes_when_idle: false,
    }))
}

/// The device, whose controller pads programs if its buffer has no protection.
pub fn padded(shape: Shape, buffer: Option<WriteBuffer>) -> Shape {
    let is_unprotected = buffer.is_some_and(|buffer| !buffer.is_protected);
    Shape { padded_to: if is_unprotected { shape.program_slots } else { 1 }, ..shape }
}
