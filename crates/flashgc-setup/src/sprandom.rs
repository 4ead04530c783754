//! The table of `sprandom`: a pass of writes after fio, as a fill or as a job.

use flashgc_config::Reader;
use flashgc_config::units::counted;
use flashgc_workload::sprandom::{REGIONS_MAX, SprandomPlan};

/// Regions of a pass, as in fio.
pub const REGIONS: u32 = 100;

/// Reads the table, with the over-provisioning where it gives none. Errors are noted.
pub fn read(table: &Reader<'_>, fallback: f64) -> Option<SprandomPlan> {
    let over_provisioning = match table.has("over_provisioning") {
        true => table.part("over_provisioning", 0.0..=1.0),
        false => Some(fallback),
    };
    let regions = match table.has("regions") {
        true => table.u32("regions", 2..=REGIONS_MAX),
        false => Some(REGIONS),
    };
    let cache = match table.has("cache") {
        true => table.bytes("cache"),
        false => Some(0),
    };
    table.finish();
    let over_provisioning = over_provisioning?;
    if over_provisioning <= 0.0 || over_provisioning >= 1.0 {
        let of = if table.has("over_provisioning") { "" } else { " of the drive" };
        table.error(
            "over_provisioning",
            format!(
                "over_provisioning must be above 0 and below 1, but that{of} is {over_provisioning}"
            ),
            "give (physical - user) / user, as in `sprandom.over_provisioning = 0.15`",
        );
        return None;
    }
    Some(SprandomPlan { over_provisioning, regions: regions?, cache_bytes: cache? })
}

/// The mistake in a pass over this number of blocks, with its key and its remedy. A pass has at
/// least as many writes as regions, and each region is at least as large as the cache.
pub fn misfit(
    plan: &SprandomPlan,
    blocks: u64,
    block_bytes: u64,
) -> Option<(&'static str, String, String)> {
    let writes = plan.writes(blocks);
    if u64::from(plan.regions) > writes {
        let writes_in = counted(writes, "write");
        let message = format!("the pass has {writes_in}, but {} regions", plan.regions);
        let help = format!("give at most {}", counted(writes, "region"));
        return Some(("regions", message, help));
    }
    let bytes = u128::from(writes) * u128::from(block_bytes);
    let region_bytes = bytes / u128::from(plan.regions);
    if u128::from(plan.cache_bytes) <= region_bytes {
        return None;
    }
    let message = format!(
        "the cache of {} bytes is larger than a region, which has {region_bytes} bytes",
        plan.cache_bytes
    );
    let help = match bytes / u128::from(plan.cache_bytes) {
        0 | 1 => "give a smaller cache".into(),
        most => format!("give at most {most} regions, or a smaller cache"),
    };
    Some(("cache", message, help))
}
