//! Garbage collection: the answers of the nine slots, and the collections they lead to.
//!
//! Life of a collection:
//! 1. The *trigger* finds a plane short of space, so the plane needs space.
//! 2. When the plane's unit begins collection, *victim* names a sealed block, which is claimed.
//! 3. *blocking* blocks the domain of the victim for the host.
//! 4. *copy* moves every page that is still valid to the place that *placement* names.
//! 5. *erase* frees the block; the blocking ends; the trigger is evaluated again.
//!
//! Only the simulation moves data (`sim::collect`); this module decides.

mod answers;
mod background;
pub mod choice;
pub mod copy;
pub mod expected;
mod fewest;
pub mod foresight;
pub mod given;
mod heap;
mod idle;
mod job;
mod lists;
pub mod pacing;
pub mod placement;
pub mod pre_migration;
pub mod preemption;
pub mod read_reclaim;
mod slots;
mod trigger;
pub mod used_space;
pub mod victim;
pub mod windows;

pub use answers::{Batch, BlockingChoice, Cost, Isolation, Space};
pub use background::{BackgroundPlan, Precedence};
pub use copy::CopyChoice;
pub use idle::{Idle, MeanCollection, Wait};
pub use job::{Copy, CrossUnit, JobRow, Role, Victim};
pub use lists::counted;
pub use pacing::{TimeSlices, Tokens};
pub use pre_migration::PreMigration;
pub use preemption::{Preemption, Suspends};
pub use read_reclaim::ReadReclaim;
pub use slots::{GcPlan, Watermark};

pub use trigger::Sight;

use crate::device::Geometry;
use crate::ftl::Ftl;
use crate::ids::{BlockId, PlaneId, UnitId};
use fewest::Fewest;
use placement::{ClassPages, HandleCounts, Placement, PlacementCounts};
use std::collections::VecDeque;
use used_space::VictimLists;
use victim::{Policy, VictimPolicy};
use windows::Costs;

/// The bit of a unit's needs for work of a background task that goes before the host. The planes of
/// a unit are fewer.
const WORK: u32 = 1 << 31;

/// The needs of a unit's planes.
#[derive(Clone, Default)]
struct UnitNeeds {
    /// The number of planes that need space, and [`WORK`].
    needs: u32,
    /// The plane that is checked first at the unit's next collection.
    next_plane: u32,
}

/// The collector's memory: the planes that need space, and the state of its policies.
#[derive(Clone)]
pub struct Gc {
    /// Ranks the victims.
    pub victim: Policy,
    /// The cost of moving a page and of an erase.
    pub costs: Costs,
    /// Sorts pages into classes, where there are any.
    pub placement: Option<Box<placement::Policy>>,
    /// The pages that each class took.
    pub by_class: Vec<ClassPages>,
    /// Writes by the host that went to another class than their own.
    pub class_fallbacks: u64,
    /// Blocks with valid pages that were claimed for a collection.
    pub reallocated: u64,
    /// Draws for victims that are chosen at random.
    pub random: crate::rng::Random,
    /// The lists of the trigger `used-space`, where the scheme has it.
    pub lists: Option<VictimLists>,
    /// The choice for an empty list.
    fewest: Fewest,
    /// Whether the trigger or the policy is to be notified of every page that becomes invalid, with
    /// the time.
    pub keeps_books: bool,
    /// Planes that need space.
    pub triggered: Vec<bool>,
    /// Planes whose victim is being moved at present.
    pub busy_planes: Vec<bool>,
    /// Victims that were on no list.
    pub fallbacks: u64,
    units: Vec<UnitNeeds>,
    /// Units that should be checked, the first that was named first.
    called: VecDeque<UnitId>,
}

impl Gc {
    /// No plane needs space, and no collection is open.
    pub fn new(plan: &GcPlan, geometry: &Geometry, costs: Costs, seed: u64) -> Self {
        let victim = Policy::new(&plan.victim, geometry);
        let lists = plan.used_space;
        let lists = lists.map(|rules| VictimLists::new(rules, plan.trigger.batch, geometry));
        Gc {
            keeps_books: lists.is_some() || victim.keeps_times(),
            lists,
            fewest: Fewest::new(plan, geometry),
            victim,
            costs,
            placement: plan
                .placement
                .as_ref()
                .map(|settings| Box::new(placement::Policy::new(settings, geometry, seed))),
            by_class: vec![ClassPages::default(); plan.classes() as usize],
            class_fallbacks: 0,
            reallocated: 0,
            random: crate::rng::Random::named(seed, "victim"),
            triggered: vec![false; geometry.planes as usize],
            busy_planes: vec![false; geometry.planes as usize],
            fallbacks: 0,
            units: vec![UnitNeeds::default(); geometry.units as usize],
            called: VecDeque::new(),
        }
    }

    /// Whether a plane needs space and some sealed block could provide it.
    #[inline(always)]
    pub fn can_collect(&self, ftl: &Ftl, plane: PlaneId) -> bool {
        self.triggered[plane.index()] && ftl.blocks.reclaimable[plane.index()] > 0
    }

    /// Where planes share their blocks and requests may preempt: whether a plane below its hard
    /// threshold gives no page to writes, since a collection will free some.
    pub fn refuses_pages(&self, rules: &GcPlan, ftl: &Ftl, plane: PlaneId) -> bool {
        let trigger = &rules.trigger;
        rules.preemption.is_some()
            && trigger.hard.is_some_and(|hard| hard.is_short(ftl, plane, trigger.inclusive))
            && (self.busy_planes[plane.index()] || self.can_collect(ftl, plane))
    }

    /// A block was opened, sealed, claimed, erased, or given back.
    #[inline(always)]
    pub fn changed(&mut self, ftl: &Ftl, geometry: &Geometry, plane: PlaneId, block: BlockId) {
        if let Some(placement) = &mut self.placement {
            placement.touch(ftl, geometry, plane, block);
        }
    }

    /// The pages of each class, where there are any.
    pub fn placement_counts(&self, ftl: &Ftl) -> Option<PlacementCounts> {
        let counts = |mut counts: HandleCounts| {
            let classes = 0..counts.pages.len();
            counts.available = classes.map(|class| ftl.frontiers.left_of_class(class)).collect();
            counts.reallocated = self.reallocated;
            counts
        };
        self.placement.as_ref().map(|placement| PlacementCounts {
            classes: self.by_class.clone(),
            fallbacks: self.class_fallbacks,
            table_bytes: placement.table_bytes(),
            handles: placement.of_handles().map(counts),
            groups: placement.of_groups(),
        })
    }

    /// Bytes of the tables that grow with the drive.
    pub fn table_bytes(&self) -> u64 {
        let placement = self.placement.as_ref();
        let placement = placement.map_or(0, |placement| placement.table_bytes());
        self.victim.table_bytes() + self.fewest.bytes() + placement
    }
}
