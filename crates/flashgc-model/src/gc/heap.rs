//! A heap that records the place of each member, so that one can leave it or change its rank.

/// The order of a heap's members, and where their places are noted.
pub trait Order<T> {
    /// Whether one member is above another: no two are equal.
    fn is_above(&self, a: &T, b: &T) -> bool;

    /// A member is at this place now.
    fn moved(&mut self, member: &T, place: u32);
}

/// Adds a member.
pub fn push<T: Copy>(heap: &mut Vec<T>, member: T, order: &mut impl Order<T>) {
    let place = heap.len();
    heap.push(member);
    settle(heap, place, order);
}

/// The member at this place leaves, whatever its rank is by now.
pub fn remove<T: Copy>(heap: &mut Vec<T>, place: usize, order: &mut impl Order<T>) {
    heap.swap_remove(place);
    if place < heap.len() {
        settle(heap, place, order);
    }
}

/// The member at this place goes up or down to where it belongs by its present rank.
pub fn settle<T: Copy>(heap: &mut [T], mut place: usize, order: &mut impl Order<T>) {
    let member = heap[place];
    while place > 0 && order.is_above(&member, &heap[(place - 1) / 2]) {
        let parent = (place - 1) / 2;
        heap[place] = heap[parent];
        order.moved(&heap[place], place as u32);
        place = parent;
    }
    loop {
        let mut child = place * 2 + 1;
        if child >= heap.len() {
            break;
        }
        if child + 1 < heap.len() && order.is_above(&heap[child + 1], &heap[child]) {
            child += 1;
        }
        if order.is_above(&member, &heap[child]) {
            break;
        }
        heap[place] = heap[child];
        order.moved(&heap[place], place as u32);
        place = child;
    }
    heap[place] = member;
    order.moved(&member, place as u32);
}

/// Makes a heap of members in any order.
pub fn form<T: Copy>(heap: &mut [T], order: &mut impl Order<T>) {
    for place in 0..heap.len() {
        settle(&mut heap[..=place], place, order);
    }
}

/// The highest member that is fit: the heap is walked from its top as far as members are not.
pub fn first_fit<T: Copy>(
    heap: &[T],
    is_above: impl Fn(&T, &T) -> bool,
    is_fit: impl Fn(&T) -> bool,
) -> Option<T> {
    let mut next = vec![0];
    loop {
        let places = (0..next.len()).filter(|&at| next[at] < heap.len());
        let above = |a, b| if is_above(&heap[next[b]], &heap[next[a]]) { b } else { a };
        let place = next.swap_remove(places.reduce(above)?);
        if is_fit(&heap[place]) {
            return Some(heap[place]);
        }
        next.extend([2 * place + 1, 2 * place + 2]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Random;

    struct Numbers {
        ranks: Vec<u64>,
        places: Vec<u32>,
    }

    impl Order<u32> for Numbers {
        fn is_above(&self, a: &u32, b: &u32) -> bool {
            (self.ranks[*a as usize], *a) > (self.ranks[*b as usize], *b)
        }

        fn moved(&mut self, member: &u32, place: u32) {
            self.places[*member as usize] = place;
        }
    }

    #[test]
    fn the_highest_fit_member_is_that_of_a_walk_over_all() {
        const NONE: u32 = u32::MAX;
        let mut random = Random::named(1, "heap");
        let mut order = Numbers { ranks: vec![0; 60], places: vec![NONE; 60] };
        let mut heap = Vec::new();
        for step in 0..20_000 {
            let member = random.below(60) as u32;
            let at = member as usize;
            order.ranks[at] = random.below(20);
            match (order.places[at], random.below(3)) {
                (NONE, _) => push(&mut heap, member, &mut order),
                (place, 0) => {
                    order.places[at] = NONE;
                    remove(&mut heap, place as usize, &mut order);
                }
                (place, _) => settle(&mut heap, place as usize, &mut order),
            }
            if step % 100 == 0 {
                heap.sort_unstable();
                form(&mut heap, &mut order);
            }
            assert!((0..heap.len()).all(|at| order.places[heap[at] as usize] == at as u32));
            for rest in [1, 2, 60] {
                let is_fit = |member: &u32| member.is_multiple_of(rest);
                let fit = heap.iter().copied().filter(is_fit);
                let expected = fit.max_by_key(|&member| (order.ranks[member as usize], member));
                assert_eq!(first_fit(&heap, |a, b| order.is_above(a, b), is_fit), expected);
            }
        }
    }
}
