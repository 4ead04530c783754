//! Superblocks: a device and a scheme that can have them.

use super::Draw;

const SCHEMES: &[&str] =
    &["greedy", "fifo", "random", "cost-benefit", "d-choices", "wear-aware", "ideal"];

const REFUSED_OF_DEVICE: [&str; 10] = [
    "multi_plane",
    "pool",
    "summary",
    "write_completion",
    "write_buffer",
    "cache_operations",
    "independent_plane_reads",
    "read_retry",
    "allocation",
    "sub_blocks",
];

/// From the smallest part.
const PARTS: [&str; 5] = ["plane", "die", "chip", "channel", "drive"];

impl Draw {
    /// In a part of the cases planes share their blocks, and what cannot be combined with that is
    /// drawn again.
    pub(super) fn superblocks(&mut self) {
        let joins = ["preset", "mapping_unit", "pages_per_program"];
        let is_other = joins.iter().any(|key| self.history.get(&format!("device.{key}")).is_some());
        if is_other || !self.choices.chance(12) {
            return;
        }
        for key in REFUSED_OF_DEVICE {
            self.history.remove(&format!("device.{key}"));
        }
        let unit = PARTS.iter().position(|part| self.is("device.unit", part)).unwrap_or(0);
        self.word("device.superblock", &PARTS[unit..]);
        self.history.remove("gc");
        self.history.remove("precondition.scheme");
        self.scheme_of_superblocks();
    }

    /// A scheme that works on superblocks.
    pub(super) fn scheme_of_superblocks(&mut self) {
        let scheme = self.word("gc.scheme", SCHEMES);
        if scheme != "ideal" {
            self.word("gc.copy.use", &["bus", "bus", "bus", "instant"]);
        }
        self.word("gc.placement.use", &["separate-gc"]);
        self.maybe("gc.blocking.use", &["unit", "plane", "channel"]);
        if self.choices.chance(50) {
            let soft = self.choices.between(2, 5);
            self.text("gc.trigger.watermark.soft", format!("{soft} blocks"));
            self.maybe("gc.trigger.watermark.batch", &["one", "until-stop"]);
        }
    }
}
