//! `flashgc._engine`: the engine for Python. Thin: it owns the clock, the files and the GIL, and
//! leaves everything else to the engine and to the package.

mod animation;
mod closed_loop;
mod columns;
mod component;
mod drive;
mod errors;
mod files;
mod fit;
mod generate;
mod logs;
mod memory;
mod over_time;
mod packed;
mod papers;
mod policies;
mod presets;
mod pulse;
mod request;
mod request_log;
mod row_log;
mod run;
mod sizing;
mod streamed;
mod timeline;
mod trace;

use pyo3::prelude::*;

/// Short runs consist mostly of small allocations, which take a fifth of their time with the
/// allocator of the C library.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The engine of flashgc.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(module)?;
    module.add_function(wrap_pyfunction!(errors::fail_as_a_fault_does, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<over_time::OverTime>()?;
    module.add("REQUEST_KINDS", request_log::kinds(module.py())?)?;
    module.add_class::<run::Outcome>()?;
    module.add_class::<animation::Recorded>()?;
    module.add_class::<request::Fitted>()?;
    module.add_class::<component::Component>()?;
    module.add_class::<component::Completions>()?;
    module.add_class::<component::Snapshot>()?;
    module.add_class::<closed_loop::Loop>()?;
    module.add("PARTS", component::part_names(module.py())?)?;
    module.add("NO_TRACE", flashgc::session::NO_TRACE)?;
    module.add("OPERATIONS", component::operations(module.py())?)?;
    module.add_function(wrap_pyfunction!(sizing::fit, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(animation::animate, module)?)?;
    module.add_function(wrap_pyfunction!(run::check, module)?)?;
    module.add_function(wrap_pyfunction!(run::problems, module)?)?;
    module.add_function(wrap_pyfunction!(presets::schemes, module)?)?;
    module.add_function(wrap_pyfunction!(presets::devices, module)?)?;
    module.add_function(wrap_pyfunction!(papers::papers, module)?)?;
    module.add_function(wrap_pyfunction!(drive::drive_save, module)?)?;
    module.add_function(wrap_pyfunction!(drive::drive_info, module)?)?;
    module.add_function(wrap_pyfunction!(trace::check_duration, module)?)?;
    module.add_function(wrap_pyfunction!(trace::check_fit, module)?)?;
    module.add_function(wrap_pyfunction!(trace::check_format, module)?)?;
    module.add_function(wrap_pyfunction!(trace::check_format_to_write, module)?)?;
    module.add_function(wrap_pyfunction!(timeline::check_window, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace_convert, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace_merge, module)?)?;
    module.add_function(wrap_pyfunction!(generate::trace_generate, module)?)?;
    module.add_function(wrap_pyfunction!(generate::workload_statistics, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace_formats, module)?)?;
    module.add_function(wrap_pyfunction!(fit::trace_columns, module)?)?;
    module.add_function(wrap_pyfunction!(fit::trace_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(fit::trace_again, module)?)?;
    Ok(())
}
