//! Options of `check`.

use std::path::PathBuf;

use clap::Args;
use tilewright_plan::{Bytes, Micros};
use tilewright_planner::Strategy;

use super::values::{bytes, per_cent, period};
use super::{Checked, Json, OnBoard};

#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    pub on: OnBoard,
    /// Strategy
    #[arg(long, default_value = "auto")]
    pub strategy: Strategy,
    #[command(flatten)]
    pub checked: Checked,
    /// Most SRAM of the tensor arena, such as 65536 or 64KiB
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_sram: Option<Bytes>,
    /// Most flash of the plan image
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_flash: Option<Bytes>,
    /// Most external memory
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_external: Option<Bytes>,
    /// Longest latency (modelled), such as 40ms
    #[arg(long, value_name = "TIME", value_parser = period)]
    pub max_latency: Option<Micros>,
    /// Run the plan on the emulated board too: it has to be bit-equal, and its instructions are counted
    #[arg(long)]
    pub run: bool,
    /// Most instructions of the run
    #[arg(long, value_name = "N", requires = "run")]
    pub max_instructions: Option<u64>,
    /// Figures that were accepted last, of any number of models, boards and strategies: more than these fails
    #[arg(long, value_name = "FILE.json")]
    pub baseline: Option<PathBuf>,
    /// How much more than accepted passes too, in per cent
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = per_cent)]
    pub tolerance: f64,
    /// Write the figures to the baseline if they are within their limits
    #[arg(long, requires = "baseline")]
    pub accept: bool,
    /// Add the table to this file, as Markdown; so $GITHUB_STEP_SUMMARY shows all checks of a job
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write a test case for each figure, as JUnit
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub json: Json,
}
