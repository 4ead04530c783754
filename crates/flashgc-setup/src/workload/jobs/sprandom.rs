//! A job that writes a pass of `sprandom`.

use crate::sprandom;
use flashgc_config::Reader;
use flashgc_workload::jobs::{JobPlan, Span};
use flashgc_workload::sprandom::SprandomPlan;

/// The default of fio.
const OVER_PROVISIONING: f64 = 0.15;

/// The pass of a job, if it has one. Errors are noted.
pub(super) fn read(table: &Reader<'_>) -> Option<Option<SprandomPlan>> {
    if !table.has("sprandom") {
        return Some(None);
    }
    // A flag, or the table of its parameters.
    if table.is_table("sprandom") {
        return sprandom::read(&table.table("sprandom"), OVER_PROVISIONING).map(Some);
    }
    let plan = SprandomPlan {
        over_provisioning: OVER_PROVISIONING,
        regions: sprandom::REGIONS,
        cache_bytes: 0,
    };
    table.bool("sprandom").map(|is_on| is_on.then_some(plan))
}

/// The pass is all that its job does.
pub(super) fn check(
    table: &Reader<'_>,
    plan: &JobPlan,
    is_of_one_size: bool,
    is_plain: bool,
) -> Option<()> {
    if plan.sprandom.is_none() {
        return Some(());
    }
    let is_random = plan.random_share == [1.0; 3] && is_plain;
    let writes_alone = plan.read_share == 0.0 && plan.trim_share == 0.0;
    let rows = [
        (writes_alone, "writes alone", "remove `read_share` and `trim_share`"),
        (is_random, "uniform random addresses", "remove `address` and `random_share`"),
        (is_of_one_size, "requests of one size, which is the alignment", "give one `size`"),
        (!plan.once, "some blocks more than once", "remove `once`"),
        (plan.clones == 1, "one clone", "remove `clones`"),
        (plan.files.is_one(), "one file", "remove `files`"),
        (plan.walk.is_plain(), "places of its own", "remove `run`, `skip` and `stride_range`"),
        (
            plan.loops == 1 && !plan.time_based && !table.has("amount"),
            "an amount of its own",
            "remove `amount`, `loops` and `time_based`",
        ),
    ];
    let Some((_, needs, help)) = rows.into_iter().find(|(is_met, ..)| !is_met) else {
        return Some(());
    };
    table.error("sprandom", format!("`sprandom` has {needs}"), format!("{help}, or `sprandom`"));
    None
}

/// The part of the drive that the job writes must have room for the regions.
pub(super) fn check_fit(table: &Reader<'_>, job: &JobPlan, span: &Span) {
    let Some(pass) = &job.sprandom else { return };
    let misfit = sprandom::misfit(pass, span.bytes / job.align_bytes, job.align_bytes);
    if let Some((key, message, help)) = misfit {
        let message = format!("`sprandom.{key}` of job \"{}\": {message}", job.name);
        table.error("job", message, help);
    }
}
