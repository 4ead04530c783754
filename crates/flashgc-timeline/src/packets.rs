//! Packets of a trace, written one after the other.

use crate::schema::{annotation, event, interned, packet, trace, track};
use crate::wire::Message;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// All packets are of one sequence, with one set of names.
const SEQUENCE: u64 = 1;

/// The number of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Track(u64);

/// The value of a property of a slice.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
}

/// Properties of a slice, by name.
pub(crate) type Properties = Vec<(&'static str, Value)>;

/// A slice of a track.
pub(crate) struct Slice<'a> {
    pub track: Track,
    pub name: &'static str,
    pub category: &'static str,
    pub from_ns: u64,
    pub properties: Properties,
    pub links: &'a [u64],
}

/// Names of one kind that have been written, with their numbers.
#[derive(Default)]
struct Names {
    written: BTreeMap<&'static str, u64>,
    new: Vec<(u64, &'static str)>,
}

impl Names {
    fn number(&mut self, name: &'static str) -> u64 {
        let next = self.written.len() as u64 + 1;
        *self.written.entry(name).or_insert_with(|| {
            self.new.push((next, name));
            next
        })
    }

    /// Adds the new names to the message of interned data, as this field.
    fn write_new(&mut self, field: u64, to: &mut Message) {
        for (number, name) in self.new.drain(..) {
            let mut one = Message::default();
            one.number(interned::IID, number).text(interned::NAME, name);
            to.message(field, &one);
        }
    }
}

/// Writes packets.
pub(crate) struct Packets<W> {
    out: W,
    tracks: u64,
    has_begun: bool,
    categories: Names,
    names: Names,
    properties: Names,
}

impl<W: Write> Packets<W> {
    pub fn new(out: W) -> Self {
        Packets {
            out,
            tracks: 0,
            has_begun: false,
            categories: Names::default(),
            names: Names::default(),
            properties: Names::default(),
        }
    }

    /// A new track, below another one or at the top; tracks are shown in the order of their making.
    pub fn track(&mut self, above: Option<Track>, name: &str, about: &str) -> io::Result<Track> {
        self.describe(above, name, about, None)
    }

    /// A new track for a counter.
    pub fn counter(&mut self, above: Track, name: &str, about: &str) -> io::Result<Track> {
        let mut counter = Message::default();
        counter.text(track::UNIT_NAME, name);
        self.describe(Some(above), name, about, Some(&counter))
    }

    fn describe(
        &mut self,
        above: Option<Track>,
        name: &str,
        about: &str,
        counter: Option<&Message>,
    ) -> io::Result<Track> {
        self.tracks += 1;
        let mut descriptor = Message::default();
        descriptor
            .number(track::ID, self.tracks)
            .text(track::NAME, name)
            .optional(track::PARENT, above.map(|above| above.0));
        if let Some(counter) = counter {
            descriptor.message(track::COUNTER, counter);
        }
        descriptor
            .number(track::CHILD_ORDERING, track::CHILDREN_BY_RANK)
            .number(track::RANK, self.tracks);
        if !about.is_empty() {
            descriptor.text(track::DESCRIPTION, about);
        }
        let mut own = begun(None);
        own.number(packet::SEQUENCE_FLAGS, self.flags())
            .message(packet::TRACK_DESCRIPTOR, &descriptor);
        self.write(&own)?;
        Ok(Track(self.tracks))
    }

    /// A slice begins.
    pub fn begin(&mut self, slice: Slice<'_>) -> io::Result<()> {
        let Slice { track, name, category, from_ns, properties, links } = slice;
        let mut of = Message::default();
        of.number(event::CATEGORY_IID, self.categories.number(category));
        for (name, value) in properties {
            let mut one = Message::default();
            one.number(annotation::NAME_IID, self.properties.number(name));
            match value {
                Value::Number(number) => one.number(annotation::UINT_VALUE, number),
                Value::Text(text) => one.text(annotation::STRING_VALUE, &text),
            };
            of.message(event::DEBUG_ANNOTATION, &one);
        }
        of.number(event::TYPE, event::SLICE_BEGIN)
            .number(event::NAME_IID, self.names.number(name))
            .number(event::TRACK, track.0);
        for &link in links {
            of.fixed(event::FLOW, link);
        }
        self.event(from_ns, &of)
    }

    /// The slice of a track that began last ends.
    pub fn end(&mut self, track: Track, to_ns: u64) -> io::Result<()> {
        let mut of = Message::default();
        of.number(event::TYPE, event::SLICE_END).number(event::TRACK, track.0);
        self.event(to_ns, &of)
    }

    /// A counter has a value from this instant on.
    pub fn count(&mut self, track: Track, at_ns: u64, value: f64) -> io::Result<()> {
        let mut of = Message::default();
        of.number(event::TYPE, event::COUNTER)
            .number(event::TRACK, track.0)
            .fixed(event::DOUBLE_VALUE, value.to_bits());
        self.event(at_ns, &of)
    }

    fn event(&mut self, at_ns: u64, of: &Message) -> io::Result<()> {
        let mut names = Message::default();
        self.categories.write_new(interned::CATEGORIES, &mut names);
        self.names.write_new(interned::EVENTS, &mut names);
        self.properties.write_new(interned::ANNOTATIONS, &mut names);
        let mut own = begun(Some(at_ns));
        own.message(packet::TRACK_EVENT, of);
        if !names.is_empty() {
            own.message(packet::INTERNED_DATA, &names);
        }
        own.number(packet::SEQUENCE_FLAGS, self.flags());
        self.write(&own)
    }
    /// The first packet marks the absence of earlier names.
    fn flags(&mut self) -> u64 {
        match std::mem::replace(&mut self.has_begun, true) {
            true => packet::NEEDS_STATE,
            false => packet::STATE_CLEARED,
        }
    }

    fn write(&mut self, own: &Message) -> io::Result<()> {
        let mut whole = Message::default();
        whole.message(trace::PACKET, own);
        self.out.write_all(whole.bytes())
    }

    /// The writer.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// A packet of the one sequence, at an instant if it has one.
fn begun(at_ns: Option<u64>) -> Message {
    let mut own = Message::default();
    own.optional(packet::TIMESTAMP_NS, at_ns).number(packet::SEQUENCE, SEQUENCE);
    own
}
