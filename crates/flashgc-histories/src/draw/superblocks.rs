//! Superblocks: a device and a scheme that can have them.

use super::Draw;

const SCHEMES: &[&str] =
    &["greedy", "fifo", "random", "cost-benefit", "d-choices", "wear-aware", "levelling", "ideal"];

pub(super) const REFUSED_OF_DEVICE: [&str; 7] = [
    "pool",
    "summary",
    "write_completion",
    "cache_operations",
    "independent_plane_reads",
    "read_retry",
    "sub_blocks",
];

/// From the smallest part.
const PARTS: [&str; 5] = ["plane", "die", "chip", "channel", "drive"];

impl Draw {
    /// In a part of the cases planes share their blocks, and settings that exclude this are drawn
    /// again.
    pub(super) fn superblocks(&mut self) {
        let has = |key: &str| self.history.get(&format!("device.{key}")).is_some();
        let joins = has("mapping_unit") || has("pages_per_program");
        let share = if joins { 25 } else { 12 };
        if has("preset") || !self.choices.chance(share) {
            return;
        }
        for key in REFUSED_OF_DEVICE {
            self.history.remove(&format!("device.{key}"));
        }
        if joins {
            self.word("device.allocation", &["dynamic"]);
            self.history.remove("device.write_buffer.power_loss_protection");
        } else {
            self.history.remove("device.multi_plane");
            self.history.remove("device.write_buffer");
            self.history.remove("device.allocation");
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
        if self.choices.chance(40) {
            self.word("gc.placement.use", &["separate-gc"]);
        }
        self.maybe("gc.blocking.use", &["unit", "plane", "channel"]);
        if self.choices.chance(50) {
            let soft = self.choices.between(2, 5);
            self.text("gc.trigger.watermark.soft", format!("{soft} blocks"));
            self.maybe("gc.trigger.watermark.batch", &["one", "until-stop"]);
        }
        if self.history.get("gc.placement.use").is_none() {
            self.placement_of_programs();
        } else if self.choices.chance(70) {
            self.interrupted_superblocks();
        }
    }

    /// Copies have superblocks of their own: the collection may make way for requests.
    fn interrupted_superblocks(&mut self) {
        for key in ["gc.blocking", "device.suspend"] {
            self.history.remove(key);
        }
        if self.choices.chance(60) {
            self.text("gc.pacing.use", "tokens");
            self.maybe("gc.pacing.tokens.floor", &["3 blocks", "5 blocks", "40 pages"]);
            self.value("gc.pacing.tokens.urgency_max", &["1.0", "2.5", "40.0"]);
        } else {
            self.text("gc.preemption.use", "between-copies");
            self.maybe("gc.preemption.between-copies.poll", &["1 us", "20 us"]);
        }
        self.maybe("gc.trigger.watermark.hard", &["2 blocks", "3 blocks", "none"]);
    }
}
