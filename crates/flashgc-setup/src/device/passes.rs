//! The passes of a program: `device.timing.program` as a list of two, and `device.fine_pass_lag`.

use flashgc_config::Reader;
use flashgc_model::device::{Passes, Shape, Timing};

/// The lag of a device that names none: a fine pass follows the coarse pass of the next word line.
const LAG: u32 = 1;
const LAG_MAX: u32 = 63;

/// Word lines by which fine passes lag behind. Errors are noted.
pub fn lag(table: &Reader<'_>) -> Option<u32> {
    if table.has("fine_pass_lag") { table.u32("fine_pass_lag", 0..=LAG_MAX) } else { Some(LAG) }
}

/// Adds the passes to the times of a device that has them.
pub fn add(table: &Reader<'_>, timing: &mut Timing, lag: u32, shape: &Shape) -> Option<()> {
    let Some(passes) = timing.passes else { return Some(()) };
    let lines = shape.pages_per_block / shape.lanes / shape.program_slots.max(1);
    let two = "two passes of device.timing.program";
    let refuse = |key: &str, message: String, help: String| {
        table.error(key, message, help);
        None
    };
    if shape.pages_per_program / shape.planes_in_step == 1 {
        let message = format!("{two} need a pages_per_program above 1: they program word lines");
        let help = "set device.pages_per_program, as in `pages_per_program = 4` for QLC, or give \
                    one time";
        return refuse("pages_per_program", message, help.into());
    }
    if timing.layer_speed.is_some() {
        let message = format!("{two} cannot be combined with a layer_ratio above 1");
        let help = "remove `layer_ratio`, or give one time";
        table.table("timing").error("layer_ratio", message, help);
        return None;
    }
    if timing.transfer_ns == 0 {
        let message = format!("{two} need a bus time, since data comes in for each of them");
        table.table("timing").error("transfer", message, "write for example \"1600 MB/s\"");
        return None;
    }
    if lag >= lines {
        let message = format!(
            "fine_pass_lag must be below the {lines} word lines of a block, got {lag}{}",
            if table.has("fine_pass_lag") { "" } else { ", the default" }
        );
        return refuse("fine_pass_lag", message, format!("give at most {}", lines - 1));
    }
    timing.passes = Some(Passes { lag, ..passes });
    Some(())
}
