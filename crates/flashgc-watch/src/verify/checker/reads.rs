//! The place of a page, in flash or in the write buffer, and its way from the buffer to flash.

use super::Checker;
use super::Times;
use flashgc_model::ids::{Lpn, Ppn};
use flashgc_workload::HostOp;

impl Checker {
    /// The write buffer's data of a page goes to flash, and stays in the buffer for now.
    pub(super) fn flush(&mut self, now_ns: u64, lpn: Lpn) -> u32 {
        let Some(version) = self.held.version(lpn) else {
            panic!("at {now_ns} ns logical page {} was flushed and is not buffered", lpn.0);
        };
        self.flushes += 1;
        self.newest[lpn.index()] = version;
        self.trimmed[lpn.index()] = false;
        version
    }

    /// A page has left the write buffer: flash must have its data.
    pub(super) fn flushed(&mut self, now_ns: u64, lpn: Lpn) {
        let left = self.held.leaves(lpn);
        let in_flash = self.home[lpn.index()].is_some().then(|| self.newest[lpn.index()]);
        assert!(
            left.is_some() && left == in_flash && in_flash == Some(self.given[lpn.index()]),
            "at {now_ns} ns logical page {} left the write buffer in version {left:?}, and flash \
             has {in_flash:?}",
            lpn.0
        );
    }

    /// Where the buffer has no protection, data that has left it is in flash and not in the
    /// controller.
    pub(super) fn survives(&self, now_ns: u64, lpn: Lpn) {
        assert!(
            !self.promises.drains || self.is_in_flash(self.home[lpn.index()]),
            "at {now_ns} ns the flush of logical page {} was over, and its program not full",
            lpn.0
        );
    }

    /// A read must find the newest version in the write buffer.
    pub(super) fn read_buffered(&self, now_ns: u64, lpn: Lpn) {
        let (held, given) = (self.held.version(lpn), self.given[lpn.index()]);
        assert_eq!(
            held,
            Some(given),
            "at {now_ns} ns a read of logical page {} from the write buffer",
            lpn.0
        );
    }

    pub(super) fn accessed(&mut self, lpn: Lpn, kind: HostOp, span: (u64, u64)) {
        let written = (kind == HostOp::Write).then(|| {
            self.given[lpn.index()] += 1;
            (lpn, self.given[lpn.index()])
        });
        self.held.accessed(span, written);
    }

    fn read(&self, now_ns: u64, ppn: Ppn, lpn: Lpn) {
        self.read_out(now_ns, ppn, lpn);
        let (newest, given) = (self.newest[lpn.index()], self.given[lpn.index()]);
        assert!(
            self.held.version(lpn).is_none() && newest == given,
            "at {now_ns} ns a read of logical page {} went past the write buffer",
            lpn.0
        );
        assert!(newest >= self.acknowledged[lpn.index()]);
    }

    /// The controller answers from a program that is not full yet, or whose fine pass is to come.
    pub(super) fn read_begun(&self, now_ns: u64, slot: Ppn, lpn: Lpn) {
        self.read(now_ns, slot, lpn);
        let unit = self.geometry.unit_of_page(slot);
        let awaits = |times: &Times| times.awaits_program(unit, slot);
        assert!(
            !self.is_in_flash(slot) || self.times.as_ref().is_none_or(awaits),
            "at {now_ns} ns a read of slot {} found no flash, and its page is programmed",
            slot.0
        );
    }

    /// The array reads for the host.
    pub(super) fn read_in_flash(&self, now_ns: u64, slot: Ppn, lpn: Lpn) {
        self.read(now_ns, slot, lpn);
        assert!(
            self.is_in_flash(slot),
            "at {now_ns} ns the array read slot {}, whose program is not over",
            slot.0
        );
    }

    /// Whether the last pass of a slot's program has begun: the block has been written up to it.
    fn is_in_flash(&self, slot: Ppn) -> bool {
        let (geometry, shape) = (&self.geometry, &self.geometry.shape);
        let (block, page) = geometry.block_and_page(slot);
        let (slots, lanes) = (shape.program_slots, shape.lanes);
        let last = (shape.page_of_lane(page) / slots + 1 + self.promises.lag) * slots;
        let written = self.next_of_lane[(block.0 * lanes + geometry.lane_of(slot)) as usize];
        slots == 1 || written >= last.min(shape.pages_per_block / lanes)
    }

    pub(super) fn read_out(&self, now_ns: u64, ppn: Ppn, lpn: Lpn) {
        let content = self.content[ppn.index()];
        assert_eq!(content.lpn, lpn.0, "at {now_ns} ns a read of page {} found other data", ppn.0);
        assert!(
            content.version == self.newest[lpn.index()] && !self.trimmed[lpn.index()],
            "at {now_ns} ns a read of logical page {} found version {} of {}",
            lpn.0,
            content.version,
            self.newest[lpn.index()]
        );
    }

    pub(super) fn read_nothing(&self, now_ns: u64, lpn: Lpn) {
        assert!(
            (self.newest[lpn.index()] == 0 || self.trimmed[lpn.index()])
                && self.held.version(lpn).is_none(),
            "at {now_ns} ns a read of logical page {} lost its data",
            lpn.0
        );
    }
}
