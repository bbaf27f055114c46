//! `sparse-tiled`: layers of most active memory in tiles, one tile after the other, and weights without their zeros
//! (Cipolletta and Calimera, III). The order is as given, all activations in SRAM, weights in flash.

use super::Technique;
use crate::{Options, Packing};
use tilewright_model::tiling::Tiling;

/// The strategy.
pub const TECHNIQUE: Technique =
    Technique { name: "sparse-tiled", asks: published, ..Technique::INSIDE };

/// The paper's tiles where no others are asked for, and weights without their zeros.
fn published(options: &Options) -> Options {
    let tiling = options.tiling.or(Some(Tiling::PUBLISHED));
    Options { tiling, packing: Packing::Sparse, ..options.clone() }
}
