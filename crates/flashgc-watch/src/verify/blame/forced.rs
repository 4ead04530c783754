//! Writes with forced unit access: they wait for flash behind their last page operation.

use super::parts::{Part, Parts};

/// Requests that wait, or are done while their place in the slab is not reused: each with its place
/// in the slab, its start in ns, and its parts.
#[derive(Clone, Default)]
pub(super) struct Forced(Vec<(u32, u64, Parts)>);

impl Forced {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The parts of a request that has waited.
    #[inline(always)]
    pub(super) fn parts_of(&self, request: u32) -> Option<Parts> {
        if self.0.is_empty() { None } else { self.find(request) }
    }

    #[cold]
    #[inline(never)]
    fn find(&self, request: u32) -> Option<Parts> {
        self.0.iter().find(|forced| forced.0 == request).map(|&(.., parts)| parts)
    }

    /// A request waits for flash from now on.
    #[cold]
    #[inline(never)]
    pub(super) fn waits(&mut self, request: u32, now_ns: u64, parts: Parts) {
        self.0.push((request, now_ns, parts));
    }

    /// A request is done. If it waited for flash, that was for its page in the buffer to leave.
    #[inline(always)]
    pub(super) fn survives(&mut self, request: u32, now_ns: u64) {
        let forced = self.0.iter_mut().find(|forced| forced.0 == request);
        if let Some((_, since_ns, parts)) = forced {
            parts[Part::Buffer as usize] += now_ns - *since_ns;
        }
    }

    /// The place of a request in the slab is another's from now on.
    #[cold]
    pub(super) fn forget(&mut self, request: u32) {
        self.0.retain(|forced| forced.0 != request);
    }
}
