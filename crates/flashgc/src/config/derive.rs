//! Values that follow from the tables together: amounts of space, the reserve, and combinations
//! that cannot work.

use super::blocking;
use super::device::Device;
use super::gc::Scheme;
use super::precondition::{Fill, PreconditionPlan};
use super::used_space;
use super::workload::WorkloadPlan;
use super::{background, hotness, pacing, spare, sub_blocks, thresholds};
use crate::device::{Geometry, Level, Pools, Shape};
use crate::drive::aged_blocks;
use crate::gc::{CopyChoice, GcPlan, Preemption, Space, Suspends, Watermark};
use crate::plan::{Allocation, Arrivals, Plan, WriteBuffer};
use crate::workload::fitted::{Fitted, FittedPlan, PAGE_BYTES, RegionPlan};
use crate::workload::synthetic::{Footprint, Mix, PhasePlan, Size};
use flashgc_config::Reader;
use flashgc_config::units::{ShareOf, Threshold};

/// Derives the plan, or notes why there is none.
pub fn plan(
    root: &Reader<'_>,
    seed: u64,
    device: &Device,
    scheme: &Scheme,
    workload: &WorkloadPlan,
    coalesce: bool,
) -> Option<Plan> {
    let (shape, gc) = scheme_plan(root, device, scheme)?;
    let write_buffer = write_buffer(root, device, scheme)?;
    let ordered = device.allocation == Allocation::Dynamic
        || gc.preemption.is_some()
        || write_buffer.is_some()
        || device.service.splits_host()
        || may_pass(workload, u64::from(device.shape.page_bytes));
    let geometry = Geometry::new(shape);
    let pools = match device.allocation {
        Allocation::Striped => Pools::new(&geometry, Some(Level::Plane)),
        Allocation::Dynamic => Pools::new(&geometry, device.pool),
    };
    Some(Plan {
        seed,
        geometry,
        timing: device.timing,
        host_link: device.host_link,
        write_buffer,
        allocation: device.allocation,
        pool: device.pool,
        pools,
        service: if gc.preemption.is_some() {
            device.service.apart()
        } else {
            device.service.clone()
        },
        gc,
        arrivals: workload.arrivals(),
        ordered,
        reads: has_reads(workload),
        coalesce,
    })
}

/// The device's write buffer, and whether the scheme flushes it before it must. `Some(None)` where
/// there is none.
fn write_buffer(
    root: &Reader<'_>,
    device: &Device,
    scheme: &Scheme,
) -> Option<Option<WriteBuffer>> {
    let flushes_when_idle = scheme.background.flushes_buffer;
    if flushes_when_idle && device.write_buffer.is_none() {
        root.table("gc").table("background").error(
            "use",
            "the scheme flushes the write buffer (gc.background.use), but this device has none",
            "add one, as in `device.write_buffer.size = \"1 MiB\"`, or set gc.background.use = \
             \"nothing\"",
        );
        root.remedy("device.write_buffer.size", "1 MiB");
        return None;
    }
    Some(device.write_buffer.map(|buffer| WriteBuffer { flushes_when_idle, ..buffer }))
}

/// The scheme on this device, if it can work there, and the device as the scheme sees it.
pub fn scheme_plan(root: &Reader<'_>, device: &Device, scheme: &Scheme) -> Option<(Shape, GcPlan)> {
    let shape = pacing::with_extra(root, &device.shape, scheme.time_slices.as_ref())?;
    let shape = sub_blocks::shape(root, &shape, scheme)?;
    hotness::check(root, &shape, scheme)?;
    let gc = gc_plan(root, &shape, scheme, device.timing.erase_ns)?;
    spare::check(root, &shape, &gc)?;
    check_global(root, device, &gc)?;
    check_preemption(root, device, &gc)?;
    blocking::check_blocks(root, &gc)?;
    Some((shape, gc))
}

/// Pages that leave their plane must be found by the map, and need another unit to go to.
fn check_global(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<()> {
    if !gc.copy.is_global() {
        return Some(());
    }
    let table = root.table("gc").table("copy").table("parallel");
    if device.allocation == Allocation::Striped {
        table.error(
            "path",
            "path = \"global\" copies pages to other units, which needs dynamic allocation, but \
             device.allocation is \"striped\"",
            "set device.allocation = \"dynamic\" or path = \"local\"",
        );
        root.remedy("device.allocation", "dynamic");
        return None;
    }
    let is_in_one = device.pool.is_some_and(|pool| pool >= device.shape.unit);
    if is_in_one || Geometry::new(device.shape.clone()).units == 1 {
        table.error(
            "path",
            "path = \"global\" copies pages to other units, but there is only one to allocate from",
            "set path = \"local\", or set device.pool to a part with several units",
        );
        return None;
    }
    Some(())
}

/// Requests can only preempt a collection that blocks exactly its unit. Suspension needs a device
/// that supports it, and pipelining a device whose commands take no time of their own.
fn check_preemption(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<()> {
    let Some(preemption) = gc.preemption else { return Some(()) };
    let slots = root.table("gc");
    if gc.blocking.level != device.shape.unit {
        let blocking = gc.slots.get("blocking").copied().unwrap_or_default();
        slots.table("blocking").error(
            "use",
            format!(
                "gc.blocking.use = {blocking:?} cannot be combined with requests that are served \
                 during a collection"
            ),
            "set gc.blocking.use = \"unit\", or gc.preemption.use = \"never\" and \
             gc.pacing.use = \"at-once\"",
        );
        return None;
    }
    let name = gc.slots.get("preemption").copied().unwrap_or_default();
    if preemption.suspends != Suspends::Nothing && device.timing.suspend.is_none() {
        slots.table("preemption").error(
            "use",
            format!("gc.preemption.use = {name:?} needs a device that can suspend operations"),
            "add [device.suspend] with suspend = \"20 us\", or set gc.preemption.use = \
             \"between-copies\"",
        );
        root.remedy("device.suspend.suspend", "20 us");
        return None;
    }
    if preemption.pipeline && device.timing.command_ns > 0 {
        slots.table("preemption").table(name).error(
            "pipeline",
            format!(
                "pipelining needs commands without bus time, but device.timing.command is {} ns",
                device.timing.command_ns
            ),
            "set device.timing.command = \"0 ns\" or pipeline = false",
        );
        root.remedy("device.timing.command", "0 ns");
        return None;
    }
    Some(())
}

/// Whether the host reads at all.
fn has_reads(workload: &WorkloadPlan) -> bool {
    let WorkloadPlan::Synthetic(workload) = workload else { return true };
    let reads = |mix: &Mix| !matches!(mix, Mix::Shares { read_share, .. } if *read_share == 0.0);
    workload.plan.phases.iter().any(|phase| reads(&phase.mix))
}

/// Whether operations on one page could pass each other even in one queue: a write of a part of a
/// page reads first, and a trim needs no unit.
fn may_pass(workload: &WorkloadPlan, page_bytes: u64) -> bool {
    match workload {
        WorkloadPlan::Trace(_) | WorkloadPlan::Fitted(_) | WorkloadPlan::Jobs(_) => true,
        WorkloadPlan::Synthetic(workload) => {
            let plan = &workload.plan;
            let is_whole = |size: &Size| size.is_whole_pages(plan.align_bytes, page_bytes);
            let trims =
                |mix: &Mix| matches!(mix, Mix::Shares { trim_share, .. } if *trim_share > 0.0);
            let passes = |phase: &PhasePlan| {
                let mut sizes = phase.read.sizes.iter().chain(&phase.write.sizes);
                trims(&phase.mix) || !sizes.all(is_whole)
            };
            plan.align_bytes % page_bytes != 0 || plan.phases.iter().any(passes)
        }
    }
}

fn gc_plan(root: &Reader<'_>, shape: &Shape, scheme: &Scheme, erase_ns: u64) -> Option<GcPlan> {
    let marks = root.table("gc").table("trigger").table("watermark");
    let move_cap_pages = move_cap(root, scheme, shape)?;
    let reserve_blocks = reserve_blocks(shape, scheme, move_cap_pages);
    // Shares refer to the device without the space that a scheme adds.
    let own = &shape.without_extra();
    let space = |key: &str, threshold: &Threshold| space(&marks, key, threshold, own);
    let trigger = &scheme.trigger;
    let lowest = Space::Blocks(reserve_blocks + 1);
    let soft = trigger.soft.as_ref().map_or(Some(lowest), |soft| space("soft", soft))?;
    let stop = trigger.stop.as_ref().map_or(Some(soft), |stop| space("stop", stop))?;
    let hard = thresholds::hard(&marks, &trigger.hard, soft, reserve_blocks, shape)?;
    thresholds::check(&marks, [soft, hard, stop], &trigger.hard, reserve_blocks, shape)?;
    let floor = |table: &Reader<'_>, floor: &Threshold| self::space(table, "floor", floor, own);
    let time_slices =
        pacing::plan(root, shape, scheme.time_slices.as_ref(), erase_ns, reserve_blocks, floor)?;
    Some(GcPlan {
        scheme: scheme.name.clone(),
        slots: scheme.slots.clone(),
        trigger: Watermark {
            soft,
            hard: used_space::has_hard_mark(scheme).then_some(hard),
            stop,
            inclusive: trigger.inclusive,
            batch: trigger.batch,
            idle_units: trigger.idle_units,
        },
        used_space: used_space::plan(root, shape, scheme)?,
        idle: thresholds::idle(root, own, scheme, soft)?,
        erase_blocks: scheme.erase_blocks,
        sub_blocks: scheme.sub_blocks,
        move_cap_pages,
        victim: scheme.victim.clone(),
        copy: scheme.copy,
        separate_gc: scheme.separate_gc,
        hotness_groups: scheme.hotness_groups.clone(),
        blocking: blocking::choice(shape, scheme),
        preemption: scheme.preemption.or(time_slices.map(|_| Preemption::BETWEEN_SLICES)),
        time_slices,
        pre_migration: background::plan(
            root,
            own,
            shape,
            scheme.background.pre_migration.as_ref(),
        )?,
        reserve_blocks,
        reserve_pages: sub_blocks::reserve_pages(shape, scheme),
    })
}

/// The erased blocks of each plane that only collection takes.
fn reserve_blocks(shape: &Shape, scheme: &Scheme, move_cap_pages: Option<u32>) -> u32 {
    // The worst collection moves every page of its victims before it erases them: they fill the
    // same number of blocks. Under the odd/even rule too, since a new block takes odd and even
    // pages fitted. With a bound on moves they fill no more than it allows, and one block always
    // counts.
    if scheme.sub_blocks.is_some() {
        return sub_blocks::reserve(shape, scheme);
    }
    move_cap_pages.map_or(scheme.erase_blocks, |pages| {
        // Under the odd/even rule all of them may be of one kind.
        let per_block = shape.data_pages() / if scheme.copy.parity() { 2 } else { 1 };
        pages.div_ceil(per_block.max(1)).clamp(1, scheme.erase_blocks)
    })
}

/// The bound on the moves of a collection of several blocks, in pages.
fn move_cap(root: &Reader<'_>, scheme: &Scheme, shape: &Shape) -> Option<Option<u32>> {
    let Some(cap) = &scheme.move_cap else { return Some(None) };
    let table = root.table("gc").table("erase").table("blocks");
    let most = u64::from(scheme.erase_blocks) * u64::from(shape.data_pages());
    let pages = match cap {
        Threshold::Pages(pages) => *pages,
        Threshold::Blocks(blocks) => blocks.saturating_mul(u64::from(shape.data_pages())),
        Threshold::Share { .. } => {
            let help = "give blocks or pages, as in \"1 block\" or \"48 pages\"";
            table.error("move_cap", "move_cap cannot be a share", help);
            return None;
        }
    };
    if pages > most {
        let message = format!(
            "move_cap must be at most {most} pages (victim blocks: {}), got {pages}",
            scheme.erase_blocks
        );
        table.error("move_cap", message, "give less, or remove move_cap for no limit");
        return None;
    }
    Some(Some(pages as u32))
}

/// An amount of space in a plane of this shape. Shares truncate, as in the reference simulators.
pub(super) fn space(
    table: &Reader<'_>,
    key: &str,
    threshold: &Threshold,
    shape: &Shape,
) -> Option<Space> {
    let exported = u64::from(shape.exported_pages_per_plane);
    let spare_pages = shape.data_pages_per_plane().saturating_sub(exported);
    if shape.sub_blocks > 1 {
        return sub_blocks::space(table, key, threshold, shape);
    }
    let (space, all) = match threshold {
        Threshold::Blocks(blocks) => (Some(*blocks), u64::from(shape.blocks_per_plane)),
        Threshold::Pages(pages) => (Some(*pages), shape.data_pages_per_plane()),
        Threshold::Share { share, of: ShareOf::Pages } => {
            let pages = shape.data_pages_per_plane();
            (Some(share.of(pages)), pages)
        }
        Threshold::Share { of: ShareOf::Soft, .. } => return refuse_share_of_soft(table, key),
        Threshold::Share { share, of: ShareOf::Physical } => {
            (Some(share.of(u64::from(shape.blocks_per_plane))), u64::from(shape.blocks_per_plane))
        }
        Threshold::Share { share, of: ShareOf::Spare } => {
            let blocks = spare_pages / u64::from(shape.data_pages());
            (Some(share.of(blocks)), u64::from(shape.blocks_per_plane))
        }
    };
    match space {
        Some(amount) if amount <= all => Some(match threshold {
            Threshold::Pages(_) | Threshold::Share { of: ShareOf::Pages, .. } => {
                Space::Pages(amount as u32)
            }
            _ => Space::Blocks(amount as u32),
        }),
        _ => {
            let unit = match threshold {
                Threshold::Pages(_) => "pages",
                _ => "blocks",
            };
            let given = space.unwrap_or_default();
            table.error(
                key,
                format!("the threshold is {given} {unit}, but a plane has {all}"),
                format!("give at most \"{all} {unit}\""),
            );
            None
        }
    }
}

/// No threshold but the hard one may be a share of the soft one.
pub fn refuse_share_of_soft(table: &Reader<'_>, key: &str) -> Option<Space> {
    let help = "give for example \"4 blocks\", \"5%\" or \"50% of spare\"";
    table.error(key, "only the hard threshold can be a share of the soft threshold", help);
    None
}

/// A synthetic request must fit the part of the drive it may touch.
pub fn check_workload(table: &Reader<'_>, workload: &WorkloadPlan, plan: &Plan) {
    if let WorkloadPlan::Fitted(fitted) = workload {
        return check_fitted(table, fitted, plan);
    }
    if let WorkloadPlan::Jobs(jobs) = workload {
        return super::workload::check_jobs(&table.table("jobs"), jobs, plan);
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

/// An aged drive must have the erased blocks that collection keeps for itself.
pub fn check_aged(
    table: &Reader<'_>,
    precondition: &PreconditionPlan,
    plan: &Plan,
    filler: Option<&GcPlan>,
) {
    let Some(ratio) = precondition.aged_ratio else { return };
    if plan.geometry.shape.isolation_pages > 0 {
        let message = "fill = \"aged\" needs blocks of equal size, but this scheme isolates \
                       sub-blocks by layers";
        table.error(
            "aged_ratio",
            message,
            "set gc.erase.sub-blocks.isolation = \"software\" or precondition.fill = \
             \"sequential\"",
        );
        return;
    }
    let blocks = plan.geometry.shape.blocks_per_plane;
    let (aged, written) = aged_blocks(&plan.geometry, ratio);
    let reserve = plan.gc.reserve_blocks.max(filler.map_or(0, |gc| gc.reserve_blocks));
    if blocks - aged < reserve {
        table.error(
            "aged_ratio",
            format!(
                "aged_ratio = {ratio} fills {aged} of the {blocks} blocks of each plane, with \
                 {written} invalid pages each, but collection reserves {reserve} erased {}",
                sub_blocks::word(&plan.geometry.shape, reserve.into())
            ),
            "give a smaller ratio, or more blocks per plane (device.blocks_per_plane)",
        );
    }
}

/// Notes on the plan for the user.
pub fn notes(plan: &Plan, precondition: &PreconditionPlan, workload: &WorkloadPlan) -> Vec<String> {
    let mut notes = Vec::new();
    if precondition.fill == Fill::None && precondition.reads.are_left() {
        notes.push(
            "the drive starts erased, so collection begins only after it has been filled".into(),
        );
    }
    if matches!(plan.gc.copy, CopyChoice::Parallel(_)) && plan.gc.copy.at_once() == 1 {
        notes.push(
            "pages are copied one at a time: a plane has one data register (device.registers), or \
             the scheme uses one worker (gc.copy.parallel.workers)"
                .into(),
        );
    }
    notes.extend(used_space::note(plan));
    let waits_for_idle = plan.gc.idle.is_some()
        || plan.gc.pre_migration.is_some()
        || plan.write_buffer.is_some_and(|buffer| buffer.flushes_when_idle);
    if waits_for_idle && matches!(plan.arrivals, Arrivals::Closed(_)) {
        notes.push(
            "in a closed loop the drive is never idle, so the scheme's idle-time work does not run"
                .into(),
        );
    }
    let has_state_s3 = plan.gc.preemption.is_some() && plan.gc.trigger.hard.is_some();
    if marks_writes(workload) && !has_state_s3 {
        notes.push(
            "high-priority writes are served like all others: priority needs a scheme that serves \
             requests during a collection (gc.preemption) and has a hard threshold"
                .into(),
        );
    }
    notes.extend(sub_blocks::note(plan));
    notes.extend(pacing::note(plan));
    if plan.timing.command_ns > 0 {
        notes.push(
            "commands take bus time, so copies are simulated one by one and the run is slower"
                .into(),
        );
    }
    notes
}

/// Whether a synthetic workload marks writes as of high priority.
fn marks_writes(workload: &WorkloadPlan) -> bool {
    let WorkloadPlan::Synthetic(workload) = workload else { return false };
    workload.plan.phases.iter().any(|phase| phase.high_share.write > 0.0)
}

/// The places of a workload that is like a trace must fit the drive.
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
