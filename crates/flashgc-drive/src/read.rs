//! Reading a drive.

use crate::DriveError;
use crate::frames::{FRAME_BYTES, PartMut, packed_bytes_max, unpack};
use crate::header::{Header, Section};
use crate::write::{PER_OPEN, PER_PLANE};
use flashgc::device::Geometry;
use flashgc::drive::{Drive, Kept, OpenBlock, PlaneBlocks, Role};
use flashgc::ids::BlockId;
use flashgc::memory::table;
use flashgc::session::SavedDrive;
use std::io::Read;

/// The most numbers of counters of hot pages: 16 rows of 16 Mi of them, four to a number.
const KEPT_MAX: u64 = 1 << 26;
/// The most numbers of a scheme's own state for each block or plane.
const KEPT_PER_BLOCK: u64 = 16;

/// The size of the caller's device: a file with any other size is refused before memory is
/// allocated.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// User pages.
    pub exported_pages: u32,
    /// Blocks.
    pub blocks: u32,
    /// Planes.
    pub planes: u32,
}

impl Limits {
    /// The limits of a device.
    pub fn of(geometry: &Geometry) -> Self {
        let Geometry { exported_pages, blocks, planes, .. } = *geometry;
        Limits { exported_pages, blocks, planes }
    }
}

/// A file whose header was read.
pub struct Opened<R> {
    /// Its content.
    pub header: Header,
    head_bytes: u64,
    from: R,
}

/// Reads the header of a drive.
pub fn open<R: Read>(mut from: R) -> Result<Opened<R>, DriveError> {
    let (header, head_bytes) = Header::read(&mut from)?;
    Ok(Opened { header, head_bytes, from })
}

/// The drive in these bytes; the target of a fuzzer.
pub fn decode(bytes: &[u8], limits: &Limits) -> Result<SavedDrive, DriveError> {
    open(bytes)?.load(limits)
}

impl<R: Read> Opened<R> {
    /// Bytes of the whole file, as its header has it.
    pub fn file_bytes(&self) -> u64 {
        self.head_bytes + self.header.frame_bytes()
    }

    /// Reads the tables. They have the sizes of the device; the engine checks that their values are
    /// consistent.
    pub fn load(mut self, limits: &Limits) -> Result<SavedDrive, DriveError> {
        let blocks = limits.blocks as usize;
        let mut sections = Sections { rest: self.header.sections.iter() };
        let map = sections.next("map", 4, Some(limits.exported_pages as usize))?;
        let order = sections.next("order", 4, Some(blocks))?;
        let planes = sections.next("planes", 4, Some(limits.planes as usize * PER_PLANE))?;
        let open = sections.next("open", 4, None)?;
        let sealed = sections.next("sealed_at_ns", 8, Some(blocks))?;
        let erases = sections.next("erases", 4, Some(blocks))?;
        let kept = match &self.header.kept_by {
            Some(_) => Some(sections.next("kept", 4, None)?),
            None => None,
        };
        let kept_entries = kept.map_or(0, |section| section.entries);
        if kept_entries > KEPT_MAX + (blocks as u64 + limits.planes as u64) * KEPT_PER_BLOCK {
            return Err(DriveError::damaged("its table `kept` has an impossible length"));
        }
        if sections.rest.next().is_some() {
            return Err(DriveError::damaged("it has an unknown table"));
        }
        if open.entries % PER_OPEN as u64 != 0 || open.entries > (blocks * PER_OPEN) as u64 {
            return Err(DriveError::damaged("its table `open` has an impossible length"));
        }
        let packed = packed(&mut self.from, self.header.frame_bytes())?;
        let room_u32 = |section: &Section| table(0u32, section.entries as usize);
        let (mut map, mut order, mut erases) = (room_u32(map), room_u32(order), room_u32(erases));
        let (mut planes, mut open) = (room_u32(planes), room_u32(open));
        let mut kept = table(0u32, kept_entries as usize);
        let mut sealed_at_ns = table(0u64, sealed.entries as usize);
        let (in_u32, in_u64) = (FRAME_BYTES / 4, FRAME_BYTES / 8);
        let parts = map.chunks_mut(in_u32).map(PartMut::U32);
        let parts = parts.chain(order.chunks_mut(in_u32).map(PartMut::U32));
        let parts = parts.chain(planes.chunks_mut(in_u32).map(PartMut::U32));
        let parts = parts.chain(open.chunks_mut(in_u32).map(PartMut::U32));
        let parts = parts.chain(sealed_at_ns.chunks_mut(in_u64).map(PartMut::U64));
        let parts = parts.chain(erases.chunks_mut(in_u32).map(PartMut::U32));
        let parts = parts.chain(kept.chunks_mut(in_u32).map(PartMut::U32));
        let mut rest = &packed[..];
        let lengths = self.header.sections.iter().flat_map(|section| &section.frames);
        let tasks = parts.zip(lengths).map(|(part, &length)| {
            let frame;
            (frame, rest) = rest.split_at(length as usize);
            (frame, part)
        });
        unpack(tasks.collect())?;
        let state = Drive {
            map,
            order,
            planes: planes_of(&planes, &self.header.retired)?,
            open: open_of(&open)?,
            sealed_at_ns,
            erases,
            age_ns: self.header.age_ns,
            failing: self.header.failing,
            is_read_only: self.header.is_read_only,
            kept: self.header.kept_by.map(|by| Kept { by, numbers: kept }),
        };
        Ok(SavedDrive { origin: self.header.origin, state })
    }
}

/// The packed tables. Their lengths were checked, so they bound the amount that is read.
fn packed(from: &mut dyn Read, bytes: u64) -> Result<Vec<u8>, DriveError> {
    let mut packed = Vec::new();
    (&mut *from).take(bytes).read_to_end(&mut packed)?;
    if (packed.len() as u64) < bytes {
        return Err(DriveError::damaged("it is truncated"));
    }
    if from.read(&mut [0])? > 0 {
        return Err(DriveError::damaged("it has data after its end"));
    }
    Ok(packed)
}

/// The sections of a header, each checked against its expected size.
struct Sections<'a> {
    rest: std::slice::Iter<'a, Section>,
}

impl<'a> Sections<'a> {
    fn next(
        &mut self,
        name: &str,
        entry_bytes: u32,
        entries: Option<usize>,
    ) -> Result<&'a Section, DriveError> {
        let section = self.rest.next().filter(|section| section.name == name);
        let Some(section) = section.filter(|section| section.entry_bytes == entry_bytes) else {
            return Err(DriveError::damaged(format!("its table `{name}` is missing")));
        };
        if entries.is_some_and(|entries| entries as u64 != section.entries) {
            return Err(DriveError::damaged(format!(
                "its table `{name}` has {} entries, but the device needs {}",
                section.entries,
                entries.unwrap_or(0)
            )));
        }
        let mut left = section.entries.saturating_mul(u64::from(entry_bytes));
        let due = left.div_ceil(FRAME_BYTES as u64);
        let mut fits = section.frames.len() as u64 == due;
        for &frame in &section.frames {
            let unpacked = left.min(FRAME_BYTES as u64);
            left -= unpacked;
            fits &= frame as usize <= packed_bytes_max(unpacked as usize);
        }
        if !fits {
            return Err(DriveError::damaged(format!("its table `{name}` has invalid frames")));
        }
        Ok(section)
    }
}

fn planes_of(numbers: &[u32], retired: &[u32]) -> Result<Vec<PlaneBlocks>, DriveError> {
    let planes = numbers.chunks_exact(PER_PLANE);
    if !retired.is_empty() && retired.len() != planes.len() {
        return Err(DriveError::damaged("its list of retired blocks has a wrong length"));
    }
    let retired = retired.iter().copied().chain(std::iter::repeat(0));
    let planes = planes.zip(retired).map(|(plane, retired)| match plane[2] {
        triggered @ (0 | 1) => {
            let (sealed, open) = (plane[0], plane[1]);
            Ok(PlaneBlocks { sealed, open, retired, triggered: triggered == 1 })
        }
        other => Err(DriveError::damaged(format!(
            "the flag of a plane that needs collection is {other}, not 0 or 1"
        ))),
    });
    planes.collect()
}

fn open_of(numbers: &[u32]) -> Result<Vec<OpenBlock>, DriveError> {
    let blocks = numbers.chunks_exact(PER_OPEN).map(|open| {
        let role = match open[1] {
            0 => Role::Host,
            1 => Role::Gc,
            2 => Role::Started,
            other => {
                return Err(DriveError::damaged(format!(
                    "an open block has the unknown kind {other}"
                )));
            }
        };
        Ok(OpenBlock { block: BlockId(open[0]), role, next: [open[2], open[3]] })
    });
    blocks.collect()
}
