//! Recognises the format by the first lines. Lines that fit several formats are never guessed.

use crate::FOOTPRINT_PAGE_BYTES;
use crate::error::TraceError;
use crate::format::{FormatInfo, Look, Verdict};
use crate::formats::Format;
use crate::pages::PageSet;
use crate::record::{Op, RawRecord};
use crate::rows::{Parser, implausible};
use std::collections::BTreeMap;

/// The format of these lines, or an error with the possible formats.
pub(crate) fn detect(source: &str, sample: &[&[u8]]) -> Result<Format, TraceError> {
    if sample.iter().any(|line| is_binary(line)) {
        return Err(TraceError::new(source, "this is not text: it contains control characters")
            .help(
            "a trace is text, or one of the binary formats blktrace, vscsi, srt and fgt, plain or \
             compressed with gzip or zstd; traces of libCacheSim have no mark and need \
             `--format oracle-general`",
        ));
    }
    let by_verdict = |needed: Verdict| -> Vec<&FormatInfo> {
        let all = Format::ALL.iter().copied();
        let verdict = |info: &FormatInfo| match info.looks_like {
            Look::Lines(lines) => lines(sample),
            Look::Head(_) => Verdict::No,
        };
        all.filter(|info| verdict(info) == needed).collect()
    };
    let sure = by_verdict(Verdict::Sure);
    if let [info] = sure[..] {
        return Ok((info.names[0].1)());
    }
    let candidates = if sure.is_empty() { by_verdict(Verdict::Fits) } else { sure };
    if candidates.is_empty() {
        return Err(unknown(source, sample));
    }
    Err(ambiguous(source, sample, &candidates))
}

/// Text has no zero bytes, and hardly any control characters.
pub(crate) fn is_binary(line: &[u8]) -> bool {
    let control = |byte: &&u8| **byte < 0x20 && **byte != b'\t' && **byte != b'\r';
    line.contains(&0) || line.iter().filter(control).count() * 10 > line.len()
}

fn unknown(source: &str, sample: &[&[u8]]) -> TraceError {
    let mut error = TraceError::new(source, "the format of this trace is not recognised");
    error.text = sample.first().map(|line| String::from_utf8_lossy(line).into());
    error.help(format!(
        "name it with `--format`: {}\nor name its columns: `--format \"csv:time:us, op, \
         offset:512, size:512\"`",
        Format::all_names().join(", ")
    ))
}

/// The interpretation of the sample by a candidate.
fn implied(format: &Format, sample: &[&[u8]]) -> String {
    let Parser::Lines(mut parser) = format.parser() else { return String::new() };
    let rows: Vec<RawRecord> =
        sample.iter().filter_map(|line| parser.parse(line).ok().flatten()).collect();
    let times = || rows.iter().map(|row| row.at_ns);
    let duration_ns = times().max().unwrap_or(0) - times().min().unwrap_or(0);
    let mut pages: BTreeMap<u64, PageSet> = BTreeMap::new();
    for row in rows.iter().filter(|row| implausible(row).is_none()) {
        if row.op != Op::Trim && row.size_bytes > 0 {
            let end = (row.offset_bytes + row.size_bytes).div_ceil(FOOTPRINT_PAGE_BYTES);
            let pages = pages.entry(row.device).or_default();
            // The sample is too small to spread beyond the capacity of a set.
            let _ = pages.insert(row.offset_bytes / FOOTPRINT_PAGE_BYTES, end);
        }
    }
    let footprint_pages: u64 = pages.values().map(PageSet::count).sum();
    let reads = rows.iter().filter(|row| row.op == Op::Read).count();
    format!(
        "last {}, touch {:.1} MiB, {reads} of {} read",
        seconds(duration_ns),
        footprint_pages as f64 * FOOTPRINT_PAGE_BYTES as f64 / (1 << 20) as f64,
        rows.len()
    )
}

/// A duration that a person can weigh.
fn seconds(ns: u64) -> String {
    let s = ns as f64 / 1e9;
    if s >= 172_800.0 {
        format!("{:.1} days", s / 86_400.0)
    } else if s >= 1.0 {
        format!("{s:.3} s")
    } else {
        format!("{:.3} ms", s * 1e3)
    }
}

fn ambiguous(source: &str, sample: &[&[u8]], candidates: &[&FormatInfo]) -> TraceError {
    let names = candidates.iter().flat_map(|info| info.names);
    let mut help = String::from(
        "pass `--format` with one of these (or name the columns with `csv:...`); the first \
         rows would then",
    );
    for (name, make) in names {
        help.push_str(&format!("\n{name:<12} {}", implied(&make(), sample)));
    }
    let shown: Vec<&str> = candidates.iter().map(|info| info.name).collect();
    let shown = shown.join(", ");
    let message = match candidates {
        [_] => format!("the format is not certain: these columns would fit {shown}"),
        _ => format!("the format is ambiguous: these columns would fit {shown}"),
    };
    let mut error = TraceError::new(source, message);
    error.text = sample.first().map(|line| String::from_utf8_lossy(line).into());
    error.help(help)
}
