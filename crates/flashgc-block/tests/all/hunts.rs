//! Two hunts: every write of a store fails in turn, with a kill after it; and any bit of a store is
//! flipped, or the file is cut. Nothing that was answered is lost, and nothing is wrong in silence.

use crate::common::{Choices, opening_of, setup_or_none};
use crate::failing::{Calls, FAULTS, Failing, Fault};
use crate::stores::file;
use crate::versions::Versions;
use flashgc::config::presets::scheme_names;
use flashgc::session::Setup;
use flashgc::workload::{HostOp, HostRequest};
use flashgc_block::medium::Medium;
use flashgc_block::recovery::by_sequence;
use flashgc_block::{Backing, DriveError, Engine, Making, Opening, open};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

/// A small drive, which reads in little time.
const SMALL: &[&str] = &["device.page_size=\"512 B\"", "device.blocks_per_plane=16"];

/// The three kinds of buffers.
const BUFFERS: [&[&str]; 3] = [
    &[],
    &["device.write_buffer.size=\"8 KiB\""],
    &["device.write_buffer={size=\"8 KiB\",power_loss_protection=false}"],
];

/// A drive of a seed and of a kind of buffer, if there is one.
fn sets_of(seed: u64, buffer: usize) -> Option<Vec<String>> {
    let schemes = scheme_names();
    let scheme = format!("gc.scheme=\"{}\"", schemes[seed as usize % schemes.len()]);
    let unit = ["device.unit=\"plane\"", "device.unit=\"die\""][seed as usize / 2 % 2];
    let sets: Vec<&str> = [SMALL, &[&scheme, unit], BUFFERS[buffer]].concat();
    setup_or_none(&sets)?;
    Some(sets.into_iter().map(String::from).collect())
}

fn setup(sets: &[String]) -> Setup {
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    setup_or_none(&sets).expect("a setup")
}

fn opened(sets: &[String], medium: Box<dyn Medium>) -> Result<(Engine, Vec<String>), DriveError> {
    let backing = Backing::Store { file: medium, name: "the.store".into() };
    let opening = Opening { backing, verify: false, ..opening_of(setup(sets)) };
    let through = Box::new(|listener| listener);
    let making = Making { goes_on: &mut |_| true, through, is_newer: by_sequence };
    let (engine, found) = open(opening, making)?;
    Ok((engine, found.map(|found| found.damage).unwrap_or_default()))
}

/// A drive with a past, as the bytes of its file.
#[derive(Clone)]
struct Past {
    bytes: Vec<u8>,
    versions: Versions,
}

fn bytes_of(file: &File) -> Vec<u8> {
    let mut bytes = vec![0; file.metadata().expect("a length").len() as usize];
    file.read_exact_at(&mut bytes, 0).expect("the file");
    bytes
}

/// A file with these bytes and holes.
fn file_of(bytes: &[u8]) -> File {
    let file = file();
    file.set_len(bytes.len() as u64).expect("a length");
    for (at, chunk) in (0..).step_by(4096).zip(bytes.chunks(4096)) {
        if chunk.iter().any(|&byte| byte != 0) {
            file.write_all_at(chunk, at).expect("a chunk");
        }
    }
    file
}

/// A life of a drive.
struct Life<'a> {
    engine: Engine,
    versions: &'a mut Versions,
    choices: Choices,
    /// Requests under way.
    sent: BTreeMap<u32, crate::versions::Sent>,
    /// Requests that were refused or failed.
    failed: u64,
}

impl Life<'_> {
    /// Reads a page: its data is one of the versions that may be there.
    fn reads(&mut self, lpn: u32) -> Result<(), String> {
        let found = self.read(lpn).map_err(|why| format!("page {lpn}: {why}"))?;
        self.versions.may_be(lpn, &found)
    }

    /// Reads a page, every third one in two parts.
    fn read(&mut self, lpn: u32) -> Result<Vec<u8>, DriveError> {
        let page = self.versions.page_bytes() as u64;
        let end = u64::from(lpn + 1) * page;
        let middle = if lpn % 3 == 1 { end - 1 - u64::from(lpn) % (page - 1) } else { end };
        let mut found = Vec::new();
        for (from, to) in [(end - page, middle), (middle, end)] {
            if from < to {
                let request = HostRequest::from_bytes(0, HostOp::Read, from, to - from, page);
                let part = self.engine.serve_at_once(request, vec![0; (to - from) as usize]);
                self.take_done();
                found.extend(part?);
            }
        }
        Ok(found)
    }

    fn take_done(&mut self) {
        let mut done = Vec::new();
        self.engine.done(|ticket| done.push(ticket));
        for ticket in done {
            let Some(sent) = self.sent.remove(&ticket) else { continue };
            let done = self.engine.take(ticket).expect("it is done");
            match done.failed {
                None => self.versions.done(sent),
                Some(_) => self.failed += 1,
            }
        }
    }

    /// Random requests of several clients.
    fn serve(&mut self, requests: u64) -> Result<(), String> {
        for _ in 0..requests {
            let (request, data) = self.versions.request(&mut self.choices);
            if self.engine.admits(&request).is_err() {
                self.failed += 1;
                continue;
            }
            let at_ns = self.engine.now_ns() + 1 + self.choices.below(200_000);
            let sent = self.versions.comes(&request);
            let came = self.engine.comes(request, data, at_ns).map_err(|error| error.to_string());
            self.sent.insert(came?.0, sent);
            self.take_done();
            while self.sent.len() >= 4 {
                let next_ns = self.engine.next_ns().unwrap_or(self.engine.now_ns() + 1);
                self.engine.run_to(next_ns).map_err(|error| error.to_string())?;
                self.take_done();
            }
            if self.choices.below(4) == 0 {
                let lpn = self.choices.below(u64::from(self.versions.pages())) as u32;
                self.reads(lpn)?;
            }
        }
        Ok(())
    }

    /// The drive is stopped, with all that was sent. Returns the notes of its report.
    fn stop(mut self) -> Result<String, String> {
        let end_ns = self.engine.now_ns() + 50_000_000;
        self.engine.run_to(end_ns).map_err(|error| error.to_string())?;
        self.take_done();
        let report = self.engine.end(0, Vec::new()).map_err(|error| error.to_string())?;
        Ok(report.to_json()["notes"].to_string())
    }
}

fn lives<'a>(
    sets: &[String],
    medium: Box<dyn Medium>,
    versions: &'a mut Versions,
    choices: Choices,
) -> Result<Life<'a>, String> {
    let (engine, _) = opened(sets, medium).map_err(|error| error.to_string())?;
    Ok(Life { engine, versions, choices, sent: BTreeMap::new(), failed: 0 })
}

/// A drive that was stopped or killed after some requests.
fn past(sets: &[String], seed: u64, requests: u64, is_stopped: bool) -> Past {
    let (file, plan) = (file(), setup(sets).plan);
    let is_volatile = plan.write_buffer.is_some_and(|buffer| !buffer.is_protected);
    let geometry = &plan.geometry;
    let page_bytes = geometry.shape.page_bytes as usize;
    let mut versions = Versions::new(geometry.exported_pages, page_bytes, is_volatile);
    let medium = Box::new(file.try_clone().expect("a file"));
    let life = lives(sets, medium, &mut versions, Choices::new(seed));
    let mut life = life.expect("a drive");
    life.serve(requests).expect("requests");
    if is_stopped {
        life.stop().expect("a stop");
        versions.is_stopped();
    }
    Past { bytes: bytes_of(&file), versions }
}

/// Every page is a version that may be there, and stays so.
fn compare(life: &mut Life<'_>) -> Result<(), String> {
    for lpn in 0..life.versions.pages() {
        let found = life.read(lpn).map_err(|error| format!("page {lpn}: {error}"))?;
        life.versions.is_found(lpn, &found)?;
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Saves {
    histories: u64,
    failed_saves: u64,
    refused: u64,
    read_only: u64,
    by_buffer: [u64; 3],
    by_fault: [u64; 4],
    stops: u64,
}

/// A drive whose store fails at a call, until it is killed or stopped, and then starts again.
fn failed_save(
    sets: &[String],
    past: &Past,
    seed: u64,
    calls: &Arc<Mutex<Calls>>,
    met: &mut Saves,
) -> Result<(), String> {
    let mut versions = past.versions.clone();
    let file = file_of(&past.bytes);
    let medium = Failing { file: file.try_clone().expect("a file"), calls: Arc::clone(calls) };
    let mut life = lives(sets, Box::new(medium), &mut versions, Choices::new(seed))?;
    // Versions that have vanished with the power are gone from now on.
    compare(&mut life)?;
    life.serve(60)?;
    let has_failed = calls.lock().expect("calls").has_failed;
    let page = life.versions.page_bytes();
    if has_failed {
        met.read_only += 1;
        let write = HostRequest::from_bytes(0, HostOp::Write, 0, page as u64, page as u64);
        let Err(error) = life.engine.admits(&write) else {
            return Err("the drive takes a write after a failed save".into());
        };
        let why = error.to_string();
        let contains = |part| why.contains(part);
        if !(contains("read-only") && contains("the.store") && contains("start the server again")) {
            return Err(format!("it says {why:?}"));
        }
        if life.engine.serve_at_once(HostRequest::flush(0), Vec::new()).is_ok() {
            return Err("a flush is done after a failed save".into());
        }
        // Versions that are in memory alone count as well.
        for lpn in 0..life.versions.pages() {
            life.reads(lpn)?;
        }
    }
    met.refused += life.failed;
    let fault = calls.lock().expect("calls").fault;
    // Only a stop synchronises.
    if fault == Fault::Sync || seed.is_multiple_of(8) {
        met.stops += 1;
        let notes = life.stop()?;
        let has_failed = calls.lock().expect("calls").has_failed;
        if has_failed != notes.contains("its store cannot be written") {
            return Err(format!("a failed save: {has_failed}, and the report says {notes}"));
        }
        if !has_failed {
            versions.is_stopped();
        }
    } else {
        drop(life);
    }
    // The disk takes everything again.
    for _ in 0..2 {
        let medium = Box::new(file.try_clone().expect("a file"));
        let mut life = lives(sets, medium, &mut versions, Choices::new(seed ^ 1))?;
        compare(&mut life)?;
        life.serve(10)?;
        life.stop()?;
        versions.is_stopped();
    }
    let calls = calls.lock().expect("calls");
    met.failed_saves += u64::from(calls.has_failed);
    Ok(())
}

fn number_of(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// `make saves COUNT=10000` for the long form.
#[test]
fn what_was_answered_is_there_after_a_save_that_failed() {
    let count = number_of("FLASHGC_SAVES").unwrap_or(300);
    // Every call in turn in the long form.
    let step = if count > 1_000 { 1 } else { 17 };
    let first = number_of("FLASHGC_SEED").unwrap_or(1);
    let mut met = Saves::default();
    'all: for seed in first.. {
        for buffer in 0..BUFFERS.len() {
            let Some(sets) = sets_of(seed, buffer) else { continue };
            // A new store grows with its first requests.
            let requests = if seed.is_multiple_of(2) { 0 } else { 150 };
            let past = past(&sets, seed, requests, seed.is_multiple_of(3));
            let whole = Calls::new(Fault::Sync, u64::MAX, false);
            failed_save(&sets, &past, seed, &whole, &mut Saves::default())
                .unwrap_or_else(|why| panic!("without a fault, seed {seed}, {sets:?}: {why}"));
            let (writes, syncs) = {
                let calls = whole.lock().expect("calls");
                (calls.writes, calls.syncs)
            };
            for (kind, &fault) in FAULTS.iter().enumerate() {
                let (calls, step) = match fault {
                    Fault::Sync => (syncs, 1),
                    _ => (writes, step),
                };
                let each = (1 + seed.wrapping_mul(7) % step..=calls).step_by(step as usize);
                for at in each {
                    // Each call fails for a moment with one fault, and for good with the others.
                    let calls = Calls::new(fault, at, !(at + kind as u64).is_multiple_of(3));
                    let history = failed_save(&sets, &past, seed * 1_000 + at, &calls, &mut met);
                    history.unwrap_or_else(|why| {
                        panic!("seed {seed}, {fault:?} at call {at}, {sets:?}: {why}")
                    });
                    met.histories += 1;
                    met.by_buffer[buffer] += 1;
                    met.by_fault[kind] += 1;
                }
            }
        }
        if met.histories >= count {
            break 'all;
        }
    }
    let most = met.histories;
    assert!(met.failed_saves > most * 3 / 4 && met.read_only > most / 3, "{met:?}");
    assert!(met.by_buffer.iter().all(|&count| count > most / 10), "{met:?}");
    assert!(met.by_fault.iter().all(|&count| count > 0) && met.refused > most, "{met:?}");
    notify(&met, count > 1_000);
}

fn notify(met: &dyn std::fmt::Debug, is_long: bool) {
    if is_long {
        let text = format!("{met:#?}\n");
        std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes()).expect("stderr");
    }
}

#[derive(Debug, Default)]
struct Damages {
    flips: u64,
    cuts: u64,
    refused: u64,
    mended: u64,
    lost_pages: u64,
    without_effect: u64,
}

/// A byte of a file: one of those that are not zero, or any.
fn place(bytes: &[u8], choices: &mut Choices) -> usize {
    let at = choices.below(bytes.len() as u64) as usize;
    if choices.below(4) == 0 {
        return at;
    }
    let next = bytes[at..].iter().position(|&byte| byte != 0);
    next.map_or(at, |next| at + next)
}

/// Reads all pages. Reads of lost ones are errors, with the place in the file.
fn lost_pages(life: &mut Life<'_>) -> Result<Vec<u32>, String> {
    let mut lost = Vec::new();
    for lpn in 0..life.versions.pages() {
        match life.read(lpn) {
            Ok(found) => drop(life.versions.is_found(lpn, &found)?),
            Err(error) if error.to_string().contains("the.store, bytes ") => lost.push(lpn),
            Err(error) => return Err(format!("page {lpn} says {error}")),
        }
    }
    Ok(lost)
}

/// One bit of the heads, of a table or of the data: each part of the file is as likely as its
/// bytes that are not zero, and tables are chosen more often.
fn damaged(
    sets: &[String],
    past: &Past,
    choices: &mut Choices,
    met: &mut Damages,
) -> Result<(), String> {
    let mut bytes = past.bytes.clone();
    let is_cut = choices.below(4) == 0;
    let (at, what);
    if is_cut {
        at = 1 + choices.below(bytes.len() as u64 - 1) as usize;
        bytes.truncate(at);
        (what, met.cuts) = ("cut", met.cuts + 1);
    } else {
        at = place(&bytes, choices);
        bytes[at] ^= 1 << choices.below(8);
        (what, met.flips) = ("flipped", met.flips + 1);
    }
    let (mut versions, file) = (past.versions.clone(), file_of(&bytes));
    let wrong = |why: String| format!("{what} at byte {at}: {why}");
    let opened = opened(sets, Box::new(file.try_clone().expect("a file")));
    let (engine, damage) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let why = error.to_string();
            let is_reported = why.contains("= help: ") && why.contains("the.store");
            let is_bad = why.contains("whole buffer") || why.contains("make space");
            met.refused += 1;
            return if is_cut && is_reported && !is_bad { Ok(()) } else { Err(wrong(why)) };
        }
    };
    if is_cut {
        return Err(wrong("it opens".into()));
    }
    let sent = BTreeMap::new();
    let choices = Choices::new(at as u64);
    let mut life = Life { engine, versions: &mut versions, choices, sent, failed: 0 };
    let lost = lost_pages(&mut life).map_err(wrong)?;
    met.lost_pages += lost.len() as u64;
    met.mended += u64::from(damage.iter().any(|damage| damage.contains("has been mended")));
    met.without_effect += u64::from(lost.is_empty() && damage.is_empty());
    if lost.len() > 1 {
        return Err(wrong(format!("pages {lost:?} are lost")));
    }
    // Written again, the page can be read.
    let page = life.versions.page_bytes() as u64;
    for &lpn in &lost {
        let offset = u64::from(lpn) * page;
        let request = HostRequest::from_bytes(0, HostOp::Write, offset, page, page);
        let data = life.versions.writes(&request);
        let sent = life.versions.comes(&request);
        let written = life.engine.serve_at_once(HostRequest { fua: true, ..request }, data);
        written.map_err(|error| wrong(error.to_string()))?;
        life.versions.done(sent);
    }
    life.serve(30).map_err(wrong)?;
    compare(&mut life).map_err(wrong)?;
    life.stop().map_err(wrong)?;
    versions.is_stopped();
    // Repaired parts are whole again.
    let medium = Box::new(file.try_clone().expect("a file"));
    let again = self::opened(sets, medium).map_err(|error| wrong(error.to_string()))?;
    let (engine, damage) = again;
    if !damage.is_empty() {
        return Err(wrong(format!("the second start says {damage:?}")));
    }
    let (sent, choices) = (BTreeMap::new(), Choices::new(1));
    compare(&mut Life { engine, versions: &mut versions, choices, sent, failed: 0 }).map_err(wrong)
}

/// `make damages COUNT=2000` for the long form.
#[test]
fn no_damage_of_a_store_is_silent() {
    let count = number_of("FLASHGC_DAMAGES").unwrap_or(200);
    let first = number_of("FLASHGC_SEED").unwrap_or(1);
    let mut met = Damages::default();
    for seed in first.. {
        for (buffer, is_stopped) in (0..BUFFERS.len()).flat_map(|at| [(at, true), (at, false)]) {
            let Some(sets) = sets_of(seed, buffer) else { continue };
            let past = past(&sets, seed, 200, is_stopped);
            let mut choices = Choices::new(seed * 10 + buffer as u64);
            for turn in 0..10 {
                let seen = damaged(&sets, &past, &mut choices, &mut met);
                seen.unwrap_or_else(|why| {
                    panic!("seed {seed}, turn {turn}, stopped: {is_stopped}, {sets:?}: {why}")
                });
            }
        }
        if met.flips + met.cuts >= count {
            break;
        }
    }
    assert!(met.cuts > count / 8 && met.refused == met.cuts, "{met:?}");
    assert!(met.mended > count / 20 && met.lost_pages > count / 20, "{met:?}");
    notify(&met, count > 1_000);
}
