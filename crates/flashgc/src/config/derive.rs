//! What follows from the tables together: amounts of space, the reserve, and what cannot work.

use super::device::Device;
use super::gc::Scheme;
use super::hold;
use super::precondition::{Fill, PreconditionPlan};
use super::trigger::Hard;
use super::used_space;
use super::workload::WorkloadPlan;
use super::{assist, hotness, pace, sub_blocks};
use crate::device::{Geometry, Level, Pools, Shape};
use crate::drive::aged_blocks;
use crate::gc::{CopyChoice, Enter, GcPlan, Idle, Space, Suspends, Watermark};
use crate::plan::{Allocation, Arrivals, Plan, WriteBuffer};
use crate::workload::alike::{Alike, AlikePlan, RegionPlan, PAGE_BYTES};
use crate::workload::synthetic::{Footprint, Mix, PhasePlan, Size};
use flashgc_config::units::{Share, ShareOf, Threshold};
use flashgc_config::Reader;

/// Works out the plan, or notes why there is none.
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
        || gc.enter.is_some()
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
        service: if gc.enter.is_some() { device.service.apart() } else { device.service.clone() },
        gc,
        arrivals: workload.arrivals(),
        ordered,
        coalesce,
    })
}

/// The device's write buffer, and whether the scheme flushes it ahead of need. `Some(None)` where
/// there is none.
fn write_buffer(
    root: &Reader<'_>,
    device: &Device,
    scheme: &Scheme,
) -> Option<Option<WriteBuffer>> {
    let flushes_when_idle = scheme.assist.flushes_buffer;
    if flushes_when_idle && device.write_buffer.is_none() {
        root.table("gc").table("assist").error(
            "use",
            "the scheme flushes the write buffer, and the device has none",
            "give it one, as in `device.write_buffer.size = \"1 MiB\"`, or set gc.assist.use = \
             \"nothing\"",
        );
        return None;
    }
    Some(device.write_buffer.map(|buffer| WriteBuffer { flushes_when_idle, ..buffer }))
}

/// The scheme on this device, if it can work there, and the device as the scheme sees it.
pub fn scheme_plan(root: &Reader<'_>, device: &Device, scheme: &Scheme) -> Option<(Shape, GcPlan)> {
    let shape = pace::with_extra(root, &device.shape, scheme.quanta.as_ref())?;
    let shape = sub_blocks::shape(root, &shape, scheme)?;
    hotness::check(root, &shape, scheme)?;
    let gc = gc_plan(root, &shape, scheme, device.timing.erase_ns)?;
    check_spare(root, &shape, &gc)?;
    check_global(root, device, &gc)?;
    check_enter(root, device, &gc)?;
    hold::check_blocks(root, &gc)?;
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
            "copies to other units need pages that may lie anywhere, and this device gives every \
             page one plane",
            "set device.allocation = \"dynamic\", or path = \"local\"",
        );
        return None;
    }
    let is_in_one = device.pool.is_some_and(|pool| pool >= device.shape.unit);
    if is_in_one || Geometry::new(device.shape.clone()).units == 1 {
        table.error(
            "path",
            "there is no other unit to copy to",
            "set path = \"local\", or let device.pool hold several units",
        );
        return None;
    }
    Some(())
}

/// Requests get into a job that closes its unit and nothing else; suspension is for devices that
/// can, and pipelining for those whose commands take no time of their own.
fn check_enter(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<()> {
    let Some(enter) = gc.enter else { return Some(()) };
    let slots = root.table("gc");
    if gc.hold.level != device.shape.unit {
        slots.table("hold").error(
            "use",
            "a job into which requests get closes its unit to them and no other part",
            "set gc.hold.use = \"unit\"; or gc.enter.use = \"never\" and gc.pace.use = \"at-once\"",
        );
        return None;
    }
    let name = gc.slots.get("enter").copied().unwrap_or_default();
    if enter.suspends != Suspends::Nothing && device.timing.suspend.is_none() {
        slots.table("enter").error(
            "use",
            "this device cannot suspend an operation",
            "add [device.suspend] with suspend = \"20 us\", or choose \"between-copies\"",
        );
        return None;
    }
    if enter.pipeline && device.timing.command_ns > 0 {
        slots.table("enter").table(name).error(
            "pipeline",
            "pipelining is modelled where commands take no bus time",
            "set device.timing.command = \"0 ns\", or pipeline = false",
        );
        return None;
    }
    Some(())
}

/// Whether operations on one page could pass each other even in one queue: a write of a part of a
/// page reads first, and a trim needs no unit.
fn may_pass(workload: &WorkloadPlan, page_bytes: u64) -> bool {
    match workload {
        WorkloadPlan::Trace(_) | WorkloadPlan::Alike(_) => true,
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
    // What a scheme adds to the device is no part of what its shares are of.
    let own = &shape.without_extra();
    let space = |key: &str, threshold: &Threshold| space(&marks, key, threshold, own);
    let trigger = &scheme.trigger;
    let lowest = Space::Blocks(reserve_blocks + 1);
    let soft = trigger.soft.as_ref().map_or(Some(lowest), |soft| space("soft", soft))?;
    let stop = trigger.stop.as_ref().map_or(Some(soft), |stop| space("stop", stop))?;
    let hard = hard_mark(&marks, &trigger.hard, soft, reserve_blocks, shape)?;
    check_marks(&marks, [soft, hard, stop], &trigger.hard, reserve_blocks, shape)?;
    let floor = |table: &Reader<'_>, floor: &Threshold| self::space(table, "floor", floor, own);
    let quanta = pace::plan(root, shape, scheme.quanta.as_ref(), erase_ns, reserve_blocks, floor)?;
    Some(GcPlan {
        scheme: scheme.name.clone(),
        slots: scheme.slots.clone(),
        trigger: Watermark {
            soft,
            hard: used_space::has_hard_mark(scheme).then_some(hard),
            stop,
            inclusive: trigger.inclusive,
            batch: trigger.batch,
            background: trigger.background,
        },
        used_space: used_space::plan(root, shape, scheme)?,
        idle: idle_plan(root, own, scheme, soft)?,
        erase_blocks: scheme.erase_blocks,
        sub_blocks: scheme.sub_blocks,
        move_cap_pages,
        victim: scheme.victim.clone(),
        copy: scheme.copy,
        separate_gc: scheme.separate_gc,
        hotness_groups: scheme.hotness_groups.clone(),
        hold: hold::choice(shape, scheme),
        enter: scheme.enter.or(quanta.map(|_| Enter::BETWEEN_TURNS)),
        quanta,
        pre_migration: assist::plan(root, own, shape, scheme.assist.pre_migration.as_ref())?,
        reserve_blocks,
    })
}

/// The reserve lies below the hard mark, that below the soft mark, and that below the stop.
fn check_marks(
    marks: &Reader<'_>,
    [soft, hard, stop]: [Space; 3],
    given: &Hard,
    reserve_blocks: u32,
    shape: &Shape,
) -> Option<()> {
    let is_given = matches!(given, Hard::At(_));
    let pages = |space: Space| space.pages(shape);
    let reserve = u64::from(reserve_blocks) * u64::from(shape.data_pages());
    if pages(soft) <= reserve {
        marks.error(
            "soft",
            format!(
                "the soft mark ({} pages) is not above the reserve ({reserve} pages)",
                pages(soft)
            ),
            format!(
                "collection keeps {reserve_blocks} erased {} of each plane for itself: give at \
                 least {}",
                sub_blocks::word(shape),
                sub_blocks::mark(shape, reserve_blocks + 1, reserve + 1)
            ),
        );
        return None;
    }
    if is_given && pages(hard) < reserve {
        marks.error(
            "hard",
            format!("the hard mark ({} pages) is below the reserve ({reserve} pages)", pages(hard)),
            format!("give at least {}", sub_blocks::mark(shape, reserve_blocks, reserve)),
        );
        return None;
    }
    if is_given && pages(hard) > pages(soft) {
        marks.error("hard", "the hard mark is above the soft mark", "give less than `soft`");
        return None;
    }
    if pages(stop) < pages(soft) {
        marks.error(
            "stop",
            "collection would stop below the mark at which it starts",
            "give at least `soft`",
        );
        return None;
    }
    Some(())
}

/// The hard mark, or the one that there would be.
fn hard_mark(
    marks: &Reader<'_>,
    hard: &Hard,
    soft: Space,
    reserve_blocks: u32,
    shape: &Shape,
) -> Option<Space> {
    let lowest = Space::Blocks(reserve_blocks + 1);
    match hard {
        Hard::Default | Hard::None => Some(lowest),
        Hard::At(Threshold::Share { share, of: ShareOf::Soft }) => {
            Some(share_of_soft(share, soft, lowest, shape))
        }
        Hard::At(hard) => space(marks, "hard", hard, shape),
    }
}

/// A hard mark that is a share of the soft one, and no lower than the lowest that can be reached.
fn share_of_soft(share: &Share, soft: Space, lowest: Space, shape: &Shape) -> Space {
    let mark = match soft {
        Space::Blocks(blocks) => Space::Blocks(share.of(u64::from(blocks)) as u32),
        Space::Pages(pages) => Space::Pages(share.of(u64::from(pages)) as u32),
    };
    let pages = |space: Space| space.pages(shape);
    let least = if pages(lowest) > pages(soft) { soft } else { lowest };
    if pages(mark) < pages(least) {
        least
    } else {
        mark
    }
}

/// The erased blocks of each plane that only collection takes.
fn reserve_blocks(shape: &Shape, scheme: &Scheme, move_cap_pages: Option<u32>) -> u32 {
    // The worst job moves every page of its victims before it erases them: they fill as many
    // blocks. Under the odd/even rule too, since a new block takes odd and even pages alike.
    // With a bound on moves they fill no more than it allows, and one block always counts.
    if scheme.sub_blocks.is_some() {
        return sub_blocks::reserve(shape, scheme);
    }
    move_cap_pages.map_or(scheme.erase_blocks, |pages| {
        // Under the odd/even rule all of them may be of one kind.
        let per_block = shape.data_pages() / if scheme.copy.parity() { 2 } else { 1 };
        pages.div_ceil(per_block.max(1)).clamp(1, scheme.erase_blocks)
    })
}

/// The idle trigger, if the scheme has it: its mark is twice the soft mark unless it is given.
fn idle_plan(
    root: &Reader<'_>,
    shape: &Shape,
    scheme: &Scheme,
    soft: Space,
) -> Option<Option<Idle>> {
    let Some(idle) = &scheme.trigger.idle else { return Some(None) };
    let table = root.table("gc").table("trigger").table("idle");
    let mark = match &idle.mark {
        Some(mark) => space(&table, "mark", mark, shape)?,
        None => soft.twice(),
    };
    if mark.pages(shape) < soft.pages(shape) {
        table.error(
            "mark",
            "the proactive mark is below the soft mark, which is collected for at any time",
            format!(
                "give at least \"{} pages\", or leave it out for twice as much",
                soft.pages(shape)
            ),
        );
        return None;
    }
    Some(Some(Idle { wait: idle.wait, mark }))
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
            let help = "as in \"1 block\" or \"48 pages\"";
            table.error("move_cap", "the bound on moves is no share", help);
            return None;
        }
    };
    if pages > most {
        let message = format!("{pages} pages are more than {} blocks hold", scheme.erase_blocks);
        table.error("move_cap", message, "leave it out for no bound, or give less");
        return None;
    }
    Some(Some(pages as u32))
}

/// An amount of space in a plane of this shape. Shares truncate, as in the reference simulators.
fn space(table: &Reader<'_>, key: &str, threshold: &Threshold, shape: &Shape) -> Option<Space> {
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
            table.error(key, "the mark is more than a plane has", format!("a plane has {all}"));
            None
        }
    }
}

/// No mark but the hard one may be a share of the soft one.
pub fn refuse_share_of_soft(table: &Reader<'_>, key: &str) -> Option<Space> {
    let help = "as in \"4 blocks\", \"5%\" or \"50% of spare\"";
    table.error(key, "only the hard mark may be a share of the soft one", help);
    None
}

/// Collection must be able to reach its mark with every exported page valid, or it never ends.
fn check_spare(root: &Reader<'_>, shape: &Shape, gc: &GcPlan) -> Option<()> {
    let physical = shape.data_pages_per_plane();
    let exported = u64::from(shape.exported_pages_per_plane);
    let classes = gc.hotness_groups.as_ref().map_or(0, |groups| u64::from(groups.groups()));
    let open_blocks = 1 + u64::from(gc.separate_gc) + u64::from(gc.copy.parity()) + classes;
    let open_pages = open_blocks * sub_blocks::pages_shut_by_an_open_block(shape, gc);
    let reserved = u64::from(gc.reserve_blocks) * u64::from(shape.data_pages()) + open_pages;
    let mark = gc.trigger.stop.pages(shape) + u64::from(gc.trigger.inclusive);
    if exported + reserved >= physical {
        root.table("device").error(
            "exported",
            format!(
                "a plane has {} spare pages, and collection alone needs {reserved}: {}",
                physical.saturating_sub(exported),
                sub_blocks::needs(shape, gc, open_blocks)
            ),
            format!(
                "export less than {:.4} of the pages, or give each plane more blocks",
                physical.saturating_sub(reserved.max(mark + open_pages)) as f64
                    / shape.pages_per_plane() as f64
            ),
        );
        return None;
    }
    if exported + mark + open_pages >= physical {
        if gc.used_space.is_some() {
            used_space::refuse_spare(root, gc, physical - exported, open_blocks);
            return None;
        }
        let room = physical - exported - open_pages - 1;
        let key = if gc.trigger.stop == gc.trigger.soft { "soft" } else { "stop" };
        root.table("gc").table("trigger").table("watermark").error(
            key,
            format!(
                "the mark ({mark} pages in each plane) is above the over-provisioning: {} spare \
                 pages, less {open_blocks} open {}",
                physical - exported,
                sub_blocks::word(shape)
            ),
            format!(
                "collection could never reach it; give at most \"{} blocks\" or \"{room} pages\"",
                room / sub_blocks::all_of_a_block(shape)
            ),
        );
        return None;
    }
    Some(())
}

/// A synthetic request must fit the part of the drive it may touch.
pub fn check_workload(table: &Reader<'_>, workload: &WorkloadPlan, plan: &Plan) {
    if let WorkloadPlan::Alike(alike) = workload {
        return check_alike(table, alike, plan);
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
                format!("the drive has {drive_bytes} bytes, and requests go to {span}"),
                "make the footprint smaller, or the drive larger; or give a share, as in 0.5",
            );
        }
        let sizes = phase.read.sizes.iter().chain(&phase.write.sizes).map(Size::mean_bytes);
        let largest = sizes.max().unwrap_or(0).max(synthetic.plan.align_bytes);
        if largest > span {
            table.error(
                "footprint",
                format!(
                    "requests of {largest} bytes do not fit the {span} bytes that they may touch"
                ),
                "make the requests smaller, or the drive or the footprint larger",
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
        let message = "an aged drive has blocks of equal size, and here layers isolate sub-blocks";
        table.error("aged_ratio", message, "let the scheme isolate by software, or fill the drive");
        return;
    }
    let blocks = plan.geometry.shape.blocks_per_plane;
    let (aged, written) = aged_blocks(&plan.geometry, ratio);
    let reserve = plan.gc.reserve_blocks.max(filler.map_or(0, |gc| gc.reserve_blocks));
    if blocks - aged < reserve {
        table.error(
            "aged_ratio",
            format!(
                "{aged} of the {blocks} blocks of each plane would be aged, with {written} invalid \
                 pages each, and collection keeps {reserve} erased blocks for itself"
            ),
            "give a smaller ratio, or each plane more blocks",
        );
    }
}

/// What people should know of the plan.
pub fn notes(plan: &Plan, precondition: &PreconditionPlan, workload: &WorkloadPlan) -> Vec<String> {
    let mut notes = Vec::new();
    if precondition.fill == Fill::None && precondition.reads.are_left() {
        notes
            .push("the drive starts erased: collection begins only when it has been filled".into());
    }
    if matches!(plan.gc.copy, CopyChoice::Parallel(_)) && plan.gc.copy.at_once() == 1 {
        notes.push(
            "pages move one by one: the planes have one data register (device.registers), or the \
             scheme uses one (gc.copy.parallel.workers)"
                .into(),
        );
    }
    notes.extend(used_space::note(plan));
    let waits_for_idle = plan.gc.idle.is_some()
        || plan.gc.pre_migration.is_some()
        || plan.write_buffer.is_some_and(|buffer| buffer.flushes_when_idle);
    if waits_for_idle && matches!(plan.arrivals, Arrivals::Closed(_)) {
        notes.push(
            "in a closed loop a request follows another without a gap: the drive is never idle, \
             and what the scheme does in idle time is not done"
                .into(),
        );
    }
    let has_state_s3 = plan.gc.enter.is_some() && plan.gc.trigger.hard.is_some();
    if marks_writes(workload) && !has_state_s3 {
        notes.push(
            "writes of high priority are served as all others: priority counts where requests get \
             into a collection (gc.enter) and there is a hard mark"
                .into(),
        );
    }
    notes.extend(sub_blocks::note(plan));
    notes.extend(pace::note(plan));
    if plan.timing.command_ns > 0 {
        notes.push(
            "commands take bus time, so that copies are simulated one by one: slower runs".into(),
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
fn check_alike(table: &Reader<'_>, alike: &AlikePlan, plan: &Plan) {
    let page_bytes = u64::from(plan.geometry.shape.page_bytes);
    let drive_bytes = u64::from(plan.geometry.exported_pages) * page_bytes;
    let pages = |region: &RegionPlan| u64::from(region.count) * u64::from(region.of_pages);
    let all: u64 = alike.regions.iter().map(pages).fold(0, u64::saturating_add);
    let least_bytes = all.saturating_mul(PAGE_BYTES);
    // The regions of a drive that is much too small need not be laid out.
    let fits = least_bytes / 2 <= drive_bytes;
    let bytes = if fits { Alike::span_bytes(alike, plan.seed) } else { least_bytes };
    if bytes > drive_bytes {
        table.table("alike").error(
            "regions",
            format!("the requests go to {bytes} bytes, and the drive has {drive_bytes}"),
            "make the drive larger (device.blocks_per_plane)",
        );
    }
}
