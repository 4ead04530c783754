//! Collections that work alone on a channel of several units, as in SSDSim.

use super::Draw;

impl Draw {
    /// Blocks the channel for the host and for other collections, which copy over its bus or send
    /// commands on it.
    pub(super) fn one_collection(&mut self) {
        if !self.chance(8, 16) || self.history.get("device.preset").is_some() {
            return;
        }
        let chips = self.choices.between(2, 4);
        self.set("device.chips_per_channel", chips);
        self.word("device.unit", &["chip", "chip", "die", "plane"]);
        self.word("gc.preemption.use", &["never"]);
        self.word("gc.pacing.use", &["at-once"]);
        self.word("gc.blocking.use", &["channel"]);
        self.maybe("gc.blocking.channel.erasing", &["chip", "die", "plane"]);
        self.word("gc.blocking.channel.collections", &["one", "any"]);
        self.word("gc.copy.use", &["bus", "bus", "copyback"]);
        if self.choices.chance(50) {
            self.of_plain_pages();
        }
    }

    /// Without what would make copies of different lengths, or take pages next to them.
    fn of_plain_pages(&mut self) {
        self.word("gc.placement.use", &["one-frontier", "separate-gc"]);
        self.word("gc.trigger.use", &["watermark"]);
        self.word("gc.background.use", &["nothing"]);
        self.word("device.allocation", &["striped", "when-idle"]);
        for key in [
            "device.write_buffer",
            "device.multi_plane",
            "device.cache_operations",
            "device.superblock",
            "device.layers",
            "device.timing.layer_ratio",
            "device.read_retry",
            "device.failures",
            "device.suspend",
            "device.summary",
            "device.mapping_unit",
            "device.pages_per_program",
            "device.independent_plane_reads",
            "gc.copy.copyback.parity",
            "gc.cost",
        ] {
            self.history.remove(key);
        }
    }
}
