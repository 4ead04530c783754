//! A page: its blocks in order, run and compared.

use super::render;
use super::run::{Example, Seen};

/// The settings that every page starts from.
pub struct Base(String);

impl Base {
    /// The first `toml` block of the index.
    pub fn of_readme(text: &str) -> Base {
        let parts = split(text);
        let block = parts.iter().find(|part| part.kind.as_deref() == Some("toml"));
        Base(block.expect("README.md has a toml block").lines.join("\n"))
    }
}

/// A wrong statement of a page.
pub struct Wrong {
    pub text: String,
    /// Whether writing the result into the page solves it.
    pub blessable: bool,
}

pub struct Outcome {
    pub errors: Vec<Wrong>,
    /// The page as it should be.
    pub blessed: String,
    /// Examples that ran.
    pub runs: usize,
}

/// The blocks that the results of an example are compared with.
const OUTPUTS: [&str; 9] = [
    "timeline",
    "phases",
    "figure",
    "latency",
    "parts",
    "blocks",
    "blocks before",
    "counts",
    "error",
];

/// A run of lines: text, or a fenced block.
struct Part {
    kind: Option<String>,
    first_line: usize,
    lines: Vec<String>,
}

fn split(text: &str) -> Vec<Part> {
    let mut parts = vec![Part { kind: None, first_line: 1, lines: Vec::new() }];
    let mut fenced = false;
    for (at, line) in text.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            fenced = !fenced;
            let kind = fenced.then(|| info.trim().to_string());
            parts.push(Part { kind, first_line: at + 2, lines: Vec::new() });
        } else if let Some(part) = parts.last_mut() {
            part.lines.push(line.to_string());
        }
    }
    assert!(!fenced, "a fenced block has no end");
    parts
}

fn join(parts: &[Part]) -> String {
    let mut text = String::new();
    let mut fenced = false;
    for part in parts {
        if let Some(kind) = &part.kind {
            text.push_str(&format!("```{kind}\n"));
        } else if fenced {
            text.push_str("```\n");
        }
        fenced = part.kind.is_some();
        for line in &part.lines {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// Runs a page.
pub fn check(name: &str, text: &str, base: &Base) -> Outcome {
    let mut parts = split(text);
    let mut example = Example { base: base.0.clone(), ..Example::default() };
    let mut seen: Option<Seen> = None;
    let (mut errors, mut runs) = (Vec::new(), 0);
    if name == "README.md" {
        // Its blocks are examples of a page.
        return Outcome { errors, blessed: text.to_string(), runs };
    }
    // Where a page shows an error it expects one.
    let may_fail = parts.iter().any(|part| part.kind.as_deref() == Some("error"));
    for part in &mut parts {
        let Some(kind) = part.kind.clone() else { continue };
        let place = format!("docs/timelines/{name}:{}", part.first_line);
        let content: Vec<String> = plain(&part.lines);
        match kind.as_str() {
            "toml" => example.sets.extend(content),
            "before" => example.before = content,
            "requests" => example.requests = content,
            "error" if example.refused().is_some() => {
                runs += 1;
                let why = example.refused().unwrap_or_default();
                let right = why.lines().map(str::to_string).collect();
                settle(&place, part, right, false, &mut errors);
                continue;
            }
            kind if OUTPUTS.contains(&kind) => {
                if seen.is_none() {
                    runs += 1;
                    match example.run() {
                        Ok(what) => {
                            if let Some(why) = what.error.as_ref().filter(|_| !may_fail) {
                                let text = format!("{place}: the example ends early\n{why}");
                                errors.push(Wrong { text, blessable: false });
                            }
                            seen = Some(what);
                        }
                        Err(why) => {
                            let text = format!("{place}: the example does not run\n{why}");
                            errors.push(Wrong { text, blessable: false });
                            break;
                        }
                    }
                }
                if let Some(seen) = &seen {
                    compare(kind, &place, part, seen, &mut errors);
                }
                continue;
            }
            _ => continue,
        }
        seen = None;
    }
    Outcome { errors, blessed: join(&parts), runs }
}

/// The examples of a page that run, each with the line at which its first output block begins.
pub fn examples(text: &str, base: &Base) -> Vec<(usize, Example)> {
    let mut example = Example { base: base.0.clone(), ..Example::default() };
    let (mut found, mut is_new) = (Vec::new(), false);
    for part in split(text) {
        match part.kind.as_deref() {
            None => continue,
            Some("toml") => example.sets.extend(plain(&part.lines)),
            Some("before") => example.before = plain(&part.lines),
            Some("requests") => example.requests = plain(&part.lines),
            Some(kind) if OUTPUTS.contains(&kind) => {
                if is_new && example.refused().is_none() {
                    found.push((part.first_line - 1, example.clone()));
                }
                is_new = false;
                continue;
            }
            Some(_) => continue,
        }
        is_new = true;
    }
    found
}

/// Lines without comments and without empty ones.
fn plain(lines: &[String]) -> Vec<String> {
    let cut = lines.iter().map(|line| line.split(" #").next().unwrap_or("").trim().to_string());
    cut.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

fn is_rule(line: &str) -> bool {
    line.starts_with("gap ") || line.starts_with("length ")
}

fn compare(kind: &str, place: &str, part: &mut Part, seen: &Seen, errors: &mut Vec<Wrong>) {
    let mut right = match kind {
        "timeline" => render::timeline(seen),
        "phases" => render::phases(seen),
        "figure" => render::figure(seen),
        "latency" => render::latency(seen),
        "parts" => render::parts(seen),
        "blocks" => seen.blocks.clone(),
        "blocks before" => seen.blocks_before.clone(),
        "counts" => part.lines.iter().map(|line| counted(line, seen)).collect(),
        _ => seen.error.clone().unwrap_or("none".into()).lines().map(str::to_string).collect(),
    };
    for rule in part.lines.iter().filter(|line| is_rule(line)) {
        if let Err(why) = holds(rule, kind, seen) {
            errors.push(Wrong { text: format!("{place}: {rule}: {why}"), blessable: false });
        }
        right.push(rule.clone());
    }
    settle(place, part, right, matches!(kind, "figure" | "blocks" | "blocks before"), errors);
}

/// Compares a block with the right lines, and replaces it by them.
fn settle(place: &str, part: &mut Part, right: Vec<String>, exact: bool, errors: &mut Vec<Wrong>) {
    let same = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
    let agrees = |(a, b): (&String, &String)| if exact { a == b } else { same(a, b) };
    if part.lines.len() != right.len() || !part.lines.iter().zip(&right).all(agrees) {
        let (shown, does) = (part.lines.join("\n"), right.join("\n"));
        let text = format!("{place}: the page says\n{shown}\n\nand what happens is\n{does}");
        errors.push(Wrong { text, blessable: true });
    }
    part.lines = right;
}

/// A line of `counts` with the value of the run.
fn counted(line: &str, seen: &Seen) -> String {
    let (key, rest) = line.split_once('=').unwrap_or((line, ""));
    let why = rest.split_once('#').map_or(String::new(), |(_, why)| format!("  #{why}"));
    let key = key.trim();
    match render::count(seen, key) {
        Some(value) => format!("{key} = {value}{why}"),
        None => format!("{key}: no such figure"),
    }
}

/// `gap 1 -> 2 = t_program`, from start to start; `length 1 = t_transfer + t_program`.
fn holds(rule: &str, kind: &str, seen: &Seen) -> Result<(), String> {
    let rows = if kind == "phases" { &seen.phases } else { &seen.operations };
    let row = |number: &str| {
        let at = number.trim().parse::<usize>().map_err(|_| format!("`{number}` is no line"))?;
        rows.get(at.wrapping_sub(1)).ok_or_else(|| format!("there is no line {at}"))
    };
    let (left, sum) = rule.split_once('=').ok_or("there is no `=`")?;
    let ns = match left.trim().strip_prefix("gap ").map(|pair| pair.split_once("->")) {
        Some(Some((from, to))) => {
            let (from, to) = (row(from)?.from_ns, row(to)?.from_ns);
            to.checked_sub(from).ok_or("the second begins before the first")?
        }
        Some(None) => return Err("a gap needs two lines, as in `gap 1 -> 2`".into()),
        None => {
            let row = row(left.trim().trim_start_matches("length "))?;
            row.to_ns - row.from_ns
        }
    };
    let expected = render::sum_ns(sum.trim(), &seen.timing)?;
    if ns != expected {
        return Err(format!("{} it is, not {}", render::us(ns), render::us(expected)));
    }
    Ok(())
}
