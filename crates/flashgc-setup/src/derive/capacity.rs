//! The workload must fit the drive.

use crate::workload::{WorkloadPlan, check_jobs};
use flashgc_config::Reader;
use flashgc_model::plan::Plan;
use flashgc_workload::fitted::{Fitted, FittedPlan, PAGE_BYTES, RegionPlan};
use flashgc_workload::synthetic::{Footprint, Size};

/// A synthetic request must fit the part of the drive it may touch.
pub fn check(table: &Reader<'_>, workload: &WorkloadPlan, plan: &Plan) {
    if let WorkloadPlan::Fitted(fitted) = workload {
        return check_fitted(table, fitted, plan);
    }
    if let WorkloadPlan::Jobs(jobs) = workload {
        return check_jobs(&table.table("jobs"), &jobs.plan, plan);
    }
    let WorkloadPlan::Synthetic(synthetic) = workload else { return };
    let table = table.table("synthetic");
    let page_bytes = u64::from(plan.geometry.shape.page_bytes);
    let exported = plan.geometry.exported_pages;
    let drive_bytes = u64::from(exported) * page_bytes;
    for phase in &synthetic.plan.phases {
        let span = match phase.footprint {
            Footprint::Share(share) => (share * f64::from(exported)) as u64 * page_bytes,
            Footprint::Bytes(bytes) => bytes / page_bytes * page_bytes,
        };
        if span > drive_bytes {
            table.error(
                "footprint",
                format!(
                    "the footprint is {span} bytes, but the user capacity is {drive_bytes} bytes"
                ),
                "make the footprint smaller or the drive larger, or give a share, as in footprint \
                 = 0.5",
            );
        }
        let sizes = phase.read.sizes.iter().chain(&phase.write.sizes).map(Size::mean_bytes);
        let largest = sizes.max().unwrap_or(0).max(synthetic.plan.align_bytes);
        if largest > span {
            table.error(
                "footprint",
                format!("requests of {largest} bytes do not fit the footprint of {span} bytes"),
                "make the requests smaller, or the footprint or the drive larger",
            );
        }
    }
}

/// Checks that the places of a fitted workload fit the drive.
fn check_fitted(table: &Reader<'_>, fitted: &FittedPlan, plan: &Plan) {
    let page_bytes = u64::from(plan.geometry.shape.page_bytes);
    let drive_bytes = u64::from(plan.geometry.exported_pages) * page_bytes;
    let pages = |region: &RegionPlan| u64::from(region.count) * u64::from(region.of_pages);
    let all: u64 = fitted.regions.iter().map(pages).fold(0, u64::saturating_add);
    let least_bytes = all.saturating_mul(PAGE_BYTES);
    // The regions of a drive that is much too small need not be laid out.
    let fits = least_bytes / 2 <= drive_bytes;
    let bytes = if fits { Fitted::span_bytes(fitted, plan.seed) } else { least_bytes };
    if bytes > drive_bytes {
        table.table("fitted").error(
            "regions",
            format!(
                "the workload covers {bytes} bytes, but the user capacity is {drive_bytes} bytes"
            ),
            "make the drive larger (device.blocks_per_plane)",
        );
    }
}
