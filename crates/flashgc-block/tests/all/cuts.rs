//! Losses of power at any moment: the drive is rebuilt from its store, every page is a version that
//! may be there, and the drive runs on.

use crate::common::{Choices, SLOTS, opening_of, setup_or_none};
use crate::stores::file;
use crate::versions::Versions;
use flashgc::config::presets::scheme_names;
use flashgc::session::Setup;
use flashgc::verify::{Happened, Listener};
use flashgc::workload::{HostOp, HostRequest};
use flashgc_block::power::Power;
use flashgc_block::recovery::{IsNewer, by_sequence};
use flashgc_block::{Backing, Engine, Making, Opening, cut, open};
use std::collections::BTreeMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

/// Small pages, so that a drive is read in little time. Losses happen step by step.
const SMALL: &[&str] = &["device.page_size=\"512 B\"", "engine.coalesce=false"];

/// Settings of the devices.
const DEVICES: &[&[&str]] = &[
    &[],
    &["device.unit=\"die\"", "device.service=[\"gc\",\"reads\",\"writes\"]"],
    &["device.unit=\"chip\"", "device.allocation=\"dynamic\""],
    &["device.unit=\"die\"", "device.multi_plane=2", "device.allocation=\"dynamic\""],
    &["device.write_buffer.size=\"8 KiB\"", "device.host_link.transfer=\"1 ns/B\""],
    &["device.write_buffer={size=\"8 KiB\",power_loss_protection=false}"],
    &["gc.copy.use=\"bus\"", "device.timing.layer_ratio=2.5"],
    &["device.allocation=\"when-idle\""],
    &["device.unit=\"die\"", "device.summary={pages=1,copies=\"timed\"}"],
    &[
        "device.write_buffer.size=\"16 KiB\"",
        "precondition.overwrite=1.0",
        "precondition.overwrite_with=\"uniform\"",
    ],
    &["device.timing.erase=\"100 us\"", "precondition.fill=\"none\""],
    &["device.failures={program=2e-3,erase=2e-2}"],
    &["device.failures={program=1e-2}", "device.write_buffer.size=\"8 KiB\""],
    &["device.failures={program=1e-3,erase=0.3}", "device.allocation=\"dynamic\""],
    &[
        "device.failures={program=1e-3,erase=0.3}",
        "device.allocation=\"dynamic\"",
        "device.write_buffer.size=\"8 KiB\"",
    ],
    &["device.write_completion=\"loaded\"", "device.write_buffer.size=\"8 KiB\""],
    &[
        "device.write_completion=\"loaded\"",
        "device.write_buffer={size=\"8 KiB\",power_loss_protection=false}",
    ],
    SUPERBLOCKS,
];

/// Settings of small devices whose flash pages have several mapped units.
const SMALL_SLOTS: &[&str] = &["device.page_size=\"2 KiB\"", "device.mapping_unit=\"512 B\""];

/// Settings of devices with slots.
const SLOT_DEVICES: &[&[&str]] = &[
    &[],
    &["device.write_buffer.size=\"32 KiB\""],
    &["device.write_buffer={size=\"32 KiB\",power_loss_protection=false}"],
    &["device.write_buffer={size=\"16 KiB\",power_loss_protection=false}"],
    SUPERBLOCKS,
];

/// Blocks of the whole drive.
const SUPERBLOCKS: &[&str] = &[
    "device.superblock=\"drive\"",
    "gc.placement.use=\"separate-gc\"",
    "gc.copy.use=\"bus\"",
    "device.unit=\"die\"",
    "device.sub_blocks=1",
    "device.registers=1",
    "gc.trigger.watermark.soft=\"2 blocks\"",
];

const FOR_SUPERBLOCKS: &[&str] = &["greedy", "fifo", "cost-benefit", "d-choices"];

/// A listener of the engine that cuts the power.
struct Plug {
    /// Reports until then.
    left: u64,
    is_cut: bool,
    power: Option<Power>,
    is_read_only: bool,
}

fn through(plug: &Arc<Mutex<Plug>>, mut listener: Listener) -> Listener {
    let plug = Arc::clone(plug);
    Box::new(move |now_ns, happened| {
        let mut held = plug.lock().expect("the plug");
        held.is_cut |= held.left == 0;
        if held.is_cut {
            drop(held);
            // Without a message: nothing is wrong.
            resume_unwind(Box::new(()));
        }
        held.left -= 1;
        held.is_read_only |= matches!(happened, Happened::BecomesReadOnly);
        if let Some(power) = &mut held.power {
            power.observe(now_ns, happened);
        }
        drop(held);
        listener(now_ns, happened);
    })
}

/// Counts over the histories.
#[derive(Debug, Default)]
struct Met {
    cuts: u64,
    stops: u64,
    programs: u64,
    erases: u64,
    early_erases: u64,
    in_making: u64,
    read_only: u64,
    older: u64,
    by_device: BTreeMap<String, u64>,
}

/// A drive and its clients.
struct History<'a> {
    setup: &'a dyn Fn() -> Setup,
    file: File,
    choices: Choices,
    versions: Versions,
    is_newer: IsNewer,
    /// It was never made to its end.
    is_new: bool,
    /// It takes no further write, and never will.
    is_read_only: bool,
}

fn page_bytes(setup: &Setup) -> u64 {
    u64::from(setup.plan.geometry.shape.page_bytes)
}

impl History<'_> {
    /// The drive, unless the power is lost while it is made.
    fn open(&mut self, plug: &Arc<Mutex<Plug>>) -> Result<Option<Engine>, String> {
        let file = Box::new(self.file.try_clone().expect("a file"));
        let backing = Backing::Store { file, name: "store".into() };
        let verify = self.choices.below(4) == 0;
        let setup = (self.setup)();
        let plan = setup.plan.clone();
        let opening = Opening { backing, verify, ..opening_of(setup) };
        let is_newer = self.is_newer;
        let made = catch_unwind(AssertUnwindSafe(|| {
            let through = Box::new(|listener| through(plug, listener));
            open(opening, Making { goes_on: &mut |_| true, through, is_newer })
        }));
        let mut held = plug.lock().expect("the plug");
        match made {
            _ if held.is_cut => Ok(None),
            Ok(Ok((engine, found))) => {
                if found.is_some_and(|found| found.is_read_only != self.is_read_only) {
                    return Err(format!("read-only: it was {}", self.is_read_only));
                }
                held.power = Some(Power::new(&plan, &engine.map()));
                Ok(Some(engine))
            }
            Ok(Err(error)) => Err(format!("it does not open: {error}")),
            Err(_) => Err("it does not open: a panic".into()),
        }
    }

    /// Reads the whole drive, and compares each page with the versions that may be there.
    fn compare(&mut self, engine: &mut Engine) -> Result<u64, String> {
        let page = self.versions.page_bytes() as u64;
        let mut older = 0;
        for lpn in 0..self.versions.pages() {
            let request =
                HostRequest::from_bytes(0, HostOp::Read, u64::from(lpn) * page, page, page);
            let found = engine.serve_at_once(request, vec![0; page as usize]);
            let found = found.map_err(|error| format!("page {lpn}: {error}"))?;
            older += u64::from(self.versions.is_found(lpn, &found)?);
        }
        Ok(older)
    }

    /// Random requests of several clients, until the power is lost or they rest.
    fn serve(&mut self, engine: &mut Engine, requests: u64) -> Result<(), String> {
        let depth = 1 + self.choices.below(12) as usize;
        let gap_ns = [500, 20_000, 300_000][self.choices.below(3) as usize];
        let mut under_way = BTreeMap::new();
        for _ in 0..requests {
            let (request, data) = self.versions.request(&mut self.choices);
            let at_ns = engine.now_ns() + 1 + self.choices.below(gap_ns);
            let came = engine.comes(request, data, at_ns).map_err(|error| error.to_string());
            let number = self.versions.comes(&request);
            under_way.insert(came?.0, number);
            loop {
                let mut done = Vec::new();
                engine.done(|ticket| done.push(ticket));
                for ticket in done {
                    let done = engine.take(ticket).expect("it is done");
                    if let Some(error) = done.failed {
                        return Err(format!("a request has failed: {error}"));
                    }
                    self.versions.done(under_way.remove(&ticket).expect("it was under way"));
                }
                if under_way.len() < depth {
                    break;
                }
                let next_ns = engine.next_ns().unwrap_or(engine.now_ns() + 1);
                engine.run_to(next_ns).map_err(|error| error.to_string())?;
            }
            if self.choices.below(100) == 0 {
                let rest_ns = engine.now_ns() + 5_000_000;
                engine.run_to(rest_ns).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// From one start of the drive to its end.
    fn life(&mut self, met: &mut Met) -> Result<(), String> {
        let events = [300, 3_000, 12_000][self.choices.below(3) as usize];
        let left = if self.choices.below(12) == 0 { self.choices.below(60) } else { u64::MAX };
        let plug = Plug { left, is_cut: false, power: None, is_read_only: false };
        let plug = Arc::new(Mutex::new(plug));
        let lived = self.live(&plug, events, met);
        // A drive that was cut while it was new is made again.
        if !self.is_new && plug.lock().expect("the plug").is_read_only {
            self.is_read_only = true;
            met.read_only += 1;
        }
        lived
    }

    fn live(&mut self, plug: &Arc<Mutex<Plug>>, events: u64, met: &mut Met) -> Result<(), String> {
        let Some(mut engine) = self.open(plug)? else {
            met.cuts += 1;
            met.in_making += 1;
            if self.is_new {
                self.file.set_len(0).expect("an empty file");
            }
            return Ok(());
        };
        self.is_new = false;
        plug.lock().expect("the plug").left = u64::MAX;
        met.older += self.compare(&mut engine)?;
        let left = 1 + self.choices.below(events);
        plug.lock().expect("the plug").left = left;
        let requests = if self.choices.below(4) == 0 { left / 40 } else { left };
        let served = self.serve(&mut engine, requests);
        let mut held = plug.lock().expect("the plug");
        if !held.is_cut {
            served?;
            if self.choices.below(2) == 0 {
                held.left = u64::MAX;
                drop(held);
                engine.end(0, Vec::new()).map_err(|error| error.to_string())?;
                self.versions.is_stopped();
                met.stops += 1;
                return Ok(());
            }
        }
        drop(engine);
        if let Some(power) = held.power.take() {
            let (programs, erases) = power.under_way();
            met.programs += programs as u64;
            met.erases += erases as u64;
            met.early_erases += power.early_erases;
            let choices = &mut self.choices;
            let file = self.file.try_clone().expect("a file");
            let plan = (self.setup)().plan;
            cut(&power, &plan, Box::new(file), |bound| choices.below(bound)).expect("a cut");
        }
        met.cuts += 1;
        Ok(())
    }
}

/// A random drive through several losses of power. An error if a page has another version than the
/// allowed ones.
fn history(seed: u64, is_newer: IsNewer, met: &mut Met) -> Result<(), String> {
    let mut choices = Choices::new(seed);
    let has_slots = choices.below(3) == 0;
    let devices = if has_slots { SLOT_DEVICES } else { DEVICES };
    let device = devices[choices.below(devices.len() as u64) as usize];
    let schemes = if device == SUPERBLOCKS { FOR_SUPERBLOCKS.to_vec() } else { scheme_names() };
    let scheme = schemes[choices.below(schemes.len() as u64) as usize];
    let scheme_key = format!("gc.scheme=\"{scheme}\"");
    let slots = if has_slots { [SLOTS, SMALL_SLOTS].concat() } else { Vec::new() };
    let sets = [SMALL, &[scheme_key.as_str()], &slots, device].concat();
    if setup_or_none(&sets).is_none() {
        return Ok(());
    }
    let cuts = met.cuts;
    lives(&sets, choices, is_newer, met).map_err(|why| format!("seed {seed}, {why}"))?;
    *met.by_device.entry([&slots[..], device].concat().concat()).or_default() += met.cuts - cuts;
    Ok(())
}

/// A drive through several losses of power.
fn lives(sets: &[&str], choices: Choices, is_newer: IsNewer, met: &mut Met) -> Result<(), String> {
    let setup = setup_or_none(sets).expect("a setup");
    let buffer = setup.plan.write_buffer;
    let is_volatile = buffer.is_some_and(|buffer| !buffer.is_protected);
    let pages = setup.plan.geometry.exported_pages;
    let mut history = History {
        setup: &|| setup_or_none(sets).expect("a setup"),
        file: file(),
        versions: Versions::new(pages, page_bytes(&setup) as usize, is_volatile),
        choices,
        is_newer,
        is_new: true,
        is_read_only: false,
    };
    for life in 0..8 {
        history.life(met).map_err(|why| format!("life {life}, {sets:?}: {why}"))?;
    }
    Ok(())
}

fn number_of(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// `make cuts COUNT=100000 SEED=1` for the long form.
#[test]
fn what_was_flushed_is_there_and_nothing_stale_comes_back() {
    let count = number_of("FLASHGC_CUTS").unwrap_or(400);
    let is_long = count > 1_000;
    let first = number_of("FLASHGC_SEED").unwrap_or(1) << 32;
    let mut seed = number_of("FLASHGC_ONE").unwrap_or(first);
    let mut met = Met::default();
    while met.cuts < count {
        if let Err(why) = history(seed, by_sequence, &mut met) {
            panic!("{why}");
        }
        seed += 1;
    }
    assert!(met.programs > met.cuts / 20 && met.erases > met.cuts / 50, "{met:?}");
    assert!(met.older > 0 && met.stops > 0, "{met:?}");
    if is_long {
        assert!(met.read_only > 0, "{met:?}");
        let text = format!("{met:#?}\n");
        std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes()).expect("stderr");
    }
}

/// Without the numbers of writes, an older version comes back.
#[test]
fn a_recovery_without_numbers_is_found() {
    let last_found: IsNewer = |_, _| true;
    let mut met = Met::default();
    let found = (1..40).find_map(|seed| history(seed, last_found, &mut met).err());
    let why = found.expect("an older version came back");
    assert!(why.contains("an older version"), "{why}");
}

/// A plane had less than the reserve after a cut, and a collection without the room for its copies
/// began there as soon as the drive was up: no write will ever come to need its space.
#[test]
fn a_drive_that_was_read_only_collects_nothing_without_the_room_for_its_copies() {
    let device = &["device.failures={program=1e-3,erase=0.3}", "device.allocation=\"dynamic\""];
    let sets = [SMALL, &["gc.scheme=\"d-choices\""], device].concat();
    let mut met = Met::default();
    for seed in 4_294_969_213..4_294_969_213 + 24 {
        let mut choices = Choices::new(seed);
        // The device and the scheme were drawn.
        for _ in 0..3 {
            choices.below(1);
        }
        lives(&sets, choices, by_sequence, &mut met).expect("every page is there");
    }
    assert!(met.read_only > 1, "{met:?}");
}
