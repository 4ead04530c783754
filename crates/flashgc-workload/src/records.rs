//! A trace and its records: from its file, or as they were kept when it was first read.

use super::SourceError;
use super::kept::{Kept, KeptRecords};
use flashgc_trace::{OpenOptions, Record, TraceReader, open};
use std::io::Read;
use std::sync::Arc;

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

/// A trace that can be read several times.
pub struct Trace {
    opener: Box<dyn TraceOpener>,
    options: OpenOptions,
    kept: Option<Arc<Kept>>,
}

impl Trace {
    /// A trace that was not read yet.
    pub fn new(opener: Box<dyn TraceOpener>, options: OpenOptions) -> Self {
        Trace { opener, options, kept: None }
    }

    /// The name for messages.
    pub fn name(&self) -> String {
        self.opener.name()
    }

    /// The options of its reader.
    pub fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// These are its records.
    pub fn keep(&mut self, kept: Option<Arc<Kept>>) {
        self.kept = kept;
    }

    /// The records from the first one. A read or write that is larger than a drive of this size is
    /// a bad row.
    pub fn records(&mut self, drive_bytes: u64) -> Result<Records, SourceError> {
        if let Some(kept) = &self.kept
            && kept.are_those(&self.options, drive_bytes)
        {
            return Ok(Records::Kept(KeptRecords::new(kept.clone())));
        }
        let mut reader = reader(&mut *self.opener, &self.options)?;
        reader.limit_to_drive(drive_bytes);
        Ok(Records::Read(Box::new(reader)))
    }
}

/// The records of a trace, one after the other.
pub enum Records {
    /// They are read.
    Read(Box<TraceReader>),
    /// They were kept.
    Kept(KeptRecords),
}

impl Records {
    /// The next record.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record>, SourceError> {
        match self {
            Records::Kept(records) => Ok(records.next()),
            Records::Read(reader) => {
                let record = reader.next().transpose();
                record.map_err(|error| SourceError(error.to_string()))
            }
        }
    }

    /// Lines that were skipped. A trace with such lines is not kept.
    pub fn bad_rows(&self) -> u64 {
        match self {
            Records::Kept(_) => 0,
            Records::Read(reader) => reader.bad_rows(),
        }
    }
}
