//! `flashgc._engine`: the engine for Python. Thin: it owns the clock, the files and the
//! interpreter's lock, and leaves everything else to the engine and to the package.

mod errors;
mod files;
mod packed;
mod pulse;
mod trace;

use pyo3::prelude::*;

/// The engine of flashgc.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(trace::trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace_convert, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace_formats, module)?)?;
    Ok(())
}
