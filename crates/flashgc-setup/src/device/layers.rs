//! Layers and sub-blocks of a 3D block, and how the layers differ in speed.

use super::one_shot;
use flashgc_config::Reader;
use flashgc_model::device::{LayerMap, LayerSpeed};
use flashgc_model::gc::windows::SUB_BLOCKS_MAX;

/// Valid pages of a block are counted in 16 bits.
pub const PAGES_PER_BLOCK_MAX: u32 = 65_535;

/// How a block is built in the third dimension.
pub struct Layered {
    pub sub_blocks: u32,
    /// 0 where the device does not give it.
    pub layers: u32,
    pub isolation_layers: u32,
    /// Flash pages of a word line that are programmed together.
    pub pages_per_program: u32,
    /// How the layers differ, where they do.
    pub speed: Option<LayerSpeed>,
    /// A key without effect.
    pub unused: Option<&'static str>,
}

/// Reads the layers from `[device]`; the speeds are in `[device.timing]`.
///
/// Layers and sub-blocks hold whole pages, and sub-blocks whole layers.
pub fn read(table: &Reader<'_>, pages_per_block: Option<u32>) -> Option<Layered> {
    let given = |key: &str, most: u32| match table.has(key) {
        true => table.u32(key, 1..=most).map(Some),
        false => Some(None),
    };
    // The keys are marked as known even where a mistake comes first.
    let timing = table.table("timing");
    timing.allow("layer_ratio");
    timing.allow("layer_map");
    let sub_blocks = given("sub_blocks", SUB_BLOCKS_MAX);
    let layers = given("layers", PAGES_PER_BLOCK_MAX);
    let isolation_layers = given("isolation_layers", PAGES_PER_BLOCK_MAX);
    let (sub_blocks, layers) = (sub_blocks?.unwrap_or(1), layers?.unwrap_or(0));
    let isolation_layers = isolation_layers?.unwrap_or(1);
    let speed = speed(table, layers);
    let pages_per_program = one_shot::read(table, pages_per_block);
    let refuse = |key: &str, message: String, help: &str| {
        table.error(key, message, help);
        None
    };
    let pages = pages_per_block?;
    if pages % sub_blocks != 0 {
        let message =
            format!("sub_blocks must divide device.pages_per_block = {pages}, got {sub_blocks}");
        return refuse("sub_blocks", message, "give a divisor of device.pages_per_block");
    }
    if layers > 0 && (pages % layers != 0 || layers % sub_blocks != 0) {
        let message = format!(
            "layers must divide the {pages} pages of a block and be a multiple of sub_blocks = \
             {sub_blocks}, got {layers}"
        );
        let help = "each layer must have the same number of pages, and each sub-block the \
                    same number of layers";
        return refuse("layers", message, help);
    }
    if layers > 0 && isolation_layers >= layers / sub_blocks && sub_blocks > 1 {
        let message = format!(
            "isolation_layers must be below {} (the layers of a sub-block), got {isolation_layers}",
            layers / sub_blocks
        );
        return refuse("isolation_layers", message, "give fewer layers, or set fewer sub_blocks");
    }
    let (speed, unused) = speed?;
    let pages_per_program = one_shot::in_layers(table, pages_per_program?, pages, layers)?;
    Some(Layered { sub_blocks, layers, isolation_layers, pages_per_program, speed, unused })
}

/// How the layers differ in speed, and the key without effect.
fn speed(device: &Reader<'_>, layers: u32) -> Option<(Option<LayerSpeed>, Option<&'static str>)> {
    let table = device.table("timing");
    let given = |key: &str| table.has(key);
    let ratio = table.f64("layer_ratio", 1.0..=100.0);
    let map = table.choice("layer_map", &LayerMap::WORDS);
    if let (Some(above_one), 0) = (ratio.filter(|ratio| *ratio > 1.0), layers) {
        table.error(
            "layer_ratio",
            format!("layer_ratio = {above_one} needs device.layers, which is not set"),
            "set `device.layers`, as in `layers = 64`, or remove `layer_ratio`",
        );
        return None;
    }
    if given("layer_ratio") != ratio.is_some() || given("layer_map") != map.is_some() {
        return None;
    }
    let layer_ratio = ratio.unwrap_or(1.0);
    let differ = layer_ratio > 1.0 && layers > 1;
    let speed = LayerSpeed { layer_ratio, layer_map: map.unwrap_or(LayerMap::InOrder) };
    let unused = (map.is_some() && !differ).then_some("device.timing.layer_map");
    Some((differ.then_some(speed), unused))
}
