//! The memory of the process and of the machine, where the system reports it.

use crate::errors::ConfigError;
use flashgc::session::Setup;
use pyo3::PyResult;

/// The most memory that the process ever had, where the system reports it.
pub fn peak_rss_bytes() -> Option<u64> {
    kib_of("/proc/self/status", "VmHWM:")
}

/// Refuses a drive whose tables would not fit this machine, before the system kills the process.
pub fn check(setup: &Setup) -> PyResult<()> {
    let needed = setup.table_bytes_expected();
    if needed <= ALWAYS_THERE {
        return Ok(());
    }
    match available_bytes() {
        Some(available) if needed > available => Err(ConfigError::new_err(format!(
            "error: the tables of this drive need {:.1} GiB of memory, but only {:.1} GiB are \
             available\n  = help: make the drive smaller: fewer blocks, or larger pages",
            needed as f64 / GIB,
            available as f64 / GIB
        ))),
        _ => Ok(()),
    }
}

/// For smaller sizes the available memory is not read.
const ALWAYS_THERE: u64 = 16 << 20;

const GIB: f64 = (1u64 << 30) as f64;

/// The available memory, where the system reports it.
fn available_bytes() -> Option<u64> {
    kib_of("/proc/meminfo", "MemAvailable:")
}

fn kib_of(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
