//! A slab that grows with its entries.

/// The entry at a place, which is `new` where the slab had none.
#[inline(always)]
pub(super) fn entry<T: Clone>(slab: &mut Vec<T>, at: u32, new: T) -> &mut T {
    let at = at as usize;
    if slab.len() <= at {
        grow(slab, at, new);
    }
    &mut slab[at]
}

#[cold]
#[inline(never)]
fn grow<T: Clone>(slab: &mut Vec<T>, at: usize, new: T) {
    slab.resize((at + 1).next_power_of_two(), new);
}
