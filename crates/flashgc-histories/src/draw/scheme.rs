//! Schemes: presets with some keys replaced, and own ones of all slots.

use super::Draw;
use flashgc::config::words_of;

/// Every victim.
pub(super) fn victims() -> Vec<&'static str> {
    words_of("victim")
}

/// Placements of whole blocks.
pub(super) fn placements() -> Vec<&'static str> {
    let mut words = words_of("placement");
    words.retain(|&word| word != "hotness-groups");
    words
}

const LEVELS: &[&str] = &["unit", "channel", "chip", "die", "plane", "blocks"];

impl Draw {
    pub(super) fn scheme(&mut self) {
        if self.choices.chance(40) {
            self.preset_scheme();
        } else {
            self.erase();
            self.trigger();
            self.copy();
            self.placement();
            self.preemption();
            self.pacing();
            self.blocking();
            self.background();
        }
        self.tokens();
        // A scheme with collections that take no time.
        if self.choices.chance(8) {
            self.set("gc.cost", "\"none\"");
        }
    }

    /// The requirements of tokens: a watermark alone, and no closed blocks.
    fn tokens(&mut self) {
        let is_preset = self.history.get("gc.scheme").is_some_and(|name| name.contains("tokens"));
        let is_paced =
            self.history.get("gc.pacing.use").map_or(is_preset, |word| word.contains("tokens"));
        if !is_paced {
            return;
        }
        self.set("gc.trigger.use", "\"watermark\"");
        if !self.history.get("gc.blocking.use").is_some_and(|word| word.contains("unit")) {
            self.word("gc.blocking.use", &["unit"]);
        }
        self.maybe("gc.pacing.tokens.floor", &["3 blocks", "5 blocks", "40 pages"]);
        self.value("gc.pacing.tokens.urgency_max", &["1.0", "2.5", "40.0"]);
    }

    /// A preset on a device with all that the preset needs, with some slots drawn anew.
    fn preset_scheme(&mut self) {
        let names = flashgc::config::presets::scheme_names();
        let name = self.word("gc.scheme", &names);
        if ["fpgc", "pgc-se", "tokens-fpgc"].contains(&name)
            && self.history.get("device.suspend.suspend").is_none()
        {
            self.suspends();
        }
        let sub_blocks = ["gsm", "gsm-plus", "pb", "speedup", "speedup-pb", "subblock-baseline"];
        let is_of_sub_blocks = sub_blocks.contains(&name);
        if is_of_sub_blocks {
            self.sub_blocks_of_presets();
        }
        if ["gsm-plus", "speedup", "speedup-pb"].contains(&name) {
            // The number of groups is limited by small planes.
            let (groups, thresholds) =
                if self.has_many_blocks() { ("3", "[2, 4, 8]") } else { ("2", "[2, 4]") };
            self.set("gc.placement.hotness-groups.groups", groups);
            self.set("gc.placement.hotness-groups.thresholds", thresholds);
            self.set("gc.placement.hotness-groups.counters", 1_024);
        }
        if ["dac", "sepbit", "sfs", "multilog", "fadac"].contains(&name) {
            // The number of classes, and the threshold, are limited by small planes.
            self.set(&format!("gc.placement.{name}.classes"), 3);
            self.text("gc.trigger.watermark.soft", "5 blocks");
        }
        if name == "midas" {
            self.set("gc.placement.midas.groups", 4);
        }
        if name.contains("pgc") {
            self.history.remove("device.timing.command");
        }
        for _ in 0..self.choices.between(0, 3) {
            match self.choices.below(9) {
                0 => self.trigger(),
                1 if !is_of_sub_blocks => self.victim(&victims()),
                2 => self.copy(),
                3 => self.preemption(),
                4 => self.pacing(),
                5 => self.blocking(),
                6 => self.background(),
                7 => self.marks(),
                _ => self.service_of_mark(),
            }
        }
    }

    /// Whether a plane has blocks enough for three groups.
    fn has_many_blocks(&self) -> bool {
        self.number("device.blocks_per_plane") >= 10
    }

    /// A device of sub-blocks of four pages or more.
    fn sub_blocks_of_presets(&mut self) {
        if self.history.get("device.preset").is_some() {
            return;
        }
        self.history.remove("device.summary");
        let (blocks, pages) =
            (self.number("device.sub_blocks"), self.number("device.pages_per_block"));
        if blocks == 1 || pages / blocks < 2 {
            let (pages, blocks) = self.choices.pick(&[(16, 4), (24, 4), (40, 4), (16, 2), (12, 3)]);
            self.set("device.pages_per_block", pages);
            self.set("device.sub_blocks", blocks);
            self.history.remove("device.layers");
            self.history.remove("device.isolation_layers");
        }
        if self.history.get("device.layers").is_none() {
            let layers = self.history.get("device.pages_per_block").unwrap_or("16").to_string();
            self.set("device.layers", layers);
        }
    }

    fn erase(&mut self) {
        let has_sub_blocks = self.number("device.sub_blocks") > 1;
        let words: &[&str] = match has_sub_blocks {
            true => &["block", "blocks", "sub-blocks", "sub-blocks"],
            false => &["block", "blocks"],
        };
        match self.word("gc.erase.use", words) {
            "blocks" => {
                let k = self.choices.between(2, 4);
                self.set("gc.erase.blocks.k", k);
                self.value("gc.erase.blocks.move_cap", &["\"1 block\"", "\"9 pages\""]);
                self.victim(&victims());
            }
            "sub-blocks" => {
                self.history.remove("device.summary");
                let layered = self.number("device.layers") > self.number("device.sub_blocks");
                let words: &[&str] =
                    if layered { &["software", "hardware"] } else { &["software"] };
                let isolation = self.word("gc.erase.sub-blocks.isolation", words);
                match isolation {
                    "hardware" => self.victim(&["recycle-benefit", "invalid-sub-blocks"]),
                    _ => self.victim(&["recycle-benefit"]),
                }
            }
            _ => self.victim(&victims()),
        }
    }

    fn victim(&mut self, words: &[&str]) {
        match self.word("gc.victim.use", words) {
            "greedy" => {
                self.maybe("gc.victim.greedy.index", &["buckets", "scan"]);
                self.maybe("gc.victim.greedy.ties", &["lowest", "highest"]);
            }
            "recycle-benefit" => self.maybe("gc.victim.recycle-benefit.index", &["kept", "scan"]),
            "d-choices" => self.value("gc.victim.d-choices.d", &["1", "3", "1000"]),
            "second-chance" => {
                self.value("gc.victim.second-chance.above", &["\"0%\"", "\"30%\"", "\"100%\""]);
            }
            "windowed-greedy" => {
                let windows = ["\"1%\"", "\"40%\"", "\"100%\""];
                self.value("gc.victim.windowed-greedy.window", &windows);
            }
            "cost-benefit" => self.maybe("gc.victim.cost-benefit.form", &["lfs", "sqrt-age"]),
            "static-levelling" => {
                self.value("gc.victim.static-levelling.every", &["1", "2", "7", "1000"]);
            }
            "invalidation-rate" => self.value("gc.victim.invalidation-rate.now", &["true"]),
            _ => {}
        }
    }

    pub(super) fn trigger(&mut self) {
        let is_of_sub_blocks = self.is("gc.erase.use", "sub-blocks");
        let choices: &[&str] = match is_of_sub_blocks {
            true => &["\"watermark\"", "[\"watermark\",\"idle\"]"],
            false => &[
                "\"watermark\"",
                "\"watermark\"",
                "[\"watermark\",\"idle\"]",
                "\"used-space\"",
                "[\"used-space\",\"idle\"]",
                "\"garbage-share\"",
                "[\"garbage-share\",\"idle\"]",
            ],
        };
        let used = self.choices.pick(choices);
        self.set("gc.trigger.use", used);
        for word in ["watermark", "used-space", "garbage-share", "idle"] {
            if used.contains(word) {
                self.history.words.push(("gc.trigger.use".into(), word.into()));
            }
        }
        self.marks();
        if used.contains("idle") {
            let waits = ["mean-collection", "0 ns", "1 ns", "40 us", "100 us", "3 ms"];
            let wait = self.choices.pick(&waits);
            self.text("gc.trigger.idle.wait", wait);
        }
        if used.contains("used-space") {
            self.lists("used-space", &["45%", "60%", "70%", "80%", "93%"]);
        }
        if used.contains("garbage-share") {
            self.lists("garbage-share", &["1%", "10%", "15%", "30%", "80%"]);
        }
    }

    fn lists(&mut self, trigger: &str, shares: &[&str]) {
        let key = |name: &str| format!("gc.trigger.{trigger}.{name}");
        let on = self.choices.pick(shares);
        self.text(&key("on"), on);
        let victims = self.choices.pick(&["10%", "40%", "70%", "100%"]);
        self.text(&key("victims"), victims);
        self.word(&key("of"), &["device", "plane"]);
        self.word(&key("batch"), &["one", "until-stop", "list"]);
        if self.choices.chance(30) {
            let floor = self.choices.between(2, 6);
            self.text(&key("floor"), format!("{floor} blocks"));
        }
    }

    fn marks(&mut self) {
        let key = |name: &str| format!("gc.trigger.watermark.{name}");
        let soft = self.choices.between(2, 7);
        let form = self.choices.below(6);
        match form {
            0..=2 => self.text(&key("soft"), format!("{soft} blocks")),
            3 => {
                let pages = self.choices.between(10, 120);
                self.text(&key("soft"), format!("{pages} pages"));
            }
            4 => {
                let share = self.choices.pick(&["25%", "30% of pages"]);
                self.text(&key("soft"), share);
            }
            _ => {
                let share = self.choices.pick(&["50% of spare", "70% of spare"]);
                self.text(&key("soft"), share);
            }
        }
        match self.choices.below(6) {
            0 => self.text(&key("hard"), format!("{} blocks", soft - 1)),
            1 => self.text(&key("hard"), "20% of soft"),
            2 => self.text(&key("hard"), "80% of soft"),
            3 => self.text(&key("hard"), "none"),
            _ => {}
        }
        if form < 3 && self.choices.chance(60) {
            let more = self.choices.between(0, 2);
            self.text(&key("stop"), format!("{} blocks", soft + more));
        }
        self.service_of_mark();
    }

    fn service_of_mark(&mut self) {
        self.maybe("gc.trigger.watermark.compare", &["<", "<="]);
        self.maybe("gc.trigger.watermark.batch", &["one", "until-stop", "list"]);
        self.value("gc.trigger.watermark.idle_units", &["true", "false"]);
    }

    fn copy(&mut self) {
        let plain = self.is("gc.placement.use", "hotness-groups");
        match self.word("gc.copy.use", &["copyback", "bus", "parallel", "instant"]) {
            "copyback" if !plain => self.value("gc.copy.copyback.parity", &["true", "false"]),
            "parallel" => self.parallel(plain),
            _ => {}
        }
    }

    fn parallel(&mut self, plain: bool) {
        let registers = self.number("device.registers");
        if self.choices.chance(50) {
            let workers = self.choices.between(1, registers);
            self.set("gc.copy.parallel.workers", workers);
        }
        let words: &[&str] = match self.is("device.allocation", "dynamic") && !plain {
            true => &["local", "global"],
            false => &["local"],
        };
        if self.word("gc.copy.parallel.path", words) == "local" {
            let parities: &[&str] = if plain { &["false"] } else { &["true", "false", "false"] };
            let parity = self.choices.pick(parities);
            self.set("gc.copy.parallel.parity", parity);
        }
        self.maybe("gc.copy.parallel.list", &["block", "extent"]);
    }

    pub(super) fn placement(&mut self) {
        let groups = self.is("gc.erase.use", "sub-blocks") && !self.copies_far_or_in_pairs();
        let word = match groups {
            true => {
                let words = ["one-frontier", "separate-gc", "hotness-groups", "hotness-groups"];
                self.choices.pick(&words)
            }
            false => self.choices.pick(&placements()),
        };
        self.parameters_of_placement(word);
    }

    /// This placement, with random parameters.
    pub(super) fn parameters_of_placement(&mut self, word: &str) {
        self.word("gc.placement.use", &[word]);
        let classes: &[&str] = match word {
            "hotness-groups" => return self.hotness_groups(),
            "dac" | "sfs" | "autostream" | "fadac" | "warcip" => &["1", "2", "3", "6", "16"],
            "fdp" if self.choices.chance(50) => {
                self.set("gc.placement.fdp.by", "\"hint\"");
                self.value("gc.placement.fdp.handles", &["1", "2", "3", "4"]);
                return self.blocks_of_handles();
            }
            "fdp" => {
                let shares = ["[1]", "[0.5, 0.5]", "[0.1, 0.2, 0.3, 0.4]"];
                self.value("gc.placement.fdp.shares", &shares);
                return self.blocks_of_handles();
            }
            "midas" if self.choices.chance(40) => {
                return self.value("gc.placement.midas.sizes", &["[1]", "[1, 2]", "[2, 1, 3]"]);
            }
            "midas" => {
                return self.value("gc.placement.midas.groups", &["3", "4", "6", "10"]);
            }
            "oldest-apart" => {
                return self.maybe("gc.placement.oldest-apart.others", &["with-host", "apart"]);
            }
            "oracle" => {
                self.maybe("gc.placement.oracle.windows", &["geometric", "linear"]);
                &["1", "2", "3", "6", "12"]
            }
            "sepbit" => &["1", "2", "3", "4", "6"],
            "multilog" => &["1", "2", "3", "6", "15"],
            "eti" => &["1", "2", "3"],
            _ => return,
        };
        self.value(&format!("gc.placement.{word}.classes"), classes);
    }

    fn blocks_of_handles(&mut self) {
        let key = |name: &str| format!("gc.placement.fdp.{name}");
        self.maybe(&key("isolation"), &["initial", "persistent"]);
        if !self.is(&key("isolation"), "persistent") {
            self.maybe(&key("copies"), &["apart", "last-handle"]);
        }
        self.maybe(&key("open"), &["used", "all"]);
    }

    fn hotness_groups(&mut self) {
        let key = |name: &str| format!("gc.placement.hotness-groups.{name}");
        let groups: &[&str] = match self.number("device.blocks_per_plane") {
            0..10 => &["2"],
            10..20 => &["2", "3"],
            _ => &["2", "3", "4"],
        };
        let groups = self.choices.pick(groups);
        self.set(&key("groups"), groups);
        let counters = self.choices.pick(&["16", "64", "1024"]);
        self.set(&key("counters"), counters);
        self.value(&key("hash_functions"), &["1", "2", "16"]);
        self.value(&key("decay"), &["1", "50", "1000"]);
        self.value(&key("conservative"), &["true", "false"]);
        self.maybe(&key("hot_to"), &["group", "top"]);
        self.maybe(&key("copies"), &["by-hotness", "cold"]);
        self.maybe(&key("cold"), &["random", "next"]);
    }

    fn copies_far_or_in_pairs(&self) -> bool {
        let is_true = |key: &str| self.history.get(key) == Some("true");
        let parallel = self.is("gc.copy.use", "parallel");
        self.is("gc.copy.parallel.path", "global")
            || (parallel && self.history.get("gc.copy.parallel.parity") != Some("false"))
            || is_true("gc.copy.copyback.parity")
    }

    fn preemption(&mut self) {
        let use_ = self.word("gc.preemption.use", &["never", "between-copies", "suspend"]);
        if use_ == "never" {
            return;
        }
        if use_ == "suspend" {
            if self.history.get("device.suspend.suspend").is_none() {
                self.suspends();
            }
            self.maybe("gc.preemption.suspend.of", &["any", "erase"]);
            self.value("gc.preemption.suspend.worth_it", &["true", "false"]);
            self.value("gc.preemption.suspend.max_suspends", &["1", "2"]);
        }
        let key = |name: &str| format!("gc.preemption.{use_}.{name}");
        self.value(&key("merge"), &["true", "false"]);
        self.value(&key("pipeline"), &["true", "false"]);
        self.value(&key("poll"), &["\"1 ns\"", "\"600 ns\"", "\"30 us\""]);
        if self.history.get(&key("pipeline")) == Some("true") {
            self.history.remove("device.timing.command");
        }
    }

    fn pacing(&mut self) {
        let words = ["at-once", "at-once", "time-slices", "tokens"];
        if self.word("gc.pacing.use", &words) != "time-slices" {
            return;
        }
        self.value("gc.pacing.time-slices.length", &["\"1 ns\"", "\"400 us\"", "\"5 ms\""]);
        self.value(
            "gc.pacing.time-slices.floor",
            &["\"3 blocks\"", "\"5 blocks\"", "\"40 pages\""],
        );
        self.value("gc.pacing.time-slices.per_gap", &["2", "3", "100"]);
        self.value("gc.pacing.time-slices.extra_space", &["\"16%\"", "\"50%\""]);
    }

    fn blocking(&mut self) {
        let open = self.history.get("gc.preemption.use").is_some_and(|word| word != "\"never\"")
            || self.history.get("gc.pacing.use").is_some_and(|word| word != "\"at-once\"");
        let parts = self.is("gc.erase.use", "sub-blocks");
        let words: &[&str] = match (open, parts) {
            (true, true) => &["unit"],
            (true, false) => &["unit", "unit", "blocks"],
            _ => &LEVELS[..5],
        };
        let word = self.word("gc.blocking.use", words);
        match word {
            "blocks" => {
                self.word("gc.preemption.use", &["between-copies"]);
                self.history.remove("gc.preemption.between-copies.merge");
                self.history.remove("gc.preemption.between-copies.pipeline");
                self.word("gc.placement.use", &["separate-gc", "one-frontier"]);
                self.set("gc.copy.copyback.parity", "false");
                self.set("gc.copy.parallel.parity", "false");
                self.text("gc.copy.parallel.path", "local");
            }
            "channel" => {
                let below = ["channel", "chip", "die", "plane"];
                self.maybe("gc.blocking.channel.erasing", &below);
                self.maybe("gc.blocking.channel.collections", &["any", "one"]);
            }
            "chip" => self.maybe("gc.blocking.chip.erasing", &["chip", "die", "plane"]),
            "die" => self.maybe("gc.blocking.die.erasing", &["die", "plane"]),
            _ => {}
        }
    }

    fn background(&mut self) {
        let lists = [
            "\"nothing\"",
            "\"nothing\"",
            "\"flush-buffer\"",
            "\"pre-migration\"",
            "[\"flush-buffer\",\"pre-migration\"]",
            "\"read-reclaim\"",
            "[\"pre-migration\",\"read-reclaim\"]",
        ];
        let used = self.choices.pick(&lists);
        self.set("gc.background.use", used);
        for word in ["nothing", "flush-buffer", "pre-migration", "read-reclaim"] {
            if used.contains(word) {
                self.history.words.push(("gc.background.use".into(), word.into()));
            }
        }
        if used.contains("flush") {
            if self.history.get("device.write_buffer.size").is_none() {
                self.buffer();
            }
            self.history.remove("device.write_buffer.flush");
        }
        if used.contains("read-reclaim") {
            let limits = ["1", "2", "5", "20", "100"];
            self.value("gc.background.read-reclaim.limit", &limits);
            let when = ["before-host", "unit-idle", "drive-idle"];
            self.maybe("gc.background.read-reclaim.when", &when);
        }
        if used.contains("pre-migration") {
            let distances =
                ["\"1 pages\"", "\"10 pages\"", "\"1 block\"", "\"3 blocks\"", "\"20%\""];
            let distance = self.choices.pick(&distances);
            self.set("gc.background.pre-migration.distance", distance);
            self.maybe("gc.background.pre-migration.rule", &["valid-left", "moved"]);
            self.maybe("gc.background.pre-migration.when", &["drive-idle", "unit-idle"]);
            self.value("gc.background.pre-migration.t_page", &["\"0%\"", "\"40%\"", "\"100%\""]);
        }
    }
}
