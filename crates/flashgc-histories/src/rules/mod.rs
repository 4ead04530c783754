//! The rules for every history.

mod compare;
mod drives;
mod identities;
mod logs;
mod parts;
mod requests;
mod timeline;
mod times;
mod untimed;

use crate::draw;
use crate::history::History;
use crate::run::{self, Stop};
use flashgc::config::Setup;
use flashgc::session::{Options, SavedDrive};
use serde_json::Value;
use std::cell::OnceCell;

/// A history that runs, and the report of its plain run.
pub struct Tried<'a> {
    /// The history.
    pub history: &'a History,
    /// Its seed, for the draws of a rule.
    pub seed: u64,
    /// The checked configuration.
    pub setup: &'a Setup,
    /// The report without any watcher.
    pub base: Value,
    /// The drive when measuring begins, once a rule has requested it.
    drive: OnceCell<SavedDrive>,
}

impl Tried<'_> {
    /// Whether the report counts from the end of a ramp on.
    fn has_ramp(&self) -> bool {
        self.base["ramp_ns"].is_u64()
    }

    /// The drive when measuring begins.
    fn drive(&self) -> Result<SavedDrive, Stop> {
        if let Some(drive) = self.drive.get() {
            return Ok(drive.clone());
        }
        let drive = run::preconditioned(self.setup, self.history)?;
        Ok(self.drive.get_or_init(|| drive).clone())
    }
}

/// A rule: `Ok(true)` where it was checked, `Ok(false)` where it does not apply to this history.
pub type Rule = fn(&Tried<'_>) -> Result<bool, Stop>;

/// The rules by name.
pub const RULES: &[(&str, Rule)] = &[
    ("identities", identities::rule),
    ("blame", blame),
    ("checker", checker),
    ("coalesce", coalesce),
    ("index", index),
    ("logs", logs::rule),
    ("over-time", logs::over_time),
    ("parts", parts::rule),
    ("requests", requests::rule),
    ("saved", drives::saved),
    ("slices", drives::slices),
    ("takeover", drives::takeover),
    ("timeline", timeline::rule),
    ("trace", times::trace),
    ("times", times::scaled),
    ("untimed", untimed::rule),
    ("canary", canary),
];

/// Rules that compare the report with records of the whole run, its ramp included.
const OF_WHOLE_RUNS: &[&str] = &["logs", "over-time", "parts", "requests", "timeline"];

/// The rule of this name is wrong on purpose, and is checked only on request.
pub const CANARY: &str = "canary";

/// A rule that does not hold, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The rule; "run" for the plain run.
    pub rule: &'static str,
    /// Equal for equal faults.
    pub signature: String,
    /// All details.
    pub detail: String,
}

/// The result of a history.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The plan refuses it.
    Refused(String),
    /// It ended as it should: the drive of another scheme was full, or not to be taken.
    Ended(&'static str),
    /// Every rule holds that was tried: these.
    Passed(Vec<&'static str>),
    /// A rule does not.
    Failed(Box<Failure>),
}

/// Tries a history under these rules.
pub fn check(history: &History, seed: u64, rules: &[&'static str]) -> Outcome {
    let prepared = run::guarded(|| Ok(history.prepare()));
    let setup = match prepared {
        Ok(Ok(setup)) => setup,
        Ok(Err(why)) => return Outcome::Refused(why),
        Err(stop) => return failed("plan", stop),
    };
    let base = match run::whole(&setup, history, Options::default()) {
        Ok(base) => base,
        Err(Stop::Full(_)) if setup.filler.is_some() => return Outcome::Ended("full"),
        Err(Stop::NotTaken(_)) if setup.filler.is_some() => return Outcome::Ended("not taken"),
        Err(Stop::ReadOnly) => return Outcome::Ended("read-only"),
        Err(Stop::TooOld) => return Outcome::Ended("too old"),
        Err(Stop::TooLong) => return Outcome::Ended("too long"),
        Err(Stop::TraceTooLarge) => return Outcome::Ended("trace too large"),
        Err(stop) => return failed("run", stop),
    };
    let tried = Tried { history, seed, setup: &setup, base, drive: OnceCell::new() };
    let mut held = Vec::new();
    let applies = |name: &&str| !(tried.has_ramp() && OF_WHOLE_RUNS.contains(name));
    let chosen = RULES.iter().filter(|(name, _)| rules.contains(name) && applies(name));
    for (name, rule) in chosen {
        match run::guarded(|| rule(&tried)) {
            Ok(true) => held.push(*name),
            Ok(false) => {}
            Err(stop) => return failed(name, stop),
        }
    }
    Outcome::Passed(held)
}

fn failed(rule: &'static str, stop: Stop) -> Outcome {
    let (signature, detail) = match stop {
        Stop::Full(detail) => ("full".to_string(), detail),
        Stop::TooLong => ("too long".to_string(), String::new()),
        Stop::TraceTooLarge => ("trace too large".to_string(), String::new()),
        Stop::ReadOnly => ("read-only".to_string(), String::new()),
        Stop::TooOld => ("too old".to_string(), String::new()),
        Stop::NotTaken(detail) => ("not taken".to_string(), detail),
        Stop::Failed { signature, detail } => (signature, detail),
    };
    Outcome::Failed(Box::new(Failure { rule, signature, detail }))
}

/// The checker finds nothing, and changes nothing.
fn checker(tried: &Tried<'_>) -> Result<bool, Stop> {
    let watched = run::whole(tried.setup, tried.history, run::watched())?;
    compare::equal(&tried.base, &watched)?;
    Ok(true)
}

/// Blame changes nothing, and the parts of each percentile add up to it. A run without GC cost has
/// no parts.
fn blame(tried: &Tried<'_>) -> Result<bool, Stop> {
    let options = Options { blame: true, ..Options::default() };
    let report = run::whole(tried.setup, tried.history, options)?;
    compare::equal_but(&tried.base, &report, &["blame"])?;
    if !tried.setup.plan.gc.cost.is_of_device() {
        return match report["blame"].is_null() {
            true => Ok(true),
            false => Err(Stop::failed("parts", "without GC cost there are none".to_owned())),
        };
    }
    for kind in ["read", "write"] {
        for name in ["p50", "p99", "p99_9", "p99_99"] {
            let split = &report["blame"][kind][name];
            let part = |part: &str| split[part].as_u64().unwrap_or(0);
            let parts = ["service_ns", "host_ns", "collection_ns", "space_ns", "buffer_ns"];
            let sum: u64 = parts.into_iter().map(part).sum();
            let own = report["latency_ns"][kind][name].as_u64().unwrap_or(0);
            if sum != own {
                let detail = format!("{kind} {name}: {own} ns, and its parts {sum} ns");
                return Err(Stop::failed("parts", detail));
            }
        }
    }
    Ok(true)
}

/// A collection is one event or many: the metrics are the same.
fn coalesce(tried: &Tried<'_>) -> Result<bool, Stop> {
    let mut other = tried.setup.clone();
    other.plan.coalesce = !other.plan.coalesce;
    compare::equal(&tried.base, &run::whole(&other, tried.history, Options::default())?)?;
    Ok(true)
}

/// The victims of an index equal the victims of a scan.
fn index(tried: &Tried<'_>) -> Result<bool, Stop> {
    let victim = &tried.setup.plan.gc.slots["victim"];
    let (key, words) = match victim.as_str() {
        "greedy" => ("gc.victim.greedy.index", ["\"buckets\"", "\"scan\""]),
        "recycle-benefit" => ("gc.victim.recycle-benefit.index", ["\"kept\"", "\"scan\""]),
        _ => return Ok(false),
    };
    let mut history = tried.history.clone();
    let own = history.get(key).unwrap_or(words[0]).to_string();
    history.set(key, words[usize::from(own == words[0])]);
    let Ok(setup) = history.prepare() else { return Ok(false) };
    compare::equal(&tried.base, &run::whole(&setup, &history, Options::default())?)?;
    Ok(true)
}

/// Wrong on purpose: no drive ever collects.
fn canary(tried: &Tried<'_>) -> Result<bool, Stop> {
    let erases = tried.base["erases"].as_u64().unwrap_or(0);
    match erases {
        0 => Ok(true),
        _ => Err(Stop::failed("erases", format!("{erases} erases"))),
    }
}

/// Whether a drive of another scheme may end with this stop.
fn is_of_another(stop: &Stop) -> bool {
    matches!(stop, Stop::Full(_) | Stop::ReadOnly | Stop::NotTaken(_) | Stop::TooLong)
}

/// A scheme of the same device that is drawn from the seed of the history.
pub fn other_scheme(history: &History, seed: u64) -> Option<(History, Setup)> {
    (0..4).find_map(|try_| {
        let other = draw::another_scheme(history, seed.wrapping_add(try_));
        let setup = other.prepare().ok()?;
        Some((other, setup))
    })
}
