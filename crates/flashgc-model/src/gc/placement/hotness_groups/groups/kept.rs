//! Block groups as numbers, for a drive that is saved.
//!
//! Groups depend on the order in which blocks were examined, so they cannot be derived from the
//! drive. The number of erased sub-blocks of a block is derived from it.

use super::{Benefit, ByRoom, DUE, Group, Groups, Known, NOT_THERE, RISEN};
use crate::gc::heap;

/// Numbers of each block.
const PER_BLOCK: usize = 8;
/// No benefit costs more, in the units of windows.
const COST_MAX: u64 = 1 << 40;

impl Groups {
    /// Appends the state to save to these numbers.
    pub fn keep(&self, numbers: &mut Vec<u32>) {
        for known in &self.known {
            let (invalid, cost) = known.benefit.parts();
            let Known { distance, distance_then, in_heap, place, group, has_room, .. } = *known;
            let group = u32::from(group) | u32::from(has_room) << 8;
            let cost = [cost as u32, (cost >> 32) as u32];
            numbers.extend([invalid, cost[0], cost[1], distance, distance_then, in_heap, place]);
            numbers.push(group);
        }
        numbers.push(self.due.len() as u32);
        numbers.extend(&self.due);
    }

    /// Takes the saved groups from the front of these numbers; `None` where they contradict each
    /// other or the blocks. The erased sub-blocks of each block are known.
    pub fn take_kept(&mut self, numbers: &mut std::slice::Iter<'_, u32>) -> Option<()> {
        let (count, groups) = (self.known.len(), self.groups.len());
        let (known, rest) = numbers.as_slice().split_at_checked(count * PER_BLOCK)?;
        let (&due, rest) = rest.split_first()?;
        let (due, rest) = rest.split_at_checked(due as usize)?;
        *numbers = rest.iter();
        for (own, kept) in self.known.iter_mut().zip(known.chunks_exact(PER_BLOCK)) {
            let cost = u64::from(kept[1]) | u64::from(kept[2]) << 32;
            let (group, has_room) = (kept[7] & 0xff, kept[7] >> 8);
            let is_due = kept[3] >= RISEN;
            let is_sound = (1..=COST_MAX).contains(&cost)
                && kept[3] > 0
                && (is_due || kept[3] <= super::FAR)
                && (kept[3] == DUE) == (kept[5] == NOT_THERE)
                && (group as usize) < groups
                && has_room <= 1;
            if !is_sound {
                return None;
            }
            *own = Known {
                benefit: Benefit::from_parts(kept[0], cost),
                distance: kept[3],
                distance_then: kept[4],
                in_heap: kept[5],
                place: kept[6],
                group: group as u8,
                free: own.free,
                has_room: has_room == 1,
            };
        }
        self.due = due.to_vec();
        let waits =
            |block: &u32| self.known.get(*block as usize).is_some_and(|k| k.distance >= RISEN);
        let mut seen = due.to_vec();
        seen.sort_unstable();
        seen.dedup();
        let waiting = self.known.iter().filter(|known| known.distance >= RISEN).count();
        // One that has risen and was touched since is due twice.
        let most = 2 * count;
        if !due.iter().all(waits) || waiting != seen.len() || due.len() > most {
            return None;
        }
        for group in 0..groups {
            self.groups[group] = self.group_of(group as u8)?;
        }
        for group in &mut self.groups {
            heap::form(&mut group.open, &mut ByRoom(&mut self.known));
        }
        Some(())
    }

    /// The members of a group, in the places that they have.
    fn group_of(&self, group: u8) -> Option<Group> {
        let members = || (0u32..).zip(&self.known).filter(move |(_, known)| known.group == group);
        let blocks = members().count() as u32;
        let listed = |places: Vec<(u32, u32)>| {
            let mut list = vec![u32::MAX; places.len()];
            for (place, block) in places {
                let at = list.get_mut(place as usize).filter(|at| **at == u32::MAX)?;
                *at = block;
            }
            Some(list)
        };
        let in_heap = members().filter(|(_, known)| known.in_heap != NOT_THERE);
        let open = members().filter(|(_, known)| known.free > 0);
        let heap = listed(in_heap.map(|(block, known)| (known.in_heap, block)).collect())?;
        let open = listed(open.map(|(block, known)| (known.place, block)).collect())?;
        (blocks <= self.most).then_some(Group { blocks, heap, open })
    }
}
