//! A session that is watched while it runs: it stops at any instant, and shows how far it is.
//!
//! None of this changes a result: a run is the same in slices of any length.

use super::engine::{Engine, engine};
use super::picture::Picture;
use super::{Progress, RunError, Session, Stage};
use crate::report::{Facts, Report};
use crate::sim::live;
use crate::verify::Watch;
use crate::verify::attended::{Attended, Done};
use std::mem::replace;

impl Session {
    /// Records the requests of the measured part that are done ([`Session::take_done`]). Called
    /// before the first slice.
    pub fn attend(&mut self) {
        self.engine.attend(Attended::default());
    }

    /// Takes the requests that are done since the last call, in their order.
    pub fn take_done(&mut self, each: impl FnMut(Done)) {
        engine!(&mut self.engine, sim => {
            let Some(attended) = sim.watch().attended() else { return };
            attended.done().drain(..).for_each(each);
        });
    }

    /// In the measured part: runs up to and with this instant, and at most this number of events.
    /// Before it: one slice, as [`Session::advance`].
    pub fn advance_to(&mut self, until_ns: u64, events: u64) -> Result<Progress, RunError> {
        match replace(&mut self.stage, Stage::Done) {
            Stage::Run { source } => self.run(source, events, until_ns),
            other => {
                self.stage = other;
                self.advance()
            }
        }
    }

    /// The time of the next event of the measured part, in ns, if there is one.
    pub fn next_ns(&self) -> Option<u64> {
        engine!(&self.engine, sim => live::next_ns(sim))
    }

    /// The drive at this instant of the measured part.
    pub fn picture(&mut self) -> Picture {
        engine!(&mut self.engine, sim => {
            live::count_unseen(sim);
            Picture::of(&sim.seen())
        })
    }

    /// The report on the measured part until now, without the hash over the whole course. The log
    /// of requests, if there is one, hands out its rows first.
    pub fn so_far(&mut self) -> Report {
        self.end_rows();
        self.note_tenants();
        engine!(&mut self.engine, sim => live::count_unseen(sim));
        let results = engine!(&self.engine, sim => sim.seen().results());
        let (blame, blame_of_jobs) = self.blame(&results);
        let facts = Facts {
            preconditioning: self.preconditioning.clone(),
            drive: self.given.as_ref().map(|(origin, name)| origin.for_report(name)),
            notes: Vec::new(),
            nothing_moved: None,
            bad_rows: 0,
            of_jobs: self.of_jobs.clone(),
            blame_of_jobs,
            blame,
            result_hash: String::new(),
            over_time: None,
        };
        Report::new(&self.setup, &results, facts)
    }
}
