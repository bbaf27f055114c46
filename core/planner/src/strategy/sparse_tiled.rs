//! `sparse-tiled`: layers of most active memory in tiles, one tile after the other, and weights without their zeros
//! (Cipolletta and Calimera, III). The order is as given, all activations in SRAM, weights in flash.

use super::Technique;
use crate::{Options, Packing, PlanError, tiles};
use tilewright_model::Model;
use tilewright_model::tiling::{self, Tiling};
use tilewright_report::Unsupported;

/// The strategy.
pub const TECHNIQUE: Technique =
    Technique { name: "sparse-tiled", asks: Some(published), unsupported, ..Technique::INSIDE };

/// The paper's tiles where no others are asked for, and weights without their zeros.
fn published(options: &Options) -> Options {
    let tiling = options.tiling.or(Some(Tiling::PUBLISHED));
    Options { tiling, packing: Packing::Sparse, ..options.clone() }
}

/// A model none of whose layers can be in the paper's tiles.
fn unsupported(model: &Model) -> Option<Unsupported> {
    match tiles::unsupported(&tiling::tile(model, &Tiling::PUBLISHED).err()?) {
        PlanError::Unsupported(why) => Some(why),
        _ => None,
    }
}
