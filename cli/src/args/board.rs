//! The words of `tilewright board`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tilewright_plan::Micros;
use tilewright_planner::Strategy;

use super::values::period;
use super::{Checked, FromRecipe, Json, OnBoard};

#[derive(Debug, Subcommand)]
pub enum Board {
    /// List serial ports, probes, boards' drives, and tools that write images
    List {
        #[command(flatten)]
        json: Json,
    },
    /// Write an image to a board
    Flash(Flash),
    /// Run an image's program on a board once
    Run(Run),
    /// Plan a model, run it on a board, and compare outputs and cycles with reference, prediction and emulated board
    Measure(Measure),
    /// Be a board: serve the emulated one at a pseudo-terminal, for `board run` and `board measure` (Linux)
    Emulate(Emulate),
}

/// What writes images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Writer {
    /// The program probe-rs
    ProbeRs,
    /// STM32CubeProgrammer: STM32_Programmer_CLI
    Cube,
    /// The drive that the board's ST-LINK shows
    Drive,
}

#[derive(Debug, Args)]
pub struct Flashing {
    /// What writes the image or resets the board; else the first that is there
    #[arg(long, value_enum)]
    pub with: Option<Writer>,
    /// Serial number of the probe, if several are plugged in
    #[arg(long, value_name = "SERIAL")]
    pub probe: Option<String>,
}

#[derive(Debug, Args)]
pub struct Flash {
    /// The .elf or .bin file that `tilewright image` wrote
    pub image: PathBuf,
    /// Board that is on the desk; an image for another one is refused
    #[arg(long)]
    pub board: Option<String>,
    #[command(flatten)]
    pub flashing: Flashing,
}

/// The port, and how long somebody waits at it.
#[derive(Debug, Args)]
pub struct AtPort {
    /// Serial port of the board, such as /dev/ttyACM0; else the only one that is a board's
    #[arg(long)]
    pub port: Option<String>,
    /// Reset the board by its probe once the port is open, with probe-rs or STM32_Programmer_CLI; else press its button
    #[arg(long)]
    pub reset: bool,
    /// The port leads to an emulated board: nothing from there is called measured
    #[arg(long)]
    pub emulated: bool,
    /// Seconds to wait for the board's greeting
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    pub greeting_within: NonZeroU64,
    /// Seconds to wait for an answer; else what the plan's prediction suggests, or ten minutes
    #[arg(long, value_name = "SECONDS")]
    pub answer_within: Option<NonZeroU64>,
}

#[derive(Debug, Args)]
pub struct Run {
    /// The .elf or .bin file that `tilewright image` wrote, and that the board holds
    pub image: PathBuf,
    #[command(flatten)]
    pub at: AtPort,
    #[command(flatten)]
    pub flashing: Flashing,
    /// Input: a PNG picture, a WAV sound, a .npy or .npz array, or the raw int8 bytes; else input.bin beside the image
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Run the largest sub-network whose predicted latency meets this limit, such as 400ms, of an image made with --exits
    #[arg(long, value_name = "TIME", value_parser = period)]
    pub limit: Option<Micros>,
    #[command(flatten)]
    pub json: Json,
}

#[derive(Debug, Args)]
pub struct Measure {
    #[command(flatten)]
    pub on: OnBoard,
    /// Strategy
    #[arg(long, default_value = "resident")]
    pub strategy: Strategy,
    #[command(flatten)]
    pub from: FromRecipe,
    #[command(flatten)]
    pub checked: Checked,
    #[command(flatten)]
    pub at: AtPort,
    /// Input: a PNG picture, a WAV sound, a .npy or .npz array, or the raw int8 bytes; else the first sample
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Write the image to the board before
    #[arg(long)]
    pub flash: bool,
    #[command(flatten)]
    pub flashing: Flashing,
    /// What the board's sticker says, such as MB1191-B03
    #[arg(long, value_name = "TEXT")]
    pub revision: Option<String>,
    /// Write the record of the measurement
    #[arg(short, long, value_name = "FILE.json")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub json: Json,
}

#[derive(Debug, Args)]
pub struct Emulate {
    /// The .elf file that `tilewright image` wrote; its .flash and .card files are taken from beside it
    pub image: PathBuf,
    /// Board that is expected; an image for another one is refused
    #[arg(long)]
    pub board: Option<String>,
}
