//! The writer of a page.

/// The job that writes a page, and its placement hint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    /// The number of the writer among concurrent jobs; 0 without jobs, and for pages that no
    /// request writes.
    pub job: u16,
    /// The hint; 0 is none.
    pub hint: u8,
}

impl Writer {
    /// A writer outside of jobs, with this hint.
    #[inline]
    pub fn with_hint(hint: u8) -> Self {
        Writer { job: 0, hint }
    }
}
