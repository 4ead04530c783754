//! The size of a drive that was found from its trace.

use flashgc_config::units::counted;
use flashgc_config::{Diagnostics, Tree};
use serde_json::{Value, json};

/// The counts that can be changed, in the order of change: the parts of a die first.
const COUNTS: [&str; 4] = ["planes_per_die", "dies_per_chip", "chips_per_channel", "channels"];

/// The size that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The requested share.
    pub share: f64,
    /// Pages that the trace touches.
    pub footprint_pages: u64,
    /// Counts of the device before and after, by their keys; the last is `blocks_per_plane`.
    pub(super) counts: [(u32, u32); 5],
    /// Planes that one array operation serves.
    pub(super) multi_plane: u32,
    /// Planes that work in step.
    pub(super) in_step: u32,
}

impl Fitted {
    /// The layer of the configuration that gives the device this size.
    pub(super) fn tree(&self) -> Result<Tree, Diagnostics> {
        let keys = COUNTS.iter().chain(&["blocks_per_plane"]);
        let counts = keys.zip(self.counts).map(|(key, (_, to))| format!("device.{key} = {to}\n"));
        let mut text: String = counts.collect();
        if self.multi_plane > 1 {
            text += &format!("device.multi_plane = {}\n", self.multi_plane);
        }
        Tree::parse("the fit to the trace", &text)
    }

    /// The changes, as text for the user.
    fn changes(&self) -> String {
        let keys = COUNTS.iter().chain(&["blocks_per_plane"]);
        let changed = keys.zip(self.counts).filter(|(_, (from, to))| from != to);
        let changed = changed.map(|(key, (from, to))| format!("{key} {from} to {to}"));
        changed.collect::<Vec<_>>().join(", ")
    }

    /// For the report of a run on a drive with this number of user pages.
    pub fn json(&self, exported_pages: u32) -> Value {
        let keys = COUNTS.iter().chain(&["blocks_per_plane"]).zip(self.counts);
        let changed: serde_json::Map<String, Value> = keys
            .filter(|(_, (from, to))| from != to)
            .map(|(key, (from, to))| ((*key).to_string(), json!({ "from": from, "to": to })))
            .collect();
        json!({
            "share": self.share,
            "footprint_pages": self.footprint_pages,
            "footprint_share": self.footprint_pages as f64 / f64::from(exported_pages),
            "changed": changed,
        })
    }

    /// A note on the size for the user.
    pub(super) fn note(&self, exported_pages: u32) -> String {
        let reached = 100.0 * self.footprint_pages as f64 / f64::from(exported_pages);
        let (pages, requested) = (self.footprint_pages, 100.0 * self.share);
        let changes = match self.changes() {
            changes if changes.is_empty() => "the device size is unchanged".to_string(),
            changes => format!("device changes: {changes}"),
        };
        if reached < 0.9 * requested {
            return format!(
                "the trace touches only {}, {reached:.1} % of the smallest drive that the scheme's \
                 thresholds allow ({requested} % requested); {changes}",
                counted(pages, "page")
            );
        }
        format!(
            "the drive was sized to the trace: its {} {} {reached:.1} % of the user capacity; \
             {changes}",
            counted(pages, "page"),
            if pages == 1 { "is" } else { "are" }
        )
    }
}
