//! The units to check, the first that was listed first. A unit is listed once at most, so that the
//! list never grows.

use crate::ids::UnitId;

/// The list.
#[derive(Clone)]
pub(super) struct Ready {
    /// A ring, whose length is a power of two.
    ring: Vec<UnitId>,
    first: usize,
    count: usize,
}

impl Ready {
    /// An empty list for this many units.
    pub(super) fn new(units: u32) -> Self {
        let ring = vec![UnitId(0); (units as usize).next_power_of_two()];
        Ready { ring, first: 0, count: 0 }
    }

    /// Whether there is none.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Lists a unit that is not listed.
    #[inline(always)]
    pub(super) fn push(&mut self, unit: UnitId) {
        debug_assert!(self.count < self.ring.len(), "unit {} is listed twice", unit.0);
        let mask = self.ring.len() - 1;
        self.ring[(self.first + self.count) & mask] = unit;
        self.count += 1;
    }

    /// Takes the first unit off the list.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<UnitId> {
        if self.count == 0 {
            return None;
        }
        let unit = self.ring[self.first];
        self.first = (self.first + 1) & (self.ring.len() - 1);
        self.count -= 1;
        Some(unit)
    }

    /// Lists none.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Ready;
    use crate::ids::UnitId;

    #[test]
    fn units_leave_in_the_order_of_listing_around_the_end_of_the_ring() {
        let mut ready = Ready::new(3);
        let mut taken = Vec::new();
        for turn in 0..7 {
            ready.push(UnitId(turn % 3));
            ready.push(UnitId((turn + 1) % 3));
            taken.push(ready.pop().map(|unit| unit.0));
            taken.push(ready.pop().map(|unit| unit.0));
        }
        let due: Vec<_> = (0..7).flat_map(|turn| [Some(turn % 3), Some((turn + 1) % 3)]).collect();
        assert_eq!((taken, ready.is_empty()), (due, true));
        ready.push(UnitId(1));
        ready.clear();
        assert_eq!(ready.pop(), None);
    }
}
