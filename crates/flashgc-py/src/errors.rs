//! The exceptions of the package, and the barrier that stops every panic of the engine.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};
use std::env;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

create_exception!(flashgc, FlashgcError, PyException, "The base of every error of flashgc.");
create_exception!(flashgc, ConfigError, FlashgcError, "A configuration that cannot be run.");
create_exception!(flashgc, TraceError, FlashgcError, "A trace that cannot be read or written.");
create_exception!(flashgc, DriveError, FlashgcError, "A saved drive that cannot be used.");
create_exception!(flashgc, RunError, FlashgcError, "A run that cannot continue.");
create_exception!(flashgc, OutputError, FlashgcError, "A result that cannot be written.");
create_exception!(flashgc, InternalError, FlashgcError, "A fault of flashgc itself; report it.");

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}
static HOOK: Once = Once::new();

/// Does the work; a panic in it becomes an [`InternalError`] that requests a bug report.
pub fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    HOOK.call_once(install_hook);
    INSIDE.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(false);
    result.unwrap_or_else(|_| {
        let what = PANIC.take();
        Err(InternalError::new_err(format!("error: flashgc itself has failed: {what}")))
    })
}

/// Panics inside [`guarded`] are stored for the message; all others, and all where a backtrace is
/// requested, go to the previous hook.
fn install_hook() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if INSIDE.get() {
            PANIC.replace(info.to_string().replace('\n', " "));
        }
        if !INSIDE.get() || env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            before(info);
        }
    }));
}

/// Fails in the same way as a fault of the engine, so that tests can check the message that a user
/// gets.
#[pyfunction]
pub fn fail_as_a_fault_does(py: Python<'_>) -> PyResult<()> {
    py.detach(|| guarded(|| panic!("a fault that a test asked for")))
}

/// Adds the exceptions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("FlashgcError", py.get_type::<FlashgcError>())?;
    module.add("ConfigError", py.get_type::<ConfigError>())?;
    module.add("TraceError", py.get_type::<TraceError>())?;
    module.add("DriveError", py.get_type::<DriveError>())?;
    module.add("RunError", py.get_type::<RunError>())?;
    module.add("OutputError", py.get_type::<OutputError>())?;
    module.add("InternalError", py.get_type::<InternalError>())
}
