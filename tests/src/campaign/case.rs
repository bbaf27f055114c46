//! A case: board, strategy, options and input.

use std::fmt;
use std::num::NonZeroU32;

use fastrand::Rng;
use serde::{Deserialize, Serialize};
use tilewright_board::Board;
use tilewright_model::tiling::{Grid, Tiling};
use tilewright_model::{Data, Model};
use tilewright_plan::Bytes;
use tilewright_planner::{Objective, Options, Packing, Strategy};

use crate::random_model::random_inputs;

/// Which firmware runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernels {
    /// Loops written out.
    Fast,
    /// As little code as there can be.
    Small,
}

/// What a network is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// All values of int8, drawn.
    Random,
    /// −128 throughout.
    Lowest,
    /// 127 throughout.
    Highest,
    /// −128 and 127, drawn.
    Extremes,
}

/// Tiles of layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tiles {
    /// One below the other.
    pub rows: u16,
    /// Side by side.
    pub columns: u16,
    /// Of layers whose active memory is more than so many thousandths of the peak.
    pub threshold: u16,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Id of the board.
    pub board: String,
    /// Its firmware.
    pub kernels: Kernels,
    pub strategy: Strategy,
    /// What `auto` makes least.
    pub objective: Objective,
    /// Which weights are transformed.
    pub packing: Packing,
    /// Frames of the program.
    pub frames: NonZeroU32,
    /// Largest tensor arena, in bytes.
    pub sram: Option<u64>,
    /// Bytes of a buffer of strategies with buffers of one size.
    pub buffer: Option<u64>,
    /// In which tiles layers are made.
    pub tiles: Option<Tiles>,
    /// Whether the input may arrive in rows.
    #[serde(default)]
    pub streams_input: bool,
    /// What the network is given.
    pub input: Input,
}

/// Multiply-accumulates beyond which several frames are not drawn.
const MANY_MACS: u64 = 5_000_000;

impl Case {
    /// A strategy with the options that nobody changes.
    #[must_use]
    pub fn usual(board: &str, strategy: Strategy) -> Self {
        Self {
            board: board.to_owned(),
            kernels: Kernels::Fast,
            strategy,
            objective: Objective::Latency,
            packing: Packing::Auto,
            frames: NonZeroU32::MIN,
            sram: None,
            buffer: None,
            tiles: None,
            streams_input: false,
            input: Input::Random,
        }
    }

    /// A drawn case for a network of so many multiply-accumulates.
    #[must_use]
    pub fn drawn(board: &Board, macs: u64, rng: &mut Rng) -> Self {
        let strategy = Strategy::ALL[rng.usize(..Strategy::ALL.len())];
        let mut case = Self::usual(&board.id, strategy);
        if rng.u8(..4) == 0 && board.small().is_some() {
            case.kernels = Kernels::Small;
        }
        if rng.bool() {
            case.objective = Objective::Memory;
        }
        case.packing =
            [Packing::Auto, Packing::Plain, Packing::Fast, Packing::Sparse][rng.usize(..4)];
        if macs < MANY_MACS && rng.u8(..3) == 0 {
            case.frames = NonZeroU32::new(rng.u32(2..5)).unwrap_or(NonZeroU32::MIN);
        }
        match rng.u8(..4) {
            // As often little as much.
            0 | 1 => {
                let most = board.arena().0.max(2).ilog2();
                let bits = rng.u32(10..=most.max(10));
                case.sram = Some(rng.u64(1 << bits..2 << bits));
            }
            2 => case.buffer = Some(rng.u64(256..32_768)),
            _ => {}
        }
        if rng.u8(..4) == 0 {
            let (rows, columns) = (rng.u16(1..4), rng.u16(1..4));
            case.tiles = Some(Tiles { rows, columns, threshold: rng.u16(..900) });
        }
        case.streams_input = rng.u8(..3) == 0;
        case.input =
            [Input::Random, Input::Lowest, Input::Highest, Input::Extremes][rng.usize(..4)];
        case
    }

    /// The board with the case's firmware.
    ///
    /// # Errors
    /// If there is none.
    pub fn board(&self) -> Result<Board, String> {
        let board = tilewright_board::find(&self.board).map_err(|error| error.to_string())?;
        match self.kernels {
            Kernels::Fast => Ok(board),
            Kernels::Small => {
                board.small().ok_or_else(|| format!("{}: no small kernels", self.board))
            }
        }
    }

    /// The planner's options.
    #[must_use]
    pub fn options(&self) -> Options {
        Options {
            sram: self.sram.map(Bytes),
            buffer: self.buffer.map(Bytes),
            frames: self.frames,
            objective: self.objective,
            packing: self.packing,
            tiling: self.tiles.map(|Tiles { rows, columns, threshold }| Tiling {
                grid: Grid { rows, columns },
                threshold,
            }),
            streams_input: self.streams_input,
            ..Options::default()
        }
    }

    /// The inputs of the first frame.
    #[must_use]
    pub fn inputs(&self, model: &Model) -> Vec<Data> {
        let mut inputs = random_inputs(model, 1);
        for data in &mut inputs {
            let Data::I8(values) = data else { continue };
            for value in values {
                *value = match self.input {
                    Input::Random => *value,
                    Input::Lowest => i8::MIN,
                    Input::Highest => i8::MAX,
                    Input::Extremes if *value < 0 => i8::MIN,
                    Input::Extremes => i8::MAX,
                };
            }
        }
        inputs
    }
}

impl fmt::Display for Case {
    /// As the command line takes it, but for the input.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--board {} --strategy {}", self.board, self.strategy)?;
        if self.kernels == Kernels::Small {
            f.write_str(" --kernels small")?;
        }
        if self.objective == Objective::Memory {
            f.write_str(" --objective memory")?;
        }
        match self.packing {
            Packing::Auto => {}
            Packing::Plain => f.write_str(" --packing plain")?,
            Packing::Fast => f.write_str(" --packing fast")?,
            Packing::Sparse => f.write_str(" --packing sparse")?,
        }
        if self.frames > NonZeroU32::MIN {
            write!(f, " --frames {}", self.frames)?;
        }
        if let Some(sram) = self.sram {
            write!(f, " --sram {sram}")?;
        }
        if let Some(buffer) = self.buffer {
            write!(f, " --buffer {buffer}")?;
        }
        if let Some(Tiles { rows, columns, threshold }) = self.tiles {
            let threshold = f64::from(threshold) / 1000.0;
            write!(f, " --tiles {rows}x{columns} --threshold {threshold}")?;
        }
        write!(f, " ({:?} input)", self.input)
    }
}
