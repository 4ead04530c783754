//! Values that follow from the tables together: amounts of space, the reserve, and combinations
//! that cannot work.
//!
//! Each step is a file here, or in the file of its slot ([`super::slots`]). The first two make the
//! plan; the others need it.

pub mod aged;
mod cache;
pub mod capacity;
pub mod failures;
pub mod foresight;
mod mapping_unit;
pub mod notes;
mod order;
mod queue;
mod read_retry;
pub mod refused;
mod reserve;
pub mod scheme;
pub mod sprandom;
mod superblocks;
pub mod untimed;
mod write_buffer;

use super::device::Device;
use super::engine::Engine;
use super::gc::Scheme;
use super::workload::WorkloadPlan;
use flashgc_config::Reader;
use flashgc_model::device::{Geometry, Level, Pools};
use flashgc_model::plan::{Allocation, Plan};

/// Derives the plan, or notes why there is none.
pub fn plan(
    root: &Reader<'_>,
    seed: u64,
    device: &Device,
    scheme: &Scheme,
    workload: &WorkloadPlan,
    engine: Engine,
) -> Option<Plan> {
    queue::check(root, device, workload)?;
    let (shape, gc) = scheme::plan(root, device, scheme)?;
    let write_buffer = write_buffer::plan(root, device, &gc)?;
    let ordered = device.allocation != Allocation::Striped
        || gc.preemption.is_some()
        || write_buffer.is_some()
        || device.cache.is_some()
        || device.shape.independent_plane_reads
        || device.shape.lanes > 1
        || device.service.splits_host()
        || order::may_pass(workload, u64::from(device.shape.page_bytes));
    let geometry = Geometry::new(shape);
    let failures = failures::plan(root, device, &geometry, &gc)?;
    let read_retry = read_retry::plan(root, device, &geometry)?;
    let pools = match device.allocation {
        Allocation::Striped => Pools::new(&geometry, Some(Level::Plane)),
        Allocation::Dynamic | Allocation::WhenIdle => Pools::new(&geometry, device.pool),
    };
    Some(Plan {
        seed,
        geometry,
        timing: failures::timing(device),
        front: device.front.in_time(),
        cache: device.cache,
        read_retry,
        failures,
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
        jobs: workload.queues(),
        ordered,
        reads: order::has_reads(workload),
        coalesce: engine.coalesce,
        untimed: engine.untimed,
        untimed_by_erased: false,
    })
}
