//! The measured part begins.

use super::{Sim, SimError};
use crate::ids::PlaneId;
use crate::plan::Arrivals;
use crate::stats::Counters;
use crate::store::Untimed;
use crate::verify::{Happened, Watch};
use crate::workload::Source;

impl<W: Watch> Sim<W> {
    /// The drive, to be written untimed.
    pub fn untimed(&mut self) -> Untimed<'_, W> {
        Untimed {
            store: &mut self.store,
            cx: context!(self),
            batches: &mut self.measure.batches,
            overwritten: &mut self.measure.overwritten,
        }
    }

    /// Starts the measured part. Nothing begins before a request that is there at its start: a
    /// collection that is due is served in the order of the device.
    pub fn start(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        self.start_counting();
        if self.plan.untimed {
            self.untimed().collect_due();
            return Ok(());
        }
        // A read of a page that was never written needs no flash, and must not pass a write of its
        // page.
        if self.plan.reads && !self.store.ftl.map.is_full() {
            self.host.keep_order();
        }
        match self.plan.arrivals {
            Arrivals::Open => self.fetch_arrival(source)?,
            Arrivals::Closed(depth) => self.host.open_loop(depth),
            Arrivals::Jobs => self.host.open_loop(1),
        }
        Ok(())
    }

    /// The measured part begins: counters at zero, streams of random numbers from their start.
    fn start_counting(&mut self) {
        if self.plan.geometry.shape.pads() {
            self.store.pad_all(&mut context!(self));
        }
        self.counters = Counters::default();
        self.measure.start(self.store.ftl.frontiers.free_total());
        for unit in &mut self.units {
            unit.listed = false;
        }
        self.ready.clear();
        self.store.start_measuring(&context!(self));
        self.pass_facts();
        self.notify(Happened::MeasuringStarts);
        for plane in (0..self.plan.geometry.planes).map(PlaneId) {
            let blocks = self.store.ftl.frontiers.free_list(plane).count() as u32;
            self.notify(Happened::FreeBlocks { plane, blocks });
        }
    }
}
