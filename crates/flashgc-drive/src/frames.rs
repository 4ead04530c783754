//! Tables of numbers as frames of zstd: packed and unpacked in parallel.

use crate::DriveError;
use std::io;
use std::sync::Mutex;
use std::thread;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{self, CParameter};

/// Bytes of a frame when it is unpacked; the last one of a table is shorter.
pub const FRAME_BYTES: usize = 4 << 20;
/// Map entries are close to random: a higher level takes long and gains little.
const LEVEL: i32 = 1;
/// More threads than this gain nothing: the file is read by one.
const THREADS_MAX: usize = 4;

/// A part of a table that fills one frame.
pub enum Part<'a> {
    /// Numbers of 32 bits.
    U32(&'a [u32]),
    /// Numbers of 64 bits.
    U64(&'a [u64]),
}

/// Room for such a part.
pub enum PartMut<'a> {
    /// Numbers of 32 bits.
    U32(&'a mut [u32]),
    /// Numbers of 64 bits.
    U64(&'a mut [u64]),
}

impl PartMut<'_> {
    /// Bytes of the part when it is unpacked.
    pub fn bytes(&self) -> usize {
        match self {
            PartMut::U32(part) => part.len() * 4,
            PartMut::U64(part) => part.len() * 8,
        }
    }

    fn fill(&mut self, bytes: &[u8]) {
        match self {
            PartMut::U32(part) => {
                for (number, bytes) in part.iter_mut().zip(bytes.chunks_exact(4)) {
                    *number = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                }
            }
            PartMut::U64(part) => {
                for (number, bytes) in part.iter_mut().zip(bytes.chunks_exact(8)) {
                    let mut own = [0; 8];
                    own.copy_from_slice(bytes);
                    *number = u64::from_le_bytes(own);
                }
            }
        }
    }
}

/// The parts of a table of 32-bit numbers.
pub fn parts_u32(table: &[u32]) -> Vec<Part<'_>> {
    table.chunks(FRAME_BYTES / 4).map(Part::U32).collect()
}

/// The parts of a table of 64-bit numbers.
pub fn parts_u64(table: &[u64]) -> Vec<Part<'_>> {
    table.chunks(FRAME_BYTES / 8).map(Part::U64).collect()
}

/// The largest size of a packed frame of this number of bytes.
pub fn packed_bytes_max(bytes: usize) -> usize {
    zstd_safe::compress_bound(bytes)
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(THREADS_MAX))
}

/// Does each task once, in parallel on several threads; the first error ends the work.
fn side_by_side<T: Send, E: Send, S>(
    tasks: Vec<T>,
    state: impl Fn() -> Result<S, E> + Sync,
    work: impl Fn(&mut S, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let count = threads().min(tasks.len());
    let tasks = Mutex::new(tasks.into_iter());
    let worker = || {
        let mut own = state()?;
        loop {
            // A thread that panicked has left the list as it was.
            let mut waiting = tasks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let Some(task) = waiting.next() else { return Ok(()) };
            drop(waiting);
            work(&mut own, task)?;
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..count).map(|_| scope.spawn(worker)).collect();
        let own = worker();
        let ends = others.into_iter().map(|thread| match thread.join() {
            Ok(end) => end,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ends.fold(own, Result::and)
    })
}

/// Packs every part.
pub fn pack(parts: Vec<Part<'_>>) -> io::Result<Vec<Vec<u8>>> {
    let mut frames: Vec<Vec<u8>> = vec![Vec::new(); parts.len()];
    let tasks = parts.into_iter().zip(&mut frames).collect();
    let packer = || {
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok((compressor, Vec::with_capacity(FRAME_BYTES)))
    };
    side_by_side(tasks, packer, |(compressor, bytes), (part, frame): (Part<'_>, &mut Vec<u8>)| {
        bytes.clear();
        match part {
            Part::U32(part) => part.iter().for_each(|n| bytes.extend(n.to_le_bytes())),
            Part::U64(part) => part.iter().for_each(|n| bytes.extend(n.to_le_bytes())),
        }
        *frame = compressor.compress(bytes)?;
        Ok::<(), io::Error>(())
    })?;
    Ok(frames)
}

/// Unpacks every frame into its part.
pub fn unpack(tasks: Vec<(&[u8], PartMut<'_>)>) -> Result<(), DriveError> {
    let unpacker = || Ok((Decompressor::new()?, vec![0; FRAME_BYTES]));
    side_by_side(tasks, unpacker, |(decompressor, room): &mut (Decompressor<'_>, Vec<u8>), task| {
        let (frame, mut part): (&[u8], PartMut<'_>) = task;
        let room = &mut room[..part.bytes()];
        let unpacked = decompressor.decompress_to_buffer(frame, room);
        let unpacked = unpacked.map_err(|error| {
            DriveError::damaged(format!("a table cannot be decompressed: {error}"))
        })?;
        if unpacked != part.bytes() {
            return Err(DriveError::damaged("a table is shorter than its declared length"));
        }
        part.fill(room);
        Ok(())
    })
}
