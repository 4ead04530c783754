//! Sub-blocks: those that a collection claims in addition to its victims, and releases.
//!
//! With isolation by software the sub-blocks next to a window are claimed with it: their valid
//! pages move before the erase, and an erased one must not be opened until the erase has ended
//! (paper speedup-gc, section II-A). After it they are candidates, or erased, as before.

use super::Store;
use crate::context::Context;
use crate::gc::victim::VictimPolicy;
use crate::gc::{Isolation, Role, Victim};
use crate::ids::BlockId;
use crate::verify::Watch;

impl Store {
    /// Claims the sub-blocks that one erase frees with the chosen one, and those next to them where
    /// isolation requires it. Returns the number of valid pages of all.
    #[inline(never)]
    pub(super) fn claim_sub_blocks<W: Watch>(
        &mut self,
        picked: BlockId,
        victims: &mut Vec<Victim>,
        cx: &mut Context<'_, W>,
    ) -> u32 {
        let mut erased = std::mem::take(&mut self.erased_with);
        erased.clear();
        let candidates = self.gc.candidates(&sight!(self, cx));
        self.gc.victim.erased_with(picked, &candidates, &mut erased);
        for &block in &erased {
            let is_sealed = self.ftl.blocks.is_sealed(block);
            let role = if is_sealed { Role::Victim } else { Role::Between };
            self.claim_as(block, role, victims, cx);
        }
        if cx.plan.gc.sub_blocks == Some(Isolation::Software) {
            let siblings = cx.plan.geometry.siblings_of(picked);
            let ends = erased.first().zip(erased.last());
            let beside = ends.map(|(first, last)| [first.0.wrapping_sub(1), last.0 + 1]);
            for beside in beside.into_iter().flatten().filter(|beside| siblings.contains(beside)) {
                let block = BlockId(beside);
                let is_sealed = self.ftl.blocks.is_sealed(block);
                let role = if is_sealed { Role::Neighbour } else { Role::FreeNeighbour };
                self.claim_as(block, role, victims, cx);
            }
        }
        self.erased_with = erased;
        victims.iter().map(|victim| victim.valid).sum()
    }

    fn claim_as<W: Watch>(
        &mut self,
        block: BlockId,
        role: Role,
        victims: &mut Vec<Victim>,
        cx: &mut Context<'_, W>,
    ) {
        let valid = match role {
            Role::Victim | Role::Neighbour => self.claim(block, cx),
            Role::Between | Role::FreeNeighbour => {
                self.ftl.claim_free(&cx.plan.geometry, block);
                self.pass_on_facts(cx);
                0
            }
        };
        victims.push(Victim { block, valid, role });
    }

    /// The erase has ended: releases the blocks that were claimed next to the victims, or between
    /// them.
    #[cold]
    pub(super) fn release_beside<W: Watch>(&mut self, victim: &Victim, cx: &mut Context<'_, W>) {
        let (geometry, block) = (&cx.plan.geometry, victim.block);
        match victim.role {
            Role::Victim => {}
            Role::Between => self.ftl.unclaim_free(geometry, block, true),
            Role::FreeNeighbour => self.ftl.unclaim_free(geometry, block, false),
            Role::Neighbour => self.ftl.unclaim(geometry, block),
        }
        self.pass_on_facts(cx);
    }
}
