//! Placements of many classes at the least spare space that the plan accepts, and schemes of one
//! placement and one victim.

use super::Draw;
use super::scheme::{placements, victims};
use super::superblocks::REFUSED_OF_DEVICE;

/// Placements whose copies have many classes: the key of their number, and the values drawn.
const MANY: [(&str, &str, &[&str]); 10] = [
    ("dac", "classes", &["6", "6", "8", "16"]),
    ("sepbit", "classes", &["4", "6", "6"]),
    ("sfs", "classes", &["6", "6", "8", "16"]),
    ("multilog", "classes", &["6", "6", "15"]),
    ("fadac", "classes", &["6", "6", "12"]),
    ("warcip", "classes", &["6", "6", "16"]),
    ("autostream", "classes", &["6", "16"]),
    ("midas", "groups", &["6", "8", "10"]),
    ("fdp", "handles", &["3", "5", "8"]),
    ("given", "classes", &[]),
];

/// Pages of a drive whose planes are given more blocks.
const PAGES_MAX: u64 = 12_000;
/// The highest threshold that is tried, in blocks.
const SOFT_MAX: u64 = 26;

/// The victims of whole blocks that need no clock, and the placements.
pub fn untimed_pairs() -> Vec<(&'static str, &'static str)> {
    let needs_more = ["recycle-benefit", "invalidation-rate", "invalid-sub-blocks"];
    let mut victims = victims();
    victims.retain(|victim| !needs_more.contains(victim));
    let pairs = placements().into_iter().flat_map(|own| victims.iter().map(move |&it| (own, it)));
    pairs.collect()
}

impl Draw {
    /// In a part of the cases copies go to many classes: with the lowest threshold that the plan
    /// accepts, or one a little above it. Whether the drive then has the least spare space, too.
    pub(super) fn many_classes(&mut self) -> bool {
        let is_of_parts = self.is("gc.erase.use", "sub-blocks")
            || self.history.get("gc.scheme").is_some_and(|name| {
                ["gsm", "pb", "speedup", "subblock", "bbgc", "on-demand"]
                    .iter()
                    .any(|part| name.contains(part))
            });
        let has_preset = self.history.get("device.preset").is_some();
        if is_of_parts || has_preset || !self.choices.chance(15) {
            return false;
        }
        let blocks = self.choices.between(20, 48);
        if self.pages_of_a_block_row() * blocks > PAGES_MAX {
            return false;
        }
        self.set("device.blocks_per_plane", blocks);
        let (word, key, values) = self.choices.pick(&MANY);
        self.history.remove("gc.placement");
        self.text("gc.placement.use", word);
        if !values.is_empty() {
            let value = self.choices.pick(values);
            self.set(&format!("gc.placement.{word}.{key}"), value);
        }
        if word == "fdp" {
            self.set("gc.placement.fdp.by", "\"hint\"");
            self.text("gc.placement.fdp.isolation", "persistent");
        }
        self.history.words.push(("many classes".into(), word.into()));
        // Parity and the closing of one block exclude classes.
        self.history.remove("gc.copy.copyback.parity");
        self.set("gc.copy.parallel.parity", "false");
        if self.is("gc.blocking.use", "blocks") {
            self.text("gc.blocking.use", "unit");
        }
        self.lowest_threshold();
        true
    }

    fn pages_of_a_block_row(&self) -> u64 {
        let parts = ["channels", "chips_per_channel", "dies_per_chip", "planes_per_die"];
        let planes: u64 = parts.iter().map(|part| self.number(&format!("device.{part}"))).product();
        planes * self.number("device.pages_per_block")
    }

    /// The lowest soft threshold that the plan accepts on a drive with much spare space, or up to
    /// two blocks more.
    fn lowest_threshold(&mut self) {
        let key = |name: &str| format!("gc.trigger.watermark.{name}");
        for name in ["soft", "hard", "stop"] {
            self.history.remove(&key(name));
        }
        self.set(super::EXPORTED, "0.1");
        for soft in 2..=SOFT_MAX {
            self.text(&key("soft"), format!("{soft} blocks"));
            if self.history.prepare().is_ok() {
                let more = self.choices.pick(&[0, 0, 0, 1, 2]);
                self.text(&key("soft"), format!("{} blocks", soft + more));
                if self.choices.chance(30) {
                    self.text(&key("stop"), format!("{} blocks", soft + more + 1));
                }
                return;
            }
        }
    }

    /// A scheme of this placement and this victim, with the settings that both need. In a part of
    /// the cases the planes of a unit share their blocks.
    pub(super) fn placed(&mut self, placement: &str, victim: &str) {
        for key in ["gc", "precondition.scheme", "device.sub_blocks", "device.summary"] {
            self.history.remove(key);
        }
        self.text("gc.victim.use", victim);
        match self.choices.chance(30) {
            true => {
                for key in REFUSED_OF_DEVICE.iter().chain(&["multi_plane", "write_buffer"]) {
                    self.history.remove(&format!("device.{key}"));
                }
                self.history.remove("device.allocation");
                let part = self.choices.pick(&["die", "chip", "channel"]);
                self.text("device.unit", part);
                self.text("device.superblock", part);
                self.text("gc.copy.use", "bus");
            }
            false => {
                self.trigger();
                self.history.remove("gc.trigger.watermark.hard");
                self.history.remove("gc.trigger.watermark.stop");
            }
        }
        self.parameters_of_placement(placement);
        let (room, blocks) =
            (PAGES_MAX / self.pages_of_a_block_row(), self.choices.between(24, 48));
        self.set("device.blocks_per_plane", blocks.min(room).max(9));
        let soft = self.choices.between(4, 18);
        self.text("gc.trigger.watermark.soft", format!("{soft} blocks"));
    }
}
