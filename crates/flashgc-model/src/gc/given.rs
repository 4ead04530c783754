//! Policies that the program that runs the engine gives, for an idea that is tried before it is
//! written for the engine (docs/schemes/python.md).

use super::placement::Placement;
use super::victim::VictimPolicy;
use crate::device::Geometry;
use crate::ids::UnitId;
use serde::Serialize;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

type Maker<P> = Arc<dyn Fn(&Geometry) -> Box<P> + Send + Sync>;

/// A policy by name, made anew for each drive.
#[derive(Serialize)]
pub struct Given<P: ?Sized> {
    name: String,
    #[serde(skip)]
    make: Maker<P>,
}

impl<P: ?Sized> Given<P> {
    /// The policy of this name, and its maker.
    pub fn new(name: &str, make: impl Fn(&Geometry) -> Box<P> + Send + Sync + 'static) -> Self {
        Given { name: name.into(), make: Arc::new(make) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The policy for a drive.
    pub fn make(&self, geometry: &Geometry) -> Made<P> {
        Made((self.make)(geometry))
    }
}

/// A policy for a drive. Its state belongs to the program: a drive that has one is never copied.
pub struct Made<P: ?Sized>(Box<P>);

impl<P: ?Sized> Clone for Made<P> {
    fn clone(&self) -> Self {
        unreachable!("a drive with a policy of the program is refused before it is copied")
    }
}

impl<P: ?Sized> Deref for Made<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.0
    }
}

impl<P: ?Sized> DerefMut for Made<P> {
    fn deref_mut(&mut self) -> &mut P {
        &mut self.0
    }
}

impl<P: ?Sized> Clone for Given<P> {
    fn clone(&self) -> Self {
        Given { name: self.name.clone(), make: Arc::clone(&self.make) }
    }
}

impl<P: ?Sized> fmt::Debug for Given<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The next operation of a collection in a time slice, for a pace.
#[derive(Clone, Copy, Debug)]
pub struct NextStep {
    /// The unit.
    pub unit: UnitId,
    /// The present, in ns.
    pub now_ns: u64,
    /// The length of the time slice so far, in ns.
    pub slice_ns: u64,
    /// The length of the operation if nothing makes it wait, in ns.
    pub step_ns: u64,
    /// Page operations of the host that wait at the unit.
    pub waiting: u32,
    /// The fewest erased pages of a plane of the unit.
    pub free_pages: u32,
}

/// A pace: how long a time slice of a collection continues.
pub trait Pacer: Send {
    /// Whether the time slice continues with this operation.
    fn continues(&mut self, step: NextStep) -> bool;
}

/// A placement with its number of classes.
#[derive(Clone, Debug)]
pub struct GivenPlacement {
    /// Classes of pages, each with an open block of its own in every plane.
    pub classes: u32,
    /// The placement.
    pub policy: Given<dyn Placement>,
}

/// The policies that a program gives for a run.
#[derive(Clone, Debug, Default)]
pub struct GivenPolicies {
    /// The choice `given` of the slot *victim*.
    pub victim: Option<Given<dyn VictimPolicy>>,
    /// The choice `given` of the slot *placement*.
    pub placement: Option<GivenPlacement>,
    /// In place of the length of the time slices of the slot *pacing*.
    pub pacer: Option<Given<dyn Pacer>>,
}
