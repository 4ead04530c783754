//! A recording: pictures of a drive, each as its difference to the one before.
//!
//! Numbers are variable-length: seven bits a byte, the lowest first, and the eighth bit set in all
//! bytes but the last. A signed number n is 2n, or -2n - 1 below zero. A picture is
//!
//! 1. the time since the picture before, in ns;
//! 2. the four counts of [`DonePicture`], each as a signed difference;
//! 3. the number of changed blocks, and each of them: the distance from the changed block before,
//!    the state, and signed differences of the valid and of the written pages;
//! 4. the number of changed units, and each of them: the distance from the changed unit before; a
//!    byte with the work, 8 times the place, and 32 if the queue and 64 if the collection differs;
//!    since when it works and whom it serves, both as times ago; the queue; the collection.
//!
//! A time ago is 0 for none, or one more than the ns before the picture. A queue is the number of
//! its first entries that stay, the number of its last ones that stay, the number of entries
//! between them, and each of those: 1 for a read, and 2 times the arrival as a time ago. A
//! collection is 0 for none; or 1, and 2 more if it erases, and 4 more if it is suspended; then
//! its plane, copies that have ended, copies that are left, and its begin as a time ago.

use super::picture::{
    BlockPicture, CollectionPicture, DonePicture, Picture, Place, UnitPicture, Waits, Work,
};
use crate::device::Geometry;
use crate::ids::UnitId;
use serde_json::{Value, json};

/// Of all units, or of some, the pictures that differ.
pub struct Recording {
    units: Vec<u32>,
    planes: Vec<u32>,
    blocks_per_plane: usize,
    last: Picture,
    /// When the first picture was, and what had been done before it.
    first: Option<(u64, DonePicture)>,
    pictures: u64,
    bytes: Vec<u8>,
}

impl Recording {
    /// A recording of these units, in the order of their numbers; without any, of all units.
    pub fn new(geometry: &Geometry, units: Option<&[u32]>) -> Recording {
        let units = units.map_or_else(|| (0..geometry.units).collect(), <[u32]>::to_vec);
        let of = |&unit: &u32| geometry.planes_of(UnitId(unit)).iter().map(|plane| plane.0);
        let planes: Vec<u32> = units.iter().flat_map(of).collect();
        let blocks_per_plane = geometry.shape.blocks_per_plane as usize;
        let last = Picture {
            now_ns: 0,
            blocks: vec![BlockPicture::default(); planes.len() * blocks_per_plane],
            units: units.iter().map(|_| nothing()).collect(),
            done: DonePicture::default(),
        };
        Recording {
            units,
            planes,
            blocks_per_plane,
            last,
            first: None,
            pictures: 0,
            bytes: Vec::new(),
        }
    }

    /// The pictures that differ from the one before.
    pub fn pictures(&self) -> u64 {
        self.pictures
    }

    /// The last picture, of the units that are recorded.
    pub fn last(&self) -> &Picture {
        &self.last
    }

    /// Requests that are done since the first picture.
    pub fn requests(&self) -> u64 {
        self.since_first()[0]
    }

    /// Requests, programs, copies and erases since the first picture.
    fn since_first(&self) -> [u64; 4] {
        let first = self.first.map_or_else(|| counts(self.last.done), |(_, done)| counts(done));
        let last = counts(self.last.done);
        std::array::from_fn(|at| last[at] - first[at])
    }

    /// Its extent, and the shape of the drive. The planes of a unit are numbered in the order in
    /// which the recording has their blocks.
    pub fn head(&self, geometry: &Geometry) -> Value {
        let mut planes = 0;
        let units = self.units.iter().map(|&unit| {
            let first = planes;
            planes += geometry.planes_of(UnitId(unit)).len();
            let bus = geometry.bus_of(UnitId(unit)).0;
            json!({ "number": unit, "bus": bus, "planes": Vec::from_iter(first..planes) })
        });
        let units = Value::from_iter(units);
        let [requests, programs, copies, erases] = self.since_first();
        json!({
            "from_ns": self.first.map_or(0, |(from_ns, _)| from_ns),
            "to_ns": self.last.now_ns,
            "pictures": self.pictures,
            "requests": requests,
            "programs": programs,
            "copies": copies,
            "erases": erases,
            "planes": self.planes,
            "units": units,
            "blocks_per_plane": geometry.shape.blocks_per_plane,
            "pages_per_block": geometry.shape.pages_per_block,
        })
    }

    /// Takes the bytes that were added since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Adds the picture of an instant if it differs from the one before, as the first one does.
    pub fn add(&mut self, picture: &Picture) {
        let before = self.bytes.len();
        self.number(picture.now_ns - self.last.now_ns);
        let changed = self.done(picture.done) | self.blocks(picture) | self.units(picture);
        if !changed && self.pictures > 0 {
            self.bytes.truncate(before);
            return;
        }
        self.last.now_ns = picture.now_ns;
        self.first.get_or_insert((picture.now_ns, picture.done));
        self.pictures += 1;
    }

    fn done(&mut self, now: DonePicture) -> bool {
        let before = std::mem::replace(&mut self.last.done, now);
        for (now, before) in counts(now).into_iter().zip(counts(before)) {
            self.signed(now as i64 - before as i64);
        }
        now != before
    }

    fn blocks(&mut self, picture: &Picture) -> bool {
        let mut changed = Vec::new();
        for (at, &plane) in self.planes.iter().enumerate() {
            let count = self.blocks_per_plane;
            let (from, own) = (plane as usize * count, at * count);
            let (now, last) = (&picture.blocks[from..][..count], &self.last.blocks[own..][..count]);
            if now != last {
                let differs = |&(now, last): &(&BlockPicture, &BlockPicture)| now != last;
                let pairs = now.iter().zip(last).enumerate();
                let found = pairs.filter(|(_, pair)| differs(pair));
                changed.extend(found.map(|(block, (now, _))| (own + block, *now)));
            }
        }
        self.number(changed.len() as u64);
        let mut next = 0;
        for &(at, now) in &changed {
            let before = std::mem::replace(&mut self.last.blocks[at], now);
            self.number((at - next) as u64);
            next = at + 1;
            self.bytes.push(now.0);
            self.signed(i64::from(now.1) - i64::from(before.1));
            self.signed(i64::from(now.2) - i64::from(before.2));
        }
        !changed.is_empty()
    }

    fn units(&mut self, picture: &Picture) -> bool {
        let pairs = self.units.iter().enumerate();
        let now = pairs.map(|(at, &unit)| (at, &picture.units[unit as usize]));
        let differs = |&(at, now): &(usize, &UnitPicture)| !is_same(now, &self.last.units[at]);
        let changed: Vec<(usize, &UnitPicture)> = now.filter(differs).collect();
        self.number(changed.len() as u64);
        let mut next = 0;
        for &(at, now) in &changed {
            self.number((at - next) as u64);
            next = at + 1;
            self.unit(at, now, picture.now_ns);
        }
        !changed.is_empty()
    }

    fn unit(&mut self, at: usize, now: &UnitPicture, now_ns: u64) {
        let before = std::mem::replace(&mut self.last.units[at], now.clone());
        let is_queue_new = now.queue != before.queue;
        let is_collection_new = now.collection != before.collection;
        let parts = [(is_queue_new, 32), (is_collection_new, 64)];
        let more: u8 = parts.iter().filter(|(is_new, _)| *is_new).map(|(_, bit)| bit).sum();
        self.bytes.push(work(now.work) + 8 * place(now.place) + more);
        self.ago(Some(now.since_ns), now_ns);
        self.ago(now.serves_ns, now_ns);
        if is_queue_new {
            self.queue(&before.queue, &now.queue, now_ns);
        }
        if is_collection_new {
            self.collection(now.collection.as_ref(), now_ns);
        }
    }

    fn queue(&mut self, before: &[Waits], now: &[Waits], now_ns: u64) {
        let same = |pairs: &mut dyn Iterator<Item = (&Waits, &Waits)>| {
            pairs.take_while(|(now, before)| now == before).count()
        };
        let first = same(&mut now.iter().zip(before));
        let (now, before) = (&now[first..], &before[first..]);
        let last = same(&mut now.iter().rev().zip(before.iter().rev()));
        let between = &now[..now.len() - last];
        for count in [first, last, between.len()] {
            self.number(count as u64);
        }
        for &Waits(is_read, arrived_ns) in between {
            let ago = arrived_ns.map_or(0, |arrived_ns| now_ns.saturating_sub(arrived_ns) + 1);
            self.number(2 * ago + u64::from(is_read));
        }
    }

    fn collection(&mut self, now: Option<&CollectionPicture>, now_ns: u64) {
        let Some(now) = now else { return self.number(0) };
        self.number(1 + 2 * u64::from(now.erases) + 4 * u64::from(now.is_suspended));
        for number in [now.plane.into(), now.moved.into(), now.left] {
            self.number(number);
        }
        self.ago(Some(now.since_ns), now_ns);
    }

    fn ago(&mut self, at_ns: Option<u64>, now_ns: u64) {
        self.number(at_ns.map_or(0, |at_ns| now_ns.saturating_sub(at_ns) + 1));
    }

    fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)) as u64);
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

fn counts(done: DonePicture) -> [u64; 4] {
    [done.requests, done.programs, done.copies, done.erases]
}

/// A unit that does nothing and has nothing to do.
fn nothing() -> UnitPicture {
    UnitPicture {
        planes: Vec::new(),
        bus: 0,
        work: Work::Idle,
        place: Place::Rest,
        since_ns: 0,
        serves_ns: None,
        queue: Vec::new(),
        collection: None,
    }
}

/// Whether the pictures of a unit are the same; that of an idle unit has no beginning.
fn is_same(now: &UnitPicture, before: &UnitPicture) -> bool {
    now.work == before.work
        && now.place == before.place
        && (now.work == Work::Idle || now.since_ns == before.since_ns)
        && now.serves_ns == before.serves_ns
        && now.queue == before.queue
        && now.collection == before.collection
}

fn work(work: Work) -> u8 {
    match work {
        Work::Idle => 0,
        Work::Read => 1,
        Work::Write => 2,
        Work::Copy => 3,
        Work::Erase => 4,
        Work::Switch => 5,
        Work::Background => 6,
    }
}

fn place(place: Place) -> u8 {
    match place {
        Place::Rest => 0,
        Place::Bus => 1,
        Place::Array => 2,
    }
}
