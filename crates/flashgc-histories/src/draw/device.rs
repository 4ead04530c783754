//! Devices.

use super::Draw;

/// Drives are small, so that many histories fit a second and collection begins soon.
const PAGES_MAX: [u64; 5] = [400, 800, 1_500, 3_000, 8_000];

const TIMES: &[&str] =
    &["1 ns", "7 ns", "333 ns", "1 us", "25 us", "60 us", "200 us", "900 us", "1.35 ms", "2 ms"];

impl Draw {
    pub(super) fn device(&mut self) {
        if self.choices.chance(4) {
            return self.preset_device();
        }
        self.geometry();
        self.layers();
        self.timing();
        self.units();
        self.extras();
    }

    /// A preset, made small.
    fn preset_device(&mut self) {
        let names = flashgc::config::presets::device_names();
        let name = self.word("device.preset", &names);
        self.set("device.channels", 1);
        let chips = self.choices.between(1, 2);
        self.set("device.chips_per_channel", chips);
        self.set("device.dies_per_chip", 1);
        self.set("device.planes_per_die", 1);
        let blocks = self.choices.between(20, 40);
        self.set("device.blocks_per_plane", blocks);
        // Whole word lines, and whole layers where the preset has them. Blocks of 1,344 pages of
        // four slots have outlasted the clock of a history.
        let preset = flashgc::config::presets::device(name).and_then(Result::ok);
        let has = |key| preset.as_ref().is_some_and(|preset| preset.has(&[key]));
        self.set("device.pages_per_block", if has("layers") { 192 } else { 48 });
        if has("multi_plane") {
            self.set("device.multi_plane", 1);
        }
    }

    fn geometry(&mut self) {
        let most = self.choices.pick(&PAGES_MAX);
        loop {
            // Where features are to meet, units share their bus.
            let channels: &[u64] = if self.meets { &[1, 1, 2] } else { &[1, 1, 1, 2, 2, 3, 4] };
            let channels = self.choices.pick(channels);
            let chips = self.choices.pick(&[1, 1, 2, 3]);
            let dies: &[u64] = if self.meets { &[1, 2, 2, 3] } else { &[1, 1, 2] };
            let dies = self.choices.pick(dies);
            let planes = self.choices.pick(&[1, 1, 2, 4]);
            let blocks = self.choices.between(9, 48);
            let pages = self.choices.pick(&[2, 3, 4, 5, 7, 8, 8, 12, 16, 16, 20, 24, 32, 40, 64]);
            if channels * chips * dies * planes * blocks * pages > most {
                continue;
            }
            self.set("device.channels", channels);
            self.set("device.chips_per_channel", chips);
            self.set("device.dies_per_chip", dies);
            self.set("device.planes_per_die", planes);
            self.set("device.blocks_per_plane", blocks);
            self.set("device.pages_per_block", pages);
            break;
        }
        let pages = ["512 B", "1536 B", "2 KiB", "4 KiB", "4 KiB", "12 KiB", "16 KiB"];
        let page = self.choices.pick(&pages);
        self.text("device.page_size", page);
        self.value("device.transfer_bytes", &["\"2112 B\"", "\"4320 B\""]);
    }

    fn layers(&mut self) {
        let pages = self.number("device.pages_per_block");
        let divisors: Vec<u64> = (1..=pages).filter(|part| pages.is_multiple_of(*part)).collect();
        let parts: Vec<u64> = divisors.iter().copied().filter(|part| *part <= 16).collect();
        let mut sub_blocks = 1;
        if self.choices.chance(50) {
            // Sub-blocks of several pages more often than of one.
            let large: Vec<u64> =
                parts.iter().copied().filter(|part| *part > 1 && pages / part > 1).collect();
            sub_blocks = match large.is_empty() || self.choices.chance(15) {
                true => self.choices.pick(&parts),
                false => self.choices.pick(&large),
            };
            self.set("device.sub_blocks", sub_blocks);
        }
        if !self.choices.chance(50) {
            return;
        }
        // A sub-block has a layer for data in addition to the one that isolates it.
        let fits =
            |part: u64| part.is_multiple_of(sub_blocks) && (sub_blocks == 1 || part > sub_blocks);
        let layers: Vec<u64> = divisors.into_iter().filter(|part| fits(*part)).collect();
        if layers.is_empty() {
            return;
        }
        let layers = self.choices.pick(&layers);
        self.set("device.layers", layers);
        if layers / sub_blocks > 2 && self.choices.chance(20) {
            self.set("device.isolation_layers", 2);
        }
        if self.choices.chance(40) {
            let ratio = self.choices.pick(&["1", "2", "3.7", "7.5", "100"]);
            self.set("device.timing.layer_ratio", ratio);
            self.word("device.timing.layer_map", &["in-order", "striped"]);
        }
    }

    fn timing(&mut self) {
        let style = self.choices.below(4);
        let times: &[&str] = match style {
            0 => &["25 us"],
            1 => &["1 ns", "2 ns", "7 ns"],
            _ => TIMES,
        };
        for (key, usual) in [("read", "25 us"), ("program", "200 us"), ("erase", "1.5 ms")] {
            let time = if style == 0 { usual } else { self.choices.pick(times) };
            self.text(&format!("device.timing.{key}"), time);
        }
        let rates = ["0 ns/B", "0 ns/B", "1 ns/B", "5 ns/B", "25 ns/B", "100 ns/B"];
        let rates = if self.meets { &rates[1..] } else { &rates[..] };
        let rate = self.choices.pick(rates);
        self.text("device.timing.transfer", rate);
        if self.choices.chance(25) {
            let command = self.choices.pick(&["1 ns", "200 ns", "3 us"]);
            self.text("device.timing.command", command);
        }
        if self.choices.chance(15) {
            self.word("device.timing.copy_read", &["1 ns", "5 us", "60 us"]);
        }
    }

    /// In a part of the cases, reads of pages take the times of their types.
    pub(super) fn page_types(&mut self) {
        let types = self.choices.between(2, 5);
        let is_whole = self.number("device.pages_per_block").is_multiple_of(types);
        let has_preset = self.history.get("device.preset").is_some();
        if !self.choices.chance(20) || has_preset || !is_whole {
            return;
        }
        // By three, so that with three types the mean is whole.
        let times = ["3 ns", "30 us", "48 us", "75 us", "150 us"];
        let times: Vec<_> = (0..types).map(|_| self.choices.pick(&times)).collect();
        self.set("device.timing.read", format!("{times:?}"));
        self.history.words.push(("device.timing.read".into(), "a list".into()));
    }

    /// In a part of the cases, registers work in parallel with the array.
    pub(super) fn cached(&mut self) {
        if self.choices.chance(12) && self.history.get("device.preset").is_none() {
            self.history.remove("device.timing.command");
            let words = ["reads", "programs", "both", "both"];
            let has_plane_reads = self.history.get("device.independent_plane_reads").is_some();
            let words = if has_plane_reads { &words[1..2] } else { &words[..] };
            self.word("device.cache_operations", words);
        }
    }

    /// In a part of the cases, reads have errors.
    pub(super) fn read_errors(&mut self) {
        if !self.choices.chance(15) {
            return;
        }
        let cycles = self.choices.pick(&["0", "1500", "3000", "7000"]);
        self.set("device.read_retry.cycles", cycles);
        let days = self.choices.pick(&["0", "90", "365"]);
        self.set("device.read_retry.retention_days", days);
        self.value("device.read_retry.retries", &["0", "1", "3"]);
        self.value("device.read_retry.soft_reads", &["0", "1", "7"]);
        self.value("device.read_retry.spread", &["0.0", "1.5"]);
        let types = self.choices.between(1, 3);
        if self.number("device.pages_per_block").is_multiple_of(types) {
            let factors = ["[1.0]", "[0.5, 2.0]", "[0.4, 0.9, 1.7]"][types as usize - 1];
            self.set("device.read_retry.type_factors", factors);
        }
        // Always said, so that it can be scaled.
        let decode = self.choices.pick(&["0 ns", "1 ns", "10 us"]);
        self.text("device.read_retry.decode", decode);
        let soft_decode = self.choices.pick(&["0 ns", "7 us", "80 us"]);
        self.text("device.read_retry.soft_decode", soft_decode);
        self.history.words.push(("device".into(), "read_retry".into()));
    }

    /// In a part of the cases programs and erases fail, where blocks can be retired one by one.
    pub(super) fn failing(&mut self) {
        if !self.chance(15, 40) {
            return;
        }
        let program = self.choices.pick(&["0.0", "0.0003", "0.003", "0.02"]);
        self.set("device.failures.program", program);
        let erase = self.choices.pick(&["0.001", "0.01", "0.1"]);
        self.set("device.failures.erase", erase);
        self.value("device.failures.doubling_cycles", &["1", "20"]);
        // At this stage space must not be a reason to refuse it.
        self.set(super::EXPORTED, "0.1");
        if self.history.prepare().is_err_and(|why| why.contains("device.failures")) {
            self.history.remove("device.failures");
            return;
        }
        self.history.words.push(("device".into(), "failures".into()));
    }

    fn units(&mut self) {
        let unit = self.word("device.unit", &["plane", "die", "chip", "channel"]);
        let planes = self.number("device.planes_per_die");
        if unit != "plane" && planes > 1 && self.choices.chance(50) {
            let together = self.choices.between(2, planes);
            self.set("device.multi_plane", together);
        }
        if unit != "plane" && planes > 1 && self.choices.chance(40) {
            self.set("device.independent_plane_reads", true);
            self.history.words.push(("device".into(), "independent_plane_reads".into()));
        }
        if self.choices.chance(60) {
            let registers = self.choices.between(1, 4);
            self.set("device.registers", registers);
        }
        let allocations = ["striped", "dynamic", "dynamic", "when-idle"];
        if self.word("device.allocation", &allocations) != "striped" {
            self.maybe("device.pool", &["device", "channel", "chip", "die"]);
        }
        let orders = [
            "[\"channel\",\"chip\",\"die\",\"plane\"]",
            "[\"plane\",\"die\",\"chip\",\"channel\"]",
            "[\"die\",\"channel\",\"plane\",\"chip\"]",
        ];
        self.value("device.order", &orders);
        let services = [
            "[\"gc\",\"host\"]",
            "[\"host\",\"gc\"]",
            "[\"gc\",\"reads\",\"writes\"]",
            "[\"gc\",\"writes\",\"reads\"]",
            "[\"reads\",\"gc\",\"writes\"]",
            "[\"writes\",\"gc\",\"reads\"]",
            "[\"reads\",\"writes\",\"gc\"]",
            "[\"writes\",\"reads\",\"gc\"]",
        ];
        self.value("device.service", &services);
    }

    fn extras(&mut self) {
        if self.chance(40, 80) {
            self.suspends();
        }
        if self.choices.chance(20) {
            self.word("device.write_completion", &["programmed", "loaded"]);
        }
        if self.choices.chance(20) {
            self.word("device.bus_order", &["arrival", "commands-first"]);
        }
        if self.choices.chance(20) {
            self.word("device.completions", &["one-by-one", "together"]);
        }
        if self.choices.chance(15) {
            let places = self.choices.pick(&["1", "2", "5", "20"]);
            self.set("device.queue_length", places);
            self.history.words.push(("device".into(), "queue_length".into()));
            self.maybe("device.queue_order", &["arrival", "address"]);
        }
        if self.choices.chance(25) {
            let rate = self.choices.pick(&["1 ns/B", "30 ns/B", "0 ns/B"]);
            self.text("device.host_link.transfer", rate);
            self.maybe("device.host_link.duplex", &["half", "full"]);
            self.jitter("device.host_link.jitter");
        }
        if self.choices.chance(15) {
            let command = self.choices.pick(&["1 ns", "5 us", "300 us", "0 ns"]);
            self.text("device.firmware.command", command);
            self.value("device.firmware.cores", &["1", "2", "7"]);
            self.jitter("device.firmware.jitter");
        }
        if self.choices.chance(25) {
            self.buffer();
        }
        if self.chance(15, 25) {
            let pages = self.number("device.pages_per_block");
            let summary = self.choices.between(1, (pages - 1).min(2));
            self.set("device.summary.pages", summary);
            self.value("device.summary.transfer", &["\"528 B\"", "\"8 KiB\""]);
            self.maybe("device.summary.copies", &["free", "timed"]);
        }
    }

    /// The time of a stage of the host varies.
    fn jitter(&mut self, key: &str) {
        if !self.choices.chance(40) {
            return;
        }
        let of = self.choices.pick(&["fixed", "exponential", "normal", "lognormal"]);
        self.history.words.push((key.into(), of.into()));
        if matches!(of, "fixed" | "exponential") {
            let mean = self.choices.pick(&["0 ns", "1 ns", "3 us", "250 us"]);
            return self.text(&format!("{key}.{of}"), mean);
        }
        let mean = self.choices.pick(&["2 ns", "4 us", "200 us"]);
        self.text(&format!("{key}.{of}.mean"), mean);
        let stddev = self.choices.pick(&["0 ns", "2 us", "300 us"]);
        self.text(&format!("{key}.{of}.stddev"), stddev);
    }

    /// The device can suspend.
    pub(super) fn suspends(&mut self) {
        let times = ["0 ns", "1 ns", "5 us", "20 us", "400 us"];
        let suspend = self.choices.pick(&times);
        self.text("device.suspend.suspend", suspend);
        if self.choices.chance(50) {
            let resume = self.choices.pick(&times);
            self.text("device.suspend.resume", resume);
        }
        if self.chance(25, 60) {
            self.set("device.suspend.host_programs", true);
            let times = ["\"0 ns\"", "\"1 ns\"", "\"20 us\"", "\"1 ms\""];
            self.value("device.suspend.host_min_left", &times);
            self.value("device.suspend.host_max_suspends", &["1", "2", "5"]);
        }
    }

    /// The device has a write buffer, whose access time is always said.
    pub(super) fn buffer(&mut self) {
        let page = self.history.get("device.page_size").unwrap_or("\"4 KiB\"").to_string();
        let kib = ["16 KiB", "32 KiB", "64 KiB", "128 KiB", "1 MiB"];
        let size = match self.choices.chance(20) {
            true => page,
            false => format!("\"{}\"", self.choices.pick(&kib)),
        };
        self.set("device.write_buffer.size", size);
        let access = self.choices.pick(&["0 ns", "1 ns", "1 us", "90 us"]);
        self.text("device.write_buffer.access", access);
        self.maybe("device.write_buffer.flush", &["when-full", "at-once"]);
        self.protection();
    }

    /// In a part of the cases the write buffer loses its pages with the power.
    pub(super) fn protection(&mut self) {
        let has_passes =
            self.history.get("device.timing.program").is_some_and(|it| it.starts_with('['));
        if self.choices.chance(40) && !has_passes {
            self.set("device.write_buffer.power_loss_protection", false);
            self.history.words.push(("device.write_buffer".into(), "unprotected".into()));
        }
    }
}
