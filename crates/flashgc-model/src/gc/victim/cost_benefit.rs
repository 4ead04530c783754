//! Cost-benefit: the free space gained, times the age of the pages that move, over the work of
//! moving them.
//!
//! The score of a block with valid share u has two published forms. That of LFS is
//! `(1 - u) * age / (1 + u)`, with the age in time; the other is `(1 - u) / u * sqrt(age)`, with
//! the age in pages that the host has written. The age counts from the block's sealing. Scores are
//! compared in whole numbers, so no rounding can change a choice.

use super::fraction::Fraction;
use super::seal_order::Index;
use super::{About, Candidates, Choice, VictimPolicy, Word};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use flashgc_config::Reader;
use serde::Serialize;
use std::cmp::Reverse;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "cost-benefit",
    about: "the sealed block with the most free space times age for the work; the lowest number \
            among equals",
    keys: &[&FORM],
    source: "Rosenblum and Ousterhout 1992 (LFS); the second form as in SepBIT and MiDAS",
};

const FORM: Word<Form> = Word {
    name: "form",
    words: &[("lfs", Form::Lfs), ("sqrt-age", Form::SqrtAge)],
    default: 0,
    about: About::Each(&[
        "(1 - u) * age / (1 + u), the age in time",
        "(1 - u) / u * sqrt(age), the age in pages that the host has written",
    ]),
};

/// The form of the score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// (1 - u) * age / (1 + u).
    #[default]
    Lfs,
    /// (1 - u) / u * sqrt(age).
    SqrtAge,
}

/// The settings of the choice.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// The form of the score.
    #[serde(skip_serializing_if = "is_default")]
    pub form: Form,
}

/// By reference, as serialisation needs it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_default(form: &Form) -> bool {
    *form == Form::default()
}

impl Settings {
    /// From `[gc.victim.cost-benefit]`.
    pub fn read(table: &Reader<'_>) -> Self {
        Settings { form: FORM.read(table) }
    }
}

/// The rank of a block: the higher score goes first.
type Rank = Reverse<Fraction>;

impl Form {
    /// The rank of a block of this number of pages.
    #[inline(always)]
    fn rank(self, pages: u32, valid: u32, invalid: u32, age: u64) -> Rank {
        let [valid, invalid, age] = [valid.into(), invalid.into(), u128::from(age)];
        Reverse(match self {
            Form::Lfs => Fraction { over: invalid * age, under: u64::from(pages) + valid as u64 },
            // The square of the score, with a whole denominator where u = 0: before all others.
            Form::SqrtAge if valid == 0 => Fraction { over: u128::MAX >> 36, under: 1 },
            Form::SqrtAge => {
                Fraction { over: invalid * invalid * age, under: (valid * valid) as u64 }
            }
        })
    }

    /// The time of a block's seal, on the clock of its age.
    #[inline(always)]
    fn sealed_at(self, block: BlockId, candidates: &Candidates<'_>) -> u64 {
        match self {
            Form::Lfs => candidates.blocks.sealed_at_ns(block),
            Form::SqrtAge => candidates.stamps.sealed_at(block),
        }
    }

    /// The present, on the same clock.
    fn now(self, candidates: &Candidates<'_>) -> u64 {
        match self {
            Form::Lfs => candidates.age_now_ns,
            Form::SqrtAge => candidates.stamps.clock,
        }
    }
}

/// The policy, with an index where that is shorter than a walk over the blocks.
#[derive(Clone)]
pub struct Policy {
    index: Index,
    form: Form,
}

impl Policy {
    /// An empty index.
    pub fn new(settings: &Settings, geometry: &Geometry) -> Self {
        Policy { index: Index::new(geometry), form: settings.form }
    }

    /// The first of a plane's candidates.
    #[inline(always)]
    fn first(
        &mut self,
        form: Form,
        plane: PlaneId,
        candidates: &Candidates<'_>,
    ) -> Option<BlockId> {
        let sealed_at = |block| form.sealed_at(block, candidates);
        let Some(order) = self.index.for_choice(candidates, sealed_at) else {
            return Self::scan(form, plane, candidates);
        };
        let (pages, now) = (candidates.data_pages(), form.now(candidates));
        let rank = |valid, sealed| form.rank(pages, valid, pages - valid, now - sealed);
        let first = order.first(plane, candidates.most_valid, sealed_at, rank);
        candidates.compare(first, || Self::scan(form, plane, candidates));
        first
    }

    /// The first of a plane's candidates, by a walk over all of them.
    #[inline(always)]
    fn scan(form: Form, plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        let (pages, now) = (candidates.data_pages(), form.now(candidates));
        let key = |&block: &BlockId| {
            let age = now - form.sealed_at(block, candidates);
            (form.rank(pages, candidates.valid(block), candidates.invalid(block), age), block)
        };
        candidates.sealed(plane).filter(|&b| candidates.invalid(b) > 0).min_by_key(key)
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.index.seal(plane, block, valid);
    }

    fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.index.lower(plane, block, valid);
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.index.claim(plane, block, valid);
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        // The form is known within each of both.
        match self.form {
            Form::Lfs => self.first(Form::Lfs, plane, candidates),
            Form::SqrtAge => self.first(Form::SqrtAge, plane, candidates),
        }
    }

    fn table_bytes(&self) -> u64 {
        self.index.table_bytes()
    }
}
