//! A drive as a component of a simulator in Python, which has the clock.

use crate::closed_loop::{self, Ended, Loop, Stimulus};
use crate::columns::packed;
use crate::drive;
use crate::errors::{ConfigError, RunError, guarded};
use crate::memory;
use crate::pulse::{Pulse, Step};
use crate::request::Request;
use crate::run::Outcome;
use flashgc::component::{self, Completion, Making, Marks, Options, Part, Submitted, Why, Wrong};
use flashgc::session::{self, Phase};
use flashgc::workload::HostOp;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::mem;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The exception for wrong use.
fn raised(wrong: Wrong) -> PyErr {
    match wrong.why {
        Why::Configuration | Why::NotLive => ConfigError::new_err(wrong.text),
        _ => RunError::new_err(wrong.text),
    }
}

/// The exception for an error of the engine, which a function of the request may have caused.
fn explained(request: &Request, wrong: Wrong) -> PyErr {
    let text = request.explained(&wrong.text, wrong.uncollected);
    raised(Wrong { text, ..wrong })
}

/// Requests that are done, as columns.
#[pyclass(frozen, module = "flashgc._engine")]
pub struct Completions(Vec<Completion>);

#[pymethods]
impl Completions {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The tags, the operations by number, the instants and the latencies in ns, each packed, and
    /// whether a request was refused.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyBytes>; 5]> {
        let all = self.0.iter();
        Ok([
            packed(py, all.clone().map(|done| done.tag))?,
            packed(py, all.clone().map(|done| done.op as u64))?,
            packed(py, all.clone().map(|done| done.at_ns))?,
            packed(py, all.clone().map(|done| done.latency_ns))?,
            packed(py, all.map(|done| u64::from(done.is_refused)))?,
        ])
    }

    /// A part of the latencies in ns, by its number; zeros where latencies are not split.
    fn part<'py>(&self, py: Python<'py>, part: usize) -> PyResult<Bound<'py, PyBytes>> {
        let of = |done: &Completion| done.parts.and_then(|parts| parts.get(part).copied());
        packed(py, self.0.iter().map(|done| of(done).unwrap_or(0)))
    }

    /// The tag, the operation by number, the instant, the latency, whether it was refused, and the
    /// parts of each.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let row = |done: &Completion| {
            let &Completion { tag, op, at_ns, latency_ns, is_refused, parts } = done;
            (tag, op as u64, at_ns, latency_ns, is_refused, parts.map(|parts| parts.to_vec()))
                .into_pyobject(py)
        };
        self.0.iter().map(row).collect()
    }
}

/// A state of a component.
#[pyclass(frozen, module = "flashgc._engine")]
pub struct Snapshot(Mutex<component::Snapshot>);

/// The component, and the input that it was made of.
struct Made {
    component: component::Component,
    request: Request,
}

/// Why a component takes no more calls.
#[derive(Clone, Copy)]
enum Gone {
    Finished,
    /// A function of its scheme has raised, and harmless answers have replaced its own since; or
    /// the engine had a fault.
    Failed,
}

impl Gone {
    fn error(self) -> PyErr {
        RunError::new_err(match self {
            Gone::Finished => {
                "error: the component has been finished\n  = help: make a new one for more requests"
            }
            Gone::Failed => {
                "error: the component has ended with the exception of an earlier call\n  = help: \
                 make a new one"
            }
        })
    }
}

/// A drive that has its requests from outside. It is used by one thread at a time.
#[pyclass(frozen, module = "flashgc._engine")]
pub struct Component(Mutex<Result<Box<Made>, Gone>>);

impl Component {
    /// None may wait here: a policy in Python needs the lock of the interpreter.
    fn made(&self) -> PyResult<MutexGuard<'_, Result<Box<Made>, Gone>>> {
        match self.0.try_lock() {
            Ok(made) => Ok(made),
            Err(TryLockError::Poisoned(made)) => Ok(made.into_inner()),
            Err(TryLockError::WouldBlock) => Err(RunError::new_err(
                "error: another thread uses the component at this moment\n  = help: give each \
                 thread a component of its own, or use a lock",
            )),
        }
    }

    /// Asks the component for something that takes no time.
    fn query<T>(
        &self,
        what: impl FnOnce(&mut component::Component) -> Result<T, Wrong>,
    ) -> PyResult<T> {
        let mut made = self.made()?;
        let made = made.as_mut().map_err(|gone| gone.error())?;
        what(&mut made.component).map_err(raised)
    }

    /// Lets the component do something, while others have the lock of the interpreter.
    fn act<T: Send>(
        &self,
        py: Python<'_>,
        what: impl FnOnce(&mut component::Component) -> Result<T, Wrong> + Send,
    ) -> PyResult<T> {
        let mut made = self.made()?;
        let Made { component, request } = made.as_mut().map_err(|gone| gone.error())?.as_mut();
        let done = py.detach(|| guarded(|| Ok(what(component))));
        match request.check_policies().and(done) {
            Ok(done) => done.map_err(|wrong| explained(request, wrong)),
            Err(failed) => {
                *made = Err(Gone::Failed);
                Err(failed)
            }
        }
    }
}

fn op_of(number: u64) -> PyResult<HostOp> {
    let op = usize::try_from(number).ok().and_then(|at| HostOp::ALL.get(at).copied());
    op.ok_or_else(|| PyValueError::new_err(format!("no operation has the number {number}")))
}

fn marks_of(hint: u64, high: bool, fua: bool) -> PyResult<Marks> {
    let hint = u8::try_from(hint).map_err(|_| {
        RunError::new_err(format!(
            "error: a placement hint is a number from 0 (none) to 255, and not {hint}\n  = help: \
             give such a number"
        ))
    })?;
    Ok(Marks::of(high, fua, hint))
}

fn tenant_of(number: u64) -> PyResult<u16> {
    u16::try_from(number).map_err(|_| {
        RunError::new_err(format!(
            "error: no tenant has the number {number}\n  = help: give its place in \
             [[workload.tenants]], from 0"
        ))
    })
}

#[pymethods]
impl Component {
    #[new]
    #[pyo3(signature = (request, drive, depth, parts, verify, progress))]
    fn new(
        py: Python<'_>,
        request: Request,
        drive: Option<PathBuf>,
        depth: Option<u32>,
        parts: bool,
        verify: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Component> {
        let mut pulse = Pulse::new(progress);
        let component = py.detach(|| {
            guarded(|| {
                let setup = component::setup(request.inputs()).map_err(raised)?;
                memory::check(&setup)?;
                let saved = drive.as_deref().map(|path| drive::saved(&setup, path)).transpose()?;
                let session =
                    session::Options { verify, blame: parts, ..session::Options::default() };
                let options = Options { saved, depth, session, ..Options::default() };
                let mut making = Making::new(setup, options).map_err(raised)?;
                loop {
                    let progress = making.advance();
                    request.check_policies()?;
                    let progress = progress.map_err(|wrong| explained(&request, wrong))?;
                    if progress.phase == Phase::Run {
                        return making.finish().map_err(raised);
                    }
                    pulse.beat(|| Step::from(&progress))?;
                }
            })
        })?;
        Ok(Component(Mutex::new(Ok(Box::new(Made { component, request })))))
    }

    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        self.query(|component| Ok(component.now_ns()))
    }

    #[getter]
    fn under_way(&self) -> PyResult<u64> {
        self.query(|component| Ok(component.under_way()))
    }

    #[getter]
    fn bytes(&self) -> PyResult<u64> {
        self.query(|component| Ok(component.bytes()))
    }

    #[getter]
    fn page_bytes(&self) -> PyResult<u64> {
        self.query(|component| Ok(component.page_bytes()))
    }

    /// The names of the tenants, by their numbers.
    #[getter]
    fn tenants(&self) -> PyResult<Vec<String>> {
        self.query(|component| Ok(component.tenants().map(String::from).collect()))
    }

    #[getter]
    fn is_read_only(&self) -> PyResult<bool> {
        self.query(|component| Ok(component.is_read_only()))
    }

    #[allow(clippy::too_many_arguments)]
    fn submit(
        &self,
        at_ns: u64,
        op: u64,
        offset_bytes: u64,
        bytes: u64,
        tag: u64,
        hint: u64,
        high: bool,
        fua: bool,
        tenant: u16,
    ) -> PyResult<bool> {
        let (op, marks) = (op_of(op)?, marks_of(hint, high, fua)?);
        let plain = component::Request::new(at_ns, op, offset_bytes, bytes, tag);
        let given = component::Request { marks, tenant, ..plain };
        Ok(self.query(|component| component.submit_request(given))? == Submitted::Accepted)
    }

    /// Columns of the same length; the hints and the tenants may be missing. Returns how many were
    /// accepted, those before the first that found the drive full.
    #[allow(clippy::too_many_arguments)]
    fn submit_all(
        &self,
        py: Python<'_>,
        at_ns: PyBuffer<u64>,
        op: PyBuffer<u64>,
        offset_bytes: PyBuffer<u64>,
        bytes: PyBuffer<u64>,
        tag: PyBuffer<u64>,
        hint: Option<PyBuffer<u64>>,
        tenant: Option<PyBuffer<u64>>,
    ) -> PyResult<usize> {
        let [at_ns, ops, offsets, bytes, tags] =
            [&at_ns, &op, &offset_bytes, &bytes, &tag].map(|column| column.to_vec(py));
        let (at_ns, ops, offsets, bytes, tags) = (at_ns?, ops?, offsets?, bytes?, tags?);
        let hints = hint.map(|hints| hints.to_vec(py)).transpose()?;
        let tenants = tenant.map(|tenants| tenants.to_vec(py)).transpose()?;
        let mut made = self.made()?;
        let component = &mut made.as_mut().map_err(|gone| gone.error())?.component;
        for at in 0..at_ns.len() {
            let hint = hints.as_ref().map_or(0, |hints| hints[at]);
            let (op, marks) = (op_of(ops[at])?, marks_of(hint, false, false)?);
            let plain = component::Request::new(at_ns[at], op, offsets[at], bytes[at], tags[at]);
            let tenant = tenants.as_ref().map_or(Ok(0), |tenants| tenant_of(tenants[at]))?;
            let given = component::Request { marks, tenant, ..plain };
            let done = component.submit_request(given);
            if done.map_err(raised)? == Submitted::Full {
                return Ok(at);
            }
        }
        Ok(at_ns.len())
    }

    fn next_event(&self) -> PyResult<Option<u64>> {
        self.query(|component| Ok(component.next_event()))
    }

    fn advance(&self, py: Python<'_>, to_ns: u64) -> PyResult<Completions> {
        self.act(py, |inner| Ok(Completions(inner.advance(to_ns)?.to_vec())))
    }

    fn advance_to_completion(&self, py: Python<'_>, limit_ns: u64) -> PyResult<Completions> {
        self.act(py, |inner| Ok(Completions(inner.advance_to_completion(limit_ns)?.to_vec())))
    }

    fn drain(&self, py: Python<'_>) -> PyResult<Completions> {
        self.act(py, |inner| Ok(Completions(inner.drain()?.to_vec())))
    }

    /// Requests one after the other, of which a number is under way at any time.
    #[pyo3(signature = (stimulus, progress))]
    fn closed_loop(
        &self,
        py: Python<'_>,
        stimulus: Stimulus,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Loop> {
        let mut pulse = Pulse::new(progress);
        let ended = self.act(py, |inner| match closed_loop::driven(inner, stimulus, &mut pulse) {
            Err(Ended::Wrong(wrong)) => Err(wrong),
            Err(Ended::Raised(error)) => Ok(Err(error)),
            Ok(found) => Ok(Ok(found)),
        });
        ended?
    }

    fn rest(&self, py: Python<'_>) -> PyResult<()> {
        self.act(py, component::Component::rest)
    }

    fn statistics(&self, py: Python<'_>) -> PyResult<Outcome> {
        self.act(py, |inner| inner.statistics()).map(|report| Outcome::of(&report, None))
    }

    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        self.act(py, |inner| inner.snapshot()).map(|it| Snapshot(Mutex::new(it)))
    }

    fn restore(&self, snapshot: &Snapshot) -> PyResult<()> {
        let snapshot = snapshot.0.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = &*snapshot;
        self.query(|component| component.restore(snapshot))
    }

    fn finish(&self, py: Python<'_>) -> PyResult<Outcome> {
        let mut made = self.made()?;
        let gone = made.as_ref().err().copied().unwrap_or(Gone::Finished);
        let Made { component, request } =
            *mem::replace(&mut *made, Err(gone)).map_err(Gone::error)?;
        let report = py.detach(|| guarded(|| Ok(component.finish())));
        request.check_policies()?;
        Ok(Outcome::of(&report?.map_err(raised)?, None))
    }
}

/// The names of the parts of a latency, in their order.
pub fn part_names(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, Part::ALL.map(Part::key))
}

/// The names of the operations of requests, by their numbers.
pub fn operations(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, HostOp::ALL.iter().map(|op| op.name()))
}
