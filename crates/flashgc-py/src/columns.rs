//! Columns of 64-bit numbers, for NumPy and Arrow.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The numbers of a column, little-endian.
pub fn packed<'py>(
    py: Python<'py>,
    values: impl ExactSizeIterator<Item = u64>,
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, values.len() * 8, |bytes| {
        for (at, value) in bytes.chunks_exact_mut(8).zip(values) {
            at.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    })
}
