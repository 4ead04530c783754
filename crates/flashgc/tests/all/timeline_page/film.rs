//! The recording of an example: a picture of the drive for each event.

use super::page::{Base, examples};
use super::run::{EVENTS_MAX, Example, filled};
use flashgc::measure::Results;
use flashgc::session::picture::Picture;
use flashgc::session::recording::Recording;
use flashgc::verify::InDetail;
use flashgc::verify::checker::Checker;
use flashgc::workload::ListSource;
use serde_json::Value;

/// The recording of an example.
pub struct Film {
    /// The line of the page at which the first output of the example begins.
    pub line: usize,
    /// Its extent.
    pub head: Value,
    /// Its pictures.
    pub bytes: Vec<u8>,
    /// The results at the last picture.
    pub results: Results,
}

/// The recordings of a page. An example in which nothing happens has none.
pub fn films(text: &str, base: &Base) -> Result<Vec<Film>, String> {
    let all = examples(text, base).into_iter().map(|(line, example)| film(line, &example));
    let is_long = |film: &Film| film.head["pictures"].as_u64() > Some(1);
    Ok(all.collect::<Result<Vec<Film>, String>>()?.into_iter().filter(is_long).collect())
}

fn film(line: usize, example: &Example) -> Result<Film, String> {
    let (setup, before, requested) = example.parsed()?;
    // Each copy has a picture of its own.
    let mut plan = setup.plan.clone();
    plan.coalesce = false;
    let geometry = plan.geometry.clone();
    let checker = Some(Checker::of(&plan));
    let mut sim = filled(&setup, plan, InDetail { checker, ..InDetail::default() }, before)?;
    let mut recording = Recording::new(&geometry, None);
    recording.add(&Picture::of(&sim.seen()));
    let mut source = ListSource::new(requested.iter().map(|requested| requested.request).collect());
    // Some pages show a run that ends with an error.
    let mut goes_on = sim.start(&mut source).is_ok();
    for _ in 0..EVENTS_MAX {
        recording.add(&Picture::of(&sim.seen()));
        if !goes_on {
            break;
        }
        goes_on = sim.run(&mut source, 1).is_ok_and(|progress| !progress.finished);
    }
    let (head, bytes) = (recording.head(&geometry), recording.take());
    Ok(Film { line, head, bytes, results: sim.seen().results() })
}
