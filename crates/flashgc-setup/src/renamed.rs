//! Keys of versions before 0.2 and their names today, for messages alone: no old key is read.

use flashgc_config::Diagnostics;

/// Old key, new key. A key below an old table has the same name below the new one.
const RENAMED: &[(&str, &str)] = &[
    ("gc.enter", "gc.preemption"),
    ("gc.hold", "gc.blocking"),
    ("gc.pace", "gc.pacing"),
    ("gc.pacing.quanta", "gc.pacing.time-slices"),
    ("gc.assist", "gc.background"),
    ("gc.trigger.watermark.background", "gc.trigger.watermark.idle_units"),
    ("gc.trigger.idle.mark", "gc.trigger.idle.threshold"),
    ("workload.alike", "workload.fitted"),
];

/// Names the new key in the help of every mistake that is about an old one.
pub fn name_new_keys(mistakes: &mut Diagnostics) {
    for mistake in mistakes.iter_mut() {
        let new = mistake.key.as_deref().and_then(new_key);
        mistake.help = new.map(|new| format!("it is called `{new}` now")).or(mistake.help.take());
    }
}

fn new_key(key: &str) -> Option<String> {
    RENAMED.iter().find_map(|(old, new)| {
        let rest = key.strip_prefix(old)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| format!("{new}{rest}"))
    })
}
