//! Replay of a trace: records become requests of the drive.

use super::layout::{Layout, Placed};
use super::records::{Records, Trace};
use super::{HostOp, HostRequest, Overwrites, Source, SourceError};
use flashgc_model::ids::Lpn;
use flashgc_trace::{Op, Record};
use std::ops::Range;

/// The requests of a trace.
pub struct Replay {
    name: String,
    records: Records,
    layout: Layout,
    page_bytes: u64,
    time_scale: f64,
    first_ns: Option<u64>,
    /// The second part of a record that was split.
    rest: Option<HostRequest>,
}

impl Replay {
    /// From the beginning of a trace.
    pub fn new(
        trace: &mut Trace,
        layout: Layout,
        page_bytes: u64,
        time_scale: f64,
    ) -> Result<Self, SourceError> {
        let records = trace.records(layout.drive_bytes())?;
        Ok(Replay {
            name: trace.name(),
            records,
            layout,
            page_bytes,
            time_scale,
            first_ns: None,
            rest: None,
        })
    }

    /// Lines that were skipped.
    pub fn bad_rows(&self) -> u64 {
        self.records.bad_rows()
    }

    /// The layout, once the replay is over.
    pub fn into_layout(self) -> Layout {
        self.layout
    }

    fn next_record(&mut self) -> Result<Option<(Record, HostOp)>, SourceError> {
        loop {
            let Some(record) = self.records.next_record()? else { return Ok(None) };
            let op = match record.op {
                Op::Read => HostOp::Read,
                Op::Write => HostOp::Write,
                Op::Trim => HostOp::Trim,
                Op::Other if record.is_flush() => return Ok(Some((record, HostOp::Flush))),
                Op::Other => continue,
            };
            if record.size_bytes > 0 {
                return Ok(Some((record, op)));
            }
        }
    }

    /// Places a record. Returns its first part; the other one waits.
    #[inline]
    fn split(&mut self, record: &Record, op: HostOp) -> Result<Option<HostRequest>, SourceError> {
        let first_ns = *self.first_ns.get_or_insert(record.at_ns);
        let since_ns = record.at_ns.saturating_sub(first_ns);
        let at_ns = if self.time_scale == 1.0 {
            since_ns
        } else {
            libm::round(since_ns as f64 * self.time_scale) as u64
        };
        if op == HostOp::Flush {
            return Ok(Some(HostRequest::flush(at_ns)));
        }
        let [first, rest] = self.layout.place(record).map_err(|why| {
            SourceError(format!(
                "error: {why}\n  --> {}:{}\n  = help: set address = \"wrap\" or \"compact\" in the \
                 table of the trace, or use a larger drive",
                self.name, record.line
            ))
        })?;
        let page_bytes = self.page_bytes;
        let marks = record.marks;
        let (high, fua, hint) = (marks.is_high(), marks.is_fua(), marks.hint());
        let part = |Placed { offset_bytes, size_bytes }| {
            let request = HostRequest::from_bytes(at_ns, op, offset_bytes, size_bytes, page_bytes);
            HostRequest { high, fua, hint, ..request }
        };
        self.rest = rest.map(part);
        Ok(first.map(part))
    }

    /// The next request of a kind that is accepted. Requests of other kinds are not placed.
    #[inline]
    pub fn next_of(
        &mut self,
        accepts: impl Fn(HostOp) -> bool,
    ) -> Result<Option<HostRequest>, SourceError> {
        loop {
            if let Some(part) = self.rest.take() {
                return Ok(Some(part));
            }
            match self.next_record()? {
                None => return Ok(None),
                Some((record, op)) if accepts(op) => {
                    if let Some(first) = self.split(&record, op)? {
                        return Ok(Some(first));
                    }
                }
                Some(_) => {}
            }
        }
    }
}

impl Source for Replay {
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        self.next_of(|_| true)
    }
}

/// The pages that a trace writes, again and again.
///
/// The trace is read once, if its writes are few enough to be kept.
pub struct ReplayOverwrites {
    trace: Trace,
    replay: Option<Replay>,
    layout: Option<Layout>,
    page_bytes: u64,
    kept: Kept,
    /// The pages that are left of the write under way, and its hint.
    current: Range<u32>,
    hint: u8,
}

/// Writes of a trace that are kept: at most 96 MiB.
const KEPT_WRITES: usize = 8 << 20;

/// The pages of a write, and its hint.
#[derive(Clone, Copy)]
struct Write {
    first: u32,
    pages: u32,
    hint: u8,
}

/// The writes of a trace.
enum Kept {
    /// The writes read until now, of the first pass.
    Some(Vec<Write>),
    /// All, and which is the next.
    All(Vec<Write>, usize),
    /// They are too many.
    None,
}

impl ReplayOverwrites {
    /// Nothing read yet.
    pub fn new(trace: Trace, layout: Layout, page_bytes: u64) -> Self {
        ReplayOverwrites {
            trace,
            replay: None,
            layout: Some(layout),
            page_bytes,
            kept: Kept::Some(Vec::new()),
            current: 0..0,
            hint: 0,
        }
    }

    /// Returns the trace and its layout.
    pub fn into_parts(self) -> (Trace, Option<Layout>) {
        let layout = self.replay.map(Replay::into_layout).or(self.layout);
        (self.trace, layout)
    }

    fn next_write(&mut self) -> Result<Write, SourceError> {
        let mut opened = false;
        loop {
            if let Kept::All(writes, next) = &mut self.kept {
                let write = writes[*next];
                *next = (*next + 1) % writes.len();
                return Ok(write);
            }
            if self.replay.is_none() {
                if opened {
                    return Err(SourceError("the trace has no writes left to replay".into()));
                }
                opened = true;
                let Some(layout) = self.layout.take() else {
                    return Err(SourceError("the trace's layout was lost".into()));
                };
                self.replay = Some(Replay::new(&mut self.trace, layout, self.page_bytes, 1.0)?);
            }
            let Some(replay) = &mut self.replay else { continue };
            match replay.next_of(|op| op == HostOp::Write)? {
                Some(HostRequest { first: Lpn(first), pages, hint, .. }) => {
                    let write = Write { first, pages, hint };
                    self.kept.add(write);
                    return Ok(write);
                }
                None => {
                    self.layout = self.replay.take().map(Replay::into_layout);
                    self.kept.pass_ended();
                }
            }
        }
    }
}

impl Kept {
    fn add(&mut self, write: Write) {
        match self {
            Kept::Some(writes) if writes.len() < KEPT_WRITES => writes.push(write),
            _ => *self = Kept::None,
        }
    }

    fn pass_ended(&mut self) {
        if let Kept::Some(writes) = self
            && !writes.is_empty()
        {
            *self = Kept::All(std::mem::take(writes), 0);
        }
    }
}

impl Overwrites for ReplayOverwrites {
    fn next(&mut self) -> Result<Lpn, SourceError> {
        loop {
            if let Some(lpn) = self.current.next() {
                return Ok(Lpn(lpn));
            }
            let Write { first, pages, hint } = self.next_write()?;
            (self.current, self.hint) = (first..first + pages, hint);
        }
    }

    fn has_hints(&self) -> bool {
        true
    }

    fn next_hinted(&mut self) -> Result<(Lpn, u8), SourceError> {
        let lpn = self.next()?;
        Ok((lpn, self.hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::Keeper;
    use crate::layout::{AddressPolicy, LayoutScan};
    use crate::records::TraceOpener;
    use flashgc_trace::OpenOptions;
    use std::io::Read;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Counts how often it is opened.
    struct Rows(String, Arc<AtomicU32>);

    impl TraceOpener for Rows {
        fn name(&self) -> String {
            "t.csv".into()
        }

        fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
            self.1.fetch_add(1, Ordering::Relaxed);
            Ok(Box::new(std::io::Cursor::new(self.0.clone().into_bytes())))
        }
    }

    #[test]
    fn a_trace_is_overwritten_with_again_and_again_and_read_once() {
        let row = |at: u32, op: &str, page: u32, pages: u32| {
            let time = 128_166_372_003_061_629_u64 + u64::from(at);
            format!("{time},web,0,{op},{},{},1331\n", page * 4096, pages * 4096)
        };
        let rows = [(0, "Write", 3, 2), (1, "Read", 0, 4), (2, "Write", 1, 1), (3, "Write", 7, 3)];
        let text = rows.map(|(at, op, page, pages)| row(at, op, page, pages)).concat();
        let opened = Arc::new(AtomicU32::new(0));
        let opener = Rows(text, opened.clone());
        let mut trace = Trace::new(Box::new(opener), OpenOptions::default());
        let mut scan = LayoutScan::new(AddressPolicy::Reject, 4096);
        let mut keeper = Keeper::new(trace.options());
        let mut first = trace.records(16 * 4096).expect("it opens");
        while let Some(record) = first.next_record().expect("a row") {
            scan.observe(&record);
            keeper.observe(&record);
        }
        trace.keep(keeper.finish(first.bad_rows()));
        let layout = scan.finish(AddressPolicy::Reject, 16).expect("it fits");
        let mut source = ReplayOverwrites::new(trace, layout, 4096);
        let drawn: Vec<u32> = (0..60).map(|_| source.next().expect("a page").0).collect();
        let due: Vec<u32> = [3, 4, 1, 7, 8, 9].into_iter().cycle().take(60).collect();
        assert_eq!(drawn, due);
        assert_eq!(opened.load(Ordering::Relaxed), 1, "to scan it");
        assert!(source.into_parts().1.is_some());
    }

    #[test]
    fn writes_are_kept_up_to_a_limit() {
        let write = Write { first: 0, pages: 1, hint: 0 };
        let mut kept = Kept::Some(vec![write; KEPT_WRITES - 1]);
        kept.add(write);
        assert!(matches!(kept, Kept::Some(_)));
        kept.add(write);
        kept.pass_ended();
        assert!(matches!(kept, Kept::None));
        let mut nothing = Kept::Some(Vec::new());
        nothing.pass_ended();
        assert!(matches!(nothing, Kept::Some(_)));
    }
}
