//! Keys of earlier versions are refused, and the refusal names the key of today.

use crate::common::{TINY, refusal};

#[test]
fn an_old_key_names_the_new_one() {
    for (old, new) in [
        ("gc.enter.use=\"suspend\"", "gc.preemption"),
        ("gc.hold.use=\"unit\"", "gc.blocking"),
        ("gc.pace.quanta.per_gap=2", "gc.pacing"),
        ("gc.pacing.quanta.per_gap=2", "gc.pacing.time-slices"),
        ("gc.assist.use=\"nothing\"", "gc.background"),
        ("gc.trigger.watermark.background=false", "gc.trigger.watermark.idle_units"),
        ("workload.alike.requests=3", "workload.fitted"),
    ] {
        let found = refusal(TINY, &[old]);
        assert!(found.contains("unknown key"), "{found}");
        assert!(found.contains(&format!("it is called `{new}` now")), "{found}");
    }
}
