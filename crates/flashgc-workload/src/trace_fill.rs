//! The requests of a trace, as writes that fill a drive.
//!
//! Paper parallel-gc, section V-A.3: first the addresses and sizes of the reads are written, since
//! data must be written before it is read; then those of the writes; and where both together do not
//! fill the drive, the requests again with their addresses shifted. Each pass over the trace shifts
//! them once more, by its span or by another number of pages.

use super::layout::Layout;
use super::records::Trace;
use super::replay::Replay;
use super::{HostOp, Overwrites, SourceError};
use flashgc_model::ids::Lpn;

/// The requests that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Both, moved up by this number of pages.
    Shifted(u64),
}

/// A request to write, in pages; the shift is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillRequest {
    /// The pass it belongs to.
    pub pass: Pass,
    /// Its first page.
    pub first: u32,
    /// Its pages.
    pub pages: u32,
    /// The hint of a write; data that is read has none.
    pub hint: u8,
}

/// The requests, pass after pass, without end.
pub struct TraceFill {
    trace: Trace,
    layout: Option<Layout>,
    replay: Option<Replay>,
    page_bytes: u64,
    pass: Pass,
    shift_pages: u64,
    /// Whether the present pass has returned a request.
    gave: bool,
}

impl TraceFill {
    /// From the beginning of the trace. Without a shift in bytes, each pass is shifted by the span
    /// of the trace.
    pub fn new(trace: Trace, layout: Layout, page_bytes: u64, shift_bytes: Option<u64>) -> Self {
        let shift_pages = match shift_bytes {
            Some(bytes) => bytes.div_ceil(page_bytes),
            None => layout.span_on_drive(),
        };
        TraceFill {
            trace,
            layout: Some(layout),
            replay: None,
            page_bytes,
            pass: Pass::Reads,
            shift_pages,
            gave: false,
        }
    }

    /// Returns the trace and its layout.
    pub fn into_parts(self) -> (Trace, Option<Layout>) {
        let layout = self.replay.map(Replay::into_layout).or(self.layout);
        (self.trace, layout)
    }

    /// The next request; there is always one.
    pub fn next_request(&mut self) -> Result<FillRequest, SourceError> {
        loop {
            let replay = match &mut self.replay {
                Some(replay) => replay,
                None => {
                    let Some(layout) = self.layout.take() else {
                        return Err(SourceError("the trace's layout was lost".into()));
                    };
                    let replay = Replay::new(&mut self.trace, layout, self.page_bytes, 1.0)?;
                    self.replay.insert(replay)
                }
            };
            let pass = self.pass;
            let fits = |op| match pass {
                Pass::Reads => op == HostOp::Read,
                Pass::Writes => op == HostOp::Write,
                Pass::Shifted(_) => op != HostOp::Trim,
            };
            match replay.next_of(fits)? {
                None => self.end_pass()?,
                Some(request) => {
                    self.gave = true;
                    let (first, pages) = (request.first.0, request.pages);
                    let hint = if request.op == HostOp::Write { request.hint } else { 0 };
                    return Ok(FillRequest { pass, first, pages, hint });
                }
            }
        }
    }

    fn end_pass(&mut self) -> Result<(), SourceError> {
        self.pass = match self.pass {
            Pass::Reads => Pass::Writes,
            Pass::Writes => Pass::Shifted(self.shift_pages),
            Pass::Shifted(_) if !self.gave => {
                return Err(SourceError(format!(
                    "error: {}: the trace contains neither reads nor writes, so it cannot fill a \
                     drive\n  = help: set precondition.fill = \"sequential\", and \
                     precondition.overwrite_with = \"uniform\"",
                    self.trace.name()
                )));
            }
            Pass::Shifted(by) => Pass::Shifted(by.saturating_add(self.shift_pages)),
        };
        self.gave = false;
        self.layout = self.replay.take().map(Replay::into_layout);
        Ok(())
    }
}

/// The pages of these requests, as overwrites of a drive of this number of pages.
pub struct PassOverwrites {
    source: TraceFill,
    exported: u32,
    next: u32,
    left: u32,
    hint: u8,
}

impl PassOverwrites {
    /// From the first pass.
    pub fn new(source: TraceFill, exported: u32) -> Self {
        PassOverwrites { source, exported, next: 0, left: 0, hint: 0 }
    }

    /// Returns the trace and its layout.
    pub fn into_parts(self) -> (Trace, Option<Layout>) {
        self.source.into_parts()
    }
}

impl Overwrites for PassOverwrites {
    fn next(&mut self) -> Result<Lpn, SourceError> {
        while self.left == 0 {
            let FillRequest { pass, first, pages, hint } = self.source.next_request()?;
            let by = match pass {
                Pass::Shifted(by) => by % u64::from(self.exported),
                Pass::Reads | Pass::Writes => 0,
            };
            self.next = ((u64::from(first) + by) % u64::from(self.exported)) as u32;
            (self.left, self.hint) = (pages, hint);
        }
        let lpn = Lpn(self.next);
        self.left -= 1;
        self.next = if self.next + 1 < self.exported { self.next + 1 } else { 0 };
        Ok(lpn)
    }

    fn has_hints(&self) -> bool {
        true
    }

    fn next_hinted(&mut self) -> Result<(Lpn, u8), SourceError> {
        let lpn = self.next()?;
        Ok((lpn, self.hint))
    }
}
