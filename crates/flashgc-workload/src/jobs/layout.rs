//! The places of the jobs' files: the drive itself, or files one behind the other.

use super::{CLONES_MAX, Extent, File, JobPlan, JobsPlan};
use std::collections::BTreeMap;

/// The part of the drive that a clone works on.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The number of its job.
    pub job: usize,
    /// Its number among the clones of the job.
    pub clone: u32,
    /// The first byte, in the first file.
    pub first_byte: u64,
    /// The length, in each file.
    pub bytes: u64,
    /// Its first byte in its file.
    pub offset_bytes: u64,
    /// The length of the file in the job, in bytes.
    pub file_bytes: u64,
    /// From one of its files to the next.
    pub file_step_bytes: u64,
    /// Bytes to transfer.
    pub amount_bytes: u64,
    /// The factor by which sizes were multiplied.
    pub scale: f64,
}

impl Span {
    /// Behind its last byte, in the last of its files.
    pub fn end_byte(&self, files: u32) -> u64 {
        self.first_byte + u64::from(files - 1) * self.file_step_bytes + self.bytes
    }
}

/// The parts of all clones.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// In the order of the jobs.
    pub spans: Vec<Span>,
    /// Bytes of the drive that files take.
    pub bytes: u64,
}

/// The reasons why jobs cannot be laid out.
#[derive(Clone, Debug, PartialEq)]
pub enum Misfit {
    /// There are too many clones.
    Clones(u64),
    /// The part of a job is too small for its requests.
    Small {
        /// The number of the job.
        job: usize,
        /// The bytes of its part.
        bytes: u64,
    },
    /// A job without a size needs the drive for its file.
    NoSize(usize),
    /// The files need this number of bytes, which the drive does not have.
    Large(u64),
}

/// A name of a file.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Name<'a> {
    Own(usize, u32),
    Shared(&'a str),
}

fn scaled(bytes: u64, scale: f64) -> u64 {
    if scale == 1.0 { bytes } else { libm::round(bytes as f64 * scale) as u64 }
}

fn extent(extent: Extent, of: u64, scale: f64) -> u64 {
    match extent {
        Extent::Bytes(bytes) => scaled(bytes, scale),
        Extent::Share(share) => libm::round(share * of as f64) as u64,
    }
}

impl Layout {
    /// Lays out the files of all jobs on a drive.
    pub fn new(plan: &JobsPlan, drive_bytes: u64, page_bytes: u64) -> Result<Layout, Misfit> {
        let clones = plan.jobs.iter().map(|job| u64::from(job.clones)).sum();
        if clones > CLONES_MAX {
            return Err(Misfit::Clones(clones));
        }
        let mut spans = Vec::new();
        // Each file with its length, and how many there are of it; files lie in the order in which
        // they are named first.
        let mut files: Vec<(u64, u64)> = Vec::new();
        let mut numbers = BTreeMap::new();
        let mut of_span = Vec::new();
        for (job, own) in plan.jobs.iter().enumerate() {
            for clone in 0..own.clones {
                let (offset, span) = part(plan.scale, own, job, clone, drive_bytes)?;
                let name = match &own.file {
                    File::Own => Some(Name::Own(job, clone)),
                    File::Named(name) => Some(Name::Shared(name)),
                    File::Drive => None,
                };
                let file = name.map(|name| {
                    *numbers.entry(name).or_insert_with(|| {
                        files.push((0, 1));
                        files.len() - 1
                    })
                });
                if let Some(file) = file {
                    let file_bytes =
                        own.file_size.map_or(0, |of| extent(of, drive_bytes, plan.scale));
                    let end = offset.saturating_add(span.bytes).max(file_bytes);
                    let (bytes, count) = files[file];
                    files[file] = (bytes.max(end), count.max(u64::from(own.files.count)));
                } else if offset.saturating_add(span.bytes) > drive_bytes {
                    return Err(Misfit::Large(offset.saturating_add(span.bytes)));
                }
                of_span.push(file);
                spans.push(span);
            }
        }
        let mut starts = Vec::new();
        let mut end = 0u64;
        for (bytes, count) in files {
            let step = bytes.div_ceil(page_bytes).saturating_mul(page_bytes);
            starts.push((end, step));
            end = end.saturating_add(step.saturating_mul(count));
        }
        if end > drive_bytes {
            return Err(Misfit::Large(end));
        }
        for (span, file) in spans.iter_mut().zip(of_span) {
            let (start, step) = file.map_or((0, 0), |file| starts[file]);
            span.first_byte += start;
            span.file_step_bytes = step;
        }
        Ok(Layout { spans, bytes: end })
    }
}

/// The offset of a clone in its file. In passes it is as given, and shares are rounded up to whole
/// requests; else all are rounded down.
fn offset(plan: &JobPlan, clone: u32, of: u64, scale: f64) -> u64 {
    let step = extent(plan.offset_step, of, scale).saturating_mul(u64::from(clone));
    let offset = extent(plan.offset, of, scale).saturating_add(step);
    let is_share = |extent| matches!(extent, Extent::Share(_));
    if plan.passes.is_none() {
        offset / plan.align_bytes * plan.align_bytes
    } else if is_share(plan.offset) || is_share(plan.offset_step) {
        offset.next_multiple_of(plan.align_bytes)
    } else {
        offset
    }
}

/// The offset of a clone in its file, and its part as if the file began with the drive.
fn part(
    scale: f64,
    plan: &JobPlan,
    job: usize,
    clone: u32,
    drive_bytes: u64,
) -> Result<(u64, Span), Misfit> {
    let is_drive = plan.file == File::Drive;
    let size = plan.size.map(|size| extent(size, drive_bytes, scale));
    let file = plan.file_size.map(|size| extent(size, drive_bytes, scale));
    let file = file.or(is_drive.then_some(drive_bytes));
    let of = if is_drive { drive_bytes } else { size.or(file).unwrap_or(0) };
    let offset = offset(plan, clone, of, scale);
    let rest = file.map(|bytes| bytes.saturating_sub(offset));
    // In passes a part ends with its file.
    let is_cut = plan.passes.is_some() || plan.file_size.is_some();
    let size = match (size, rest) {
        (Some(size), Some(rest)) if is_cut => size.min(rest),
        (Some(size), _) => size,
        (None, Some(rest)) => rest,
        (None, None) => return Err(Misfit::NoSize(job)),
    };
    if size < plan.least_part_bytes() {
        return Err(Misfit::Small { job, bytes: size });
    }
    // A scale leaves at least one byte of an amount.
    let least = u64::from(!plan.amount.is_zero());
    let of_all = size.saturating_mul(u64::from(plan.files.count));
    let amount_bytes = extent(plan.amount, of_all, scale).max(least);
    let span = Span {
        job,
        clone,
        first_byte: offset,
        bytes: size,
        offset_bytes: offset,
        file_bytes: file.unwrap_or_else(|| offset.saturating_add(size)),
        file_step_bytes: 0,
        amount_bytes,
        scale,
    };
    Ok((offset, span))
}
