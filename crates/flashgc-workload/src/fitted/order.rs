//! All places in the order of their last writes, as a ring: each place is followed by the place
//! that was written after it.

/// Places in the order of their last writes.
#[derive(Clone, Debug)]
pub struct Order {
    next: Vec<u32>,
    before: Vec<u32>,
    /// The end of the ring, which is not a place: the newest is before it, the oldest after it.
    end: u32,
}

impl Order {
    /// From the oldest to the newest; each of the places `0..order.len()` once.
    pub fn new(order: &[u32]) -> Self {
        let end = order.len() as u32;
        let mut ring =
            Order { next: vec![end; order.len() + 1], before: vec![end; order.len() + 1], end };
        for &place in order {
            ring.append(place);
        }
        ring
    }

    /// The place is the newest from now on. Returns the place that was written after it last time;
    /// after the newest comes the oldest.
    pub fn touch(&mut self, place: u32) -> u32 {
        let (before, next) = (self.before[place as usize], self.next[place as usize]);
        self.next[before as usize] = next;
        self.before[next as usize] = before;
        self.append(place);
        if next == self.end {
            return self.next[self.end as usize];
        }
        next
    }

    fn append(&mut self, place: u32) {
        let newest = self.before[self.end as usize];
        self.next[newest as usize] = place;
        self.before[place as usize] = newest;
        self.next[place as usize] = self.end;
        self.before[self.end as usize] = place;
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn what_was_written_after_a_place_follows_it() {
        let mut order = Order::new(&[2, 0, 1]);
        assert_eq!(order.touch(2), 0);
        assert_eq!(order.touch(0), 1);
        assert_eq!(order.touch(1), 2);
        // Now 2, 0, 1 again; the newest is followed by the oldest.
        assert_eq!(order.touch(1), 2);
        assert_eq!(order.touch(0), 1);
        assert_eq!(Order::new(&[0]).touch(0), 0);
    }
}
