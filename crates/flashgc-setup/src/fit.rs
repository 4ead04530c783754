//! A drive sized by its trace: the pages that the trace touches are a given share of the user
//! capacity (`workload.trace.fit`).
//!
//! Channels, chips, dies and planes stay the same while each plane has enough blocks for the
//! thresholds of the scheme. A small footprint needs fewer planes: first fewer in each die, then
//! fewer dies, chips and channels. Several schemes that are compared share one drive, on which all
//! of them have room.

use super::device::{Sizing, fewest_blocks};
use super::fitted::Fitted;
use super::inputs::Inputs;
use super::prepare::prepare;
use super::setup::Setup;
use super::spare;
use flashgc_config::{Diagnostic, Diagnostics};
use flashgc_model::device::Shape;

/// Thresholds and open blocks may take this share of the spare space of a plane, or hardly more
/// than they take of the whole device: the rest decides write amplification.
const THRESHOLDS_MOST: f64 = 0.5;

/// The most blocks that a plane may have.
const BLOCKS_MAX: u64 = 1 << 20;

/// A number of planes, by the counts of [`Fitted`].
#[derive(Clone, Copy)]
struct Planes {
    counts: [u32; 4],
}

impl Planes {
    fn number(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).product()
    }

    /// From all planes of the device down to one.
    fn downwards(counts: [u32; 4]) -> Vec<Planes> {
        let mut all = vec![Planes { counts }];
        let mut now = counts;
        for at in 0..now.len() {
            while now[at] > 1 {
                let count = now[at];
                let divides = |less: &u32| count.is_multiple_of(*less);
                now[at] = (1..count).rev().find(divides).unwrap_or(1);
                all.push(Planes { counts: now });
            }
        }
        all
    }
}

/// The size of the drive for these configurations, which differ in their schemes, and a trace that
/// touches this number of pages. Configurations that cannot run on the whole device are ignored.
pub fn fit(all: &[Inputs], footprint_pages: u64) -> Result<Fitted, Diagnostics> {
    let mut errors = None;
    let mut able = Vec::new();
    for inputs in all {
        match prepare(inputs) {
            Ok(setup) => able.push((inputs, spare_left(&setup), setup)),
            Err(error) => errors = errors.or(Some(error)),
        }
    }
    let Some((_, _, first)) = able.first() else {
        return Err(errors.unwrap_or_default());
    };
    let Some(sizing) = &first.sizing else {
        return Err(Diagnostic::new("the configuration does not size its drive to a trace").into());
    };
    let shape = &sizing.shape;
    if shape.lanes > 1 {
        return Err(Diagnostic {
            help: Some("remove device.superblock or workload.trace.fit".into()),
            ..Diagnostic::new(
                "workload.trace.fit cannot be combined with device.superblock: a smaller device \
                 would have smaller superblocks",
            )
        }
        .into());
    }
    let planes =
        [shape.planes_per_die, shape.dies_per_chip, shape.chips_per_channel, shape.channels];
    let in_step = shape.planes_in_step;
    let [_, b, c, d] = planes.map(|count| (count, count));
    let a = (planes[0] * in_step, planes[0] * in_step);
    let base = Fitted {
        share: sizing.share.numerator as f64 / sizing.share.denominator as f64,
        footprint_pages,
        counts: [a, b, c, d, (shape.blocks_per_plane, shape.blocks_per_plane)],
        multi_plane: shape.multi_plane,
        in_step,
    };
    let has_room = |fitted: &Fitted| {
        able.iter().all(|(inputs, left_on_device, _)| {
            let sized = Inputs { fitted: Some(fitted.clone()), ..(*inputs).clone() };
            let least = THRESHOLDS_MOST.min(0.9 * left_on_device);
            prepare(&sized).is_ok_and(|setup| spare_left(&setup) >= least)
        })
    };
    let sizes = Planes::downwards(planes);
    // User pages that the drive needs at least.
    let numerator = u128::from(sizing.share.numerator.max(1));
    let needed = u128::from(footprint_pages) * u128::from(sizing.share.denominator);
    let needed = u64::try_from(needed.div_ceil(numerator)).unwrap_or(u64::MAX).max(1);
    for planes in &sizes {
        let Some(blocks) = blocks_for(sizing, planes, needed) else { continue };
        let fitted = sized(&base, planes, blocks);
        if has_room(&fitted) {
            return Ok(fitted);
        }
    }
    smallest(sizing, &sizes, needed, |planes, blocks| has_room(&sized(&base, planes, blocks)))
        .map(|(planes, blocks)| sized(&base, &planes, blocks))
        .ok_or_else(|| too_large(needed, shape))
}

/// The size with this number of planes and of blocks in each.
fn sized(base: &Fitted, planes: &Planes, blocks: u64) -> Fitted {
    let mut fitted = base.clone();
    for (count, to) in fitted.counts.iter_mut().zip(planes.counts) {
        count.1 = to;
    }
    fitted.counts[4].1 = blocks as u32;
    fitted.counts[0].1 *= base.in_step;
    fitted.multi_plane = base.multi_plane.min(planes.counts[0]) * base.in_step;
    fitted
}

/// The share of a plane's spare space that thresholds and open blocks leave.
fn spare_left(setup: &Setup) -> f64 {
    spare::left(&setup.plan.geometry.shape, &setup.plan.gc)
}

/// The fewest blocks in each plane that give the needed number of user pages.
fn blocks_for(sizing: &Sizing, planes: &Planes, needed: u64) -> Option<u64> {
    let enough = |blocks_per_plane: u32| {
        let shape = Shape { blocks_per_plane, ..sizing.shape.clone() };
        let exported = sizing.exported.pages_of(&shape).unwrap_or(0);
        planes.number() * exported >= needed
    };
    fewest_blocks(enough).map(u64::from)
}

/// The smallest drive that has room for the thresholds, where none of the requested size has.
fn smallest(
    sizing: &Sizing,
    sizes: &[Planes],
    needed: u64,
    has_room: impl Fn(&Planes, u64) -> bool,
) -> Option<(Planes, u64)> {
    for planes in sizes.iter().rev() {
        let Some(mut blocks) = blocks_for(sizing, planes, needed) else { continue };
        let most = (64 * blocks).max(u64::from(sizing.shape.blocks_per_plane)).min(BLOCKS_MAX);
        while blocks <= most {
            if has_room(planes, blocks) {
                return Some((*planes, blocks));
            }
            blocks += blocks.div_ceil(8);
        }
    }
    None
}

fn too_large(needed: u64, shape: &Shape) -> Diagnostics {
    let planes = shape.planes();
    Diagnostic {
        help: Some(
            "replay a smaller part of the trace (workload.trace.rows), use larger pages, or set a \
             larger share (workload.trace.fit)"
                .into(),
        ),
        ..Diagnostic::new(format!(
            "the trace does not fit any size of this device: it needs {needed} user pages in at \
             most {planes} planes"
        ))
    }
    .into()
}
