//! Replay of a trace: records become requests of the drive.

use super::layout::{Layout, Placed};
use super::{HostOp, HostRequest, Overwrites, Source, SourceError};
use crate::ids::Lpn;
use flashgc_trace::{Op, OpenOptions, Priority, Record, TraceReader, open};
use std::collections::VecDeque;
use std::io::Read;

/// Opens a trace, as often as it must be read. The program around the engine has the files.
pub trait TraceOpener: Send {
    /// The name for messages.
    fn name(&self) -> String;
    /// The bytes from their beginning, or why there are none.
    fn open(&mut self) -> Result<Box<dyn Read + Send>, String>;
}

/// A reader over the trace from its beginning.
pub fn reader(
    opener: &mut dyn TraceOpener,
    options: &OpenOptions,
) -> Result<TraceReader, SourceError> {
    let name = opener.name();
    let data = opener.open().map_err(SourceError)?;
    open(&name, data, options).map_err(|error| SourceError(error.to_string()))
}

/// The requests of a trace.
pub struct Replay {
    name: String,
    reader: TraceReader,
    layout: Layout,
    page_bytes: u64,
    time_scale: f64,
    first_ns: Option<u64>,
    /// Parts of a record that was split.
    parts: VecDeque<HostRequest>,
    placed: Vec<Placed>,
}

impl Replay {
    /// From an open trace.
    pub fn new(mut reader: TraceReader, layout: Layout, page_bytes: u64, time_scale: f64) -> Self {
        reader.limit_to_drive(layout.drive_bytes());
        let name = reader.source().to_string();
        Replay {
            name,
            reader,
            layout,
            page_bytes,
            time_scale,
            first_ns: None,
            parts: VecDeque::new(),
            placed: Vec::new(),
        }
    }

    /// Lines that were skipped.
    pub fn bad_rows(&self) -> u64 {
        self.reader.bad_rows()
    }

    /// The layout, once the replay is over.
    pub fn into_layout(self) -> Layout {
        self.layout
    }

    fn next_record(&mut self) -> Result<Option<(Record, HostOp)>, SourceError> {
        loop {
            let Some(record) = self.reader.next() else { return Ok(None) };
            let record = record.map_err(|error| SourceError(error.to_string()))?;
            let op = match record.op {
                Op::Read => HostOp::Read,
                Op::Write => HostOp::Write,
                Op::Trim => HostOp::Trim,
                Op::Other => continue,
            };
            if record.size_bytes > 0 {
                return Ok(Some((record, op)));
            }
        }
    }

    fn split(&mut self, record: &Record, op: HostOp) -> Result<(), SourceError> {
        let first_ns = *self.first_ns.get_or_insert(record.at_ns);
        let since_ns = record.at_ns.saturating_sub(first_ns);
        let at_ns = if self.time_scale == 1.0 {
            since_ns
        } else {
            libm::round(since_ns as f64 * self.time_scale) as u64
        };
        self.placed.clear();
        self.layout.place(record, &mut self.placed).map_err(|why| {
            SourceError(format!(
                "error: {why}\n  --> {}:{}\n  = help: set address = \"wrap\" or \"compact\" in \
                 [workload.trace], or use a larger drive",
                self.name, record.line
            ))
        })?;
        for part in &self.placed {
            let Placed { offset_bytes, size_bytes } = *part;
            let page_bytes = self.page_bytes;
            let request = HostRequest::from_bytes(at_ns, op, offset_bytes, size_bytes, page_bytes);
            let high = record.priority == Priority::High;
            self.parts.push_back(HostRequest { high, ..request });
        }
        Ok(())
    }
}

impl Source for Replay {
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        loop {
            if let Some(part) = self.parts.pop_front() {
                return Ok(Some(part));
            }
            match self.next_record()? {
                None => return Ok(None),
                Some((record, op)) => self.split(&record, op)?,
            }
        }
    }
}

/// The pages that a trace writes, again and again.
pub struct ReplayOverwrites {
    opener: Box<dyn TraceOpener>,
    options: OpenOptions,
    replay: Option<Replay>,
    layout: Option<Layout>,
    page_bytes: u64,
    current: Option<HostRequest>,
    at: u32,
}

impl ReplayOverwrites {
    /// Nothing read yet.
    pub fn new(
        opener: Box<dyn TraceOpener>,
        options: OpenOptions,
        layout: Layout,
        page_bytes: u64,
    ) -> Self {
        ReplayOverwrites {
            opener,
            options,
            replay: None,
            layout: Some(layout),
            page_bytes,
            current: None,
            at: 0,
        }
    }

    /// Returns the opener of the trace, and its layout.
    pub fn into_parts(self) -> (Box<dyn TraceOpener>, Option<Layout>) {
        let layout = self.replay.map(Replay::into_layout).or(self.layout);
        (self.opener, layout)
    }

    fn next_write(&mut self) -> Result<HostRequest, SourceError> {
        let mut opened = false;
        loop {
            if self.replay.is_none() {
                if opened {
                    return Err(SourceError("the trace has no writes left to replay".into()));
                }
                opened = true;
                let reader = reader(&mut *self.opener, &self.options)?;
                let Some(layout) = self.layout.take() else {
                    return Err(SourceError("the trace's layout was lost".into()));
                };
                self.replay = Some(Replay::new(reader, layout, self.page_bytes, 1.0));
            }
            let Some(replay) = &mut self.replay else { continue };
            match replay.next()? {
                Some(request) if request.op == HostOp::Write => return Ok(request),
                Some(_) => {}
                None => self.layout = self.replay.take().map(Replay::into_layout),
            }
        }
    }
}

impl Overwrites for ReplayOverwrites {
    fn next(&mut self) -> Result<Lpn, SourceError> {
        loop {
            if let Some(request) = self.current
                && self.at < request.pages
            {
                self.at += 1;
                return Ok(Lpn(request.first.0 + self.at - 1));
            }
            self.current = Some(self.next_write()?);
            self.at = 0;
        }
    }
}
