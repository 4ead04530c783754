//! `device.exported` and `device.over_provisioning`: the part of a plane that the host sees.

use flashgc_config::Reader;
use flashgc_config::units::{Share, ShareOf, Threshold};
use flashgc_model::device::Shape;

/// The part of a plane that the host sees.
#[derive(Clone, Debug)]
pub enum Exported {
    /// A share of its physical pages.
    Share(Share),
    /// All pages of data but those of some blocks.
    AllBut(Reserved),
}

/// An amount of blocks of a plane.
#[derive(Clone, Debug)]
pub enum Reserved {
    Share(Share),
    Blocks(u64),
}

impl Reserved {
    fn blocks_of(&self, shape: &Shape) -> u64 {
        match self {
            Reserved::Share(share) => share.of(shape.blocks_per_plane.into()),
            Reserved::Blocks(blocks) => *blocks,
        }
    }
}

impl Exported {
    /// In pages of one plane; `None` where all blocks or none would be reserved. Shares truncate,
    /// as in the reference simulators.
    pub fn pages_of(&self, shape: &Shape) -> Option<u64> {
        let reserved = match self {
            // The share is of all pages, and every plane exports the same whole number of them.
            Exported::Share(share) => return Some(share.of(shape.pages_per_plane())),
            Exported::AllBut(reserved) => reserved.blocks_of(shape),
        };
        let all = u64::from(shape.blocks_per_plane);
        let is_possible = reserved > 0 && reserved < all;
        is_possible.then(|| (all - reserved) * u64::from(shape.data_pages()))
    }

    /// The same, of a size that is checked later; an error is noted where there is no such part.
    pub fn pages(&self, table: &Reader<'_>, shape: &Shape) -> Option<u32> {
        let pages = self.pages_of(shape);
        if let (None, Exported::AllBut(reserved)) = (pages, self) {
            let (reserved, all) = (reserved.blocks_of(shape), shape.blocks_per_plane);
            table.table("exported").error(
                "reserved_blocks",
                format!(
                    "reserved_blocks must be above 0 and below {all} (the blocks of a plane), got \
                     {reserved}"
                ),
                format!("write for example \"15%\", or a number of blocks below {all}"),
            );
        }
        pages.map(|pages| u32::try_from(pages).unwrap_or(u32::MAX))
    }
}

const OVER_PROVISIONING: &str = "over_provisioning";

/// Reads it. Errors are noted.
pub fn read(table: &Reader<'_>) -> Option<Exported> {
    if table.has(OVER_PROVISIONING) {
        return over_provisioning(table).map(Exported::Share);
    }
    if !table.is_table("exported") {
        return exported_share(table).map(Exported::Share);
    }
    let table = table.table("exported");
    let help = "the blocks of each plane that the host cannot use, as in `reserved_blocks = \
                \"15%\"` or \"307 blocks\"";
    let key = "reserved_blocks";
    let found = table.required(key, table.threshold(key), help);
    table.finish();
    let reserved = match found? {
        Threshold::Blocks(blocks) => Reserved::Blocks(blocks),
        Threshold::Share { share, of: ShareOf::Physical } => Reserved::Share(share),
        Threshold::Pages(_) | Threshold::Share { .. } => {
            table.error(key, "reserved_blocks must be a number of blocks or a share of them", help);
            return None;
        }
    };
    Some(Exported::AllBut(reserved))
}

fn exported_share(table: &Reader<'_>) -> Option<Share> {
    let help = "the user capacity as a share of the physical pages, as in `exported = 0.85` or \
                `exported = { reserved_blocks = \"15%\" }`, or over_provisioning = \"7%\"";
    let share = table.required("exported", table.share("exported"), help)?;
    if share.numerator == 0 || share.numerator >= share.denominator {
        let given = share.numerator as f64 / share.denominator as f64;
        table.error("exported", format!("exported must be above 0 and below 1, got {given}"), help);
        return None;
    }
    Some(share)
}

/// The user share of the capacity from over-provisioning, which drives are sold by: (physical -
/// user) / user.
fn over_provisioning(table: &Reader<'_>) -> Option<Share> {
    let spare = table.share(OVER_PROVISIONING);
    if table.has("exported") {
        table.error(
            OVER_PROVISIONING,
            "over_provisioning and exported cannot be combined: each sets the user capacity",
            "keep one of them",
        );
        return None;
    }
    let spare = spare?;
    if spare.numerator == 0 {
        table.error(
            OVER_PROVISIONING,
            "over_provisioning must be above 0, got 0",
            "give (physical - user) / user, as in \"7%\" or \"28%\"",
        );
        return None;
    }
    let Share { numerator, denominator } = spare;
    Some(Share { numerator: denominator, denominator: denominator.checked_add(numerator)? })
}
