//! The report: every metric of a run, with the hash that two equal runs share.

mod flash_errors;
mod placement;
mod untimed;

use crate::config::Setup;
use crate::measure::{JobResults, Results};
use crate::stats::ByKind;
use crate::stats::steady::Verdict;
use crate::stats::{Latency, RunOverTime};
use crate::store::Preconditioning;
use crate::workload::HostOp;
use crate::workload::jobs::Tally;
use serde_json::{Map, Value, json};

/// The version that reports carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Facts of the session in addition to the results.
pub struct Facts {
    /// The preparation of the drive's starting state.
    pub preconditioning: Preconditioning,
    /// The saved drive on which the run began, if it did.
    pub drive: Option<Value>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The reason why nothing was moved, where no page was.
    pub nothing_moved: Option<String>,
    /// Lines of the trace that were skipped.
    pub bad_rows: u64,
    /// The counts of each job; empty without jobs.
    pub of_jobs: Vec<JobResults>,
    /// The parts of the latencies of each job, where they were split.
    pub blame_of_jobs: Vec<Value>,
    /// The parts of the latencies, where they were split.
    pub blame: Option<Value>,
    /// The hash over the simulated course.
    pub result_hash: String,
    /// The run over time, where it was recorded.
    pub over_time: Option<RunOverTime>,
}

/// The report of a run.
#[derive(Clone)]
pub struct Report {
    keys: Map<String, Value>,
    read: Latency,
    write: Latency,
    over_time: Option<RunOverTime>,
}

impl Report {
    pub(crate) fn new(setup: &Setup, results: &Results, facts: Facts) -> Self {
        let mut keys = Map::new();
        let mut precondition = json!(facts.preconditioning);
        precondition["drive"] = json!(facts.drive);
        let mut add = |key: &str, value: Value| keys.insert(key.to_string(), value);
        add("seed", json!(setup.plan.seed));
        add("config_hash", json!(setup.config_hash()));
        add("scheme", json!(setup.plan.gc.scheme));
        add("device", json!(setup.device_name));
        add("saturated", json!(results.saturated));
        add("requests", requests(results));
        flush(&results.flush).map(|flush| add("flush", flush));
        if !facts.of_jobs.is_empty() {
            add("jobs", jobs(&facts.of_jobs, facts.blame_of_jobs));
        }
        add("pages", pages(results));
        for (key, part) in [
            ("ramp_ns", (results.ramp_ns > 0).then(|| json!(results.ramp_ns))),
            ("slots", slots(setup, results)),
            ("cache", cache(setup, results)),
            ("suspended_programs", suspended_programs(setup, results)),
            ("read_retry", flash_errors::read_retry(setup, results)),
            ("failures", flash_errors::failures(results)),
            ("background", background(setup, results)),
            ("buffer", buffer(results)),
            ("placement", placement::section(setup, results)),
        ] {
            part.map(|part| add(key, part));
        }
        add("write_amplification", json!(write_amplification(results)));
        let in_bytes = write_amplification_bytes(setup, results);
        add("write_amplification_bytes", json!(in_bytes));
        add("steady", steady(results, &facts.nothing_moved));
        if let Some(cycles) = setup.rated_cycles {
            add("endurance", endurance(setup, results, cycles, in_bytes));
        }
        add("erases", json!(results.counters.erases));
        add("erase_operations", json!(results.counters.erase_operations));
        add("gc", gc(setup, results));
        add("latency_ns", latency(results));
        facts.blame.map(|blame| add("blame", blame));
        add("throughput", throughput(results));
        add("utilisation", utilisation(results));
        if let Some(hotness) = results.hotness {
            add("hotness", json!(hotness));
        }
        add("wear", json!(results.wear));
        add("free_pages_min", json!(results.counters.free_pages_min));
        add("simulated_ns", json!(results.simulated_ns));
        add("page_operations", json!(page_operations(setup, results)));
        add("precondition", precondition);
        add("bad_rows", json!(facts.bad_rows));
        add("capacity", capacity(setup));
        if let Some(fitted) = &setup.fitted {
            add("fit", fitted.json(setup.plan.geometry.exported_pages));
        }
        add("config", setup.resolved_json().clone());
        add("notes", json!(facts.notes));
        add("scheme_changes", json!(setup.scheme_changes));
        add("unused_keys", json!(setup.unused_keys()));
        add("result_hash", json!(facts.result_hash));
        add("version", json!(VERSION));
        add("table_bytes", json!(results.table_bytes));
        for key in ["wall_s", "precondition_wall_s", "page_operations_per_s", "peak_rss_bytes"] {
            add(key, Value::Null);
        }
        untimed::leave_out_times(setup.plan.untimed, &mut keys);
        Report::of(keys, results, facts.over_time)
    }

    fn of(keys: Map<String, Value>, results: &Results, over_time: Option<RunOverTime>) -> Self {
        Report { keys, read: results.read.clone(), write: results.write.clone(), over_time }
    }

    /// Adds the values that only the caller can measure, in s and bytes.
    pub fn set_walls(
        &mut self,
        wall_s: f64,
        precondition_wall_s: f64,
        peak_rss_bytes: Option<u64>,
    ) {
        let operations = self.keys["page_operations"].as_u64().unwrap_or(0);
        let per_s = if wall_s > 0.0 { Some(operations as f64 / wall_s) } else { None };
        self.keys.insert("wall_s".into(), json!(wall_s));
        self.keys.insert("precondition_wall_s".into(), json!(precondition_wall_s));
        self.keys.insert("page_operations_per_s".into(), json!(per_s));
        self.keys.insert("peak_rss_bytes".into(), json!(peak_rss_bytes));
    }

    /// Adds a note that only the caller can make.
    pub fn add_note(&mut self, note: String) {
        let notes = self.keys.get_mut("notes").and_then(Value::as_array_mut);
        notes.into_iter().for_each(|notes| notes.push(json!(note)));
    }

    /// The report as data.
    pub fn to_json(&self) -> Value {
        Value::Object(self.keys.clone())
    }

    /// The report as JSON text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(&self.keys).unwrap_or_default()
    }

    /// The hash over the simulated course: two runs with the same events share it.
    pub fn result_hash(&self) -> &str {
        self.keys["result_hash"].as_str().unwrap_or_default()
    }

    /// The distributions of latencies of reads and of writes: for each bucket with samples its
    /// upper end in ns, and their number.
    #[allow(clippy::type_complexity)]
    pub fn latency_distribution(&self) -> (Vec<(u64, u64)>, Vec<(u64, u64)>) {
        (self.read.distribution(), self.write.distribution())
    }

    /// The run over time, if it was recorded. It is not a part of the report's text.
    pub fn over_time(&self) -> Option<&RunOverTime> {
        self.over_time.as_ref()
    }
}

fn requests(results: &Results) -> Value {
    let [read, write, trim] = results.counters.requests;
    json!({ "read": read, "write": write, "trim": trim })
}

/// Flushes with their latencies, where there are any.
fn flush(latency: &Latency) -> Option<Value> {
    let count = latency.count();
    (count > 0).then(|| json!({ "requests": count, "latency_ns": latency.summary() }))
}

fn jobs(results: &[JobResults], blame: Vec<Value>) -> Value {
    let mut jobs: Vec<Value> = results.iter().map(job).collect();
    for (job, blame) in jobs.iter_mut().zip(blame) {
        job["blame"] = blame;
    }
    Value::Array(jobs)
}

/// The counts of a job, over its clones.
fn job(results: &JobResults) -> Value {
    let JobResults { tally, latencies: ByKind { read, write, flush: flushes } } = results;
    let by_op = |value: fn(&Tally, HostOp) -> Value| {
        json!({
            "read": value(tally, HostOp::Read),
            "write": value(tally, HostOp::Write),
            "trim": value(tally, HostOp::Trim),
        })
    };
    let mut row = json!({
        "name": tally.name,
        "clones": tally.clones,
        "depth": tally.depth,
        "in_flight_max": tally.in_flight_max,
        "begun_ns": tally.begun_ns,
        "ended_ns": tally.ended_ns,
        "requests": by_op(|tally, op| json!(tally.requests[op as usize])),
        "bytes": by_op(|tally, op| json!(tally.bytes[op as usize])),
        "iops": by_op(|tally, op| json!(tally.iops(op))),
        "asked_iops": by_op(|tally, op| json!(tally.requested_iops[op as usize])),
        "latency_mean_ns": by_op(|tally, op| json!(tally.latency_mean_ns(op))),
        "latency_max_ns": by_op(|tally, op| json!(tally.latency_max_ns[op as usize])),
        "latency_ns": { "read": read.summary(), "write": write.summary() },
    });
    if let Some(flush) = flush(flushes) {
        row["flush"] = flush;
    }
    if tally.ramp_ns > 0 {
        row["ramp_ns"] = json!(tally.ramp_ns);
    }
    row
}

fn pages(results: &Results) -> Value {
    let counters = &results.counters;
    let mut keys = json!({
        "host_read": counters.host_read,
        "host_written": counters.host_written,
        "host_trimmed": counters.host_trimmed,
        "unwritten_read": counters.unwritten_read,
        "rest_read": counters.rest_read,
        "gc_moved": counters.gc_moved,
        "background_moved": counters.background_moved,
        "wasted_copies": counters.wasted_copies,
        "overhead": counters.overhead + counters.padded,
    });
    if results.buffer_dirty_pages.is_some() {
        keys["flushed"] = json!(counters.flushed);
    }
    keys
}

/// Work of units before any collection, where there is such.
fn background(setup: &Setup, results: &Results) -> Option<Value> {
    let counters = &results.counters;
    setup.plan.gc.background.uses_units().then(|| {
        json!({
            "calls": counters.background_calls,
            "victims": counters.background_victims,
            "wasted": counters.background_wasted,
            "busy_ns": counters.background_busy_ns,
        })
    })
}

/// The metrics of the write buffer, where there is one.
fn buffer(results: &Results) -> Option<Value> {
    let [hits_read, hits_write] = results.counters.buffer_hits;
    results.buffer_dirty_pages.map(|dirty_at_end| {
        json!({
            "hits_read": hits_read,
            "hits_write": hits_write,
            "stalls": results.counters.buffer_stalls,
            "dirty_at_end": dirty_at_end,
        })
    })
}

fn write_amplification(results: &Results) -> Option<f64> {
    let counters = &results.counters;
    (counters.host_written > 0)
        .then(|| pages_programmed(results) as f64 / counters.host_written as f64)
}

/// Pages programmed with data: for the host, and copies.
fn pages_programmed(results: &Results) -> u64 {
    let counters = &results.counters;
    counters.array_programs + counters.gc_moved + counters.background_moved
}

/// The slots of flash pages and programs, where these hold several mapped pages.
fn slots(setup: &Setup, results: &Results) -> Option<Value> {
    let (shape, counters) = (&setup.plan.geometry.shape, &results.counters);
    (shape.program_slots > 1).then(|| {
        let mut keys = json!({
            "per_page": shape.slots,
            "per_program": shape.program_slots,
            "collection_page_reads": counters.read_steps,
            "reads_per_copy": per(counters.read_steps, counters.moved_in_jobs),
        });
        if shape.pads() {
            let programmed = pages_programmed(results) + counters.padded;
            keys["padded"] = json!(counters.padded);
            keys["programmed_per_write"] = json!(per(programmed, counters.host_written));
        }
        keys
    })
}

/// Operations that began in parallel with another one of their unit.
fn cache(setup: &Setup, results: &Results) -> Option<Value> {
    let [reads, programs] = results.counters.cached;
    setup.plan.cache.is_some().then(|| json!({ "reads": reads, "programs": programs }))
}

/// Times that a program of the host was suspended for a read, where the device does so.
fn suspended_programs(setup: &Setup, results: &Results) -> Option<Value> {
    let count = results.counters.programs_suspended;
    setup.plan.suspends_programs().then(|| json!(count))
}

/// Flash bytes programmed for each byte that the host wrote.
fn write_amplification_bytes(setup: &Setup, results: &Results) -> Option<f64> {
    let host_bytes = results.counters.bytes[1];
    let page_bytes = f64::from(setup.plan.geometry.shape.page_bytes);
    let programmed = pages_programmed(results) as f64;
    (host_bytes > 0).then(|| programmed * page_bytes / host_bytes as f64)
}

/// The bytes that the host can write until each block has had the cycles it is rated for, if all
/// blocks wear alike. They are stated for a run in steady state only.
fn endurance(setup: &Setup, results: &Results, cycles: u64, in_bytes: Option<f64>) -> Value {
    let geometry = &setup.plan.geometry;
    let page_bytes = f64::from(geometry.shape.page_bytes);
    let why_not = match (in_bytes, results.balance.verdict) {
        (None, _) => Some("the workload writes nothing"),
        (Some(_), Verdict::Yes) => None,
        (Some(_), _) => Some(
            "the run is not in steady state, so its write amplification is not that of a long run",
        ),
    };
    let of_flash = f64::from(geometry.pages) * page_bytes * cycles as f64;
    // Padding wears blocks as data does.
    let data = pages_programmed(results) as f64;
    let in_bytes = in_bytes.map(|bytes| bytes * (1.0 + results.counters.padded as f64 / data));
    let written = in_bytes.filter(|_| why_not.is_none()).map(|in_bytes| of_flash / in_bytes);
    let drive_bytes = f64::from(geometry.exported_pages) * page_bytes;
    json!({
        "rated_cycles": cycles,
        "tbw_bytes": written.map(|bytes| bytes as u64),
        "drive_writes": written.map(|bytes| bytes / drive_bytes),
        "why_not": why_not,
    })
}

/// The balance, the end of a run that was to last until it is steady, and why nothing was moved.
fn steady(results: &Results, nothing_moved: &Option<String>) -> Value {
    let mut keys = json!(results.balance);
    keys["nothing_moved"] = json!(nothing_moved);
    if let Some(until) = results.until {
        keys["until"] = json!(until);
    }
    keys
}

fn per(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

fn gc(setup: &Setup, results: &Results) -> Value {
    let counters = &results.counters;
    let per_block = f64::from(setup.plan.geometry.shape.data_pages());
    // With sub-blocks, a victim is the set that one erase frees.
    let victims = match setup.plan.gc.sub_blocks {
        Some(_) => counters.jobs,
        None => counters.victim_blocks,
    };
    let mut keys = json!({
        "count": counters.jobs,
        "open": results.jobs_open,
        "victim_blocks": counters.victim_blocks,
        "valid_per_victim": per(counters.victim_valid, victims),
        "moved_per_gc": per(counters.moved_in_jobs, counters.jobs),
        "copy_steps": counters.copy_steps,
        "valid_distribution": valid_distribution(results),
        "reclaimed_pages": counters.pages_won(),
        "erased_at_selection":
            per(counters.erased_pages_at_selection, counters.selections).map(|p| p / per_block),
        "busy_ns": counters.gc_busy_ns,
        "total_busy_ns": counters.collecting_ns(),
        "busy_open_ns": counters.gc_busy_open_ns,
        "elapsed_ns": counters.gc_elapsed_ns,
        "blocking_ns": counters.gc_blocking_ns,
        "transfer_ns": results.gc_transfer_ns,
        "preempted": counters.preempted,
        "suspended": counters.suspended,
        "merged": counters.merged_reads + counters.merged_writes,
        "pipelined": counters.pipelined_reads + counters.pipelined_writes,
    });
    if setup.plan.gc.preemption.is_some() {
        keys["merged_read"] = json!(counters.merged_reads);
        keys["merged_write"] = json!(counters.merged_writes);
        keys["pipelined_read"] = json!(counters.pipelined_reads);
        keys["pipelined_write"] = json!(counters.pipelined_writes);
        keys["exhausted"] = json!(counters.exhausted);
        keys["wait_max_ns"] = json!(counters.gc_wait_max_ns);
        keys["response_max_ns"] = json!(counters.gc_response_max_ns);
    }
    if setup.plan.gc.blocking.blocks {
        keys["blocked"] = json!(counters.blocked);
    }
    if setup.plan.gc.used_space.is_some() {
        keys["fallbacks"] = json!(counters.fallbacks);
    }
    if setup.plan.gc.sub_blocks.is_some() {
        keys["neighbours_moved"] = json!(counters.neighbours_moved);
    }
    if setup.plan.gc.time_slices.is_some() {
        keys["time_slices"] = json!(counters.time_slices);
        keys["stall_max_ns"] = json!(counters.stall_max_ns);
        keys["below_floor_ns"] = json!(counters.below_floor_ns);
    }
    if setup.plan.gc.tokens.is_some() {
        keys["unpaid_copies"] = json!(counters.unpaid_copies);
        keys["copies_between_writes_max"] = json!(counters.copies_between_writes_max);
    }
    if setup.plan.gc.idle.is_some() {
        keys["idle_collections"] = json!(counters.idle_collections);
    }
    if setup.plan.gc.background.read_reclaim.is_some() {
        keys["read_reclaims"] = json!(counters.read_reclaims);
    }
    keys
}

/// Victim blocks by their valid pages: pairs, lowest first.
fn valid_distribution(results: &Results) -> Vec<(usize, u64)> {
    let victims = results.counters.victims_by_valid.iter().copied().enumerate();
    victims.filter(|&(_, blocks)| blocks > 0).collect()
}

fn latency(results: &Results) -> Value {
    let mut all = results.read.clone();
    all.add(&results.write);
    json!({
        "read": results.read.summary(),
        "write": results.write.summary(),
        "all": all.summary(),
    })
}

fn utilisation(results: &Results) -> Value {
    let mut keys = json!({ "unit": results.unit, "bus": results.bus });
    for (stage, shares) in &results.stages {
        keys[stage.name()] = json!(shares);
    }
    keys
}

fn throughput(results: &Results) -> Value {
    let [read, write, _] = results.counters.requests;
    let bytes: u64 = results.counters.bytes.iter().sum();
    let measured_ns = results.simulated_ns - results.ramp_ns;
    let per_s = |count: u64| (measured_ns > 0).then(|| count as f64 * 1e9 / measured_ns as f64);
    json!({ "iops": per_s(read + write), "bytes_per_s": per_s(bytes) })
}

/// Array reads, programs and copybacks; a copy over the bus is a read and a program.
fn page_operations(setup: &Setup, results: &Results) -> u64 {
    let per_copy = if setup.plan.gc.copy.stays_in_plane() { 1 } else { 2 };
    let counters = &results.counters;
    let copies = counters.gc_moved + counters.background_moved;
    counters.array_reads + counters.array_programs + copies * per_copy
}

fn capacity(setup: &Setup) -> Value {
    let geometry = &setup.plan.geometry;
    let page_bytes = u64::from(geometry.shape.page_bytes);
    let reserve_blocks = u64::from(setup.plan.gc.reserve_blocks);
    let reserve_pages = geometry.shape.pages_of_blocks(reserve_blocks);
    let spare_pages = f64::from(geometry.pages - geometry.exported_pages);
    let mut keys = json!({
        "physical_pages": geometry.pages,
        "physical_bytes": u64::from(geometry.pages) * page_bytes,
        "exported_pages": geometry.exported_pages,
        "exported_bytes": u64::from(geometry.exported_pages) * page_bytes,
        "over_provisioning": spare_pages / f64::from(geometry.exported_pages),
        "reserve_pages": reserve_pages * u64::from(geometry.planes),
    });
    let extra = geometry.shape.pages_of_blocks(geometry.shape.extra_blocks.into());
    if extra > 0 {
        keys["extra_pages"] = json!(extra * u64::from(geometry.planes));
    }
    if setup.plan.gc.sub_blocks.is_some() {
        let (planes, shape) = (u64::from(geometry.planes), &geometry.shape);
        let isolation = shape.kinds.lost_pages_of_plane(shape.blocks_per_plane) * planes;
        let held = isolation + u64::from(geometry.exported_pages);
        keys["isolation_pages"] = json!(isolation);
        keys["spare_pages"] = json!(u64::from(geometry.pages) - held);
    }
    keys
}
