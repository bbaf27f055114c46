//! Options of `train`.

use std::path::PathBuf;

use clap::Args;
use tilewright_search::TrainingSettings;

use super::{Json, ModelFile};

#[derive(Debug, Args)]
pub struct Train {
    #[command(flatten)]
    pub file: ModelFile,
    /// Folder of idx files such as MNIST's, plain or .gz: those of t10k, if there are, are what accuracy is of; or a
    /// .npy of bytes whose images are of ten classes in turn, such as models/lenet5.calibration.npy. Images get the
    /// size of the network's input
    #[arg(long, value_name = "PATH")]
    pub data: PathBuf,
    /// Most images that are learnt from
    #[arg(long, value_name = "N", default_value_t = 60_000)]
    pub images: usize,
    /// How often each image is learnt from
    #[arg(long, value_name = "N", default_value_t = TrainingSettings::default().epochs)]
    pub epochs: usize,
    /// Images of a batch
    #[arg(long, value_name = "N", default_value_t = TrainingSettings::default().batch)]
    pub batch: usize,
    /// Learning rate at the beginning
    #[arg(long, value_name = "RATE", default_value_t = TrainingSettings::default().rate)]
    pub rate: f32,
    /// Of the weights to begin with, and of the order of images
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    /// Keep what was learnt in this file, and go on with it
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub json: Json,
    /// The file; samples to quantise on are written beside it, as FILE.calibration.npy
    #[arg(short, long, value_name = "FILE.onnx")]
    pub output: PathBuf,
}
