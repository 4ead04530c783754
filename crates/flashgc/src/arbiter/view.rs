//! What an arbiter sees, and how it answers.

use crate::allocation::Allocation;
use crate::collect::{Jobs, may_open};
use crate::flash::{Flash, Prices};
use crate::ftl::Ftl;
use crate::gc::Gc;
use crate::host::{Op, OpKind, Waiting};
use crate::ids::{PlaneId, UnitId};
use crate::owner::Owner;
use crate::plan::Plan;
use crate::stats::Counters;

/// The next step of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// There is nothing to do.
    Nothing,
    /// If a plane of the unit needs space and has a victim, its collection begins.
    TryCollect,
    /// If the drive is idle, a background task runs.
    TryBackground,
    /// The open collection continues: with this page first, if there is one.
    Step,
    /// It continues although it is not paid: this write waits for space.
    StepFor(u32),
    /// All copies that are left, unseen: no request of those that wait can preempt.
    Steps,
    /// The collector polls the queue.
    Poll,
    /// The pages in the register are programmed.
    ProgramStep,
    /// The pages that were read ahead are given up, since a request waits.
    PutBack,
    /// A read of the host is answered from the register: the operation and its list.
    Answer(u32, u8),
    /// A write of the host changes a page in the register.
    Merge(u32, u8),
    /// The collection's suspended operation continues.
    Resume,
    /// The program of the host that a read suspended continues.
    GoOn,
    /// A page operation of the host starts.
    Host(u32, u8),
    /// A write finds no page in its plane.
    Short(u32, u8, PlaneId),
}

/// The progress of the questions for one step of a unit.
#[derive(Clone, Copy)]
pub struct Turn {
    pub(super) at: u8,
    /// Whether the drive has background work.
    pub(super) works_ahead: bool,
}

impl Turn {
    /// No question yet.
    #[inline(always)]
    pub fn new(works_ahead: bool) -> Self {
        Turn { at: 0, works_ahead }
    }
}

/// The rooms as an arbiter sees them.
pub struct View<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The present, in ns.
    pub now_ns: u64,
    /// The translation layer.
    pub ftl: &'a Ftl,
    /// Which planes need space.
    pub gc: &'a Gc,
    /// The flash.
    pub flash: &'a Flash<Owner>,
    /// What operations take on the device, by which schemes decide.
    pub prices: &'a Prices,
    /// Open collections. A page of one may be moved to the front.
    pub jobs: &'a mut Jobs,
    /// Which plane a write goes to, if that is open until it starts.
    pub alloc: &'a mut Allocation,
    /// The operations that wait. Reads of closed blocks stand aside.
    pub waiting: &'a mut Waiting,
    /// The counters of the run.
    pub counters: &'a mut Counters,
    /// Whether a write waits for space anywhere.
    pub is_starving: bool,
}

impl View<'_> {
    /// Whether a collection may begin.
    #[inline(always)]
    pub(crate) fn may_open_job(&self, unit: UnitId) -> bool {
        may_open(self.plan, unit, self.waiting, self.is_starving)
    }

    /// The collection of a unit that has one to begin: for space, or else for another reason.
    #[inline(always)]
    pub(super) fn collect_or_work(&self, unit: UnitId) -> Choice {
        let for_space = self.gc.unit_is_triggered(unit);
        if for_space { Choice::TryCollect } else { Choice::TryBackground }
    }

    /// The plane of an operation that is about to start. A write may find it only now.
    #[inline(always)]
    pub(crate) fn plane_to_start(&mut self, op: u32) -> PlaneId {
        let Op { lpn, kind, plane, .. } = *self.waiting.op(op);
        if !self.alloc.chooses_at_start() || kind != OpKind::Write {
            return plane;
        }
        let chosen = self.alloc.fittest_plane(self.plan, self.ftl, lpn);
        self.waiting.set_plane(op, chosen);
        chosen
    }

    #[inline(always)]
    pub(super) fn is_write(&self, op: u32) -> bool {
        self.waiting.op(op).kind == OpKind::Write
    }
}
