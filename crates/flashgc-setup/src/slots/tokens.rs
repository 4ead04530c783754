//! The pacing *tokens*: its keys, and the choices that exclude it.

use super::pacing::{FLOOR, Pacing, PacingKeys, floor};
use super::slot::OneOf;
use crate::space;
use flashgc_config::Reader;
use flashgc_config::units::{Threshold, counted};
use flashgc_model::device::Shape;
use flashgc_model::gc::choice::{Choice, Described, Key};
use flashgc_model::gc::{GcPlan, Space, Tokens};
use flashgc_model::plan::Plan;

/// The choice of the slot *pacing*.
pub const CHOICE: Choice = Choice {
    name: NAME,
    about: "each page that the host writes pays for copies, in proportion to the valid share of \
            the victim, and a collection makes those that are paid",
    keys: &[&FLOOR, &URGENCY_MAX],
    source: "",
};

const NAME: &str = "tokens";

const URGENCY_MAX: Described = Described(
    "urgency_max",
    "2.0 (default), 1.0 to 100.0: factor of the price at the floor; it is 1 at the soft threshold",
);

/// The keys as configured; amounts of space still depend on the device.
pub struct TokenKeys {
    floor: Option<Threshold>,
    urgency_max_milli: u32,
}

/// Reads the table of the choice.
pub fn read(table: &Reader<'_>) -> Option<TokenKeys> {
    let has_floor = table.has(FLOOR.name());
    let floor = table.threshold(FLOOR.name());
    let urgency_max_milli = match table.has(URGENCY_MAX.name()) {
        // Rounded to the next thousandth.
        true => (table.f64(URGENCY_MAX.name(), 1.0..=100.0)? * 1000.0 + 0.5) as u32,
        false => 2_000,
    };
    if has_floor && floor.is_none() {
        return None;
    }
    Some(TokenKeys { floor, urgency_max_milli })
}

/// The tokens on a device of this shape, where the scheme has them.
pub fn plan(
    root: &Reader<'_>,
    shape: &Shape,
    pacing: &PacingKeys,
    soft: Space,
    reserve_blocks: u32,
) -> Option<Option<Tokens>> {
    let PacingKeys::Tokens(keys) = pacing else { return Some(None) };
    let table = root.table("gc").table(Pacing::NAME).table(NAME);
    let floor = floor(&table, keys.floor.as_ref(), shape, reserve_blocks)?;
    let urgency_max_milli = keys.urgency_max_milli;
    let (floor_pages, soft_pages) = (floor.pages(shape), soft.pages(shape));
    Some(Some(Tokens { floor, floor_pages, soft_pages, urgency_max_milli }))
}

/// The writes of the host cannot pace a collection that has another reason than the space of its
/// plane, or that keeps the host out until it ends.
pub fn check(root: &Reader<'_>, gc: &GcPlan) -> Option<()> {
    if gc.tokens.is_none() {
        return Some(());
    }
    // For each slot: whether its choice excludes tokens, the reason, and the remedy.
    let rows = [
        (
            gc.used_space.is_some(),
            "trigger",
            "no soft threshold in a plane, from which tokens are counted",
            "watermark",
        ),
        (
            gc.idle.is_some(),
            "trigger",
            "collections in idle time, but tokens are paid by the writes of the host",
            "watermark",
        ),
        (
            gc.blocking.blocks,
            "blocking",
            "blocks that are closed until their collection ends, but with tokens it rests while \
             the host writes nothing",
            "unit",
        ),
    ];
    let Some((_, slot, why, other)) = rows.into_iter().find(|(is_refused, ..)| *is_refused) else {
        return Some(());
    };
    let name = gc.slots.get(slot).map_or("", String::as_str);
    root.table("gc").table(Pacing::NAME).error(
        "use",
        format!(
            "gc.pacing.use = \"tokens\" cannot be combined with gc.{slot}.use = {name:?}: {why}"
        ),
        format!("set gc.{slot}.use = {other:?}, or gc.pacing.use = \"at-once\""),
    );
    None
}

/// A note for the user, where no collection is ever paced.
pub fn note(plan: &Plan) -> Option<String> {
    let Tokens { floor_pages, soft_pages, .. } = plan.gc.tokens?;
    (floor_pages >= soft_pages).then(|| {
        let shape = &plan.geometry.shape;
        let reserve_blocks = plan.gc.reserve_blocks + 3;
        let pages = u64::from(reserve_blocks) * u64::from(shape.data_pages());
        format!(
            "collections run without a pause: the floor of gc.pacing.tokens ({}) is not below \
             gc.trigger.watermark.soft ({}); set soft = {} or more",
            counted(floor_pages, "page"),
            counted(soft_pages, "page"),
            space::mark(shape, reserve_blocks, pages)
        )
    })
}
