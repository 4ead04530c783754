//! The scheme on a device.

use super::{cache, failures, mapping_unit, reserve, superblocks};
use crate::device::Device;
use crate::gc::Scheme;
use crate::slots::{background, blocking, copy, erase, pacing, preemption, tokens};
use crate::spare;
use flashgc_config::Reader;
use flashgc_model::device::Shape;
use flashgc_model::gc::{Cost, GcPlan, Preemption};

type Check = fn(&Reader<'_>, &Device, &Shape, &GcPlan) -> Option<()>;

/// Checks for combinations that cannot work, in the order in which they are reported: the first
/// error ends the list.
const CHECKS: &[Check] = &[
    |root, _, shape, gc| spare::check(root, shape, gc),
    |root, device, _, gc| copy::check(root, device, gc),
    |root, device, _, gc| preemption::check(root, device, gc),
    |root, _, _, gc| blocking::check(root, gc),
    |root, _, _, gc| tokens::check(root, gc),
    |root, _, _, gc| background::check(root, gc),
    |root, device, _, gc| mapping_unit::check(root, device, gc),
    |root, device, _, _| cache::check(root, device),
    |root, device, _, gc| superblocks::check(root, device, gc),
    failures::check,
];

/// The scheme on this device, if it can work there, and the device in the scheme's units.
pub fn plan(root: &Reader<'_>, device: &Device, scheme: &Scheme) -> Option<(Shape, GcPlan)> {
    let shape = pacing::with_extra(root, &device.shape, &scheme.pacing)?;
    let shape = erase::shape(root, &shape, &scheme.erase, &scheme.victim, scheme.copy)?;
    let shape = Shape { padded_programs: scheme.placement.streams_of_copies(), ..shape };
    scheme.placement.check(root, &shape, &scheme.erase, scheme.copy)?;
    let gc = resolved(root, &shape, scheme, device)?;
    CHECKS.iter().try_for_each(|check| check(root, device, &shape, &gc))?;
    Some((shape, gc))
}

/// The answer of every slot, in amounts of this device.
fn resolved(root: &Reader<'_>, shape: &Shape, scheme: &Scheme, device: &Device) -> Option<GcPlan> {
    let Scheme { trigger, erase, placement, .. } = scheme;
    let move_cap_pages = erase.move_cap(root, shape)?;
    let reserve_blocks =
        reserve::blocks(shape, scheme, move_cap_pages) + failures::reserve_blocks(device);
    let marks = trigger.thresholds(root, scheme.blocking.blocks_only, reserve_blocks, shape)?;
    let soft = marks.soft;
    let time_slices =
        pacing::plan(root, shape, &scheme.pacing, device.timing.erase_ns, reserve_blocks)?;
    let tokens = tokens::plan(root, shape, &scheme.pacing, soft, reserve_blocks)?;
    let takes_time = scheme.cost == Cost::Device && scheme.copy.takes_time();
    // The collection of a superblock that takes no time has no pauses.
    let has_pauses = takes_time || shape.lanes == 1;
    let time_slices = time_slices.filter(|_| has_pauses);
    let tokens = tokens.filter(|_| has_pauses);
    let is_paced = time_slices.is_some() || tokens.is_some();
    Some(GcPlan {
        scheme: scheme.name.clone(),
        slots: scheme.slots.clone(),
        cost: scheme.cost,
        trigger: marks,
        used_space: trigger.used_space(root, erase, shape)?,
        idle: trigger.idle(root, shape, soft)?,
        erase_blocks: erase.blocks(),
        sub_blocks: erase.sub_blocks(),
        move_cap_pages,
        victim: scheme.victim.clone(),
        copy: superblocks::copy(scheme.copy, shape),
        separate_gc: placement.separates_gc(),
        placement: placement.settings(&scheme.victim),
        blocking: scheme.blocking.plan(shape, takes_time),
        preemption: scheme
            .preemption
            .filter(|_| has_pauses)
            .map(|rules| if takes_time { rules } else { rules.without_polls() })
            .or(is_paced.then_some(Preemption::IN_PAUSES)),
        time_slices,
        tokens,
        pacer: scheme.pacer.clone(),
        background: scheme.background.plan(root, shape)?,
        reserve_blocks,
        reserve_pages: failures::reserve_pages(device, shape, reserve::pages(shape, scheme)),
    })
}
