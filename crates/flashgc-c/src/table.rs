//! The handles in use. A handle is a place in a table and the number of its use, so that an old one
//! is known as such after the place has another owner.

use crate::lock::Lock;
use crate::types::{Failed, flashgc_status};

type Slot<T> = Lock<Option<T>>;

struct Slots<T: 'static> {
    /// The use of each place, and its content. Places are never given back, so that they can be
    /// used without the table.
    places: Vec<(u32, &'static Slot<T>)>,
    free: Vec<u32>,
}

/// A table of handles.
pub(crate) struct Table<T: 'static> {
    what: &'static str,
    slots: Lock<Slots<T>>,
}

const BUSY: &str = "error: another thread uses the component at this moment\n  = help: give each \
                    thread a component of its own, or use a lock";

impl<T: Send> Table<T> {
    /// An empty one.
    pub(crate) const fn new(what: &'static str) -> Self {
        Table { what, slots: Lock::new(Slots { places: Vec::new(), free: Vec::new() }) }
    }

    /// A handle for a value; never 0.
    pub(crate) fn add(&self, value: T) -> u64 {
        self.slots.with(|slots| {
            let at = slots.free.pop().unwrap_or_else(|| {
                slots.places.push((0, Box::leak(Box::new(Lock::new(None)))));
                (slots.places.len() - 1) as u32
            });
            let (uses, slot) = &mut slots.places[at as usize];
            *uses = uses.wrapping_add(1).max(1);
            slot.with(|place| *place = Some(value));
            u64::from(*uses) << 32 | u64::from(at)
        })
    }

    fn slot(&self, handle: u64) -> Result<&'static Slot<T>, Failed> {
        let (at, own) = (handle & u64::from(u32::MAX), handle >> 32);
        let slot = self.slots.with(|slots| match slots.places.get(at as usize) {
            Some(&(uses, slot)) if u64::from(uses) == own => Some(slot),
            _ => None,
        });
        slot.ok_or_else(|| self.unknown())
    }

    fn unknown(&self) -> Failed {
        Failed::new(
            flashgc_status::FLASHGC_BAD_HANDLE,
            format!(
                "error: the handle names no {}: it was closed, or never given\n  = help: use a \
                 handle from its opening to its closing",
                self.what
            ),
        )
    }

    /// Does something with the value of a handle.
    pub(crate) fn with<R>(
        &self,
        handle: u64,
        act: impl FnOnce(&mut T) -> Result<R, Failed>,
    ) -> Result<R, Failed> {
        let done = self.slot(handle)?.try_with(|place| match place {
            Some(value) => act(value),
            None => Err(self.unknown()),
        });
        done.unwrap_or_else(|| Err(Failed::new(flashgc_status::FLASHGC_BUSY, BUSY)))
    }

    /// Takes the value of a handle, which names nothing from then on.
    pub(crate) fn take(&self, handle: u64) -> Result<T, Failed> {
        let taken = self.slot(handle)?.try_with(|place| place.take().ok_or_else(|| self.unknown()));
        let taken =
            taken.unwrap_or_else(|| Err(Failed::new(flashgc_status::FLASHGC_BUSY, BUSY)))?;
        self.slots.with(|slots| slots.free.push((handle & u64::from(u32::MAX)) as u32));
        Ok(taken)
    }
}
