//! A model, and how it becomes int8.

use std::path::PathBuf;

use clap::Args;
use tilewright_formats::input::Pixels;
use tilewright_model::quantise::RangeRule;

use super::values::dimension;

#[derive(Clone, Debug, Args)]
pub struct ModelFile {
    /// An .onnx or .tflite file, or a network of the zoo: zoo:NAME
    pub model: PathBuf,
    /// Value of a dimension that the file leaves open; may be repeated
    #[arg(long = "dim", value_name = "NAME=VALUE", value_parser = dimension)]
    pub dims: Vec<(String, usize)>,
}

#[derive(Clone, Debug, Args)]
pub struct Quantised {
    #[command(flatten)]
    pub file: ModelFile,
    /// Samples to quantise on: a .npy file whose first dimension is the samples, or `random`
    /// (seeded, uniform in 0..1: for shapes and costs, not for accuracy); else the file
    /// <model>.calibration.npy beside the model, or for the zoo analytic scales
    #[arg(long, value_name = "FILE.npy|random")]
    pub samples: Option<PathBuf>,
    /// How ranges follow from the samples: `minmax`, `percentile` (99.99), `percentile=99.9`, or
    /// `mse`, the least expected squared error; else minmax
    #[arg(long, value_name = "RULE")]
    pub calibration: Option<RangeRule>,
    /// What the network takes for pixels of pictures and bytes: 0..1, -1..1, 0..255, `imagenet` (its mean and
    /// deviation), or MEAN/DEVIATION of bytes such as 127.5/127.5; else what the file says, else 0..1
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub pixels: Option<Pixels>,
    /// Class names, a name a line, for a model whose file has none
    #[arg(long, value_name = "FILE.txt")]
    pub labels: Option<PathBuf>,
}
