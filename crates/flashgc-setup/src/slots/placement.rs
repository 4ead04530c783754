//! The slot *placement*: where host and copied pages are written.

use super::copy;
use super::erase::Erase;
use super::slot::{OneOf, choice};
use flashgc_config::Reader;
use flashgc_model::device::Shape;
use flashgc_model::gc::CopyChoice;
use flashgc_model::gc::choice::Row;
use flashgc_model::gc::placement::{Classes, Settings};
use flashgc_model::gc::victim;

/// The blocks for pages of the host and for copies.
pub enum Placement {
    OneFrontier,
    SeparateGc,
    Classes(Settings),
}

impl OneOf for Placement {
    const NAME: &'static str = "placement";
    const QUESTION: &'static str = "where are host and copied pages written?";
    type Keys = Placement;
    const CHOICES: &'static [Row<Placement>] = &Settings::with(
        Row {
            choice: choice(
                "one-frontier",
                "copies share the plane's open block with host writes",
                &[],
            ),
            read: |_, _| Some(Placement::OneFrontier),
        },
        Row {
            choice: choice("separate-gc", "copies go to a separate open block", &[]),
            read: |_, _| Some(Placement::SeparateGc),
        },
    );
}

impl From<Settings> for Placement {
    fn from(settings: Settings) -> Self {
        Placement::Classes(settings)
    }
}

impl Placement {
    /// Whether copies go to a frontier of their own.
    pub fn separates_gc(&self) -> bool {
        matches!(self, Placement::SeparateGc)
    }

    /// Streams of writes and copies, each with an open block of its own.
    pub fn streams(&self) -> u32 {
        match self {
            Placement::OneFrontier => 1,
            Placement::SeparateGc => 2,
            Placement::Classes(classes) => classes.classes(),
        }
    }

    /// Streams of copies among them.
    pub fn streams_of_copies(&self) -> u32 {
        match self {
            Placement::OneFrontier | Placement::SeparateGc => 1,
            Placement::Classes(classes) => classes.classes_of_copies(),
        }
    }

    /// The classification of pages, where they have classes.
    pub fn settings(&self, victim: &victim::Settings) -> Option<Settings> {
        let Placement::Classes(classes) = self else { return None };
        let mut settings = classes.clone();
        settings.set_ranks(victim.ranks());
        Some(settings)
    }

    /// The copies of a class stay in their plane and go to any of its pages. Some placements need
    /// sub-blocks, and enough blocks in a plane.
    pub fn check(
        &self,
        root: &Reader<'_>,
        shape: &Shape,
        erase: &Erase,
        mode: CopyChoice,
    ) -> Option<()> {
        let Placement::Classes(classes) = self else { return Some(()) };
        let name = classes.name();
        let table = root.table("gc").table(Placement::NAME);
        if classes.needs_sub_blocks() && erase.sub_blocks().is_none() {
            let message =
                format!("{name} needs sub-block erase, but this scheme erases whole blocks");
            let help = "set gc.erase.use = \"sub-blocks\", or choose another gc.placement.use";
            table.error("use", message, help);
            return None;
        }
        if classes.needs_single_blocks() && (erase.sub_blocks().is_some() || erase.blocks() > 1) {
            let message = format!(
                "{name} moves the pages of a victim to one group, and needs an erase of one block"
            );
            let help = "set gc.erase.use = \"block\", or choose another gc.placement.use";
            table.error("use", message, help);
            return None;
        }
        if mode.parity() || mode.is_global() {
            table.error(
                "use",
                format!("{name} cannot be combined with parity = true or path = \"global\""),
                copy::WITHOUT_PARITY,
            );
            return None;
        }
        classes.check(root, &table.table(name), shape)
    }
}
