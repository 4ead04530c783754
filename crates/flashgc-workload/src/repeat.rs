//! A trace that begins again at its end, until enough is written or some number of times.

use super::layout::Layout;
use super::records::Trace;
use super::replay::Replay;
use super::{HostOp, HostRequest, Source, SourceError};

/// The condition that ends repetitions.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// With the write by which this number of bytes is written.
    Written(u64),
    /// After this number of rounds, counted with the one under way.
    Rounds(u64),
}

/// A trace again and again. Time continues: the first request of each round arrives one mean gap
/// after the last of the round before.
pub struct Repeated {
    trace: Trace,
    replay: Option<Replay>,
    page_bytes: u64,
    time_scale: f64,
    /// The remaining writes or rounds.
    left: End,
    /// The start of the present round, its requests, and the last arrival.
    round_ns: u64,
    round_requests: u64,
    last_ns: u64,
    wrote: bool,
    bad_rows: u64,
}

impl Repeated {
    /// Up to an end. A trace that writes nothing runs once where its writes are to end it.
    pub fn new(
        mut trace: Trace,
        layout: Layout,
        page_bytes: u64,
        time_scale: f64,
        end: End,
    ) -> Result<Self, SourceError> {
        let replay = Some(Replay::new(&mut trace, layout, page_bytes, time_scale)?);
        Ok(Repeated {
            trace,
            replay,
            page_bytes,
            time_scale,
            left: end,
            round_ns: 0,
            round_requests: 0,
            last_ns: 0,
            wrote: false,
            bad_rows: 0,
        })
    }

    /// Lines that were skipped, each time counted once.
    pub fn bad_rows(&self) -> u64 {
        self.bad_rows.max(self.replay.as_ref().map_or(0, Replay::bad_rows))
    }

    /// Returns the trace and its layout.
    pub fn into_parts(self) -> (Trace, Option<Layout>) {
        (self.trace, self.replay.map(Replay::into_layout))
    }

    /// Whether a round that has ended was the last one.
    fn ends_with_round(&mut self) -> bool {
        match &mut self.left {
            End::Written(_) => !self.wrote,
            End::Rounds(rounds) => {
                *rounds = rounds.saturating_sub(1);
                *rounds == 0 || self.round_requests == 0
            }
        }
    }

    fn begin_again(&mut self) -> Result<(), SourceError> {
        self.bad_rows = self.bad_rows();
        let gaps = self.round_requests.saturating_sub(1).max(1);
        let gap_ns = (self.last_ns - self.round_ns) / gaps;
        self.round_ns = self.last_ns.saturating_add(gap_ns);
        self.round_requests = 0;
        let Some(layout) = self.replay.take().map(Replay::into_layout) else {
            return Err(SourceError("the trace's layout was lost".into()));
        };
        let again = Replay::new(&mut self.trace, layout, self.page_bytes, self.time_scale)?;
        self.replay = Some(again);
        Ok(())
    }
}

impl Source for Repeated {
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        while !matches!(self.left, End::Written(0) | End::Rounds(0)) {
            let Some(replay) = &mut self.replay else { return Ok(None) };
            if let Some(request) = replay.next()? {
                let at_ns = self.round_ns.saturating_add(request.at_ns);
                (self.last_ns, self.round_requests) = (at_ns, self.round_requests + 1);
                if request.op == HostOp::Write {
                    self.wrote = true;
                    if let End::Written(bytes) = &mut self.left {
                        *bytes = bytes.saturating_sub(request.bytes);
                    }
                }
                return Ok(Some(HostRequest { at_ns, ..request }));
            }
            if self.ends_with_round() {
                self.left = End::Rounds(0);
                return Ok(None);
            }
            self.begin_again()?;
        }
        Ok(None)
    }
}
