//! A component is made: its configuration is checked, and its drive preconditioned or taken from a
//! saved one.

use super::{Component, Why, Wrong};
use crate::config::{Inputs, OverwriteWith, Setup, prepare};
use crate::session::live::{LiveSession, refusal};
use crate::session::{self, Phase, Progress, SavedDrive, Session};

/// The parts of a component in addition to its configuration.
#[derive(Default)]
pub struct Options {
    /// A saved drive in place of preconditioning, and its name in messages.
    pub saved: Option<(SavedDrive, String)>,
    /// The most requests that it has at a time: more are [full](super::Submitted::Full). `None` is
    /// unbounded.
    pub depth: Option<u32>,
    /// Whether writes to a read-only drive are admitted: the caller then checks for them itself.
    /// The drive has some pages left for the writes that were under way.
    pub admits_when_read_only: bool,
    /// The options of any session: `blame` splits latencies.
    pub session: session::Options,
}

/// The checked configuration of a component: that of a run with a trace, whose requests are the
/// ones to come. They are not known yet, so overwriting takes any page with the same probability.
pub fn setup(inputs: Inputs) -> Result<Setup, Wrong> {
    let mut inputs = Inputs { has_trace: true, is_live: true, ..inputs };
    let mut setup = checked(&inputs)?;
    let before = &setup.precondition;
    if before.overwrite > 0.0 && before.overwrite_with == OverwriteWith::Workload {
        inputs.sets.push("precondition.overwrite_with=\"uniform\"".into());
        setup = checked(&inputs)?;
    }
    match refusal(&setup) {
        Some(why) => Err(Wrong::of_engine(Why::NotLive, why)),
        None => Ok(setup),
    }
}

fn checked(inputs: &Inputs) -> Result<Setup, Wrong> {
    prepare(inputs).map_err(|errors| Wrong::new(Why::Configuration, errors.to_string()))
}

/// A component that is being made, in slices of some 20 ms, so that its caller can show progress or
/// stop.
pub struct Making {
    live: LiveSession,
    depth: Option<u32>,
    admits_when_read_only: bool,
    is_ready: bool,
}

impl Making {
    /// At its beginning.
    pub fn new(setup: Setup, options: Options) -> Result<Making, Wrong> {
        if let Some(why) = refusal(&setup) {
            return Err(Wrong::of_engine(Why::NotLive, why));
        }
        let session = match options.saved {
            None => Session::new(setup, None, options.session),
            Some((saved, name)) => {
                let session = Session::with_drive(setup, None, saved, &name, options.session);
                session.map_err(|why| Wrong::of_engine(Why::Configuration, why))?
            }
        };
        let live = LiveSession::new(session).map_err(|why| Wrong::of_engine(Why::NotLive, why))?;
        let (depth, admits_when_read_only) = (options.depth, options.admits_when_read_only);
        Ok(Making { live, depth, admits_when_read_only, is_ready: false })
    }

    /// Does one slice of work. [`Phase::Ready`] comes once, when the drive has been preconditioned,
    /// and then [`Phase::Run`]: it is [made](Making::finish).
    pub fn advance(&mut self) -> Result<Progress, Wrong> {
        let progress = self.live.prepare();
        let progress = progress.map_err(|why| Wrong::of_engine(Why::Stopped, why))?;
        self.is_ready = progress.phase == Phase::Run;
        Ok(progress)
    }

    /// The drive at [`Phase::Ready`], without the scheme's own state.
    pub fn drive(&self) -> SavedDrive {
        self.live.drive()
    }

    /// The component. Remaining work of its preparation is done first.
    pub fn finish(mut self) -> Result<Component, Wrong> {
        while !self.is_ready {
            self.advance()?;
        }
        Ok(Component::made(self.live, self.depth, self.admits_when_read_only))
    }
}
