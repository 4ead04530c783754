//! `size`, and `read_size` and `write_size`: one size, a mixture, or exponential sizes.

use flashgc_config::{Reader, units};
use flashgc_workload::synthetic::Size;

const HELP: &str = "\"4 KiB\"; or shares, as in { \"4 KiB\" = 0.7, \"64 KiB\" = 0.3 }; or \
                    { exponential = \"8 KiB\" }";

/// Reads the sizes under `key`. `None` where there are none, and after an error.
pub fn read(table: &Reader<'_>, key: &str) -> Option<Vec<Size>> {
    if !table.has(key) {
        return None;
    }
    if !table.is_table(key) {
        let bytes = possible(table, key, table.bytes(key)?)?;
        return Some(vec![Size::Fixed { bytes, weight: 1.0 }]);
    }
    let mixture = table.table(key);
    if mixture.has("exponential") {
        let mean_bytes = mixture.bytes("exponential");
        mixture.finish();
        let mean_bytes = possible(table, key, mean_bytes?)?;
        return Some(vec![Size::Exponential { mean_bytes, weight: 1.0 }]);
    }
    let (mut sizes, mut total) = (Vec::new(), 0.0);
    for name in mixture.keys() {
        let weight = mixture.f64(&name, 0.0..=1e9);
        let Ok(bytes) = units::parse_bytes(&name) else {
            mixture.error(&name, format!("\"{name}\" is not a size"), HELP);
            return None;
        };
        let (bytes, weight) = (possible(table, key, bytes)?, weight?);
        total += weight;
        sizes.push(Size::Fixed { bytes, weight });
    }
    if sizes.is_empty() || total <= 0.0 {
        table.error(key, "the mixture of sizes is empty, or all weights are 0", HELP);
        return None;
    }
    Some(sizes)
}

fn possible(table: &Reader<'_>, key: &str, bytes: u64) -> Option<u64> {
    let fits = bytes > 0 && bytes.is_multiple_of(512) && bytes <= 1 << 30;
    if !fits {
        table.error(
            key,
            format!("a request must be a multiple of 512 B from 512 B to 1 GiB, got {bytes} B"),
            "write for example \"4 KiB\"",
        );
    }
    fits.then_some(bytes)
}
