//! Options of `image`.

use std::path::PathBuf;

use clap::Args;
use tilewright_planner::Strategy;

use super::{Checked, FromRecipe, OnBoard};

#[derive(Debug, Args)]
pub struct Image {
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
    #[command(flatten)]
    pub checked: Checked,
    /// Write a C library with the plan, for firmware of your own, in place of an image with the board's firmware: a
    /// static library for the board's core, its header, the plan image as C source, and a CMakeLists.txt with the
    /// target tilewright::model
    #[arg(long)]
    pub library: bool,
    /// Folder to write to; made if it is missing
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}
