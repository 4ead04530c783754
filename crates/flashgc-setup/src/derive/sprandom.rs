//! The fill after fio's `sprandom`, on the drive that it fills.

use crate::precondition::{Fill, PreconditionPlan};
use crate::sprandom;
use flashgc_config::Reader;
use flashgc_model::device::Geometry;

/// Reads the parameters of the pass. Without an over-provisioning it has that of the drive.
pub fn take(table: &Reader<'_>, precondition: &mut PreconditionPlan, geometry: &Geometry) {
    let own = table.table("sprandom");
    if precondition.fill != Fill::Sprandom {
        if table.has("sprandom") {
            table.error(
                "sprandom",
                "precondition.sprandom needs fill = \"sprandom\"",
                "set precondition.fill = \"sprandom\", or remove `sprandom`",
            );
        }
        return;
    }
    let pages = u64::from(geometry.exported_pages);
    let spare = geometry.data_pages.saturating_sub(pages) as f64 / pages as f64;
    precondition.sprandom = sprandom::read(&own, spare);
    let page_bytes = geometry.shape.page_bytes.into();
    let misfit = |plan| sprandom::misfit(plan, pages, page_bytes);
    if let Some((key, message, help)) = precondition.sprandom.as_ref().and_then(misfit) {
        own.error(key, message, help);
    }
}
