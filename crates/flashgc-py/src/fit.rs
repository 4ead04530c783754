//! The input of `trace fit`: the columns of a trace, and how long ago places were written.

use crate::errors::guarded;
use crate::pulse::Raised;
use crate::trace::{Reading, wrong};
use flashgc::workload::fitted::Recency;
use flashgc_trace::{Disorder, Op};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Times in ns, devices, operations, first bytes and sizes in bytes; each as 64-bit little-endian
/// numbers but the operations, which are one byte each: 0 reads, 1 writes, 2 trims, 3 others.
type Columns<'py> = (
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
);

#[derive(Default)]
struct Rows {
    times: Vec<u8>,
    devices: Vec<u8>,
    ops: Vec<u8>,
    offsets: Vec<u8>,
    sizes: Vec<u8>,
}

/// The columns of a trace, in the order of the file.
#[pyfunction]
pub fn trace_columns(py: Python<'_>, reading: Reading) -> PyResult<Columns<'_>> {
    let rows = py.detach(|| guarded(|| columns(&reading)))?;
    Ok((
        PyBytes::new(py, &rows.times),
        PyBytes::new(py, &rows.devices),
        PyBytes::new(py, &rows.ops),
        PyBytes::new(py, &rows.offsets),
        PyBytes::new(py, &rows.sizes),
    ))
}

fn columns(reading: &Reading) -> PyResult<Rows> {
    let raised = Raised::default();
    let mut rows = Rows::default();
    for record in reading.open(&raised, Disorder::Ignore)? {
        let record = record.map_err(|error| crate::pulse::raised_or(&raised, wrong(error)))?;
        rows.times.extend(record.at_ns.to_le_bytes());
        rows.devices.extend(record.device.to_le_bytes());
        rows.ops.push(match record.op {
            Op::Read => 0,
            Op::Write => 1,
            Op::Trim => 2,
            Op::Other => 3,
        });
        rows.offsets.extend(record.offset_bytes.to_le_bytes());
        rows.sizes.extend(record.size_bytes.to_le_bytes());
    }
    Ok(rows)
}

/// How many places were written since the last write of each, if all writes are repeated again and
/// again. `places` are numbers from 0 to below `count`, as 32-bit little-endian numbers, and so
/// are the results.
#[pyfunction]
pub fn trace_ranks<'py>(
    py: Python<'py>,
    places: &[u8],
    count: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let numbers = numbers(places, count)?;
    let ranks = py.detach(|| {
        let mut recency = Recency::new(&(0..count).collect::<Vec<u32>>());
        numbers.iter().for_each(|&place| recency.touch(place));
        let mut ranks = Vec::with_capacity(places.len());
        for &place in &numbers {
            ranks.extend(recency.rank(place).to_le_bytes());
            recency.touch(place);
        }
        ranks
    });
    Ok(PyBytes::new(py, &ranks))
}

/// The most pages that were written, last time, between the end of the write before and the
/// beginning of this one, where this write counts as a continuation of that order.
const NEAR_PAGES: u64 = 64;

/// Whether each write continues in the order of last time, if all writes are repeated again and
/// again: a byte each. Writes are given by their first pages and the pages after their last ones,
/// below `count`, as 32-bit little-endian numbers.
#[pyfunction]
pub fn trace_again<'py>(
    py: Python<'py>,
    first: &[u8],
    end: &[u8],
    count: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let (first, end) = (numbers(first, count)?, numbers(end, count.saturating_add(1))?);
    let again = py.detach(|| {
        let mut written_at = vec![0_u64; count as usize];
        let mut now = 1_u64;
        let mut again = vec![0_u8; first.len()];
        for round in 0..2 {
            let mut before = 0;
            for (at, (&first, &end)) in first.iter().zip(&end).enumerate() {
                let pages = first as usize..(end as usize).max(first as usize + 1);
                let Some(places) = written_at.get_mut(pages) else { continue };
                let begins = places.first().copied().unwrap_or(0);
                let near = begins > before && begins - before <= NEAR_PAGES;
                again[at] = u8::from(round == 1 && before > 0 && near);
                before = places.last().copied().unwrap_or(0);
                for place in places {
                    *place = now;
                    now += 1;
                }
            }
        }
        again
    });
    Ok(PyBytes::new(py, &again))
}

/// Numbers below `count`, from their bytes.
fn numbers(places: &[u8], count: u32) -> PyResult<Vec<u32>> {
    let number = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
    let found: Vec<u32> = places.chunks_exact(4).map(number).collect();
    if found.iter().any(|&place| place >= count) {
        return Err(wrong("a place is out of range"));
    }
    Ok(found)
}
