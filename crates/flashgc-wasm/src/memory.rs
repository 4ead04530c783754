//! The memory of a page, which is bounded.

use flashgc::session::Setup;

/// Addresses of WebAssembly have 32 bits.
const MOST_BYTES: u64 = 1 << 32;

const GIB: f64 = (1u64 << 30) as f64;

/// Refuses a drive whose tables pass the memory of the module, where other drives have taken some.
pub(crate) fn check(setup: &Setup, taken_bytes: u64) -> Result<(), String> {
    let needed = setup.table_bytes_expected();
    if needed.saturating_add(taken_bytes) <= MOST_BYTES {
        return Ok(());
    }
    let others = match taken_bytes {
        0 => String::new(),
        _ => format!(", of which other drives have {:.1} GiB", taken_bytes as f64 / GIB),
    };
    Err(format!(
        "error: the tables of the drive \"{}\" need {:.1} GiB of memory, and a page has 4.0 GiB at \
         most{others}\n  = help: make the drive smaller (device.blocks_per_plane), or run it with \
         the command `flashgc`",
        setup.device_name,
        needed as f64 / GIB
    ))
}
