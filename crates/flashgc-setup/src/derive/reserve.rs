//! The erased space of each plane that host writes never take: the space for the worst collection.

use crate::gc::Scheme;
use crate::space::least_of;
use flashgc_model::device::Shape;
use flashgc_model::gc::victim::Ranks;

/// The erased blocks of each plane that only collection takes.
pub fn blocks(shape: &Shape, scheme: &Scheme, move_cap_pages: Option<u32>) -> u32 {
    // The worst collection moves every page of its victims before it erases them: they fill the
    // same number of blocks. Under the odd/even rule too, since a new block takes odd and even
    // pages fitted. With a bound on moves they fill no more than it allows, and one block always
    // counts.
    if scheme.erase.sub_blocks().is_some() || scheme.placement.streams_of_copies() > 1 {
        return for_streams(shape, scheme);
    }
    let most = scheme.erase.blocks();
    move_cap_pages.map_or(most, |pages| {
        // Under the odd/even rule all of them may be of one kind.
        let per_block = shape.data_pages() / if scheme.copy.parity() { 2 } else { 1 };
        pages.div_ceil(per_block.max(1)).clamp(1, most)
    })
}

/// The erased blocks or sub-blocks of each plane that only collection takes, where those differ in
/// size or copies have several streams.
fn for_streams(shape: &Shape, scheme: &Scheme) -> u32 {
    // The worst collection of sub-blocks empties a whole block, except for its erased part, which
    // is withheld. A stream whose block is full opens another one. Under the odd/even rule pages of
    // each kind need room of their own.
    let others = others_emptied(shape, scheme);
    let needed = |of: fn(u32) -> u32| {
        let least = of(least_of(shape));
        (of(shape.data_pages()) + others * least).div_ceil(least)
    };
    let job = match scheme.copy.parity() {
        true => needed(|pages| pages / 2).max(needed(|pages| pages.div_ceil(2))),
        false => needed(|pages| pages),
    };
    job + scheme.placement.streams_of_copies() - 1
}

/// Blocks or sub-blocks that the worst collection empties in addition to one.
fn others_emptied(shape: &Shape, scheme: &Scheme) -> u32 {
    if scheme.erase.sub_blocks().is_none() {
        return scheme.erase.blocks() - 1;
    }
    match scheme.victim.ranks() {
        Ranks::SubBlocks => 0,
        Ranks::Windows | Ranks::Blocks => shape.sub_blocks - 1,
    }
}

/// The erased pages of each plane that host writes never take, where a number of blocks or
/// sub-blocks does not describe them: layers make sub-blocks unequal, so that a collection may fill
/// two small ones and free a large one, or several streams of copies keep an open one each. Of each
/// kind under the odd/even rule.
///
/// The worst collection finds a page for each copy if there are as many erased ones as it moves,
/// plus the most that the other streams may reserve: an open sub-block less one page each.
pub fn pages(shape: &Shape, scheme: &Scheme) -> u32 {
    let placement = &scheme.placement;
    let is_equal = scheme.erase.sub_blocks().is_none() || shape.kinds.is_one();
    if is_equal && placement.streams_of_copies() == 1 {
        return 0;
    }
    let others = others_emptied(shape, scheme);
    if scheme.copy.parity() {
        let worst = shape.data_pages().div_ceil(2) + others * least_of(shape).div_ceil(2);
        // The sub-block that the host opens for a frontier of its own is lost to copies.
        return worst + u32::from(placement.separates_gc()) * shape.data_pages().div_ceil(2);
    }
    let worst = shape.data_pages() + others * least_of(shape);
    // The host takes the pages of a program together.
    worst + (placement.streams() - 1) * (shape.data_pages() - 1) + shape.program_slots - 1
}
