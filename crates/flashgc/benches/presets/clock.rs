//! The processor time of this process: other work counts only as far as it takes the caches.

use std::time::Duration;

/// Processor time since the process began.
#[cfg(unix)]
pub fn now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the structure that is handed to it and to nothing else.
    let is_known = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(is_known, 0, "every Unix has this clock");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Time since the first call, where there is no such clock.
#[cfg(not(unix))]
pub fn now() -> Duration {
    static BEGUN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(std::time::Instant::now).elapsed()
}
