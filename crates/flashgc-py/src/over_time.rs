//! A run over time, as columns.

use flashgc::stats::{ErasesByPlace, RunOverTime, SeriesRow, Stretch};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A run over time.
#[pyclass(frozen, module = "flashgc._engine")]
#[derive(Clone)]
pub struct OverTime(RunOverTime);

impl From<&RunOverTime> for OverTime {
    fn from(found: &RunOverTime) -> Self {
        OverTime(found.clone())
    }
}

/// A column for each of these fields; an undefined value is NaN.
macro_rules! columns {
    ($py:expr, $rows:expr, $($name:ident),* ; $($undefined:ident),*) => {{
        let columns = PyDict::new($py);
        $(columns.set_item(
            stringify!($name),
            $rows.iter().map(|row| row.$name).collect::<Vec<_>>(),
        )?;)*
        $(columns.set_item(
            stringify!($undefined),
            $rows.iter().map(|row| row.$undefined.map_or(f64::NAN, |it| it as f64))
                .collect::<Vec<_>>(),
        )?;)*
        columns
    }};
}

#[pymethods]
impl OverTime {
    /// The length of an interval of the series, in ns.
    #[getter]
    fn interval_ns(&self) -> u64 {
        self.0.interval_ns
    }

    /// The rows of the series, by the names of their columns.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows: &[SeriesRow] = &self.0.rows;
        Ok(columns!(
            py, rows, start_ns, requests_read, requests_write, free_blocks_min, free_blocks_end,
            used_pages_end, gc_count, gc_moved, gc_busy_ns, outstanding_max;
            latency_read_mean_ns, latency_read_max_ns, latency_write_mean_ns, latency_write_max_ns
        ))
    }

    /// The stretches of collections, by the names of their columns.
    fn collections<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stretches: &[Stretch] = &self.0.collections;
        Ok(columns!(py, stretches, count, moved_min, moved_sum, moved_max;))
    }

    /// Number of planes and of blocks in each, of the drive and of a group, and the erases of the
    /// groups.
    fn wear(&self) -> ([u32; 2], [u32; 2], Vec<u64>) {
        let ErasesByPlace { whole, group, erases } = &self.0.wear;
        (*whole, *group, erases.clone())
    }
}
