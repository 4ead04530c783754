//! The log of collections and the series over time against the counters of the report.

use super::{Tried, compare};
use crate::choices::Choices;
use crate::run::{self, Stop};
use flashgc::gc::JobRow;
use flashgc::session::Options;
use flashgc::stats::{SeriesRequest, SeriesRow};
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// Rows of the logs of a run.
type Rows<T> = Arc<Mutex<Vec<T>>>;

fn taken<T>(rows: &Rows<T>) -> Vec<T> {
    match rows.lock() {
        Ok(mut rows) => std::mem::take(&mut *rows),
        Err(_) => Vec::new(),
    }
}

fn keep<T>(rows: &Rows<T>, row: T) {
    if let Ok(mut rows) = rows.lock() {
        rows.push(row);
    }
}

/// Logs agree with the counters, and a request for logs changes no result.
pub fn rule(tried: &Tried<'_>) -> Result<bool, Stop> {
    let (jobs, series): (Rows<JobRow>, Rows<SeriesRow>) = Default::default();
    let (log, sink) = (jobs.clone(), series.clone());
    let mut choices = Choices::new(tried.seed ^ 0x109);
    let interval_ns = choices.pick(&[None, Some(1_000_000), Some(7_777_777), Some(100_000)]);
    // A series ends at a million rows.
    let length_ns = tried.base["simulated_ns"].as_u64().unwrap_or(0);
    let interval_ns = interval_ns.filter(|interval_ns| length_ns / interval_ns < 900_000);
    let request =
        SeriesRequest { interval_ns, sink: Box::new(move |row: &SeriesRow| keep(&sink, *row)) };
    let options = Options {
        verify: choices.chance(30),
        job_log: Some(Box::new(move |row: &JobRow| keep(&log, *row))),
        series: Some(request),
        ..Options::default()
    };
    let report = run::whole(tried.setup, tried.history, options)?;
    compare::equal(&tried.base, &report)?;
    let mut wrong = jobs_against(&taken(&jobs), &report);
    wrong.extend(series_against(&taken(&series), &report));
    verdict(&wrong)
}

/// The record of a run over time agrees with the counters, and recording changes no result.
pub fn over_time(tried: &Tried<'_>) -> Result<bool, Stop> {
    let blame = Choices::new(tried.seed ^ 0x07e).chance(30);
    let options = Options { over_time: true, blame, ..Options::default() };
    let report = run::finished(tried.setup, tried.history, options)?;
    let found = report.over_time().cloned();
    let Some(found) = found else { return Err(Stop::failed("over time", "nothing recorded")) };
    let report = report.to_json();
    compare::equal_but(&tried.base, &report, &["blame"])?;
    let mut wrong = series_against(&found.rows, &report);
    let moved = found.collections.iter().map(|stretch| stretch.moved_sum).sum();
    let count = found.collections.iter().map(|stretch| stretch.count).sum();
    let per = report["gc"]["moved_per_gc"].as_f64().unwrap_or(0.0);
    wrong.extend(unequal(&[
        ("over time: collections", count, number(&report, "/gc/count")),
        ("over time: moved", moved, (per * count as f64).round() as u64),
    ]));
    verdict(&wrong)
}

fn verdict(wrong: &[Wrong]) -> Result<bool, Stop> {
    match wrong.first() {
        None => Ok(true),
        Some((name, _, _)) => {
            let lines = wrong.iter().map(|(name, log, own)| format!("{name}: {log}, report {own}"));
            Err(Stop::failed(*name, lines.collect::<Vec<_>>().join("\n")))
        }
    }
}

type Wrong = (&'static str, u64, u64);

fn number(report: &Value, key: &str) -> u64 {
    report.pointer(key).and_then(Value::as_u64).unwrap_or(0)
}

fn unequal(pairs: &[Wrong]) -> Vec<Wrong> {
    pairs.iter().filter(|(_, log, own)| log != own).copied().collect()
}

fn jobs_against(jobs: &[JobRow], report: &Value) -> Vec<Wrong> {
    let sum = |of: fn(&JobRow) -> u64| jobs.iter().map(of).sum::<u64>();
    let per = report["gc"]["moved_per_gc"].as_f64().unwrap_or(0.0);
    let count = number(report, "/gc/count");
    let mut wrong = unequal(&[
        ("jobs of the log", jobs.len() as u64, count),
        ("moved of the log", sum(|job| job.moved.into()), (per * count as f64).round() as u64),
        ("steps of the log", sum(|job| job.steps.into()), number(report, "/gc/copy_steps")),
        (
            "elapsed of the log",
            sum(|job| job.end_ns - job.selected_ns),
            number(report, "/gc/elapsed_ns"),
        ),
    ]);
    // Blocks that are retired in place of being erased, some of them before the measured part.
    let (blocks, erases) = (sum(|job| job.blocks.into()), number(report, "/erases"));
    let retired = number(report, "/failures/retired_blocks");
    if !(erases..=erases + retired).contains(&blocks) {
        wrong.push(("blocks of the log", blocks, erases));
    }
    let wasted = (sum(|job| job.wasted.into()), number(report, "/pages/wasted_copies"));
    if wasted.0 > wasted.1 {
        wrong.push(("wasted of the log", wasted.0, wasted.1));
    }
    if let Some(job) = jobs.iter().find(|job| job.wasted > job.moved) {
        wrong.push(("wasted and moved of a job", job.wasted.into(), job.moved.into()));
    }
    if let Some(pair) = jobs.windows(2).find(|pair| pair[0].end_ns > pair[1].end_ns) {
        wrong.push(("order of the log", pair[0].end_ns, pair[1].end_ns));
    }
    wrong
}

fn series_against(rows: &[SeriesRow], report: &Value) -> Vec<Wrong> {
    let sum = |of: fn(&SeriesRow) -> u64| rows.iter().map(of).sum::<u64>();
    let longest = |of: fn(&SeriesRow) -> Option<u64>| rows.iter().filter_map(of).max().unwrap_or(0);
    let all = report["gc"]["total_busy_ns"].as_u64();
    let busy_ns = all.unwrap_or_else(|| number(report, "/gc/busy_ns"));
    let mut wrong = unequal(&[
        ("series: reads", sum(|row| row.requests_read), number(report, "/requests/read")),
        ("series: writes", sum(|row| row.requests_write), number(report, "/requests/write")),
        ("series: jobs", sum(|row| row.gc_count), number(report, "/gc/count")),
        ("series: moved", sum(|row| row.gc_moved), number(report, "/pages/gc_moved")),
        ("series: busy", sum(|row| row.gc_busy_ns), busy_ns),
        (
            "series: longest read",
            longest(|row| row.latency_read_max_ns),
            number(report, "/latency_ns/read/max"),
        ),
        (
            "series: longest write",
            longest(|row| row.latency_write_max_ns),
            number(report, "/latency_ns/write/max"),
        ),
    ]);
    if let Some(pair) = rows.windows(2).find(|pair| pair[0].start_ns >= pair[1].start_ns) {
        wrong.push(("series: order", pair[0].start_ns, pair[1].start_ns));
    }
    wrong
}
