//! Policies written in Python: victim, placement and pace.
//!
//! A function is called in the middle of the engine's work, which has no place for exceptions. The
//! first one is kept, the run continues with harmless answers until its next pause, and ends there.

use crate::columns::packed;
use crate::errors::ConfigError;
use crate::pulse::Raised;
use flashgc::device::Geometry;
use flashgc::ftl::Writer;
use flashgc::gc::given::{Given, GivenPlacement, GivenPolicies, NextStep, Pacer};
use flashgc::gc::placement::{Copied, Placement, Write};
use flashgc::gc::victim::{Candidates, VictimPolicy};
use flashgc::ids::{BlockId, Lpn, PlaneId};
use flashgc::rng::Random;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The functions of a scheme: each with its name, and with a maker that is called for each drive.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Functions {
    victim: Option<(String, Py<PyAny>)>,
    /// With the number of classes.
    placement: Option<(String, Py<PyAny>, u32)>,
    pacing: Option<(String, Py<PyAny>)>,
}

/// The functions of a run.
pub struct Policies {
    functions: Functions,
    raised: Kept,
    declined: Declined,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Policies {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Policies {
            functions: object.extract()?,
            raised: Kept::default(),
            declined: Declined::default(),
        })
    }
}

/// The first exception of the functions of a run.
#[derive(Clone, Default)]
struct Kept(Raised);

impl Kept {
    fn keep(&self, error: PyErr) {
        if let Ok(mut raised) = self.0.lock() {
            raised.get_or_insert(error);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.lock().is_ok_and(|raised| raised.is_none())
    }

    /// The answer of a function, or this one if it raised.
    fn or<T>(&self, answer: PyResult<T>, instead: T) -> T {
        answer.unwrap_or_else(|error| {
            self.keep(error);
            instead
        })
    }
}

/// The planes for which the victim function chose no block when it was asked last.
#[derive(Clone, Default)]
struct Declined(Arc<Mutex<BTreeSet<u32>>>);

impl Declined {
    fn note(&self, plane: PlaneId, has_declined: bool) {
        let mut planes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if has_declined {
            planes.insert(plane.0);
        } else {
            planes.remove(&plane.0);
        }
    }

    fn has(&self, plane: PlaneId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&plane.0)
    }
}

/// A function for one drive.
struct Function {
    function: Option<Py<PyAny>>,
    kept: Kept,
}

impl Function {
    fn new(maker: &Py<PyAny>, kept: &Kept) -> Function {
        let made = Python::attach(|py| maker.call0(py));
        Function { function: kept.or(made.map(Some), None), kept: kept.clone() }
    }

    /// The function, unless one has raised.
    fn get(&self) -> Option<&Py<PyAny>> {
        self.function.as_ref().filter(|_| self.kept.is_empty())
    }
}

impl Policies {
    /// The policies in the form of the engine.
    pub fn given(&self) -> GivenPolicies {
        let maker = |maker: &Py<PyAny>| Python::attach(|py| maker.clone_ref(py));
        GivenPolicies {
            victim: self.functions.victim.as_ref().map(|(name, own)| {
                let (own, kept) = (maker(own), self.raised.clone());
                let declined = self.declined.clone();
                Given::new(name, move |_| {
                    Box::new(Victim::new(Function::new(&own, &kept), declined.clone()))
                        as Box<dyn VictimPolicy>
                })
            }),
            placement: self.functions.placement.as_ref().map(|(name, own, classes)| {
                let (own, kept, classes) = (maker(own), self.raised.clone(), *classes);
                let make = move |_: &Geometry| {
                    let function = Function::new(&own, &kept);
                    Box::new(Classes { function, classes }) as Box<dyn Placement>
                };
                GivenPlacement { classes, policy: Given::new(name, make) }
            }),
            pacer: self.functions.pacing.as_ref().map(|(name, own)| {
                let (own, kept) = (maker(own), self.raised.clone());
                Given::new(name, move |_| {
                    Box::new(Slices(Function::new(&own, &kept))) as Box<dyn Pacer>
                })
            }),
        }
    }

    /// The error of a drive that is full in this plane, where the victim function is the cause: it
    /// chose no block when it was asked last.
    pub fn explained(&self, text: &str, plane: PlaneId) -> Option<String> {
        let (name, _) = self.functions.victim.as_ref().filter(|_| self.declined.has(plane))?;
        let first = text.lines().next()?;
        Some(format!(
            "{first}, but the victim function `{name}` chose no block: it returned None\n  = help: \
             return one of `candidates.block`; after None the collection waits, and with it writes \
             that need the space"
        ))
    }

    /// The exception of a function, if one has raised.
    pub fn check(&self) -> PyResult<()> {
        let raised = self.raised.0.lock().ok().and_then(|mut raised| raised.take());
        raised.map_or(Ok(()), Err)
    }
}

/// Number of consecutive answers, for each block of a plane, that may name a block whose erase
/// frees nothing. A policy that ignores the pages of blocks, by age or at random, finds another one
/// long before.
const IN_VAIN_OF_EACH: u64 = 64;

/// A victim policy.
struct Victim {
    function: Function,
    /// By plane: the number of consecutive answers that named a block whose erase frees nothing.
    in_vain: BTreeMap<u32, u64>,
    declined: Declined,
}

impl Victim {
    fn new(function: Function, declined: Declined) -> Victim {
        Victim { function, in_vain: BTreeMap::new(), declined }
    }

    /// An error where the collections of a plane free nothing, answer after answer: no write would
    /// ever get a page.
    fn check_gain(
        &mut self,
        plane: PlaneId,
        block: BlockId,
        candidates: &Candidates<'_>,
    ) -> PyResult<()> {
        let blocks = candidates.geometry.blocks_of(plane);
        let frees = candidates.geometry.shape.won(candidates.invalid(block)) > 0;
        let answers = self.in_vain.entry(plane.0).or_insert(0);
        *answers = if frees { 0 } else { *answers + 1 };
        if *answers <= IN_VAIN_OF_EACH * blocks.len() as u64 {
            return Ok(());
        }
        Err(ConfigError::new_err(format!(
            "error: the victim function chose block {} of plane {}, which has {} invalid pages: \
             its collection frees none, as with the {} blocks that it chose before in this \
             plane\n  = help: return a block with invalid pages (`candidates.invalid`), or None",
            block.0 - blocks.start,
            plane.0,
            candidates.invalid(block),
            *answers - 1
        )))
    }
}

impl VictimPolicy for Victim {
    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        random: &mut Random,
    ) -> Option<BlockId> {
        let drawn = random.below(1 << 63);
        let Some(function) = self.function.get() else { return candidates.fewest_kept(plane) };
        let answer = Python::attach(|py| picked(py, function, plane, candidates, drawn));
        let answer = answer.and_then(|picked| {
            picked.map_or(Ok(()), |block| self.check_gain(plane, block, candidates))?;
            Ok(picked)
        });
        let picked = self.function.kept.or(answer, None);
        self.declined.note(plane, picked.is_none());
        picked
    }
}

type Column = fn(&Candidates<'_>, BlockId) -> u64;

/// The properties of a candidate, as a policy in Rust reads them.
const COLUMNS: [(&str, Column); 4] = [
    ("valid", |candidates, block| candidates.valid(block).into()),
    ("invalid", |candidates, block| candidates.invalid(block).into()),
    ("age_ns", |candidates, block| candidates.age_ns(block)),
    ("erases", |candidates, block| candidates.erases(block).into()),
];

/// Asks the function; the block that it names must be a candidate.
fn picked(
    py: Python<'_>,
    function: &Py<PyAny>,
    plane: PlaneId,
    candidates: &Candidates<'_>,
    drawn: u64,
) -> PyResult<Option<BlockId>> {
    let first = candidates.geometry.blocks_of(plane).start;
    let blocks: Vec<BlockId> = candidates.sealed(plane).collect();
    let columns = PyDict::new(py);
    let numbers = blocks.iter().map(|block| u64::from(block.0 - first));
    columns.set_item("block", packed(py, numbers)?)?;
    for (name, of) in COLUMNS {
        let values = blocks.iter().map(|&block| of(candidates, block));
        columns.set_item(name, packed(py, values)?)?;
    }
    let args = (plane.0, candidates.age_now_ns, candidates.data_pages(), drawn, columns);
    let answer: Option<u32> = function.call1(py, args)?.extract(py)?;
    let Some(block) = answer else { return Ok(None) };
    let picked = BlockId(first.saturating_add(block));
    if !blocks.contains(&picked) {
        return Err(ConfigError::new_err(format!(
            "error: the victim function chose block {block} of plane {}, which is not a \
             candidate\n  = help: return one of `candidates.block`, or None",
            plane.0
        )));
    }
    Ok(Some(picked))
}

/// A placement.
struct Classes {
    function: Function,
    classes: u32,
}

impl Classes {
    fn class(&self, lpn: Lpn, is_update: bool, is_copy: bool, writer: Writer) -> u8 {
        let Some(function) = self.function.get() else { return 0 };
        let answer = Python::attach(|py| {
            let page = (lpn.0, is_update, is_copy, writer.job, writer.hint);
            let class: u32 = function.call1(py, page)?.extract(py)?;
            u8::try_from(class).ok().filter(|_| class < self.classes).ok_or_else(|| {
                let last = self.classes - 1;
                ConfigError::new_err(format!(
                    "error: the placement function chose class {class}\n  = help: return a number \
                     from 0 to {last}, or declare more classes"
                ))
            })
        });
        self.function.kept.or(answer, 0)
    }
}

impl Placement for Classes {
    fn class_of_write(&mut self, write: Write) -> u8 {
        self.class(write.lpn, write.is_update, false, write.writer)
    }

    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        self.class(copy.lpn, true, true, Writer::default())
    }
}

/// A pace.
struct Slices(Function);

impl Pacer for Slices {
    fn continues(&mut self, step: NextStep) -> bool {
        let Some(function) = self.0.get() else { return true };
        let NextStep { unit, now_ns, slice_ns, step_ns, waiting, free_pages } = step;
        let args = (unit.0, now_ns, slice_ns, step_ns, waiting, free_pages);
        let answer = Python::attach(|py| function.call1(py, args)?.is_truthy(py));
        self.0.kept.or(answer, true)
    }
}
