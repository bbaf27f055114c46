//! The command line's words. Scripts rely on them.

pub mod board;
mod check;
pub mod explore;
mod image;
mod papers;
mod quantised;
mod train;
mod values;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use tilewright_app::{CardWish, Engine, Mode};
use tilewright_plan::{Bytes, Micros};
use tilewright_planner::Strategy;
use tilewright_report::{Integrity, Kernels, Objective, Outputs, Packing, PlanSettings, choice};

pub use check::Check;
pub use image::Image;
pub use papers::Papers;
pub use quantised::{ModelFile, Quantised};
pub use train::Train;
pub use values::Limits;
use values::{board, bytes, frames, limits, part, period};

/// Plans, shows and runs neural networks that are bigger than a microcontroller's memory.
///
/// Exit codes: 0 done, 1 does not fit, 2 bad input or usage, 3 our fault, 4 not known within the
/// budget (order, allocate), 130 cancelled.
#[derive(Debug, Parser)]
#[command(name = "tilewright", version, about, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the boards
    Boards {
        /// Show reference profiles too: boards of papers, which nobody can buy
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        json: Json,
    },
    /// List the networks of the zoo, or write one as ONNX or TensorFlow Lite
    Zoo(Zoo),
    /// Show a model's operators, shapes, MACs and parameters
    Inspect(Inspect),
    /// Plan a model on a board
    Plan(Plan),
    /// Test that a model fits limits, and needs no more than was accepted last: for continuous integration
    Check(Check),
    /// Compare what bringing operands from external memory to SRAM gives, overlay by overlay and
    /// budget by budget
    Overlay(Overlay),
    /// Make the smallest weights of a model zero, and write it as ONNX or TensorFlow Lite
    Prune(Prune),
    /// Train a network anew on small labelled images, and write it as ONNX with samples to quantise on
    Train(Train),
    /// Compare grids of tiles by SRAM, time and what is computed again, or write the model in tiles
    Tile(Tile),
    /// Write a model in another format: its float form as ONNX, its int8 form as TensorFlow Lite
    Export(Export),
    /// Compute the figures of published systems again, beside what the papers print
    Papers(Papers),
    /// Run an experiment over many networks and techniques
    #[command(subcommand)]
    Explore(explore::Explore),
    /// Plan a model, run it on the emulated board, compare every layer with the reference
    Run(Run),
    /// Run a model with every strategy and compare layer by layer with the reference; or, with
    /// --float, compare the int8 model with the float one
    Verify(Verify),
    /// Write the image to flash: ELF, BIN, HEX, and what goes with them; or a C library for your own firmware
    Image(Image),
    /// Find, flash, run and measure the board on your desk
    #[command(subcommand)]
    Board(board::Board),
    /// Find the order of operators that needs the least memory
    Order(Order),
    /// Place buffers with lifetimes in memory, as low as can be
    Allocate(Allocate),
    /// Serve the page with its emulator
    Serve(Serve),
    /// Do emulated runs for servers on this or other machines
    Worker(Serve),
}

#[derive(Debug, Args)]
pub struct Json {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Out {
    #[command(flatten)]
    pub json: Json,
    /// Write the table as comma-separated values
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw the figures as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct OnBoard {
    #[command(flatten)]
    pub quantised: Quantised,
    /// Board, as `tilewright boards` names it, or a .toml file that says what differs from one of them
    #[arg(long, value_parser = board)]
    pub board: String,
    /// Kernels of the board's firmware: `fast`, or `small`, which take less than half the flash, and longer
    #[arg(long, default_value = "fast", value_parser = choice::<Kernels>)]
    pub kernels: Kernels,
    /// Largest tensor arena, such as 65536 or 64KiB; else what the board has
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_hyphen_values = true)]
    pub sram: Option<Bytes>,
    /// What strategy auto makes least: the `latency` of the plans that fit, the tensor arena (`memory`), the `energy` of a
    /// frame, where sources tell what the board draws, or the bytes that a frame writes to the card (`wear`)
    #[arg(long, default_value = "latency", value_parser = choice::<Objective>)]
    pub objective: Objective,
    /// Let strategy auto use no memory outside of the chip
    #[arg(long)]
    pub inside: bool,
    /// How weights are packed: `plain`, in pairs of output channels; `fast`, transformed (3x3, 3.6 times the
    /// bytes) wherever flash has room; `sparse`, without their zeros wherever they take fewer bytes so; or `auto`:
    /// what is modelled to be faster for each layer, or fits
    #[arg(long, default_value = "auto", value_parser = choice::<Packing>)]
    pub packing: Packing,
    /// Let the input arrive in rows, as from a camera, while others are used: strategy auto then holds no more rows
    /// than depth-first groups need at once
    #[arg(long)]
    pub stream_input: bool,
    /// Make the layers of most active memory in tiles, rows by columns, such as 2x2, one tile after the other
    /// (with any strategy); pixels at the tiles' edges are computed again
    #[arg(long, value_name = "ROWSxCOLUMNS")]
    pub tiles: Option<String>,
    /// Layers are made in tiles whose active memory is more than this part of the peak, and those between; else 0.4
    #[arg(long, value_name = "0..1", requires = "tiles", allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// How strategy overlay makes outputs: `direct`, where they belong, by the core; or `staged`, in SRAM, from
    /// where DMA moves them
    #[arg(long, default_value = "direct", value_parser = choice::<Outputs>)]
    pub outputs: Outputs,
    /// Put a program for each output into the image, which computes nothing else: a limit of latency chooses from
    /// them at run time (`run --limits`, `board run --limits`)
    #[arg(long)]
    pub exits: bool,
    /// End the run at the first output that holds a probability as large, above 0, up to 1
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub exit_confidence: Option<f64>,
    /// Size of the buffers that hold tiles, of strategies with buffers of one size (swap); else a
    /// quarter of the arena
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_hyphen_values = true)]
    pub buffer: Option<Bytes>,
    /// Frames to compute one after the other, 1 to 1000: predicted times are those of all of them; else one
    #[arg(long, value_name = "N", value_parser = frames, allow_hyphen_values = true)]
    pub frames: Option<u32>,
    /// Class of the card in the board's slot; else the one that goes with the board
    #[arg(long, value_name = "CLASS")]
    pub card: Option<String>,
    /// Time from one frame to the next, such as 500ms, 10s or 5min, for what a day writes to the card;
    /// else frames follow each other at once
    #[arg(long, value_name = "TIME", value_parser = period, allow_hyphen_values = true)]
    pub period: Option<Micros>,
}

impl OnBoard {
    /// What a plan is asked for here.
    pub fn settings(&self, integrity: Integrity) -> PlanSettings {
        PlanSettings {
            board: self.board.clone(),
            kernels: self.kernels,
            sram_bytes: self.sram.map(|sram| sram.0),
            buffer_bytes: self.buffer.map(|buffer| buffer.0),
            frames: self.frames,
            objective: self.objective,
            inside: self.inside,
            packing: self.packing,
            outputs: self.outputs,
            tiles: self.tiles.clone(),
            threshold: self.threshold,
            stream_input: self.stream_input,
            exits: self.exits,
            exit_confidence: self.exit_confidence,
            card: self.card.clone(),
            integrity,
            ..PlanSettings::default()
        }
    }
}

#[derive(Debug, Args)]
pub struct Checked {
    /// Let the firmware compare what it brings from a card with checksums, and read it again if they
    /// differ: weights with those of the plan image, activations with those that it keeps in SRAM
    #[arg(long)]
    integrity: bool,
    /// Encrypt what lies on a card, with tags in place of checksums: weights with a key of the image, which
    /// lies in the microcontroller's flash, activations with one of each start
    #[arg(long, conflicts_with = "integrity")]
    encrypt: bool,
}

impl Checked {
    /// What is done about wrong bytes from the card, and about those who read it.
    pub const fn integrity(&self) -> Integrity {
        match (self.encrypt, self.integrity) {
            (true, _) => Integrity::Sealed,
            (false, true) => Integrity::Checked,
            (false, false) => Integrity::Trusted,
        }
    }
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Zoo {
    #[command(subcommand)]
    pub command: Option<ZooCommand>,
    #[command(flatten)]
    pub json: Json,
}

#[derive(Debug, Subcommand)]
pub enum ZooCommand {
    /// Write a network with its seeded weights: its float form as ONNX, its int8 form as TensorFlow Lite
    Export {
        /// Its name, such as mobilenet-v2-w0.35-r96
        name: String,
        /// The file: TensorFlow Lite if its name ends in .tflite, else ONNX
        #[arg(short, long, value_name = "FILE.onnx|FILE.tflite")]
        output: PathBuf,
    },
    /// Write a network that is stacked from any genotype's cells, likewise
    Stack {
        /// A text file with a genotype in DARTS' notation: Genotype(normal=[('sep_conv_3x3', 0), ...], ...);
        /// lines before or behind it, as 'cells 8', may say the size. Its name ending in .txt, it also is a MODEL
        genotype: PathBuf,
        /// Cells, those at one and two thirds halving height and width; as the file says, or 8
        #[arg(long)]
        cells: Option<usize>,
        /// Channels of the first cells, an even number; as the file says, or 16
        #[arg(long)]
        channels: Option<usize>,
        /// Height and width of the input in pixels; as the file says, or 32
        #[arg(long, value_name = "PIXELS")]
        resolution: Option<usize>,
        /// Channels of the input; as the file says, or 3
        #[arg(long)]
        colours: Option<usize>,
        /// The file: TensorFlow Lite if its name ends in .tflite, else ONNX
        #[arg(short, long, value_name = "FILE.onnx|FILE.tflite")]
        output: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct Inspect {
    #[command(flatten)]
    pub quantised: Quantised,
    /// Show what quantising does instead: for each tensor range, scale, share of values that
    /// saturate and signal-to-noise ratio (SQNR) of the int8 model; for each layer the SQNR of the
    /// model's outputs with only this layer quantised
    #[arg(long)]
    pub quantisation: bool,
    /// Show what would bound each layer if its operands came from a card: its arithmetic intensity, normalised by the
    /// cores (64 to 480 million operations a second) and cards (10 to 40 MB/s) of the SwapNN paper
    #[arg(long, conflicts_with = "quantisation")]
    pub intensity: bool,
    #[command(flatten)]
    pub json: Json,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// A recipe instead of a strategy.
#[derive(Debug, Args)]
pub struct FromRecipe {
    /// Plan what a recipe says, as `tilewright plan --write-recipe` writes it, instead of what a strategy would:
    /// each decision is a line that can be changed; the plan is proved as any other
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["strategy", "tiles"])]
    pub recipe: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Plan {
    #[command(flatten)]
    pub on: OnBoard,
    /// Strategy, or `all` to compare them; `auto` searches for the fastest plan that fits, no slower than
    /// the others by prediction
    #[arg(long, default_value = "resident", value_parser = strategies)]
    pub strategy: Strategies,
    #[command(flatten)]
    pub from: FromRecipe,
    /// What activations consist of: `int8`, or `float32` to see the memory that the network needs
    /// as it was trained; of floats memory alone is planned, not a program
    #[arg(long, value_enum, default_value_t = Elements::Int8)]
    pub elements: Elements,
    #[command(flatten)]
    pub checked: Checked,
    #[command(flatten)]
    pub json: Json,
    /// Write the memory map as comma-separated values, one row an operator: bytes of inputs,
    /// outputs, tensors needed later, weights and scratch, and each live tensor as name@offset+bytes(use);
    /// `-` is standard output, here and below
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the recipe of the plan: all that it decides, for --recipe
    #[arg(long, value_name = "FILE.json")]
    pub write_recipe: Option<PathBuf>,
    /// Draw the memory map: live bytes at each operator, and the arena over time
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub schedule: ScheduleFiles,
}

/// Files that show a schedule elsewhere, as the page saves them.
#[derive(Debug, Args)]
pub struct ScheduleFiles {
    /// Write the schedule as a trace that Perfetto opens: one track a resource, arrows from what ended a
    /// wait to what had waited, and what of SRAM is held; predicted, and of a run what ran beside it;
    /// `-` is standard output, here and below
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Write the schedule as comma-separated values, one row for each stretch of a lane
    #[arg(long, value_name = "FILE")]
    pub schedule_csv: Option<PathBuf>,
    /// Write the schedule as JSON, with the plan's figures, its memory, and what of SRAM is held
    #[arg(long, value_name = "FILE")]
    pub schedule_json: Option<PathBuf>,
    /// Write the plan as a film: an SVG picture that moves, of what SRAM holds, what travels and what lanes do;
    /// of a run what ran
    #[arg(long, value_name = "FILE.svg")]
    pub film: Option<PathBuf>,
    /// Write figures, film, memory map and layers as one HTML file that needs nothing else
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Write a badge for a project's page: board, SRAM and latency
    #[arg(long, value_name = "FILE.svg")]
    pub badge: Option<PathBuf>,
}

impl ScheduleFiles {
    /// All of them.
    pub const fn all(&self) -> [&Option<PathBuf>; 6] {
        let Self { perfetto, schedule_csv, schedule_json, film, report, badge } = self;
        [perfetto, schedule_csv, schedule_json, film, report, badge]
    }
}

#[derive(Debug, Args)]
pub struct Overlay {
    #[command(flatten)]
    pub on: OnBoard,
    #[command(flatten)]
    pub json: Json,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

#[derive(Debug, Args)]
pub struct Prune {
    #[command(flatten)]
    pub file: ModelFile,
    /// Part of the groups that becomes zero
    #[arg(long, value_name = "0..1", value_parser = part)]
    pub sparsity: u16,
    /// Weights of a group, neighbours along the row of an output channel
    #[arg(long, value_name = "N", default_value = "2")]
    pub group: NonZeroUsize,
    /// Rank the groups of all layers together; else each layer loses the same part
    #[arg(long = "global")]
    pub is_global: bool,
    #[command(flatten)]
    pub json: Json,
    /// The file: TensorFlow Lite if its name ends in .tflite, else ONNX, which takes floats alone
    #[arg(short, long, value_name = "FILE.onnx|FILE.tflite")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct Export {
    #[command(flatten)]
    pub quantised: Quantised,
    /// The file: TensorFlow Lite if its name ends in .tflite, else ONNX
    #[arg(short, long, value_name = "FILE.onnx|FILE.tflite")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct Tile {
    #[command(flatten)]
    pub on: OnBoard,
    /// Strategy; `resident` keeps the order as it is: one tile after the other
    #[arg(long, default_value = "resident")]
    pub strategy: Strategy,
    #[command(flatten)]
    pub json: Json,
    /// Write the model in the tiles of --tiles: its int8 form as TensorFlow Lite if the name ends in
    /// .tflite, else its float form as ONNX
    #[arg(short, long, value_name = "FILE.onnx|FILE.tflite", requires = "tiles")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub on: OnBoard,
    /// Strategy
    #[arg(long, default_value = "resident")]
    pub strategy: Strategy,
    /// Another model for the same image and arena, a file or zoo:NAME, planned with the same options; may be repeated.
    /// One runs at a time, and which one is said on the console
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["recipe", "exits", "frames"])]
    pub with: Vec<PathBuf>,
    #[command(flatten)]
    pub from: FromRecipe,
    /// Input: a PNG picture, a WAV sound, a .npy or .npz array, or the raw int8 bytes; else the first sample
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// `full`, or `sampled`: of compute steps that run alike only the first is executed, for counts
    /// and a timeline without outputs
    #[arg(long, value_name = "MODE", default_value = "full")]
    pub mode: Mode,
    /// What executes the firmware: `unicorn`, an independent emulator; `own`, the core that the page has too; or `both`,
    /// compared block by block. Counts and cycles are the same
    #[arg(long, default_value = "unicorn", value_parser = choice::<Engine>)]
    pub engine: Engine,
    #[command(flatten)]
    pub checked: Checked,
    /// Let something go wrong with the card: KIND at transfer N since reset and each M after it; may be
    /// repeated. KIND is removed, read-error, crc-error, garbled (a bit wrong, once, unnoticed),
    /// flipped-bit (wrong on the card from then on), lost-write, astray, stuck-busy, slow-write, unheard or
    /// bad-answer (of commands, which N and M count then), too-small, other-image or empty
    #[arg(long = "card-fault", value_name = "KIND[@N[/M]]")]
    pub card_faults: Vec<CardWish>,
    /// Run once for each of these limits of latency, without a restart, each time the sub-network that meets it; the
    /// last unit is that of numbers without one. Implies --exits
    #[arg(long, value_name = "TIME,TIME", value_parser = limits)]
    pub limits: Option<Limits>,
    /// Show where each layer's cycles went, and the instructions of its hottest blocks
    #[arg(long)]
    pub hot: bool,
    #[command(flatten)]
    pub json: Json,
    #[command(flatten)]
    pub schedule: ScheduleFiles,
}

#[derive(Debug, Args)]
#[command(mut_arg("board", |board| {
    board.required(false).required_unless_present("float").default_value("").hide_default_value(true)
}))]
pub struct Verify {
    #[command(flatten)]
    pub on: OnBoard,
    /// Compare with the float model instead, without a board: an ONNX file is run by tract, and our
    /// float and int8 interpreters are compared with it, layer by layer, on at most 8 samples
    #[arg(long, conflicts_with_all = ["board", "input"])]
    pub float: bool,
    /// Input: a PNG picture, a WAV sound, a .npy or .npz array, or the raw int8 bytes; else the first sample
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    #[command(flatten)]
    pub json: Json,
}

/// Find the order of operators that needs the least memory, and offsets for its tensors.
///
/// A .tflite FILE is rearranged for TensorFlow Lite Micro: -o writes the same file with its operators
/// in that order and with the offsets as metadata `OfflineMemoryAllocation`, which the runtime keeps
/// to. All else in it stays byte for byte as it is, and it computes the same.
///
/// A .json FILE holds `tensors`: [{name, bytes}], `ops`: [{op, ins, outs}] with indices of tensors,
/// `inputs`, `outputs` and, if there are any, `variables`: indices of tensors. A tensor that no
/// operator writes and that is neither input nor variable is a constant and takes no memory.
#[derive(Debug, Args)]
pub struct Order {
    /// A model (.tflite), a network of the zoo as int8 (zoo:NAME), or a topology (.json)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write the model in that order, with the offsets: for TensorFlow Lite Micro
    #[arg(short, long, value_name = "FILE.tflite")]
    pub output: Option<PathBuf>,
    /// Let element-wise operators overwrite an operand of the same size that nothing needs
    /// afterwards, and reshapes share the bytes of their operand
    #[arg(long)]
    pub in_place: bool,
    /// Let operands of a concatenation be written where its result will lie
    #[arg(long)]
    pub concat: bool,
    /// Find an order with an arena of at most this size; else the least
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_hyphen_values = true)]
    pub capacity: Option<Bytes>,
    /// Units of work to spend at most on the order, and as many again on the arena; a million take
    /// some ten milliseconds
    #[arg(long, value_name = "UNITS", default_value_t = 400_000_000)]
    pub budget: u64,
    #[command(flatten)]
    pub json: Json,
}

#[derive(Debug, Args)]
pub struct Allocate {
    /// Buffers as comma-separated values: columns id, lower, upper, size and, if wanted,
    /// alignment, gaps, offset
    #[arg(value_name = "FILE.csv")]
    pub file: PathBuf,
    /// Find a placement of at most this height; else the least
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_hyphen_values = true)]
    pub capacity: Option<Bytes>,
    /// Units of work to spend at most; a million take some milliseconds
    #[arg(long, value_name = "UNITS", default_value_t = 1_000_000_000)]
    pub budget: u64,
    #[command(flatten)]
    pub json: Json,
    /// Write the buffers with their offsets
    #[arg(short, long, value_name = "FILE.csv")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Serve {
    /// What it takes: `tilewright serve --help`, `tilewright worker --help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    pub options: Vec<OsString>,
}

/// What activations and weights consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Elements {
    /// 8-bit integers: the plan can run
    Int8,
    /// 32-bit floats: memory alone
    Float32,
}

/// One strategy, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategies {
    One(Strategy),
    All,
}

fn strategies(text: &str) -> Result<Strategies, String> {
    if text == "all" {
        return Ok(Strategies::All);
    }
    text.parse()
        .map(Strategies::One)
        .map_err(|error: tilewright_planner::PlanError| format!("{error}, all"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
