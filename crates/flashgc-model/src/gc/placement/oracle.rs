//! The oracle: pages are sorted by the time of the host's next change to them, which no drive can
//! know. The difference between it and another placement is the price of not knowing.
//!
//! Time is counted in changes of the run: pages that the host writes, and trims of pages that hold
//! data ([`Foresight`]). A page goes to the class whose window has its next change. The unit of the
//! windows is a block of changes in each plane: with a class for each such window all pages of a
//! block would die together.

use super::{Classes, Copied, Placement, State, Write};
use crate::device::Geometry;
use crate::gc::choice::{About, Choice, Count, Word};
use crate::gc::foresight::{Foresight, NEVER};
use crate::gc::windows::Costs;
use crate::ids::Lpn;
use crate::memory::bytes_of;
use flashgc_config::Reader;
use serde::Serialize;
use std::sync::Arc;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "oracle",
    about: "by the time until the page is written or trimmed next, which the requests of the run \
            are read for in advance: a bound, not a scheme",
    keys: &[&WINDOWS, &CLASSES, &BASE],
    source: "this project",
};

/// The growth of the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Windows {
    /// By a factor.
    Geometric,
    /// Not at all.
    Linear,
}

const WINDOWS: Word<Windows> = Word {
    name: "windows",
    words: &[("geometric", Windows::Geometric), ("linear", Windows::Linear)],
    default: 0,
    about: About::Each(&[
        "class 0 takes pages that change in less than one block of changes in each plane, and \
         class k those in less than base^k",
        "each class takes one block of changes in each plane",
    ]),
};
const CLASSES: Count = Count {
    name: "classes",
    default: 12,
    least: 1,
    most: 16,
    about: "the last one takes all later changes",
};
const BASE: Count = Count {
    name: "base",
    default: 2,
    least: 2,
    most: 64,
    about: "the growth of geometric windows",
};

/// The classes of open blocks.
pub const STATE: State =
    State { by: "oracle ", name: "open blocks of the oracle", without: "with new open blocks" };

/// The windows.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    windows: Windows,
    classes: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<u32>,
}

impl Settings {
    /// From `[gc.placement.oracle]`.
    pub fn read(table: &Reader<'_>) -> Option<Self> {
        let (windows, classes) = (WINDOWS.read(table), CLASSES.checked(table)?);
        let base = match windows {
            Windows::Geometric => Some(BASE.checked(table)?),
            Windows::Linear if table.has(BASE.name) => {
                let help = "remove it, or set windows = \"geometric\"";
                table.error(BASE.name, "base needs windows = \"geometric\"", help);
                return None;
            }
            Windows::Linear => None,
        };
        Some(Settings { windows, classes, base })
    }
}

impl Classes for Settings {
    fn classes(&self) -> u32 {
        self.classes
    }

    fn classes_of_copies(&self) -> u32 {
        self.classes
    }

    fn keeps_blocks(&self) -> bool {
        false
    }

    fn foresees(&self) -> bool {
        true
    }

    fn kept_by(&self, _costs: Costs) -> Option<String> {
        let Settings { windows, classes, base } = self;
        Some(format!("{}{windows:?} {classes} {base:?}", STATE.by))
    }
}

/// The future of the pages.
#[derive(Clone)]
pub struct Policy {
    /// The ends of the windows of all classes but the last, in changes from now.
    ends: Vec<u64>,
    foresight: Option<Arc<Foresight>>,
    /// By page: its next change.
    next: Vec<u32>,
    /// Changes until now.
    now: u32,
}

impl Policy {
    /// Without a future yet.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        let block = u64::from(geometry.shape.data_pages()) * u64::from(geometry.planes);
        let blocks = |class: u32| match settings.base {
            Some(base) => u64::from(base).saturating_pow(class),
            None => u64::from(class) + 1,
        };
        let ends = (0..settings.classes - 1).map(|class| blocks(class).saturating_mul(block));
        Policy { ends: ends.collect(), foresight: None, next: Vec::new(), now: 0 }
    }

    /// The page changes now.
    #[inline]
    fn change(&mut self, lpn: Lpn) {
        if let (Some(foresight), Some(next)) = (&self.foresight, self.next.get_mut(lpn.index())) {
            *next = foresight.after(*next);
            self.now = self.now.saturating_add(1);
        }
    }

    /// The class of a page by its next change. One that is late where requests have overtaken each
    /// other is due at once.
    #[inline]
    fn class(&self, lpn: Lpn) -> u8 {
        let next = self.next.get(lpn.index()).copied().unwrap_or(NEVER);
        if next == NEVER {
            return self.ends.len() as u8;
        }
        let until = u64::from((next + 1).saturating_sub(self.now));
        self.ends.partition_point(|&end| end <= until) as u8
    }
}

impl Placement for Policy {
    #[inline]
    fn class_of_write(&mut self, write: Write) -> u8 {
        self.change(write.lpn);
        self.class(write.lpn)
    }

    #[inline]
    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        self.class(copy.lpn)
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.change(lpn);
    }

    fn foresee(&mut self, foresight: &Arc<Foresight>) {
        self.next = foresight.first_of_pages().to_vec();
        self.foresight = Some(Arc::clone(foresight));
        self.now = 0;
    }

    fn table_bytes(&self) -> u64 {
        bytes_of(&self.next) + self.foresight.as_ref().map_or(0, |foresight| foresight.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Level, Shape};
    use crate::ftl::Writer;
    use crate::gc::foresight::Foreseer;

    /// The oracle over writes of pages, at its beginning; a block of changes has this many pages.
    fn oracle(settings: &Settings, writes: &[u32]) -> (Policy, u32) {
        let geometry = Geometry::new(Shape::small(Level::Plane));
        let mut foreseer = Foreseer::new(geometry.exported_pages, |_| false);
        writes.iter().for_each(|&lpn| foreseer.written(Lpn(lpn)).expect("few"));
        let mut policy = Policy::new(settings, &geometry, 1);
        policy.foresee(&foreseer.finish());
        (policy, geometry.shape.data_pages() * geometry.planes)
    }

    fn write(lpn: u32) -> Write {
        Write { lpn: Lpn(lpn), is_update: true, writer: Writer::default(), clock: 0, old: None }
    }

    fn copy(lpn: u32) -> Copied {
        Copied { lpn: Lpn(lpn), clock: 0, from: None, is_current: true }
    }

    #[test]
    fn a_page_goes_to_the_window_of_its_next_change() {
        let geometry = Geometry::new(Shape::small(Level::Plane));
        let block = geometry.shape.data_pages() * geometry.planes;
        // Page 0 is written again after each of these distances, page 1 in between.
        let distances = [1, block, block + 1, 2 * block, 4 * block, 9 * block];
        let mut writes = vec![0];
        for distance in distances {
            writes.extend(vec![1; distance as usize - 1]);
            writes.push(0);
        }
        let geometric = Settings { windows: Windows::Geometric, classes: 4, base: Some(2) };
        let linear = Settings { windows: Windows::Linear, classes: 4, base: None };
        for (settings, due) in [(geometric, [0, 1, 1, 2, 3, 3]), (linear, [0, 1, 1, 2, 3, 3])] {
            let (mut policy, _) = oracle(&settings, &writes);
            let mut found = Vec::new();
            for &lpn in &writes {
                let class = policy.class_of_write(write(lpn));
                if lpn == 0 {
                    found.push(class);
                }
            }
            assert_eq!(found[..6], due, "{settings:?}");
            assert_eq!(found[6], 3, "it is never written again");
        }
    }

    #[test]
    fn windows_grow_or_stay() {
        let ends = |windows, classes, base| {
            let (policy, block) = oracle(&Settings { windows, classes, base }, &[]);
            policy.ends.iter().map(|end| end / u64::from(block)).collect::<Vec<u64>>()
        };
        assert_eq!(ends(Windows::Geometric, 6, Some(4)), [1, 4, 16, 64, 256]);
        assert_eq!(ends(Windows::Linear, 6, None), [1, 2, 3, 4, 5]);
        assert!(ends(Windows::Linear, 1, None).is_empty());
        assert_eq!(ends(Windows::Geometric, 16, Some(64)).len(), 15);
    }

    #[test]
    fn a_copy_has_the_class_of_what_is_left() {
        let settings = Settings { windows: Windows::Linear, classes: 3, base: None };
        let geometry = Geometry::new(Shape::small(Level::Plane));
        let block = (geometry.shape.data_pages() * geometry.planes) as usize;
        let mut writes = vec![1; 2 * block + 1];
        (writes[0], writes[2 * block]) = (0, 0);
        let (mut policy, _) = oracle(&settings, &writes);
        assert_eq!(policy.class_of_write(write(0)), 2, "2 blocks of changes are left");
        policy.class_of_write(write(1));
        assert_eq!(policy.class_of_copy(copy(0)), 1);
        (0..block).for_each(|_| assert_eq!(policy.class_of_write(write(1)), 0));
        assert_eq!(policy.class_of_copy(copy(0)), 0);
        policy.trimmed(Lpn(0));
        assert_eq!(policy.class_of_copy(copy(0)), 2, "there is no further change");
    }
}
