//! Time stamps that go backwards.

use crate::error::TraceError;
use crate::record::Record;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The treatment of a time stamp that is less than the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disorder {
    /// It is an error.
    #[default]
    Refuse,
    /// Records are sorted if they are late by at most this time in ns; more is an error.
    Window(u64),
    /// It is counted and returned as it comes.
    Ignore,
}

/// The largest number of records that wait for their place.
const WAITING_MAX: usize = 1 << 20;

/// A record that waits, in order of time and then of place in the file.
struct Waiting(Record);

impl Waiting {
    fn key(&self) -> (u64, u64) {
        (self.0.at_ns, self.0.line)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Keeps records in order of time, or returns an error.
pub(crate) struct Order {
    disorder: Disorder,
    /// Time and line of the record read last.
    last_ns: u64,
    last_line: u64,
    /// The time of the record returned last.
    given_ns: u64,
    latest_ns: u64,
    waiting: BinaryHeap<Reverse<Waiting>>,
    out_of_order: u64,
    step_back_ns_max: u64,
    /// The number of apparent restarts of a clock from 0, and its unit.
    wraps: (u64, Option<&'static str>),
}

impl Order {
    pub(crate) fn new(disorder: Disorder) -> Self {
        Order {
            disorder,
            last_ns: 0,
            last_line: 0,
            given_ns: 0,
            latest_ns: 0,
            waiting: BinaryHeap::new(),
            out_of_order: 0,
            step_back_ns_max: 0,
            wraps: (0, None),
        }
    }

    /// Records that were earlier than the one before them in the file.
    pub(crate) fn out_of_order(&self) -> u64 {
        self.out_of_order
    }

    /// The largest delay of a record behind the latest one before it, in ns.
    pub(crate) fn step_back_ns_max(&self) -> u64 {
        self.step_back_ns_max
    }

    /// The number of apparent restarts of a 32-bit clock from 0, and its unit.
    pub(crate) fn wraps(&self) -> (u64, Option<&'static str>) {
        self.wraps
    }

    /// True if records come out one for one, and never wait.
    #[inline]
    pub(crate) fn is_direct(&self) -> bool {
        !matches!(self.disorder, Disorder::Window(_))
    }

    /// Takes a record from the file.
    #[inline]
    pub(crate) fn take(&mut self, source: &str, record: &Record) -> Result<(), TraceError> {
        if record.at_ns < self.last_ns {
            self.out_of_order += 1;
            if let Some(unit) = wrapped(self.last_ns, record.at_ns) {
                self.wraps = (self.wraps.0 + 1, Some(unit));
            }
            if self.disorder == Disorder::Refuse {
                return Err(refused(source, (self.last_ns, self.last_line), record));
            }
        }
        (self.last_ns, self.last_line) = (record.at_ns, record.line);
        self.latest_ns = self.latest_ns.max(record.at_ns);
        self.step_back_ns_max = self.step_back_ns_max.max(self.latest_ns - record.at_ns);
        if let Disorder::Window(window_ns) = self.disorder {
            let late_ns = self.latest_ns - record.at_ns;
            // Within the window a record is late only where too many records waited.
            if late_ns > window_ns || record.at_ns < self.given_ns {
                return Err(too_late(source, record, late_ns, window_ns));
            }
            self.waiting.push(Reverse(Waiting(*record)));
        }
        Ok(())
    }

    /// The next record that need not wait any longer; all of them, if the file has ended.
    pub(crate) fn give(&mut self, ended: bool) -> Option<Record> {
        let Disorder::Window(window_ns) = self.disorder else { return None };
        let at_ns = self.waiting.peek()?.0.0.at_ns;
        let ripe = self.latest_ns - at_ns >= window_ns;
        if ended || ripe || self.waiting.len() >= WAITING_MAX {
            self.given_ns = at_ns;
            return self.waiting.pop().map(|waiting| waiting.0.0);
        }
        None
    }
}

/// Units of clocks, in ns.
const UNITS: [(u64, &str); 5] =
    [(1, "ns"), (100, "100 ns"), (1_000, "us"), (1_000_000, "ms"), (1_000_000_000, "s")];

/// The unit of a clock of 32 bits that went from its highest sixteenth to its lowest one, which it
/// does where it begins again from 0.
fn wrapped(last_ns: u64, at_ns: u64) -> Option<&'static str> {
    const END: u64 = 1 << 32;
    const NEAR: u64 = END / 16;
    let ended = |unit: u64| (END - NEAR..END).contains(&(last_ns / unit)) && at_ns / unit < NEAR;
    UNITS.into_iter().find(|&(unit, _)| ended(unit)).map(|(_, name)| name)
}

#[cold]
fn refused(source: &str, last: (u64, u64), record: &Record) -> TraceError {
    let (last_ns, last_line) = last;
    let back_ns = last_ns - record.at_ns;
    let message = format!(
        "the time goes back by {}: {} ns on line {}, after {} ns on line {}",
        in_ms(back_ns),
        record.at_ns,
        record.line,
        last_ns,
        last_line,
    );
    let error = TraceError::new(source, message).on_line(record.line);
    if let Some(unit) = wrapped(last_ns, record.at_ns) {
        return error.help(wrap_help(unit, record.line));
    }
    error.help(format!(
        "if the rows are only slightly out of order, sort them while reading: `--sort-window \
         \"{0}\"`, or sort_window = \"{0}\" in [workload.trace] of a configuration",
        in_ms(round_up_ms(back_ns))
    ))
}

#[cold]
fn too_late(source: &str, record: &Record, late_ns: u64, window_ns: u64) -> TraceError {
    let message = format!(
        "line {} is {} late, but the window is {}",
        record.line,
        in_ms(late_ns),
        in_ms(window_ns),
    );
    let help = if let Some(unit) = wrapped(record.at_ns + late_ns, record.at_ns) {
        wrap_help(unit, record.line)
    } else if late_ns <= window_ns {
        format!("the window holds at most {WAITING_MAX} records; sort the file first")
    } else {
        format!("the window must be at least \"{}\"", in_ms(round_up_ms(late_ns)))
    };
    TraceError::new(source, message).on_line(record.line).help(help)
}

/// The remedy for a clock that began again from 0: sorting would mix the rows before and after.
fn wrap_help(unit: &str, line: u64) -> String {
    format!(
        "this is what a 32-bit clock in {unit} does when it wraps: add 4294967296 ({unit}) to the \
         times from line {line} on, and again at each further wrap"
    )
}

const NS_PER_MS: u64 = 1_000_000;

fn round_up_ms(ns: u64) -> u64 {
    ns.div_ceil(NS_PER_MS).saturating_mul(NS_PER_MS)
}

fn in_ms(ns: u64) -> String {
    if ns.is_multiple_of(NS_PER_MS) {
        return format!("{} ms", ns / NS_PER_MS);
    }
    let text = format!("{}.{:06}", ns / NS_PER_MS, ns % NS_PER_MS);
    format!("{} ms", text.trim_end_matches('0'))
}
