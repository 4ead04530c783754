//! The functions: components, requests and time.

use crate::guard::{fault, guarded, is_null, last_error, place};
use crate::inputs::component_of;
use crate::results::Results;
use crate::table::Table;
use crate::types::{
    FLASHGC_ABI_VERSION, FLASHGC_FUA, FLASHGC_HIGH, Failed, flashgc_completion, flashgc_component,
    flashgc_info, flashgc_options, flashgc_request, flashgc_snapshot, flashgc_status,
};
use flashgc::component::{Completion, Component, Marks, Request, Snapshot, Submitted};
use flashgc::workload::HostOp;
use flashgc_status::{FLASHGC_FULL, FLASHGC_NONE, FLASHGC_OK};
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A component in use, and what its last calls have handed out.
pub(crate) struct Open {
    /// None once it is finished, or has failed.
    component: Option<Component>,
    /// Why it is gone.
    gone: Option<(flashgc_status, String)>,
    done: Vec<flashgc_completion>,
    pub(crate) results: Results,
}

static COMPONENTS: Table<Open> = Table::new("component");
static SNAPSHOTS: Table<Snapshot> = Table::new("snapshot");

/// Calls a function with an open component, whatever its state.
pub(crate) fn with_open<R>(
    handle: flashgc_component,
    act: impl FnOnce(&mut Open) -> Result<R, Failed>,
) -> Result<R, Failed> {
    COMPONENTS.with(handle.id, act)
}

/// Does something with a component. After a fault it is gone.
fn with_component<R>(
    open: &mut Open,
    act: impl FnOnce(&mut Component) -> Result<R, Failed>,
) -> Result<R, Failed> {
    let Some(component) = &mut open.component else {
        let (status, text) = open.gone.clone().expect("what is gone has a reason");
        return Err(Failed::new(status, text));
    };
    match catch_unwind(AssertUnwindSafe(|| act(component))) {
        Ok(done) => done,
        Err(panic) => {
            let failed = fault(panic.as_ref());
            open.gone = Some((failed.status, failed.text.clone()));
            // What has failed half-way is not even dropped.
            std::mem::forget(open.component.take());
            Err(failed)
        }
    }
}

fn act(
    handle: flashgc_component,
    what: impl FnOnce(&mut Component) -> Result<flashgc_status, Failed>,
) -> flashgc_status {
    guarded(|| with_open(handle, |open| with_component(open, what)))
}

/// The version of the interface of this library: FLASHGC_ABI_VERSION of the header that fits it.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_abi_version() -> u32 {
    FLASHGC_ABI_VERSION
}

/// The version of flashgc, such as "0.2.0". It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The error of the last function that failed in this thread: its text, its place, and the
/// remedy, as the command line has them. It lives until the next function fails in this thread.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_error() -> *const c_char {
    last_error()
}

/// Opens a component: its drive is preconditioned, which may take a while. Close it with
/// flashgc_close.
///
/// # Safety
/// `options` points to options whose texts are C strings, and whose `sets` are `set_count` of them;
/// `component` can be written. Null for either is FLASHGC_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_open(
    options: *const flashgc_options,
    component: *mut flashgc_component,
) -> flashgc_status {
    guarded(|| {
        // SAFETY: as promised.
        let (into, made) = unsafe { (place(component, "component")?, component_of(options)) };
        into.id = 0;
        let component = Some(made?);
        let results = Results::default();
        into.id = COMPONENTS.add(Open { component, gone: None, done: Vec::new(), results });
        Ok(FLASHGC_OK)
    })
}

/// Closes a component: its handle names nothing from then on, and what its calls gave is gone.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_close(component: flashgc_component) -> flashgc_status {
    guarded(|| {
        drop(COMPONENTS.take(component.id)?);
        Ok(FLASHGC_OK)
    })
}

/// What a component is at present.
///
/// # Safety
/// `info` can be written; null is FLASHGC_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_get_info(
    component: flashgc_component,
    info: *mut flashgc_info,
) -> flashgc_status {
    act(component, |component| {
        // SAFETY: as promised.
        let into = unsafe { place(info, "info")? };
        *into = flashgc_info {
            now_ns: component.now_ns(),
            under_way: component.under_way(),
            bytes: component.bytes(),
            page_bytes: component.page_bytes(),
            is_read_only: u32::from(component.is_read_only()),
            reserved: 0,
        };
        Ok(FLASHGC_OK)
    })
}

fn submit(component: &mut Component, given: &flashgc_request) -> Result<Submitted, Failed> {
    let bad = |text| Failed::new(flashgc_status::FLASHGC_BAD_ARGUMENT, text);
    let &flashgc_request { at_ns, offset, bytes, tag, op, marks, hint, tenant } = given;
    let op = HostOp::ALL.get(op as usize).copied().ok_or_else(|| {
        bad(format!("error: no operation has the number {op}\n  = help: give a flashgc_op"))
    })?;
    let hint = u8::try_from(hint).map_err(|_| {
        bad(format!("error: {hint} is no placement hint\n  = help: give 0 (none) to 255"))
    })?;
    if marks & !(FLASHGC_HIGH | FLASHGC_FUA) != 0 {
        let help = "give FLASHGC_HIGH, FLASHGC_FUA, both or 0";
        return Err(bad(format!("error: {marks:#x} are no marks\n  = help: {help}")));
    }
    let marks = Marks::of(marks & FLASHGC_HIGH > 0, marks & FLASHGC_FUA > 0, hint);
    let tenant = u16::try_from(tenant).map_err(|_| {
        bad(format!("error: no tenant has the number {tenant}\n  = help: give 0 to 65535"))
    })?;
    let request = Request { marks, tenant, ..Request::new(at_ns, op, offset, bytes, tag) };
    Ok(component.submit_request(request)?)
}

/// Submits a request for an instant that is not before the present: FLASHGC_OK or FLASHGC_FULL, or
/// an error. Nothing happens by that. `op` is a flashgc_op; a flush has neither offset nor bytes.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_submit(
    component: flashgc_component,
    at_ns: u64,
    op: u32,
    offset: u64,
    bytes: u64,
    tag: u64,
) -> flashgc_status {
    let request = flashgc_request { at_ns, offset, bytes, tag, op, marks: 0, hint: 0, tenant: 0 };
    act(component, |component| match submit(component, &request)? {
        Submitted::Accepted => Ok(FLASHGC_OK),
        Submitted::Full => Ok(FLASHGC_FULL),
    })
}

/// Submits many requests, in their order, until one is wrong or finds the drive full. `accepted` is
/// the number of those before it.
///
/// # Safety
/// `requests` points to `count` requests, and may be null for a count of 0; `accepted` can be
/// written. Any other null is FLASHGC_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_submit_all(
    component: flashgc_component,
    requests: *const flashgc_request,
    count: usize,
    accepted: *mut usize,
) -> flashgc_status {
    act(component, |component| {
        // SAFETY: as promised.
        let accepted = unsafe { place(accepted, "accepted")? };
        *accepted = 0;
        if requests.is_null() && count > 0 {
            return Err(is_null("requests"));
        }
        for at in 0..count {
            // SAFETY: there are as many as promised.
            match submit(component, unsafe { &*requests.add(at) })? {
                Submitted::Accepted => *accepted += 1,
                Submitted::Full => return Ok(FLASHGC_FULL),
            }
        }
        Ok(FLASHGC_OK)
    })
}

/// The next instant at which a request may be done: let time advance to it at the latest.
/// FLASHGC_NONE while no request is under way or to come.
///
/// # Safety
/// `at_ns` can be written; null is FLASHGC_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_next_event(
    component: flashgc_component,
    at_ns: *mut u64,
) -> flashgc_status {
    act(component, |component| {
        // SAFETY: as promised.
        let into = unsafe { place(at_ns, "at_ns")? };
        *into = component.next_event().unwrap_or(u64::MAX);
        Ok(if *into == u64::MAX { FLASHGC_NONE } else { FLASHGC_OK })
    })
}

/// Lets time advance, and hands out the requests that were done.
///
/// # Safety
/// `done` and `count` can be written; null for either is FLASHGC_BAD_ARGUMENT.
unsafe fn advance(
    component: flashgc_component,
    done: *mut *const flashgc_completion,
    count: *mut usize,
    how: impl FnOnce(&mut Component) -> Result<&[Completion], Failed>,
) -> flashgc_status {
    guarded(|| {
        with_open(component, |open| {
            // SAFETY: as promised.
            let (into, count) = unsafe { (place(done, "done")?, place(count, "count")?) };
            let mut found = std::mem::take(&mut open.done);
            found.clear();
            let reported = with_component(open, |component| {
                found.extend(how(component)?.iter().map(completion));
                Ok(())
            });
            open.done = found;
            (*into, *count) = (open.done.as_ptr(), open.done.len());
            reported.map(|()| FLASHGC_OK)
        })
    })
}

fn completion(done: &Completion) -> flashgc_completion {
    flashgc_completion {
        tag: done.tag,
        at_ns: done.at_ns,
        latency_ns: done.latency_ns,
        parts_ns: done.parts.unwrap_or_default(),
        op: done.op as u32,
        is_refused: u32::from(done.is_refused),
    }
}

/// Lets time advance to this instant, which is the present from then on. `done` are the `count`
/// requests that were done, in their order; they live until time advances again, or the component
/// is closed.
///
/// # Safety
/// `done` and `count` can be written; null for either is FLASHGC_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_advance(
    component: flashgc_component,
    to_ns: u64,
    done: *mut *const flashgc_completion,
    count: *mut usize,
) -> flashgc_status {
    // SAFETY: as promised.
    unsafe { advance(component, done, count, |component| Ok(component.advance(to_ns)?)) }
}

/// Lets time advance until a request is done, and at most to `limit_ns`. Requests that are
/// submitted for this very instant come before anything else that happens at it, as those of a
/// closed loop.
///
/// # Safety
/// As flashgc_advance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_advance_to_completion(
    component: flashgc_component,
    limit_ns: u64,
    done: *mut *const flashgc_completion,
    count: *mut usize,
) -> flashgc_status {
    // SAFETY: as promised.
    unsafe {
        advance(component, done, count, |component| Ok(component.advance_to_completion(limit_ns)?))
    }
}

/// Lets time advance until every request that was submitted is done.
///
/// # Safety
/// As flashgc_advance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_drain(
    component: flashgc_component,
    done: *mut *const flashgc_completion,
    count: *mut usize,
) -> flashgc_status {
    // SAFETY: as promised.
    unsafe { advance(component, done, count, |component| Ok(component.drain()?)) }
}

/// Lets the drive do now what it does until the present while it is idle. The result is no longer
/// that of a run, which ends with its last request.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_rest(component: flashgc_component) -> flashgc_status {
    act(component, |component| {
        component.rest()?;
        Ok(FLASHGC_OK)
    })
}

/// Copies the present state, with the requests under way and to come. Close it with
/// flashgc_close_snapshot.
///
/// # Safety
/// `snapshot` can be written; null is FLASHGC_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_take_snapshot(
    component: flashgc_component,
    snapshot: *mut flashgc_snapshot,
) -> flashgc_status {
    act(component, |component| {
        // SAFETY: as promised.
        let into = unsafe { place(snapshot, "snapshot")? };
        into.id = 0;
        into.id = SNAPSHOTS.add(component.snapshot()?);
        Ok(FLASHGC_OK)
    })
}

/// Goes back, or forward, to a snapshot of this component, any number of times.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_restore(
    component: flashgc_component,
    snapshot: flashgc_snapshot,
) -> flashgc_status {
    act(component, |component| {
        SNAPSHOTS.with(snapshot.id, |snapshot| Ok(component.restore(snapshot)?))?;
        Ok(FLASHGC_OK)
    })
}

/// Closes a snapshot: its handle names nothing from then on.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_close_snapshot(snapshot: flashgc_snapshot) -> flashgc_status {
    guarded(|| {
        drop(SNAPSHOTS.take(snapshot.id)?);
        Ok(FLASHGC_OK)
    })
}

/// The report on everything until now, as JSON, whose `result_hash` is empty: that is of a whole
/// run. It lives until the next report of this component, or until it is closed.
///
/// # Safety
/// `json` can be written; null is FLASHGC_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_statistics(
    component: flashgc_component,
    json: *mut *const c_char,
) -> flashgc_status {
    guarded(|| {
        with_open(component, |open| {
            // SAFETY: as promised.
            let into = unsafe { place(json, "json")? };
            let report = with_component(open, |component| Ok(component.statistics()?))?;
            *into = open.results.keep(&report);
            Ok(FLASHGC_OK)
        })
    })
}

/// No further request comes: those that were submitted are served, and the report is that of
/// `flashgc run` with the same requests in a trace. The component takes nothing more; its report
/// lives until it is closed.
///
/// # Safety
/// `json` can be written; null is FLASHGC_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashgc_finish(
    component: flashgc_component,
    json: *mut *const c_char,
) -> flashgc_status {
    guarded(|| {
        with_open(component, |open| {
            // SAFETY: as promised.
            let into = unsafe { place(json, "json")? };
            with_component(open, |_| Ok(()))?;
            let Some(component) = open.component.take() else { return Ok(FLASHGC_NONE) };
            let text = "error: the component has been finished\n  = help: open another one for \
                        more requests";
            open.gone = Some((flashgc_status::FLASHGC_FINISHED, text.into()));
            match catch_unwind(AssertUnwindSafe(|| component.finish())) {
                Ok(report) => *into = open.results.keep(&report?),
                Err(panic) => return Err(fault(panic.as_ref())),
            }
            Ok(FLASHGC_OK)
        })
    })
}
