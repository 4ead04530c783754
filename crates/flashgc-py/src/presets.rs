//! The presets that ship with the engine, as JSON.

use pyo3::prelude::*;

/// Every scheme preset, and the choices of every slot.
#[pyfunction]
pub fn schemes() -> String {
    flashgc::config::presets::schemes_json().to_string()
}

/// Every device preset.
#[pyfunction]
pub fn devices() -> String {
    flashgc::config::presets::devices_json().to_string()
}
