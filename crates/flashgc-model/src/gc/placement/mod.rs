//! The slot *placement* where it sorts pages into classes.
//!
//! Each class has an open block of its own in every plane. A placement names the class of each page
//! that is written or copied, and the block that a class opens next.
//!
//! A placement is one file in this folder and one word in the registry at the end of this file. Its
//! file has `CHOICE` (name, text and keys for users), `STATE` (saved with a drive), `Settings`
//! (read from the configuration) and `Policy`.

mod kept;
mod numbered;
mod page_table;
mod policy;
mod runs;
mod saved;

use crate::device::{Geometry, Shape};
use crate::ftl::{BlockFacts, Ftl};
use crate::gc::choice::Row;
use crate::gc::foresight::Foresight;
use crate::gc::victim::{Candidates, Ranks};
use crate::gc::windows::Costs;
use crate::ids::{BlockId, Lpn, PlaneId};
use flashgc_config::Reader;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::sync::Arc;

use kept::BLOCKS;
pub use kept::{keep, kept_by, note_of_kept, take_kept};
pub use policy::{
    ClassPages, Classes, Copied, GroupCounts, HandleCounts, HotnessCounts, Placement,
    PlacementCounts, State, Write,
};

macro_rules! placements {
    ($($word:ident)*) => {
        $(pub mod $word;)*

        /// The settings of the placement in use.
        #[derive(Clone, Debug)]
        #[allow(non_camel_case_types, missing_docs)]
        pub enum Settings { $($word($word::Settings)),* }

        impl Serialize for Settings {
            /// The settings under the word of the registry.
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(Some(1))?;
                match self {
                    $(Settings::$word(s) => map.serialize_entry(stringify!($word), s)?),*
                }
                map.end()
            }
        }

        /// The states that are saved with a drive.
        const STATES: &[State] = &[$($word::STATE,)* BLOCKS];

        impl Settings {
            /// The word in the configuration.
            pub fn name(&self) -> &'static str {
                match self { $(Settings::$word(_) => $word::CHOICE.name),* }
            }

            /// These two choices and the registry's, each with the reader of its settings.
            pub const fn with<K: From<Settings>>(
                one: Row<K>,
                two: Row<K>,
            ) -> [Row<K>; 2 + [$($word::CHOICE),*].len()] {
                [one, two, $(Row {
                    choice: $word::CHOICE,
                    read: |table, _| Some(K::from(Settings::$word($word::Settings::read(table)?))),
                }),*]
            }
        }

        impl Classes for Settings {
            fn classes(&self) -> u32 {
                match self { $(Settings::$word(s) => s.classes()),* }
            }

            fn classes_of_copies(&self) -> u32 {
                match self { $(Settings::$word(s) => s.classes_of_copies()),* }
            }

            fn first_of_copies(&self) -> Option<u32> {
                match self { $(Settings::$word(s) => s.first_of_copies()),* }
            }

            fn always_open(&self) -> u32 {
                match self { $(Settings::$word(s) => s.always_open()),* }
            }

            fn needs_sub_blocks(&self) -> bool {
                match self { $(Settings::$word(s) => s.needs_sub_blocks()),* }
            }

            fn needs_single_blocks(&self) -> bool {
                match self { $(Settings::$word(s) => s.needs_single_blocks()),* }
            }

            fn keeps_blocks(&self) -> bool {
                match self { $(Settings::$word(s) => s.keeps_blocks()),* }
            }

            fn foresees(&self) -> bool {
                match self { $(Settings::$word(s) => s.foresees()),* }
            }

            fn check(&self, root: &Reader<'_>, table: &Reader<'_>, shape: &Shape) -> Option<()> {
                match self { $(Settings::$word(s) => s.check(root, table, shape)),* }
            }

            fn set_ranks(&mut self, ranks: Ranks) {
                match self { $(Settings::$word(s) => s.set_ranks(ranks)),* }
            }

            fn kept_by(&self, costs: Costs) -> Option<String> {
                match self { $(Settings::$word(s) => s.kept_by(costs)),* }
            }
        }

        /// The placement in use. One of the registry's, called without indirection. A drive has
        /// one, so its size does not matter.
        #[derive(Clone)]
        #[allow(non_camel_case_types, missing_docs, clippy::large_enum_variant)]
        pub enum Policy { $($word($word::Policy)),* }

        impl Policy {
            /// The placement for these settings.
            pub fn new(settings: &Settings, geometry: &Geometry, seed: u64) -> Policy {
                match settings {
                    $(Settings::$word(s) => {
                        Policy::$word($word::Policy::new(s, geometry, seed))
                    }),*
                }
            }
        }

        impl Placement for Policy {
            #[inline]
            fn class_of_write(&mut self, write: Write) -> u8 {
                match self { $(Policy::$word(p) => p.class_of_write(write)),* }
            }

            #[inline]
            fn class_of_copy(&mut self, copy: Copied) -> u8 {
                match self { $(Policy::$word(p) => p.class_of_copy(copy)),* }
            }

            #[inline]
            fn placed(&mut self, lpn: Lpn, block: BlockId) {
                match self { $(Policy::$word(p) => p.placed(lpn, block)),* }
            }

            #[inline]
            fn prefetch(&self, lpn: Lpn) {
                match self { $(Policy::$word(p) => p.prefetch(lpn)),* }
            }

            #[inline]
            fn took_page(&mut self, lpn: Lpn, is_copy: bool) {
                match self { $(Policy::$word(p) => p.took_page(lpn, is_copy)),* }
            }

            fn trimmed(&mut self, lpn: Lpn) {
                match self { $(Policy::$word(p) => p.trimmed(lpn)),* }
            }

            fn opened(&mut self, block: BlockFacts) {
                match self { $(Policy::$word(p) => p.opened(block)),* }
            }

            fn sealed(&mut self, block: BlockFacts) {
                match self { $(Policy::$word(p) => p.sealed(block)),* }
            }

            fn collected(&mut self, block: BlockFacts, clock: u64) {
                match self { $(Policy::$word(p) => p.collected(block, clock)),* }
            }

            fn choose(
                &mut self,
                plane: PlaneId,
                class: u8,
                ftl: &Ftl,
                candidates: &Candidates<'_>,
            ) -> Option<BlockId> {
                match self { $(Policy::$word(p) => p.choose(plane, class, ftl, candidates)),* }
            }

            fn due(&self, plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
                match self { $(Policy::$word(p) => p.due(plane, candidates)),* }
            }

            fn left_to_victim(&self) -> Option<&[bool]> {
                match self { $(Policy::$word(p) => p.left_to_victim()),* }
            }

            #[inline(never)]
            fn invalidated(&mut self, plane: PlaneId, block: BlockId) {
                match self { $(Policy::$word(p) => p.invalidated(plane, block)),* }
            }

            fn touch(&mut self, ftl: &Ftl, geometry: &Geometry, plane: PlaneId, block: BlockId) {
                match self { $(Policy::$word(p) => p.touch(ftl, geometry, plane, block)),* }
            }

            fn foresee(&mut self, foresight: &Arc<Foresight>) {
                match self { $(Policy::$word(p) => p.foresee(foresight)),* }
            }

            fn start_counting(&mut self, seed: u64) {
                match self { $(Policy::$word(p) => p.start_counting(seed)),* }
            }

            fn keep(&self, numbers: &mut Vec<u32>) {
                match self { $(Policy::$word(p) => p.keep(numbers)),* }
            }

            fn take_kept(&mut self, numbers: &mut std::slice::Iter<'_, u32>) -> Option<()> {
                match self { $(Policy::$word(p) => p.take_kept(numbers)),* }
            }

            fn table_bytes(&self) -> u64 {
                match self { $(Policy::$word(p) => p.table_bytes()),* }
            }

            fn of_handles(&self) -> Option<HandleCounts> {
                match self { $(Policy::$word(p) => p.of_handles()),* }
            }

            fn of_groups(&self) -> Option<Vec<GroupCounts>> {
                match self { $(Policy::$word(p) => p.of_groups()),* }
            }

            fn counts(&self) -> Option<HotnessCounts> {
                match self { $(Policy::$word(p) => p.counts()),* }
            }
        }
    };
}

placements! {
    hotness_groups dac sepbit fdp sfs multilog eti autostream fadac warcip midas oracle oldest_apart
    given
}
