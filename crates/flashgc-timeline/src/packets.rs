//! Packets of a trace, written one after the other.

use crate::schema::{
    CHILDREN_BY_RANK, CounterDescriptor, DebugAnnotation, Interned, InternedData,
    SEQ_INCREMENTAL_STATE_CLEARED, SEQ_NEEDS_INCREMENTAL_STATE, Trace, TracePacket,
    TrackDescriptor, TrackEvent, Type,
};
use prost::Message;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// All packets are of one sequence, with one set of names.
const SEQUENCE: u32 = 1;

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
    new: Vec<Interned>,
}

impl Names {
    fn number(&mut self, name: &'static str) -> u64 {
        let next = self.written.len() as u64 + 1;
        *self.written.entry(name).or_insert_with(|| {
            self.new.push(Interned { iid: Some(next), name: Some(name.into()) });
            next
        })
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
    buffer: Vec<u8>,
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
            buffer: Vec::new(),
        }
    }

    /// A new track, below another one or at the top; tracks are shown in the order of their making.
    pub fn track(&mut self, above: Option<Track>, name: &str, about: &str) -> io::Result<Track> {
        self.describe(above, name, about, None)
    }

    /// A new track for a counter.
    pub fn counter(&mut self, above: Track, name: &str, about: &str) -> io::Result<Track> {
        let counter = CounterDescriptor { unit_name: Some(name.into()) };
        self.describe(Some(above), name, about, Some(counter))
    }

    fn describe(
        &mut self,
        above: Option<Track>,
        name: &str,
        about: &str,
        counter: Option<CounterDescriptor>,
    ) -> io::Result<Track> {
        self.tracks += 1;
        let track = Track(self.tracks);
        let descriptor = TrackDescriptor {
            uuid: Some(track.0),
            name: Some(name.into()),
            parent_uuid: above.map(|above| above.0),
            counter,
            child_ordering: Some(CHILDREN_BY_RANK),
            sibling_order_rank: i32::try_from(track.0).ok(),
            description: (!about.is_empty()).then(|| about.into()),
        };
        self.write(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() })?;
        Ok(track)
    }

    /// A slice begins.
    pub fn begin(&mut self, slice: Slice<'_>) -> io::Result<()> {
        let Slice { track, name, category, from_ns, properties, links } = slice;
        let annotation = |(name, value): (&'static str, Value)| {
            let name_iid = Some(self.properties.number(name));
            match value {
                Value::Number(number) => {
                    DebugAnnotation { name_iid, uint_value: Some(number), string_value: None }
                }
                Value::Text(text) => {
                    DebugAnnotation { name_iid, uint_value: None, string_value: Some(text) }
                }
            }
        };
        let event = TrackEvent {
            debug_annotations: properties.into_iter().map(annotation).collect(),
            category_iids: vec![self.categories.number(category)],
            r#type: Some(Type::SliceBegin.into()),
            name_iid: Some(self.names.number(name)),
            track_uuid: Some(track.0),
            flow_ids: links.to_vec(),
            ..TrackEvent::default()
        };
        self.event(from_ns, event)
    }

    /// The slice of a track that began last ends.
    pub fn end(&mut self, track: Track, to_ns: u64) -> io::Result<()> {
        let event = TrackEvent {
            r#type: Some(Type::SliceEnd.into()),
            track_uuid: Some(track.0),
            ..TrackEvent::default()
        };
        self.event(to_ns, event)
    }

    /// A counter has a value from this instant on.
    pub fn count(&mut self, track: Track, at_ns: u64, value: f64) -> io::Result<()> {
        let event = TrackEvent {
            r#type: Some(Type::Counter.into()),
            track_uuid: Some(track.0),
            double_counter_value: Some(value),
            ..TrackEvent::default()
        };
        self.event(at_ns, event)
    }

    fn event(&mut self, at_ns: u64, event: TrackEvent) -> io::Result<()> {
        let new = InternedData {
            event_categories: std::mem::take(&mut self.categories.new),
            event_names: std::mem::take(&mut self.names.new),
            debug_annotation_names: std::mem::take(&mut self.properties.new),
        };
        self.write(TracePacket {
            timestamp: Some(at_ns),
            track_event: Some(event),
            interned_data: (new != InternedData::default()).then_some(new),
            ..TracePacket::default()
        })
    }

    fn write(&mut self, mut packet: TracePacket) -> io::Result<()> {
        packet.trusted_packet_sequence_id = Some(SEQUENCE);
        packet.sequence_flags = Some(match self.has_begun {
            true => SEQ_NEEDS_INCREMENTAL_STATE,
            false => SEQ_INCREMENTAL_STATE_CLEARED,
        });
        self.has_begun = true;
        self.buffer.clear();
        let trace = Trace { packet: vec![packet] };
        trace.encode(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.out
    }
}
