//! How large the tiles of a layer are (SwapNN, 3.2).

use super::layers::{Operand, SwapLayer, Way, Window};
use tilewright_plan::Bytes;

/// Why a layer has no tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoTile {
    /// The layer; empty if the buffers are too few for any.
    pub layer: String,
    /// The least buffer that would do.
    pub buffer: Bytes,
}

/// How a layer is cut.
#[derive(Clone, Debug)]
pub struct Tiling {
    /// Rows and columns of tiles.
    pub grid: [u32; 2],
    /// Rows and columns of the output in a tile; those at the border may have fewer.
    pub size: [u32; 2],
    /// Bytes that a tile reads of each operand, and in how many tasks.
    pub inputs: Vec<(u64, u64)>,
    /// Whether tiles are squares of the output, the last of which may be smaller.
    pub is_square: bool,
}

/// The layer that needs the largest buffers, and the least that does for it and so for all.
pub fn least(layers: &[SwapLayer]) -> NoTile {
    let none = NoTile { layer: String::new(), buffer: Bytes(1) };
    layers.iter().map(Tiling::least).fold(
        none,
        |most, next| {
            if next.buffer > most.buffer { next } else { most }
        },
    )
}

impl Tiling {
    /// The least buffer that a layer can be cut for.
    fn least(layer: &SwapLayer) -> NoTile {
        let whole = volume(layer.output);
        let buffer = match layer.way {
            Way::Squares(window) => {
                let pixel = layer.operands.iter().map(|operand| input(operand, layer, window, 1));
                whole.min(pixel.sum::<u64>().max(u64::from(layer.output[2])))
            }
            Way::Runs => 1,
            Way::Whole => whole,
        };
        NoTile { layer: layer.name.clone(), buffer: Bytes(buffer.max(1)) }
    }

    /// Cuts a layer for buffers of `buffer` bytes.
    pub fn of(layer: &SwapLayer, buffer: u64) -> Result<Self, NoTile> {
        match layer.way {
            Way::Squares(window) => Self::squares(layer, window, buffer),
            Way::Runs => Ok(Self::runs(layer, buffer)),
            Way::Whole => Self::whole(layer, buffer, false),
        }
    }

    /// Tiles of the layer.
    pub fn tiles(&self) -> u64 {
        u64::from(self.grid[0]) * u64::from(self.grid[1])
    }

    /// Tasks that read the input of a tile.
    pub fn reads(&self) -> u64 {
        self.inputs.iter().map(|(_, tasks)| tasks).sum()
    }

    /// The largest square whose input and output each fit a buffer.
    fn squares(layer: &SwapLayer, window: Window, buffer: u64) -> Result<Self, NoTile> {
        let [rows, columns, channels] = layer.output;
        let inputs = |side: u32| -> u64 {
            layer.operands.iter().map(|operand| input(operand, layer, window, side)).sum()
        };
        let fits = |side: u32| {
            let output = pixels([side.min(rows), side.min(columns)]) * u64::from(channels);
            output <= buffer && inputs(side) <= buffer
        };
        // Larger squares need more: the first that does not fit ends it.
        let (mut most, mut too_large) = (0, rows.max(columns) + 1);
        while too_large - most > 1 {
            let side = u32::midpoint(most, too_large);
            if fits(side) { most = side } else { too_large = side }
        }
        if most == 0 {
            // Sums over windows that are larger than a buffer need no more than their part of it.
            return Self::whole(layer, buffer, true).map_err(|_| Self::least(layer));
        }
        let size = [most.min(rows), most.min(columns)];
        let of_operand = |operand: &Operand| (input(operand, layer, window, most), 1);
        Ok(Self {
            grid: [rows.div_ceil(size[0]), columns.div_ceil(size[1])],
            size,
            inputs: layer.operands.iter().map(of_operand).collect(),
            is_square: true,
        })
    }

    /// As many runs as it takes for input and output to fit a buffer.
    fn runs(layer: &SwapLayer, buffer: u64) -> Self {
        let inputs: u64 = layer.operands.iter().map(|operand| volume(operand.shape)).sum();
        let count = inputs.max(volume(layer.output)).div_ceil(buffer).max(1);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let share = |operand: &Operand| (volume(operand.shape).div_ceil(u64::from(count)), 1);
        Self {
            grid: [count, 1],
            size: [layer.output[0].div_ceil(count), layer.output[1]],
            inputs: layer.operands.iter().map(share).collect(),
            is_square: false,
        }
    }

    /// One tile; its input is read in parts of a buffer, or by one task.
    fn whole(layer: &SwapLayer, buffer: u64, in_parts: bool) -> Result<Self, NoTile> {
        let output = volume(layer.output);
        if output > buffer {
            return Err(NoTile { layer: layer.name.clone(), buffer: Bytes(output) });
        }
        let of_operand = |operand: &Operand| {
            let bytes = volume(operand.shape);
            (bytes, if in_parts { bytes.div_ceil(buffer).max(1) } else { 1 })
        };
        Ok(Self {
            grid: [1, 1],
            size: [layer.output[0], layer.output[1]],
            inputs: layer.operands.iter().map(of_operand).collect(),
            is_square: false,
        })
    }
}

/// Bytes that a square tile of this side reads of an operand, halo and padding included.
fn input(operand: &Operand, layer: &SwapLayer, window: Window, side: u32) -> u64 {
    let [height, width, channels] = operand.shape;
    if [height, width] == [1, 1] {
        return u64::from(channels);
    }
    let extent = |axis: usize| {
        let outputs = side.min(layer.output[axis]).max(1);
        u64::from(outputs - 1) * u64::from(window.stride[axis]) + u64::from(window.size[axis])
    };
    extent(0).saturating_mul(extent(1)).saturating_mul(u64::from(channels))
}

pub fn pixels(size: [u32; 2]) -> u64 {
    u64::from(size[0]) * u64::from(size[1])
}

fn volume(shape: [u32; 3]) -> u64 {
    shape.map(u64::from).iter().product()
}
