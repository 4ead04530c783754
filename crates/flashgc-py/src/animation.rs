//! A part of a run as pictures of its drive.

use crate::drive;
use crate::errors::{ConfigError, RunError, guarded};
use crate::memory;
use crate::pulse::{Pulse, Step};
use crate::request::Request;
use crate::run::{Outcome, Walls};
use crate::timeline::{check_units, window_ns};
use flashgc::device::Geometry;
use flashgc::ids::UnitId;
use flashgc::session::picture::Picture;
use flashgc::session::recording::Recording;
use flashgc::session::{Options, Phase, Progress, Session};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Blocks that a picture can show.
const BLOCKS_MAX: u32 = 32_768;
/// Bytes of a packed recording. As text, and with the scripts, a page stays below 2 MB.
const PACKED_MAX: usize = 1_400_000;
/// Events of a slice of the run in which nothing is recorded.
const EVENTS: u64 = 50_000;

/// The part that is recorded.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Part {
    /// From when until when, in the form that users write.
    window: Option<String>,
    units: Option<Vec<u32>>,
    /// It ends when this many requests are done in it.
    requests: Option<u64>,
}

/// The recording.
#[pyclass(frozen, module = "flashgc._engine")]
pub struct Recorded {
    /// Its extent, as JSON.
    #[pyo3(get)]
    head: String,
    packed: Vec<u8>,
}

#[pymethods]
impl Recorded {
    /// The pictures, packed as zlib does it.
    #[getter]
    fn packed<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.packed)
    }
}

/// Runs a configuration to its end, and records a part of it.
#[pyfunction]
#[pyo3(signature = (request, part, drive=None, progress=None))]
pub fn animate(
    py: Python<'_>,
    request: Request,
    part: Part,
    drive: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Outcome, Recorded)> {
    let pulse = Pulse::new(progress);
    py.detach(|| guarded(|| Run::new(&request, drive, pulse)?.record(&part)))
}

/// A run, slice by slice.
struct Run<'a> {
    request: &'a Request,
    session: Session,
    geometry: Geometry,
    walls: Walls,
    pulse: Pulse,
    last: Progress,
}

impl Run<'_> {
    fn new(request: &Request, drive: Option<PathBuf>, pulse: Pulse) -> PyResult<Run<'_>> {
        let mut setup = request.prepare()?;
        memory::check(&setup)?;
        if setup.plan.untimed {
            return Err(ConfigError::new_err(
                "error: the run has no clock (engine.timing = \"none\"): there is nothing to \
                 animate\n  = help: remove engine.timing = \"none\"",
            ));
        }
        // Each copy has a picture of its own. No result depends on it.
        setup.plan.coalesce = false;
        let geometry = setup.plan.geometry.clone();
        let mut session = match drive {
            None => Session::new(setup, request.opener(), Options::default()),
            Some(path) => drive::session(setup, request.opener(), &path, Options::default())?,
        };
        session.has_records(request.records());
        let last = Progress { phase: Phase::Scan, done: 0, total: None, now_ns: 0 };
        Ok(Run { request, session, geometry, walls: Walls::default(), pulse, last })
    }

    fn record(mut self, part: &Part) -> PyResult<(Outcome, Recorded)> {
        let (from_ns, to_ns) = match &part.window {
            Some(window) => window_ns("the window", window)?,
            None => (0, u64::MAX),
        };
        let units = part.units.as_deref();
        check_units("the animation", units, &self.geometry)?;
        check_blocks(units, &self.geometry)?;
        let mut film = Film::new(Recording::new(&self.geometry, units), from_ns, to_ns);
        self.go_to(from_ns)?;
        film.begin(self.session.picture())?;
        let requests = part.requests.unwrap_or(u64::MAX);
        while self.last.phase != Phase::Done
            && film.recording.requests() < requests
            && self.session.next_ns().is_none_or(|next_ns| next_ns <= to_ns)
        {
            self.advance(to_ns, 1)?;
            film.add(&self.session.picture())?;
        }
        film.check(self.session.next_ns())?;
        let recorded = film.finish(&self.geometry)?;
        while self.last.phase != Phase::Done {
            self.advance(u64::MAX, EVENTS)?;
        }
        self.pulse.last(Step::from(&self.last))?;
        let mut report = self.session.report();
        self.walls.note(&mut report);
        Ok((Outcome::of(&report, None), recorded))
    }

    /// Preconditions the drive, and runs until the next event has this instant or a later one.
    fn go_to(&mut self, from_ns: u64) -> PyResult<()> {
        while self.last.phase != Phase::Run {
            self.advance(0, 0)?;
        }
        while self.session.next_ns().is_none_or(|next_ns| next_ns < from_ns) {
            if from_ns == 0 {
                return Ok(());
            }
            self.advance(from_ns - 1, EVENTS)?;
            if self.last.phase == Phase::Done {
                let text = format!(
                    "error: the window begins at {}, and the run ends at {}\n  = help: begin \
                     earlier, such as with `0 s..`",
                    time(from_ns),
                    time(self.last.now_ns)
                );
                return Err(RunError::new_err(text));
            }
        }
        Ok(())
    }

    fn advance(&mut self, until_ns: u64, events: u64) -> PyResult<()> {
        let begun = Instant::now();
        let progress = self.session.advance_to(until_ns, events);
        self.request.check_policies()?;
        self.last = progress.map_err(|error| self.request.failure(&error))?;
        self.walls.add(self.last.phase, begun.elapsed());
        self.pulse.beat(|| Step::from(&self.last))
    }
}

/// Refuses a picture of too many blocks.
fn check_blocks(units: Option<&[u32]>, geometry: &Geometry) -> PyResult<()> {
    let per_plane = geometry.shape.blocks_per_plane;
    let planes_of = |unit: u32| geometry.planes_of(UnitId(unit)).len() as u32;
    let planes: u32 = match units {
        None => geometry.planes,
        Some(units) => units.iter().map(|&unit| planes_of(unit)).sum(),
    };
    let blocks = u64::from(planes) * u64::from(per_plane);
    if blocks <= u64::from(BLOCKS_MAX) {
        return Ok(());
    }
    let fitting = BLOCKS_MAX / (per_plane * planes_of(0));
    let some = match fitting {
        0 => String::new(),
        1 => "a unit (`--units 0`), or ".into(),
        _ => format!("some units (`--units 0-{}`), or ", fitting - 1),
    };
    let smaller = (BLOCKS_MAX / planes).max(1);
    Err(ConfigError::new_err(format!(
        "error: the picture has {blocks} blocks, and at most {BLOCKS_MAX} can be drawn\n  = help: \
         draw {some}a smaller drive (`--set device.blocks_per_plane={}`)",
        if smaller >= 64 { 64 } else { smaller }
    )))
}

/// The pictures of a part of the run.
struct Film {
    recording: Recording,
    from_ns: u64,
    to_ns: u64,
    packed: ZlibEncoder<Vec<u8>>,
}

impl Film {
    fn new(recording: Recording, from_ns: u64, to_ns: u64) -> Film {
        let packed = ZlibEncoder::new(Vec::new(), Compression::best());
        Film { recording, from_ns, to_ns, packed }
    }

    fn begin(&mut self, picture: Picture) -> PyResult<()> {
        self.add(&Picture { now_ns: self.from_ns.max(picture.now_ns), ..picture })
    }

    fn add(&mut self, picture: &Picture) -> PyResult<()> {
        self.recording.add(picture);
        self.packed.write_all(&self.recording.take())?;
        if self.packed.get_ref().len() > PACKED_MAX {
            return Err(self.too_long());
        }
        Ok(())
    }

    fn too_long(&self) -> PyErr {
        let requests = self.recording.requests();
        let fewer = match requests {
            0..20 => String::new(),
            _ => format!("record fewer requests (`--requests {}`), or ", rounded_down(requests)),
        };
        ConfigError::new_err(format!(
            "error: the recording is longer than a page can hold ({} MB): it has {} pictures after \
             {requests} requests\n  = help: {fewer}record a shorter window (`--window`) or fewer \
             units (`--units 0`)",
            PACKED_MAX as f64 / 1e6,
            self.recording.pictures(),
        ))
    }

    /// Refuses a part in which nothing happens.
    fn check(&self, next_ns: Option<u64>) -> PyResult<()> {
        if self.recording.pictures() > 1 {
            return Ok(());
        }
        let next = match next_ns {
            Some(next_ns) => format!("the next event is at {}", time(next_ns)),
            None => "there is no event after it".into(),
        };
        Err(RunError::new_err(format!(
            "error: nothing happens from {} to {}: {next}\n  = help: make the window longer",
            time(self.from_ns),
            time(self.to_ns)
        )))
    }

    fn finish(self, geometry: &Geometry) -> PyResult<Recorded> {
        let head = self.recording.head(geometry).to_string();
        Ok(Recorded { head, packed: self.packed.finish()? })
    }
}

/// A number not above nine tenths of this one, with one digit that is not 0.
fn rounded_down(number: u64) -> u64 {
    let most = number * 9 / 10;
    let unit = 10u64.pow(most.max(1).ilog10());
    most / unit * unit
}

/// A time, exactly.
fn time(ns: u64) -> String {
    format!("{} ms", ns as f64 / 1e6)
}
