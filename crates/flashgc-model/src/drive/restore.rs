//! Putting a state into a translation layer, under any rules of frontiers.
//!
//! The state may come from a file, so nothing in it is trusted: a value that does not fit is
//! refused, and derived values cannot disagree with it. One pass over the map, one over the blocks.

use super::{Drive, OpenBlock};
use crate::device::{Geometry, Pools};
use crate::ftl::Ftl;
use crate::ftl::blocks::{BlockState, Blocks};
use crate::ftl::frontier::{FrontierRules, Frontiers};
use crate::ftl::map::PageMap;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The reason why a state does not fit this drive. The text is for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveFault(pub String);

impl fmt::Display for DriveFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DriveFault {}

/// The changes that another scheme needed on the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Erased pages that were given up, since the odd/even rule had skipped them.
    pub padded_pages: u64,
    /// Blocks that became full by these, and were sealed.
    pub sealed_blocks: u64,
    /// Blocks collected, untimed, since the scheme has a larger reserve.
    pub collected_blocks: u64,
    /// Copies that this took.
    pub moved_pages: u64,
}

/// The age clock may reach this, in ns: 146 years, which leaves room for a run.
const AGE_NS_MAX: u64 = 1 << 62;
/// The wear of a block may reach this.
const ERASES_MAX: u32 = 1 << 31;
/// Entries between a prefetch of the tables and its use.
const AHEAD: usize = 24;

fn fault<T>(what: impl Into<String>) -> Result<T, DriveFault> {
    Err(DriveFault(what.into()))
}

/// The translation layer of a drive in this state. The number of a page determines its pool.
pub fn restore(
    geometry: &Geometry,
    rules: FrontierRules,
    pools: &Pools,
    drive: Drive,
) -> Result<(Ftl, Carried), DriveFault> {
    check_sizes(geometry, &drive)?;
    let is_read_only = drive.is_read_only;
    let Drive { map, order, planes, open, sealed_at_ns, erases, age_ns, failing, .. } = drive;
    if let Some(block) = erases.iter().position(|&erases| erases > ERASES_MAX) {
        return fault(format!("block {block} was erased {} times", erases[block]));
    }
    let mut blocks = Blocks::new(geometry);
    let map = restore_map(geometry, pools, map, &mut blocks)?;
    let frontiers = Frontiers::empty(geometry, rules);
    let ftl = Ftl::of(map, blocks, frontiers);
    let mut to = Restoring { geometry, rules, ftl, erases, age_ns, carried: Carried::default() };
    let mut seen = vec![false; geometry.blocks as usize];
    let mut open = open.into_iter();
    for (plane, count) in (0..geometry.planes).map(PlaneId).zip(&planes) {
        let all = geometry.blocks_of(plane);
        let listed = &order[all.start as usize..all.end as usize];
        for block in listed {
            if !all.contains(block) || std::mem::replace(&mut seen[*block as usize], true) {
                return fault(format!(
                    "block {block} is listed twice, or in the wrong plane ({})",
                    plane.0
                ));
            }
        }
        let (sealed, rest) = listed.split_at(count.sealed as usize);
        let (opened, rest) = rest.split_at(count.open as usize);
        let (erased, retired) = rest.split_at(rest.len() - count.retired as usize);
        for block in sealed.iter().copied().map(BlockId) {
            to.seal(block, sealed_at_ns[block.index()])?;
        }
        for block in opened.iter().copied().map(BlockId) {
            match open.next().filter(|open| open.block == block) {
                Some(open) => to.open(plane, open)?,
                None => return fault(format!("open block {} has no write position", block.0)),
            }
        }
        for block in erased.iter().copied().map(BlockId) {
            to.free(plane, block)?;
        }
        retired.iter().try_for_each(|&block| to.retire(BlockId(block)))?;
    }
    for block in failing {
        to.fails(block)?;
    }
    to.ftl.was_read_only = is_read_only;
    // The facts of the restoration are dropped: a scheme takes the drive over by calls of its own.
    to.ftl.facts.clear();
    Ok((to.ftl, to.carried))
}

/// A translation layer that is being put together, block by block.
struct Restoring<'a> {
    geometry: &'a Geometry,
    rules: FrontierRules,
    ftl: Ftl,
    erases: Vec<u32>,
    age_ns: u64,
    carried: Carried,
}

impl Restoring<'_> {
    fn seal(&mut self, block: BlockId, sealed_ns: u64) -> Result<(), DriveFault> {
        if sealed_ns > self.age_ns {
            return fault(format!("block {} was sealed in the future", block.0));
        }
        self.ftl.blocks.restore(block, BlockState::Open, self.erases[block.index()]);
        self.ftl.seal(self.geometry, block, sealed_ns);
        Ok(())
    }

    fn open(&mut self, plane: PlaneId, open: OpenBlock) -> Result<(), DriveFault> {
        let block = open.block;
        let data_pages = self.geometry.data_pages_of(block);
        if !open.is_sound(data_pages) {
            return fault(format!("block {} is open but not partly written", block.0));
        }
        let last = self.ftl.blocks.last_valid(block);
        if last.into_iter().flatten().any(|page| !open.is_written(page)) {
            return fault(format!("block {} has data beyond its written pages", block.0));
        }
        self.ftl.blocks.restore(block, BlockState::Open, self.erases[block.index()]);
        if self.rules.parity || open.end() < data_pages {
            self.ftl.frontiers.adopt(self.geometry, plane, open);
        } else {
            self.ftl.seal(self.geometry, block, self.age_ns);
            self.carried.sealed_blocks += 1;
        }
        if !self.rules.parity {
            self.carried.padded_pages += u64::from(open.holes());
        }
        Ok(())
    }

    fn free(&mut self, plane: PlaneId, block: BlockId) -> Result<(), DriveFault> {
        let erases = self.erases[block.index()];
        if self.ftl.blocks.restore(block, BlockState::Free, erases) > 0 {
            return fault(format!("block {} is erased but has data", block.0));
        }
        self.ftl.frontiers.give_back(self.geometry, plane, block);
        Ok(())
    }
}

impl Restoring<'_> {
    fn retire(&mut self, block: BlockId) -> Result<(), DriveFault> {
        let erases = self.erases[block.index()];
        if self.ftl.blocks.restore(block, BlockState::Retired, erases) > 0 {
            return fault(format!("block {} is retired but has data", block.0));
        }
        Ok(())
    }

    /// A program of a block has failed.
    fn fails(&mut self, block: u32) -> Result<(), DriveFault> {
        let is_there = block < self.geometry.blocks;
        if !is_there || !self.ftl.blocks.is_sealed(BlockId(block)) {
            return fault(format!("block {block} has a failed program and is not full"));
        }
        self.ftl.failing.insert(block);
        Ok(())
    }
}

fn check_sizes(geometry: &Geometry, drive: &Drive) -> Result<(), DriveFault> {
    let blocks = geometry.blocks as usize;
    let sizes = [
        ("map", drive.map.len(), geometry.exported_pages as usize),
        ("order", drive.order.len(), blocks),
        ("planes", drive.planes.len(), geometry.planes as usize),
        ("sealed_at_ns", drive.sealed_at_ns.len(), blocks),
        ("erases", drive.erases.len(), blocks),
    ];
    if let Some((name, found, due)) = sizes.iter().find(|(_, found, due)| found != due) {
        return fault(format!("the table `{name}` has {found} entries instead of {due}"));
    }
    let per_plane = u64::from(geometry.shape.blocks_per_plane);
    let held = |plane: &super::PlaneBlocks| {
        u64::from(plane.sealed) + u64::from(plane.open) + u64::from(plane.retired)
    };
    if drive.planes.iter().any(|plane| held(plane) > per_plane) {
        return fault("a plane has more listed blocks than blocks");
    }
    let open: u64 = drive.planes.iter().map(|plane| u64::from(plane.open)).sum();
    if open != drive.open.len() as u64 {
        return fault(format!("{open} blocks are open, but {} are described", drive.open.len()));
    }
    if drive.age_ns > AGE_NS_MAX {
        return fault(format!("its age of {} ns is not possible", drive.age_ns));
    }
    Ok(())
}

/// The reverse map and the valid pages follow from the map.
fn restore_map(
    geometry: &Geometry,
    pools: &Pools,
    to_ppn: Vec<u32>,
    blocks: &mut Blocks,
) -> Result<PageMap, DriveFault> {
    let mut map = PageMap::of(to_ppn, geometry.pages as usize);
    for lpn in (0..geometry.exported_pages).map(Lpn) {
        // Physical pages lie at random, so their entries are prefetched.
        map.prefetch_reverse(lpn.index() + AHEAD);
        let ppn = map.ppn_of(lpn);
        if ppn == Ppn::NONE {
            continue;
        }
        if ppn.0 >= geometry.pages {
            return fault(format!("logical page {} is beyond the user capacity", lpn.0));
        }
        let (block, page) = geometry.block_and_page(ppn);
        if page >= geometry.data_pages_of(block) {
            return fault(format!(
                "logical page {} is stored on a page that cannot hold data",
                lpn.0
            ));
        }
        if pools.of_plane(geometry.plane_of_block(block)) != pools.of_page(geometry, lpn) {
            return fault(format!("logical page {} is in the wrong plane", lpn.0));
        }
        if blocks.restore_valid(block, page) {
            return fault(format!("two logical pages are stored on physical page {}", ppn.0));
        }
        map.restore_reverse(lpn, ppn);
    }
    Ok(map)
}
