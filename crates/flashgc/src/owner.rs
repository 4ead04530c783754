//! For whom a unit works: the word that the flash room gets with a command and gives back.

use crate::flash::Class;

/// The owner of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A page operation of the host, by its place in the slab.
    Host(u32),
    /// A read of the host that is answered from the register, by its place in the slab.
    Answer(u32),
    /// Reads of the host, each by a plane of the unit.
    Planes,
    /// The unit's open collection.
    Collection,
    /// The collection of another unit, one of whose pages is programmed here.
    CrossUnit,
    /// The background task of this number.
    Background(u8),
    /// The unit's open collection, which is being suspended.
    Suspending,
    /// A program of the host, which is being suspended for a read.
    Yielding,
    /// The unit's open collection, which polls the queue; the array rests.
    Polling,
}

impl Owner {
    /// The class whose busy time its operations count as.
    #[inline(always)]
    pub fn class(self) -> Class {
        match self {
            Owner::Host(_) | Owner::Answer(_) | Owner::Planes | Owner::Yielding => Class::Host,
            _ => Class::Gc,
        }
    }
}
