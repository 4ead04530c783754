//! The results of a run, as lines of text.

use super::eyes::{BUFFER, LINK, Row};
use super::run::Seen;
use flashgc::device::{Geometry, Timing};
use flashgc::ftl::Ftl;
use flashgc::ftl::blocks::BlockState;
use flashgc::ids::{BlockId, PlaneId, Ppn, UnitId};
use flashgc::measure::Results;
use flashgc::stats::Counters;
use flashgc::verify::blame::{Part, Parts};

/// `305.6 us`
pub fn us(ns: u64) -> String {
    let (whole, rest) = (ns / 1000, ns % 1000);
    let digits = format!("{rest:03}");
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() { format!("{whole} us") } else { format!("{whole}.{digits} us") }
}

/// A unit, or a plane that reads by itself.
fn part(seen: &Seen, number: u32) -> String {
    match seen.geometry.plane_of_reader(UnitId(number)) {
        Some(plane) => format!("plane {plane}"),
        None => format!("{} {number}", seen.geometry.shape.unit.word()),
    }
}

fn rows(seen: &Seen, rows: &[Row], words: impl Fn(&Row) -> String) -> Vec<String> {
    let width = rows.iter().map(|row| us(row.to_ns).len()).max().unwrap_or(0);
    let count = rows.len().to_string().len();
    let line = |(at, row): (usize, &Row)| {
        let (from, to) = (us(row.from_ns), us(row.to_ns));
        let number = at + 1;
        let place = match row.unit {
            LINK => "link".into(),
            BUFFER => "buffer".into(),
            number => part(seen, number),
        };
        format!("{number:<count$}  {from:>width$} - {to:>width$}  {place}  {}", words(row))
    };
    rows.iter().enumerate().map(line).collect()
}

/// The operations, numbered in order of their start.
pub fn timeline(seen: &Seen) -> Vec<String> {
    rows(seen, &seen.operations, |row| row.words.clone())
}

/// The phases, numbered in order of their start.
pub fn phases(seen: &Seen) -> Vec<String> {
    let place = |row: &Row| if row.on_bus { "bus  " } else { "array" };
    rows(seen, &seen.phases, |row| format!("{}  {}", place(row), row.words))
}

/// The latency of each request.
pub fn latency(seen: &Seen) -> Vec<String> {
    let width = seen.latencies.iter().map(|(words, _)| words.len()).max().unwrap_or(0);
    let times: Vec<String> =
        seen.latencies.iter().map(|(_, ns)| ns.map_or("never".into(), us)).collect();
    let right = times.iter().map(String::len).max().unwrap_or(0);
    let lines = seen.latencies.iter().zip(&times);
    lines.map(|((words, _), time)| format!("{words:<width$}  {time:>right$}")).collect()
}

/// The parts of the latency of each request that is done, without empty ones.
pub fn parts(seen: &Seen) -> Vec<String> {
    let width = seen.parts.iter().map(|(words, _)| words.len()).max().unwrap_or(0);
    let words = |parts: &Parts| {
        let long = Part::ALL.into_iter().zip(parts).filter(|(_, ns)| **ns > 0);
        let words =
            long.map(|(part, &ns)| format!("{} {}", part.key().trim_end_matches("_ns"), us(ns)));
        words.collect::<Vec<_>>().join(", ")
    };
    seen.parts
        .iter()
        .map(|(request, parts)| format!("{request:<width$}  {}", words(parts)))
        .collect()
}

/// Every block: its state, and the content of its pages: a logical page, `x` invalid, `.` erased.
pub fn blocks(geometry: &Geometry, ftl: &Ftl, programmed: &[bool]) -> Vec<String> {
    let mut lines = Vec::new();
    for plane in (0..geometry.planes).map(PlaneId) {
        let name = match geometry.planes {
            1 => String::new(),
            _ => format!("plane {} ", plane.0),
        };
        let first = geometry.blocks_of(plane).start;
        let mut erased: Vec<u32> = Vec::new();
        for block in geometry.blocks_of(plane).map(BlockId) {
            let local = block.0 - first;
            let state = match ftl.blocks.state(block) {
                BlockState::Free => {
                    erased.push(local);
                    continue;
                }
                BlockState::Open => "open  ",
                BlockState::Sealed => "sealed",
                BlockState::Victim => "victim",
                BlockState::Retired => "retired",
            };
            let pages = 0..geometry.shape.pages_per_block;
            let cells = pages.map(|page| {
                let ppn = Ppn(geometry.first_page(block).0 + page);
                let is_full = !matches!(ftl.blocks.state(block), BlockState::Open);
                if page >= geometry.data_pages_of(block) && geometry.shape.sub_blocks > 1 {
                    "  -".into()
                } else if is_full && page >= geometry.shape.data_pages() {
                    "  s".into()
                } else if ftl.blocks.is_valid(block, page) {
                    format!("{:>3}", ftl.map.lpn_of(ppn).0)
                } else if programmed[ppn.index()] {
                    "  x".into()
                } else {
                    "  .".into()
                }
            });
            lines.push(format!("{name}block {local}  {state} {}", cells.collect::<String>()));
        }
        let erased: Vec<String> = erased.iter().map(u32::to_string).collect();
        lines.push(match erased.len() {
            0 => format!("{name}erased: none"),
            _ => format!("{name}erased: {}", erased.join(" ")),
        });
    }
    lines
}

fn hotness(results: &Results, key: &str) -> Option<u64> {
    let hotness = results.hotness?;
    match key {
        "hotness.updates" => Some(hotness.updates),
        "hotness.hot_updates" => Some(hotness.hot_updates),
        "hotness.decays" => Some(hotness.decays),
        _ => None,
    }
}

/// 1_234_567
fn whole(number: u64) -> String {
    let digits = number.to_string();
    let parts: Vec<String> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    parts.join("_")
}

fn per(sum: u64, count: u64) -> String {
    match count {
        0 => "null".to_string(),
        _ => format!("{}", sum as f64 / count as f64),
    }
}

/// Metrics of the report, by their keys.
pub fn count(seen: &Seen, key: &str) -> Option<String> {
    let (results, c) = (&seen.results, &seen.results.counters);
    Some(match key {
        _ if key.starts_with("gc.") => of_collection(seen, key)?,
        _ if key.starts_with("background.") => whole(ahead(c, key)?),
        "requests.read" => whole(c.requests[0]),
        "requests.write" => whole(c.requests[1]),
        "requests.trim" => whole(c.requests[2]),
        "pages.host_read" => whole(c.host_read),
        "pages.host_written" => whole(c.host_written),
        "pages.host_trimmed" => whole(c.host_trimmed),
        "pages.unwritten_read" => whole(c.unwritten_read),
        "pages.rest_read" => whole(c.rest_read),
        "pages.gc_moved" => whole(c.gc_moved),
        "pages.flushed" => whole(c.flushed),
        "buffer.hits_read" => whole(c.buffer_hits[0]),
        "buffer.hits_write" => whole(c.buffer_hits[1]),
        "buffer.stalls" => whole(c.buffer_stalls),
        "buffer.dirty_at_end" => whole(results.buffer_dirty_pages?),
        "pages.overhead" => whole(c.overhead + c.padded),
        "slots.padded" => whole(c.padded),
        "pages.wasted_copies" => whole(c.wasted_copies),
        "write_amplification" => {
            per(c.array_programs + c.gc_moved + c.background_moved, c.host_written)
        }
        "pages.background_moved" => whole(c.background_moved),
        "capacity.extra_pages" => {
            let shape = &seen.geometry.shape;
            whole(shape.planes() * shape.pages_of_blocks(shape.extra_blocks.into()))
        }
        "suspended_programs" => whole(c.programs_suspended),
        "erases" => whole(c.erases),
        "erase_operations" => whole(c.erase_operations),
        _ if key.starts_with("hotness.") => whole(hotness(results, key)?),
        "latency_ns.read.max" => whole(results.read.summary().max.unwrap_or(0)),
        "latency_ns.write.max" => whole(results.write.summary().max.unwrap_or(0)),
        "free_pages_min" => whole(c.free_pages_min),
        "simulated_ns" => whole(results.simulated_ns),
        _ => return None,
    })
}

/// Metrics of pre-migration.
fn ahead(counters: &Counters, key: &str) -> Option<u64> {
    match key {
        "background.calls" => Some(counters.background_calls),
        "background.victims" => Some(counters.background_victims),
        "background.wasted" => Some(counters.background_wasted),
        "background.busy_ns" => Some(counters.background_busy_ns),
        _ => None,
    }
}

fn of_collection(seen: &Seen, key: &str) -> Option<String> {
    let (results, c) = (&seen.results, &seen.results.counters);
    Some(match key {
        "gc.stall_max_ns" => whole(c.stall_max_ns),
        "gc.below_floor_ns" => whole(c.below_floor_ns),
        "gc.count" => whole(c.jobs),
        "gc.idle_collections" => whole(c.idle_collections),
        "gc.read_reclaims" => whole(c.read_reclaims),
        "gc.blocked" => whole(c.blocked),
        "gc.fallbacks" => whole(c.fallbacks),
        "gc.open" => whole(results.jobs_open),
        "gc.victim_blocks" => whole(c.victim_blocks),
        "gc.valid_per_victim" => {
            let is_whole = seen.geometry.shape.sub_blocks == 1;
            per(c.victim_valid, if is_whole { c.victim_blocks } else { c.jobs })
        }
        "gc.neighbours_moved" => whole(c.neighbours_moved),
        "gc.moved_per_gc" => per(c.moved_in_jobs, c.jobs),
        "gc.copy_steps" => whole(c.copy_steps),
        "gc.busy_open_ns" => whole(c.gc_busy_open_ns),
        "gc.reclaimed_pages" => whole(c.reclaimed_pages),
        "gc.busy_ns" => whole(c.gc_busy_ns),
        "gc.elapsed_ns" => whole(c.gc_elapsed_ns),
        "gc.blocking_ns" => whole(c.gc_blocking_ns),
        "gc.preempted" => whole(c.preempted),
        "gc.suspended" => whole(c.suspended),
        "gc.merged_read" => whole(c.merged_reads),
        "gc.merged_write" => whole(c.merged_writes),
        "gc.pipelined_read" => whole(c.pipelined_reads),
        "gc.pipelined_write" => whole(c.pipelined_writes),
        "gc.exhausted" => whole(c.exhausted),
        "gc.response_max_ns" => whole(c.gc_response_max_ns),
        "gc.wait_max_ns" => whole(c.gc_wait_max_ns),
        "gc.transfer_ns" => whole(results.gc_transfer_ns),
        "gc.time_slices" => whole(c.time_slices),
        "gc.unpaid_copies" => whole(c.unpaid_copies),
        "gc.copies_between_writes_max" => whole(c.copies_between_writes_max),
        _ => return None,
    })
}

/// A sum of the device's times: `t_transfer + 2 t_program`.
pub fn sum_ns(words: &str, timing: &Timing) -> Result<u64, String> {
    let mut sum_ns = 0;
    for term in words.split('+').map(str::trim) {
        let (times, name) = match term.split_once(' ') {
            Some((times, name)) => {
                let times = times.parse::<u64>();
                (times.map_err(|_| format!("`{term}` has no whole number"))?, name.trim())
            }
            None => (1, term),
        };
        sum_ns += times
            * match name {
                "0" => 0,
                "t_read" => timing.read_ns,
                "t_program" => timing.program_ns,
                "t_erase" => timing.erase_ns,
                "t_transfer" => timing.transfer_ns,
                "t_command" => timing.command_ns,
                "t_suspend" => timing.suspend.map_or(0, |cost| cost.suspend_ns),
                "t_resume" => timing.suspend.map_or(0, |cost| cost.resume_ns),
                _ => return Err(format!("`{name}` is no time of the device")),
            };
    }
    Ok(sum_ns)
}

/// Columns of a figure.
const COLUMNS: u64 = 66;

/// A drawing: one row for each unit and bus that worked, one letter for each span of time.
pub fn figure(seen: &Seen) -> Vec<String> {
    let end_ns = seen.phases.iter().map(|row| row.to_ns).max().unwrap_or(0);
    if end_ns == 0 {
        return Vec::new();
    }
    let column_ns = nice(end_ns.div_ceil(COLUMNS));
    let columns = end_ns.div_ceil(column_ns);
    let mut lanes: Vec<(String, Vec<Mark>)> = Vec::new();
    for at in 0..seen.geometry.units + seen.geometry.readers {
        let own = |row: &&Row| row.unit == at;
        let phases = seen.phases.iter().filter(own);
        let mut marks: Vec<Mark> =
            phases.map(|row| (row, if row.on_bus { '=' } else { letter(row) })).collect();
        if !marks.is_empty() {
            marks.extend(seen.operations.iter().filter(own).map(|row| (row, '.')));
            lanes.push((part(seen, at), marks));
        }
    }
    for bus in 0..seen.geometry.shape.channels {
        let is_own = |row: &&Row| row.on_bus && seen.geometry.bus_of(UnitId(row.unit)).0 == bus;
        let number = |unit| seen.geometry.plane_of_reader(UnitId(unit)).unwrap_or(unit) % 10;
        let digit = |row: &Row| char::from_digit(number(row.unit), 10).unwrap_or('?');
        let own = seen.phases.iter().filter(is_own);
        let marks: Vec<Mark> = own.map(|row| (row, digit(row))).collect();
        if !marks.is_empty() {
            lanes.push((format!("bus {bus}"), marks));
        }
    }
    let width = lanes.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let draw = |(name, marks): &(String, Vec<Mark>)| {
        let cells = (0..columns).map(|at| cell(marks, at * column_ns, (at + 1) * column_ns));
        format!("{name:<width$} |{}|", cells.collect::<String>())
    };
    let mut lines: Vec<String> = lanes.iter().map(draw).collect();
    lines.push(format!("{:<width$}  one column is {}", "", us(column_ns)));
    lines
}

/// A span of time and its letter.
type Mark<'a> = (&'a Row, char);

/// The letter that takes most of a column; a wait counts only where nothing else does.
fn cell(marks: &[Mark<'_>], from_ns: u64, to_ns: u64) -> char {
    let shared = |row: &Row| row.to_ns.min(to_ns).saturating_sub(row.from_ns.max(from_ns));
    let worked = marks.iter().filter(|(_, letter)| *letter != '.');
    let mut waited = marks.iter().filter(|(_, letter)| *letter == '.');
    let mut most = (0, ' ');
    for (row, letter) in worked {
        if shared(row) > most.0 {
            most = (shared(row), *letter);
        }
    }
    let is_waiting = waited.any(|(row, _)| shared(row) > 0);
    if most.0 == 0 && is_waiting {
        return '.';
    }
    most.1
}

fn letter(row: &Row) -> char {
    match row.words.split([' ', ':']).next().unwrap_or("") {
        "read" => 'R',
        "read-rest" => 'r',
        "program" => 'P',
        "flush" => 'F',
        "copy" => 'c',
        "copy-read" => 'o',
        "copy-program" => 'c',
        "suspend" => 's',
        "poll" => '?',
        "read-out" => 'o',
        "program-copy" => 'p',
        "move-ahead" => 'm',
        "erase" => 'E',
        _ => 'G',
    }
}

/// The next of 1, 2, 5, 10, 20, 50 ... us.
fn nice(ns: u64) -> u64 {
    let mut step = 1000;
    loop {
        for factor in [1, 2, 5] {
            if step * factor >= ns {
                return step * factor;
            }
        }
        step *= 10;
    }
}
