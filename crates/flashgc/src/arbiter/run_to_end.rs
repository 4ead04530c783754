//! Collections run to their end: a unit serves its classes in the order of the device.

use super::view::{Choice, Turn, View};
use crate::collect::Stage;
use crate::gc::Sight;
use crate::ids::UnitId;
use crate::plan::Served;

/// The first question is whether collection is urgent; then the classes come in their order, and
/// at the end the work of an idle drive.
#[inline(always)]
pub(super) fn next(unit: UnitId, turn: &mut Turn, view: &mut View<'_>) -> Choice {
    if turn.at == 0 {
        turn.at = 1;
        if is_urgent(unit, view) {
            return Choice::TryCollect;
        }
    }
    while let Some(&served) = view.plan.service.order.get(usize::from(turn.at) - 1) {
        turn.at += 1;
        match served {
            Served::Gc => match view.jobs[unit].stage() {
                Stage::Closed if view.gc.has_needs(unit) && view.may_open_job(unit) => {
                    return view.collect_or_work(unit);
                }
                // The unit waits for pages that it has sent.
                Stage::Closed | Stage::Sending | Stage::Moved | Stage::Erased => {}
                _ => return Choice::Step,
            },
            Served::Queue(list) => {
                if view.waiting.count(unit) == 0 {
                    continue;
                }
                let Some(op) = view.waiting.peek(unit, list) else { continue };
                let plane = view.plane_to_start(op);
                if !view.is_write(op)
                    || view.ftl.host_has_room(plane)
                    || view.plan.geometry.has_superblocks()
                {
                    return Choice::Host(op, list);
                }
                return Choice::Short(op, list, plane);
            }
        }
    }
    if !turn.works_ahead || usize::from(turn.at) > view.plan.service.order.len() + 1 {
        return Choice::Nothing;
    }
    turn.at += 1;
    Choice::TryBackground
}

/// Whether a plane of the unit is so short that collection goes before everything.
#[inline(always)]
fn is_urgent(unit: UnitId, view: &View<'_>) -> bool {
    if !view.gc.unit_is_triggered(unit) || view.jobs[unit].is_open() || !view.may_open_job(unit) {
        return false;
    }
    let sight = Sight {
        geometry: &view.plan.geometry,
        rules: &view.plan.gc,
        ftl: view.ftl,
        age_now_ns: view.now_ns,
    };
    view.gc.is_urgent(unit, &sight)
}
