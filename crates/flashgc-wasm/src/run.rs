//! A run, from its beginning to its report, and its slowest reads.

use flashgc::component::{Part, Parts};
use flashgc::report::Report;
use flashgc::session::{Options, Phase, Progress, Session, Setup, TraceOpener};
use flashgc::verify::attended::Done;
use flashgc::workload::HostOp;
use serde_json::{Map, Value, json};
use std::io::{Cursor, Read};
use std::sync::Arc;

/// Slowest reads that are kept.
const SLOWEST: usize = 12;
/// Completions that an answer has at most: the last ones.
const LAST: usize = 8;

/// A run.
pub(crate) struct Run {
    state: State,
    table_bytes: u64,
    /// The slowest reads until now, the slowest first.
    slowest: Vec<Done>,
}

enum State {
    Runs(Box<Session>),
    /// Its report, and its drive at the end.
    Over(Box<(Report, Value)>),
    /// It has stopped with an error.
    Stopped(String),
}

impl Run {
    /// A run at its beginning. The bytes of a trace come with its name.
    pub(crate) fn new(setup: Setup, trace: Option<String>, data: Vec<u8>) -> Run {
        let table_bytes = setup.table_bytes_expected();
        let data: Arc<[u8]> = data.into();
        let opener = trace.map(|name| Box::new(Given { name, data }) as Box<dyn TraceOpener>);
        let mut session =
            Session::new(setup, opener, Options { blame: true, ..Options::default() });
        session.attend();
        Run { state: State::Runs(Box::new(session)), table_bytes, slowest: Vec::new() }
    }

    /// The memory of its tables, in bytes.
    pub(crate) fn table_bytes(&self) -> u64 {
        self.table_bytes
    }

    /// Runs at most this number of events, up to and with this instant.
    pub(crate) fn advance(&mut self, until_ns: u64, events: u64) -> Result<Value, String> {
        let session = match &mut self.state {
            State::Runs(session) => session,
            State::Over(_) => return Ok(json!({ "phase": "done" })),
            State::Stopped(why) => return Err(why.clone()),
        };
        let progress = match session.advance_to(until_ns, events) {
            Ok(progress) => progress,
            Err(why) => {
                let text = why.text.trim_start_matches("error: ");
                let text = format!("error: {text}");
                self.state = State::Stopped(text.clone());
                return Err(text);
            }
        };
        let mut done = Vec::new();
        session.take_done(|one| done.push(one));
        let next_ns = session.next_ns().filter(|_| progress.phase == Phase::Run);
        let reads = done.iter().filter(|one| one.op == HostOp::Read);
        let longest_ns = reads.clone().map(|one| one.latency_ns).max();
        for read in reads {
            keep(&mut self.slowest, *read);
        }
        if progress.phase == Phase::Done {
            self.end();
        }
        let last = done.len().saturating_sub(LAST);
        Ok(json!({
            "phase": phase_name(&progress),
            "done": progress.done,
            "total": progress.total,
            "now_ns": progress.now_ns,
            "next_ns": next_ns,
            "longest_read_ns": longest_ns,
            "completed": done.len(),
            "last": done[last..].iter().map(request).collect::<Vec<Value>>(),
        }))
    }

    fn end(&mut self) {
        if let State::Runs(mut session) =
            std::mem::replace(&mut self.state, State::Stopped(String::new()))
        {
            let picture = json!(session.picture());
            self.state = State::Over(Box::new((session.report(), picture)));
        }
    }

    /// The report until now, and the slowest reads.
    pub(crate) fn report(&mut self) -> Value {
        let report = match &mut self.state {
            State::Runs(session) => session.so_far().to_json(),
            State::Over(end) => end.0.to_json(),
            State::Stopped(_) => Value::Null,
        };
        json!({
            "report": report,
            "slowest_reads": self.slowest.iter().map(request).collect::<Vec<Value>>(),
        })
    }

    /// The drive.
    pub(crate) fn picture(&mut self) -> Value {
        match &mut self.state {
            State::Runs(session) => json!(session.picture()),
            State::Over(end) => end.1.clone(),
            State::Stopped(_) => Value::Null,
        }
    }
}

fn phase_name(progress: &Progress) -> &'static str {
    match progress.phase {
        Phase::Scan => "scan",
        Phase::Fill => "fill",
        Phase::Overwrite => "overwrite",
        Phase::Ready => "ready",
        Phase::Run => "run",
        Phase::Done => "done",
    }
}

/// Keeps a read among the slowest ones; of equal ones the first.
fn keep(slowest: &mut Vec<Done>, read: Done) {
    if slowest.len() == SLOWEST && slowest[SLOWEST - 1].latency_ns >= read.latency_ns {
        return;
    }
    let at = slowest.partition_point(|other| other.latency_ns >= read.latency_ns);
    slowest.insert(at, read);
    slowest.truncate(SLOWEST);
}

fn request(done: &Done) -> Value {
    json!({
        "number": done.number,
        "op": done.op.name(),
        "arrived_ns": done.at_ns - done.latency_ns,
        "at_ns": done.at_ns,
        "latency_ns": done.latency_ns,
        "parts": done.parts.as_ref().map(parts),
    })
}

/// The parts that are not zero.
fn parts(parts: &Parts) -> Map<String, Value> {
    let some = Part::ALL.into_iter().filter(|&part| parts[part as usize] > 0);
    some.map(|part| (part.key().into(), json!(parts[part as usize]))).collect()
}

/// A trace that the page has read.
struct Given {
    name: String,
    data: Arc<[u8]>,
}

impl TraceOpener for Given {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
        Ok(Box::new(Cursor::new(self.data.clone())))
    }
}
