//! The slot *victim*: which candidate is collected next.
//!
//! A policy only ranks. It is notified when a block of a plane is sealed, loses a valid page, or is
//! claimed by a collection, and answers `pick`. It can read every property of the candidates
//! through [`Candidates`] and can change nothing, so no policy can corrupt the map.
//!
//! A policy is one file in this folder and one word in the registry at the end of this file. Its
//! file has `CHOICE` (name, text and keys for users), `Settings` (read from the configuration) and
//! `Policy`.

mod fraction;
mod oldest;
mod policy;
mod seal_order;

use crate::device::Geometry;
use crate::gc::choice::Row;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub use crate::gc::choice::{About, Choice, Count, Flag, Word};
use cost_benefit::Form;
pub use policy::{Candidates, Loss, NoSettings, Ranks, VictimPolicy};

macro_rules! victims {
    ($($word:ident)*) => {
        $(pub mod $word;)*

        /// The settings of the chosen policy.
        #[derive(Clone, Debug)]
        #[allow(non_camel_case_types, missing_docs)]
        pub enum Settings { $($word($word::Settings)),* }

        impl Serialize for Settings {
            /// Writes the settings under the word for the choice, as in the configuration.
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(Some(1))?;
                match self {
                    $(Settings::$word(s) => map.serialize_entry($word::CHOICE.name, s)?),*
                }
                map.end()
            }
        }

        impl Settings {
            /// Every choice of this slot, and the reader of its settings.
            pub const CHOICES: &'static [Row<Settings>] = &[$(Row {
                choice: $word::CHOICE,
                read: |table, _| Some(Settings::$word($word::Settings::read(table))),
            }),*];

            /// The word in the configuration.
            pub fn name(&self) -> &'static str {
                match self { $(Settings::$word(_) => $word::CHOICE.name),* }
            }
        }

        /// The policy in use. One of the registry's, called without indirection.
        #[derive(Clone)]
        #[allow(non_camel_case_types, missing_docs)]
        pub enum Policy { $($word($word::Policy)),* }

        impl Policy {
            /// The policy for these settings.
            pub fn new(settings: &Settings, geometry: &Geometry) -> Policy {
                match settings {
                    $(Settings::$word(s) => Policy::$word($word::Policy::new(s, geometry))),*
                }
            }

            #[inline(never)]
            fn notify_invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
                match self { $(Policy::$word(p) => p.invalidated(plane, block, valid)),* }
            }
        }

        impl VictimPolicy for Policy {
            fn sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
                match self { $(Policy::$word(p) => p.sealed(plane, block, valid)),* }
            }

            #[inline(always)]
            fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
                // Pages become invalid very often, so the most common policy is matched first.
                match self {
                    Policy::greedy(policy) => policy.invalidated(plane, block, valid),
                    _ => self.notify_invalidated(plane, block, valid),
                }
            }

            fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
                match self { $(Policy::$word(p) => p.claimed(plane, block, valid)),* }
            }

            fn opened(&mut self, plane: PlaneId, block: BlockId) {
                match self { $(Policy::$word(p) => p.opened(plane, block)),* }
            }

            fn erased(&mut self, plane: PlaneId, block: BlockId) {
                match self { $(Policy::$word(p) => p.erased(plane, block)),* }
            }

            fn erased_with(
                &self,
                picked: BlockId,
                candidates: &Candidates<'_>,
                into: &mut Vec<BlockId>,
            ) {
                match self { $(Policy::$word(p) => p.erased_with(picked, candidates, into)),* }
            }

            fn pick(
                &mut self,
                plane: PlaneId,
                candidates: &Candidates<'_>,
                random: &mut Random,
            ) -> Option<BlockId> {
                match self { $(Policy::$word(p) => p.pick(plane, candidates, random)),* }
            }

            fn keeps_times(&self) -> bool {
                match self { $(Policy::$word(p) => p.keeps_times()),* }
            }

            fn lost(&mut self, plane: PlaneId, block: BlockId, loss: Loss) {
                match self { $(Policy::$word(p) => p.lost(plane, block, loss)),* }
            }

            fn measuring_begins(&mut self, candidates: &Candidates<'_>) {
                match self { $(Policy::$word(p) => p.measuring_begins(candidates)),* }
            }

            fn before(&self, a: BlockId, b: BlockId, candidates: &Candidates<'_>) -> bool {
                match self { $(Policy::$word(p) => p.before(a, b, candidates)),* }
            }

            fn table_bytes(&self) -> u64 {
                match self { $(Policy::$word(p) => p.table_bytes()),* }
            }
        }
    };
}

impl Settings {
    /// The unit that the policy ranks: it decides which erases it can serve.
    pub fn ranks(&self) -> Ranks {
        match self {
            Settings::recycle_benefit(_) => Ranks::Windows,
            Settings::invalid_sub_blocks(_) => Ranks::SubBlocks,
            _ => Ranks::Blocks,
        }
    }

    /// Whether the policy counts ages by the clock of host writes.
    pub fn keeps_clock(&self) -> bool {
        match self {
            Settings::cost_benefit(settings) => settings.form == Form::SqrtAge,
            Settings::cost_age_times(_) => true,
            _ => false,
        }
    }

    /// Whether the policy compares times at which pages were written or lost.
    pub fn ages_by_time(&self) -> bool {
        match self {
            Settings::cost_benefit(settings) => settings.form == Form::Lfs,
            Settings::invalidation_rate(_) => true,
            _ => false,
        }
    }
}

victims! {
    greedy fifo second_chance windowed_greedy random d_choices cost_benefit cost_age_times
    wear_aware static_levelling invalidation_rate recycle_benefit invalid_sub_blocks given
}
