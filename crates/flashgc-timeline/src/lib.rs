//! The timeline of a run as a trace for Perfetto.
//!
//! Tracks: each unit with its collections, array, register and queue; each bus; the host's link;
//! the requests; and counters. Slices of a unit are operations, those of a request its steps.

mod packets;
mod schema;
mod tracks;
mod wire;

use flashgc::gc::JobRow;
use flashgc::plan::Plan;
use flashgc::verify::RequestRow;
use flashgc::verify::blame::Part;
use flashgc::verify::story::{Collection, Work};
use flashgc::verify::timeline::{Counter, Entry, Step, Stretch};
use packets::{Packets, Properties, Slice, Track, Value};
use std::io::{self, Write};
use tracks::Tracks;

/// Writes a timeline.
pub struct Trace<W> {
    packets: Packets<W>,
    tracks: Tracks,
}

impl<W: Write> Trace<W> {
    /// A trace with the tracks of a device, of all its units or of some.
    pub fn new(out: W, plan: &Plan, units: Option<&[u32]>) -> io::Result<Self> {
        let mut packets = Packets::new(out);
        let tracks = Tracks::new(&mut packets, plan, units)?;
        Ok(Trace { packets, tracks })
    }

    /// Writes an entry.
    pub fn add(&mut self, stretch: &Stretch<'_>) -> io::Result<()> {
        let &Stretch { from_ns, to_ns, entry, links } = stretch;
        let slice = |track, name, gc, properties| Slice {
            track,
            name,
            category: category(gc),
            from_ns,
            properties,
            links,
        };
        match entry {
            Entry::Operation(work) => {
                let track = self.tracks.operations(work.unit, work.plane);
                let Some(track) = track else { return Ok(()) };
                let slice = slice(track, work.operation, work.gc, of_work(work));
                self.slice(slice, to_ns)
            }
            Entry::Array { unit, gc } => {
                let Some((array, _)) = self.tracks.array_and_register(unit) else {
                    return Ok(());
                };
                self.slice(slice(array, "array", gc, vec![]), to_ns)
            }
            Entry::Transfer { bus, unit, gc } => {
                if let Some(bus) = self.tracks.bus(bus) {
                    let (unit, plane) = self.tracks.place(unit);
                    let mut properties = vec![("unit", Value::Number(unit.0.into()))];
                    properties.extend(plane.map(|plane| ("plane", Value::Number(plane))));
                    self.slice(slice(bus, "transfer", gc, properties), to_ns)?;
                }
                let Some((_, register)) = self.tracks.array_and_register(unit) else {
                    return Ok(());
                };
                self.slice(slice(register, "transfer", gc, vec![]), to_ns)
            }
            Entry::Link { request, op } => {
                let properties = vec![("request", Value::Number(request))];
                self.slice(slice(self.tracks.link(op), op.name(), false, properties), to_ns)
            }
            Entry::Collection { collection, row } => {
                let Some(unit) = self.tracks.unit(collection.unit) else { return Ok(()) };
                let properties = of_collection(collection, row);
                self.slice(slice(unit.collection, "collection", true, properties), to_ns)
            }
            Entry::Request { row, slot, pages, steps } => {
                let track = self.tracks.slot(&mut self.packets, slot)?;
                let properties = of_request(row, pages);
                self.packets.begin(slice(track, row.op.name(), false, properties))?;
                self.steps(track, from_ns, to_ns, steps)?;
                self.packets.end(track, to_ns)
            }
            Entry::Count(counter, value) => {
                let track = match counter {
                    Counter::Outstanding => self.tracks.outstanding,
                    Counter::FreeBlocks => self.tracks.free_blocks,
                    Counter::WriteAmplification => self.tracks.write_amplification,
                    Counter::Waiting(unit) => match self.tracks.unit(unit) {
                        Some(unit) => unit.queue,
                        None => return Ok(()),
                    },
                };
                self.packets.count(track, from_ns, value)
            }
        }
    }

    fn slice(&mut self, slice: Slice<'_>, to_ns: u64) -> io::Result<()> {
        let track = slice.track;
        self.packets.begin(slice)?;
        self.packets.end(track, to_ns)
    }

    /// The steps of a request, each until the next one.
    fn steps(
        &mut self,
        track: Track,
        from_ns: u64,
        to_ns: u64,
        steps: &[(u64, Step)],
    ) -> io::Result<()> {
        let mut since = (from_ns, "waits to be accepted", None);
        let ends = steps.iter().map(|&(at_ns, step)| (at_ns, Some(step)));
        for (at_ns, step) in ends.chain([(to_ns, None)]) {
            let (from_ns, name, unit) = since;
            if from_ns < at_ns {
                let properties = Vec::from_iter(unit.map(|unit| ("unit", Value::Number(unit))));
                let (category, links) = (category(false), &[][..]);
                let slice = Slice { track, name, category, from_ns, properties, links };
                self.slice(slice, at_ns)?;
            }
            let unit = match step {
                Some(Step::Queued(unit)) => Some(unit.0.into()),
                _ => None,
            };
            since = (at_ns, step.map_or("", phase), unit);
        }
        Ok(())
    }

    /// The writer.
    pub fn into_inner(self) -> W {
        self.packets.into_inner()
    }
}

fn category(gc: bool) -> &'static str {
    if gc { "gc" } else { "host" }
}

fn of_work(work: &Work) -> Properties {
    let waits = ["bus_wait_ns", "gc_bus_wait_ns"].into_iter().zip(work.waited_ns);
    let properties = [("pages", work.pages.into())].into_iter().chain(waits);
    let above_0 = properties.filter(|&(_, number)| number > 0);
    above_0.map(|(name, number)| (name, Value::Number(number))).collect()
}

fn of_collection(collection: &Collection, row: Option<&JobRow>) -> Properties {
    let valid: u32 = collection.blocks.iter().map(|&(_, valid)| valid).sum();
    let blocks = collection.blocks.iter().map(|&(block, _)| block.to_string());
    let mut properties: Properties = vec![
        ("collection", Value::Number(collection.number)),
        ("plane", Value::Number(collection.plane.0.into())),
        ("valid_pages", Value::Number(valid.into())),
        ("blocks", Value::Text(blocks.collect::<Vec<_>>().join(", "))),
    ];
    if let Some(row) = row {
        properties.push(("moved_pages", Value::Number(row.moved.into())));
        properties.push(("wasted_copies", Value::Number(row.wasted.into())));
    }
    properties
}

fn of_request(row: &RequestRow, pages: u32) -> Properties {
    let mut properties: Properties = vec![
        ("request", Value::Number(row.request)),
        ("job", Value::Number(row.job.into())),
        ("offset_bytes", Value::Number(row.offset_bytes)),
        ("size_bytes", Value::Number(row.size_bytes)),
        ("pages", Value::Number(pages.into())),
        ("latency_ns", Value::Number(row.latency_ns())),
    ];
    if let Some(parts) = row.parts {
        let parts = Part::ALL.map(|part| (part.key(), Value::Number(parts[part as usize])));
        properties.extend(parts);
    }
    properties
}

/// The work or the wait of a request after a step.
fn phase(step: Step) -> &'static str {
    match step {
        Step::Admitted => "waits for a place, or to be accepted",
        Step::Handles => "handled by the firmware",
        Step::Handled => "waits for the host link, or to be accepted",
        Step::Crosses => "on the host link",
        Step::Crossed => "waits to be accepted",
        Step::Accepted => "waits for its page",
        Step::Queued(_) => "in the queue of a unit",
        Step::AwaitsIdle => "waits for an idle unit",
        Step::FindsNoPage => "waits for space",
        Step::Taken | Step::GoesOn => "served by its unit",
        Step::Yields => "suspended for reads",
        Step::Merged => "merged with a copy",
        Step::Loaded => "loaded beside a copy",
        Step::AwaitsBuffer => "waits for the write buffer",
        Step::AwaitsFlash => "waits until its data lies in flash",
        Step::AccessesBuffer => "in the write buffer",
        Step::Done => "waits for the host link",
    }
}
