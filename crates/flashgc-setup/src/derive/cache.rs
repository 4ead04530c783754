//! Settings that exclude cache operations (docs/cache-operations.md).

use crate::device::Device;
use flashgc_config::Reader;
use flashgc_model::plan::Allocation;

const KEY: &str = "cache_operations";

/// Checks the device.
pub fn check(root: &Reader<'_>, device: &Device) -> Option<()> {
    if !device.cache.is_some() {
        return Some(());
    }
    let table = root.table("device");
    if device.cache.reads && device.timing.command_ns > 0 {
        let message = format!(
            "cache reads need commands without bus time, but device.timing.command is {} ns",
            device.timing.command_ns
        );
        let help = "set device.timing.command = \"0 ns\" or cache_operations = \"programs\"";
        table.error(KEY, message, help);
        root.remedy("device.timing.command", "0 ns");
        return None;
    }
    if device.cache.programs && device.allocation == Allocation::WhenIdle {
        let message = "cache programs load writes that wait at a busy unit, but with \
                       device.allocation = \"when-idle\" none does";
        let help = "set device.allocation = \"dynamic\", or cache_operations = \"reads\"";
        table.error(KEY, message, help);
        root.remedy("device.allocation", "dynamic");
        return None;
    }
    Some(())
}
