//! `[gc]`: one choice for each slot. The slots and their choices are in [`super::slots`].

use super::slots::background::Background;
use super::slots::blocking::Blocking;
use super::slots::copy::Copy;
use super::slots::erase::Erase;
use super::slots::pacing::Pacing;
use super::slots::placement::Placement;
use super::slots::preemption::Preemption;
use super::slots::slot::{Slot, described};
use super::slots::trigger::Trigger;
use super::slots::victim::Victim;
use flashgc_config::Reader;
use flashgc_model::gc::Cost;
use flashgc_model::gc::given::{Given, Pacer};
use serde_json::Value;
use std::collections::BTreeMap;

/// The scheme of a configuration that names none.
pub const DEFAULT_SCHEME: &str = "greedy";

macro_rules! slots {
    ($($field:ident: $slot:ty),*) => {
        /// The scheme as configured; amounts of space still depend on the device.
        pub struct Scheme {
            pub name: String,
            /// The cost of the operations of collections.
            pub cost: Cost,
            $(pub $field: <$slot as Slot>::Keys,)*
            /// The choice of every slot.
            pub slots: BTreeMap<&'static str, String>,
            /// Parameters of choices that are not in use.
            pub unused: Vec<String>,
            /// The policy for the length of time slices in place of a setting.
            pub pacer: Option<Given<dyn Pacer>>,
        }

        /// The slots and their choices as data.
        pub fn slots_json() -> Value {
            Value::Array(vec![$(described::<$slot>()),*])
        }

        /// The words for the choices of a slot, in the order of the manual; empty where no slot has
        /// this name.
        pub fn words_of(slot: &str) -> Vec<&'static str> {
            let choices = match slot {
                $(<$slot as Slot>::NAME => <$slot as Slot>::choices(),)*
                _ => Vec::new(),
            };
            choices.iter().map(|choice| choice.name).collect()
        }

        /// Reads the table; `registers` is the number of data registers in a plane. Errors are
        /// noted; `None` where no scheme can be made.
        pub fn read(gc: &Reader<'_>, registers: u32) -> Option<Scheme> {
            let name = gc.string("scheme").unwrap_or(DEFAULT_SCHEME).to_string();
            let cost = gc.choice("cost", &Cost::WORDS).unwrap_or_default();
            $(let $field = <$slot as Slot>::read(gc, registers);)*
            gc.finish();
            $(let $field = $field?;)*
            Some(Scheme {
                name,
                cost,
                slots: BTreeMap::from([$((<$slot as Slot>::NAME, $field.name)),*]),
                unused: [$($field.unused),*].concat(),
                pacer: None,
                $($field: $field.keys,)*
            })
        }
    };
}

// In the order of the manual.
slots! {
    trigger: Trigger,
    erase: Erase,
    victim: Victim,
    copy: Copy,
    placement: Placement,
    blocking: Blocking,
    preemption: Preemption,
    pacing: Pacing,
    background: Background
}
