//! Blame where planes read by themselves.

use super::{Blame, BusWait, Held};
use flashgc_model::ids::UnitId;

impl Blame {
    /// A unit works for the host from the first read of its planes to the last.
    #[cold]
    #[inline(never)]
    pub(super) fn begins_in_plane(&mut self, reader: UnitId, now_ns: u64) {
        let unit = self.unit_of_reader[reader.index() - self.reading.len()];
        self.reading[unit.index()] += 1;
        if self.reading[unit.index()] == 1 {
            self.works_for(unit, Held::ForHost, now_ns);
            self.units[unit.index()].begins(Held::ForHost, now_ns);
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn worked_in_plane(&mut self, reader: UnitId, waited: BusWait, now_ns: u64) {
        let unit = self.unit_of_reader[reader.index() - self.reading.len()];
        self.units[reader.index()].waited = waited;
        self.reading[unit.index()] -= 1;
        if self.reading[unit.index()] == 0 {
            self.works_for(unit, Held::ForHost, now_ns);
            self.units[unit.index()].worked(waited, now_ns);
        }
    }
}
