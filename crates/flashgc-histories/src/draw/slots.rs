//! Mapping units below the flash page: a device and a scheme that can have one.

use super::Draw;

const SCHEMES: &[&str] = &[
    "greedy",
    "fifo",
    "random",
    "cost-benefit",
    "d-choices",
    "wear-aware",
    "levelling",
    "idle",
    "ideal",
    "pbgc",
    "ssdsim",
    "greedy-msr",
    "pgc",
    "pgc-se",
    "fpgc",
    "tokens",
    "tokens-fpgc",
];

const REFUSED_OF_DEVICE: [&str; 5] =
    ["pool", "summary", "write_completion", "write_buffer", "sub_blocks"];

impl Draw {
    /// In a part of the cases, one program writes the pages of a word line.
    fn joins_word_line(&mut self) -> bool {
        let pages = self.number("device.pages_per_block");
        let layers = self.number("device.layers");
        let fits: Vec<u64> = (2..=4).filter(|n| (pages / layers).is_multiple_of(*n)).collect();
        if fits.is_empty() || !self.chance(40, 80) {
            return false;
        }
        let joined = self.choices.pick(&fits);
        self.set("device.pages_per_program", joined);
        self.history.words.push(("device".into(), "pages_per_program".into()));
        self.two_passes(pages / joined);
        true
    }

    /// In a part of the cases, a word line is programmed in two passes.
    fn two_passes(&mut self, lines: u64) {
        let ratio = self.history.get("device.timing.layer_ratio");
        let is_level = ratio.is_none_or(|ratio| ratio == "1");
        if !is_level || lines < 2 || !self.chance(35, 55) {
            return;
        }
        let times = ["3 ns", "90 us", "300 us", "2.4 ms"];
        let times = [self.choices.pick(&times), self.choices.pick(&times)];
        self.set("device.timing.program", format!("{times:?}"));
        if self.history.get("device.timing.transfer") == Some("\"0 ns/B\"") {
            self.text("device.timing.transfer", "1 ns/B");
        }
        if self.choices.chance(70) {
            let lag = self.choices.below(lines.min(6));
            self.set("device.fine_pass_lag", lag);
        }
        self.history.words.push(("device.timing.program".into(), "two passes".into()));
    }

    /// Where planes work together they do so in groups of equal size.
    fn planes_in_step(&mut self) {
        let (planes, most) =
            (self.number("device.planes_per_die"), self.number("device.multi_plane"));
        let fits: Vec<u64> = (2..=most).filter(|n| planes.is_multiple_of(*n)).collect();
        self.history.remove("device.multi_plane");
        if !fits.is_empty() {
            let together = self.choices.pick(&fits);
            self.set("device.multi_plane", together);
            self.history.words.push(("device".into(), "multi_plane in step".into()));
        }
    }

    /// In a part of the cases, flash pages hold several slots, and settings that exclude them are
    /// drawn again. Many presets of devices have slots, so half of them get it as well.
    pub(super) fn slots(&mut self) {
        let has_preset = self.history.get("device.preset").is_some();
        let usual = if has_preset { 50 } else { 15 };
        if !self.chance(usual, 50) {
            return;
        }
        if !has_preset {
            self.device_of_slots();
        }
        self.scheme_of_slots();
    }

    fn device_of_slots(&mut self) {
        let sizes =
            [("1 KiB", "512 B"), ("8 KiB", "4 KiB"), ("16 KiB", "4 KiB"), ("16 KiB", "2 KiB")];
        let (page, unit) = self.choices.pick(&sizes);
        self.text("device.page_size", page);
        if !self.joins_word_line() || self.choices.chance(60) {
            self.text("device.mapping_unit", unit);
            self.history.words.push(("device".into(), "mapping_unit".into()));
        }
        self.planes_in_step();
    }

    fn scheme_of_slots(&mut self) {
        for key in REFUSED_OF_DEVICE {
            self.history.remove(&format!("device.{key}"));
        }
        if self.choices.chance(30) {
            let size = self.choices.pick(&["32 KiB", "256 KiB", "1 MiB"]);
            self.text("device.write_buffer.size", size);
            self.text("device.write_buffer.access", "1 us");
            self.protection();
        }
        self.word("device.allocation", &["dynamic", "dynamic", "when-idle"]);
        self.history.remove("gc");
        self.history.remove("precondition.scheme");
        let scheme = self.word("gc.scheme", SCHEMES);
        if scheme != "ideal" {
            self.maybe("gc.copy.use", &["copyback", "bus"]);
        }
        if ["pgc-se", "fpgc", "tokens-fpgc"].contains(&scheme) {
            self.suspends();
            self.set("gc.preemption.suspend.merge", false);
            self.set("gc.preemption.suspend.pipeline", false);
        }
        if self.meets && scheme != "ideal" && !scheme.starts_with("tokens") {
            self.suspends_any();
        }
        self.placement_of_programs();
        if self.has_classes() && self.history.get("device.write_buffer.size").is_some() {
            // A program for each class, and one more.
            self.text("device.write_buffer.size", "2 MiB");
        }
    }

    /// In most cases requests suspend the operations of collections.
    fn suspends_any(&mut self) {
        if self.choices.chance(30) {
            return;
        }
        self.suspends();
        self.text("gc.preemption.use", "suspend");
        self.set("gc.preemption.suspend.merge", false);
        self.set("gc.preemption.suspend.pipeline", false);
        self.word("gc.preemption.suspend.of", &["any", "any", "erase"]);
    }

    /// A placement where programs join pages, or planes share their blocks, with the blocks and the
    /// threshold that its classes need.
    pub(super) fn placement_of_programs(&mut self) {
        if !self.choices.chance(60) {
            return self.maybe("gc.placement.use", &["one-frontier", "separate-gc"]);
        }
        self.placement();
        if self.has_classes() {
            let blocks = self.choices.between(24, 60);
            self.set("device.blocks_per_plane", blocks);
            let soft = self.choices.between(4, 18);
            self.text("gc.trigger.watermark.soft", format!("{soft} blocks"));
        }
    }

    fn has_classes(&self) -> bool {
        let plain = ["one-frontier", "separate-gc"];
        let placement = self.history.get("gc.placement.use");
        placement.is_some_and(|word| !plain.contains(&word.trim_matches('"')))
    }
}
