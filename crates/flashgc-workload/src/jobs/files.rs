//! The files of a clone, whose turns are one after the other.

use super::place::{Draws, Place};
use super::walk::{FilesPlan, Order};
use super::{JobPlan, Passes, Span};
use crate::HostOp;
use flashgc_model::rng::Random;

/// After this many passes without a request, none is expected.
const EMPTY_PASSES_MOST: u32 = 1_000;

/// Draws the places of a clone, in all its files.
pub struct Files {
    places: Vec<Place>,
    is_over: Vec<bool>,
    plan: FilesPlan,
    /// The file in use, and its remaining requests.
    at: usize,
    left: u32,
    draws: Draws,
    /// The streams with which passes begin, where they are the same.
    first: Option<Box<Draws>>,
}

impl Files {
    /// The files of one clone, with streams by their names, and a stream for popular places.
    pub fn new(
        plan: &JobPlan,
        span: &Span,
        stream: impl Fn(&str) -> Random,
        mut turns: Random,
    ) -> Self {
        let mut address = stream("address");
        let mut place =
            |file: u32| Place::new(plan, span, file, &mut address, turns.below(1 << 62));
        let places = (0..plan.files.count).map(&mut place).collect();
        let sizes = [0, 1, 2].map(|_| stream("size"));
        let draws = Draws { address, choice: stream("file"), sizes };
        let mut files = Files {
            places,
            is_over: vec![false; plan.files.count as usize],
            plan: plan.files,
            at: 0,
            left: plan.files.turn,
            first: (plan.passes == Some(Passes::Same)).then(|| Box::new(draws.clone())),
            draws,
        };
        if plan.files.order == Order::Random {
            files.choose_first();
        }
        files
    }

    /// The next request of this kind: its first byte on the drive, and its bytes. `None` where the
    /// pass over the file is over; then it is the turn of another one.
    pub fn next(&mut self, op: HostOp) -> Option<(u64, u64)> {
        let found = self.places[self.at].next(op, &mut self.draws);
        if self.places.len() > 1 {
            self.is_over[self.at] = found.is_none();
            self.left -= 1;
            if self.left == 0 || found.is_none() {
                self.pass_on();
            }
        }
        found
    }

    /// The next request, of one pass after the other. `None` where passes have none: the first
    /// place of passes that are the same leaves no room for a request, or no place ever does.
    pub fn next_for_ever(&mut self, op: HostOp) -> Option<(u64, u64)> {
        let most = if self.first.is_some() { 1 } else { EMPTY_PASSES_MOST };
        let mut begun = 0;
        loop {
            if let Some(found) = self.next(op) {
                return Some(found);
            }
            if self.are_over() {
                if begun == most {
                    return None;
                }
                begun += 1;
                self.begin_pass();
            }
        }
    }

    /// Whether the passes over all files are over, of one file when it has said so.
    pub fn are_over(&self) -> bool {
        self.places.len() == 1 || self.is_over.iter().all(|&is_over| is_over)
    }

    /// The next pass begins.
    pub fn begin_pass(&mut self) {
        self.places.iter_mut().for_each(Place::begin_pass);
        self.is_over.fill(false);
        if let Some(first) = self.first.as_deref() {
            self.draws = first.clone();
        }
        self.choose_first();
    }

    /// The first file of a pass: in round robin the one after the last, else the same in each pass.
    fn choose_first(&mut self) {
        if self.places.len() > 1 {
            self.at = if self.plan.order == Order::RoundRobin { self.at } else { 0 };
            self.pass_on();
        }
    }

    /// Whether a write is due in a pass of trims with writes: up to where the last trim began.
    pub fn write_is_due(&self) -> bool {
        self.places[self.at].write_is_due()
    }

    /// A flush replaces a request.
    pub fn flushes(&mut self) {
        if self.places.len() > 1 {
            self.left -= 1;
            if self.left == 0 {
                self.pass_on();
            }
        }
    }

    /// It is the turn of the next file, if one has more.
    fn pass_on(&mut self) {
        self.left = self.plan.turn;
        let count = self.places.len();
        let open = (1..=count).map(|by| (self.at + by) % count).filter(|&at| !self.is_over[at]);
        self.at = match self.plan.order {
            Order::RoundRobin => open.into_iter().next(),
            Order::Sequential => (0..count).find(|&at| !self.is_over[at]),
            Order::Random => {
                let open: Vec<usize> = open.collect();
                let drawn = (!open.is_empty()).then(|| self.draws.choice.below(open.len() as u64));
                drawn.map(|drawn| open[drawn as usize])
            }
        }
        .unwrap_or(self.at);
    }
}
