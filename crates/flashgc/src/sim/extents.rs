//! Sub-blocks: those that a collection claims in addition to its victims, and releases.
//!
//! With isolation by software the sub-blocks next to a window are claimed with it: their valid
//! pages move before the erase, and an erased one must not be opened until the erase has ended
//! (paper speedup-gc, section II-A). After it they are candidates, or erased, as before.

use super::Sim;
use crate::gc::victim::VictimPolicy;
use crate::gc::{Isolation, Role, Victim};
use crate::ids::{BlockId, UnitId};
use crate::verify::Watch;

impl<W: Watch> Sim<W> {
    /// Claims the sub-blocks that one erase frees with the chosen one, and those next to them where
    /// isolation requires it. Returns the number of valid pages of all.
    #[inline(never)]
    pub(super) fn claim_sub_blocks(&mut self, picked: BlockId, victims: &mut Vec<Victim>) -> u32 {
        let mut erased = std::mem::take(&mut self.erased_with);
        erased.clear();
        let candidates = self.gc.candidates(&sight!(self));
        self.gc.victim.erased_with(picked, &candidates, &mut erased);
        for &block in &erased {
            let is_sealed = self.ftl.blocks.is_sealed(block);
            let role = if is_sealed { Role::Victim } else { Role::Between };
            self.claim_as(block, role, victims);
        }
        if self.plan.gc.sub_blocks == Some(Isolation::Software) {
            let siblings = self.plan.geometry.siblings_of(picked);
            let ends = erased.first().zip(erased.last());
            let beside = ends.map(|(first, last)| [first.0.wrapping_sub(1), last.0 + 1]);
            for beside in beside.into_iter().flatten().filter(|beside| siblings.contains(beside)) {
                let block = BlockId(beside);
                let is_sealed = self.ftl.blocks.is_sealed(block);
                let role = if is_sealed { Role::Neighbour } else { Role::FreeNeighbour };
                self.claim_as(block, role, victims);
            }
        }
        self.erased_with = erased;
        victims.iter().map(|victim| victim.valid).sum()
    }

    fn claim_as(&mut self, block: BlockId, role: Role, victims: &mut Vec<Victim>) {
        let valid = match role {
            Role::Victim | Role::Neighbour => self.ftl.claim(&self.plan.geometry, block),
            Role::Between | Role::FreeNeighbour => {
                self.ftl.claim_free(&self.plan.geometry, block);
                0
            }
        };
        self.pass_on_facts();
        victims.push(Victim { block, valid, role });
    }

    /// The erase has ended: releases the blocks that were claimed next to the victims, or between
    /// them.
    #[cold]
    pub(super) fn release_beside(&mut self, victim: &Victim) {
        let (geometry, block) = (&self.plan.geometry, victim.block);
        match victim.role {
            Role::Victim => {}
            Role::Between => self.ftl.unclaim_free(geometry, block, true),
            Role::FreeNeighbour => self.ftl.unclaim_free(geometry, block, false),
            Role::Neighbour => self.ftl.unclaim(geometry, block),
        }
        self.pass_on_facts();
    }

    /// Counts the sub-blocks of a collection that ended: an extent is the sub-blocks that one erase
    /// freed.
    #[cold]
    pub(super) fn count_sub_blocks(&mut self, unit: UnitId, victims: &[Victim]) {
        let is_victim = |victim: &&Victim| victim.role == Role::Victim;
        let valid: u32 = victims.iter().filter(is_victim).map(|victim| victim.valid).sum();
        let is_beside = |block| victims.iter().any(|v| v.block == block && !v.is_erased());
        let copies = &self.jobs[unit].copies;
        let moved = copies.iter().filter(|copy| copy.to.is_some());
        let moved = moved.filter(|copy| is_beside(self.plan.geometry.block_of(copy.from)));
        self.counters.neighbours_moved += moved.count() as u64;
        self.counters.victim_blocks += victims.iter().filter(is_victim).count() as u64;
        self.counters.victim_valid += u64::from(valid);
        self.counters.add_victim(valid);
    }
}
