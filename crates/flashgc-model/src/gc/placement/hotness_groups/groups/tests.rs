use super::*;
use crate::rng::Random;

/// Blocks whose benefit is a number that each invalid page may raise by one.
struct Numbers(Vec<u32>);

impl Sight for Numbers {
    fn worth(&self, block: u32, _before: Benefit) -> Worth {
        Worth { benefit: Benefit::of(self.0[block as usize]), has_room: false }
    }

    fn still(&self, block: u32, benefit: Benefit) -> Option<bool> {
        (Benefit::of(self.0[block as usize]) >= benefit).then_some(false)
    }

    fn distance(&self, block: u32, benefit: Benefit) -> u32 {
        let reaches = |by: &u32| Benefit::of(self.0[block as usize] + by) >= benefit;
        (0..).find(reaches).unwrap_or(0)
    }
}

/// Order between groups by the present worth of blocks, the bound m, and each block in one.
fn assert_sound(groups: &Groups, numbers: &Numbers) {
    let mut members = vec![Vec::new(); groups.groups.len()];
    for (block, &number) in numbers.0.iter().enumerate() {
        members[groups.group(block as u32)].push(number);
    }
    for (group, members) in members.iter().enumerate() {
        assert_eq!(members.len() as u32, groups.blocks(group));
        assert!(!members.is_empty() && members.len() as u32 <= groups.most, "{group}");
    }
    for pair in members.windows(2) {
        let (below, above) = (pair[0].iter().max(), pair[1].iter().min());
        assert!(below <= above, "{members:?}");
    }
    for (at, group) in groups.groups.iter().enumerate() {
        assert!(group.open.iter().all(|&block| groups.group(block) == at));
        assert!(group.heap.iter().all(|&block| groups.group(block) == at));
    }
    let open: usize = groups.groups.iter().map(|group| group.open.len()).sum();
    assert_eq!(open, groups.known.iter().filter(|known| known.free > 0).count());
}

#[test]
fn groups_keep_their_order_and_size_through_random_changes() {
    for (seed, (blocks, count)) in
        [(72, 7), (90, 7), (32, 5), (11, 2), (200, 8)].into_iter().enumerate()
    {
        let mut random = Random::named(seed as u64, "groups");
        let mut groups = Groups::new(blocks, count);
        let mut numbers = Numbers(vec![0; blocks as usize]);
        for step in 0..20_000 {
            // Some blocks are written more than others.
            let block = random.below(u64::from(blocks)).min(random.below(u64::from(blocks)));
            let block = block as u32;
            let number = &mut numbers.0[block as usize];
            match random.below(40) {
                0 => {
                    *number = random.below(60) as u32;
                    groups.touch(block);
                    groups.set_free(block, random.below(4) as u8);
                }
                1 if *number > 50 => {
                    *number = 0;
                    groups.touch(block);
                }
                _ => {
                    *number += random.below(2) as u32;
                    groups.invalidated(block);
                }
            }
            // After every step, and after several at once.
            if step % 3 == 0 || seed % 2 == 0 {
                groups.refresh(&numbers);
                assert_sound(&groups, &numbers);
            }
        }
        assert!(groups.formed > 0 || count == 2, "{blocks} blocks in {count} groups");
    }
}

/// Paper speedup-gc, Fig. 5: the benefit of block 1 becomes 4.5, between the least benefits of the
/// fourth and of the fifth group. The fourth is full, and moves its block of the least benefit to
/// the third.
#[test]
fn a_full_group_gives_its_least_block_to_the_group_below() {
    let mut groups = Groups::new(32, 5);
    let mut numbers = Numbers((0..32).map(|block| 10 * (block * 5 / 32 + 1)).collect());
    // Benefits in tenths: 10 to 50 by group; one block of the fourth has the least of it.
    let fourth: Vec<u32> = (0..32).filter(|&block| groups.group(block) == 3).collect();
    fourth.iter().for_each(|&block| numbers.0[block as usize] = 42);
    let second = fourth[0];
    numbers.0[second as usize] = 41;
    (0..32).rev().for_each(|block| groups.touch(block));
    groups.refresh(&numbers);
    let mut from_third = (0..32).filter(|&block| groups.group(block) == 2).collect::<Vec<_>>();
    while groups.blocks(3) < groups.most {
        let block = from_third.pop().expect("the third group has blocks");
        numbers.0[block as usize] = 43;
        groups.touch(block);
        groups.refresh(&numbers);
    }
    let first = 0;
    assert_eq!((groups.group(first), groups.group(second)), (0, 3));
    numbers.0[first as usize] = 45;
    groups.touch(first);
    groups.refresh(&numbers);
    assert_eq!((groups.group(first), groups.group(second)), (3, 2));
    assert_eq!(groups.blocks(3), groups.most);
    assert_sound(&groups, &numbers);
}

#[test]
fn a_group_has_room_for_its_share_and_none_is_empty() {
    // Section III-B: m = n / (g - 1) - 1, and at least 2 g - 3.
    assert_eq!(Groups::most_of(2874, 7), Some(478));
    assert_eq!(Groups::most_of(22_992, 7), Some(3831));
    assert_eq!(Groups::most_of(72, 7), Some(11));
    assert_eq!(Groups::most_of(71, 7), None);
    for groups in 2..=8 {
        for blocks in 1..1000 {
            if let Some(most) = Groups::most_of(blocks, groups) {
                assert!(most * groups >= blocks && most * (groups - 1) < blocks);
            }
        }
    }
}
