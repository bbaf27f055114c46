//! Options of `explore`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use tilewright_plan::{Bytes, Micros};
use tilewright_planner::Strategy;
use tilewright_report::{SweepAxis, SweepBy, SweepChart};
use tilewright_search::Settings;

use super::{Checked, Json, OnBoard, Out, values};

#[derive(Debug, Subcommand)]
pub enum Explore {
    /// Early exits of a network with several outputs: what each answers, and what thresholds of confidence come to
    Exits(ExploreExits),
    /// Twelve MobileNets, dense, sparse, in tiles, both, and as auto plans them: what fits, and how fast it is
    Fit(ExploreFit),
    /// Networks of drawn genotypes: does the cost of their operations predict what the whole takes?
    Genotypes(ExploreGenotypes),
    /// 46,056 operators of three backbones in 228 sizes each: what each takes, and what follows from it
    Operators(ExploreOperators),
    /// 165 widths and resolutions of one backbone: the most accurate within each latency on each board by each strategy
    Scale(ExploreScale),
    /// Cells for small images, by gradients and with the cost of operations in the loss (DEff-ARTS)
    Search(ExploreSearch),
    /// Every model on every board with every strategy, and so on, a row each
    Sweep(ExploreSweep),
}

#[derive(Debug, Args)]
pub struct ExploreExits {
    #[command(flatten)]
    pub on: OnBoard,
    /// Strategy
    #[arg(long, default_value = "auto")]
    pub strategy: Strategy,
    #[command(flatten)]
    pub checked: Checked,
    /// Probabilities from which an exit ends a run
    #[arg(
        long,
        value_name = "P,P",
        value_delimiter = ',',
        default_values_t = tilewright_explore::exits::CONFIDENCES
    )]
    pub thresholds: Vec<f64>,
    /// Labelled images: a folder with t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, plain or as .gz; else latencies
    /// alone are told
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// Images at most
    #[arg(long, value_name = "N", default_value = "10000")]
    pub images: NonZeroUsize,
    #[command(flatten)]
    pub out: Out,
}

#[derive(Debug, Args)]
pub struct ExploreFit {
    /// Board
    #[arg(long, default_value = tilewright_explore::FIT_BOARD, value_parser = values::board)]
    pub board: String,
    #[command(flatten)]
    pub out: Out,
}

#[derive(Debug, Args)]
pub struct ExploreGenotypes {
    /// How many genotypes are drawn
    #[arg(long, value_name = "N", default_value_t = tilewright_explore::GENOTYPES, value_parser = values::genotypes)]
    pub count: usize,
    /// What they are drawn from: the same number gives the same genotypes
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Board that runs plans
    #[arg(long, default_value = tilewright_explore::GENOTYPES_BOARD)]
    pub board: String,
    /// Cells of each network
    #[arg(long, value_name = "N", default_value_t = tilewright_explore::GENOTYPES_STACK.cells)]
    pub cells: usize,
    /// Channels of each step before the first reduction
    #[arg(long, value_name = "N", default_value_t = tilewright_explore::GENOTYPES_STACK.channels)]
    pub channels: usize,
    /// Height and width of the input
    #[arg(long, value_name = "PIXELS", default_value_t = tilewright_explore::GENOTYPES_STACK.resolution)]
    pub resolution: usize,
    /// Keep each run in this file as soon as it is there, a line of JSON each; what is in it already is not run again
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    /// Write what each operation took when it was run, in cycles, the mean of all cells: a line such as sep_conv_3x3 =
    /// 123456 each
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    #[command(flatten)]
    pub out: Out,
}

#[derive(Debug, Args)]
pub struct ExploreOperators {
    /// Networks of the zoo with widths from 0.1 to 1 and resolutions from 48 to 224; else the thesis' three
    #[arg(long, value_name = "NETWORK", value_delimiter = ',')]
    pub backbones: Vec<String>,
    /// Boards, with commas between; all: one of each chip that runs plans
    #[arg(long, value_name = "BOARDS", value_delimiter = ',', default_value = tilewright_explore::OPERATORS_BOARD)]
    pub board: Vec<String>,
    /// Look at cores with a data cache a second time, with the cache switched off: predicted, never run
    #[arg(long)]
    pub without_data_cache: bool,
    /// Run each operator on the emulated board that holds it, if it has at most so many multiply-accumulates, or
    /// makes at most so many values without any
    #[arg(long, value_name = "MACS", num_args = 0..=1, default_missing_value = "1000000000")]
    pub emulate: Option<u64>,
    /// Keep each run in this file as soon as it is there, a line of JSON each; what is in it already is not run again
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    #[command(flatten)]
    pub out: Out,
}

#[derive(Debug, Args)]
pub struct ExploreSearch {
    /// Folder of idx files such as MNIST's, plain or .gz; or a .npy of bytes whose images are of ten classes in turn,
    /// such as models/lenet5.calibration.npy
    #[arg(long, value_name = "PATH")]
    pub data: PathBuf,
    /// Most images that are taken: half of them to train with, half to validate with
    #[arg(long, value_name = "N", default_value_t = 8192)]
    pub images: usize,
    /// Height and width to which images are resized, a multiple of 4
    #[arg(long, value_name = "PIXELS", default_value_t = 16)]
    pub resolution: usize,
    /// What the loss weighs cost with (Γ), with commas between: a search for each
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',', default_value = "0.01,0.02,0.04,0")]
    pub trade_off: Vec<f64>,
    /// Seeds, with commas between: all trade-offs with each
    #[arg(long, value_name = "SEEDS", value_delimiter = ',', default_value = "0")]
    pub seed: Vec<u64>,
    /// How many times architecture and weights are updated
    #[arg(long, value_name = "N", default_value_t = Settings::default().steps)]
    pub steps: usize,
    /// Cells of the network
    #[arg(long, value_name = "N", default_value_t = Settings::default().cells)]
    pub cells: usize,
    /// Steps of a cell
    #[arg(long, value_name = "N", default_value_t = Settings::default().cell_steps)]
    pub cell_steps: usize,
    /// Channels of a step before the first reduction
    #[arg(long, value_name = "N", default_value_t = Settings::default().channels)]
    pub channels: usize,
    /// Images of a batch
    #[arg(long, value_name = "N", default_value_t = Settings::default().batch)]
    pub batch: usize,
    /// Learning rate of the network's weights at the beginning
    #[arg(long, value_name = "RATE", default_value_t = Settings::default().weight_rate)]
    pub weight_rate: f32,
    /// Learning rate of the architecture's weights
    #[arg(long, value_name = "RATE", default_value_t = Settings::default().architecture_rate)]
    pub architecture_rate: f32,
    /// Costs of operations in lines of `operation = cycles`; else those of the thesis' table 3.2
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    /// Write each step of the searches as comma-separated values
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Draw losses and costs by steps as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Keep the search in this file, and go on with it; several searches each have a file beside it
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Write the cells, a model file with the network's size; those of several searches into a file each, beside this one
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub json: Json,
}

#[derive(Debug, Args)]
pub struct ExploreSweep {
    /// Models: files, or networks of the zoo such as zoo:vww; what cannot be opened is rows that say why
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// Boards, or .toml files as --board elsewhere takes them, with commas between
    #[arg(long, required = true, value_delimiter = ',', value_parser = values::board)]
    pub board: Vec<String>,
    /// Strategies, with commas between
    #[arg(long, value_delimiter = ',', default_value = "auto")]
    pub strategy: Vec<Strategy>,
    /// Budgets of SRAM for tensors, with commas between; else all that the board has for them
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = values::bytes)]
    pub sram: Vec<Bytes>,
    /// Clocks in megahertz, with commas between; else the board's
    #[arg(long, value_name = "MHZ", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub clock_mhz: Vec<u64>,
    /// Classes of cards, with commas between; else the one that goes with the board
    #[arg(long, value_delimiter = ',')]
    pub card: Vec<String>,
    /// Frames that are computed one after the other, with commas between
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1", value_parser = values::frames)]
    pub frames: Vec<u32>,
    /// Keep each row in this file as soon as it is planned, a line of JSON each; rows that are in it already are not
    /// planned again, those of models that could not be opened are
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    /// Have rows planned by those who serve this queue, `tilewright worker --queue URL` on any machine; rows that it
    /// knows are not planned again
    #[arg(long, value_name = "URL")]
    pub queue: Option<String>,
    #[command(flatten)]
    pub chart: Chart,
    #[command(flatten)]
    pub out: Out,
}

/// What the picture of a sweep shows.
#[derive(Debug, Args)]
pub struct Chart {
    /// What --svg shows to the right: latency, sram, flash, external, energy, written, years, macs, parameters; or what
    /// was asked for: budget, clock, frames
    #[arg(long, value_name = "AXIS", default_value = "sram", value_parser = values::axis)]
    pub x: SweepAxis,
    /// What --svg shows upwards
    #[arg(long, value_name = "AXIS", default_value = "latency", value_parser = values::axis)]
    pub y: SweepAxis,
    /// What has a colour of its own: strategy, board, model, budget
    #[arg(long, value_name = "WHAT", default_value = "strategy", value_parser = values::by)]
    pub by: SweepBy,
}

impl Chart {
    /// It as the report draws it.
    pub const fn chart(&self) -> SweepChart {
        SweepChart { x: self.x, y: self.y, by: self.by }
    }
}

#[derive(Debug, Args)]
pub struct ExploreScale {
    /// A network of the zoo with widths from 0.3 to 1 and resolutions from 64 to 224
    #[arg(long, value_name = "NETWORK", default_value = tilewright_explore::SCALE_BACKBONE)]
    pub backbone: String,
    /// Boards, with commas between
    #[arg(long, value_delimiter = ',', default_value = tilewright_explore::SCALE_BOARD, value_parser = values::board)]
    pub board: Vec<String>,
    /// Strategies, with commas between
    #[arg(long, value_delimiter = ',', default_value = "overlay")]
    pub strategy: Vec<Strategy>,
    /// Budget of SRAM for tensors; else all that the board has for them
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub sram: Option<Bytes>,
    /// Latencies in milliseconds, such as 261,400; else the nine of the thesis' table 5.2
    #[arg(long, value_name = "MS", value_delimiter = ',', value_parser = values::milliseconds)]
    pub limits: Vec<Micros>,
    /// Accuracies as comma-separated values: network,int8_percent,fp32_percent,source; else those that the thesis
    /// prints
    #[arg(long, value_name = "FILE")]
    pub accuracy: Option<PathBuf>,
    /// Keep each row in this file as soon as it is planned, as `explore sweep` does; rows that are in it already are not
    /// planned again
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    #[command(flatten)]
    pub out: Out,
}
