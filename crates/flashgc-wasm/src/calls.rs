//! The calls of a page, and their answers.

use crate::memory;
use crate::run::Run;
use crate::table::Table;
use flashgc::config::presets;
use flashgc::session::{self, Inputs, Setup};
use serde::Deserialize;
use serde_json::{Value, json};
use std::cell::RefCell;

/// The configuration of a run: a text, and what replaces parts of it, as on the command line.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Configuration {
    /// The name of the configuration, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The scheme that replaces its own.
    pub scheme: Option<String>,
    /// Assignments `key.path=value`.
    pub sets: Vec<String>,
    /// The name of the trace whose bytes come with the call, where the workload is one.
    pub trace: Option<String>,
}

/// A call.
#[derive(Debug, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// The presets of devices and schemes: their names, texts and keys.
    Presets {},
    /// What a configuration comes to, without a run.
    Check {
        /// The configuration.
        configuration: Configuration,
    },
    /// Makes a run, and answers with its number.
    Open {
        /// The configuration.
        configuration: Configuration,
    },
    /// Runs at most this number of events, up to and with an instant. Without the instant the run
    /// may end. Before the measured part it is one slice of preconditioning.
    Advance {
        /// The run.
        run: u32,
        /// The instant, in ns.
        until_ns: Option<u64>,
        /// The number of events.
        events: u64,
    },
    /// The report on a run until now; after its end the whole one.
    Report {
        /// The run.
        run: u32,
    },
    /// The drive of a run.
    Picture {
        /// The run.
        run: u32,
    },
    /// The memory of a run is free again.
    Close {
        /// The run.
        run: u32,
    },
}

thread_local! {
    static RUNS: RefCell<Table<Run>> = const { RefCell::new(Table::new()) };
}

/// The answer to a call: its value under `ok`, or the text of an error for users under `error`.
pub fn answer(text: &[u8], data: Vec<u8>) -> String {
    let request = serde_json::from_slice(text)
        .map_err(|wrong| format!("error: the call cannot be read: {wrong}"));
    let answer = match request.and_then(|request| answer_to(request, data)) {
        Ok(value) => json!({ "ok": value }),
        Err(text) => json!({ "error": text }),
    };
    answer.to_string()
}

fn answer_to(request: Request, data: Vec<u8>) -> Result<Value, String> {
    match request {
        Request::Presets {} => Ok(json!({
            "devices": presets::devices_json(),
            "schemes": presets::schemes_json()["schemes"],
            "version": flashgc::report::VERSION,
        })),
        Request::Check { configuration } => Ok(checked(&setup(&configuration)?)),
        Request::Open { configuration } => {
            let setup = setup(&configuration)?;
            RUNS.with_borrow_mut(|runs| {
                let taken = runs.iter().map(Run::table_bytes).sum();
                memory::check(&setup, taken)?;
                Ok(json!(runs.add(Run::new(setup, configuration.trace, data))))
            })
        }
        Request::Advance { run, until_ns, events } => {
            of(run, |run| run.advance(until_ns.unwrap_or(u64::MAX), events))
        }
        Request::Report { run } => of(run, |run| Ok(run.report())),
        Request::Picture { run } => of(run, |run| Ok(run.picture())),
        Request::Close { run } => RUNS.with_borrow_mut(|runs| Ok(json!(runs.take(run).is_some()))),
    }
}

/// Does this with a run.
fn of(run: u32, what: impl FnOnce(&mut Run) -> Result<Value, String>) -> Result<Value, String> {
    RUNS.with_borrow_mut(|runs| match runs.get(run) {
        Some(run) => what(run),
        None => Err(format!("error: no run has the number {run}\n  = help: open one first")),
    })
}

fn setup(configuration: &Configuration) -> Result<Setup, String> {
    let Configuration { name, text, scheme, sets, trace } = configuration.clone();
    let inputs = Inputs {
        name,
        text,
        scheme: scheme.map(|scheme| (scheme, None)),
        sets,
        has_trace: trace.is_some(),
        ..Inputs::default()
    };
    session::prepare(&inputs).map_err(|errors| errors.to_string())
}

fn checked(setup: &Setup) -> Value {
    let geometry = &setup.plan.geometry;
    let shape = &geometry.shape;
    let page_bytes = u64::from(shape.page_bytes);
    json!({
        "config_hash": setup.config_hash(),
        "unused_keys": setup.unused_keys(),
        "notes": setup.notes(),
        "physical_bytes": u64::from(geometry.pages) * page_bytes,
        "user_bytes": u64::from(geometry.exported_pages) * page_bytes,
        "page_bytes": page_bytes,
        "planes": geometry.planes,
        "units": geometry.units,
        "buses": shape.channels,
        "blocks_per_plane": shape.blocks_per_plane,
        "pages_per_block": shape.pages_per_block,
        "table_bytes": setup.table_bytes_expected(),
    })
}
