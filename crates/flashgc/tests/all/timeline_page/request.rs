//! The lines of a `requests` block: `10 us  read 5..7`, `0 us  write 512 B at 5 + 1 KiB`; and
//! `0 us  write high 5` for a request of high priority, `0 us  write fua 5` for one with forced
//! unit access, `0 us  flush` for a flush.

use flashgc::workload::{HostOp, HostRequest};
use flashgc_config::units::{parse_bytes, parse_duration_ns};

/// A request with the words that name it.
#[derive(Clone)]
pub struct Requested {
    pub words: String,
    pub request: HostRequest,
}

/// One line. A time is a number and a unit; without one the request comes at 0.
pub fn parse(line: &str, page_bytes: u64) -> Result<Requested, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_op = |word: &&str| matches!(*word, "read" | "write" | "trim" | "flush");
    let Some(at) = words.iter().position(is_op) else {
        return Err(format!("`{line}` has no read, write, trim or flush"));
    };
    let time = words[..at].join(" ");
    let at_ns = if time.is_empty() { 0 } else { parse_duration_ns(&time)? };
    if words[at] == "flush" {
        return Ok(Requested { words: "flush".into(), request: HostRequest::flush(at_ns) });
    }
    let op = match words[at] {
        "read" => HostOp::Read,
        "write" => HostOp::Write,
        _ => HostOp::Trim,
    };
    let mark = words.get(at + 1).copied();
    let (high, fua) = (mark == Some("high"), mark == Some("fua"));
    let rest = words[at + 1 + usize::from(high || fua)..].join(" ");
    let (offset, bytes) = match rest.split_once(" at ") {
        Some((size, place)) => {
            let (first, inside) = place.split_once('+').unwrap_or((place, "0 B"));
            let inside = parse_bytes(inside.trim())?;
            (u64::from(number(first)?) * page_bytes + inside, parse_bytes(size)?)
        }
        None => {
            let (first, last) = range(&rest)?;
            (u64::from(first) * page_bytes, u64::from(last - first + 1) * page_bytes)
        }
    };
    let request = HostRequest::from_bytes(at_ns, op, offset, bytes, page_bytes);
    let request = HostRequest { high, fua, ..request };
    Ok(Requested { words: words[at..].join(" "), request })
}

/// `5`, or `5..7` for the pages 5, 6 and 7.
pub fn range(text: &str) -> Result<(u32, u32), String> {
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    if first > last {
        return Err(format!("`{text}` runs backwards"));
    }
    Ok((first, last))
}

fn number(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not the number of a page"))
}
