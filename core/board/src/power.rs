//! Power that boards and cards draw. Build scripts and the library share this file.

use serde::{Deserialize, Serialize};

/// Power: least and most of the sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// Least, in milliwatts.
    pub least_mw: u32,
    /// Most, in milliwatts; not below the least.
    pub most_mw: u32,
    /// Where the numbers come from.
    pub source: String,
}

/// What a board draws, all of it, while its core works on a layer; the mean over the layer, so that
/// what the core waits for the layer's own transfers is in it. By where the operands lie, since that
/// is what has been measured: nobody has told the share of a controller, of DMA or of a chip apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Operands in internal memory.
    pub inside: Draw,
    /// Operands in external memory, where the core reads and writes them.
    #[serde(default)]
    pub outside: Option<Draw>,
    /// Operands in external memory that DMA brings to internal memory ahead of the core.
    #[serde(default)]
    pub brought: Option<Draw>,
}
