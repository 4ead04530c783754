//! Writing a drive.

use crate::frames::{Part, pack, parts_u32, parts_u64};
use crate::header::{Header, Section};
use flashgc::drive::Role;
use flashgc::session::SavedDrive;
use std::io::{self, Write};

/// Numbers of each plane: full blocks, open blocks, whether it needs space.
pub(crate) const PER_PLANE: usize = 3;
/// Numbers of each open block: the block, its role, its next even and its next odd page.
pub(crate) const PER_OPEN: usize = 4;

/// Writes the drive; returns the bytes written.
pub fn write(to: &mut dyn Write, saved: &SavedDrive) -> io::Result<u64> {
    let state = &saved.state;
    let planes = state.planes.iter().flat_map(|p| [p.sealed, p.open, u32::from(p.triggered)]);
    let planes: Vec<u32> = planes.collect();
    let open = state.open.iter().flat_map(|open| {
        let role = match open.role {
            Role::Host => 0,
            Role::Gc => 1,
            Role::Started => 2,
        };
        [open.block.0, role, open.next[0], open.next[1]]
    });
    let open: Vec<u32> = open.collect();
    let mut tables = vec![
        ("map", state.map.len(), 4, parts_u32(&state.map)),
        ("order", state.order.len(), 4, parts_u32(&state.order)),
        ("planes", planes.len(), 4, parts_u32(&planes)),
        ("open", open.len(), 4, parts_u32(&open)),
        ("sealed_at_ns", state.sealed_at_ns.len(), 8, parts_u64(&state.sealed_at_ns)),
        ("erases", state.erases.len(), 4, parts_u32(&state.erases)),
    ];
    if let Some(kept) = &state.kept {
        tables.push(("kept", kept.numbers.len(), 4, parts_u32(&kept.numbers)));
    }
    let mut sections = Vec::new();
    let mut parts: Vec<Part<'_>> = Vec::new();
    for (name, entries, entry_bytes, own) in tables {
        let frames = vec![0; own.len()];
        sections.push(Section { name: name.into(), entries: entries as u64, entry_bytes, frames });
        parts.extend(own);
    }
    let packed = pack(parts)?;
    let lengths = sections.iter_mut().flat_map(|section| &mut section.frames);
    for (length, frame) in lengths.zip(&packed) {
        *length = frame.len() as u32;
    }
    let key = saved.origin.key();
    let kept_by = state.kept.as_ref().map(|kept| kept.by.clone());
    let origin = saved.origin.clone();
    let mut retired: Vec<u32> = state.planes.iter().map(|plane| plane.retired).collect();
    if retired.iter().all(|&blocks| blocks == 0) {
        retired.clear();
    }
    let failing = state.failing.clone();
    let header = Header {
        origin,
        key,
        age_ns: state.age_ns,
        kept_by,
        retired,
        failing,
        is_read_only: state.is_read_only,
        sections,
    };
    let mut bytes = header.write(to)?;
    for frame in &packed {
        to.write_all(frame)?;
        bytes += frame.len() as u64;
    }
    Ok(bytes)
}
