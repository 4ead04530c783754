//! Layers of different speed: how long the array takes in each layer of a 3D block.
//!
//! Paper pre-gc, section 3.1: the lowest layer is the fastest, and the speed rises from the highest
//! on. Here the speed is linear in the layer: speed(x) = s0 (1 + (ratio - 1) x), with x from 0 (the
//! slowest layer) to 1. s0 is chosen so that the mean time over the device's layers is the nominal
//! one. This applies to reads and programs; an erase is of the whole block.

use serde::Serialize;

/// The layer of each page of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerMap {
    /// The first pages are in the first layer.
    InOrder,
    /// Consecutive pages are in consecutive layers.
    Striped,
}

impl LayerMap {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, LayerMap); 2] =
        [("in-order", LayerMap::InOrder), ("striped", LayerMap::Striped)];
}

/// The differences between the layers of a device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LayerSpeed {
    /// The time of the slowest layer as a multiple of the fastest; above 1.
    pub layer_ratio: f64,
    /// The layer of each page.
    pub layer_map: LayerMap,
}

impl LayerSpeed {
    /// The time of each of `layers` layers in ns, slowest first, with the mean `mean_ns`.
    ///
    /// Each is rounded to whole ns and takes at least one, so that the mean is less than 1 ns off.
    pub fn times_ns(&self, layers: u32, mean_ns: u64) -> Vec<u64> {
        let last = f64::from(layers.max(2) - 1);
        let speed = |layer: u32| 1.0 + (self.layer_ratio - 1.0) * (f64::from(layer) / last);
        let sum: f64 = (0..layers).map(|layer| 1.0 / speed(layer)).sum();
        let slowest_ns = mean_ns as f64 * f64::from(layers) / sum;
        (0..layers).map(|layer| ((slowest_ns / speed(layer) + 0.5) as u64).max(1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(times: &[u64]) -> f64 {
        times.iter().sum::<u64>() as f64 / times.len() as f64
    }

    #[test]
    fn the_mean_over_the_layers_is_the_nominal_time() {
        for layers in [1, 2, 3, 8, 64, 176] {
            for layer_ratio in [1.0, 1.01, 2.0, 7.5, 100.0] {
                for mean_ns in [1, 3, 25_000, 90_000, 1_100_001, 1_000_000_000_000] {
                    let speed = LayerSpeed { layer_ratio, layer_map: LayerMap::InOrder };
                    let times = speed.times_ns(layers, mean_ns);
                    assert!((mean(&times) - mean_ns as f64).abs() < 1.0, "{layers} {layer_ratio}");
                    assert!(times.is_sorted_by(|a, b| a >= b) && times[layers as usize - 1] > 0);
                }
            }
        }
    }

    #[test]
    fn the_slowest_takes_as_many_times_as_long_as_is_said() {
        let speed = LayerSpeed { layer_ratio: 2.0, layer_map: LayerMap::InOrder };
        let times = speed.times_ns(64, 1_100_000_000);
        assert!((times[0] as f64 / times[63] as f64 - 2.0).abs() < 1e-8);
        // Near the limit of many layers.
        assert!((times[0] as f64 / 1.1e9 - std::f64::consts::LOG2_E).abs() < 0.02);
        // By hand: speeds 1, 1.5 and 2 take 6/13, 4/13 and 3/13 of three nominal times.
        assert_eq!(speed.times_ns(3, 1300), [1800, 1200, 900]);
        assert_eq!(speed.times_ns(1, 25_000), [25_000]);
    }
}
