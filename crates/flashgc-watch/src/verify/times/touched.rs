//! Pages that operations touch.

use flashgc_model::ids::Ppn;

/// A page that the host's operation under way touches.
#[derive(Clone, Copy)]
pub(super) struct HostPage {
    pub(super) ppn: Ppn,
    pub(super) programs: bool,
    pub(super) fills: bool,
    /// Whether a collection padded it: the program is its own.
    pub(super) pads: bool,
}

/// A copy that was bound and is not programmed yet.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub(super) from: Ppn,
    pub(super) to: Ppn,
    pub(super) fills: bool,
}
