//! Programs that are padded: the rest of their slots holds no data
//! (docs/mapping-unit.md#without-power-loss-protection).

use super::Store;
use crate::context::Context;
use crate::ftl::Stream;
use crate::ids::{PlaneId, Ppn};
use crate::verify::{Happened, Watch};

impl Store {
    /// Fills the program that a stream has begun in a plane. Returns its last slot, if it was not
    /// full.
    #[inline(never)]
    pub fn pad<W: Watch>(
        &mut self,
        plane: PlaneId,
        stream: Stream,
        cx: &mut Context<'_, W>,
    ) -> Option<Ppn> {
        let last = self.pad_begun(plane, Some(stream), cx);
        if last.is_some() {
            self.ask_trigger(plane, cx);
        }
        last
    }

    /// Fills every program that is begun.
    pub fn pad_all<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        for plane in (0..cx.plan.geometry.planes).map(PlaneId) {
            if self.pad_begun(plane, None, cx).is_some() {
                self.ask_trigger(plane, cx);
            }
        }
    }

    fn pad_begun<W: Watch>(
        &mut self,
        plane: PlaneId,
        stream: Option<Stream>,
        cx: &mut Context<'_, W>,
    ) -> Option<Ppn> {
        let (plan, mut last) = (cx.plan, None);
        let collects = stream == Some(Stream::Gc);
        while let Some(taken) = self.ftl.frontiers.take_begun(&plan.geometry, plane, stream) {
            cx.counters.padded += 1;
            cx.tell(Happened::Padded { ppn: taken.ppn, collects });
            if taken.filled.is_some() {
                self.seal(taken.filled, cx);
            }
            last = Some(taken.ppn);
        }
        last
    }
}
