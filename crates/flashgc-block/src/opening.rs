//! A drive is made: preconditioned, taken from a saved one, or resumed from its store.

use crate::drive::{DriveError, Opening};
use crate::engine::{Engine, Onlookers, lock};
use crate::head;
use crate::kept::{Held, Kept};
use crate::layout::{Bad, Sizes, VERSION};
use crate::medium::Medium;
use crate::pages::{Loss, Pages};
use crate::path::DataPath;
use crate::power::Power;
use crate::record::{Content, Record};
use crate::recovery::{IsNewer, Recovered, Recovery, Saved, recover};
use crate::store::Store;
use crate::watching::Watching;
use flashgc::component::{self, Wrong};
use flashgc::device::Geometry;
use flashgc::drive::{OpenBlock, Role};
use flashgc::ids::{BlockId, Ppn};
use flashgc::plan::Plan;
use flashgc::session::{Options, Origin, Phase, Progress, RunError, SavedDrive};
use flashgc::verify::{Happened, Listener};
use flashgc::workload::{HostOp, HostRequest};
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex};

/// The storage of a drive's data.
pub enum Backing {
    /// In memory, only for written pages.
    Memory,
    /// In a file. An empty file becomes the store of a drive, sparse and with the length of the
    /// drive; from any other one its drive is resumed.
    Store {
        /// The file.
        file: Box<dyn Medium>,
        /// Its name in messages.
        name: String,
    },
}

/// The hooks of [`open`].
pub struct Making<'a> {
    /// Receives the progress, and returns whether to continue.
    pub goes_on: &'a mut dyn FnMut(&Progress) -> bool,
    /// Wraps the listener between the engine and the data.
    pub through: Box<dyn FnOnce(Listener) -> Listener + 'a>,
    /// The comparison of two versions of a page.
    pub is_newer: IsNewer,
}

/// The drive in a store.
struct Resumed {
    origin: Origin,
    recovered: Recovered,
}

fn sizes_of(geometry: &Geometry) -> Sizes {
    Sizes {
        blocks: geometry.blocks,
        pages: geometry.pages,
        page_bytes: geometry.shape.page_bytes,
        logical_pages: geometry.exported_pages,
    }
}

/// The store of an opening, and the drive in it, if it has one.
fn stored(
    file: Box<dyn Medium>,
    name: &str,
    opening: &Opening,
    is_newer: IsNewer,
) -> Result<(Store, Option<Resumed>), DriveError> {
    let wrong = |why: String, help: &str| {
        DriveError::Stopped(format!("error: {why}\n  --> {name}\n  = help: {help}"))
    };
    let plan = &opening.setup.plan;
    let sizes = sizes_of(&plan.geometry);
    let another = "name another file, or remove this one";
    let damaged = "restore the file from a copy, or name another one";
    if !file.is_alone() {
        return Err(wrong("another server has the store".into(), "end it, or name another file"));
    }
    let head = head::find(&*file).map_err(|why| wrong(why, another))?;
    let Some(head::Head { text, version, damaged: damaged_head }) = head else {
        return Ok((Store::new(file, name, sizes).map_err(DriveError::Io)?, None));
    };
    if opening.saved.is_some() {
        return Err(wrong(
            "the store has a drive already, and --drive names another".into(),
            another,
        ));
    }
    let head: Value = serde_json::from_str(&text).unwrap_or_default();
    let origin: Option<Origin> = serde_json::from_value(head["origin"].clone()).ok();
    let (Some(origin), Some(age_ns)) = (origin, head["age_ns"].as_u64()) else {
        return Err(wrong("its head is damaged".into(), another));
    };
    origin.check_fit(&opening.setup, name).map_err(|error: RunError| {
        let RunError { text, uncollected, .. } = error;
        of_store(Wrong { why: component::Why::Configuration, text, uncollected })
    })?;
    if head["sizes"] != sizes_json(sizes) {
        let why = "the store was made with another mapping unit, or another user capacity";
        return Err(wrong(why.into(), another));
    }
    let mut store = Store::resumed(file, name, sizes, version);
    if let Some((at, bytes)) = damaged_head {
        store.mend_head(at, bytes);
    }
    let recovered = recover(&mut store, plan, is_newer, age_ns);
    let recovered = recovered.map_err(|error| wrong(error.to_string(), damaged))?;
    // If the file takes no writes, the drive can be read as it is.
    store.goes_on();
    Ok((store, Some(Resumed { origin, recovered })))
}

/// The error of a drive that does not fit, where it is the one of a store.
fn of_store(error: Wrong) -> Wrong {
    let (first, _) = error.text.split_once("\n  = help: ").unwrap_or((&error.text, ""));
    let first = first.replace("the saved drive", "the drive in the store");
    let help = "use the device and the scheme that it had, or name another file";
    Wrong { text: format!("{first}\n  = help: {help}"), ..error }
}

fn sizes_json(sizes: Sizes) -> Value {
    json!([sizes.blocks, sizes.pages, sizes.page_bytes, sizes.logical_pages])
}

/// A drive that is ready for requests, and the findings of the recovery of its store.
pub fn open(
    opening: Opening,
    making: Making<'_>,
) -> Result<(Engine, Option<Recovery>), DriveError> {
    let plan = opening.setup.plan.clone();
    let geometry = &plan.geometry;
    let is_protected = plan.write_buffer.is_some_and(|buffer| buffer.is_protected);
    let mut opening = opening;
    let (pages, resumed, name) = match std::mem::replace(&mut opening.backing, Backing::Memory) {
        Backing::Memory => (Pages::new(geometry, None), None, String::new()),
        Backing::Store { file, name } => {
            let (store, resumed) = stored(file, &name, &opening, making.is_newer)?;
            let (shape, pages) = (&geometry.shape, geometry.pages as usize);
            let (wear, held) = match &resumed {
                Some(Resumed { recovered, .. }) => {
                    (recovered.state.erases.clone(), recovered.held.clone())
                }
                None => (vec![0; geometry.blocks as usize], vec![Held::NOTHING; pages]),
            };
            let kept = Kept::new(store, shape.pages_per_block, shape.page_bytes, wear, held);
            (Pages::new(geometry, Some(kept)), resumed, name)
        }
    };
    let mut path = DataPath::new(geometry, pages, is_protected);
    let Opening { setup, saved, verify, capture, watched, .. } = opening;
    let watching = watched.then(Watching::default);
    let (mut given, mut again, mut found) = (saved, Vec::new(), None);
    if let Some(Resumed { origin, recovered }) = resumed {
        let Recovered { state, sequence, data, unreadable, saved, found: what, .. } = recovered;
        path.resume(&state, sequence, &data, &unreadable, &saved);
        given = Some((SavedDrive { origin, state }, name));
        (again, found) = (saved, Some(what));
    }
    let path = Arc::new(Mutex::new(path));
    let received = Arc::clone(&path);
    let listener: Listener =
        Box::new(move |now_ns, happened: Happened| lock(&received).observe(now_ns, happened));
    let listener = Some((making.through)(listener));
    let request_log = watching.as_ref().map(Watching::sink);
    let options = Options { verify, blame: watched, request_log, listener, ..Options::default() };
    // The drive refuses the writes of its clients, and writes saved pages again all the same.
    let options = component::Options {
        saved: given,
        session: options,
        admits_when_read_only: true,
        depth: None,
    };
    let making_of = component::Making::new(setup, options);
    let mut made =
        making_of.map_err(|wrong| if found.is_some() { of_store(wrong) } else { wrong })?;
    loop {
        let progress = made.advance()?;
        match progress.phase {
            Phase::Run => break,
            Phase::Ready if found.is_none() => {
                begin(&mut lock(&path), &made, &plan).map_err(DriveError::Io)?;
            }
            _ if !(making.goes_on)(&progress) => {
                let why = "the drive was not made to its end";
                return Err(DriveError::Stopped(why.into()));
            }
            _ => {}
        }
    }
    let onlookers = Onlookers { capture, watching };
    let mut engine = Engine::new(made.finish()?, path, onlookers, found.clone());
    write_again(&mut engine, again, geometry)?;
    Ok((engine, found))
}

/// A new drive begins: its store gets its state.
fn begin(path: &mut DataPath, made: &component::Making, plan: &Plan) -> io::Result<()> {
    let has_store = path.pages().has_records();
    let (mut age_ns, mut wear) = (0, Vec::new());
    if has_store {
        let SavedDrive { origin, state } = made.drive();
        let geometry = &plan.geometry;
        let head = json!({
            "origin": origin,
            "age_ns": state.age_ns,
            "sizes": sizes_json(sizes_of(geometry)),
        });
        if let Some(store) = path.pages().store() {
            let records = records_of(geometry, &state);
            let bad = bad_blocks(geometry, &state);
            let wear = state.erases.iter().copied().zip(bad);
            store.fill(wear, records.into_iter());
            store.begin(&head.to_string(), state.is_read_only)?;
        }
        (age_ns, wear) = (state.age_ns, state.erases);
    }
    path.begin(age_ns, 0, &[]);
    path.pages().set_wear(wear);
    Ok(())
}

/// The bad blocks of a drive.
fn bad_blocks(geometry: &Geometry, state: &flashgc::drive::Drive) -> Vec<Option<Bad>> {
    let mut bad = vec![None; geometry.blocks as usize];
    let blocks = state.order.chunks(geometry.shape.blocks_per_plane as usize);
    for (plane, blocks) in state.planes.iter().zip(blocks) {
        let retired = blocks.iter().rev().take(plane.retired as usize);
        retired.for_each(|&block| bad[block as usize] = Some(Bad::Retired));
    }
    state.failing.iter().for_each(|&block| bad[block as usize] = Some(Bad::Failing));
    bad
}

/// The records of the pages of a preconditioned drive: they have no data.
fn records_of(geometry: &Geometry, state: &flashgc::drive::Drive) -> Vec<Option<Record>> {
    let mut records = vec![None; geometry.pages as usize];
    let mut listed = state.order.iter().copied().map(BlockId);
    let mut open = state.open.iter();
    let mut write = |block: BlockId, is_written: &dyn Fn(u32) -> bool, by_copy, at_ns| {
        let first = geometry.first_page(block).0;
        for page in (0..geometry.data_pages_of(block)).filter(|&page| is_written(page)) {
            let record = Record::empty(u32::MAX, Content::Padding, 0, at_ns);
            records[(first + page) as usize] = Some(Record { by_copy, ..record });
        }
    };
    for plane in &state.planes {
        for block in listed.by_ref().take(plane.sealed as usize) {
            write(block, &|_| true, false, state.sealed_at_ns[block.index()]);
        }
        for block in listed.by_ref().take(plane.open as usize) {
            let open: Option<&OpenBlock> = open.next();
            let is_written = |page| open.is_some_and(|open| open.is_written(page));
            let by_copy = open.is_some_and(|open| open.role == Role::Gc);
            write(block, &is_written, by_copy, state.age_ns);
        }
        let all = geometry.shape.blocks_per_plane;
        listed.by_ref().take((all - plane.sealed - plane.open) as usize).for_each(drop);
    }
    for (lpn, &page) in (0..).zip(&state.map) {
        if let Some(Some(record)) = records.get_mut(page as usize) {
            (record.lpn, record.content) = (lpn, Content::Zeros);
        }
    }
    records
}

/// The power of a drive is lost: operations under way are cut in the file of its store.
pub fn cut(
    power: &Power,
    plan: &Plan,
    file: Box<dyn Medium>,
    below: impl FnMut(u64) -> u64,
) -> io::Result<()> {
    let head = head::find(&*file).ok().flatten();
    let version = head.map_or(VERSION, |head| head.version);
    power.cut(&Store::resumed(file, "", sizes_of(&plan.geometry), version), below)
}

impl DataPath {
    /// Resumes the drive of a store.
    fn resume(
        &mut self,
        state: &flashgc::drive::Drive,
        sequence: u64,
        data: &[u32],
        unreadable: &[u32],
        saved: &[Saved],
    ) {
        for &page in data {
            self.pages().has_data_now(Ppn(page));
        }
        for &page in unreadable {
            self.pages().is_unreadable(Ppn(page), Loss::Damage);
        }
        let slots: Vec<u32> = saved.iter().map(|saved| saved.slot).collect();
        self.begin(state.age_ns, sequence, &slots);
    }
}

/// Pages of the write buffer that were saved are written again, before any client comes.
fn write_again(
    engine: &mut Engine,
    saved: Vec<Saved>,
    geometry: &Geometry,
) -> Result<(), DriveError> {
    let page_bytes = u64::from(geometry.shape.page_bytes);
    for Saved { slot, lpn, data } in saved {
        let offset = u64::from(lpn) * page_bytes;
        let request = HostRequest::from_bytes(0, HostOp::Write, offset, page_bytes, page_bytes);
        // It lies nowhere else from then on.
        engine.write_again(HostRequest { fua: true, ..request }, data)?;
        engine.forget_saved(slot);
    }
    Ok(())
}

impl From<Wrong> for DriveError {
    fn from(wrong: Wrong) -> Self {
        DriveError::Stopped(wrong.text)
    }
}
