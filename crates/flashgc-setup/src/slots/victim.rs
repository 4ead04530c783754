//! The slot *victim*: its choices are the engine's own registry.

use super::slot::OneOf;
use flashgc_model::gc::choice::Row;
use flashgc_model::gc::victim::Settings;

/// The slot *victim*: the next candidate to collect.
pub struct Victim;

impl OneOf for Victim {
    const NAME: &'static str = "victim";
    const QUESTION: &'static str = "which candidate is collected next?";
    type Keys = Settings;
    const CHOICES: &'static [Row<Settings>] = Settings::CHOICES;
}
